"""Facts on the command line: setting one input, printing a run, exporting and importing documents."""

from __future__ import annotations

import io
import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import groundplan
from groundplan.surfaces.cli.context.answers import TEXT_CHARS_MAX
from tests.surfaces.cli.conftest import Run, RunResult

SOURCE = "0f8fad5b-d9cb-469f-a165-70867728950e"
# Stored text that a drawing must survive.
ODD_TEXT = "[bold red]:smile: \u202egnp.exe\nsecond line"


class FactCommands:
    """A draft of project atlas, and commands that fill and print it."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.draft: str = run("context", "draft", "--project", "atlas", "--json").answer["run"]["id"]

    def set(self, *words: str) -> RunResult:
        return self.run("context", "set", self.draft, *words)

    def edit(self, **parts: Any) -> Any:
        options = [word for part, rows in parts.items() for word in (f"--{part}", json.dumps(rows))]
        return self.run("context", "edit", self.draft, *options, "--json").answer

    def view(self, *options: str) -> RunResult:
        return self.run("context", "view", "--project", "atlas", "--run", self.draft, *options)

    def input(self, pointer: str) -> Any:
        return self.view("--json").answer["inputsByPointer"][pointer]


@pytest.fixture
def facts(run: Run) -> FactCommands:
    return FactCommands(run)


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Put text on standard input."""
    return lambda text: monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


def test_a_briefing_shows_the_description_and_an_empty_text_as_a_value(facts: FactCommands) -> None:
    facts.edit(inputs=[{"pointer": "/owner", "label": "Owner", "valueKind": "string", "value": ""}])
    facts.run("context", "commit", facts.draft)
    nodes = json.dumps([{"ref": "a", "summary": "Walk", "properties": {"description": "Along the coast.\nTwice."}}])
    task = facts.run("work", "plan", "--project", "atlas", "--nodes", nodes, "--json").answer["created"][0]["id"]

    shown = facts.run("briefing", task).out
    assert 'Owner (/owner): "", user-entered' in shown
    assert "Description:\n  Along the coast.\n  Twice.\n" in shown


# --- One input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "column", "value"),
    [
        (("Hill",), "valueString", "Hill"),
        (("",), "valueString", ""),
        (("5000",), "valueString", "5000"),
        (("5000", "--kind", "number"), "valueNumber", 5000),
        (("--kind", "number", "--", "-5e-1"), "valueNumber", -0.5),
        (("false", "--kind", "boolean"), "valueBoolean", False),
        (("dry", "--option", "dry", "--option", "unknown"), "valueEnum", "dry"),
        (('{"a": [null]}', "--kind", "json"), "valueJson", {"a": [None]}),
        (("--kind", "number", "--required"), None, None),
    ],
)
def test_a_value_is_taken_by_its_kind_and_an_empty_one_is_not_unset(
    facts: FactCommands, words: tuple[str, ...], column: str | None, value: Any
) -> None:
    assert facts.set("/site/a~1b", *words).code == 0

    written = facts.input("/site/a~1b")
    held = {name: written[name] for name in written if name.startswith("value") and name != "valueKind"}
    assert {name: found for name, found in held.items() if found is not None} == ({column: value} if column else {})
    assert written["label"] == "a/b"
    assert written["provenance"] == ("user-entered" if column else "unknown")


def test_an_input_that_is_there_keeps_its_kind_and_whatever_is_not_said(facts: FactCommands) -> None:
    facts.edit(sources=[{"id": SOURCE, "kind": "file", "title": "Survey", "uri": "survey.pdf"}])
    facts.set("/site/size", "7", "--kind", "number", "--label", "Size", "--required", "--domain", "site")

    written = facts.set("/site/size", "8", "--source", SOURCE, "--evidence", "eight", "--provenance", "user-entered")

    after = facts.input("/site/size")
    assert written.code == 0
    assert (after["valueNumber"], after["sourceIds"], after["evidenceSnippet"]) == (8, [SOURCE], "eight")
    assert (after["label"], after["required"], after["domain"]) == ("Size", True, "site")
    assert facts.set("/site/size", "--unset", "--no-required").code == 0
    after = facts.input("/site/size")
    assert (after["valueKind"], after["valueNumber"], after["required"]) == ("number", None, False)


