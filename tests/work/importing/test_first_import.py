"""The first import of a file: every item becomes a node, in one transaction, or nothing does."""

from __future__ import annotations

from typing import Any

import pytest

from groundplan.kernel.errors import Invalid
from groundplan.kernel.store.store import Store
from groundplan.work.importing.import_work import DuplicateItem
from tests.engines import Engine
from tests.errors import error_of
from tests.work.client import WorkClient
from tests.work.importing.file_import import FileImport, item, notes

EVENTS = "SELECT op, subject, decision FROM events WHERE op LIKE 'work.%' ORDER BY rev, n"


@pytest.fixture
def file(work: WorkClient) -> FileImport:
    return FileImport(work)


def test_an_item_becomes_a_node_with_everything_that_it_has(file: FileImport) -> None:
    file.run(
        item("z-2"),
        item(
            "z-1",
            title="Draw the coast",
            priority=3,
            state="in_progress",
            source_status="in_progress",
            properties={"type": "task"},
            context_links=["docs/coast.md"],
            tags=["north", "sea"],
            evidence=[{"type": "comment", "text": "ben: begun"}],
            sections=[{"title": "description", "text": "From the lighthouse on."}],
            links=[{"type": "discovered-from", "source_id": "z-2"}],
        ),
    )

    node = file.node("z-1")
    task = file.work.call("container.get", containerType="task", id="z-1", includeSections=True)

    assert (node.summary, node.state, node.context_links) == ("Draw the coast", "in_progress", ["docs/coast.md"])
    assert node.properties == {
        "type": "task",
        "priority": 3,
        "source": "beads",
        "source_id": "z-1",
        "source_status": "in_progress",
    }
    assert [(one.type, one.ref) for one in node.evidence] == [("comment", "ben: begun")]
    assert task.task.tags == ["north", "sea"]
    assert [(one.title, one.content) for one in task.sections] == [("description", "From the lighthouse on.")]
    assert file.ready() == {"Draw the coast", "z-2"}


def test_each_node_has_one_event_whose_decision_names_tool_and_file(engine: Engine, file: FileImport) -> None:
    file.run(item("z-1", sections=[{"title": "a", "text": "b"}], tags=["x"]), item("z-2", fate="done"))

    events = engine.as_owner(EVENTS)[1:]  # without the root's

    assert [(op, decision) for op, _, decision in events] == [("work.created", "import from beads: issues.jsonl")] * 2


def test_fates_become_resolved_dropped_and_held(file: FileImport) -> None:
    file.run(
        item("done", fate="done"),
        item("dropped", fate="dropped"),
        item("held", fate="held", hold_reason="status pinned"),
        item("open"),
    )

    assert [file.node(name).resolved for name in ("done", "dropped", "held", "open")] == [True, True, False, False]
    assert file.node("held").properties["_hold"] == "status pinned"
    assert file.ready() == {"open"}


def test_an_open_item_below_a_finished_one_moves_up_and_is_named(file: FileImport) -> None:
    answer = file.run(
        item("top"),
        item("done", fate="done", parent="top"),
        item("done too", fate="done", parent="done"),
        item("open", parent="done too"),
        item("alone", fate="done"),
        item("below", parent="alone"),
    )

    assert {*notes(answer.placed, "parent")} == {"open", "below"}
    assert [node.summary for node in file.work.call("work.context", node_id="open").ancestors][1:] == ["top"]
    assert file.node("open").properties["source_parent"] == "done too"
    assert file.node("done").resolved
    assert file.ready() == {"open", "below"}


def test_a_group_is_never_offered_and_is_finished_with_its_last_item(file: FileImport) -> None:
    file.run(
        item("full", is_group=True),
        item("one", parent="full"),
        item("two", parent="full", fate="done"),
        item("finished", is_group=True),
        item("three", parent="finished", fate="done"),
        item("outer", is_group=True),
        item("inner", is_group=True, parent="outer"),
        item("four", parent="inner", fate="dropped"),
    )

    assert file.ready() == {"one"}
    assert [file.node(name).resolved for name in ("full", "finished", "outer", "inner")] == [False, True, True, True]


def test_a_dependency_that_closes_a_loop_is_left_out_and_its_node_is_held(file: FileImport) -> None:
    answer = file.run(
        item("a", depends_on=["b"]),
        item("b", depends_on=["c"]),
        item("c", depends_on=["a"]),
        item("free"),
        item("self", depends_on=["self"]),
    )

    assert {*notes(answer.placed, "loop")} == {"c", "self"}
    assert "c -> a -> b -> c" in notes(answer.placed, "loop")["c"]
    assert file.node("c").properties["_hold"] == "loop: c -> a -> b -> c"
    assert file.node("self").properties["_hold"] == "loop: self -> self"
    assert file.ready() == {"free"}


def test_a_loop_of_finished_items_needs_no_hold(file: FileImport) -> None:
    answer = file.run(item("a", depends_on=["b"], fate="done"), item("b", depends_on=["a"]), item("c"))

    assert notes(answer.placed, "loop") == {}
    assert file.ready() == {"b", "c"}


