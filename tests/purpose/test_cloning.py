"""A new draft is an exact copy: equal in every field, with the same keys, in new rows.

The columns are read from the database, so a later column cannot be forgotten. GROUNDPLAN_PROOF_STEPS gives more
theories, new ones each time.
"""

from __future__ import annotations

import unicodedata
from itertools import count
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.kernel.store.migrations import Dialect
from groundplan.session import Session
from tests.engines import Engine
from tests.machines.budget import budget

pytestmark = pytest.mark.proof

ROWS_IN_A_THEORY = 10  # about one step of a proof
STEPS = 6 * ROWS_IN_A_THEORY

ODD_TEXTS = (
    "",
    " ",
    "null",
    "{}",
    "'",
    '"',
    "\\",
    "%_",
    "a\nb",
    "\t",
    "\u2028",
    "\ufeff",
    "e\u0301",
    "ß",
    "🦉",
    "\U0010ffff",
)
TEXTS = st.one_of(
    st.sampled_from(ODD_TEXTS),
    st.text(st.characters(exclude_categories=("Cc", "Cs"), include_characters="\t\n\r"), max_size=12),
)
SENTENCES = TEXTS.filter(str.strip)
WORDS = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1, max_size=12).filter(
    lambda text: unicodedata.normalize("NFC", text).strip() != ""
)
NUMBERS = st.one_of(
    st.sampled_from((0, -0.0, 1, 0.1, 1e16, 2**53, 5e-324, 1.7976931348623157e308)),
    st.integers(-(2**53), 2**53),
    st.floats(allow_nan=False, allow_infinity=False),
)
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(TEXTS, below, max_size=3),
    max_leaves=6,
)
DAYS = st.dates().map(lambda day: day.isoformat())

NODE_TYPES = ("GOAL", "OUTCOME", "OUTPUT", "ACTIVITY")
EDGE_TYPES = ("CONTRIBUTES_TO", "CAUSES", "DEPENDS_ON", "FEEDBACK")

NODE = {
    "description": TEXTS,
    "narrative": TEXTS,
    "owner": WORDS,
    "metadata": st.dictionaries(TEXTS, JSON, max_size=3),
}
EDGE = {"mechanism": SENTENCES, "confidence": st.sampled_from(("low", "medium", "high"))}
ASSUMPTION = {"risk_level": st.sampled_from(("LOW", "MEDIUM", "HIGH")), "owner": WORDS, "review_by": DAYS}
INDICATOR = {
    "unit": WORDS,
    "direction": st.sampled_from(("increase", "decrease")),
    "baseline": NUMBERS,
    "baseline_verified": st.booleans(),
    "target": NUMBERS,
    "method": SENTENCES,
    "frequency": WORDS,
    "owner": WORDS,
}

Op = dict[str, Any]


@st.composite
def theories(draw: st.DrawFn) -> list[Op]:
    """Draw a batch that creates a theory with a goal. The light profile asks for no more, so any edge is allowed."""

    def given_some(fields: dict[str, Any]) -> Op:
        return draw(st.fixed_dictionaries({}, optional=fields))

    types = ["GOAL", *draw(st.lists(st.sampled_from(NODE_TYPES), min_size=1, max_size=5))]
    refs = [f"n{place}" for place in range(len(types))]
    ends = st.tuples(st.sampled_from(refs), st.sampled_from(refs), st.sampled_from(EDGE_TYPES))
    edges = draw(st.lists(ends.filter(lambda one: one[0] != one[1]), max_size=6, unique=True))
    operations = [
        {"op": "add_node", "ref": ref, "node_type": type_, "title": draw(WORDS), **given_some(NODE)}
        for ref, type_ in zip(refs, types, strict=True)
    ]
    for source, target, type_ in edges:
        edge = {"source": source, "target": target, "edge_type": type_}
        operations.append({"op": "add_edge", **edge, **given_some(EDGE)})
    places: list[Op] = [{"node": ref} for ref in refs]
    places += [{"source": source, "target": target, "edge_type": type_} for source, target, type_ in edges]
    for place in draw(st.lists(st.sampled_from(places), max_size=4)):
        text = {"assumption_text": draw(SENTENCES)}
        operations.append({"op": "add_assumption", **place, **text, **given_some(ASSUMPTION)})
    for ref in draw(st.lists(st.sampled_from(refs), max_size=3)):
        operations.append({"op": "add_indicator", "node": ref, "name": draw(WORDS), **given_some(INDICATOR)})
    return operations


class TableBelow(NamedTuple):
    """A table below versions: which of its columns refer to which other table."""

    table: str
    references: dict[str, str]


TABLES = (
    TableBelow("toc_nodes", {}),
    TableBelow("toc_edges", {"source_node_id": "toc_nodes", "target_node_id": "toc_nodes"}),
    TableBelow("toc_assumptions", {"node_id": "toc_nodes"}),
    TableBelow("toc_edge_assumptions", {"edge_id": "toc_edges"}),
    TableBelow("toc_indicators", {"node_id": "toc_nodes"}),
)
PLACE_COLUMNS = {"tenant_id", "project_id", "toc_version_id"}

Rows = dict[str, list[dict[str, Any]]]


