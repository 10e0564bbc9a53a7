"""Tasks of Backlog.md become items; what the tool would not offer is held, and everything odd is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundplan.exchange import backlog
from groundplan.exchange.backlog import parse_comments, split_body
from groundplan.exchange.items import BadLineFound, SourcePlan, UnreadableSource
from groundplan.work.importing.items import SourceItem
from tests.exchange.backlog_folder import BacklogFolder
from tests.proof import scaled


@pytest.fixture
def folder(tmp_path: Path) -> BacklogFolder:
    return BacklogFolder(tmp_path)


def read(folder: BacklogFolder, *, skip_bad: bool = False) -> SourcePlan:
    return backlog.read_backlog(folder.folder, skip_bad=skip_bad)


def items(folder: BacklogFolder) -> dict[str, SourceItem]:
    return {item.source_id: item for item in read(folder).items}


def notes(some: list[Any]) -> list[tuple[str, str]]:
    return [(note.source_id, note.what) for note in some]


TASK = """\
---
id: task-7
title: >-
  Round prices once, and
  never twice
status: In Progress
assignee: [@ada, '@ben']
reporter: cleo
created_date: '2026-01-02 10:00'
updated_date: "2026-01-03"
labels:
  - ui
  - cart
  - ui
dependencies: []
references: ["https://example.org/1", src/cart.py]
modified_files:
  - src/prices.py
milestone: m-1
type: bug
priority: High
ordinal: 2000
caused_by: task-3
plan: {deep: x}
---

## Description

<!-- SECTION:DESCRIPTION:BEGIN -->
Prices.

## Not a section
```
<!-- SECTION:DESCRIPTION:END -->

## Acceptance Criteria
<!-- AC:BEGIN -->
- [x] #1 Once
- [ ] #2 Never twice
<!-- AC:END -->

## Comments

<!-- COMMENTS:BEGIN -->
author: Ada
created: 2026-01-04 09:00
---
First

---
second part
---

created: 2026-01-05 09:00
---
Other
---
<!-- COMMENTS:END -->

## Our own

Kept.
"""


def test_a_task_file_keeps_everything_that_has_a_place(folder: BacklogFolder) -> None:
    folder.write("tasks/task-7 - Round's `prices` @once.md", TASK)
    folder.write("milestones/m-1 - Spring.md", "---\nid: m-1\ntitle: Spring\n---\n")

    (item,) = (plan := read(folder)).items

    assert (item.source_id, item.title) == ("task-7", "Round prices once, and never twice")
    assert item.aliases == ["task-7", "TASK-7"]
    assert (item.fate, item.state, item.source_status, item.priority) == ("open", "In Progress", "In Progress", 3)
    assert item.tags == ["ui", "cart", "bug", "Spring"]
    assert item.context_links == ["https://example.org/1", "src/cart.py", "src/prices.py"]
    assert item.properties == {
        "assignee": "@ada, @ben",
        "reporter": "cleo",
        "source_created_at": "2026-01-02 10:00",
        "source_updated_at": "2026-01-03",
        "type": "bug",
        "milestone": "Spring",
        "ordinal": "2000",
        "caused_by": "task-3",
    }
    assert [(one.title, one.text) for one in item.sections] == [
        ("Description", "Prices.\n\n## Not a section\n```"),
        ("Acceptance Criteria", "- [x] #1 Once\n- [ ] #2 Never twice"),
        ("Our own", "Kept."),
    ]
    assert [(one.type, one.text) for one in item.evidence] == [
        ("comment", "Ada 2026-01-04 09:00: First\n\n---\nsecond part"),
        ("comment", "2026-01-05 09:00: Other"),
    ]
    assert notes(plan.lost) == [("task-7", "plan")]


