"""Checklists, task lists of spec-kit, issues of GitHub and memories in a store: what is ready, and a second run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from groundplan.exchange.checklists import write_markdown
from groundplan.exchange.import_source import TargetTool, write_items
from tests.engines import Engine
from tests.exchange.beads_files import issue
from tests.exchange.imports import Switch
from tests.exchange.taskmaster_files import subtask, task, write_tasks

GIVEN_UP = {"state": "CLOSED", "stateReason": "NOT_PLANNED"}

CHECKLIST = """\
# Harbour
- [x] Ask the master
- [ ] 1 Buy ink
- [ ] 1.1 blue
- [x] 1.2 red
- [-] Rent a crane
## Later
- [~] Paint
## Over
- [x] Rest
"""


def fates(switch: Switch) -> dict[str, str]:
    return {item.title: item.fate for item in switch.export()}


def test_boxes_are_offered_headings_are_not_and_finish_with_their_last_box(engine: Engine, tmp_path: Path) -> None:
    switch = Switch(engine, "markdown")
    path = tmp_path / "PLAN.md"
    path.write_text(CHECKLIST)

    first = switch.run(path)

    assert first["counts"]["created"] == 10
    assert {node.summary for node in switch.query(is_actionable=True)} == {"1.1 blue", "Paint"}
    assert (
        fates(switch)
        == {
            "Harbour": "open",
            "Ask the master": "done",
            "1 Buy ink": "open",
            "1.1 blue": "open",
            "1.2 red": "done",
            "Rent a crane": "dropped",
            "Later": "open",
            "Paint": "open",
            "Over": "done",
            "Rest": "done",
        }
        | {}
    )
    path.write_text(CHECKLIST.replace("[~] Paint", "[x] Paint"))
    second = switch.run(path)
    assert (second["counts"]["created"], second["conflicts"]) == (0, [])
    assert (fates(switch)["Paint"], fates(switch)["Later"]) == ("done", "done")
    assert switch.run(path)["counts"]["updated"] == 0


def test_an_exported_checklist_imports_without_a_change(engine: Engine, tmp_path: Path) -> None:
    switch = Switch(engine, "markdown")
    path = tmp_path / "PLAN.md"
    path.write_text(CHECKLIST)
    switch.run(path)

    path.write_text(write_markdown(switch.export()).files[""])

    again = switch.run(path)
    assert (again["counts"]["created"], again["counts"]["updated"], again["conflicts"]) == (0, 0, [])


def test_an_open_box_below_a_ticked_one_moves_up_and_is_named(engine: Engine, tmp_path: Path) -> None:
    switch = Switch(engine, "markdown")
    path = tmp_path / "PLAN.md"
    path.write_text("- [x] Done\n  - [ ] Forgotten\n")

    report = switch.run(path)

    assert {node.summary for node in switch.query(is_actionable=True)} == {"Forgotten"}
    assert [note["what"] for note in report["placed"]] == ["parent"]
    assert "- [x] Done\n  - [ ] Forgotten\n" in write_markdown(switch.export()).files[""]


def test_a_task_of_spec_kit_is_found_by_its_id(engine: Engine, tmp_path: Path) -> None:
    switch = Switch(engine, "speckit")
    path = tmp_path / "specs" / "001-cart" / "tasks.md"
    path.parent.mkdir(parents=True)
    path.write_text("## Phase 1: Setup\n- [x] T001 Folders\n- [ ] T002 [P] Prices in src/prices.py\n")

    switch.run(tmp_path / "specs")

    node = switch.node("T002").node
    assert (node.summary, node.context_links) == ("Prices in src/prices.py", ["src/prices.py"])
    assert {one.summary for one in switch.query(is_actionable=True)} == {"Prices in src/prices.py"}


def test_an_issue_of_github_is_found_by_its_number(engine: Engine, tmp_path: Path) -> None:
    switch = Switch(engine, "github")
    issues: list[dict[str, Any]] = [
        {"number": 1, "title": "Open", "state": "OPEN", "labels": [{"name": "bug"}]},
        {"number": 2, "title": "Not planned", "state": "CLOSED", "stateReason": "NOT_PLANNED"},
        {"number": 3, "title": "Pull", "pull_request": {}},
        {"number": 4, "title": "Pull", "pull_request": {"url": "x"}},
    ]
    path = tmp_path / "issues.json"
    path.write_text(json.dumps(issues), encoding="utf-16")

    report = switch.run(path)

    assert switch.ready() == {"#1"}
    assert report["left_out"] == {"pull requests": 2}
    assert fates(switch) == {"Open": "open", "Not planned": "dropped"}
    assert switch.node("#2").node.summary == "Not planned"
    assert switch.run(path)["counts"]["updated"] == 0


@pytest.mark.parametrize("is_again", [False, True])
def test_entities_are_molecules_and_relations_lead_to_them(engine: Engine, tmp_path: Path, is_again: bool) -> None:
    switch = Switch(engine, "memory")
    path = tmp_path / "memory.jsonl"
    entries = [
        {"type": "entity", "name": "Cart", "entityType": "module", "observations": ["Never rounds twice."]},
        {"type": "entity", "name": "Shop", "entityType": "product", "observations": []},
        {"type": "relation", "from": "Cart", "to": "Shop", "relationType": "part of"},
    ]
    path.write_text("\n".join(json.dumps(entry) for entry in entries))

    for _ in range(1 + is_again):
        switch.run(path)

    found = switch.session.call("knowledge.search", entityType="molecule", projectId=switch.project).items
    molecules = {one.name: one for one in found}
    assert {name: one.knowledge for name, one in molecules.items()} == {
        "Cart": "Type: module\n\n- Never rounds twice.",
        "Shop": "Type: product",
    }
    assert [(one.molecule_id, one.reason) for one in molecules["Cart"].related_molecules] == [
        (molecules["Shop"].id, "part of")
    ]


@pytest.mark.parametrize(
    ("tool", "name", "content"),
    [
        ("beads", "issues.jsonl", json.dumps(issue("given-up", "cancelled"))),
        ("taskmaster", "tasks.json", json.dumps({"tasks": [task(1, "cancelled", title="Issue given-up")]})),
        ("github", "issues.json", json.dumps([{"number": 1, "title": "Issue given-up", **GIVEN_UP}])),
        ("markdown", "plan.md", "- [-] Issue given-up\n"),
    ],
)
def test_what_was_given_up_is_dropped_and_has_evidence_that_says_so(
    engine: Engine, tmp_path: Path, tool: str, name: str, content: str
) -> None:
    switch = Switch(engine, tool)
    (tmp_path / name).write_text(content, encoding="utf-8")

    switch.run(tmp_path / name)

    (item,) = switch.export()
    assert (item.fate, [one.type for one in item.evidence]) == ("dropped", ["dropped"])
    assert [node.summary for node in switch.query(outcome="dropped")] == ["Issue given-up"]
    assert switch.session.call("work.open", project=switch.project).summary.dropped == 1
    if tool in ("beads", "taskmaster"):
        (written,) = write_items(TargetTool(tool), [item]).files.values()
        assert "status cancelled" not in written


def test_an_open_subtask_of_a_task_that_was_given_up_is_dropped_with_evidence(engine: Engine, tmp_path: Path) -> None:
    switch = Switch(engine, "taskmaster")
    switch.run(write_tasks(tmp_path, {"tasks": [task(1, "cancelled", subtasks=[subtask(1), subtask(2, "done")])]}))

    parts = {item.title: (item.fate, [one.text for one in item.evidence]) for item in switch.export()}
    assert parts["Part 1"] == ("dropped", ["status pending, in a task that was given up"])
    assert parts["Part 2"] == ("done", [])
