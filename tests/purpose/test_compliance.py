"""The compliance checklist says about an operation what the operation itself would say, from stored data."""

from __future__ import annotations

import json
import re
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from groundplan.commands import find_command
from groundplan.kernel.access import Permission, Role
from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.answers import encode
from groundplan.kernel.errors import GroundplanError, Invalid
from groundplan.kernel.ids import new_uuid
from groundplan.kernel.input_gate.request import parse_request
from groundplan.kernel.store.migrations import Dialect
from groundplan.kernel.store.queries import Query
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose import check
from groundplan.purpose.compliance import live_schema
from groundplan.purpose.compliance.checklist import ChecklistSection, Compliance
from groundplan.purpose.editing import draft
from groundplan.purpose.editing.draft import AssumptionRow, IndicatorRow
from groundplan.purpose.editing.edit import EditPurpose, edit
from groundplan.purpose.versions.versions import VersionRow
from groundplan.session import Session
from tests.engines import Engine, PostgresEngine, fill_once, person

ADA, BEN, CLEO = person("ada"), person("ben"), person("cleo")
TITLES = [
    "Graph Model Verification",
    "Version State Validation",
    "Version Constraint Verification",
    "Node Operations",
    "Edge Operations",
    "Assumptions Handling",
    "Tenant Isolation",
    "Decision",
]
# A chain, another cause of the goal, a feedback edge, and one assumption of each kind.
CHAIN: list[dict[str, Any]] = [
    {"op": "add_node", "node_type": "GOAL", "title": "Health", "ref": "g"},
    {"op": "add_node", "node_type": "OUTCOME", "title": "Water", "ref": "oc"},
    {"op": "add_node", "node_type": "OUTCOME", "title": "Soap", "ref": "soap"},
    {"op": "add_node", "node_type": "OUTPUT", "title": "Wells", "ref": "op"},
    {"op": "add_node", "node_type": "ACTIVITY", "title": "Dig", "ref": "ac", "metadata": {"sites": 3}},
    *(
        {"op": "add_edge", "source": a, "target": b}
        for a, b in (("ac", "op"), ("op", "oc"), ("oc", "g"), ("soap", "g"))
    ),
    {"op": "add_edge", "source": "oc", "target": "soap"},
    {"op": "add_edge", "source": "g", "target": "ac", "edge_type": "FEEDBACK"},
    {"op": "add_edge", "source": "op", "target": "oc", "edge_type": "CAUSES"},
    {"op": "add_assumption", "node": "oc", "assumption_text": "it rains", "risk_level": "LOW"},
    {"op": "add_assumption", "source": "oc", "target": "g", "assumption_text": "it is clean"},
    {"op": "add_indicator", "node": "soap", "name": "Bars"},
]