@pytest.mark.parametrize(
    ("status", "place", "fate"),
    [
        ("To Do", "tasks", "open"),
        ("in_progress", "tasks", "open"),
        ("Review", "tasks", "open"),
        ("Done", "tasks", "done"),
        ("complete", "tasks", "done"),
        ("Merged into task-3", "tasks", "done"),
        ("Won\u2019t Do", "tasks", "dropped"),
        ("Wontfix", "tasks", "dropped"),
        ("Obsolete", "tasks", "dropped"),
        ("Draft", "tasks", "held"),
        ("Parked", "tasks", "held"),
        ("To Do", "completed", "done"),
        ("Done", "drafts", "held"),
        ("To Do", "drafts", "held"),
        ("Done", "archive/tasks", "done"),
        ("To Do", "archive/tasks", "dropped"),
        ("Draft", "archive/drafts", "dropped"),
    ],
)
def test_status_and_folder_decide_the_fate(folder: BacklogFolder, status: str, place: str, fate: str) -> None:
    folder.task("task-1", place=place, status=status)

    item = items(folder)["task-1"]

    assert (item.fate, item.source_status) == (fate, status)
    assert (item.hold_reason is not None) == (fate == "held")


def test_the_last_configured_status_is_the_end_and_done_too(tmp_path: Path) -> None:
    folder = BacklogFolder(tmp_path, "statuses:\n  - Open\n  - Done\n  - Shipped\n")
    for number, status in enumerate(("Open", "Done", "shipped", "To Do"), 1):
        folder.task(f"task-{number}", status=status)

    plan = read(folder)

    assert [item.fate for item in plan.items] == ["open", "done", "done", "held"]
    assert notes(plan.placed) == [("task-4", "status")]


def test_without_a_configuration_the_defaults_of_the_tool_hold(tmp_path: Path) -> None:
    folder = BacklogFolder(tmp_path, config=None)
    folder.task("TASK-1", status="Done")
    folder.task("TASK-2", status="")

    assert [item.fate for item in backlog.read_backlog(tmp_path, skip_bad=False).items] == ["done", "open"]
    with pytest.raises(UnreadableSource, match="neither config"):
        backlog.read_backlog(folder.folder / "tasks", skip_bad=False)
    folder.write("config.yml", "statuses: [a\n")
    with pytest.raises(UnreadableSource) as refused:
        read(folder)
    assert refused.value.details["line"] == 1


def test_only_direct_children_with_the_name_of_a_task_are_read(folder: BacklogFolder) -> None:
    folder.task("task-1")
    folder.task("task-2", place="tasks/epics")
    folder.task("doc-3", place="completed")
    folder.task("back-4")
    folder.write("tasks/readme.md", "# Tasks\n")
    folder.task("task-5", name="task-5.md")
    folder.task("task-epic-11.11", name="task-epic-11.11 - Epic.md")
    folder.task("task-epic-11", name="task-epic-11 - Above.md")
    folder.task("task-walk", name="task-walk.md", dependencies=["TASK-WALK-2"])
    folder.write("tasks/task-rules.md", "# How we write tasks\n")
    folder.write("tasks/notes.txt", "no Markdown")
    (folder.folder / "tasks/task-6 - link.md").symlink_to(folder.folder / "tasks/task-1 - Title.md")

    plan = read(folder)

    parents = {item.source_id: item.parent for item in plan.items}
    assert parents == {
        "task-1": None,
        "task-5": None,
        "task-epic-11": None,
        "task-epic-11.11": "task-epic-11",
        "task-walk": None,
    }
    assert plan.left_out == {"files that are not tasks": 5}


def test_a_task_file_without_front_matter_is_bad_and_a_decision_without_it_is_a_text(folder: BacklogFolder) -> None:
    folder.task("task-1")
    folder.write("decisions/decision-1 - Round once.md", "# Round once\n\nNever twice.\n")
    plan = read(folder)
    assert [molecule.name for molecule in plan.molecules] == ["Round once"]
    assert [item.source_id for item in plan.items] == ["task-1"]

    folder.write("tasks/task-2 - Bare.md", "no front matter")
    with pytest.raises(BadLineFound):
        read(folder)


def test_case_and_zeros_do_not_count_and_the_prefix_does(tmp_path: Path) -> None:
    folder = BacklogFolder(tmp_path, 'task_prefix: "BACK"\nzero_padded_ids: 3\n')
    folder.task("back-024")
    folder.task("BACK-025", dependencies=["BACK-24"])
    folder.task("BACK-026", dependencies=["task-24"])
    folder.task("back-024.01")
    folder.task("BACK-027", parent_task_id="task-24")
    folder.task("BACK-028", parent_task_id="Back-0025")
    folder.task("BACK-029", parent_task_id="back-99")

    plan = read(folder)

    found = {item.source_id: item for item in plan.items}
    assert found["BACK-025"].depends_on == ["back-024"]
    assert (found["BACK-026"].fate, found["BACK-026"].depends_on) == ("held", [])
    assert {name: found[name].parent for name in ("back-024.01", "BACK-027", "BACK-028", "BACK-029")} == {
        "back-024.01": "back-024",
        "BACK-027": "back-024",
        "BACK-028": "BACK-025",
        "BACK-029": None,
    }
    assert found["back-024"].aliases == ["back-024", "back-24", "BACK-24"]
    assert notes(plan.lost) == [("BACK-029", "parent")]


