"""Files of Taskmaster: both forms, every trap, and the same work is ready here as there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundplan.exchange.import_source import TargetTool, write_items
from groundplan.exchange.items import BadLineFound, UnreadableSource
from groundplan.exchange.taskmaster import read_taskmaster
from tests.engines import Engine, SqliteEngine
from tests.exchange.imports import Switch, details
from tests.exchange.taskmaster_files import find_ready, subtask, task, write_tasks
from tests.proof import scaled

TRAPS = [
    task(1, "done", priority="high", subtasks=[subtask(1), subtask(2, "done")]),
    task(2, "in-progress", details="long <info added on 2026-01-01>", complexity=7, subtasks=[]),
    task("3", dependencies=["1", 2]),
    task(4, subtasks=[subtask(1), subtask(2, dependencies=[1]), subtask(3, dependencies=["5.1"], details="d")]),
    task(5, priority="low", subtasks=[subtask(1, "done"), subtask(2, dependencies=[1], acceptanceCriteria="ok")]),
    task(6, dependencies=[99]),
    task(7, "review", subtasks=[subtask(1)]),
    task(8, "deferred"),
    task(9, "cancelled"),
    task(10, dependencies=[9]),
    task(11, subtasks=[subtask(1, "done"), subtask(2, "done")]),
    task(12, "brewing"),
    task(13, dependencies=[14]),
    task(14, dependencies=[13]),
]


@pytest.fixture
def switch(engine: Engine) -> Switch:
    return Switch(engine, "taskmaster")


def test_a_file_with_every_trap_is_ready_here_as_there(switch: Switch, tmp_path: Path) -> None:
    report = switch.run(write_tasks(tmp_path, {"tasks": TRAPS, "metadata": {"version": "1"}}))

    assert switch.ready() == find_ready(TRAPS)
    assert details(report, "placed", "dependencies") == {"master/6": "99 is not there, so it is never done"}
    assert details(report, "placed", "status")["master/1.1"] == "is finished with its task master/1"
    assert {*details(report, "placed", "loop")} == {"master/14"}
    assert {"master/7", "master/8", "master/12"} <= {*details(report, "placed", "status")}


def test_a_subtask_that_is_finished_with_its_task_is_not_named_as_held_too(switch: Switch, tmp_path: Path) -> None:
    parts = [subtask(1, "deferred"), subtask(2, dependencies=[99])]
    report = switch.run(write_tasks(tmp_path, {"tasks": [task(1, "done", subtasks=parts), task(2, "deferred")]}))

    notes = [(note["source_id"], note["detail"]) for note in report["placed"] if note["what"] == "status"]
    assert notes == [
        ("master/1.1", "is finished with its task master/1"),
        ("master/1.2", "is finished with its task master/1"),
        ("master/2", "is held: status deferred"),
    ]
    assert not switch.ready()


def test_the_parts_of_a_task_come_over(switch: Switch, tmp_path: Path) -> None:
    switch.run(write_tasks(tmp_path / ".taskmaster" / "tasks", {"tasks": TRAPS}))

    node = switch.node("2").node
    assert (node.state, node.properties["priority"], node.properties["complexity"]) == ("in-progress", 2, 7)
    assert switch.node("1.1").node.properties["priority"] == 3  # that of its task
    assert switch.node("master/5.2").node.id == switch.node("5.2").node.id
    found = switch.session.call("container.get", containerType="task", id="5.2", includeSections=True)
    assert [(one.title, one.content) for one in found.sections] == [("acceptanceCriteria", "ok")]
    assert [one.node.properties["source_id"] for one in switch.node("4.3").depends_on] == ["master/5.1"]
    assert [one.node.properties["source_id"] for one in switch.node("4.2").depends_on] == ["master/4.1"]


def test_tags_are_groups_with_ids_of_their_own(switch: Switch, tmp_path: Path) -> None:
    value = {
        "master": {"tasks": [task(1), task(2, dependencies=[1])], "metadata": {}},
        "coast": {"tasks": [task(1, "done", subtasks=[subtask(1, "done")])], "metadata": {"dependsOn": "master"}},
        "empty": {"tasks": [], "metadata": {}},
        "tag": "master",
        "_rawTaggedData": {"master": {"tasks": [task(8)]}},
    }

    report = switch.run(write_tasks(tmp_path, value))

    assert report["left_out"] == {"empty tags": 1}
    assert switch.ready() == {"master/1"}
    assert switch.node("1").node.id == switch.node("master/1").node.id
    tops = {item.title: item.fate for item in switch.export() if item.parent is None}
    assert tops == {"master": "open", "coast": "done"}
    switch.session.call("work.update", updates=[{"node_id": one, "resolved": True} for one in ("1", "2")])
    assert {item.title: item.fate for item in switch.export() if item.parent is None} == {
        "master": "done",
        "coast": "done",
    }


def test_subtasks_with_the_same_id_are_told_apart(switch: Switch, tmp_path: Path) -> None:
    tasks = [
        task(42, subtasks=[subtask(42), subtask(42), subtask(42)]),
        task(27, subtasks=[subtask(27.1), subtask(27.1), subtask(27.15)]),
        task(43, subtasks=[subtask("43-1"), subtask("43-2", dependencies=["43.1"])]),
    ]
    report = switch.run(write_tasks(tmp_path, {"master": {"tasks": tasks}}))

    assert {*details(report, "placed", "id")} == {"master/42.42~2", "master/42.42~3", "master/27.1~2"}
    assert {"master/27.15", "master/43.1"} <= switch.ready()
    assert "master/43.2" not in switch.ready()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{"tasks": [\n<<<<<<< HEAD\n]}', "line 2: is a conflict marker"),
        ('{"tasks": [}', "is not JSON"),
        ("[]", "no list of tasks"),
        ('{"version": 1}', "no list of tasks"),
        ('{"tasks": [{"id": "0b7c", "name": "x", "dependencies": [{"taskId": "1"}]}]}', "name and no title"),
        ("[" * 100_000, "nested too deep"),
    ],
)
def test_what_is_not_of_taskmaster_is_refused(tmp_path: Path, content: str, reason: str) -> None:
    path = tmp_path / "tasks.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UnreadableSource, match=reason) as caught:
        read_taskmaster(path, skip_bad=True)
    assert caught.value.exit_code == 2


def test_a_bad_task_refuses_the_file_or_is_skipped(switch: Switch, tmp_path: Path) -> None:
    path = write_tasks(tmp_path, {"tasks": [task(1), {"title": "no id"}, {"id": 3, "status": "pending"}, task(4)]})

    with pytest.raises(BadLineFound, match="task 2 of tag master has no id"):
        switch.run(path)
    report = switch.run(path, skip_bad=True)

    assert [one["reason"] for one in report["skipped"]] == [
        "task 2 of tag master has no id",
        "task 3 of tag master has no title",
    ]
    assert switch.ready() == {"master/1", "master/4"}


def test_an_export_leads_back_to_the_same_tasks(switch: Switch, engine: Engine, tmp_path: Path) -> None:
    value = {"master": {"tasks": TRAPS}, "coast": {"tasks": [task(1), task(2, dependencies=[1])]}}
    switch.run(write_tasks(tmp_path, value))
    written = write_items(TargetTool.TASKMASTER, switch.export())
    path = tmp_path / "back.json"
    path.write_text(written.files[""], encoding="utf-8")

    back = json.loads(written.files[""])
    assert [*back] == ["master", "coast"]
    statuses = {one["id"]: one["status"] for one in back["master"]["tasks"]}
    assert statuses == {int(one["id"]): one["status"] for one in TRAPS}
    # An open subtask of a finished task is finished with it, here as there, so nothing is written about it.
    assert {one["id"]: one["status"] for one in back["master"]["tasks"][0]["subtasks"]} == {1: "pending", 2: "done"}
    here = switch.run(path)
    assert (here["counts"]["created"], here["counts"]["updated"], here["conflicts"]) == (0, 0, [])
    again = Switch(engine, "taskmaster", "again")
    again.run(path)
    assert again.ready() == switch.ready()


ODD_IDS = [
    task(27, subtasks=[subtask(27.15), subtask("28.9"), subtask(28.10), subtask("27-3", dependencies=["27.28.9"])]),
    task(42, subtasks=[*(subtask(42, title=f"Twin {number}") for number in range(8)), subtask("042")]),
    task("007", dependencies=["3.5"]),
    task(3.5, subtasks=[subtask("27.27.5")]),
    task("a-1", subtasks=[subtask(1, dependencies=["27.28.9", "42.42"])]),
    task(5, title="five"),
    task(5, title="also five"),
]


def test_an_export_keeps_every_id_that_a_task_came_with(switch: Switch, tmp_path: Path) -> None:
    switch.run(write_tasks(tmp_path, {"master": {"tasks": ODD_IDS}}))
    before = {item.sources["taskmaster"] for item in switch.export()}
    switch.session.call("work.plan", project="isle", nodes=[{"ref": "x", "summary": "made here", "parent_ref": "42"}])
    path = tmp_path / "back.json"
    path.write_text(write_items(TargetTool.TASKMASTER, switch.export()).files[""], encoding="utf-8")

    tasks = {one["title"]: one for one in json.loads(path.read_text(encoding="utf-8"))["master"]["tasks"]}
    assert [one["id"] for one in tasks["Task 42"]["subtasks"]] == [*[42] * 8, "042", 43]
    assert [one["id"] for one in tasks["Task 27"]["subtasks"]] == [15, 28.9, 28.1, 3]
    assert {"master/27.28.9", "master/42.42~8", "master/007", "master/3.5"} <= before
    again = switch.run(path)
    assert (again["counts"]["created"], again["counts"]["updated"], again["conflicts"]) == (0, 0, [])
    assert details(again, "placed", "gone") == {}


def test_twins_keep_their_ids_when_the_first_of_them_is_gone(switch: Switch, tmp_path: Path) -> None:
    switch.run(write_tasks(tmp_path, {"tasks": ODD_IDS[1:2]}))
    first = switch.node("42.42").node
    switch.session.call("container.delete", containerType="task", id=first.id, version=first.rev)
    path = tmp_path / "back.json"
    path.write_text(write_items(TargetTool.TASKMASTER, switch.export()).files[""], encoding="utf-8")

    again = switch.run(path)
    assert (again["counts"]["created"], again["counts"]["updated"], again["conflicts"]) == (0, 0, [])


def test_a_task_beside_the_groups_of_tags_does_not_take_an_id_of_the_tag_it_is_written_into(
    switch: Switch, tmp_path: Path
) -> None:
    switch.run(write_tasks(tmp_path, {"master": {"tasks": [task(1)]}, "coast": {"tasks": [task(1)]}}))
    switch.session.call("work.plan", project="isle", nodes=[{"ref": "x", "summary": "made here"}])
    path = tmp_path / "back.json"
    path.write_text(write_items(TargetTool.TASKMASTER, switch.export()).files[""], encoding="utf-8")

    back = json.loads(path.read_text(encoding="utf-8"))
    assert {tag: [one["id"] for one in content["tasks"]] for tag, content in back.items()} == {
        "master": [1, 2],
        "coast": [1],
    }


STATUS = st.sampled_from(["pending", "pending", "in-progress", "done", "review", "cancelled"])


@st.composite
def task_files(draw: st.DrawFn) -> list[dict[str, Any]]:
    tasks = []
    for id_ in range(1, 6):
        parts = [
            subtask(
                number,
                draw(STATUS),
                dependencies=draw(
                    st.lists(st.sampled_from([1, 2, 3, "1.1", "2.1", "2.2", "9.9"]), max_size=2, unique_by=str)
                ),
            )
            for number in range(1, draw(st.integers(0, 3)) + 1)
        ]
        dependencies = draw(st.lists(st.sampled_from([1, 2, 3, 4, 5, "2", 8, "3.1"]), max_size=2, unique_by=str))
        tasks.append(task(id_, draw(STATUS), dependencies=dependencies, subtasks=parts))
    return tasks


@given(tasks=task_files())
@settings(max_examples=scaled(30, 1000), suppress_health_check=[*HealthCheck])
def test_what_was_ready_there_is_ready_here(
    tmp_path_factory: pytest.TempPathFactory, tasks: list[dict[str, Any]]
) -> None:
    folder = tmp_path_factory.mktemp("taskmaster")
    engine = SqliteEngine(folder / "plan.db")
    try:
        switch = Switch(engine, "taskmaster")
        switch.run(write_tasks(folder, {"master": {"tasks": tasks}}))
        assert switch.ready() == find_ready(tasks)
        (folder / "back.json").write_text(write_items(TargetTool.TASKMASTER, switch.export()).files[""])
        counts = switch.run(folder / "back.json")["counts"]
        assert (counts["created"], counts["updated"], counts["conflicts"]) == (0, 0, 0)
    finally:
        engine.close()


ANY_ID = st.sampled_from([1, 2, 2, 3, "4", 5.5, "007", "a", "a-1", "2~2", "3-1", 28.9, 42, 42])
ANY_PART_ID = ANY_ID | st.sampled_from(["1.2", "2.28.9", "2.2.2"])
ANY_STATUS = st.sampled_from(["pending", "done", "in-progress", "review", "deferred", "cancelled", "odd", "Blocked"])


@st.composite
def odd_tags(draw: st.DrawFn) -> dict[str, Any]:
    targets = st.lists(st.sampled_from([1, 2, "1.2", "2.42", "42", "2.28.9", 9, "a", "a-1"]), max_size=2, unique_by=str)
    tags: dict[str, Any] = {}
    for tag in draw(st.sampled_from([["master"], ["coast"], ["master", "coast"], ["a/b", "1", "empty"]])):
        tags[tag] = {"tasks": []}
        for number in range(0 if tag == "empty" else draw(st.integers(0, 4))):
            parts = [
                subtask(draw(ANY_PART_ID), draw(ANY_STATUS), title=f"Part {part}", dependencies=draw(targets))
                for part in range(draw(st.integers(0, 4)))
            ]
            fields = {"title": f"{tag} {number}", "dependencies": draw(targets), "subtasks": parts}
            tags[tag]["tasks"].append(task(draw(ANY_ID), draw(ANY_STATUS), **fields))
    return tags


@given(tags=odd_tags())
@settings(max_examples=scaled(30, 1000), suppress_health_check=[*HealthCheck])
def test_an_export_of_any_file_comes_back_without_a_change(
    tmp_path_factory: pytest.TempPathFactory, tags: dict[str, Any]
) -> None:
    folder = tmp_path_factory.mktemp("taskmaster")
    engine = SqliteEngine(folder / "plan.db")
    try:
        switch = Switch(engine, "taskmaster")
        switch.run(write_tasks(folder, tags))
        exported = switch.export() if switch.session.call("project.list").projects else []
        (folder / "back.json").write_text(write_items(TargetTool.TASKMASTER, exported).files[""])
        again = switch.run(folder / "back.json")
        counts = again["counts"]
        assert (counts["created"], counts["updated"], counts["conflicts"]) == (0, 0, 0)
        assert details(again, "placed", "gone") == {}
    finally:
        engine.close()