def test_a_loop_through_the_tree_is_a_loop(file: FileImport) -> None:
    answer = file.run(item("parent"), item("child", parent="parent", depends_on=["parent"]))

    assert {*notes(answer.placed, "loop")} == {"child"}
    assert file.ready() == set()


def test_parents_in_a_circle_are_parted_and_held(file: FileImport) -> None:
    answer = file.run(item("a", parent="b"), item("b", parent="a"), item("c", parent="c"), item("d", parent="b"))

    assert {*notes(answer.placed, "loop")} == {"a", "c"}
    assert [node.summary for node in file.work.call("work.context", node_id="d").ancestors][1:] == ["a", "b"]


def test_the_dependencies_of_an_ancestor_hold_items_back_if_the_tool_says_so(file: FileImport) -> None:
    file.run(
        item("first"),
        item("epic", depends_on=["first"]),
        item("part", parent="epic"),
        inherits_dependencies=True,
    )

    assert file.ready() == {"first"}
    assert file.work.call("work.open", project="atlas").policies.inherit_dependencies


def test_a_project_with_nodes_of_its_own_keeps_its_policy_and_is_warned(file: FileImport) -> None:
    file.work.plan("mine")

    answer = file.run(
        item("first"), item("epic", depends_on=["first"]), item("part", parent="epic"), inherits_dependencies=True
    )

    assert file.ready() == {"mine", "first", "part"}
    assert ["1 items" in warning and "part" in warning for warning in answer.warnings] == [True]


def test_a_dry_run_says_the_same_and_writes_nothing(file: FileImport) -> None:
    items = [item("a", fate="done"), item("b", parent="a"), item("c", depends_on=["c"]), item("d", parent="gone")]
    before = file.rev()

    preview = file.run(*items, dry_run=True)
    assert file.rev() == before
    answer = file.run(*items)

    assert (preview.dry_run, answer.dry_run) == (True, False)
    for name in ("counts", "lost", "placed", "conflicts", "warnings"):
        assert getattr(preview, name) == getattr(answer, name)


def test_an_import_makes_its_project_in_the_same_transaction(file: FileImport) -> None:
    answer = file.run(item("a"), item("b", depends_on=["a"]), project="new", inherits_dependencies=True)
    file.work.project = "new"

    assert (answer.project, answer.counts.created) == ("new", 2)
    assert file.ready() == {"a"}
    assert file.rev() == 1
    assert file.work.call("work.open", project="new").policies.inherit_dependencies
    file.work.update("a", resolved=True)
    assert file.ready() == {"b"}


def test_a_file_without_items_makes_no_project(file: FileImport) -> None:
    file.run(project="new")
    assert [one.name for one in file.work.call("project.list").projects] == ["atlas"]


@pytest.mark.parametrize(
    "items",
    [
        [item("a"), item("a")],
        [item("a"), item("b", properties={"_claimed_by": "ben"})],
        [item("a"), item("b", properties={"long": "x" * 40_000})],
        [item("a", title="")],
        [item("a", fate="lost")],
    ],
)
def test_a_bad_item_refuses_the_whole_import(file: FileImport, items: list[dict[str, Any]]) -> None:
    before = file.rev()
    assert isinstance(error_of(lambda: file.run(*items)), Invalid)
    assert isinstance(error_of(lambda: file.run(*items, project="new")), Invalid)
    assert file.rev() == before
    assert [one.name for one in file.work.call("project.list").projects] == ["atlas"]


def test_the_nodes_of_an_import_go_on_like_any_others(file: FileImport, store: Store) -> None:
    file.run(item("group", is_group=True), item("a", parent="group"), item("b", parent="group", depends_on=["a"]))

    file.work.call("work.update", updates=[{"node_id": "a", "resolved": True}])
    file.work.call("work.update", updates=[{"node_id": "b", "resolved": True}])

    assert file.node("group").resolved


def test_a_new_project_of_an_import_has_the_policies_of_the_organization(engine: Engine) -> None:
    ada = engine.session("ada")
    ada.call("organization.configure", default_policies={"agents": "viewer", "evidence": "require"})
    for name, inherits in (("one", False), ("two", True)):
        items = [item("a")]
        ada.call("work.import", project=name, tool="beads", file="f", items=items, inherits_dependencies=inherits)
        policies = ada.call("work.open", project=name).policies
        assert (policies.agents, policies.evidence) == ("viewer", "require")
        assert policies.inherit_dependencies is inherits


def test_an_item_that_is_also_deleted_is_refused(file: FileImport) -> None:
    file.run(item("a"), item("b"))

    with pytest.raises(DuplicateItem):
        file.run(item("a", title="other"), item("b"), deleted=[{"source_id": "a"}])
    assert file.node("a").summary == "a"


def test_molecules_of_one_name_are_numbered(file: FileImport) -> None:
    molecules = [{"name": "Terms", "knowledge": text} for text in ("one", "two")]
    file.tool = "a" * 30
    file.run(molecules=molecules)
    again = file.run(molecules=molecules)

    found = file.work.call("knowledge.search", entityType="molecule", projectId=file.work.project).items
    assert [one.name for one in found] == ["Terms", "Terms [2]"]
    assert (again.counts.created, again.counts.updated) == (0, 0)
