"""`purpose render` on the command line: the picture of a version on standard output or in a file."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import groundplan
from tests.surfaces.cli.conftest import Run, RunResult

TITLE = "A \u202ewell"
SMALL = [
    {"op": "add_node", "ref": "dig", "node_type": "ACTIVITY", "title": "Dig a well"},
    {"op": "add_node", "ref": "well", "node_type": "OUTPUT", "title": TITLE},
    {"op": "add_node", "ref": "drink", "node_type": "OUTCOME", "title": "People drink"},
    {"op": "add_node", "ref": "health", "node_type": "GOAL", "title": "Health"},
    {"op": "add_edge", "source": "dig", "target": "well"},
    {"op": "add_edge", "source": "well", "target": "drink"},
    {"op": "add_edge", "source": "drink", "target": "health"},
]


class RenderCommands:
    """Project atlas with a small theory, and commands that draw it."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def __call__(self, *words: str) -> RunResult:
        return self.run("purpose", "render", "--project", "atlas", *words)

    def answer(self, *words: str) -> Any:
        return self(*words, "--json").answer


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with the theory."""
    db = tmp_path_factory.mktemp("plan") / "groundplan.db"
    with groundplan.open(str(db), actor="ada") as session:
        session.call("project.create", name="atlas")
        session.call("work.open", project="atlas", policies={"profile_min": "light"})
        session.call("purpose.draft", project="atlas", profile="light")
        session.call("purpose.edit", project="atlas", operations=SMALL)
    return db


@pytest.fixture
def pictures(run: Run, plan: Path) -> RenderCommands:
    shutil.copy(plan, ".")
    return RenderCommands(run)


def test_a_picture_is_the_same_on_standard_output_in_a_file_and_in_json(pictures: RenderCommands) -> None:
    printed = pictures().out
    told = pictures.answer()
    wrote = pictures.answer("--svg", "whole.svg")

    raw = Path("whole.svg").read_bytes()
    assert printed == told["svg"] == raw.decode()
    assert f'width="{told["width"]}" height="{told["height"]}"' in printed
    assert told.keys() == {"version", "svg", "width", "height"}
    size = {"width": told["width"], "height": told["height"], "bytes": len(raw)}
    assert wrote == {"file": "whole.svg", "version": 1, **size}
    line = f"Wrote again.svg: v1, {told['width']} x {told['height']}, {len(raw)} bytes.\n"
    assert pictures("--svg", "again.svg").out == line


def test_a_terminal_is_shown_what_is_not_printable(pictures: RenderCommands, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\u202e" in pictures().out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)

    shown = pictures().out

    assert "\u202e" not in shown
    assert "\\u202e" in shown


def test_what_is_asked_for_is_drawn(pictures: RenderCommands) -> None:
    with groundplan.open("groundplan.db", actor="ada") as session:
        session.call("purpose.publish", project="atlas")
        session.call("purpose.draft", project="atlas")
        renamed = {"op": "update_node", "node": "G1", "title": "Healthy people"}
        session.call("purpose.edit", project="atlas", operations=[renamed])

    drawn = {
        words: pictures(*words).out
        for words in (
            (),
            ("--draft",),
            ("--pathway", "OP1"),
            ("--draft", "--compare", "1"),
            ("--theme", "dark"),
            ("--theme", "auto"),
        )
    }

    assert len(set(drawn.values())) == len(drawn)
    assert pictures("--version", "1").out == pictures("--version", "published").out == drawn[()]
    assert pictures("--version", "draft", "--compare", "published").out == drawn["--draft", "--compare", "1"]
    assert pictures("--theme", "light").out == drawn[()]
    assert ("Healthy people" in drawn[()], "Healthy people" in drawn["--draft",]) == (False, True)
    assert pictures("--draft", "--version", "1", "--json").error == (2, "usage")


def test_groups_and_views_are_drawn_and_named(pictures: RenderCommands) -> None:
    with groundplan.open("groundplan.db", actor="ada") as session:
        viewed = {"op": "update_node", "node": "G1", "metadata": {"views": ["Fishing"]}}
        session.call("purpose.edit", project="atlas", operations=[viewed])

    shown = pictures("--overview", "--svg", "overview.svg").out
    assert "An overview of groups: " in shown
    group = pictures("--overview", "--json").answer["groups"][0]["group"]
    assert f"{group} (" in shown
    assert 'data-group="' in Path("overview.svg").read_text(encoding="utf-8")
    assert pictures("--all").out == pictures().out
    assert "data-key" in pictures("--group", group).out
    only = pictures("--view", "Fishing").out
    assert 'data-key="G1"' in only
    assert 'data-key="OP1"' not in only
    for words, refused in (
        (("--group", "no"), (3, "not_found")),
        (("--view", "no"), (3, "not_found")),
        (("--all", "--overview"), (2, "usage")),
        (("--all", "--pathway", "G1"), (2, "invalid_argument")),
        (("--group", group, "--pathway", "G1"), (2, "invalid_argument")),
        (("--view", "Fishing", "--compare", "1"), (2, "invalid_argument")),
    ):
        assert pictures(*words, "--json").error == refused


def test_a_file_that_is_there_is_drawn_over_only_by_force(pictures: RenderCommands) -> None:
    Path("mine.svg").write_text("mine", encoding="utf-8")

    assert pictures("--svg", "mine.svg", "--json").error == (2, "usage")
    assert Path("mine.svg").read_text(encoding="utf-8") == "mine"
    assert pictures("--svg", "mine.svg", "--force").code == 0
    assert Path("mine.svg").read_text(encoding="utf-8") == pictures().out


def test_what_cannot_be_drawn_is_refused_and_leaves_no_file(pictures: RenderCommands, run: Run) -> None:
    refused = [
        pictures(*words, "--svg", "none.svg", "--json").error
        for words in (
            ("--pathway", "G9"),
            ("--version", "9"),
            ("--compare", "published"),
            ("--pathway", "G1", "--compare", "1"),
            ("--theme", "pink"),
        )
    ]

    assert refused == [
        (3, "not_found"),
        (3, "not_found"),
        (3, "not_found"),
        (2, "invalid_argument"),
        (2, "usage"),
    ]
    missing = ("purpose", "render", "--project", "atlas", "--svg", "none.svg", "--db", "no.db", "--json")
    assert run(*missing).error == (7, "store_missing")
    assert not Path("none.svg").exists()
    assert not Path("no.db").exists()
