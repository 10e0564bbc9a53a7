"""An undo of a merge takes it back whole: both nodes have again what they had, and a redo merges them again."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engines import Engine
from tests.errors import error_of
from tests.work.containers.client import ContainersClient
from tests.work.importing.file_import import FileImport, item
from tests.work.stored_work import dump


def undo(client: ContainersClient, **given: Any) -> Any:
    return client.call("briefing.undo", project="atlas", **given)


def assert_merge_can_be_taken_back(engine: Engine, client: ContainersClient, *merges: dict[str, str]) -> None:
    """Merge, undo, redo and undo, and compare all rows."""
    before = dump(engine)
    client.restructure(*({"op": "merge"} | merge for merge in merges))
    after = dump(engine)

    undo(client)
    assert dump(engine) == before
    undo(client, redo=True)
    assert dump(engine) == after
    undo(client)
    assert dump(engine) == before


def plan_tasks(client: ContainersClient) -> None:
    client.plan(
        "phase\n  source: x, y\n    a\n    b: a\ntarget: y\n  c\nx\ny\nz: source, target\nv: source",
        each={
            "source": {"properties": {"description": "Why and how", "size": 1}, "context_links": ["one", "two"]},
            "target": {"properties": {"size": 2}, "context_links": ["two", "three"]},
        },
    )


def test_everything_that_a_node_had_comes_back(engine: Engine, client: ContainersClient) -> None:
    plan_tasks(client)
    client.connect("source: z", "x: source", type="relates_to")
    client.update("source", add_evidence=[{"type": "commit", "ref": "abc"}, {"type": "note", "ref": "2"}], state="mine")
    client.update("target", add_evidence=[{"type": "note", "ref": "3"}])
    client.change("source", tags="wet,cold")
    client.change("target", tags="wet,dry")
    for name in ("source", "target"):
        client.call("section.add", entityType="TASK", entityId=client[name], title=f"about {name}", content=name)
    client.hold("source", "no key yet")

    assert_merge_can_be_taken_back(engine, client, {"source": "source", "target": "target"})
    assert client.node("source").state == "mine"
    assert client.query(text="source") == ["source"]


@pytest.mark.parametrize("outline", ["source\ntarget: source", "target\nsource: target"])
def test_an_edge_between_the_two_comes_back(engine: Engine, client: ContainersClient, outline: str) -> None:
    client.plan(outline)
    assert_merge_can_be_taken_back(engine, client, {"source": "source", "target": "target"})


def test_a_child_comes_back_out_of_its_parent(engine: Engine, client: ContainersClient) -> None:
    client.plan("target\n  source: x\n    a\n  c\nx")
    assert_merge_can_be_taken_back(engine, client, {"source": "source", "target": "target"})


def test_a_target_that_the_merge_reopened_is_resolved_again(engine: Engine, client: ContainersClient) -> None:
    client.plan("source\n  a\nphase\n  other\n    target\nafter: target\nlater: other")
    client.drop("target")
    client.resolve("other", "phase")
    assert_merge_can_be_taken_back(engine, client, {"source": "source", "target": "target"})


def test_a_resolved_source_comes_back_resolved(engine: Engine, client: ContainersClient) -> None:
    client.plan("source\n  a\ntarget\nafter: source")
    client.drop("source")
    assert_merge_can_be_taken_back(engine, client, {"source": "source", "target": "target"})


def test_a_claim_of_the_source_comes_back(engine: Engine, client: ContainersClient) -> None:
    client.plan("source\ntarget")
    (offer,) = client.by("ben").offers(node_id=client["source"], claim=True)
    assert_merge_can_be_taken_back(engine, client, {"source": "source", "target": "target"})
    client.by("ben").update("source", claim=offer.claim, state="still mine")  # with the number that it had


def test_features_come_apart_with_their_tasks(engine: Engine, client: ContainersClient) -> None:
    for name in ("coast", "hills"):
        client.feature(name)
        client.tasks(f"a {name}", f"b {name}", of=name)
    client.close("a hills")
    client.advance("a coast")
    client.task("print")
    client.depend("hills", "print")

    assert_merge_can_be_taken_back(engine, client, {"source": "hills", "target": "coast"})


def test_several_merges_of_one_call_are_taken_back_together(engine: Engine, client: ContainersClient) -> None:
    plan_tasks(client)
    assert_merge_can_be_taken_back(
        engine,
        client,
        {"source": "a", "target": "c"},
        {"source": "source", "target": "target"},
        {"source": "target", "target": "v"},
    )


def test_merges_are_taken_back_one_after_the_other(engine: Engine, client: ContainersClient) -> None:
    plan_tasks(client)
    states = [dump(engine)]
    for source, target in (("a", "c"), ("source", "target"), ("target", "v")):
        client.merge(source, target)
        states.append(dump(engine))

    for state in states[-2::-1]:
        undo(client)
        assert dump(engine) == state
    for state in states[1:]:
        undo(client, redo=True)
        assert dump(engine) == state


def test_imported_items_keep_their_ids_through_a_merge_and_its_undo(engine: Engine, client: ContainersClient) -> None:
    file = FileImport(client)
    file.run(item("bd-1"), item("bd-2"), item("bd-3"))
    client.ids |= {name: file.node(name).id for name in ("bd-1", "bd-2", "bd-3")}

    assert_merge_can_be_taken_back(engine, client, {"source": "bd-1", "target": "bd-2"})

    client.merge("bd-1", "bd-2")
    file.run({**item("bd-1"), "title": "another"}, item("bd-2"), item("bd-3"))  # it is not made again
    undo(client)
    assert file.node("bd-1").id == client["bd-1"]
    file.run({**item("bd-1"), "title": "renamed"}, item("bd-2"), item("bd-3"))
    assert file.node("bd-1").summary == "renamed"


def test_links_to_the_purpose_come_back(engine: Engine, client: ContainersClient) -> None:
    client.plan("source\ntarget")
    client.call("purpose.draft", project="atlas")
    goals = [{"op": "add_node", "node_type": "GOAL", "title": f"goal {n}"} for n in range(3)]
    client.call("purpose.edit", project="atlas", operations=goals)
    client.update("source", serves=["G1", "G2"])
    client.update("target", serves=["G2", "G3"])

    assert_merge_can_be_taken_back(engine, client, {"source": "source", "target": "target"})


CHANGES: dict[str, Any] = {
    "the target": lambda client: client.update("target", state=1),
    "a child": lambda client: client.update("a", summary="other"),
    "who waited for it": lambda client: client.update("v", state=1),
    "the target, by another merge": lambda client: client.merge("target", "y"),
    "the source, by its id": lambda client: client.update("source", state=1),
}


@pytest.mark.parametrize("changed", CHANGES)
def test_a_merge_on_which_others_built_is_not_taken_back_and_the_error_names_the_change(
    engine: Engine, client: ContainersClient, changed: str
) -> None:
    plan_tasks(client)
    client.merge("source", "target")
    merged = client.call("event.list", project="atlas", limit=1).events[0].id
    CHANGES[changed](client.by("ben"))
    later = client.call("event.list", project="atlas", limit=1).events[0]
    before = dump(engine)

    refusal = error_of(lambda: undo(client, event=merged))

    assert (refusal.code, refusal.details["actor"]) == ("changed_since", "ben")
    assert refusal.details["event"].partition(".")[0] == later.id.partition(".")[0]
    assert dump(engine) == before


def test_what_was_planned_below_the_target_since_stays_there(client: ContainersClient) -> None:
    plan_tasks(client)
    client.merge("source", "target")
    client.by("ben").plan("new: y", under="target")

    undo(client)

    assert client.names(client.context("target").children.children) == ["c", "new"]
    assert client.names(client.context("source").children.children) == ["a", "b"]


def test_a_source_comes_back_below_the_node_that_has_its_parent(client: ContainersClient) -> None:
    plan_tasks(client)
    client.plan("another phase")
    client.merge("source", "target")
    client.by("ben").merge("phase", "another phase")

    undo(client)

    assert client.names(client.context("source").ancestors) == ["root", "another phase"]


def test_a_source_does_not_come_back_below_its_own_child(engine: Engine, client: ContainersClient) -> None:
    plan_tasks(client)
    client.merge("source", "target")
    client.by("ben").move("phase", "a")
    before = dump(engine)

    assert error_of(lambda: undo(client)).code in ("cycle_detected", "changed_since")
    assert dump(engine) == before


def test_a_source_whose_parent_is_gone_does_not_come_back(engine: Engine, client: ContainersClient) -> None:
    plan_tasks(client)
    client.merge("source", "target")
    client.by("ben").delete("phase")
    before = dump(engine)

    assert error_of(lambda: undo(client)).code == "not_found"
    assert dump(engine) == before


MERGE = {"op": "merge", "source": "source", "target": "target"}
DROP = {"op": "drop", "reason": "no budget"}
MIXED: dict[str, list[dict[str, str]]] = {
    "a child moved to the target": [{"op": "move", "node_id": "b", "new_parent": "target"}, MERGE],
    "a child moved away": [MERGE, {"op": "move", "node_id": "b", "new_parent": "v"}],
    "a child moved in": [{"op": "move", "node_id": "c", "new_parent": "source"}, MERGE],
    "the target dropped before": [{**DROP, "node_id": "target"}, MERGE],
    "all dropped after": [MERGE, {**DROP, "node_id": "target"}],
    "another node": [MERGE, {"op": "move", "node_id": "x", "new_parent": "y"}],
    "the parent moved": [{"op": "move", "node_id": "phase", "new_parent": "v"}, MERGE],
}


@pytest.mark.parametrize("mixed", MIXED)
def test_a_merge_in_one_call_with_other_changes_is_taken_back_with_them(
    engine: Engine, client: ContainersClient, mixed: str
) -> None:
    plan_tasks(client)
    before = dump(engine)
    del before["evidence"]  # that of a drop stays
    client.restructure(*MIXED[mixed])
    after = dump(engine)
    del after["evidence"]

    for expected, redo in ((before, False), (after, True), (before, False)):
        undo(client, redo=redo)
        assert {name: rows for name, rows in dump(engine).items() if name != "evidence"} == expected


def test_the_history_of_both_tells_of_the_undo(client: ContainersClient) -> None:
    client.plan("source\ntarget")
    client.merge("source", "target")
    undo(client)

    assert client.actions("source") == ["created", "merged", "unmerged"]
    assert client.actions("target") == ["created", "merged", "unmerged"]
    assert client.history("source")[-1].decision.startswith("undo of ")