class CopyProjects:
    """One database with projects that each hold one theory."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.session: Session = engine.session("ada")
        self.columns = {below.table: self._columns(below.table) for below in TABLES}
        self._serial = count(1)

    def _columns(self, table: str) -> list[str]:
        if self.engine.dialect is Dialect.SQLITE:
            found = self.engine.as_owner(f"SELECT name FROM pragma_table_info('{table}')")
        else:
            found = self.engine.as_owner(
                "SELECT column_name FROM information_schema.columns "
                f"WHERE table_schema = 'groundplan' AND table_name = '{table}'"
            )
        return [name for (name,) in found]

    def publish_and_draft(self, operations: list[Op]) -> str:
        """Create a project whose theory is published and drafted again."""
        project = f"p{next(self._serial)}"
        self.session.call("project.create", name=project)
        self.session.call("work.open", project=project, policies={"profile_min": "light"})
        self.session.call("purpose.draft", project=project, profile="light")
        self.session.call("purpose.edit", project=project, operations=operations)
        self.session.call("purpose.publish", project=project)
        self.session.call("purpose.draft", project=project)
        return project

    def rows(self, project: str, number: int) -> Rows:
        """Return all rows of a version."""
        version = (
            "SELECT toc_versions.id FROM toc_versions JOIN projects ON projects.id = toc_versions.project_id "
            f"WHERE projects.name = '{project}' AND version_number = {number}"
        )
        found: Rows = {}
        for table, columns in self.columns.items():
            rows = self.engine.as_owner(f"SELECT {', '.join(columns)} FROM {table} WHERE toc_version_id IN ({version})")
            found[table] = [dict(zip(columns, row, strict=True)) for row in rows]
        return found

    def hash_of(self, project: str, version: Any) -> str:
        found: str = self.session.call("purpose.check", project=project, gate="A", version=version).content_hash
        return found


def without_ids(rows: Rows) -> dict[str, list[str]]:
    """Return rows without ids and positions; references are replaced by keys or names."""
    names: dict[str, str] = {}  # by row id
    found: dict[str, list[str]] = {}
    for table, references in TABLES:
        lines = []
        for row in rows[table]:
            fields = {name: value for name, value in row.items() if name not in (*PLACE_COLUMNS, "id")}
            fields |= {column: names[row[column]] for column in references}
            ends = (fields.get(name) for name in ("source_node_id", "target_node_id", "edge_type"))
            names[row["id"]] = row.get("key") or "->".join(map(str, ends))
            lines.append(repr(fields))  # which distinguishes 0.0 from -0.0, unlike ==
        found[table] = sorted(lines)
    return found


def ids(rows: Rows) -> set[str]:
    return {row["id"] for some in rows.values() for row in some}


@pytest.fixture
def copies(engine: Engine) -> CopyProjects:
    return CopyProjects(engine)


@pytest.mark.slow
@budget(STEPS, in_a_run=ROWS_IN_A_THEORY)
@given(operations=theories())
def test_a_draft_is_isomorphic_to_what_it_begins_with_and_shares_no_row(
    copies: CopyProjects, operations: list[Op]
) -> None:
    project = copies.publish_and_draft(operations)
    original, copy = copies.rows(project, 1), copies.rows(project, 2)

    assert sum(map(len, original.values())) == len(operations)
    assert without_ids(copy) == without_ids(original)
    assert ids(original).isdisjoint(ids(copy))
    assert len(ids(copy)) == len(operations)

    (published, draft) = copies.session.call("purpose.versions", project=project).versions
    assert (published.number, draft.number, draft.source, draft.profile) == (1, 2, 1, "light")
    assert copies.hash_of(project, "draft") == copies.hash_of(project, 1) == published.content_hash


def count_foreign_references(below: TableBelow, column: str) -> str:
    """Return SQL that counts the rows with a reference outside their own version."""
    return (
        f"SELECT count(*) FROM {below.table} AS child LEFT JOIN {below.references[column]} AS parent "
        f"ON parent.tenant_id = child.tenant_id AND parent.project_id = child.project_id "
        f"AND parent.toc_version_id = child.toc_version_id AND parent.id = child.{column} WHERE parent.id IS NULL"
    )


@budget(STEPS // 2, in_a_run=ROWS_IN_A_THEORY)
@given(operations=theories())
def test_no_row_refers_out_of_its_version(copies: CopyProjects, operations: list[Op]) -> None:
    copies.publish_and_draft(operations)

    for below in TABLES:
        for column in below.references:
            assert copies.engine.as_owner(count_foreign_references(below, column)) == [(0,)], (below.table, column)


def test_every_reference_below_a_version_is_looked_at(copies: CopyProjects) -> None:
    found = {
        (table, column)
        for table, columns in copies.columns.items()
        for column in columns
        if column.endswith("_id") and column not in PLACE_COLUMNS
    }
    assert found == {(below.table, column) for below in TABLES for column in below.references}


def test_a_copy_of_a_copy_is_the_same_and_new_things_get_new_keys(copies: CopyProjects) -> None:
    goal: Op = {"op": "add_node", "node_type": "GOAL", "title": "Health", "metadata": {"b": 1.0, "a": [None, {}]}}
    project = copies.publish_and_draft([goal])
    run = copies.session.call("context.create_draft", scopeId=project).run.id
    copies.session.call("context.commit", runId=run)  # the same content is published again only on other facts
    copies.session.call("purpose.publish", project=project)
    copies.session.call("purpose.draft", project=project)
    rows = [copies.rows(project, number) for number in (1, 2, 3)]

    assert without_ids(rows[0]) == without_ids(rows[1]) == without_ids(rows[2])
    assert len(set().union(*map(ids, rows))) == 3
    made = copies.session.call("purpose.edit", project=project, operations=[goal]).created
    assert [one.key for one in made] == ["G2"]
