"""The way out of every surface: an answer is encoded once, and errors follow their group and surface."""

from __future__ import annotations

import json
from typing import Any

import pytest

from groundplan.catalog import OPERATIONS
from groundplan.kernel import answers
from groundplan.kernel.errors import OPERATION_NAMES, Conflict, GroundplanError, NextStep, NotFound, Unexpected
from groundplan.kernel.operations import execute as execute_module
from groundplan.kernel.operations.execute import ExecutionResult
from groundplan.kernel.operations.registry import Group
from groundplan.kernel.preferences import Preferences
from groundplan.session import Session
from groundplan.surfaces import respond as respond_module
from groundplan.surfaces.respond import Response, respond
from groundplan.surfaces.vocabularies import CliVocabulary, HttpVocabulary, McpVocabulary
from tests.engines import Engine

STEP = NextStep("purpose.draft", "begins one", {"project": "atlas of maps"})


def answer(run: Any, group: Group | None = Group.WORK, vocabulary: Any = OPERATION_NAMES) -> Response:
    return respond(run, group=group, vocabulary=vocabulary, log=lambda: Unexpected("q8cdfw"))


def error_of(error: Exception, group: Group | None = Group.WORK, vocabulary: Any = OPERATION_NAMES) -> Any:
    def run() -> ExecutionResult:
        raise error

    return json.loads(answer(run, group, vocabulary).body)


@pytest.mark.parametrize("group", Group)
def test_an_answer_wears_the_envelope_of_its_group(group: Group) -> None:
    body = json.loads(answer(lambda: ExecutionResult({"a": 1}), group).body)

    assert body == ({"success": True, "data": {"a": 1}} if group in ("knowledge", "containers") else {"a": 1})


def test_what_was_encoded_to_measure_it_is_what_is_sent() -> None:
    assert answer(lambda: ExecutionResult({"a": 1}, b'{"a":1}')).body == b'{"a":1}'


@pytest.mark.parametrize(
    ("vocabulary", "sentence", "call"),
    [
        (
            OPERATION_NAMES,
            "nothing here; purpose.draft begins one",
            {"operation": "purpose.draft", "arguments": {"project": "atlas of maps"}},
        ),
        (
            McpVocabulary(OPERATIONS),
            "nothing here; toc_version draft begins one",
            {"tool": "toc_version", "arguments": {"operation": "draft", "project": "atlas of maps"}},
        ),
        (
            CliVocabulary(OPERATIONS),
            "nothing here; groundplan purpose draft --project 'atlas of maps' begins one",
            {"command": "groundplan purpose draft --project 'atlas of maps'"},
        ),
        (
            HttpVocabulary(OPERATIONS),
            "nothing here; POST /v1/projects/atlas%20of%20maps/purpose/draft begins one",
            {"method": "POST", "path": "/v1/projects/atlas%20of%20maps/purpose/draft"},
        ),
    ],
)
def test_each_surface_says_in_its_own_words_what_to_do_next(vocabulary: Any, sentence: str, call: Any) -> None:
    error = error_of(Conflict("nothing here", next_steps=STEP), vocabulary=vocabulary)["error"]

    assert (error["message"], error["details"]["next"]) == (sentence, [call])


def test_a_near_name_is_suggested_instead_of_a_next_step() -> None:
    error = error_of(NotFound("version", "3", near=["2"], next_steps=STEP))["error"]

    assert error["message"] == "no version '3' here; did you mean '2'?"
    assert "next" not in error["details"]


def test_a_defect_shows_its_reference_and_nothing_of_its_cause() -> None:
    response = answer(lambda: ExecutionResult(1 / 0))

    assert isinstance(response.error, GroundplanError)
    assert "q8cdfw" in response.body.decode()
    assert "division" not in response.body.decode()


def test_a_closed_pipe_is_left_to_the_surface() -> None:
    def run() -> ExecutionResult:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        answer(run)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("work.next", {}), ("work.next", {"claim": True}), ("work.onboard", {}), ("work.query", {})],
)
def test_an_answer_is_encoded_once(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, name: str, arguments: dict[str, Any]
) -> None:
    ada = engine.session("ada")
    ada.call("work.open", project="atlas")
    ada.call("work.plan", project="atlas", nodes=[{"ref": "a", "summary": "Walk north"}])
    session = Session(engine.store, ada.actor, preferences=Preferences(answer_tokens_max=20_000))
    whole: list[Any] = []

    def counting(value: Any) -> bytes:
        whole.append(value)
        return answers.encode(value)

    for module in (execute_module, respond_module):
        monkeypatch.setattr(module, "encode", counting)

    respond(
        lambda: session.execute(OPERATIONS[name], {"project": "atlas", **arguments}),
        group=Group.WORK,
        vocabulary=OPERATION_NAMES,
        log=lambda: Unexpected("none"),
    )

    assert len(whole) == 1
