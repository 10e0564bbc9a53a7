"""Work that is finished although a required fact on which it rests has no value is warned about."""

from __future__ import annotations

from typing import Any

import pytest

from tests.briefing.client import BriefingClient

REST = "resolved while it rests on required facts without a value"


def list_fact_warnings(answer: Any) -> list[str]:
    return [line for line in answer.warnings or () if REST in line]


def test_resolving_work_that_rests_on_an_unset_required_fact_warns(plan: BriefingClient) -> None:
    plan.rest("task", "/colour", "/scale")

    answer = plan.resolve("task")

    assert list_fact_warnings(answer) == [f"{plan['task']}: {REST}: '/colour'"]


def test_the_links_of_the_nodes_above_count_too_and_equal_warnings_are_one(plan: BriefingClient) -> None:
    plan.rest("phase", "/colour")
    plan.plan("other", under="phase")

    answer = plan.resolve("task", "other")

    assert list_fact_warnings(answer) == [f"{plan['task']} and 1 more: {REST}: '/colour'"]


def test_closing_a_task_warns_too(plan: BriefingClient) -> None:
    plan.rest("task", "/colour")

    for version in (1, 2, 3):
        answer = plan.call("container.advance", containerType="task", id=plan["task"], version=version)
    assert answer.transition.after == "CLOSED"
    assert list_fact_warnings(answer) == [f"{plan['task']}: {REST}: '/colour'"]


@pytest.mark.parametrize("pointer", ["/scale", "/area"])
def test_a_fact_with_a_value_or_one_that_is_optional_warns_of_nothing(plan: BriefingClient, pointer: str) -> None:
    plan.rest("task", pointer)

    assert not list_fact_warnings(plan.resolve("task"))


def test_an_unset_fact_of_a_draft_counts_before_anything_is_committed(plan: BriefingClient) -> None:
    plan.facts.draft(copyFrom="latest")
    plan.facts.write("/wind", label="Wind", required=True, valueKind="number")
    plan.rest("task", "/wind")

    assert list_fact_warnings(plan.resolve("task")) == [f"{plan['task']}: {REST}: '/wind'"]


def test_dropping_work_needs_no_fact(plan: BriefingClient) -> None:
    plan.rest("task", "/colour")

    assert not list_fact_warnings(plan.drop("task"))
