"""Projects, features and tasks on the command line: the output for people and for scripts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import groundplan
from groundplan.catalog import OPERATIONS
from groundplan.commands import list_commands_of
from groundplan.kernel.operations.registry import Group
from groundplan.surfaces.cli.renderers import find_view
from groundplan.surfaces.mcp.tools import RegistryTools
from tests.surfaces.cli.conftest import Run

# Stored text that a drawing must survive.
ODD = "[bold red]:smile: \u202egnp.exe"
TAG = "gnp [red] \u202e"

RENDERERS = {name: view for name in OPERATIONS.names if (view := find_view(name)) is not None}


@pytest.fixture
def ids(run: Run) -> dict[str, str]:
    """The ids of atlas: a feature with two tasks."""
    run("project", "create", "atlas", "--goal", "A map that every walker trusts")
    found = {"coast": create(run, "feature", "create", "The coast", "--project", "atlas", "--tag", "coast")}
    for name, title in {"walk": "Walk it", "draw": "Draw it"}.items():
        found[name] = create(run, "task", "create", title, "--feature", found["coast"])
    return found


def create(run: Run, *words: str) -> str:
    data = run(*words, "--json").answer["data"]
    return str((data.get("task") or data.get("feature") or data.get("template") or data)["id"])


def parse_pairs(out: str) -> dict[str, str]:
    """Return the names and values that are printed side by side."""
    pairs = (line.split("  ", 1) for line in out.splitlines() if "  " in line.strip())
    return {name.strip(): value.strip() for name, value in pairs}


def test_a_task_is_shown_with_all_that_it_says(run: Run, ids: dict[str, str]) -> None:
    words = ("--complexity", "3", "--priority", "high", "--description", "By ship\nand on foot", "--version", "1")
    run("task", "update", ids["walk"], *words)
    run("section", "add", "Tides", "--type", "TASK", "--container", ids["walk"], "--content", "Low at nine")

    shown = run("task", "show", ids["walk"], "--sections").out

    assert shown.startswith("Walk it\n")
    told = parse_pairs(shown)
    assert (told["priority"], told["complexity"], told["feature"]) == ("HIGH", "3", ids["coast"])
    assert "\n\nBy ship\nand on foot\n" in shown
    assert "\nTides\n" in shown
    assert "\n  Low at nine\n" in shown


def test_the_next_task_comes_with_the_command_that_takes_it(run: Run, ids: dict[str, str]) -> None:
    *_, last = run("task", "next", "--project", "atlas").out.splitlines()

    assert last == f"Next: groundplan task advance {ids['walk']} --version 1"
    assert "NEW -> ACTIVE (2/4), version 2" in run(*last.split()[2:]).out


def test_where_there_is_no_next_one_a_sentence_says_so(run: Run) -> None:
    run("project", "create", "atlas")

    assert run("task", "next").out.startswith("No task is ready to start.")
    assert run("feature", "next").out.startswith("No feature is ready to start.")
    assert run("task", "next", "--json").answer == {"success": True, "data": None}
    assert run("task", "blocked").out == "Nothing is blocked.\n"
    assert run("task", "search", "nowhere").out == "Nothing found.\n"


def test_a_step_tells_what_came_of_it_for_others(run: Run, ids: dict[str, str]) -> None:
    run("dependency", "create", ids["walk"], ids["draw"])

    begun = run("task", "advance", ids["walk"], "--version", "1").out
    run("task", "advance", ids["walk"], "--version", "2")
    done = run("task", "advance", ids["walk"], "--version", "3").out

    assert f"Feature {ids['coast']}: NEW -> ACTIVE" in begun
    assert "TO_BE_TESTED -> CLOSED (4/4), version 4" in done
    assert f"Unblocked:\n  {ids['draw']}  Draw it (task)\n" in done
    assert "Task completed. Consider updating the knowledge graph.\n  Update atom knowledge" in done
    given_up = run("task", "terminate", ids["draw"], "--version", "2", "--reason", "Enough").out
    assert "NEW -> WILL_NOT_IMPLEMENT, version 3" in given_up
    assert f"Feature {ids['coast']}: ACTIVE -> CLOSED" in given_up


def test_a_step_over_the_claim_of_somebody_else_is_printed_with_a_warning(run: Run, ids: dict[str, str]) -> None:
    run("--person", "ben", "task", "advance", ids["walk"], "--version", "1")

    shown = run("task", "terminate", ids["walk"], "--version", "2").out

    assert f"\nWarnings:\n  {ids['walk']}: resolved while 'ben' holds its claim\n" in shown


@pytest.mark.parametrize(
    "blockers", [("--blocked-by", "{walk},NO_OP"), ("--blocked-by", "{walk}", "--blocked-by", "NO_OP")]
)
def test_blockers_are_given_one_by_one_or_with_commas_between_them(
    run: Run, ids: dict[str, str], blockers: tuple[str, ...]
) -> None:
    words = [word.format(**ids) for word in blockers]
    blocked = run("task", "block", ids["draw"], "--version", "1", *words, "--reason", "Storm", "--json").answer["data"]

    assert blocked["addedBlockers"] == [ids["walk"], "NO_OP"]
    assert f"{ids['walk']}, NO_OP (a hold): Storm" in run("task", "blocked", "--project", "atlas").out
    assert (
        "blockers in total: 2" in run("task", "block", ids["draw"], "--version", "2", *words, "--reason", "Storm").out
    )
    one = run("task", "unblock", ids["draw"], "--version", "2", "--blocked-by", "NO_OP").out
    assert f"still blocked by {ids['walk']}" in one
    assert "unblocked" in run("task", "unblock", ids["draw"], "--version", "3", "--blocked-by", ids["walk"]).out


def test_an_overview_counts_and_lists(run: Run, ids: dict[str, str]) -> None:
    run("task", "advance", ids["walk"], "--version", "1")

    project = run("project", "overview", "atlas").out
    feature = run("feature", "overview", ids["coast"]).out
    everything = run("task", "overview", "--project", "atlas", "--limit", "1").out

    assert "Tasks: 2 (1 NEW, 1 ACTIVE)." in project
    assert [line.split()[0] for line in project.splitlines() if "2 (1 NEW, 1 ACTIVE)" in line] == [
        "Tasks:",
        ids["coast"],
    ]
    assert [line.split()[0] for line in feature.splitlines()[-2:]] == [ids["walk"], ids["draw"]]
    assert everything.splitlines()[0].split()[:4] == ["id", "title", "status", "priority"]
    assert everything.endswith("1 of 2. Next page: add --offset 1\n")


def test_the_words_say_what_it_is_so_that_another_thing_is_not_found(run: Run, ids: dict[str, str]) -> None:
    assert run("feature", "show", ids["walk"], "--json").error == (3, "not_found")
    assert run("task", "show", ids["coast"], "--json").error == (3, "not_found")
    assert run("task", "update", ids["walk"], "--pipeline", "[]", "--version", "1", "--json").error == (2, "usage")


def test_a_project_is_told_its_steps_as_json(run: Run, ids: dict[str, str]) -> None:
    Path("steps.json").write_text('{"task": ["NEW", "ACTIVE", "CLOSED"]}')

    changed = run("project", "update", "atlas", "--version", "1", "--pipeline", "@steps.json").out

    assert parse_pairs(changed)["task pipeline"] == "NEW > ACTIVE > CLOSED"
    assert "ACTIVE (2/3)" in run("task", "advance", ids["walk"], "--version", "1").out


def test_json_is_exactly_the_answer_of_the_tool(run: Run, ids: dict[str, str]) -> None:
    section = create(run, "section", "add", "Tides", "--type", "TASK", "--container", ids["walk"], "--tag", "a,b")
    task, feature = {"containerType": "task", "id": ids["walk"]}, {"containerType": "feature", "id": ids["coast"]}
    of_task = {"entityType": "TASK", "entityId": ids["walk"]}
    calls: list[tuple[str, dict[str, Any], str]] = [
        ("query_container", {"operation": "get", **task, "includeSections": True}, "task show {walk} --sections"),
        ("query_container", {"operation": "get", **feature}, "feature show {coast}"),
        ("query_container", {"operation": "get", "containerType": "project", "id": "atlas"}, "project show atlas"),
        ("query_container", {"operation": "search", "containerType": "task", "query": "walk"}, "task search walk"),
        ("query_container", {"operation": "overview", **feature}, "feature overview {coast}"),
        ("get_next_task", {"projectId": "atlas", "priority": "LOW"}, "task next --project atlas --priority LOW"),
        ("get_blocked_features", {}, "feature blocked"),
        ("query_workflow_state", task, "task state {walk}"),
        ("query_dependencies", {**task, "direction": "both"}, "task dependencies {walk} --direction both"),
        (
            "query_sections",
            {**of_task, "sectionIds": section},
            f"section list {{walk}} --type TASK --section {section}",
        ),
        ("query_templates", {"operation": "list", "isEnabled": True}, "template list --enabled"),
        ("get_tag_usage", {"tag": "coast"}, "tag usage coast"),
        ("rename_tag", {"oldTag": "coast", "newTag": "shore", "dryRun": True}, "tag rename coast shore --dry-run"),
    ]
    with groundplan.open("groundplan.db", actor="ada") as session:
        tools = RegistryTools(OPERATIONS, frozenset(Group), session.execute)
        answers = [tools.call(tool, arguments).text for tool, arguments, _ in calls]

    assert [run(*line.format(**ids).split(), "--json").out.rstrip("\n") for *_, line in calls] == answers
    assert all(answer.startswith('{"success":true,"data":') for answer in answers)


def test_every_answer_about_containers_can_be_drawn_whatever_was_stored(run: Run) -> None:
    drawn = []

    def draw(*words: str) -> None:
        ended = run(*words)
        assert (ended.code, ended.err) == (0, ""), ended.err
        drawn.append(ended.out)

    run("project", "create", "atlas", "--goal", ODD)
    feature = create(run, "feature", "create", ODD, "--project", "atlas", "--tag", TAG, "--description", f"{ODD}\nmore")
    draw("feature", "create", ODD, "--project", "atlas", "--summary", ODD)
    task = create(run, "task", "create", ODD, "--feature", feature)
    other = create(run, "task", "create", ODD, "--project", "atlas", "--related-to", task)
    draw("task", "create", ODD, "--feature", feature, "--tag", TAG)
    draw(
        "task", "update", task, "--version", "1", "--description", ODD, "--complexity", "1", "--tag", "a", "--tag", "b"
    )
    draw("project", "update", "atlas", "--version", "1", "--summary", ODD, "--tag", TAG)
    draw("section", "add", "Context Files", "--type", "TASK", "--container", task, "--content", f"- a/b.md\n- {ODD}")
    section = create(run, "section", "add", ODD, "--type", "TASK", "--container", task, "--usage", ODD)
    draw("section", "update", section, "--version", "1", "--title", f"{ODD} 2", "--tag", TAG)
    draw("section", "update-text", section, "--version", "2", "--content", ODD)
    draw("section", "list", task, "--type", "TASK")
    draw("section", "list", other, "--type", "TASK")
    draw("task", "show", task, "--graph-context")
    draw("task", "show", other, "--graph-context")
    draw("feature", "show", feature)
    draw("project", "show", "atlas")
    draw("project", "overview")
    draw("project", "overview", "atlas")
    draw("feature", "overview")
    draw("feature", "overview", feature)
    draw("task", "overview", task)
    draw("task", "search", "--tag", "a,b")
    draw("task", "search", "--offset", "9")
    draw("feature", "search", "gnp")
    draw("dependency", "create", task, other)
    draw("dependency", "create", feature, other)
    draw("feature", "block", feature, "--version", "1", "--blocked-by", "NO_OP", "--reason", ODD)
    draw("task", "blocked")
    draw("feature", "blocked")
    draw("task", "state", task)
    draw("task", "state", other)
    draw("task", "dependencies", other)
    draw("task", "dependencies", task)
    draw("feature", "dependencies", feature, "--direction", "dependencies")
    draw("dependency", "delete", feature, other)
    draw("feature", "unblock", feature, "--version", "2", "--blocked-by", "NO_OP")
    draw("task", "next")
    draw("feature", "next")
    for version in ("2", "3", "4"):
        draw("task", "advance", task, "--version", version)
    draw("task", "revert", task, "--version", "5")
    draw("feature", "terminate", feature, "--version", "4", "--reason", ODD)
    template = create(run, "template", "create", ODD, "--target", "TASK", "--tag", TAG)
    draw("template", "get", template, "--sections")
    draw("template", "update", template, "--description", ODD)
    draw("template", "add-section", template, ODD, "--content", ODD, "--usage", ODD, "--tag", TAG, "--required")
    draw("template", "get", template, "--sections")
    draw("template", "list")
    draw("template", "list", "--target", "PROJECT")
    draw("template", "apply", template, other, "--type", "TASK")
    draw("template", "disable", template)
    draw("template", "enable", template)
    draw("template", "delete", template)
    draw("tag", "list")
    draw("tag", "usage", TAG)
    draw("tag", "rename", TAG, "shore", "--dry-run")
    draw("tag", "rename", TAG, "shore")
    sections = run("section", "list", task, "--type", "TASK", "--json").answer["data"]["sections"]
    draw("section", "reorder", *(one["id"] for one in reversed(sections)), "--type", "TASK", "--container", task)
    draw("section", "delete", section, "--version", "5")
    draw("feature", "delete", feature, "--version", "6", "--cascade")
    draw("tag", "list", "--type", "SECTION")

    assert not any("\x1b" in text or "\u202e" in text for text in drawn)
    assert not any("UNSET" in text for text in drawn)


def test_every_operation_about_containers_has_a_drawing() -> None:
    containers = {
        operation.name
        for operation in OPERATIONS
        if operation.tool and operation.tool.group is Group.CONTAINERS and list_commands_of(operation.name)
    }
    assert containers <= RENDERERS.keys() <= {operation.name for operation in OPERATIONS}
