"""Random files imported again and again, with changes here in between, against the rules written down once more.

After each test the fixture compares every derived column with a recomputed one; loops must never get in.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.session import Session
from tests.engines import Engine, SqliteEngine
from tests.proof import scaled
from tests.work.client import WorkClient
from tests.work.derived_columns import read_derived, read_nodes, recompute_derived
from tests.work.importing.file_import import FileImport, item

NAMES = tuple("abcdefgh")
FATES = ("open", "open", "open", "done", "dropped", "held")
TITLES = ("one", "two", "three")

ITEMS = st.lists(
    st.fixed_dictionaries(
        {
            "name": st.sampled_from(NAMES),
            "fate": st.sampled_from(FATES),
            "title": st.sampled_from(TITLES),
            "parent": st.none() | st.sampled_from(NAMES),
            "depends_on": st.lists(st.sampled_from(NAMES), max_size=3),
            "tags": st.lists(st.sampled_from("xyz"), max_size=2, unique=True),
            "is_group": st.booleans() if scaled(0, 1) else st.sampled_from([False, False, True]),
        }
    ),
    unique_by=lambda one: str(one["name"]),
    max_size=len(NAMES),
)
CHANGE = st.tuples(
    st.sampled_from(["title", "resolve", "reopen", "nothing", "child"]),
    st.sampled_from(NAMES),
    st.sampled_from(TITLES),
)


def build(one: dict[str, Any]) -> dict[str, Any]:
    made = {name: value for name, value in one.items() if name != "name"}
    if one["fate"] == "held":
        made["hold_reason"] = "status later"
    return item(one["name"], **made)


def change(work: WorkClient, what: str, name: str, title: str) -> None:
    """Change a node as somebody here would; what is refused changes nothing."""
    updates: dict[str, dict[str, Any]] = {
        "title": {"summary": title},
        "resolve": {"resolved": True},
        "reopen": {"resolved": False},
    }
    if what in updates:
        work.call("work.update", updates=[{"node_id": name, **updates[what]}])
    elif what == "child":
        work.call("work.plan", nodes=[{"ref": "x", "summary": "local", "parent_ref": name}])


def check(engine: Engine) -> None:
    rows = read_nodes(engine)
    assert read_derived(engine, rows) == recompute_derived(engine, rows)


def expect_title(base: str, here: str, there: str) -> tuple[str, str, bool]:
    """Return the title here and the base after an import, and whether there is a conflict."""
    if there in (base, here):
        return here, there, False
    if here == base:
        return there, there, False
    return here, base, True


class Model:
    """The titles of the items: of the last import that was taken over, and here."""

    def __init__(self) -> None:
        self.base: dict[str, str] = {}
        self.here: dict[str, str] = {}

    def run(self, items: list[dict[str, Any]]) -> set[str]:
        conflicts = set()
        for one in items:
            name, there = one["source_id"], one["title"]
            if name not in self.base:
                self.base[name] = self.here[name] = there
                continue
            self.here[name], self.base[name], is_conflict = expect_title(self.base[name], self.here[name], there)
            conflicts |= {name} if is_conflict else set()
        return conflicts


@given(files=st.lists(st.tuples(ITEMS, CHANGE), min_size=1, max_size=4), inherits=st.booleans())
@settings(max_examples=scaled(15, 400), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_sequence_of_files_and_changes_keeps_the_plan_sound(
    tmp_path_factory: pytest.TempPathFactory, files: list[tuple[list[dict[str, Any]], Any]], inherits: bool
) -> None:
    engine = SqliteEngine(tmp_path_factory.mktemp("import") / "plan.db")
    try:
        play(engine, files, inherits=inherits)
    finally:
        engine.close()


def play(engine: Engine, files: list[tuple[list[dict[str, Any]], Any]], *, inherits: bool) -> None:
    work = WorkClient(Session(engine.store, local_actor("ada", kind=ActorKind.PERSON)))
    work.open()
    file, model = FileImport(work), Model()
    for made, (what, name, title) in files:
        items = [build(one) for one in made]
        preview = file.run(*items, inherits_dependencies=inherits, dry_run=True)
        answer = file.run(*items, inherits_dependencies=inherits)
        check(engine)
        expected = model.run(items)
        assert {one.source_id for one in answer.conflicts if one.field == "title"} == expected
        assert (preview.counts, preview.conflicts) == (answer.counts, answer.conflicts)
        rev = file.rev()
        again = file.run(*items, inherits_dependencies=inherits)
        assert (again.counts.created, again.counts.updated, file.rev()) == (0, 0, rev)
        if name in model.here:
            before = file.node(name)
            try:
                change(work, what, name, title)
            except Exception:  # noqa: S110 - the engine refuses it, which is tested elsewhere
                pass
            else:
                model.here[name] = title if what == "title" else model.here[name]
            assert before.id == file.node(name).id
            check(engine)
    for name, title in model.here.items():
        assert file.node(name).summary == title
    from groundplan.work.checks import find_loops

    assert engine.store.read(work.session.actor, find_loops) == {}
