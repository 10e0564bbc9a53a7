"""With a configured project, no request has to name its project, over MCP and in every other session."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from groundplan.kernel.answers import encode
from groundplan.kernel.errors import GroundplanError, Invalid
from groundplan.kernel.input_gate.request import PROJECT_NAMES
from groundplan.kernel.operations.execute import execute
from groundplan.kernel.preferences import Preferences
from tests.access.examples import ROWS, example
from tests.access.permissions import RULES
from tests.access.test_matrix import PEOPLE, placeholder_values, populate_with_purpose
from tests.engines import Engine, fill_once

# The tools whose requests name their project themselves.
NAMED = [
    row
    for row, one in ROWS.items()
    if RULES[row].in_project
    and one.requested.tool is not None
    and set(PROJECT_NAMES) & set(one.requested.input.__struct_encode_fields__)
]
DIGITS = re.compile(rb"[0-9]+")  # times differ
READS = [row for row in NAMED if RULES[row].reads]


@pytest.fixture
def world(engine: Engine) -> Engine:
    fill_once(engine, populate_with_purpose)
    return engine


def send(world: Engine, row: str, arguments: Mapping[str, Any], project: str | None) -> bytes:
    preferences = Preferences(project=project, answer_tokens_max=20_000)
    result = execute(world.store, PEOPLE["ada"], ROWS[row].requested, arguments, preferences)
    return result.encoded or encode(result.answer)


def without_project(world: Engine, row: str) -> dict[str, Any]:
    arguments = example(row, placeholder_values(world, "atlas", "ada"))
    return {name: value for name, value in arguments.items() if name not in PROJECT_NAMES}


def test_there_are_such_operations() -> None:
    assert {"purpose.edit", "knowledge.create", "context.view", "work.plan"} <= set(NAMED)
    assert {"work.query", "briefing.coverage"} <= set(READS)


def test_a_request_that_needs_a_project_and_names_none_is_about_the_configured_one(
    world: Engine, subtests: pytest.Subtests
) -> None:
    for row in READS:
        arguments = without_project(world, row)
        try:
            send(world, row, arguments, None)
        except Invalid:  # without a project it is no request
            named = send(world, row, example(row, placeholder_values(world, "atlas", "ada")), None)
            with subtests.test(row):
                assert DIGITS.sub(b"0", send(world, row, arguments, "atlas")) == DIGITS.sub(b"0", named)


def find_refusal(world: Engine, row: str) -> GroundplanError | None:
    try:
        send(world, row, without_project(world, row), "atlas")
    except GroundplanError as error:
        return error
    return None


def test_no_tool_asks_for_the_project_where_one_is_configured(world: Engine, subtests: pytest.Subtests) -> None:
    for row in NAMED:
        with subtests.test(row):
            error = find_refusal(world, row)
            assert error is None or (not error.lacks_project and error.details.get("field") not in PROJECT_NAMES)


def test_a_request_that_names_another_project_is_about_that_one(world: Engine) -> None:
    shown = [send(world, "work.onboard", {"project": name}, "atlas") for name in ("atlas", "south of atlas")]

    names = [msgspec.json.decode(answer)["project"]["name"] for answer in shown]
    assert names == ["atlas", "south of atlas"]


def test_onboarding_shows_the_configured_project_among_several(world: Engine) -> None:
    assert b'"projects"' in send(world, "work.onboard", {}, None)
    assert msgspec.json.decode(send(world, "work.onboard", {}, "atlas"))["project"]["name"] == "atlas"
    assert b'"projects"' in send(world, "work.onboard", {}, "no such project")


def test_a_configured_project_that_is_missing_is_refused_as_if_it_had_been_named(world: Engine) -> None:
    with pytest.raises(GroundplanError) as refused:
        send(world, "purpose.open", {}, "no such project")
    assert refused.value.code == "not_found"
