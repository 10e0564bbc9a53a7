"""Work that was done here goes out with an export and comes back as it was: nothing is doubled."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundplan.exchange.import_source import SourceTool, TargetTool, write_items
from groundplan.kernel.errors import GroundplanError
from tests.engines import Engine, SqliteEngine
from tests.exchange.backlog_folder import BacklogFolder
from tests.exchange.beads_files import issue, write_issues
from tests.exchange.imports import Switch
from tests.exchange.taskmaster_files import subtask, task, write_tasks
from tests.proof import scaled


def write_beads(root: Path) -> Path:
    comments = [{"author": "cleo", "text": "soon\nor later", "created_at": "2026-01-05T10:00:00Z"}]
    return write_issues(
        root,
        [
            issue("isle-a", "in_progress", comments=comments, notes="Low tide", description="Walk it"),
            issue("isle-a.1", priority=0),
            issue("isle-b", "closed", close_reason="done in 1f2e3d4"),
            issue("isle-c", blocks=["isle-a"]),
        ],
    )


def write_taskmaster(root: Path) -> Path:
    parts = [subtask(1), subtask("2", details="Low tide")]
    tasks = [task(1, subtasks=parts, details="Walk it"), task(2, "done"), task(3, dependencies=[1])]
    return write_tasks(root, {"master": {"tasks": tasks}})


def write_backlog(root: Path) -> Path:
    folder = BacklogFolder(root)
    folder.task("task-1", body="## Description\n\nWalk it\n")
    folder.task("task-1.1", parent_task_id="task-1")
    folder.task("task-2", status="Done", body="## Final Summary\n\nMapped.\n")
    folder.task("task-3", dependencies=["task-1"])
    return folder.folder


FILES: dict[str, Callable[[Path], Path]] = {
    "beads": write_beads,
    "taskmaster": write_taskmaster,
    "backlog": write_backlog,
}


def export(switch: Switch, root: Path) -> Path:
    """Export into a folder, and return the path to import."""
    written = write_items(TargetTool(switch.tool), switch.export())
    for name, text in written.files.items():
        path = root / (name or "plan")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root / "plan" if written.is_single else root


def describe(switch: Switch) -> dict[str, Any]:
    """Return what a project says, but what the file of the tool says in fewer words."""
    described = {}
    items = switch.export()
    dropped = {item.id for item in items if item.fate == "dropped"}
    for item in items:
        # The summary of a finished task is a section there, too.
        sections = {section.title: section.text for section in item.sections if section.title != "Final Summary"}
        described[item.id] = {
            "title": item.title,
            "fate": (item.fate, item.hold_reason),
            "claim": item.is_claimed,
            "state": item.state if item.fate == "open" else None,
            "priority": item.priority if switch.tool != "taskmaster" else None,  # a part there has that of its task
            "parent": item.parent,
            "depends_on": [target for target in item.depends_on if target not in dropped],  # Backlog.md waits for ever
            "links": item.context_links,
            "sections": sections,
            "evidence": [(entry.type, entry.text) for entry in item.evidence],
        }
    return described


def list_evidence(switch: Switch) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the evidence of each node, by title."""
    return sorted((item.title, sorted((entry.type, entry.text) for entry in item.evidence)) for item in switch.export())


# --- Work here --------------------------------------------------------------------------------------------------------


class Worker:
    """Somebody who works on the nodes of a project, by their place in it."""

    def __init__(self, switch: Switch) -> None:
        self._switch = switch
        self._call = switch.session.call

    def node_id(self, number: int) -> str:
        items = self._switch.export()
        return str(items[number % len(items)].id)

    def update(self, number: int, **change: Any) -> None:
        self._call("work.update", updates=[{"node_id": self.node_id(number), **change}])

    def plan(self, number: int) -> None:
        nodes = [
            {"ref": "x", "summary": "Made here", "parent_ref": self.node_id(number)},
            {"ref": "y", "summary": "Below it", "parent_ref": "x", "context_links": ["coast.py"]},
            {"ref": "z", "summary": "And then", "depends_on": ["y", self.node_id(number)]},
        ]
        self._call("work.plan", project=self._switch.project, nodes=nodes)

    def prove(self, number: int) -> None:
        proof = [
            ("note", "Half\nway"),
            ("note", "Seen"),
            ("comment", "Ada: a boat"),
            ("commit", "1f2e3d4"),
            ("x", "- y"),
        ]
        self.update(number, add_evidence=[{"type": type_, "ref": ref} for type_, ref in proof])

    def drop(self, number: int) -> None:
        self._call(
            "work.restructure", operations=[{"op": "drop", "node_id": self.node_id(number), "reason": "No boat"}]
        )

    def hold(self, number: int) -> None:
        version = self._call("work.context", node_id=self.node_id(number)).node.rev
        hold = {"blockedBy": "NO_OP", "blockedReason": "the harbour is closed"}
        self._call("container.block", containerType="task", id=self.node_id(number), version=version, **hold)

    def write(self, number: int) -> None:
        section = {"title": f"Own part {number}", "content": "## Deep\n\n- one\n- two"}
        self._call("section.add", entityType="TASK", entityId=self.node_id(number), **section)

    def claim(self, number: int) -> None:
        self._call("work.claim", project=self._switch.project, node_id=self.node_id(number))


def do(worker: Worker, step: str, number: int) -> None:
    """Do one piece of work; one that the plan refuses is left."""
    try:
        match step:
            case "rename":
                worker.update(number, summary="Another title", properties={"priority": 3})
            case "resolve":
                worker.update(number, resolved=True)
            case "reopen":
                worker.update(number, resolved=False)
            case "state":
                worker.update(number, state={"page": 3})
            case _:
                getattr(worker, step)(number)
    except GroundplanError:
        return