def test_what_cannot_be_a_value_is_refused_and_nothing_is_written(facts: FactCommands) -> None:
    facts.set("/a", "1", "--kind", "number")
    before = facts.view("--json").out

    refused = {
        words: facts.set(*words, "--json").error
        for words in (
            ("/a", "many"),
            ("/a", ""),
            ("/a", "true"),
            ("/a", "1e999"),
            ("/a", "1", "--unset"),
            ("/a",),
            ("/a", "--rationale", "Why not"),
            ("/b", "yes", "--kind", "boolean"),
            ("/b", "null", "--kind", "json"),
            ("/b", "{", "--kind", "json"),
            ("/b", "1", "--kind", "price"),
            ("b", "1"),
        )
    }

    assert set(refused.values()) == {(2, "usage"), (2, "invalid_number"), (2, "invalid_pointer")}
    assert facts.view("--json").out == before
    assert facts.run("context", "set", SOURCE, "/a", "1", "--json").error == (3, "not_found")
    assert facts.run("context", "set", SOURCE, "/a", "1", "--db", "no.db", "--json").error == (7, "store_missing")


def test_a_weaker_value_waits_and_the_command_that_is_shown_lets_it_in(facts: FactCommands) -> None:
    facts.set("/site/size", "5000", "--kind", "number")

    weaker = facts.set("/site/size", "4800", "--provenance", "model-inferred", "--rationale", "From the map")

    assert "written" not in weaker.out
    shown = facts.view().out
    assert "/site/size: 4800 instead of 5000, by ada (model-inferred)" in shown
    assert "reason: From the map" in shown
    commands = {line.strip() for line in (weaker.out + shown).splitlines() if " accept " in line}
    (accept,) = commands
    assert facts.run(*shlex.split(accept.partition("   (")[0])[1:]).out.endswith("is at rev 4.\n")
    assert (facts.input("/site/size")["valueNumber"], "Waiting" in facts.view().out) == (4800, False)


# --- My draft ---------------------------------------------------------------------------------------------------------


def suggest(facts: FactCommands, *pointers: str) -> list[str]:
    """Suggest another value for each of some inputs, and return the ids of the suggestions."""
    facts.edit(inputs=[{"pointer": pointer, "value": 1} for pointer in pointers])
    weaker = [{"pointer": pointer, "value": 2, "provenance": "model-inferred"} for pointer in pointers]
    return [row["id"] for row in facts.edit(inputs=weaker)["suggested"]]


def test_commands_about_a_draft_take_mine_if_they_name_none(facts: FactCommands, run: Run) -> None:
    first, second, third, fourth = suggest(facts, "/a", "/b", "/c", "/d")

    assert run("context", "accept", first, second, "--project", "atlas", "--json").answer["run"]["id"] == facts.draft
    assert run("context", "reject", third, "--project", "atlas").code == 0
    assert run("context", "accept", facts.draft, fourth).code == 0
    values = {pointer: row["valueNumber"] for pointer, row in facts.view("--json").answer["inputsByPointer"].items()}
    assert values == {"/a": 2, "/b": 2, "/c": 1, "/d": 2}
    assert run("context", "commit", "--project", "atlas", "--json").answer["run"]["id"] == facts.draft
    begun = run("context", "draft", "--project", "atlas", "--json").answer["run"]["id"]
    assert run("context", "discard", "--json").answer == {"discarded": begun}


