"""What Backlog.md offers is ready here: an independent reading of the files is compared with the store."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundplan.exchange import backlog
from groundplan.exchange import write_backlog as writer
from groundplan.exchange.import_source import TargetTool, write_items
from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.session import Session
from tests.engines import Engine
from tests.exchange.backlog_folder import CONFIG, BacklogFolder, compute_ready
from tests.exchange.imports import Switch, details
from tests.proof import scaled

NUMBERS = range(1, 7)
STATUSES = ("To Do", "To Do", "In Progress", "Review", "Done", "Complete", "Wontfix", "Parked", "Draft", "Shipped")
CONFIGS = (None, CONFIG, "statuses: [Review, To Do, Shipped]\n", "statuses: [In Progress, Parked, Wontfix]\n")
PLACES = ("tasks", "tasks", "tasks", "completed", "drafts", "archive/tasks", "archive/drafts")


@pytest.fixture
def session(engine: Engine) -> Session:
    return Session(engine.store, local_actor("ada", kind=ActorKind.PERSON))


def import_folder(session: Session, folder: Path, project: str) -> Any:
    plan = backlog.read_backlog(folder, skip_bad=False)
    return session.call(
        "work.import", project=project, tool=plan.tool, file=str(folder), items=msgspec.to_builtins(plan.items)
    )


def export_folder(session: Session, project: str, folder: Path) -> None:
    for path, text in writer.write_backlog(session.call("work.export", project=project).items).files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def query_ready(session: Session, project: str) -> set[str]:
    """Return the titles of the nodes that can be started."""
    found = session.call("work.query", project=project, filter={"is_actionable": True}, limit=100)
    return {node.summary for node in found.nodes}


def write_traps(root: Path) -> BacklogFolder:
    folder = BacklogFolder(root)
    tasks: dict[str, dict[str, Any]] = {
        "task-1": {"status": "Done"},
        "task-2": {"dependencies": ["task-1"]},
        "task-3": {"dependencies": ["TASK-002"]},
        "task-4": {"dependencies": ["task-99"]},
        "task-5": {"dependencies": ["task-5"]},
        "task-6": {"dependencies": ["task-7"]},
        "task-7": {"dependencies": ["task-6"]},
        "task-8": {"status": "In Progress"},
        "task-8.1": {"parent_task_id": "task-8"},
        "task-8.2": {"parent_task_id": "task-8", "dependencies": ["task-8.1"]},
        "task-9": {"status": "Parked"},
        "task-10": {"dependencies": ["task-20"]},
        "task-11": {"dependencies": ["task-21"]},
        "task-12": {"status": "Wontfix"},
        "task-13": {"dependencies": ["task-12", "task-22"]},
        "task-14": {"parent_task_id": "task-1"},
        "task-15": {"dependencies": ["task-23"]},
    }
    for task_id, fields in tasks.items():
        folder.task(task_id, title=task_id, **fields)
    folder.task("task-20", title="task-20", place="archive/tasks", status="Done")
    folder.task("task-21", title="task-21", place="drafts")
    folder.task("task-22", title="task-22", place="completed", status="To Do")
    folder.task("task-23", title="task-23", place="completed")
    folder.task("task-023", title="task-23", status="Done")
    return folder


def test_what_was_ready_there_is_ready_here_and_a_second_run_writes_nothing(session: Session, tmp_path: Path) -> None:
    folder = write_traps(tmp_path)

    first = import_folder(session, folder.folder, "shop")

    expected = {"task-2", "task-8.1", "task-13", "task-14"}
    assert compute_ready(folder.folder) == expected
    assert query_ready(session, "shop") == expected
    assert (first.counts.created, first.counts.conflicts) == (22, 0)
    again = import_folder(session, folder.folder, "shop")
    assert (again.counts.created, again.counts.updated, again.counts.unchanged) == (0, 0, 22)
    assert session.call("work.context", node_id="TASK-2").node.summary == "task-2"
    assert session.call("work.context", node_id="task-8.2").node.summary == "task-8.2"


def test_a_status_that_changes_there_changes_here(session: Session, tmp_path: Path) -> None:
    folder = write_traps(tmp_path)
    import_folder(session, folder.folder, "shop")
    folder.task("task-2", title="task-2", status="Done")

    done = import_folder(session, folder.folder, "shop")

    assert (done.counts.created, done.counts.updated) == (0, 1)
    assert query_ready(session, "shop") == compute_ready(folder.folder)
    assert "task-3" in query_ready(session, "shop")


_projects = itertools.count()


@settings(max_examples=scaled(12, 1000), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.sampled_from(NUMBERS),
            st.sampled_from(PLACES),
            st.sampled_from(STATUSES),
            st.lists(st.integers(1, 7), max_size=2, unique=True),
            st.none() | st.sampled_from(NUMBERS),
        ),
        max_size=8,
        unique_by=lambda one: (one[0], one[1]),
    ),
    st.sampled_from(CONFIGS),
)
def test_the_ready_set_is_the_same_for_every_folder_and_after_a_round_trip(
    session: Session,
    tmp_path_factory: pytest.TempPathFactory,
    tasks: list[tuple[int, str, str, list[int], int | None]],
    config: str | None,
) -> None:
    root = tmp_path_factory.mktemp("any")
    folder = BacklogFolder(root, config)
    for number, place, status, waits, parent in tasks:
        # Only earlier tasks are parents, so that there are no loops of parents.
        given_parent = {"parent_task_id": f"task-{parent}"} if parent and parent < number else {}
        folder.task(
            f"task-{number}",
            title=f"{number} in {place}",
            place=place,
            status=status,
            dependencies=[f"task-{one}" for one in waits],
            **given_parent,
        )
    expected = compute_ready(folder.folder)
    project = f"project {next(_projects)}"

    import_folder(session, folder.folder, project)

    assert (query_ready(session, project) if tasks else set()) == expected
    if tasks:
        export_folder(session, project, root / "again")
        assert compute_ready(root / "again") == expected
        again = import_folder(session, root / "again", project)
        counts = again.counts
        assert (counts.created, counts.updated, counts.unchanged, counts.conflicts) == (0, 0, len(tasks), 0)
        assert query_ready(session, project) == expected


BODY = """
Above

