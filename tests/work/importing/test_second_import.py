"""Later imports of a file: what changed only there is taken over, what changed only here stays, both is a conflict."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engines import Engine
from tests.work.client import WorkClient
from tests.work.importing.file_import import FileImport, item, notes

TABLES = ("work_nodes", "work_edges", "work_sections", "work_node_tags", "work_evidence", "work_imports", "events")


@pytest.fixture
def file(work: WorkClient) -> FileImport:
    return FileImport(work)


def read_all(engine: Engine) -> list[Any]:
    return [sorted(map(repr, engine.as_owner(f"SELECT * FROM {table}"))) for table in TABLES]


def conflicts(answer: Any) -> list[tuple[Any, ...]]:
    return [(one.source_id, one.field, one.base, one.here, one.there) for one in answer.conflicts]


def test_the_same_content_writes_nothing_at_all(engine: Engine, file: FileImport) -> None:
    items = [
        item("a", sections=[{"title": "t", "text": "x" * 500}], tags=["x"], priority=2),
        item("b", depends_on=["a"], parent="a", evidence=[{"type": "note", "text": "n"}]),
        item("c", depends_on=["c"]),
        item("d", fate="done"),
        item("e", parent="d"),
        item("g", is_group=True),
        item("h", parent="g"),
    ]
    file.run(*items, deleted=[{"source_id": "z", "reason": "old"}])
    before, rev = read_all(engine), file.rev()

    answer = file.run(*items, deleted=[{"source_id": "z", "reason": "old"}])

    assert (answer.counts.created, answer.counts.updated, answer.counts.unchanged) == (0, 0, 7)
    assert (read_all(engine), file.rev()) == (before, rev)


def test_what_changed_in_the_file_changes_that_node_only(engine: Engine, file: FileImport) -> None:
    file.run(item("a"), item("b"), item("c"))
    before = {ref: file.node(ref).rev for ref in "abc"}

    answer = file.run(item("a"), item("b", title="B", tags=["t"], priority=1), item("c"))

    assert answer.counts.updated == 1
    assert {ref: file.node(ref).rev - before[ref] for ref in "abc"} == {"a": 0, "b": 1, "c": 0}
    assert (file.node("b").summary, file.node("b").properties["priority"]) == ("B", 1)


def test_every_part_of_an_item_is_taken_over(file: FileImport) -> None:
    file.run(
        item("p"),
        item("q"),
        item(
            "a",
            parent="p",
            tags=["old", "kept"],
            context_links=["one", "two"],
            sections=[{"title": "gone", "text": "1"}, {"title": "new text", "text": "2"}],
            depends_on=["p2"],
            properties={"x": 1, "y": 2},
        ),
        item("p2"),
    )

    file.run(
        item("p"),
        item("q"),
        item(
            "a",
            parent="q",
            tags=["kept", "fresh"],
            context_links=["two", "three"],
            sections=[{"title": "new text", "text": "two"}, {"title": "added", "text": "3"}],
            depends_on=["p"],
            properties={"y": 3, "z": 4},
            state="begun",
            evidence=[{"type": "comment", "text": "later"}],
        ),
        item("p2"),
    )

    context = file.work.call("work.context", node_id="a")
    task = file.work.call("container.get", containerType="task", id="a", includeSections=True)
    assert [node.summary for node in context.ancestors][1:] == ["q"]
    assert [one.node.id for one in context.depends_on] == [file.node("p").id]
    assert context.node.context_links == ["two", "three"]
    assert (context.node.state, [one.ref for one in context.node.evidence]) == ("begun", ["later"])
    assert {name: context.node.properties.get(name) for name in "xyz"} == {"x": None, "y": 3, "z": 4}
    assert task.task.tags == ["fresh", "kept"]
    assert [(one.title, one.content) for one in task.sections] == [("new text", "two"), ("added", "3")]


def test_what_changed_only_here_stays(file: FileImport) -> None:
    file.run(item("a", tags=["x"]), item("b"))
    file.work.call("work.update", updates=[{"node_id": "a", "summary": "mine", "properties": {"own": 1}}])

    answer = file.run(item("a", tags=["x", "y"]), item("b", title="B"))

    assert conflicts(answer) == []
    assert (file.node("a").summary, file.node("a").properties["own"]) == ("mine", 1)


def test_what_changed_on_both_sides_stays_ours_and_is_listed_until_one_side_gives_in(file: FileImport) -> None:
    file.run(item("a", title="base", properties={"x": 1}))
    file.work.call("work.update", updates=[{"node_id": "a", "summary": "ours"}])

    for _ in range(2):
        answer = file.run(item("a", title="theirs", properties={"x": 2}))
        assert conflicts(answer) == [("a", "title", "base", "ours", "theirs")]
    assert (file.node("a").summary, file.node("a").properties["x"]) == ("ours", 2)
    rev = file.rev()
    assert conflicts(file.run(item("a", title="theirs", properties={"x": 2}))) != []
    assert file.rev() == rev

    file.work.call("work.update", updates=[{"node_id": "a", "summary": "theirs"}])
    assert conflicts(file.run(item("a", title="theirs", properties={"x": 2}))) == []
    assert conflicts(file.run(item("a", title="later", properties={"x": 2}))) == []
    assert file.node("a").summary == "later"


def test_the_same_change_on_both_sides_is_no_conflict_also_later(file: FileImport) -> None:
    file.run(item("a", title="base"))
    file.work.call("work.update", updates=[{"node_id": "a", "summary": "same"}])
    assert conflicts(file.run(item("a", title="same"))) == []

    file.work.call("work.update", updates=[{"node_id": "a", "summary": "mine"}])

    assert conflicts(file.run(item("a", title="same"))) == []
    assert file.node("a").summary == "mine"


def test_an_item_that_is_finished_or_reopened_there_is_so_here(file: FileImport) -> None:
    file.run(item("a"), item("b", depends_on=["a"]), item("c", fate="done"))

    file.run(item("a", fate="done"), item("b", depends_on=["a"]), item("c"))
    assert (file.node("a").resolved, file.node("c").resolved) == (True, False)
    assert file.ready() == {"b", "c"}

    file.run(item("a", fate="held", hold_reason="later"), item("b", depends_on=["a"]), item("c", fate="dropped"))
    assert file.ready() == set()


def test_children_leave_a_parent_that_is_finished_there(file: FileImport) -> None:
    file.run(item("top"), item("parent", parent="top"), item("child", parent="parent"))

    answer = file.run(item("top"), item("parent", parent="top", fate="done"), item("child", parent="parent"))

    assert {*notes(answer.placed, "parent")} == {"child"}
    assert file.node("parent").resolved
    assert file.ready() == {"child"}
    assert (
        file.run(
            item("top"), item("parent", parent="top", fate="done"), item("child", parent="parent", title="c")
        ).conflicts
        == []
    )


def parent_of(file: FileImport, ref: str) -> str | None:
    """Return the title of the parent of a node; None below the root."""
    chain = file.work.call("work.context", node_id=ref).ancestors
    return chain[-1].summary if len(chain) > 1 else None


def test_an_unchanged_child_returns_when_its_parent_is_open_again_there(file: FileImport) -> None:
    first = [item("top"), item("parent", parent="top", fate="done"), item("child", parent="parent")]
    file.run(*first)
    assert (parent_of(file, "child"), file.node("child").properties["source_parent"]) == ("top", "parent")
    reopened = [item("top"), item("parent", parent="top"), item("child", parent="parent")]

    preview = file.run(*reopened, dry_run=True)
    answer = file.run(*reopened)

    assert (parent_of(file, "child"), answer.counts.updated, answer.conflicts) == ("parent", 2, [])
    assert preview.counts == answer.counts
    assert {*notes(answer.placed, "parent")} == {"child"}
    assert "source_parent" not in file.node("child").properties
    rev = file.rev()
    file.run(*reopened)
    assert file.rev() == rev
    file.run(*first)
    assert parent_of(file, "child") == "top"


def test_a_child_returns_as_far_as_its_parents_are_open(file: FileImport) -> None:
    done = {"fate": "done"}
    leaf = item("leaf", parent="low")
    file.run(item("high", **done), item("low", parent="high", **done), leaf)
    assert parent_of(file, "leaf") is None

    file.run(item("high"), item("low", parent="high", **done), leaf)
    assert (parent_of(file, "leaf"), file.node("leaf").properties["source_parent"]) == ("high", "low")

    file.run(item("high"), item("low", parent="high"), {**leaf, "title": "changed as well"})
    assert parent_of(file, "leaf") == "low"


def test_a_child_that_was_moved_here_does_not_return(file: FileImport) -> None:
    file.run(item("parent", fate="done"), item("child", parent="parent"), item("other"))
    move = {"op": "move", "node_id": file.node("child").id, "new_parent": file.node("other").id}
    file.work.call("work.restructure", operations=[move])

    file.run(item("parent"), item("child", parent="parent"), item("other"))

    assert parent_of(file, "child") == "other"


def test_a_child_finds_a_parent_that_came_later(file: FileImport) -> None:
    file.run(item("child", parent="parent"))
    file.run(item("child", parent="parent"), item("parent"))

    assert parent_of(file, "child") == "parent"


def test_a_project_that_requires_evidence_keeps_items_open_that_a_file_closes_without_any(file: FileImport) -> None:
    file.work.open(policies={"evidence": "require"})
    first = file.run(item("a"), item("b"), item("c"), item("old", fate="done"), item("gone", fate="dropped"))
    assert ["old" in line for line in first.warnings] == [True]
    evidence = file.work.call("work.context", node_id="old").node.evidence
    assert [(one.type, one.ref) for one in evidence] == [("import", "finished in beads: issues.jsonl")]

    closed = [
        item("a", fate="done"),
        item("b", fate="done", evidence=[{"type": "note", "text": "in 9f2ab1"}]),
        item("c", fate="dropped"),
        item("old", fate="done"),
        item("gone", fate="dropped"),
    ]
    preview = file.run(*closed, dry_run=True)
    answer = file.run(*closed)

    assert conflicts(answer) == [("a", "fate", "open", "open", "done")]
    assert ["a" in line for line in answer.warnings] == [True]
    assert (preview.counts, preview.warnings) == (answer.counts, answer.warnings)
    assert [file.node(ref).resolved for ref in "abc"] == [False, True, True]
    added = [{"type": "commit", "ref": "9f2ab1"}]
    file.work.call("work.update", updates=[{"node_id": "a", "add_evidence": added}])
    assert file.run(*closed).conflicts == []
    assert file.node("a").resolved


def test_a_parent_with_open_work_of_ours_stays_open(file: FileImport) -> None:
    file.run(item("parent"))
    file.work.call(
        "work.plan", project="atlas", nodes=[{"ref": "x", "summary": "ours", "parent_ref": file.node("parent").id}]
    )

    answer = file.run(item("parent", fate="done"))

    assert conflicts(answer) == [("parent", "fate", "open", "open", "done")]
    assert not file.node("parent").resolved


def test_an_item_that_is_gone_is_named_and_stays(file: FileImport) -> None:
    file.run(item("a"), item("b"))
    rev = file.rev()

    answer = file.run(item("a"))

    assert {*notes(answer.placed, "gone")} == {"b"}
    assert file.rev() == rev
    assert file.ready() == {"a", "b"}


@pytest.mark.parametrize(("reason", "evidence"), [("not needed", "not needed"), ("", "deleted in beads")])
def test_an_item_that_was_deleted_there_is_dropped_with_its_reason(
    file: FileImport, reason: str, evidence: str
) -> None:
    file.run(item("a"), item("b", depends_on=["a"]))

    answer = file.run(item("b", depends_on=["a"]), deleted=[{"source_id": "a", "reason": reason}])

    assert answer.counts.updated == 1
    assert [(one.type, one.ref) for one in file.node("a").evidence] == [("dropped", evidence)]
    assert file.ready() == {"b"}
    rev = file.rev()
    file.run(item("b", depends_on=["a"]), deleted=[{"source_id": "a", "reason": reason}])
    assert file.rev() == rev


def test_a_node_that_was_deleted_here_is_not_made_again(file: FileImport) -> None:
    file.run(item("a"), item("b"))
    file.work.call("container.delete", containerType="task", id="a", version=1)

    assert file.run(item("a"), item("b")).counts.created == 0
    answer = file.run(item("a", title="new"), item("b"))

    assert conflicts(answer) == [("a", "node", None, "removed", "new")]
    assert file.ready() == {"b"}


def test_a_group_is_opened_by_a_new_item_and_closed_with_the_last(file: FileImport) -> None:
    file.run(item("g", is_group=True), item("a", parent="g", fate="done"))
    assert file.node("g").resolved

    file.run(item("g", is_group=True), item("a", parent="g", fate="done"), item("b", parent="g"))
    assert (file.node("g").resolved, file.ready()) == (False, {"b"})

    file.run(item("g", is_group=True), item("a", parent="g", fate="done"), item("b", parent="g", fate="done"))
    assert file.node("g").resolved


def test_a_later_loop_is_left_out_too(file: FileImport) -> None:
    file.run(item("a"), item("b", depends_on=["a"]))

    answer = file.run(item("a", depends_on=["b"]), item("b", depends_on=["a"]))

    assert {*notes(answer.placed, "loop")} == {"a"}
    assert file.ready() == set()
    rev = file.rev()
    file.run(item("a", depends_on=["b"]), item("b", depends_on=["a"]))
    assert file.rev() == rev


def test_two_tools_do_not_touch_each_others_items(work: WorkClient) -> None:
    beads, backlog = FileImport(work), FileImport(work, "backlog")
    beads.run(item("a", title="one"))
    answer = backlog.run(item("a", title="two"))

    assert answer.counts.created == 1
    assert notes(answer.lost, "alias") == {"a": "a is the alias of another node"}
    beads.run(item("a", title="three"))
    assert work.next(count=5) is not None
    assert {node.summary for node in work.call("work.query", project="atlas", filter={"is_leaf": True}).nodes} >= {
        "two",
        "three",
    }


def test_an_item_in_a_loop_is_released_when_another_item_leaves_the_loop(file: FileImport) -> None:
    loop = [item("a", depends_on=["b"]), item("b", depends_on=["a"])]
    first = file.run(*loop)
    assert {*notes(first.placed, "loop")} == {"b"}
    rev = file.rev()
    file.run(*loop)
    assert file.rev() == rev

    answer = file.run(item("a"), item("b", depends_on=["a"]))

    assert (answer.counts.updated, notes(answer.placed, "loop")) == (2, {})
    assert file.ready() == {"a"}
    file.run(item("a", fate="done"), item("b", depends_on=["a"]))
    assert file.ready() == {"b"}


def test_an_item_in_a_loop_that_was_released_here_stays_released(file: FileImport) -> None:
    file.run(item("a", depends_on=["b"]), item("b", depends_on=["a"]))
    node = file.node("b")
    hold = {"containerType": "task", "id": node.id, "blockedBy": ["NO_OP"], "version": node.rev}
    file.work.call("container.unblock", **hold)

    file.run(item("a", depends_on=["b"], title="changed"), item("b", depends_on=["a"]))

    assert file.ready() == {"b"}


def test_what_was_held_beside_a_conflict_is_still_a_conflict_at_the_next_import(file: FileImport) -> None:
    file.run(item("a", fate="done"), item("b"))
    file.work.call("work.update", updates=[{"node_id": "a", "resolved": False}])
    held = {"fate": "held", "hold_reason": "status later"}
    there = [item("a", depends_on=["b"], **held), item("b", depends_on=["a"])]

    first, second = file.run(*there), file.run(*there)

    assert [one.field for one in first.conflicts] == [one.field for one in second.conflicts] == ["fate"]