def test_an_id_of_two_files_belongs_to_the_first_folder_and_the_others_are_counted(folder: BacklogFolder) -> None:
    folder.task("task-1", place="archive/tasks", name="task-1 - Old.md")
    folder.task("TASK-1", place="archive/tasks", name="TASK-1 - Older.md")
    folder.task("task-1", place="completed")
    folder.task("task-01")
    folder.task("task-2", dependencies=["task-1"])

    plan = read(folder)

    ids = [item.source_id for item in plan.items]
    assert sorted(ids) == ["TASK-1~3", "task-01", "task-1~2", "task-1~4", "task-2"]
    assert {item.source_id: item.aliases for item in plan.items}["task-1~2"] == ["task-1~2"]
    held = next(item for item in plan.items if item.source_id == "task-2")
    assert (held.fate, held.depends_on) == ("held", [])
    assert "2 files claim" in (held.hold_reason or "")
    assert sorted(notes(plan.placed)) == [
        ("TASK-1~3", "id"),
        ("task-1~2", "id"),
        ("task-1~4", "id"),
        ("task-2", "hold"),
    ]


def test_what_waits_for_nothing_that_can_be_found_is_held_while_it_is_open(folder: BacklogFolder) -> None:
    folder.task("task-1", place="archive/tasks", status="Done")
    folder.task("task-2", dependencies=["task-1"])
    folder.task("task-3", dependencies=["task-99"])
    folder.task("task-4", dependencies=["nonsense"])
    folder.task("task-5", dependencies=["task-99", "task-6"], status="Done")
    folder.task("task-6", dependencies=["task-6"])

    plan = read(folder)

    found = {item.source_id: item for item in plan.items}
    assert {name: found[name].fate for name in ("task-2", "task-3", "task-4", "task-5", "task-6")} == {
        "task-2": "held",
        "task-3": "held",
        "task-4": "held",
        "task-5": "done",
        "task-6": "open",
    }
    assert found["task-3"].properties == {"missing_dependencies": ["task-99"]}
    assert (found["task-5"].depends_on, found["task-6"].depends_on) == (["task-6"], ["task-6"])
    assert notes(plan.placed) == [("task-2", "hold"), ("task-3", "hold"), ("task-4", "hold")]
    assert notes(plan.lost) == [("task-5", "dependencies")]


def test_tasks_come_in_the_order_of_ordinals_and_then_of_ids(folder: BacklogFolder) -> None:
    for task_id, ordinal in (("task-1", ""), ("task-10", ""), ("task-2", "nan"), ("task-3", "20"), ("task-4", "3.5")):
        folder.task(task_id, ordinal=ordinal)

    assert list(items(folder)) == ["task-4", "task-3", "task-1", "task-2", "task-10"]


def test_the_final_summary_of_a_finished_task_is_evidence_too(folder: BacklogFolder) -> None:
    body = "## Final Summary\n\n<!-- SECTION:FINAL_SUMMARY:BEGIN -->\nShipped.\n<!-- SECTION:FINAL_SUMMARY:END -->\n"
    folder.task("task-1", status="Done", body=body)
    folder.task("task-2", body=body)
    folder.task("task-3", place="archive/tasks", body=body)

    evidence = {name: [(one.type, one.text) for one in item.evidence] for name, item in items(folder).items()}

    assert evidence == {"task-1": [("note", "Shipped.")], "task-2": [], "task-3": [("dropped", "Shipped.")]}


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("# No front matter\n", 1, "no front matter"),
        ("---\nid: task-9\n", 1, "no second"),
        ("---\nid: task-9\nnonsense\n---\n", 3, "not a field"),
        ("---\nid: task-9\ntitle: 'a\n---\n", 3, "quote"),
        ("---\nid: nine\n---\n", 2, "prefix and a number"),
        ("---\nid: task-9\n---\n<<<<<<< HEAD\n", 4, "merge"),
        (f"---\nid: task-9\ntitle: {'x' * 5000}\n---\n", 3, "bytes"),
    ],
)
def test_a_bad_file_is_refused_with_its_path_and_line_or_skipped(
    folder: BacklogFolder, text: str, line: int, word: str
) -> None:
    folder.task("task-1")
    path = folder.write("tasks/task-9 - Bad.md", text)

    with pytest.raises(BadLineFound, match=word) as refused:
        read(folder)
    assert (refused.value.details["file"], refused.value.details["line"]) == (str(path), line)
    plan = read(folder, skip_bad=True)
    assert [item.source_id for item in plan.items] == ["task-1"]
    assert [(bad.file, bad.line) for bad in plan.skipped] == [(str(path), line)]


