"""`context hydrate` on the command line: a JSON object in, the same object with the facts out."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import groundplan
from tests.surfaces.cli.conftest import Run, RunResult

INPUTS: list[dict[str, Any]] = [
    {"pointer": "/site/location", "label": "Location", "required": True, "valueKind": "string"},
    {"pointer": "/site/size", "label": "Size", "value": 5000},
    {"pointer": "/site/notes", "label": "Notes", "value": ""},
    {"pointer": "/title/short", "label": "Short title", "value": "\u202ered"},
    {"pointer": "/tags/1", "label": "A second tag", "value": "dry"},
]


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Put text on standard input."""
    return lambda text: monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


@pytest.fixture
def version(tmp_path: Path) -> str:
    """The version of the partly committed facts of project atlas; a draft beside them differs."""
    with groundplan.open(str(tmp_path / "groundplan.db"), actor="ada") as plan:
        run = plan.context.create_draft_run("atlas")
        plan.context.upsert_inputs(run.id, INPUTS)
        committed = plan.context.commit_run(run.id, allow_partial=True).committed_at
        draft = plan.context.create_draft_run("atlas", copy_from="latest")
        plan.context.upsert_inputs(draft.id, [{"pointer": "/site/location", "value": "Hill"}])
        return str(committed)


def hydrate(run: Run, *words: str) -> RunResult:
    return run("context", "hydrate", "--project", "atlas", *words)


def test_people_get_the_object_on_stdout_and_what_is_lacking_on_stderr(
    run: Run, pipe: Callable[[str], None], version: str
) -> None:
    pipe('{"site": {"location": "?"}, "tags": ["wet"]}')

    ended = hydrate(run, "--create-missing")

    assert ended.code == 0
    assert ended.out == (
        '{\n  "site": {\n    "location": "?",\n    "notes": "",\n    "size": 5000\n  },\n  "tags": [\n    "wet"\n  ],\n'
        f'  "title": {{\n    "short": "\\u202ered"\n  }},\n  "contextVersionId": "{version}"\n}}\n'
    )
    assert json.loads(ended.out)["title"]["short"] == "\u202ered"
    unplaced, missing = ended.err.splitlines()
    assert unplaced.startswith("not placed: /tags/1: ")
    assert missing == "missing: /site/location is required and has no value yet"


def test_json_says_what_became_of_every_fact(run: Run, tmp_path: Path, version: str) -> None:
    (tmp_path / "plan.json").write_text('\ufeff{"tags": ["wet"], "a": 1}', encoding="utf-8")

    answer = hydrate(run, "plan.json", "--create-missing", "--json").answer

    assert [one.pop("reason") != "" for one in answer["unplaced"]] == [True]
    assert answer == {
        "target": {
            "tags": ["wet"],
            "a": 1,
            "site": {"notes": "", "size": 5000},
            "title": {"short": "\u202ered"},
            "contextVersionId": version,
        },
        "contextVersionId": version,
        "placed": ["/site/notes", "/site/size", "/title/short"],
        "kept": [],
        "replaced": [],
        "unplaced": [{"pointer": "/tags/1"}],
        "missing": ["/site/location"],
    }


def test_what_a_fact_replaces_and_what_it_leaves_is_told(run: Run, pipe: Callable[[str], None], version: str) -> None:
    with groundplan.open("groundplan.db", actor="ada") as plan:
        draft = plan.context.get_latest_run_for_scope("atlas", status="draft")
        assert draft is not None
        guess = {"pointer": "/guess", "value": 1, "provenance": "model-inferred"}
        plan.context.upsert_inputs(draft.id, [guess])
    typed = '{"site": {"location": "Dale"}, "guess": 2}'

    pipe(typed)
    kept = hydrate(run, "--run", draft.id)
    pipe(typed)
    overwritten = hydrate(run, "--run", draft.id, "--overwrite", "--json").answer

    assert json.loads(kept.out)["guess"] == 2
    assert kept.err.splitlines()[:2] == [
        'replaced: /site/location was "Dale"',
        "kept: /guess has another value than the model-inferred fact; see --overwrite",
    ]
    assert overwritten["target"]["guess"] == 1
    assert [row["pointer"] for row in overwritten["replaced"]] == ["/guess", "/site/location"]
    assert overwritten["replaced"][0] == {"pointer": "/guess", "before": 2, "provenance": "model-inferred"}


def test_a_run_can_be_named_and_a_draft_is_one(run: Run, pipe: Callable[[str], None], version: str) -> None:
    with groundplan.open("groundplan.db", actor="ada") as plan:
        draft = plan.context.get_latest_run_for_scope("atlas", status="draft")
    assert draft is not None
    pipe('{"site": {}}')

    answer = hydrate(run, "-", "--run", draft.id, "--json").answer

    assert [one["pointer"] for one in answer["unplaced"]] == ["/tags/1", "/title/short"]

    assert (answer["target"]["site"]["location"], answer["missing"]) == ("Hill", [])
    assert answer["contextVersionId"] == draft.updated_at


def test_what_is_no_json_object_is_refused(run: Run, pipe: Callable[[str], None], version: str) -> None:
    for text, code in (
        ("[]", "invalid_target"),
        ("{", "invalid_json"),
        ('{"a": 1, "a": 2}', "duplicate_key"),
        ('{"a": NaN}', "invalid_number"),
    ):
        pipe(text)
        assert hydrate(run, "--json").error == (2, code)


def test_what_cannot_be_read_is_refused(
    run: Run, tmp_path: Path, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "large.json").write_text(f'{{"a": "{"x" * (1 << 20)}"}}', encoding="utf-8")
    (tmp_path / "plan.json").write_text("{}", encoding="utf-8")

    assert hydrate(run, "missing.json", "--json").error == (2, "usage")
    assert hydrate(run, ".", "--json").error == (2, "usage")
    assert hydrate(run, "a\x00b", "--json").error == (2, "usage")
    assert hydrate(run, "large.json", "--json").error == (2, "too_large")
    assert hydrate(run, "plan.json", "--db", "none.db", "--json").error == (7, "store_missing")
    assert hydrate(run, "plan.json", "--run", "x", "--json").error == (2, "invalid_id")
    run("project", "create", "empty")
    assert run("context", "hydrate", "plan.json", "--project", "empty", "--json").error == (3, "no_context")
    monkeypatch.setattr("sys.stdin", None)
    assert hydrate(run, "--json").error == (2, "usage")
