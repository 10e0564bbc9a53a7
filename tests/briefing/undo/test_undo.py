"""Undo: what is set back, what is refused, and by whom."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from groundplan.catalog import OPERATIONS
from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.session import Session
from tests.engines import Engine, fill_once, person
from tests.errors import error_of

ADA = local_actor("ada", kind=ActorKind.PERSON)


def fill_atlas(engine: Engine) -> dict[str, str]:
    """Fill a project and return the ids of its nodes, atom and runs."""
    ada = engine.session(ADA)
    ada.call("work.open", project="atlas")
    nodes = [
        {"ref": "survey", "summary": "Survey"},
        {"ref": "coast", "summary": "Coast", "parent_ref": "survey", "properties": {"size": 2}},
        {"ref": "hills", "summary": "Hills", "parent_ref": "survey", "depends_on": ["coast"]},
        {"ref": "print", "summary": "Print"},
    ]
    ids = {one.ref: one.id for one in ada.call("work.plan", project="atlas", nodes=nodes).created}
    ids["atom"] = ada.call(
        "knowledge.create",
        entityType="atom",
        projectId="atlas",
        name="Sheets",
        createdByTaskId=ids["coast"],
        paths=["sheets/**"],
        knowledge="Ink",
    ).atom.id
    ada.call("purpose.draft", project="atlas")
    ada.call(
        "purpose.edit",
        project="atlas",
        operations=[
            {"op": "add_node", "ref": "g", "node_type": "GOAL", "title": "Safe", "metadata": {"a": 1}},
            {"op": "add_node", "ref": "o", "node_type": "OUTCOME", "title": "Read"},
            {"op": "add_edge", "source": "o", "target": "g", "mechanism": "by reading"},
            {"op": "add_assumption", "node": "g", "assumption_text": "They look"},
            {"op": "add_indicator", "node": "g", "name": "Wrecks", "target": 3},
            {"op": "add_assumption", "source": "o", "target": "g", "assumption_text": "They can see", "owner": "ben"},
        ],
    )
    ids["run"] = ada.call("context.create_draft", scopeId="atlas").run.id
    row = {"pointer": "/coast/length", "label": "Length", "value": 214}
    ada.call(
        "context.edit", runId=ids["run"], inputs=[row], constraints=[{"key": "ink", "label": "Ink", "value": "blue"}]
    )
    for name, role in (("ben", "editor"), ("cleo", "viewer")):
        ada.call("member.add", scopeId="atlas", userId=name, role=role, kind="person")
    return ids


@pytest.fixture
def ids(engine: Engine) -> dict[str, str]:
    """Ids of the filled project."""
    return fill_once(engine, fill_atlas)


@pytest.fixture
def ada(engine: Engine, ids: dict[str, str]) -> Session:
    """Ada, who owns the project."""
    return engine.session(ADA)


def undo(session: Session, **given: Any) -> Any:
    return session.call("briefing.undo", project="atlas", **given)


def edit(session: Session, *operations: dict[str, Any]) -> None:
    session.call("purpose.edit", project="atlas", operations=list(operations))


def last_event(session: Session) -> str:
    """Return the position of the last event."""
    position: str = session.call("event.list", project="atlas", limit=1).events[0].id
    return position


def dump(session: Session, ids: dict[str, str]) -> dict[str, Any]:
    """Return everything that undo sets back, without revisions, times, evidence and claims."""
    work: dict[str, Any] = {}
    for name in ("survey", "coast", "hills", "print"):
        found = session.call("work.context", node_id=ids[name])
        node = found.node
        shown = {key: value for key, value in node.properties.items() if not key.startswith("_")}
        work[name] = (
            node.summary,
            node.resolved,
            node.state,
            node.parent,
            shown,
            node.context_links,
            sorted(one.node.id for one in found.depends_on or ()),
            sorted(one.node.id for one in found.depended_by or ()),
        )
    opened = session.call("purpose.open", project="atlas", detail="full")
    view = msgspec.to_builtins(session.call("context.view", scopeId="atlas", runId=ids["run"]))
    return {
        "work": work,
        "counts": session.call("work.open", project="atlas").summary,
        "policies": session.call("work.open", project="atlas").policies,
        "nodes": [(one.key, one.title, one.description, one.metadata, one.assumptions) for one in opened.nodes],
        "edges": [
            (one.source, one.target, one.edge_type, one.mechanism, one.confidence, one.assumptions)
            for one in opened.edges
        ],
        "indicators": [(one.key, one.name, one.target, one.owner) for one in opened.indicators],
        "facts": [
            (name, one["label"], one["valueNumber"], one["provenance"]) for name, one in view["inputsByPointer"].items()
        ],
        "constraints": [(one["key"], one["label"], one["valueString"]) for one in view["constraints"]],
        "atoms": [
            (one.name, one.knowledge, one.paths)
            for one in session.call("knowledge.search", entityType="atom", projectId="atlas").items
        ],
    }


WORK_CHANGES: dict[str, tuple[str, dict[str, Any]]] = {
    "fields": (
        "work.update",
        {
            "updates": [
                {
                    "node_id": "{coast}",
                    "summary": "C",
                    "state": {"a": [1]},
                    "properties": {"size": None, "new": True},
                    "add_context_links": ["a", "b"],
                }
            ]
        },
    ),
    "the same field twice": (
        "work.update",
        {"updates": [{"node_id": "{coast}", "state": 1}, {"node_id": "{coast}", "state": 2, "resolved": True}]},
    ),
    "resolved": ("work.update", {"updates": [{"node_id": "{coast}", "resolved": True}]}),
    "resolved from below": (
        "work.update",
        {"updates": [{"node_id": f"{{{one}}}", "resolved": True} for one in ("coast", "hills", "survey")]},
    ),
    "connected": ("work.connect", {"edges": [{"from": "{print}", "to": "{hills}", "type": "depends_on"}]}),
    "disconnected": (
        "work.connect",
        {"edges": [{"from": "{hills}", "to": "{coast}", "type": "depends_on", "remove": True}]},
    ),
    "turned round": (
        "work.connect",
        {
            "edges": [
                {"from": "{hills}", "to": "{coast}", "type": "depends_on", "remove": True},
                {"from": "{coast}", "to": "{hills}", "type": "depends_on"},
            ]
        },
    ),
    "moved": ("work.restructure", {"operations": [{"op": "move", "node_id": "{coast}", "new_parent": "{print}"}]}),
    "dropped": ("work.restructure", {"operations": [{"op": "drop", "node_id": "{survey}", "reason": "No boat"}]}),
    "claimed": ("work.claim", {"project": "atlas", "node_id": "{coast}", "claim": True}),
}
OTHER_CHANGES: dict[str, tuple[str, dict[str, Any]]] = {
    "policies": ("work.open", {"project": "atlas", "policies": {"claims": "enforced", "evidence": "require"}}),
    "atom changed": (
        "knowledge.update",
        {"entityType": "atom", "id": "{atom}", "version": 1, "name": "Maps", "knowledge": "Pencil", "paths": ["m/**"]},
    ),
    "atom created": (
        "knowledge.create",
        {"entityType": "atom", "projectId": "atlas", "name": "New", "createdByTaskId": "{coast}", "paths": ["n/**"]},
    ),
    "purpose changed": (
        "purpose.edit",
        {
            "project": "atlas",
            "operations": [
                {"op": "update_node", "node": "G1", "title": "Safer", "description": "x", "metadata": {"b": 2}},
                {"op": "update_edge", "source": "OC1", "target": "G1", "new_edge_type": "CAUSES", "confidence": "low"},
                {"op": "update_assumption", "assumption": "AS1", "assumption_text": "They listen"},
                {"op": "update_indicator", "indicator": "IN1", "target": 4, "owner": "ben"},
            ],
        },
    ),
    "purpose added": (
        "purpose.edit",
        {
            "project": "atlas",
            "operations": [
                {"op": "add_node", "ref": "p", "node_type": "OUTPUT", "title": "Map"},
                {"op": "add_edge", "source": "p", "target": "OC1"},
                {"op": "add_assumption", "source": "p", "target": "OC1", "assumption_text": "Legible"},
                {"op": "add_indicator", "node": "p", "name": "Copies"},
            ],
        },
    ),
    "edge removed": (
        "purpose.edit",
        {"project": "atlas", "operations": [{"op": "remove_edge", "source": "OC1", "target": "G1"}]},
    ),
    "purpose node removed": (
        "purpose.edit",
        {"project": "atlas", "operations": [{"op": "remove_node", "node": "G1"}]},
    ),
    "assumption removed": (
        "purpose.edit",
        {
            "project": "atlas",
            "operations": [{"op": "remove_assumption", "assumption": key} for key in ("AS1", "AS2")],
        },
    ),
    "indicator removed": (
        "purpose.edit",
        {"project": "atlas", "operations": [{"op": "remove_indicator", "indicator": "IN1"}]},
    ),
    "purpose replaced": (
        "purpose.edit",
        {
            "project": "atlas",
            "operations": [
                {"op": "update_assumption", "assumption": "AS2", "assumption_text": "They wear glasses"},
                {"op": "remove_edge", "source": "OC1", "target": "G1"},
                {"op": "add_edge", "source": "OC1", "target": "G1", "mechanism": "by looking"},
                {"op": "add_node", "ref": "p", "node_type": "OUTPUT", "title": "Map"},
                {"op": "add_edge", "source": "p", "target": "OC1"},
                {"op": "remove_indicator", "indicator": "IN1"},
            ],
        },
    ),
    "facts changed": (
        "context.edit",
        {
            "runId": "{run}",
            "inputs": [{"pointer": "/coast/length", "label": "Long", "value": 215}],
            "constraints": [{"key": "ink", "value": "red"}],
        },
    ),
    "facts added": (
        "context.edit",
        {
            "runId": "{run}",
            "inputs": [{"pointer": "/hills", "label": "Hills", "value": 3}],
            "constraints": [{"key": "paper", "label": "Paper", "value": "A0"}],
        },
    ),
}
FINAL = {"claimed", "atom created", "facts added"}  # their undo has no inverse
CHANGES = {**WORK_CHANGES, **OTHER_CHANGES}


def fill(value: Any, ids: dict[str, str]) -> Any:
    """Return arguments with the ids of the project."""
    if isinstance(value, str) and value.startswith("{"):
        return ids[value[1:-1]]
    if isinstance(value, list):
        return [fill(one, ids) for one in value]
    return {name: fill(one, ids) for name, one in value.items()} if isinstance(value, dict) else value


def change(session: Session, name: str, ids: dict[str, str]) -> None:
    operation, arguments = CHANGES[name]
    session.call(operation, **fill(arguments, ids))


@pytest.mark.parametrize("name", CHANGES)
def test_undo_sets_back_what_a_change_did(ada: Session, ids: dict[str, str], name: str) -> None:
    before = dump(ada, ids)
    change(ada, name, ids)
    after = dump(ada, ids)

    undone = undo(ada)

    assert dump(ada, ids) == before
    assert (after == before) == (name == "claimed")
    assert undone.did.operation in OPERATIONS or undone.did.operation == "work.revert"


@pytest.mark.parametrize("name", sorted(CHANGES.keys() - FINAL))
def test_a_redo_does_again_what_an_undo_took_back(ada: Session, ids: dict[str, str], name: str) -> None:
    change(ada, name, ids)
    after = dump(ada, ids)
    undo(ada)
    undo(ada, redo=True)
    assert dump(ada, ids) == after


@pytest.mark.parametrize("name", sorted(CHANGES.keys() - FINAL))
def test_what_was_done_again_can_be_undone_again(ada: Session, ids: dict[str, str], name: str) -> None:
    before = dump(ada, ids)
    change(ada, name, ids)
    undo(ada)
    undo(ada, redo=True)
    undo(ada)
    assert dump(ada, ids) == before


def set_summary(session: Session, ids: dict[str, str], summary: str) -> None:
    session.call("work.update", updates=[{"node_id": ids["coast"], "summary": summary}])


def read_summary(session: Session, ids: dict[str, str]) -> str:
    return str(session.call("work.context", node_id=ids["coast"]).node.summary)


def test_the_second_undo_takes_back_the_step_before(ada: Session, ids: dict[str, str]) -> None:
    seen = [read_summary(ada, ids)]
    for summary in ("one", "two", "three"):
        set_summary(ada, ids, summary)
        seen.append(summary)
    for expected in reversed(seen[:-1]):
        undo(ada)
        assert read_summary(ada, ids) == expected
    for expected in seen[1:]:
        undo(ada, redo=True)
        assert read_summary(ada, ids) == expected
    assert error_of(lambda: undo(ada, redo=True)).code == "nothing_to_redo"
    undo(ada)
    assert read_summary(ada, ids) == "two"


def test_a_new_change_ends_what_can_be_done_again(ada: Session, ids: dict[str, str]) -> None:
    set_summary(ada, ids, "one")
    set_summary(ada, ids, "two")
    undo(ada)
    set_summary(ada, ids, "three")

    assert error_of(lambda: undo(ada, redo=True)).code == "nothing_to_redo"
    undo(ada)
    assert read_summary(ada, ids) == "one"


def test_a_change_of_another_actor_is_not_done_over(engine: Engine, ada: Session, ids: dict[str, str]) -> None:
    set_summary(ada, ids, "one")
    undo(ada)
    set_summary(engine.session("ben"), ids, "of ben")

    assert error_of(lambda: undo(ada, redo=True)).code == "changed_since"
    assert read_summary(ada, ids) == "of ben"


def test_what_was_undone_is_not_undone_twice(ada: Session, ids: dict[str, str]) -> None:
    set_summary(ada, ids, "one")
    event = last_event(ada)
    undo(ada)
    back = last_event(ada)

    assert error_of(lambda: undo(ada, event=event)).code == "already_undone"
    undo(ada, event=back)  # the undo itself: a redo
    assert read_summary(ada, ids) == "one"
    assert error_of(lambda: undo(ada, event=back)).code == "already_undone"
    undo(ada, event=event)
    assert error_of(lambda: undo(ada, event=event)).code == "already_undone"


def test_an_undo_of_a_release_takes_the_claim_again(ada: Session, ids: dict[str, str]) -> None:
    ada.call("work.next", project="atlas", node_id=ids["coast"], claim=True)
    ada.call("work.update", updates=[{"node_id": ids["coast"], "release": True}])

    undo(ada)

    assert ada.call("work.context", node_id=ids["coast"]).node.properties["_claimed_by"] == "ada"


def test_an_undo_says_what_it_did_as_a_sentence(ada: Session, ids: dict[str, str]) -> None:
    set_summary(ada, ids, "one")
    event = last_event(ada)

    assert undo(ada).text == f"Undid {event}: updated {ids['coast']}"
    assert undo(ada, redo=True).text == f"Did again {event}: updated {ids['coast']}"


def test_the_sentence_names_the_item_that_others_were_removed_with(ada: Session, ids: dict[str, str]) -> None:
    edit(ada, {"op": "remove_node", "node": "G1"})
    event = last_event(ada).partition(".")[0] + ".0"

    assert undo(ada).text.startswith(f"Undid {event}: removed node G1 and ")


def test_the_sentence_of_a_redo_is_about_the_change_and_not_about_its_undo(ada: Session, ids: dict[str, str]) -> None:
    new = plan(ada, {"ref": "x", "summary": "New"})["x"]
    event = last_event(ada)

    assert undo(ada).text == f"Undid {event}: created {new}"
    assert undo(ada, redo=True).text == f"Did again {event}: created {new}"
    assert undo(ada).text == f"Undid {event}: created {new}"


def test_a_move_is_taken_back_where_the_parent_was_merged_into_the_new_one(ada: Session, ids: dict[str, str]) -> None:
    set_summary(ada, ids, "one")
    ada.call("work.restructure", operations=[{"op": "move", "node_id": ids["coast"], "new_parent": ids["print"]}])
    event = last_event(ada)
    ada.call("work.restructure", operations=[{"op": "merge", "source": ids["survey"], "target": ids["print"]}])

    undo(ada, event=event)

    assert error_of(lambda: undo(ada, event=event)).code == "already_undone"


def test_redo_with_an_event_is_refused(ada: Session, ids: dict[str, str]) -> None:
    set_summary(ada, ids, "one")

    assert error_of(lambda: undo(ada, event=last_event(ada), redo=True)).code == "invalid_argument"


def test_the_events_of_an_undo_say_what_they_undo(ada: Session, ids: dict[str, str]) -> None:
    change(ada, "fields", ids)
    undone = undo(ada).undone
    assert ada.call("work.history", node_id=ids["coast"], limit=1).events[0].decision == f"undo of {undone}"


@pytest.mark.parametrize("name", CHANGES)
def test_a_dry_run_says_what_it_would_do_and_changes_nothing(
    engine: Engine, ada: Session, ids: dict[str, str], name: str
) -> None:
    change(ada, name, ids)
    after, rev, event = dump(ada, ids), engine.as_owner("SELECT rev FROM projects"), last_event(ada)

    first, second = undo(ada, dry_run=True, op_id="try"), undo(ada, dry_run=True)

    assert first == second
    assert (dump(ada, ids), engine.as_owner("SELECT rev FROM projects"), last_event(ada)) == (after, rev, event)
    done = undo(ada)
    assert (first.dry_run, first.undone, first.did) == (True, done.undone, done.did)


def close_loop_behind(session: Session, ids: dict[str, str]) -> str:
    """Remove the dependency of hills on coast, let coast wait for hills by way of print, and return the removal."""
    ends = {"from": ids["hills"], "to": ids["coast"], "type": "depends_on"}
    session.call("work.connect", edges=[{**ends, "remove": True}])
    event = last_event(session)
    around = [{"from": ids[a], "to": ids[b], "type": "depends_on"} for a, b in (("coast", "print"), ("print", "hills"))]
    session.call("work.connect", edges=around)
    return event


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_dependency_that_would_close_a_loop_is_not_restored_and_the_error_names_the_loop(
    ada: Session, ids: dict[str, str], dry_run: bool
) -> None:
    event = close_loop_behind(ada, ids)
    before = dump(ada, ids)
    coast, hills, print_ = (ids[name] for name in ("coast", "hills", "print"))

    refusal = error_of(lambda: undo(ada, event=event, dry_run=dry_run))

    assert refusal.code == "edges_rejected"
    assert refusal.details["reasons"] == [f"{hills} to {coast}: cycle_detected"]
    [rejected] = refusal.details["rejected"]
    assert (rejected["from"], rejected["to"], rejected["reason"]) == (hills, coast, "cycle_detected")
    assert rejected["path"] == [hills, coast, print_, hills]
    assert rejected["depends_on"] == [[hills, coast], [coast, print_], [print_, hills]]
    assert refusal.message.endswith(f"remove one of these dependencies first: {coast} on {print_}, {print_} on {hills}")
    assert dump(ada, ids) == before


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_loop_through_the_tree_is_named_with_its_dependencies_alone(
    ada: Session, ids: dict[str, str], dry_run: bool
) -> None:
    ada.call("work.connect", edges=[{"from": ids["print"], "to": ids["survey"], "type": "depends_on"}])
    ada.call("work.connect", edges=[{"from": ids["print"], "to": ids["survey"], "type": "depends_on", "remove": True}])
    event = last_event(ada)
    ada.call("work.connect", edges=[{"from": ids["coast"], "to": ids["print"], "type": "depends_on"}])

    [rejected] = error_of(lambda: undo(ada, event=event, dry_run=dry_run)).details["rejected"]

    assert rejected["path"] == [ids["print"], ids["survey"], ids["coast"], ids["print"]]
    assert rejected["depends_on"] == [[ids["print"], ids["survey"]], [ids["coast"], ids["print"]]]


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_node_that_would_wait_for_itself_is_not_opened_again(
    ada: Session, ids: dict[str, str], dry_run: bool
) -> None:
    ada.call("work.update", updates=[{"node_id": ids["hills"], "resolved": True}])
    event = last_event(ada)
    # What is resolved waits for nothing, so coast may depend on it now, though it depends on coast.
    ada.call("work.connect", edges=[{"from": ids["coast"], "to": ids["hills"], "type": "depends_on"}])

    assert error_of(lambda: undo(ada, event=event, dry_run=dry_run)).code == "cycle_detected"


def test_the_same_op_id_undoes_once(ada: Session, ids: dict[str, str]) -> None:
    before = dump(ada, ids)
    change(ada, "fields", ids)
    assert undo(ada, op_id="one") == undo(ada, op_id="one")
    assert dump(ada, ids) == before


def test_what_was_changed_again_is_not_undone_and_the_error_names_the_event(
    engine: Engine, ada: Session, ids: dict[str, str]
) -> None:
    change(ada, "fields", ids)
    ben = engine.session(person("ben"))
    ben.call("work.update", updates=[{"node_id": ids["coast"], "state": "later"}])
    event = undo(ben, dry_run=True).undone

    refused = error_of(lambda: undo(ada))

    assert (refused.code, refused.details["event"]) == ("changed_since", event)
    assert refused.details["subject"] == ids["coast"]


def test_an_edit_of_an_earlier_draft_is_not_undone_in_a_later_one(ada: Session, ids: dict[str, str]) -> None:
    change(ada, "purpose changed", ids)
    event = undo(ada, dry_run=True).undone
    ada.call("purpose.discard", project="atlas")
    ada.call("purpose.draft", project="atlas")
    assert error_of(lambda: undo(ada, event=event)).code == "changed_since"


@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        ("knowledge.delete", {"entityType": "atom", "id": "{atom}", "version": 1}),
        ("purpose.record", {"project": "atlas", "decisions": [{"text": "x", "rationale": "y"}]}),
        ("context.commit", {"runId": "{run}"}),
        ("member.add", {"scopeId": "atlas", "userId": "dora", "role": "viewer"}),
    ],
)
def test_what_has_no_inverse_is_refused_with_a_reason(
    ada: Session, ids: dict[str, str], operation: str, arguments: dict[str, Any]
) -> None:
    ada.call(operation, **fill(arguments, ids))
    assert error_of(lambda: undo(ada)).code == "cannot_undo"


def test_what_stays_hides_no_change_before_it(ada: Session, ids: dict[str, str]) -> None:
    plan(ada, {"ref": "new", "summary": "New"})
    before = last_event(ada)
    ada.call("purpose.record", project="atlas", decisions=[{"text": "x", "rationale": "y"}])

    refused = error_of(lambda: undo(ada))

    assert refused.details["event"] == last_event(ada)
    *_, earlier = refused.next_steps
    assert (earlier.operation, earlier.arguments) == ("briefing.undo", {"project": "atlas", "event": before})
    assert undo(ada, event=before).undone == before


def test_evidence_stays_and_the_answer_says_so(ada: Session, ids: dict[str, str]) -> None:
    evidence = [{"type": "test", "ref": "walked"}]
    ada.call("work.update", updates=[{"node_id": ids["coast"], "resolved": True, "add_evidence": evidence}])
    assert len(undo(ada).warnings) == 1
    node = ada.call("work.context", node_id=ids["coast"]).node
    assert (node.resolved, [one.ref for one in node.evidence]) == (False, ["walked"])


def test_evidence_alone_does_not_keep_an_undo_from_the_change_before_it(ada: Session, ids: dict[str, str]) -> None:
    before = read_summary(ada, ids)
    set_summary(ada, ids, "one")
    ada.call("work.update", updates=[{"node_id": ids["coast"], "add_evidence": [{"type": "test", "ref": "walked"}]}])

    undo(ada)
    assert ada.call("work.context", node_id=ids["coast"]).node.evidence[0].undone is True
    undo(ada)

    assert read_summary(ada, ids) == before
    for _ in range(2):
        undo(ada, redo=True)
    node = ada.call("work.context", node_id=ids["coast"]).node
    assert (node.summary, node.evidence[0].undone) == ("one", UNSET)


def test_a_drop_is_not_repeated_over_work_that_was_planned_since(ada: Session, ids: dict[str, str]) -> None:
    change(ada, "dropped", ids)
    undo(ada)
    event = undo(ada, redo=True, dry_run=True).undone
    ada.call("work.plan", project="atlas", nodes=[{"ref": "new", "summary": "New", "parent_ref": ids["coast"]}])
    after = dump(ada, ids)
    assert error_of(lambda: undo(ada, event=event)).code == "unresolved_children"
    assert dump(ada, ids) == after


@pytest.mark.parametrize(
    "built",
    [
        {"op": "add_edge", "source": "OP1", "target": "OC1"},
        {"op": "add_assumption", "node": "OP1", "assumption_text": "Paper lasts"},
        {"op": "add_indicator", "node": "OP1", "name": "Sheets"},
    ],
)
def test_a_purpose_node_is_not_removed_with_what_was_built_on_it_since(
    ada: Session, ids: dict[str, str], built: dict[str, str]
) -> None:
    edit(ada, {"op": "add_node", "node_type": "OUTPUT", "title": "Chart"})
    added = last_event(ada)
    edit(ada, built)
    before = dump(ada, ids)

    assert error_of(lambda: undo(ada, event=added)).code == "changed_since"
    assert dump(ada, ids) == before


def test_an_edge_is_not_removed_with_an_assumption_that_was_added_to_it_since(
    ada: Session, ids: dict[str, str]
) -> None:
    edit(ada, {"op": "add_edge", "source": "OC1", "target": "G1", "edge_type": "CAUSES"})
    added = last_event(ada)
    on_edge = {"op": "add_assumption", "source": "OC1", "target": "G1", "edge_type": "CAUSES"}
    edit(ada, {**on_edge, "assumption_text": "They read"})

    assert error_of(lambda: undo(ada, event=added)).code == "changed_since"


def test_what_was_removed_does_not_come_back_without_what_it_was_on_and_the_error_names_the_event(
    ada: Session, ids: dict[str, str]
) -> None:
    removals = {}
    for removal in (
        {"op": "remove_assumption", "assumption": "AS2"},
        {"op": "remove_indicator", "indicator": "IN1"},
        {"op": "remove_edge", "source": "OC1", "target": "G1"},
        {"op": "remove_node", "node": "G1"},
    ):
        edit(ada, removal)
        removals[removal["op"]] = last_event(ada)

    def refuse(name: str) -> Any:
        return error_of(lambda: undo(ada, event=removals[name]))

    refused = {name: refuse(name) for name in removals if name != "remove_node"}

    assert {name: (error.code, error.details["subject"]) for name, error in refused.items()} == {
        "remove_assumption": ("changed_since", "OC1->G1"),
        "remove_indicator": ("changed_since", "G1"),
        "remove_edge": ("changed_since", "G1"),
    }


def test_removals_are_undone_one_after_the_other(ada: Session, ids: dict[str, str]) -> None:
    before = dump(ada, ids)
    removals = []
    for removal in (
        {"op": "remove_assumption", "assumption": "AS2"},
        {"op": "remove_edge", "source": "OC1", "target": "G1"},
        {"op": "remove_node", "node": "G1"},
    ):
        edit(ada, removal)
        removals.append(last_event(ada))

    for event in reversed(removals):
        undo(ada, event=event)

    assert dump(ada, ids) == before


def test_a_restored_node_keeps_its_row_and_the_work_that_serves_it(ada: Session, ids: dict[str, str]) -> None:
    ada.call("work.update", updates=[{"node_id": ids["print"], "serves": ["G1"]}])
    before = ada.call("purpose.open", project="atlas", detail="full").nodes
    edit(ada, {"op": "remove_node", "node": "G1"})
    undo(ada)

    assert ada.call("purpose.open", project="atlas", detail="full").nodes == before
    assert [link.to for link in ada.call("work.context", node_id=ids["print"]).node.serves] == ["G1"]


def test_a_removed_edge_that_would_close_a_cycle_by_now_is_not_restored(ada: Session, ids: dict[str, str]) -> None:
    edit(
        ada,
        {"op": "add_node", "node_type": "OUTCOME", "title": "Seen"},
        {"op": "add_node", "node_type": "OUTCOME", "title": "Told"},
        {"op": "add_edge", "source": "OC1", "target": "OC2"},
    )
    edit(ada, {"op": "remove_edge", "source": "OC1", "target": "OC2"})
    removed = last_event(ada)
    edit(
        ada,
        {"op": "add_edge", "source": "OC2", "target": "OC3"},
        {"op": "add_edge", "source": "OC3", "target": "OC1"},
    )
    before = dump(ada, ids)

    assert error_of(lambda: undo(ada, event=removed)).code == "dependency_cycle"
    assert dump(ada, ids) == before


def test_no_request_restores_an_item_under_a_key_of_its_choice(ada: Session, ids: dict[str, str]) -> None:
    restoring = {"op": "restore_node", "key": "G7", "id": "x", "node_type": "GOAL", "title": "Mine"}
    assert error_of(lambda: edit(ada, restoring)).code == "invalid_argument"


def test_what_work_was_linked_to_since_is_not_removed(ada: Session, ids: dict[str, str]) -> None:
    edit(ada, {"op": "add_node", "node_type": "OUTPUT", "title": "Chart"})
    node_added = last_event(ada)
    ada.call("context.edit", runId=ids["run"], inputs=[{"pointer": "/ink/cost", "label": "Cost", "value": 3}])
    fact_added = last_event(ada)
    ada.call("work.update", updates=[{"node_id": ids["print"], "serves": ["OP1"], "rests_on": ["/ink/cost"]}])

    refusals = [error_of(lambda: undo(ada, event=node_added)), error_of(lambda: undo(ada, event=fact_added))]
    assert [(one.code, one.details["subject"]) for one in refusals] == [("changed_since", ids["print"])] * 2


def test_a_molecule_is_not_deleted_when_atoms_were_added_to_it_since(ada: Session, ids: dict[str, str]) -> None:
    place = {"projectId": "atlas", "createdByTaskId": ids["coast"], "knowledge": "Ink"}
    molecule = ada.call("knowledge.create", entityType="molecule", name="Press", **place).molecule.id
    created = last_event(ada)
    given = {"entityType": "atom", "name": "Plates", "paths": ["plates/**"], "moleculeId": molecule}
    atom = ada.call("knowledge.create", **given, **place).atom.id

    refused = error_of(lambda: undo(ada, event=created))
    assert (refused.code, refused.details["subject"]) == ("changed_since", atom)


def test_a_drop_that_an_undo_repeats_says_what_it_undoes(ada: Session, ids: dict[str, str]) -> None:
    ada.call("work.restructure", operations=[{"op": "drop", "node_id": ids["print"], "reason": "no paper"}])
    dropped = last_event(ada)
    undo(ada)
    undo(ada, redo=True)

    assert ada.call("event.list", project="atlas", limit=1).events[0].decision == f"redo of {dropped}"


def test_a_write_that_moved_and_reopened_is_undone_whole(ada: Session, ids: dict[str, str]) -> None:
    ada.call("work.update", updates=[{"node_id": ids["print"], "resolved": True}])
    before = dump(ada, ids)
    ada.call("work.restructure", operations=[{"op": "move", "node_id": ids["coast"], "new_parent": ids["print"]}])
    undo(ada)
    assert dump(ada, ids) == before


def test_only_owners_who_are_persons_undo_what_others_did(engine: Engine, ada: Session, ids: dict[str, str]) -> None:
    ben, bot = engine.session(person("ben")), engine.session(local_actor("bot", kind=ActorKind.AGENT))
    before = dump(ada, ids)
    change(ben, "fields", ids)
    event = undo(ben, dry_run=True).undone

    assert error_of(lambda: undo(bot, event=event)).code == "not_your_change"
    assert undo(ada, event=event).undone == event
    assert dump(ada, ids) == before
    ada.call("work.update", updates=[{"node_id": ids["print"], "state": 1}])
    theirs = undo(ada, dry_run=True).undone
    assert error_of(lambda: undo(ben, event=theirs)).code == "not_your_change"


def test_a_viewer_undoes_nothing_and_a_stranger_finds_nothing(
    engine: Engine, ada: Session, ids: dict[str, str]
) -> None:
    engine.create_organization("rival", "mallory")
    assert error_of(lambda: undo(engine.session(person("cleo")))).code == "forbidden"
    assert error_of(lambda: undo(engine.session(person("mallory", organization="rival")))).code == "not_found"


def test_the_permission_of_the_inverse_is_needed(engine: Engine, ada: Session, ids: dict[str, str]) -> None:
    ada.call("member.add", scopeId="atlas", userId="dora", role="owner", kind="person")
    dora = engine.session(person("dora"))
    dora.call("work.open", project="atlas", policies={"claims": "enforced"})
    ada.call("member.add", scopeId="atlas", userId="dora", role="editor")
    assert error_of(lambda: undo(dora)).code == "forbidden"
    assert ada.call("work.open", project="atlas").policies.claims == "enforced"


def test_nothing_is_undone_in_an_archived_project(ada: Session, ids: dict[str, str]) -> None:
    set_summary(ada, ids, "one")
    event = last_event(ada)
    ada.call("project.archive", project="atlas")

    for which in ({}, {"event": event}, {"redo": True}):
        assert error_of(partial(undo, ada, **which)).code == "project_archived"
    assert read_summary(ada, ids) == "one"
    ada.call("project.restore", project="atlas")
    undo(ada, event=event)
    assert read_summary(ada, ids) == "Coast"


def test_who_changed_nothing_has_nothing_to_undo(engine: Engine, ids: dict[str, str]) -> None:
    assert error_of(lambda: undo(engine.session(person("ben")))).code == "nothing_to_undo"


@pytest.mark.parametrize(("event", "code"), [("9999.0", "not_found"), ("x", "invalid_argument"), ("1.99", "not_found")])
def test_an_event_that_does_not_exist_is_refused(ada: Session, event: str, code: str) -> None:
    assert error_of(lambda: undo(ada, event=event)).code == code


def drop_stamps(value: Any) -> Any:
    """Return an answer without revisions and times of change."""
    if isinstance(value, list):
        return [drop_stamps(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {name: drop_stamps(item) for name, item in value.items() if name not in ("rev", "updated_at")}


def plan(session: Session, *nodes: dict[str, Any]) -> dict[str, str]:
    return {one.ref: one.id for one in session.call("work.plan", project="atlas", nodes=list(nodes)).created}


def test_an_undo_removes_nodes_that_were_planned_and_a_redo_brings_them_back(ada: Session, ids: dict[str, str]) -> None:
    before = dump(ada, ids)
    new = plan(
        ada,
        {"ref": "x", "summary": "New", "parent_ref": ids["coast"], "properties": {"priority": 2}},
        {"ref": "y", "summary": "Below", "parent_ref": "x", "depends_on": [ids["print"]], "context_links": ["a.py"]},
        {"ref": "z", "summary": "After", "depends_on": ["y"], "serves": ["OC1"]},
    )
    after = [ada.call("work.context", node_id=node_id) for node_id in new.values()], dump(ada, ids)

    undo(ada)

    assert dump(ada, ids) == before
    for node_id in new.values():
        assert error_of(partial(ada.call, "work.context", node_id=node_id)).code == "not_found"
    assert ada.call("work.query", project="atlas", filter={"text": "Below"}).total == 0

    undo(ada, redo=True)

    again = [ada.call("work.context", node_id=node_id) for node_id in new.values()]
    assert drop_stamps(msgspec.to_builtins(again)) == drop_stamps(msgspec.to_builtins(after[0]))
    assert dump(ada, ids) == after[1]
    assert ada.call("work.query", project="atlas", filter={"text": "Below"}).total == 1
    undo(ada)
    assert dump(ada, ids) == before


def test_planning_under_what_was_resolved_or_dropped_is_undone_with_its_reopening(
    ada: Session, ids: dict[str, str]
) -> None:
    for node_id in (ids["coast"], ids["hills"]):
        ada.call("work.restructure", operations=[{"op": "drop", "node_id": node_id, "reason": "no"}])
    ada.call("work.update", updates=[{"node_id": ids["survey"], "resolved": True}])
    before = dump(ada, ids)
    plan(ada, {"ref": "x", "summary": "New", "parent_ref": ids["hills"]})
    after = dump(ada, ids)

    undo(ada)
    assert dump(ada, ids) == before
    undo(ada, redo=True)
    assert dump(ada, ids) == after


@pytest.mark.parametrize(
    "built",
    [
        ("work.plan", {"project": "atlas", "nodes": [{"ref": "n", "summary": "Below", "parent_ref": "{new}"}]}),
        ("work.connect", {"edges": [{"from": "{print}", "to": "{new}", "type": "relates_to"}]}),
        ("work.restructure", {"operations": [{"op": "move", "node_id": "{print}", "new_parent": "{new}"}]}),
        ("work.update", {"updates": [{"node_id": "{new}", "state": "begun"}]}),
        ("work.next", {"project": "atlas", "node_id": "{new}", "claim": True}),
    ],
)
def test_a_node_that_others_built_on_is_not_removed(
    ada: Session, engine: Engine, ids: dict[str, str], built: tuple[str, dict[str, Any]]
) -> None:
    new = plan(ada, {"ref": "new", "summary": "New"})
    event = last_event(ada)
    operation, arguments = built
    engine.session("ben").call(operation, **fill(arguments, {**ids, **new}))
    after = dump(ada, ids)

    assert error_of(lambda: undo(ada, event=event)).code == "changed_since"
    assert dump(ada, ids) == after


def test_a_container_that_was_deleted_stays_gone(ada: Session, ids: dict[str, str]) -> None:
    rev = ada.call("work.context", node_id=ids["print"]).node.rev
    ada.call("container.delete", containerType="task", id=ids["print"], version=rev)

    assert error_of(lambda: undo(ada)).code == "cannot_undo"


def test_a_created_container_is_removed_by_undo_and_comes_back(ada: Session, ids: dict[str, str]) -> None:
    before = dump(ada, ids)
    feature = ada.call("container.create", containerType="feature", name="Maps", projectId="atlas", tags="a,b").feature
    task = ada.call("container.create", containerType="task", title="Ink", featureId=feature.id, projectId="atlas").task
    undo(ada)
    undo(ada)
    assert dump(ada, ids) == before
    undo(ada, redo=True)
    undo(ada, redo=True)

    again = ada.call("container.get", containerType="feature", id=feature.id).feature
    assert (again.name, again.tags, again.status) == (feature.name, feature.tags, feature.status)
    assert ada.call("container.get", containerType="task", id=task.id).task.feature_id == feature.id