class AtlasProposals:
    """The project atlas, and an actor who proposes operations in it."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def by(self, actor: Any) -> AtlasProposals:
        return AtlasProposals(Session(self.session.store, actor))

    def call(self, operation: str, /, **arguments: Any) -> Any:
        return self.session.call(f"purpose.{operation}", project="atlas", **arguments)

    def propose(self, kind: str, **given: Any) -> Checklist:
        found: Checklist = self.call("compliance", gate="compliance", operation={"kind": kind, **given})
        return found

    def propose_shortly(self, kind: str, **given: Any) -> Compliance:
        """Return the short answer about an operation."""
        operation = {"kind": kind, **given}
        found: Compliance = self.call("compliance", gate="compliance", operation=operation, detail="short")
        return found

    def failing(self, kind: str, **given: Any) -> set[str]:
        """Return the items that are not ok, by their first words."""
        found = self.propose(kind, **given)
        assert (
            (found.status == "BLOCKED")
            == bool(failed_items(found))
            == bool(found.reasons)
            == bool(found.required_actions)
        )
        return {f"{number}: {' '.join(text.split()[:4])}" for number, text in failed_items(found)}

    def run_printed(self, block: str, values: dict[str, Any]) -> list[int]:
        """Run a block of the checklist and roll it back; return how many rows each change concerned."""
        changed: list[int] = []

        def run_statement(tx: Transaction, text: str) -> None:
            query, known = Query("printed", text), values | {"project_rev": tx.rev}
            given = {name: known[name] for name in query.parameters & known.keys()}
            if text.startswith("SELECT"):
                assert tx.all(query, VersionRow, **given) if "label" in text else tx.all(query, **given)
            elif "RETURNING id" in text:
                changed.append(len(tx.all(query, IndicatorRow if "toc_ind" in text else AssumptionRow, **given)))
            else:
                changed.append(len(tx.scalars(query, **given)) if "RETURNING" in text else tx.run(query, **given))

        def run(tx: Transaction) -> None:
            for text in filter(None, map(str.strip, dedent(block).split(";"))):
                run_statement(tx, text)
            raise RolledBack

        with pytest.raises(RolledBack):
            self.session.store.write(self.session.actor, "atlas", run, needs=Permission.PURPOSE_PUBLISH)
        return changed

    def would_pass(self, operation: dict[str, Any]) -> bool:
        """Return whether the editor accepts an operation; everything is rolled back."""

        def run(tx: Transaction) -> None:
            edit(tx, parse_request({"project": "atlas", "operations": [operation]}, EditPurpose))
            raise RolledBack

        try:
            self.session.store.write(self.session.actor, "atlas", run, needs=Permission.PURPOSE_WRITE)
        except RolledBack:
            return True
        except GroundplanError:
            return False
        raise AssertionError("nothing was undone")


class Checklist(Compliance, frozen=True, kw_only=True):
    """A full answer."""

    sections: list[ChecklistSection]
    markdown: str


class RolledBack(Exception):
    """Everything succeeded and is rolled back."""


def failed_items(found: Checklist) -> list[tuple[int, str]]:
    return [(section.number, item.text) for section in found.sections for item in section.items if item.ok is False]


def make_bare(engine: Engine) -> None:
    """Create the project and its members."""
    ada = engine.session("ada")
    ada.call("project.create", name="atlas")
    ada.call("member.add", scopeId="atlas", userId="ben", role="editor")
    ada.call("member.add", scopeId="atlas", userId="cleo", role="viewer")


def draw_chain(engine: Engine) -> None:
    """Create the project and a draft with the chain."""
    make_bare(engine)
    drawn = AtlasProposals(engine.session("ada"))
    drawn.call("draft")
    drawn.call("edit", operations=CHAIN)


@pytest.fixture
def empty_project(engine: Engine) -> AtlasProposals:
    """A project without any version. Ada owns it, Ben edits, Cleo views."""
    fill_once(engine, make_bare)
    return AtlasProposals(engine.session("ada"))


@pytest.fixture
def atlas(engine: Engine) -> AtlasProposals:
    """The same with the chain in a draft."""
    fill_once(engine, draw_chain)
    return AtlasProposals(engine.session("ada"))


# A proposed operation, the same as an edit, and the items that are not ok.
PROPOSALS: list[tuple[dict[str, Any], dict[str, Any], set[str]]] = [
    ({"kind": "create_node", "node_type": "OUTPUT", "title": "Pumps"}, {"op": "add_node"}, set()),
    ({"kind": "create_node", "node_type": "OUTPUT", "title": "P", "metadata": {"a": 1}}, {"op": "add_node"}, set()),
    ({"kind": "create_node", "node_type": "IMPACT", "title": "P"}, {"op": "add_node"}, {"4: Node type is valid"}),
    ({"kind": "create_node", "title": "P"}, {"op": "add_node"}, {"4: Node type is valid"}),
    ({"kind": "create_node", "node_type": "GOAL", "title": " "}, {"op": "add_node"}, {"4: Title is given and"}),
    ({"kind": "create_node", "node_type": "GOAL", "title": "a\nb"}, {"op": "add_node"}, {"4: Title is given and"}),
    (
        {"kind": "create_node", "node_type": "GOAL", "title": "P", "metadata": [1]},
        {"op": "add_node"},
        {"4: Metadata JSONB structure is"},
    ),
    ({"kind": "create_node", "node_type": "GOAL", "title": "P", "metadata": None}, {"op": "add_node"}, set()),
    (
        {"kind": "create_node", "node_type": "GOAL", "title": "P", "owner": " "},
        {"op": "add_node"},
        {"4: Owner is a name"},
    ),
    ({"kind": "update_node", "node": "OC1", "metadata": {"a": None, "b": 1}}, {"op": "update_node"}, set()),
    ({"kind": "update_node", "node": "OC1", "description": "d", "narrative": "n"}, {"op": "update_node"}, set()),
    # As clients write values, and requests take them.
    ({"kind": "create_node", "node_type": "goal", "title": "P", "metadata": ""}, {"op": "add_node"}, set()),
    ({"kind": "update_node", "node": "OC1", "metadata": None}, {"op": "update_node"}, set()),
    ({"kind": "update_node", "node": "OC1", "metadata": '{"a": 1}'}, {"op": "update_node"}, set()),
    (
        {"kind": "update_node", "node": "OC1", "metadata": '{"parent_id": "G1"}'},
        {"op": "update_node"},
        {"1: NOT using adjacency list"},
    ),
    (
        {"kind": "create_edge", "source": "AC1", "target": "OC1", "edge_type": "causes", "confidence": "HIGH"},
        {"op": "add_edge"},
        set(),
    ),
    ({"kind": "create_edge", "source": "AC1", "target": "OC1", "confidence": ""}, {"op": "add_edge"}, set()),
    (
        {"kind": "update_edge", "source": "OC1", "target": "G1", "edge_type": "Contributes_To", "confidence": "Low"},
        {"op": "update_edge"},
        set(),
    ),
    (
        {"kind": "add_assumption", "node": "OC1", "assumption_text": "a", "risk_level": "high"},
        {"op": "add_assumption"},
        set(),
    ),
    (
        {"kind": "update_assumption", "assumption": "AS1", "risk_level": ""},
        {"op": "update_assumption"},
        {"6: Risk level is valid"},
    ),
    ({"kind": "create_edge", "source": "AC1", "target": "OC1", "mechanism": "m"}, {"op": "add_edge"}, set()),
    (
        {"kind": "create_edge", "source": "AC1", "target": "OC1", "mechanism": " "},
        {"op": "add_edge"},
        {"5: Mechanism is valid (if"},
    ),
    (
        {"kind": "create_edge", "source": "AC1", "target": "OC1", "confidence": "sure"},
        {"op": "add_edge"},
        {"5: Confidence is valid (low"},
    ),
    (
        {"kind": "add_assumption", "node": "OC1", "assumption_text": "a", "edge_type": "CAUSES"},
        {"op": "add_assumption"},
        {"6: Edge type is given"},
    ),
    (
        {"kind": "add_assumption", "node": "OC1", "assumption_text": "a", "review_by": "soon"},
        {"op": "add_assumption"},
        {"6: Review date is a"},
    ),
    ({"kind": "update_node", "node": "OC1", "title": "Clean water"}, {"op": "update_node"}, set()),
    ({"kind": "update_node", "node": "OC9"}, {"op": "update_node"}, {"4: Node exists in this"}),
    ({"kind": "update_node", "node": "OC2", "node_type": "ACTIVITY"}, {"op": "update_node"}, {"4: Edges of the node"}),
    ({"kind": "update_node", "node": "AC1", "node_type": "OUTPUT"}, {"op": "update_node"}, set()),
    (
        {"kind": "update_node", "node": "AC1", "metadata": {"long": "x" * 16_370}},
        {"op": "update_node"},
        {"4: Metadata JSONB structure is"},
    ),
    ({"kind": "delete_node", "node": "AC1"}, {"op": "remove_node"}, set()),
    ({"kind": "delete_node", "node": "AC2"}, {"op": "remove_node"}, {"4: Node exists in this"}),
    ({"kind": "create_edge", "source": "AC1", "target": "OC1"}, {"op": "add_edge"}, set()),
    ({"kind": "create_edge", "source": "OP1", "target": "OC1", "edge_type": "DEPENDS_ON"}, {"op": "add_edge"}, set()),
    ({"kind": "create_edge", "source": "OC1", "target": "OP1", "edge_type": "DEPENDS_ON"}, {"op": "add_edge"}, set()),
    (
        {"kind": "create_edge", "source": "OC1", "target": "OC2", "edge_type": "DEPENDS_ON"},
        {"op": "add_edge"},
        {"5: No circular dependencies (optional"},
    ),
    (
        {"kind": "update_edge", "source": "OC1", "target": "OC2", "new_edge_type": "DEPENDS_ON"},
        {"op": "update_edge"},
        set(),
    ),
    ({"kind": "create_edge", "source": "G1", "target": "OC1", "edge_type": "FEEDBACK"}, {"op": "add_edge"}, set()),
    ({"kind": "create_edge", "source": "AC1"}, {"op": "add_edge"}, {"5: Source and target nodes"}),
    (
        {"kind": "create_edge", "source": "AC1", "target": "OP9"},
        {"op": "add_edge"},
        {"5: Source and target nodes"},
    ),
    (
        {"kind": "create_edge", "source": "OC1", "target": "OP1"},
        {"op": "add_edge"},
        {"5: Edge direction is valid", "5: No circular dependencies (optional"},
    ),
    (
        {"kind": "create_edge", "source": "OC2", "target": "OC1"},
        {"op": "add_edge"},
        {"5: No circular dependencies (optional"},
    ),
    (
        {"kind": "create_edge", "source": "AC1", "target": "OP1"},
        {"op": "add_edge"},
        {"5: Unique constraint satisfied (source,"},
    ),
    (
        {"kind": "create_edge", "source": "OC1", "target": "OC1"},
        {"op": "add_edge"},
        {"5: Source and target are"},
    ),
    (
        {"kind": "create_edge", "source": "AC1", "target": "OC1", "edge_type": "HELPS"},
        {"op": "add_edge"},
        {"5: Edge type is valid"},
    ),
    (
        {"kind": "update_edge", "source": "AC1", "target": "OP1", "new_edge_type": "CAUSES"},
        {"op": "update_edge"},
        set(),
    ),
    (
        {"kind": "update_edge", "source": "G1", "target": "AC1", "new_edge_type": "CAUSES"},
        {"op": "update_edge"},
        {"5: Edge direction is valid", "5: No circular dependencies (optional"},
    ),
    (
        {
            "kind": "update_edge",
            "source": "OP1",
            "target": "OC1",
            "edge_type": "CAUSES",
            "new_edge_type": "CONTRIBUTES_TO",
        },
        {"op": "update_edge"},
        {"5: Unique constraint satisfied (source,"},
    ),
    ({"kind": "update_edge", "source": "OP1", "target": "OC1"}, {"op": "update_edge"}, {"5: Edge exists in this"}),
    ({"kind": "delete_edge", "source": "OP1", "target": "OC1", "edge_type": "CAUSES"}, {"op": "remove_edge"}, set()),
    ({"kind": "delete_edge", "source": "AC1", "target": "OC1"}, {"op": "remove_edge"}, {"5: Edge exists in this"}),
    (
        {"kind": "add_assumption", "node": "OC1", "assumption_text": "x", "risk_level": "HIGH"},
        {"op": "add_assumption"},
        set(),
    ),
    (
        {"kind": "add_assumption", "source": "AC1", "target": "OP1", "assumption_text": "x"},
        {"op": "add_assumption"},
        set(),
    ),
    (
        {"kind": "add_assumption", "node": "OC1", "assumption_text": "x", "risk_level": "EXTREME"},
        {"op": "add_assumption"},
        {"6: Risk level is valid"},
    ),
    (
        {"kind": "add_assumption", "node": "OC1", "source": "AC1", "target": "OP1", "assumption_text": "x"},
        {"op": "add_assumption"},
        {"6: Parent node/edge exists"},
    ),
    ({"kind": "add_assumption", "assumption_text": "x"}, {"op": "add_assumption"}, {"6: Parent node/edge exists"}),
    ({"kind": "add_assumption", "node": "OC1"}, {"op": "add_assumption"}, {"6: Assumption text is given"}),
    ({"kind": "update_assumption", "assumption": "AS2", "risk_level": "LOW"}, {"op": "update_assumption"}, set()),
    ({"kind": "update_assumption", "assumption": "AS9"}, {"op": "update_assumption"}, {"6: Assumption exists in this"}),
    ({"kind": "delete_assumption", "assumption": "AS1"}, {"op": "remove_assumption"}, set()),
    ({"kind": "delete_assumption"}, {"op": "remove_assumption"}, {"6: Assumption exists in this"}),
    (
        {"kind": "add_indicator", "node": "OC1", "name": "Litres", "unit": "l", "baseline": 3, "target": 5.5},
        {"op": "add_indicator"},
        set(),
    ),
    ({"kind": "add_indicator", "node": "OC9", "name": "Litres"}, {"op": "add_indicator"}, {"4: Node of the indicator"}),
    ({"kind": "add_indicator", "node": "OC1"}, {"op": "add_indicator"}, {"4: Indicator is well formed"}),
    (
        {"kind": "add_indicator", "node": "OC1", "name": "Litres", "direction": "sideways"},
        {"op": "add_indicator"},
        {"4: Indicator is well formed"},
    ),
    ({"kind": "update_indicator", "indicator": "IN1", "target": 7}, {"op": "update_indicator"}, set()),
    (
        {"kind": "update_indicator", "indicator": "IN1", "baseline": "many"},
        {"op": "update_indicator"},
        {"4: Indicator is well formed"},
    ),
    ({"kind": "delete_indicator", "indicator": "IN1"}, {"op": "remove_indicator"}, set()),
    ({"kind": "delete_indicator", "indicator": "IN9"}, {"op": "remove_indicator"}, {"4: Indicator exists in this"}),
]


@pytest.mark.slow
def test_what_is_approved_the_editor_takes_and_what_is_blocked_it_refuses(atlas: AtlasProposals) -> None:
    found, wanted, editor = {}, {}, {}
    for number, (proposed, op, items) in enumerate(PROPOSALS):
        given = {name: value for name, value in proposed.items() if name != "kind"}
        name = f"{number}: {proposed['kind']}"
        found[name], wanted[name] = atlas.failing(**proposed), items
        editor[name] = atlas.would_pass({**op, **given})

    assert found == wanted
    assert editor == {name: not items for name, items in wanted.items()}


def test_another_type_that_turns_an_edge_into_a_cycle_is_blocked_as_the_editor_refuses_it(
    atlas: AtlasProposals,
) -> None:
    atlas.call("edit", operations=[{"op": "add_edge", "source": "OP1", "target": "OC1", "edge_type": "DEPENDS_ON"}])
    retyped = {"node": "OP1", "node_type": "OUTCOME"}

    assert atlas.failing("update_node", **retyped) == {"4: Its edges close no"}
    assert not atlas.would_pass({"op": "update_node", **retyped})


VERBS = {"create": "add", "delete": "remove"}  # of the checklist, and of an edit


def test_the_checklist_and_the_editor_take_the_verbs_of_each_other_and_the_checklist_an_edit_as_it_is(
    atlas: AtlasProposals,
) -> None:
    edits: list[dict[str, Any]] = [
        {"op": "add_node", "node_type": "OUTPUT", "title": "x", "ref": "x"},
        {"op": "remove_node", "node": "AC1"},
        {"op": "add_edge", "source": "AC1", "target": "G1"},
        {"op": "remove_edge", "source": "AC1", "target": "OP1"},
        {"op": "add_assumption", "node": "OC1", "assumption_text": "x"},
        {"op": "update_assumption", "assumption": "AS1", "owner": "ben", "was": {"owner": None}},
        {"op": "remove_assumption", "assumption": "AS1"},
        {"op": "add_indicator", "node": "OC1", "name": "x"},
        {"op": "remove_indicator", "indicator": "IN1"},
    ]
    for op in edits:
        verb, _, thing = op["op"].partition("_")
        other = next((known for known, edit in VERBS.items() if edit == verb), verb)
        for spelled in (op, {**op, "op": f"{other}_{thing}"}):
            assert atlas.would_pass(spelled)
            checked = atlas.call("compliance", gate="compliance", operation=spelled, detail="short")
            assert checked.status == "APPROVED", spelled
    with pytest.raises(Invalid) as error:
        atlas.call("compliance", gate="compliance", operation={"op": "add_node", "kind": "create_node"})
    assert error.value.details["field"] == "operation.op"


LINK, TREE = "1: NOT using adjacency list", "1: NOT using JSONB tree"
STRUCTURES: list[tuple[dict[str, Any], set[str]]] = [
    ({"parent_id": "G1"}, {LINK}),
    ({"children": [{"title": "a", "children": []}]}, {TREE}),
    ({"path": "/G1/OC1/OP1"}, {TREE}),
    ({"parent": "G1", "path": "G1/OC1"}, {LINK, TREE}),
    ({"path": "docs/plan.md", "children": 3, "parent_id": None}, set()),
]


@pytest.mark.parametrize(("metadata", "items"), STRUCTURES)
def test_structure_in_the_metadata_of_a_node_is_blocked_in_section_1(
    atlas: AtlasProposals, metadata: dict[str, Any], items: set[str]
) -> None:
    for proposed in (
        {"kind": "create_node", "node_type": "OUTPUT", "title": "x"},
        {"kind": "update_node", "node": "OP1"},
    ):
        found = atlas.propose(**proposed, metadata=metadata)

        assert atlas.failing(**proposed, metadata=metadata) == items
        assert found.sections[0].verdict == ("OTHER (BLOCKED)" if items else "HYBRID GRAPH-RELATIONAL")
        assert found.sections[0].facts["structure_in_metadata"] == (list(metadata) if items else [])
        assert all(repr(name) in " ".join(found.reasons) for name in found.sections[0].facts["structure_in_metadata"])
        assert ("create_edge" in " ".join(found.required_actions)) == bool(items)


def test_the_answer_about_much_structure_in_metadata_stays_small(atlas: AtlasProposals) -> None:
    def measure(metadata: dict[str, Any]) -> int:
        return len(encode(atlas.propose("create_node", node_type="GOAL", title="P", metadata=metadata)))

    half = 128 * 1024
    names = (f"parent{number:015b}id".replace("0", "-").replace("1", "_") for number in range(half // 26))

    assert measure({"k" * half: dict.fromkeys(names, 1)}) - measure({}) < 10_000


def test_metadata_of_an_operation_that_writes_no_node_is_not_looked_at(atlas: AtlasProposals) -> None:
    assert atlas.failing("delete_node", node="AC1", metadata={"parent_id": "G1"}) == set()


@pytest.mark.parametrize(("metadata", "items"), STRUCTURES)
def test_the_editor_refuses_metadata_that_the_checklist_blocks(
    atlas: AtlasProposals, metadata: dict[str, Any], items: set[str]
) -> None:
    for op in ({"op": "update_node", "node": "OP1"}, {"op": "add_node", "node_type": "OUTPUT", "title": "x"}):
        assert atlas.would_pass({**op, "metadata": metadata}) == (not items)


@pytest.mark.parametrize(
    ("given", "item"),
    [
        ({"parent_id": "G1"}, LINK),
        ({"parent_id": 0}, LINK),
        ({"parent": "anything"}, LINK),
        ({"children": ["OC1"]}, TREE),
        ({"path": "G1/OC1"}, TREE),
        ({"tree": {}}, TREE),
    ],
)
def test_an_operation_with_a_parent_or_children_is_blocked_and_not_refused(
    atlas: AtlasProposals, given: dict[str, Any], item: str
) -> None:
    proposed = {"kind": "create_node", "node_type": "OUTPUT", "title": "x", **given}

    assert atlas.failing(**proposed) == {item}
    assert repr(*given) in " ".join(atlas.propose(**proposed).reasons)


def test_a_light_profile_asks_neither_for_a_direction_nor_for_an_order(empty_project: AtlasProposals) -> None:
    empty_project.session.call("work.open", project="atlas", policies={"profile_min": "light"})
    empty_project.call("draft", profile="light")
    empty_project.call("edit", operations=CHAIN)

    assert empty_project.failing("create_edge", source="OC2", target="OP1") == set()
    assert empty_project.failing("create_edge", source="OC2", target="OC1") == set()
    assert empty_project.failing("update_node", node="OC2", node_type="ACTIVITY") == set()


def test_a_node_can_be_meant_by_the_id_of_its_row(atlas: AtlasProposals) -> None:
    ids = {node.key: node.id for node in atlas.call("open").nodes}

    assert atlas.failing("update_node", node=ids["OC1"]) == set()
    assert atlas.failing("create_edge", source=ids["AC1"], target=ids["OC1"].replace("-", "")) == set()
    assert atlas.propose("read", node=ids["G1"]).sections[3].facts["node"] == "G1"


@pytest.mark.parametrize(
    ("named", "missing", "number", "item"),
    [
        ({"node": "OC1"}, {"node": "OC9"}, 4, "Node exists in this"),
        ({"indicator": "IN1"}, {"indicator": "IN9"}, 4, "Indicator exists in this"),
        # Between these two there are two edges.
        ({"source": "OP1", "target": "OC1"}, {"source": "AC1", "target": "G1"}, 5, "Edge exists in this"),
        ({"assumption": "AS2"}, {"assumption": "AS9"}, 6, "Assumption exists in this"),
    ],
)
def test_what_is_read_is_shown_in_the_section_of_its_kind_and_must_be_in_the_version(
    atlas: AtlasProposals, named: dict[str, str], missing: dict[str, str], number: int, item: str
) -> None:
    sections = atlas.propose("read", **named).sections

    assert [one.number for one in sections[3:6] if one.facts] == [number]
    assert sections[number - 1].facts["operation"] == "READ"
    assert atlas.failing("read", **missing) == {f"{number}: {item}"}
    atlas.call("publish")
    assert atlas.failing("read", **named) == set()


def test_without_a_version_one_can_begin_a_draft_and_nothing_else(empty_project: AtlasProposals) -> None:
    assert empty_project.failing("read") == set()
    assert empty_project.failing("create_draft") == set()
    assert empty_project.failing("create_node", node_type="GOAL", title="Health") == {
        "2: If operation is CREATE/UPDATE/DELETE",
        "4: Version is DRAFT (if",
    }
    assert {"2: If operation is PUBLISH", "3: Current version is DRAFT"} <= empty_project.failing("publish")
    assert empty_project.failing("create_draft", version=3) == {"3: Draft copies a published"}
    assert empty_project.propose("publish").required_actions == ["purpose.draft creates a draft."]


def test_a_published_version_is_read_and_begun_from_and_never_changed(atlas: AtlasProposals) -> None:
    assert atlas.failing("publish") == set()
    assert atlas.failing("create_draft") == {"3: Only ONE DRAFT exists"}
    version = atlas.call("publish").version.number

    for kind in ("create_node", "create_edge", "add_assumption", "publish"):
        blocked = atlas.propose(kind, node_type="GOAL", title="x", source="AC1", target="OC1", assumption_text="x")
        assert blocked.status == "BLOCKED"
        assert blocked.sections[1].verdict == "BLOCKED (cannot edit PUBLISHED version)"
        assert "**Can Modify Current Version?** ❌ NO (PUBLISHED BLOCKED)" in blocked.markdown
    assert (
        atlas.failing("read")
        == atlas.failing("create_draft")
        == atlas.failing("create_draft", version=version)
        == set()
    )
    atlas.call("draft")
    assert atlas.failing("update_node", node="OC1") == set()
    assert "4: Version is DRAFT (if" in atlas.failing("update_node", node="OC1", version="published")
    assert atlas.failing("create_draft", version="draft") == {"3: Only ONE DRAFT exists", "3: Draft copies a published"}
    assert atlas.failing("read", version=9) == {"2: If operation is READ"}
    assert atlas.propose("publish").sections[2].facts["versions"] == [1, 2]


def test_publishing_runs_the_gates_that_the_project_asks_for(atlas: AtlasProposals) -> None:
    atlas.call("edit", operations=[{"op": "add_node", "node_type": "OUTPUT", "title": "Orphan"}])

    blocked = atlas.propose("publish")

    assert failed_items(blocked) == [(3, "All validation gates pass (Gate A/B if required)")]
    assert "GA_ORPHANS" in blocked.reasons[0]
    assert [(one["gate"], one["passed"]) for one in blocked.sections[2].facts["gates"]] == [("A", False)]
    atlas.session.call("work.open", project="atlas", policies={"publish_gates": "AB"})
    assert [one["gate"] for one in atlas.propose("publish").sections[2].facts["gates"]] == ["A", "B"]


def test_whoever_may_not_do_it_is_told_so(atlas: AtlasProposals) -> None:
    too_small = {"7: Role in the project"}
    change = {"kind": "update_node", "node": "OC1"}

    assert atlas.by(CLEO).failing("read") == set()
    assert atlas.by(CLEO).failing(**change) == too_small
    assert atlas.by(BEN).failing(**change) == set()
    assert atlas.by(BEN).failing("publish") == too_small
    assert atlas.by(BEN).propose("publish").sections[6].facts["role"] == "editor"
    atlas.session.call("work.open", project="atlas", policies={"publish_role": "editor"})
    assert atlas.by(BEN).failing("publish") == set()


@pytest.mark.parametrize(
    ("policy", "kind", "command", "needed"),
    [
        ("editor", "publish", "groundplan purpose publish", "owner"),
        ("viewer", "create_draft", "groundplan purpose draft", "editor"),
        ("viewer", "update_node", "groundplan purpose edit", "editor"),
    ],
)
def test_an_agent_is_told_the_command_of_a_person_and_the_policy(
    atlas: AtlasProposals, policy: str, kind: str, command: str, needed: str
) -> None:
    atlas.session.call("work.open", project="atlas", policies={"agents": policy})
    bot = atlas.by(local_actor("bot", kind=ActorKind.AGENT))

    told = bot.propose(kind, node="OC1")

    (reason,) = [one for one in told.reasons if "an agent acts as" in one]
    assert f"an agent acts as {policy} " in reason
    (action,) = [one for one in told.required_actions if "policy" in one]
    assert f"{command} --project atlas, " in action
    assert f"the policy agents to {needed}." in action
    assert find_command(command.removeprefix("groundplan ")) is not None


def test_whoever_is_limited_by_a_token_is_told_so(atlas: AtlasProposals) -> None:
    limited = replace(ADA, role_max=Role.VIEWER)

    assert any("token" in one for one in atlas.by(limited).propose("update_node", node="OC1").required_actions)


def test_an_archived_project_can_be_read_and_not_changed(atlas: AtlasProposals) -> None:
    atlas.session.call("project.archive", project="atlas")

    assert atlas.failing("read") == set()
    assert atlas.failing("update_node", node="OC1") == {"2: Project is not archived"}


def test_the_shape_of_the_tables_is_read_from_the_database(engine: Engine, atlas: AtlasProposals) -> None:
    before = atlas.propose("read").sections[0]
    # SQLite has no tree type, so the name must do.
    tree = "kept jsonb" if engine.dialect is Dialect.POSTGRES else "children text"
    parent = "parent_id"
    edges = "toc_edges"
    engine.as_owner(
        f"ALTER TABLE toc_indicators ADD COLUMN {parent} text",
        f"CREATE TABLE toc_trees (id text, {tree})",
        f"CREATE UNIQUE INDEX stray ON {edges} (tenant_id, toc_version_id, target_node_id, edge_type, mechanism)",
    )

    after = atlas.propose("read").sections[0]

    assert {item.ok for item in before.items} == {True}
    assert before.verdict == "HYBRID GRAPH-RELATIONAL"
    assert [item.ok for item in after.items] == [True, False, False, False]
    assert after.facts["parent_columns"] == [f"toc_indicators.{parent}"]
    assert len(after.facts["tree_columns"]) == 1
    assert set(after.facts["tables"]) - set(before.facts["tables"]) == {"toc_trees"}
    assert after.verdict == "OTHER (BLOCKED)"


def test_row_security_is_what_the_database_has_in_place(engine: Engine, atlas: AtlasProposals) -> None:
    about = atlas.propose("read").sections[6]

    if not isinstance(engine, PostgresEngine):
        assert about.items[1].ok is None
        assert about.facts["row_security"] == live_schema.NO_ROW_SECURITY
        return
    assert about.items[1].ok is True
    commands = ["SELECT", "INSERT", "UPDATE", "DELETE"]
    edges = "toc_edges"
    assert about.facts["row_security"][edges] == {"enabled": True, "forced": True, "policies": commands}
    engine.as_owner(f"ALTER TABLE {edges} NO FORCE ROW LEVEL SECURITY")
    assert "7: RLS policies active on" in atlas.failing("read")
    assert atlas.propose("read").sections[6].facts["row_security"][edges]["forced"] is False


def test_a_query_that_forgot_its_tenant_blocks(
    empty_project: AtlasProposals, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    empty_project.call("draft")
    found = empty_project.propose("create_node", node_type="GOAL", title="x").sections[6].facts
    assert found["queries"] > 20
    assert found["queries_without_tenant"] == []
    (tmp_path / "slice").mkdir()
    text = "-- name: all_nodes\n-- Everybody's.\nSELECT id FROM toc_nodes;\n"
    (tmp_path / "slice" / "queries.sql").write_text(text, encoding="utf-8")
    monkeypatch.setattr(live_schema, "SLICE", tmp_path)

    assert empty_project.failing("create_node", node_type="GOAL", title="x") == {
        "4: Tenant isolation enforced (`tenant_id`",
        "7: All queries filter by",
    }


def test_the_markdown_is_the_checklist_filled_in(atlas: AtlasProposals) -> None:
    found = atlas.propose("create_node", node_type="IMPACT", title="## `Health`\n### 9. Wealth")

    lines = found.markdown.splitlines()
    assert [line for line in lines if line.startswith("## ")] == ["## ToC Graph Engine Compliance — Create Node"]
    assert [line for line in lines if line.startswith("### ")] == [
        f"### {number}. {title}" for number, title in enumerate(TITLES, 1)
    ]
    assert [section.title for section in found.sections] == TITLES
    boxes = {True: "[x]", False: "[ ]", None: "[n/a]"}
    items = [f"- {boxes[item.ok]} {item.text}" for section in found.sections for item in section.items]
    assert [line for line in lines if line.startswith("- [")] == items
    assert "**Skill:** toc-graph-engine  " in lines
    assert "- Title: ``## `Health` ### 9. Wealth``" in lines
    assert "**Schema Pattern:** ✅ HYBRID GRAPH-RELATIONAL" in lines
    assert "**Can Modify Current Version?** ✅ YES (DRAFT)" in lines
    assert "**Node Operation Valid?** ❌ NO (BLOCKED)" in lines
    assert "**Edge Operation Valid?** NOT APPLICABLE" in lines
    assert lines[-1] == "**Checklist Complete.**"
    assert "**Status:** ❌ BLOCKED" in lines
    assert f"1. {found.required_actions[0]}" in lines
    assert found.sections[7].verdict == found.status == "BLOCKED"


# The items of the template in its order, then ours.
TEMPLATE = """
Operation uses `toc_nodes` + `toc_edges` tables (hybrid model)
NOT using adjacency list (`parent_id` column)
NOT using JSONB tree structure
Edges allow multiple parents (graph, not tree)