def test_without_a_draft_of_mine_or_with_several_a_command_asks_for_one(facts: FactCommands, run: Run) -> None:
    (suggestion,) = suggest(facts, "/a")
    run("context", "draft", "--project", "atlas")
    commands = (("commit",), ("discard",), ("accept", suggestion))

    assert [run("context", *words, "--project", "atlas", "--json").error for words in commands] == [(2, "usage")] * 3
    for run_id in (facts.draft, run("context", "list", "--project", "atlas", "--json").answer["runs"][0]["id"]):
        run("context", "discard", run_id)
    refused = [run("context", *words, "--project", "atlas", "--json") for words in commands]
    assert [one.error for one in refused] == [(2, "usage")] * 3
    assert "groundplan context list --project atlas" in refused[0].err


def test_errors_of_facts_and_members_have_the_name_of_their_contract(facts: FactCommands, run: Run) -> None:
    def name_of(*words: str) -> str | None:
        name: str | None = json.loads(run(*words, "--json").err)["error"].get("name")
        return name

    assert name_of("op", "context.fetch_run", json.dumps({"runId": SOURCE})) == "PcivRlsDeniedError"
    assert name_of("context", "view", "--project", "nowhere") == "PcivRlsDeniedError"
    assert name_of("context", "view", "--project", "atlas") == "NotFound"
    assert name_of("context", "accept", facts.draft, SOURCE) == "NotFound"
    assert name_of("context", "commit", "r1") == "PcivSchemaMismatchError"
    assert name_of("context", "bootstrap", "atlas") == "Conflict"
    assert name_of("member", "remove", "nobody", "--project", "atlas") == "NotFound"
    assert name_of("member", "list", "--project", "atlas", "--access", "members", "--person", "mallory") == (
        "PcivRlsDeniedError"
    )
    assert name_of("show", "nowhere", "--project", "atlas") is None


def test_a_scope_is_bootstrapped_with_its_first_draft_or_without(run: Run) -> None:
    run("init")
    made = run("context", "bootstrap", "atlas", "--draft", "--json").answer

    assert (made["scopeId"], made["role"]) == ("atlas", "owner")
    assert run("context", "list", "--project", "atlas", "--json").answer["runs"][0]["id"] == made["runId"]
    assert "runId" not in run("context", "bootstrap", "borealis", "--json").answer
    assert run("context", "bootstrap", "atlas", "--json").error == (5, "pciv_scope_already_initialized")


# --- Printing a run --------------------------------------------------------------------------------------------------


def cell(drawn: str, pointer: str) -> str:
    """Return the value that is printed beside a pointer."""
    titles, row = (
        next(line for line in drawn.splitlines() if line.startswith(f"{word} ")) for word in ("pointer", pointer)
    )
    return row[titles.index("value") : titles.index("provenance")].strip()


def test_a_view_tells_apart_what_is_unset_missing_empty_unknown_and_what_only_looks_so(facts: FactCommands) -> None:
    inputs: dict[str, dict[str, Any]] = {
        "/a": {"valueKind": "number"},
        "/b": {"valueKind": "string", "required": True},
        "/c": {"value": ""},
        "/d": {"valueKind": "enum", "value": "unknown", "options": ["unknown", ""]},
        "/e": {"value": "unset"},
        "/f": {"value": "5000"},
        "/g": {"value": 5000},
        "/h": {"value": " a\tb"},
        "/i": {"value": True},
        "/j": {"value": ["a", {}]},
        "/k": {"valueKind": "enum", "options": ["dry", ""]},
        "/l": {"value": "two words"},
    }
    facts.edit(inputs=[{"pointer": pointer, "label": pointer[1:], **one} for pointer, one in inputs.items()])

    drawn = facts.view().out

    assert {pointer: cell(drawn, pointer) for pointer in inputs} == {
        "/a": "unset",
        "/b": "missing",
        "/c": '""',
        "/d": "unknown",
        "/e": '"unset"',
        "/f": '"5000"',
        "/g": "5000",
        "/h": r'" a\tb"',
        "/i": "true",
        "/j": '["a",{}]',
        "/k": 'unset: dry, ""',
        "/l": "two words",
    }
    assert "\nMissing:\n  /b  b\n" in drawn
    assert "required and not set: /b" in drawn.partition("\nWarnings:\n")[2]