STEPS = ("rename", "resolve", "reopen", "state", "plan", "prove", "drop", "hold", "write", "claim")


@pytest.mark.parametrize("tool", FILES)
def test_what_was_done_here_comes_back_as_it_was(engine: Engine, tool: str, tmp_path: Path) -> None:
    switch = Switch(engine, tool)
    switch.run(FILES[tool](tmp_path / "from"))
    worker = Worker(switch)
    for number, step in enumerate(("prove", "rename", "plan", "write", "hold", "prove", "claim", "plan")):
        do(worker, step, number)
    do(worker, "drop", 3)
    worker.prove(7)
    before = describe(switch)

    for number in (1, 2):
        path = export(switch, tmp_path / f"back {number}")
        report = switch.run(path)
        assert (report["counts"]["created"], report["conflicts"]) == (0, [])
        assert describe(switch) == before
        again = switch.run(path)
        assert (again["counts"]["created"], again["counts"]["updated"], again["conflicts"]) == (0, 0, [])

    other = Switch(engine, tool, "other")
    other.run(export(switch, tmp_path / "there"))
    assert list_evidence(other) == list_evidence(switch)


@pytest.mark.parametrize("tool", FILES)
@given(steps=st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 9)), max_size=8))
@settings(max_examples=scaled(10, 1000), deadline=None, suppress_health_check=[*HealthCheck])
def test_any_work_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, tool: str, steps: list[tuple[str, int]]
) -> None:
    folder = tmp_path_factory.mktemp(tool)
    engine = SqliteEngine(folder / "plan.db")
    try:
        switch = Switch(engine, tool)
        switch.run(FILES[tool](folder / "from"))
        for step, number in steps:
            do(Worker(switch), step, number)
        before = describe(switch)
        path = export(switch, folder / "back")
        report = switch.run(path)
        assert (report["counts"]["created"], report["conflicts"]) == (0, [])
        assert describe(switch) == before
        counts = switch.run(path)["counts"]
        assert (counts["created"], counts["updated"], counts["conflicts"]) == (0, 0, 0)
    finally:
        engine.close()


def test_a_node_of_ours_follows_its_file_and_what_both_changed_is_a_conflict(engine: Engine, tmp_path: Path) -> None:
    switch = Switch(engine, "beads")
    switch.run(write_beads(tmp_path))
    nodes = [{"ref": ref, "summary": ref} for ref in ("moved on", "renamed there")]
    made = {one.ref: one.id for one in switch.session.call("work.plan", project="isle", nodes=nodes).created}
    path = export(switch, tmp_path / "back")
    switch.session.call("work.update", updates=[{"node_id": made["moved on"], "summary": "moved on here"}])
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    first = switch.run(path)
    for line in lines:
        line["title"] = f"{line['title']}!" if line["id"] == f"gp-{made['renamed there']}" else line["title"]
    second = switch.run(write_issues(tmp_path, lines))

    mine = f"gp-{made['moved on']}"
    assert [(one["source_id"], one["here"], one["there"]) for one in first["conflicts"]] == [
        (mine, "moved on here", "moved on")
    ]
    assert second["counts"] == {"created": 0, "updated": 1, "unchanged": 5, "skipped": 0, "conflicts": 1}
    assert switch.node(made["renamed there"]).node.summary == "renamed there!"
    assert switch.node(mine).node.summary == "moved on here"


@pytest.mark.parametrize("tool", FILES)
def test_the_first_import_of_an_own_export_changes_nothing(engine: Engine, tool: str, tmp_path: Path) -> None:
    switch = Switch(engine, tool)
    switch.session.call("project.create", name=switch.project)
    switch.session.call("work.plan", project=switch.project, nodes=[{"ref": "x", "summary": "The first"}])
    worker = Worker(switch)
    for number, step in enumerate(("plan", "rename", "prove", "write")):
        do(worker, step, number)
    do(worker, "drop", 2)
    do(worker, "resolve", 4)
    before = [(item.id, item.properties, item.tags) for item in switch.export()]

    report = switch.run(export(switch, tmp_path / "back"))

    assert report["counts"] == {"created": 0, "updated": 0, "unchanged": len(before), "skipped": 0, "conflicts": 0}
    assert [(item.id, item.properties, item.tags) for item in switch.export()] == before


@pytest.mark.parametrize(("tool", "other"), [("beads", "taskmaster"), ("taskmaster", "backlog"), ("backlog", "beads")])
def test_a_node_keeps_the_tool_that_it_came_from(engine: Engine, tool: str, other: str, tmp_path: Path) -> None:
    switch = Switch(engine, tool)
    switch.run(FILES[tool](tmp_path / "from"))
    before = [(item.id, item.properties.get("source"), item.fate) for item in switch.export()]

    switch.tool = SourceTool(other)
    report = switch.run(export(switch, tmp_path / "to"))

    assert [one for one in report["conflicts"] if one["field"].startswith("properties.source")] == []
    assert [(item.id, item.properties.get("source"), item.fate) for item in switch.export()] == before


def test_the_id_of_a_node_elsewhere_is_the_id_of_a_new_item(engine: Engine, tmp_path: Path) -> None:
    switch = Switch(engine, "beads")
    switch.run(write_beads(tmp_path))
    root, known = switch.node("isle-a").ancestors[0].id, switch.node("isle-a").node.id
    elsewhere = Switch(engine, "beads", "elsewhere")
    elsewhere.run(write_issues(tmp_path / "other", [issue("x")]))

    lines = [issue(f"gp-{root}"), issue(f"gp-{known}"), issue(f"gp-{elsewhere.node('x').node.id}"), issue("gp-")]
    counts = switch.run(write_issues(tmp_path / "more", lines))["counts"]

    assert (counts["created"], counts["updated"]) == (4, 0)