def test_a_file_that_is_no_utf_8_is_bad(folder: BacklogFolder) -> None:
    folder.folder.joinpath("tasks/task-1 - A.md").write_bytes(b"---\nid: task-1\ntitle: caf\xe9\n---\n")

    assert [bad.line for bad in read(folder, skip_bad=True).skipped] == [3]


def test_decisions_and_documents_are_atoms_where_they_name_files_that_exist(folder: BacklogFolder) -> None:
    (folder.root / "src" / "cart").mkdir(parents=True)
    (folder.root / "src" / "prices.py").touch()
    text = "---\nid: {}\ntitle: {}\n---\n\nSee src/prices.py, `src/cart/`, src/gone.py and ../etc/passwd.\n"
    folder.write("decisions/decision-1 - Round.md", text.format("decision-1", "Round once"))
    folder.write("docs/doc-1 - Style.md", "---\nid: doc-1\ntitle: Style\n---\nPlain words.\n")
    folder.write("docs/doc-2 - Style.md", "---\nid: doc-2\ntitle: Style\n---\nOther words.\n")
    folder.write("docs/readme.md", "# Docs\n")

    plan = read(folder)

    assert [(one.name, one.paths) for one in plan.atoms] == [("Round once", ["src/prices.py", "src/cart/**"])]
    assert [(one.name, one.knowledge) for one in plan.molecules] == [
        ("Style", "Plain words."),
        ("Style~2", "Other words."),
    ]
    assert plan.left_out == {"files that are not decisions or documents": 1}


def test_an_empty_folder_is_no_error(folder: BacklogFolder) -> None:
    assert read(folder).items == []


def test_a_mark_without_its_end_is_left_out_and_comments_of_another_form_are_text() -> None:
    sections = split_body("<!-- AC:BEGIN -->\n## A\none\n<!-- DOD:END -->\n```\n## B\n```\n## C\n")

    assert [(one.title, one.text) for one in sections] == [("A", "one\n```\n## B\n```")]
    assert parse_comments(["Just text"]) is None
    assert parse_comments(["author: Ada", "no fence"]) is None
    assert parse_comments([]) == []


_head = st.sampled_from(
    [
        "id: task-1",
        "id: x",
        "title: 'a",
        "title: b",
        "status: Done",
        "dependencies:",
        "  - task-2",
        "- c",
        "x: [",
        "---",
    ]
)
_body = st.sampled_from(
    [
        "## A",
        "<!-- AC:BEGIN -->",
        "<!-- AC:END -->",
        "<!-- COMMENTS:BEGIN -->",
        "<!-- COMMENTS:END -->",
        "author: a",
        "---",
        "```",
        "text",
    ]
)


@settings(max_examples=scaled(100, 5000), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(_head | st.text(max_size=8), max_size=8), st.lists(_body | st.text(max_size=8), max_size=12))
def test_any_task_file_ends_in_an_item_or_a_bad_line(folder: BacklogFolder, head: list[str], body: list[str]) -> None:
    text = "\n".join(("---", *head, "---", *body))
    path = folder.folder / "tasks/task-1 - A.md"
    path.write_text(text, encoding="utf-8", errors="replace", newline="\n")

    plan = read(folder, skip_bad=True)

    assert len(plan.items) + len(plan.skipped) == 1
    assert all(1 <= (bad.line or 1) <= text.count("\n") + 1 for bad in plan.skipped)