def test_every_answer_can_be_drawn_whatever_is_stored_and_what_is_cut_says_so(facts: FactCommands, run: Run) -> None:
    drawn = [run("context", "draft", "--project", "atlas", "--ownership", "shared").out]

    def draw(*words: str) -> str:
        ended = run("context", *words)
        assert ended.code == 0, ended.err
        drawn.append(ended.out)
        return ended.out

    assert "No inputs here. Next: groundplan context set" in facts.view().out
    facts.edit(
        sources=[{"id": SOURCE, "kind": "manual", "title": ODD_TEXT, "uri": "a\nb"}],
        inputs=[
            {"pointer": "/odd\nname", "label": ODD_TEXT, "value": ODD_TEXT, "sourceIds": [SOURCE]},
            {"pointer": "/long", "label": "Long", "value": "x" * (TEXT_CHARS_MAX + 12), "evidenceSnippet": ODD_TEXT},
        ],
        constraints=[{"key": "k\nk", "label": "K", "value": 1, "snippet": ODD_TEXT}],
        artifacts=[{"type": "note", "title": ODD_TEXT, "payload": {"a": ODD_TEXT}}],
    )
    (constraint,) = facts.view("--json").answer["constraints"]
    weaker = {"value": 2, "provenance": "model-inferred", "rationale": ODD_TEXT}
    draw("edit", facts.draft, "--constraints", json.dumps([{"id": constraint["id"], "snippet": ODD_TEXT, **weaker}]))
    draw("edit", facts.draft, "--inputs", json.dumps([{"pointer": "/odd\nname", **weaker, "value": "no"}]))
    whole = facts.view().out
    assert '"[bold red]:smile: \\u202egnp.exe\\nsecond line"' in whole
    assert "/odd\\nname: no instead of" in whole
    assert "x… (12 more characters; see --json)" in whole
    draw("commit", facts.draft)
    begun = run("context", "draft", "--project", "atlas", "--copy-from", "latest", "--ownership", "shared", "--json")
    copy = begun.answer["run"]["id"]
    assert draw("diff", facts.draft, copy) == "No differences.\n"
    assert " accept " in draw("view", "--project", "atlas", "--run", copy)
    assert " accept " not in draw("view", "--project", "atlas")
    draw("set", copy, "/odd\nname", "--unset")
    draw("edit", copy, "--sources", json.dumps([{"kind": "url", "title": "New", "uri": "x"}]))
    assert "cleared" in draw("diff", facts.draft, copy)
    assert "added  New (x)" in draw("diff", facts.draft, copy)
    assert draw("list", "--project", "atlas").count("(shared)") == 2
    draw("export", "--project", "atlas")
    assert draw("discard", copy) == f"Discarded {copy}.\n"
    assert draw("delete", facts.draft) == f"Deleted {facts.draft}.\n"
    run("project", "create", "empty")
    assert "Next: groundplan context draft" in draw("list", "--project", "empty")

    assert not any("\x1b" in text or "\u202e" in text for text in drawn)


def test_on_a_terminal_an_id_stays_whole_and_colours_mark_what_is_not_there(
    facts: FactCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts.set("/a", "--required")
    facts.set("/b", "--kind", "number", "--label", "Some long name that takes the whole line if it only can")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)

    shown = facts.view().out
    listed = facts.run("context", "list", "--project", "atlas").out

    assert "\x1b[33mmissing" in shown
    assert "\x1b[2munset" in shown
    assert facts.draft in listed
    monkeypatch.setenv("NO_COLOR", "1")
    assert max(map(len, facts.view().out.splitlines())) <= 80


