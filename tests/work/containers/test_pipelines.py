"""A project may define steps between ACTIVE and CLOSED; no task stays at a step that was removed."""

from __future__ import annotations

from functools import partial
from typing import Any

from msgspec import UNSET

from groundplan.kernel.errors import Forbidden, Invalid
from tests.engines import person
from tests.errors import error_of
from tests.work.containers.client import ContainersClient

OWN = ["NEW", "ACTIVE", "IN_REVIEW", "ON_STAGE_2", "CLOSED"]


def test_a_project_without_steps_of_its_own_has_the_usual_ones(client: ContainersClient) -> None:
    assert client.get_project().project.pipelines is UNSET


def test_tasks_and_features_take_the_steps_of_their_project(client: ContainersClient) -> None:
    project = client.change_project(pipeline={"task": OWN, "feature": ["NEW", "ACTIVE", "CLOSED"]}).project
    assert (list(project.pipelines.task), list(project.pipelines.feature)) == (OWN, ["NEW", "ACTIVE", "CLOSED"])
    client.feature("coast")
    client.task("walk")

    assert [client.advance("walk").task.status for _ in OWN[1:]] == OWN[1:]
    assert [client.advance("coast").pipeline_position for _ in range(2)] == ["2/3", "3/3"]
    assert [client.revert("walk").pipeline_position for _ in range(2)] == ["4/5", "3/5"]
    assert client.revert("coast").feature.status == "ACTIVE"
    assert client.count_by_status() == {"IN_REVIEW": 1}
    assert client.search(status="IN_REVIEW") == ["walk"]


def test_a_node_at_a_step_of_its_own_is_offered_to_nobody_and_closes_its_feature_when_resolved(
    client: ContainersClient,
) -> None:
    client.change_project(pipeline={"task": OWN})
    client.feature("coast")
    client.task("walk", of="coast")
    client.advance("walk")
    client.advance("walk")
    assert (client.next_task(), client.next()) == (None, [])

    client.resolve("walk")

    assert client.statuses("walk", "coast") == ["CLOSED", "CLOSED"]


def test_an_array_is_for_both_and_an_object_changes_what_it_names(client: ContainersClient) -> None:
    both = client.change_project(pipeline=OWN).project.pipelines
    assert list(both.task) == list(both.feature) == OWN

    changed = client.change_project(pipeline={"task": ["NEW", "ACTIVE", "CLOSED"]}).project.pipelines

    assert (list(changed.task), list(changed.feature)) == (["NEW", "ACTIVE", "CLOSED"], OWN)


def test_a_step_at_which_something_stands_cannot_be_taken_away(client: ContainersClient) -> None:
    client.feature("coast")
    client.task("walk")
    for name in ("walk", "walk", "coast", "coast"):
        client.advance(name)

    error = error_of(lambda: client.change_project(pipeline=["NEW", "ACTIVE", "CLOSED"]))
    assert error.code == "statuses_in_use"
    assert error.details["statuses"] == ["READY_TO_PROD", "TO_BE_TESTED"]
    assert error.details["ids"] == [client["coast"], client["walk"]]
    assert client.state("walk").pipeline[2] == "TO_BE_TESTED"

    client.advance("walk")
    client.advance("coast")
    client.change_project(pipeline=["NEW", "ACTIVE", "CLOSED"])
    assert client.revert("walk").task.status == "ACTIVE"


BAD: dict[str, tuple[Any, str]] = {
    "no steps": ([], "pipeline"),
    "a number": (3, "pipeline"),
    "another key": ({"bug": OWN}, "pipeline"),
    "an empty object": ({}, "pipeline"),
    "steps that are no texts": ({"task": [1, 2, 3]}, "pipeline.task"),
    "no array": ({"feature": "NEW"}, "pipeline.feature"),
    "without NEW": (["ACTIVE", "CLOSED"], "pipeline"),
    "without ACTIVE": ({"task": ["NEW", "CLOSED"]}, "pipeline.task"),
    "without CLOSED": ({"task": ["NEW", "ACTIVE", "DONE"]}, "pipeline.task"),
    "a step twice": (["NEW", "ACTIVE", "A", "A", "CLOSED"], "pipeline"),
    "the exit inside": (["NEW", "ACTIVE", "WILL_NOT_IMPLEMENT", "CLOSED"], "pipeline"),
    "small letters": (["NEW", "ACTIVE", "review", "CLOSED"], "pipeline[2]"),
    "a step too long": (["NEW", "ACTIVE", "A" * 41, "CLOSED"], "pipeline[2]"),
    "thirteen steps": (["NEW", "ACTIVE", *(f"S{place}" for place in range(10)), "CLOSED"], "pipeline"),
}


def test_steps_that_are_none_are_refused_with_their_field(client: ContainersClient) -> None:
    for what, (pipeline, field) in BAD.items():
        error = error_of(partial(client.change_project, pipeline=pipeline))
        assert isinstance(error, Invalid), what
        assert error.details["field"] == field, what

    assert client.get_project().project.version == 1


def test_only_an_owner_gives_a_project_its_steps(client: ContainersClient) -> None:
    client.call("member.add", scopeId="atlas", userId="ben", role="editor")

    assert isinstance(error_of(lambda: client.by(person("ben")).change_project(pipeline=OWN)), Forbidden)


def test_one_projects_steps_are_not_anothers(client: ContainersClient) -> None:
    other = client.create_project("shop")
    client.change_project(pipeline=OWN)
    other.task("sell")

    assert other.state("sell").pipeline == ["NEW", "ACTIVE", "TO_BE_TESTED", "CLOSED"]


def test_the_usual_steps_can_be_had_again(client: ContainersClient) -> None:
    client.change_project(pipeline=OWN)
    usual = {
        "task": ["NEW", "ACTIVE", "TO_BE_TESTED", "CLOSED"],
        "feature": ["NEW", "ACTIVE", "READY_TO_PROD", "CLOSED"],
    }

    assert client.change_project(pipeline=usual).project.pipelines is UNSET