## Description

<!-- SECTION:DESCRIPTION:BEGIN -->
Some *text*.
<!-- SECTION:DESCRIPTION:END -->

## Comments
<!-- COMMENTS:BEGIN -->
author: Ada
created: 2026-01-02 10:00
---
Soon
---
<!-- COMMENTS:END -->

## Final Summary
<!-- SECTION:FINAL_SUMMARY:BEGIN -->
It is done.
<!-- SECTION:FINAL_SUMMARY:END -->
"""


def test_a_folder_that_was_exported_comes_back_without_a_change(engine: Engine, tmp_path: Path) -> None:
    switch = Switch(engine, "backlog")
    folder = BacklogFolder(tmp_path / "from")
    tasks: dict[str, dict[str, Any]] = {
        "task-1": {"status": "Done", "body": BODY, "labels": ["b", "a"]},
        "task-2": {"status": "Wontfix", "body": BODY, "priority": "high", "assignee": ["@ada", "@ben"]},
        "task-3": {"dependencies": ["task-1"], "milestone": "m-1", "references": ["x.py"]},
        "TASK-012": {"status": "Parked"},
        "task-epic-3": {},
        "task-epic-3.1": {"parent_task_id": "task-epic-3"},
        "task-epic-4": {"status": "In Progress"},
        "task-epic-5": {},
        "task-epic-6": {},
    }
    for task_id, fields in tasks.items():
        folder.task(task_id, **fields)
    folder.write("decisions/decision-1 - Round once.md", "Never twice.\n")
    first = switch.run(folder.root)
    assert (first["counts"]["created"], first["left_out"]) == (10, {})

    for path, text in write_items(TargetTool.BACKLOG, switch.export()).files.items():
        file = tmp_path / "back" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    before = list_events(switch)
    again = switch.run(tmp_path / "back")

    names = {file.name.partition(" - ")[0] for file in (tmp_path / "back").glob("*/*.md")}
    assert {"task-1", "TASK-012", "task-epic-3.1", "task-epic-6"} <= names
    assert len(names) == 9, "the task that the import made for its knowledge is none of the folder"
    assert (again["counts"]["created"], again["counts"]["updated"], again["conflicts"]) == (0, 0, [])
    assert list_events(switch) == before
    assert details(again, "placed", "gone") == {}


def list_events(switch: Switch) -> list[str]:
    return [event.id for event in switch.session.call("event.list", project=switch.project, limit=100).events]


def test_what_changed_alike_there_and_here_is_no_update(engine: Engine, tmp_path: Path) -> None:
    switch = Switch(engine, "backlog")
    folder = BacklogFolder(tmp_path)
    path = folder.task("task-1", title="Old")
    switch.run(tmp_path)
    node = switch.node("task-1").node
    switch.session.call("work.update", updates=[{"node_id": node.id, "summary": "New"}])
    path.unlink()
    folder.task("task-1", title="New")

    assert switch.run(tmp_path, dry_run=True)["counts"]["updated"] == 0
    assert switch.run(tmp_path)["counts"] == {"created": 0, "updated": 0, "unchanged": 1, "skipped": 0, "conflicts": 0}

    folder.task("task-1", title="Newer")
    switch.run(tmp_path)
    assert switch.node("task-1").node.summary == "Newer", "the base of the comparison is what both sides had"