# --- Documents --------------------------------------------------------------------------------------------------------


def test_an_export_can_be_taken_in_again_and_says_the_same(
    facts: FactCommands, run: Run, pipe: Callable[[str], None]
) -> None:
    facts.set("/a", "")
    facts.set("/b", "--kind", "number", "--required")
    facts.set("/c", "unknown", "--option", "unknown")
    facts.edit(sources=[{"id": SOURCE, "kind": "file", "title": "\u202eSurvey", "uri": "survey.pdf"}])
    facts.set("/d", "1.5", "--kind", "number", "--source", SOURCE)
    run("context", "commit", facts.draft, "--allow-partial")
    about = ("--project", "atlas")

    printed = run("context", "export", *about)
    document = run("context", "export", *about, "--json").answer
    wrote = run("context", "export", *about, "--out", "facts.json")

    assert (printed.code, json.loads(printed.out)) == (0, document)
    assert "\u202e" not in printed.out
    assert wrote.out == f"Wrote facts.json: 4 inputs, 0 constraints, 1 sources, 0 artifacts of run {facts.draft}.\n"
    assert json.loads(Path("facts.json").read_text(encoding="utf-8")) == document
    taken = run("context", "import", "facts.json", *about, "--ownership", "shared", "--json").answer["run"]
    assert (taken["status"], taken["userId"]) == ("draft", None)
    assert run("context", "diff", facts.draft, taken["id"], "--json").answer == {
        "inputs": [],
        "constraints": [],
        "sources": [],
    }
    pipe(run("context", "view", *about, "--run", taken["id"], "--json").out)
    assert "Next: groundplan context commit" in run("context", "import", "-", *about).out


def test_a_file_that_is_there_is_written_over_only_by_force(facts: FactCommands, run: Run) -> None:
    facts.set("/a", "1")
    out = ("context", "export", "--project", "atlas", "--run", facts.draft, "--out")
    Path("mine.json").write_text("mine", encoding="utf-8")

    assert run(*out, "mine.json", "--json").error == (2, "usage")
    assert Path("mine.json").read_text(encoding="utf-8") == "mine"
    assert run(*out, "no/such/folder.json", "--json").error == (2, "usage")
    assert run(*out, "a\x00b", "--json").error == (2, "usage")
    assert run(*out, ".", "--force", "--json").error == (2, "usage")

    forced = run(*out, "mine.json", "--force", "--json").answer

    assert (forced["file"], forced["run"]["id"], forced["inputs"]) == ("mine.json", facts.draft, 1)
    assert "/a" in Path("mine.json").read_text(encoding="utf-8")


def test_a_document_is_read_strictly_and_taken_in_once(
    facts: FactCommands, run: Run, pipe: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    facts.set("/a", "1")
    take = ("context", "import", "-", "--project", "atlas", "--json")
    whole = json.dumps(run("context", "export", "--project", "atlas", "--run", facts.draft, "--json").answer)

    def error_of(text: str) -> tuple[int, str]:
        pipe(text)
        return run(*take).error

    assert error_of("{") == (2, "invalid_json")
    assert error_of('{"a": 1, "a": 2}') == (2, "duplicate_key")
    assert error_of(whole.replace("1", "NaN", 1)) == (2, "invalid_number")
    assert error_of("[]")[0] == 2
    assert error_of(whole.replace('"format"', '"fromat"'))[0] == 2
    assert run("context", "import", "none.json", "--project", "atlas", "--json").error == (2, "usage")
    answers = []
    for _ in range(2):
        pipe(whole)
        answers.append(run(*take, "--op-id", "once").out)
    assert answers[0] == answers[1]
    with groundplan.open("groundplan.db", actor="ada") as plan:
        assert len(plan.context.list_runs_for_scope("atlas")) == 2
    monkeypatch.setattr("sys.stdin", None)
    assert run(*take).error == (2, "usage")
