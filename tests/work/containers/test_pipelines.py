"""A project may have steps of its own between ACTIVE and CLOSED; nobody is left at a step that is gone."""

from __future__ import annotations

from functools import partial
from typing import Any

from msgspec import UNSET

from groundplan.kernel.errors import Forbidden, Invalid
from tests.engines import person
from tests.work.containers.desk import Containers
from tests.work.desk import refused

OWN = ["NEW", "ACTIVE", "IN_REVIEW", "ON_STAGE_2", "CLOSED"]


def test_a_project_without_steps_of_its_own_has_the_usual_ones(desk: Containers) -> None:
    assert desk.project_shown().project.pipelines is UNSET


def test_tasks_and_features_take_the_steps_of_their_project(desk: Containers) -> None:
    project = desk.change_project(pipeline={"task": OWN, "feature": ["NEW", "ACTIVE", "CLOSED"]}).project
    assert (list(project.pipelines.task), list(project.pipelines.feature)) == (OWN, ["NEW", "ACTIVE", "CLOSED"])
    desk.feature("coast")
    desk.task("walk")

    assert [desk.advance("walk").task.status for _ in OWN[1:]] == OWN[1:]
    assert [desk.advance("coast").pipeline_position for _ in range(2)] == ["2/3", "3/3"]
    assert [desk.revert("walk").pipeline_position for _ in range(2)] == ["4/5", "3/5"]
    assert desk.revert("coast").feature.status == "ACTIVE"
    assert desk.counted() == {"IN_REVIEW": 1}
    assert desk.found(status="IN_REVIEW") == ["walk"]


def test_a_node_at_a_step_of_its_own_is_offered_to_nobody_and_closes_its_feature_when_resolved(
    desk: Containers,
) -> None:
    desk.change_project(pipeline={"task": OWN})
    desk.feature("coast")
    desk.task("walk", of="coast")
    desk.advance("walk")
    desk.advance("walk")
    assert (desk.next_task(), desk.next()) == (None, [])

    desk.resolve("walk")

    assert desk.statuses("walk", "coast") == ["CLOSED", "CLOSED"]


def test_an_array_is_for_both_and_an_object_changes_what_it_names(desk: Containers) -> None:
    both = desk.change_project(pipeline=OWN).project.pipelines
    assert list(both.task) == list(both.feature) == OWN

    changed = desk.change_project(pipeline={"task": ["NEW", "ACTIVE", "CLOSED"]}).project.pipelines

    assert (list(changed.task), list(changed.feature)) == (["NEW", "ACTIVE", "CLOSED"], OWN)


def test_a_step_at_which_something_stands_cannot_be_taken_away(desk: Containers) -> None:
    desk.feature("coast")
    desk.task("walk")
    for name in ("walk", "walk", "coast", "coast"):
        desk.advance(name)

    error = refused(lambda: desk.change_project(pipeline=["NEW", "ACTIVE", "CLOSED"]))
    assert error.code == "statuses_in_use"
    assert error.details["statuses"] == ["READY_TO_PROD", "TO_BE_TESTED"]
    assert error.details["ids"] == [desk["coast"], desk["walk"]]
    assert desk.state("walk").pipeline[2] == "TO_BE_TESTED"

    desk.advance("walk")
    desk.advance("coast")
    desk.change_project(pipeline=["NEW", "ACTIVE", "CLOSED"])
    assert desk.revert("walk").task.status == "ACTIVE"


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


def test_steps_that_are_none_are_refused_with_their_field(desk: Containers) -> None:
    for what, (pipeline, field) in BAD.items():
        error = refused(partial(desk.change_project, pipeline=pipeline))
        assert isinstance(error, Invalid), what
        assert error.details["field"] == field, what

    assert desk.project_shown().project.version == 1


def test_only_an_owner_gives_a_project_its_steps(desk: Containers) -> None:
    desk.call("member.add", scopeId="atlas", userId="ben", role="editor")

    assert isinstance(refused(lambda: desk.by(person("ben")).change_project(pipeline=OWN)), Forbidden)


def test_one_projects_steps_are_not_anothers(desk: Containers) -> None:
    other = desk.elsewhere("shop")
    desk.change_project(pipeline=OWN)
    other.task("sell")

    assert other.state("sell").pipeline == ["NEW", "ACTIVE", "TO_BE_TESTED", "CLOSED"]


def test_the_usual_steps_can_be_had_again(desk: Containers) -> None:
    desk.change_project(pipeline=OWN)
    usual = {
        "task": ["NEW", "ACTIVE", "TO_BE_TESTED", "CLOSED"],
        "feature": ["NEW", "ACTIVE", "READY_TO_PROD", "CLOSED"],
    }

    assert desk.change_project(pipeline=usual).project.pipelines is UNSET
