"""A folder that is written for Backlog.md says again what was read from one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundplan.exchange import backlog as reader
from groundplan.exchange import write_backlog as writer
from groundplan.exchange.items import SourcePlan
from groundplan.work.importing.export import ExportedItem, ExportedLink
from groundplan.work.importing.items import Fate, SourceEvidence, SourceItem, SourceSection
from tests.exchange.backlog_folder import BacklogFolder
from tests.exchange.exported import to_exported
from tests.exchange.readers.test_backlog import TASK
from tests.proof import scaled


def read(folder: Path) -> SourcePlan:
    return reader.read_backlog(folder, skip_bad=False)


def write(items: list[ExportedItem], folder: Path) -> dict[str, str]:
    files = writer.write_backlog(items).files
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")
    return files


def contents(plan: SourcePlan) -> dict[str, Any]:
    """Return all items without where they stand."""
    return {item.source_id: msgspec.structs.replace(item, file="", line=None) for item in plan.items}


def test_a_folder_comes_back_as_it_was(tmp_path: Path) -> None:
    folder = BacklogFolder(tmp_path / "a")
    folder.write("tasks/task-7 - A.md", TASK.replace("plan: {deep: x}\n", ""))
    folder.write("milestones/m-1 - Spring.md", "---\nid: m-1\ntitle: Spring\n---\n")
    folder.task("TASK-008", dependencies=["task-7", "task-99"], parent_task_id="task-7", title="'a: b'")
    folder.task("task-9", status="Review", labels=["x", "'y z'"], body="Text above.\n\n## Own\n\nKept.\n")
    folder.task("task-10", status="Done", priority="low", body="## Final Summary\n\nShipped.\n")
    folder.task("task-11", status="Parked", priority="critical")
    folder.task("task-12", status="In Progress", dependencies=["task-9"])
    folder.task("draft-1", place="drafts", status="Draft")
    folder.task("task-13", place="drafts", status="To Do")
    folder.task("task-14", place="completed", status="To Do")
    folder.task("task-15", place="archive/tasks", status="In Progress")
    folder.task("task-15", place="archive/tasks", status="To Do", name="task-15 - Other.md")
    before = read(folder.folder)

    files = write(to_exported(before), tmp_path / "b")

    assert contents(read(tmp_path / "b")) == contents(before)
    assert {path.partition("task-")[0] for path in files if "task-1" in path} == {
        "tasks/",
        "completed/",
        "drafts/",
        "archive/tasks/",
    }
    text = files["tasks/task-7 - Round-prices-once-and-never-twice.md"]
    assert "<!-- SECTION:DESCRIPTION:BEGIN -->\nPrices.\n" in text
    assert "<!-- AC:BEGIN -->\n- [x] #1 Once\n" in text


def test_items_of_others_get_the_next_ids_and_their_fates_have_words(tmp_path: Path) -> None:
    at: dict[str, Any] = {"created_at": "2026-01-01T00:00:00.000Z", "updated_at": "2026-01-01T00:00:00.000Z"}
    items = [
        ExportedItem(
            id="a",
            title="Old",
            fate="done",
            sources={"backlog": "task-4"},
            properties={"source": "backlog", "source_status": "To Do"},
            **at,
        ),
        ExportedItem(id="b", title="Ours: new", fate="open", depends_on=["a"], parent="c", **at),
        ExportedItem(id="c", title="Begun", fate="open", is_claimed=True, priority=9, **at),
        ExportedItem(id="d", title="Waits", fate="held", hold_reason="the weather", sources={"beads": "bd-1"}, **at),
        ExportedItem(
            id="e", title="Gone", fate="dropped", evidence=[SourceEvidence("dropped", "nobody needs it")], **at
        ),
        ExportedItem(id="f", title="Said", fate="done", evidence=[SourceEvidence("note", "in 9f2ab1")], **at),
        ExportedItem(
            id="g",
            title="Note: this",
            fate="open",
            evidence=[SourceEvidence("comment", "Note: no author")],
            links=[ExportedLink("relates_to", "a")],
            properties={"size": 3},
            **at,
        ),
    ]

    texts = write(items, tmp_path).values()
    found = contents(read(tmp_path))

    assert [(note.source_id, note.what) for note in writer.write_backlog(items).lost] == [
        ("task-7", "hold"),
        ("task-10", "links"),
        ("task-10", "size"),
    ]
    words = dict(pair for text in texts for pair in re.findall(r"^id: (.*)$(?s:.*?)^status: (.*)$", text, re.MULTILINE))
    assert {name: (item.fate, words[name].strip('"')) for name, item in found.items()} == {
        "task-4": ("done", "To Do"),
        "task-5": ("open", "To Do"),
        "task-6": ("open", "In Progress"),
        "task-7": ("held", "On Hold"),
        "task-8": ("dropped", "Won't Do"),
        "task-9": ("done", "Done"),
        "task-10": ("open", "To Do"),
    }
    assert (found["task-5"].depends_on, found["task-5"].parent, found["task-6"].priority) == (["task-4"], "task-6", 4)
    assert found["task-8"].evidence == [SourceEvidence("dropped", "nobody needs it")]
    assert found["task-9"].evidence == [SourceEvidence("note", "in 9f2ab1")]
    assert found["task-10"].evidence == [SourceEvidence("comment", "Note: no author")]


_texts = st.text(st.characters(exclude_categories=("Cc", "Cs")), min_size=1, max_size=12).map(str.strip).filter(bool)
_lines = st.lists(_texts.filter(lambda text: text[0].isalnum()), min_size=1, max_size=3).map("\n".join)


@st.composite
def plans(draw: st.DrawFn) -> SourcePlan:
    plan = SourcePlan("backlog")
    for number in range(draw(st.integers(1, 6))):
        fates: tuple[Fate, ...] = ("open", "done", "dropped", "held")
        fate = draw(st.sampled_from(fates))
        titles = draw(st.sets(st.sampled_from(("Description", "Own"))))
        earlier = [one.source_id for one in plan.items]
        item = SourceItem(
            source_id=f"task-{number + 1}",
            title=draw(_texts),
            fate=fate,
            hold_reason="draft" if fate == "held" else None,
            priority=draw(st.sampled_from((None, 1.0, 2.0, 3.0, 4.0))),
            parent=draw(st.sampled_from([None, *(one.source_id for one in plan.items)])),
            depends_on=draw(st.lists(st.sampled_from(earlier), max_size=2, unique=True)) if earlier else [],
            tags=draw(st.lists(_texts, max_size=3, unique=True)),
            context_links=draw(st.lists(_texts, max_size=3, unique=True)),
            sections=[SourceSection(title, draw(_lines)) for title in sorted(titles)],
        )
        plan.items.append(item)
    return plan


@settings(
    max_examples=scaled(40, 2000),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(plans())
def test_every_plan_comes_back_with_its_tree_dependencies_and_texts(
    tmp_path_factory: pytest.TempPathFactory, plan: SourcePlan
) -> None:
    folder = tmp_path_factory.mktemp("backlog")
    before = contents(plan)
    # A dependency on a draft holds a task in the tool; one on what was dropped is not written.
    active = {name for name, item in before.items() if item.fate in ("open", "done")}

    write(to_exported(plan), folder)
    after = contents(read(folder))

    assert after.keys() == before.keys()
    for name, item in after.items():
        was = before[name]
        assert (item.title, item.parent, item.priority, item.tags) == (was.title, was.parent, was.priority, was.tags)
        assert item.context_links == was.context_links
        assert item.sections == was.sections
        assert item.depends_on == [one for one in was.depends_on if one in active]
        is_held = was.fate == "open" and any(before[one].fate == "held" for one in was.depends_on)
        assert item.fate == ("held" if is_held else was.fate)