If operation is CREATE/UPDATE/DELETE node → Version MUST be DRAFT
If operation is CREATE/UPDATE/DELETE edge → Version MUST be DRAFT
If operation is PUBLISH → Version MUST be DRAFT
If operation is READ → Version can be DRAFT or PUBLISHED

Only ONE DRAFT exists per project
Query to verify
Current version is DRAFT
All validation gates pass (Gate A/B if required)
Version number is next in sequence
`published_at` timestamp will be set to NOW()

Version is DRAFT (if CREATE/UPDATE/DELETE)
Node type is valid (one of 4 types)
Tenant isolation enforced (`tenant_id` filter)
Metadata JSONB structure is valid (if applicable)

Source and target nodes exist in same ToC version
Edge direction is valid (e.g., Activity → Output, Output → Outcome)
No circular dependencies (optional check for DAG enforcement)
Unique constraint satisfied (source, target, edge_type)

Parent node/edge exists
Version is DRAFT (if modifying)
Risk level is valid (LOW / MEDIUM / HIGH)

All queries filter by `tenant_id`
RLS policies active on `toc_nodes`, `toc_edges`, `toc_versions`
User has membership in target tenant (`user_memberships` check)
"""


def test_every_section_begins_with_the_items_of_the_template(empty_project: AtlasProposals) -> None:
    wanted = [block.splitlines() for block in TEMPLATE.strip().split("\n\n")]

    found = [[item.text for item in section.items] for section in empty_project.propose("read").sections]

    assert [texts[: len(these)] for texts, these in zip(found[:-1], wanted, strict=True)] == wanted
    assert found[-1] == []  # the decision follows from the others


def test_the_statements_shown_are_those_that_the_slice_runs(atlas: AtlasProposals) -> None:
    shown = {
        "create_node": sql_of("add_node"),
        "delete_edge": sql_of("remove_assumptions_on_edge", "remove_edge"),
        "add_assumption": sql_of("add_assumption"),
    }
    for kind, statement in shown.items():
        given = {"source": "OP1", "target": "OC1"} if kind == "delete_edge" else {"node": "OC1"}
        assert statement in atlas.propose(kind, **given).markdown
    assert "UPDATE toc_versions" in atlas.propose("publish").markdown
    assert "UPDATE toc_versions" not in atlas.propose("read").markdown


def sql_of(*names: str) -> str:
    statements = "\n\n".join(f"{getattr(draft.sql, name).sqlite};" for name in names)
    return f"```sql\n{statements}\n```"


def test_a_label_and_a_profile_are_judged_as_the_operation_judges_them(atlas: AtlasProposals) -> None:
    for label in ("v99", "draft", "a\nb", " "):
        assert "3: Label is unambiguous (if" in atlas.failing("publish", label=label)
    assert "3: Label is unambiguous (if" not in atlas.failing("publish", label="Spring plan")
    atlas.call("discard")
    assert "3: Profile is valid (if" in atlas.failing("create_draft", profile="severe")
    assert "3: Profile is valid (if" not in atlas.failing("create_draft", profile="Strict")


def test_a_profile_lighter_than_the_project_allows_is_blocked_as_publishing_blocks_it(atlas: AtlasProposals) -> None:
    atlas.session.call("work.open", project="atlas", policies={"profile_min": "strict"})

    assert "3: Profile is allowed by" in atlas.failing("publish")
    atlas.call("discard")
    assert "3: Profile is allowed by" in atlas.failing("create_draft", profile="standard")
    assert "3: Profile is allowed by" not in atlas.failing("create_draft", profile="strict")


def test_a_draft_without_changes_is_blocked_as_publishing_blocks_it(atlas: AtlasProposals) -> None:
    atlas.call("publish")
    atlas.call("draft")
    assert "3: Content or facts differ" in atlas.failing("publish")

    atlas.call("edit", operations=[{"op": "add_node", "node_type": "OUTCOME", "title": "Cleaner water"}])
    assert "3: Content or facts differ" not in atlas.failing("publish")


def test_a_long_cycle_is_told_in_bounds(atlas: AtlasProposals) -> None:
    count = 120
    nodes = [{"op": "add_node", "node_type": "OUTCOME", "title": str(n), "ref": f"n{n}"} for n in range(count)]
    chain = [{"op": "add_edge", "source": f"n{n}", "target": f"n{n + 1}"} for n in range(count - 1)]
    made = atlas.call("edit", operations=[*nodes, *chain]).created

    found = atlas.propose("create_edge", source=made[count - 1].key, target=made[0].key)

    assert found.status == "BLOCKED"
    assert all(len(reason) < 300 for reason in found.reasons)


def test_a_short_answer_has_the_decision_and_the_items_that_fail(atlas: AtlasProposals) -> None:
    proposed = {"source": "OC1", "target": "OC1"}
    full, short = atlas.propose("create_edge", **proposed), atlas.propose_shortly("create_edge", **proposed)

    assert (short.status, short.reasons, short.required_actions) == (full.status, full.reasons, full.required_actions)
    assert [(item.section, item.text) for item in short.failed or ()] == failed_items(full)
    assert short.failed
    assert (short.sections, short.markdown, full.failed) == (UNSET, UNSET, UNSET)
    assert len(encode(short)) < len(encode(full)) / 5
    assert atlas.propose_shortly("read").failed == []


def test_a_refusal_because_of_the_role_says_role_and_not_tenant(atlas: AtlasProposals) -> None:
    found = atlas.by(CLEO).propose("update_node", node="OC1")

    assert (found.status, found.sections[6].verdict) == ("BLOCKED", "YES")
    assert "**Tenant Filter Applied?** ✅ YES" in found.markdown
    assert "**Role Allows It?** ❌ NO (BLOCKED)" in found.markdown
    assert all("role" in reason and "tenant" not in reason for reason in found.reasons)


LONE, WATER = {"node": "OP2"}, {"node": "OC1"}  # nothing is on the first, and something of each kind on the second
SOAP, HEALTH = {"source": "OC2", "target": "G1"}, {"source": "OC1", "target": "G1"}  # the second has an assumption
HASH = "0" * 64
GATES = json.dumps([{"gate": "A", "passed": True, "content_hash": HASH}])
PRINTING: list[tuple[str, dict[str, str], str]] = [  # with the item that the statement is about
    ("create_node", {"node_type": "OUTPUT", "title": "x"}, ""),
    ("update_node", LONE, "OP2"),
    ("delete_node", LONE, "OP2"),
    ("delete_node", WATER, "OC1"),
    ("create_edge", {"source": "AC1", "target": "G1"}, ""),
    ("update_edge", SOAP, "OC2->G1"),
    ("delete_edge", SOAP, "OC2->G1"),
    ("delete_edge", HEALTH, "OC1->G1"),
    ("add_assumption", LONE, ""),
    ("add_assumption", SOAP, ""),
    *((f"{verb}_assumption", {"assumption": key}, key) for verb in ("update", "delete") for key in ("AS1", "AS2")),
    ("add_indicator", {**LONE, "name": "x"}, ""),
    *((f"{verb}_indicator", {"indicator": "IN2"}, "IN2") for verb in ("update", "delete")),
    ("publish", {}, ""),
    ("read", {}, ""),
]


NEW_KEYS = {"create_node": "OP99", "add_indicator": "IN99"}
# The rows that each statement of a removal concerns: what is on the item first, and the item last.
REMOVED = {
    ("delete_node", "OP2"): [0, 0, 0, 0, 1],
    ("delete_node", "OC1"): [1, 1, 1, 4, 1],
    ("delete_edge", "OC2->G1"): [0, 1],
    ("delete_edge", "OC1->G1"): [1, 1],
}


@pytest.mark.parametrize(("kind", "given", "item"), PRINTING)
def test_every_statement_of_the_checklist_runs_as_it_is_printed_and_changes_only_a_draft(
    engine: Engine, atlas: AtlasProposals, kind: str, given: dict[str, str], item: str
) -> None:
    measured = {"op": "add_indicator", "node": "OC1", "name": "Litres"}  # IN2
    atlas.call("edit", operations=[{"op": "add_node", "node_type": "OUTPUT", "title": "Soap dish"}, measured])
    opened = atlas.call("open", detail="full")
    ids = {row.key: row.id for row in opened.nodes} | {f"{row.source}->{row.target}": row.id for row in opened.edges}
    ids |= {row.key: row.id for part in (opened.nodes, opened.edges) for on in part for row in on.assumptions}
    ids |= {row.key: row.id for row in opened.indicators}
    values = {
        "project_id": engine.as_owner("SELECT id FROM projects")[0][0],
        "version_id": engine.as_owner("SELECT id FROM toc_versions")[0][0],
        "id": ids[item] if item else new_uuid(),
        "on_id": ids["OC2->G1" if given == SOAP else "OP2"],
        **{"node_id": ids["OP2"], "name": "Litres a day"},
        **{"source_node_id": ids["AC1"], "target_node_id": ids["G1"]},
        **{"key": NEW_KEYS.get(kind, "AS99"), "node_type": "OUTPUT", "title": "x"},
        **dict.fromkeys(("unit", "direction", "baseline", "baseline_verified", "target", "method", "frequency")),
        **{"edge_type": "CONTRIBUTES_TO", "assumption_text": "y", "metadata": "{}"},
        **dict.fromkeys(("description", "narrative", "owner", "mechanism", "confidence", "review_by", "context_run")),
        **{"label": "v1", "content_hash": HASH, "gates": GATES, "outside": "{}", "risk_level": None},
    }
    printed = re.findall(r"```sql\n(.*?)\n *```", atlas.propose(kind, **given).markdown, re.DOTALL)

    changed = [atlas.run_printed(block, values) for block in printed]
    assert changed == [[], []] if kind == "read" else [[], [], REMOVED.get((kind, item), [1])]
    if item:
        atlas.call("edit", operations=[{"op": "add_edge", "source": "OP2", "target": "OC2"}])
        atlas.call("publish")
        assert set(atlas.run_printed(printed[-1], values)) == {0}


def test_code_is_judged_on_its_own(atlas: AtlasProposals) -> None:
    file = {"path": "a.sql", "text": "SELECT id FROM toc_nodes WHERE tenant_id = 1;"}

    verdict = atlas.call("compliance", gate="compliance", code=[file])

    assert (verdict.status, verdict.findings) == ("APPROVED", [])
    for other in ({"operation": {"kind": "publish"}, "code": [file]}, {"code": [{"path": "a.sql"}]}):
        with pytest.raises(Invalid):
            atlas.call("compliance", gate="compliance", **other)
    with pytest.raises(Invalid):
        atlas.call("check", gate="A", code=[file])


def test_more_findings_in_code_than_an_answer_shows_are_counted(atlas: AtlasProposals) -> None:
    file = {"path": "a.sql", "text": "SELECT id FROM toc_nodes;\n" * (check.FINDINGS_MAX + 2)}

    verdict = atlas.call("compliance", gate="compliance", code=[file])

    assert (len(verdict.findings), verdict.left_out) == (check.FINDINGS_MAX, {"findings": 2})
