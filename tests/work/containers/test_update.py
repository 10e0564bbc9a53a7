"""What a container says can be changed from the version that was read: field by field, and never its status."""

from __future__ import annotations

from functools import partial
from typing import Any

from groundplan.kernel.errors import Forbidden, Invalid, NotFound
from tests.engines import person
from tests.work.cases import try_each
from tests.work.containers.desk import Containers
from tests.work.desk import ManualClock, refused


def test_every_field_of_a_task_can_be_changed(desk: Containers) -> None:
    desk.task("walk")
    desk.task("draw")
    changes = {"title": "Walk", "summary": "s", "description": "d", "priority": "high", "complexity": 10}

    task = desk.change("walk", **changes, tags=["b", "a"], relatedTo=desk["draw"]).task

    assert (task.title, task.summary, task.description) == ("Walk", "s", "d")
    assert (task.priority, task.complexity, task.tags, task.related_to) == ("HIGH", 10, ["a", "b"], [desk["draw"]])
    assert (task.version, task.status) == (2, "NEW")
    assert desk.shown("walk") == task
    (_, told) = desk.history("walk")
    assert {one.field for one in told.changes} == {
        "summary",
        "properties.summary",
        "properties.description",
        "properties.priority",
        "properties.complexity",
        "tags",
        "relates_to",
    }


def test_every_field_of_a_feature_can_be_changed(desk: Containers) -> None:
    desk.feature("coast")

    feature = desk.change("coast", name="Coast", summary="s", description="d", priority="LOW", tags="a").feature

    assert (feature.name, feature.summary, feature.description) == ("Coast", "s", "d")
    assert (feature.priority, feature.tags, feature.version) == ("LOW", ["a"], 2)


def test_what_is_left_out_stays_and_null_takes_away(desk: Containers) -> None:
    desk.task("walk", summary="s", description="d", complexity=3, tags="a")

    stays = desk.change("walk", title="Walk").task
    assert (stays.summary, stays.description, stays.complexity, stays.tags) == ("s", "d", 3, ["a"])

    gone = desk.change("walk", summary=None, description=None, complexity=None, tags=[]).task
    assert (gone.summary, gone.description, gone.complexity, gone.tags) == (None, None, None, [])
    assert desk.node("walk").properties == {"priority": 2}


def test_both_words_for_a_name_are_understood(desk: Containers) -> None:
    desk.task("walk")
    desk.feature("coast")

    assert desk.change("walk", name="Walk").task.title == "Walk"
    assert desk.change("coast", title="Coast").feature.name == "Coast"


def test_a_blank_title_is_refused(desk: Containers) -> None:
    desk.task("walk")

    error = refused(lambda: desk.change("walk", title="  "))

    assert error.details["field"] == "title"


def test_nothing_is_written_where_nothing_changes(desk: Containers) -> None:
    desk.task("walk", description="d", tags="a")

    task = desk.change("walk", title="walk", description="d", tags=["a"], priority="MEDIUM").task

    assert task.version == 1
    assert desk.actions("walk") == ["created"]


def test_what_is_related_can_be_changed_from_either_side(desk: Containers) -> None:
    desk.tasks("draw", "print")
    desk.task("walk", relatedTo=desk["draw"])

    desk.change("draw", relatedTo=[desk["print"]])

    assert [desk.shown(name).related_to for name in ("walk", "draw", "print")] == [
        [],
        [desk["print"]],
        [desk["draw"]],
    ]
    assert desk.actions("walk") == ["created", "disconnected"]
    assert desk.change("print", relatedTo=[]).task.related_to == []
    assert desk.shown("draw").related_to == []


def test_who_changed_it_last_and_when_is_shown(desk: Containers, clock: ManualClock) -> None:
    desk.task("walk")
    clock.move(hours=2)

    task = desk.by("ben").change("walk", description="d").task

    assert (task.last_modified_by, task.created_at[11:16], task.modified_at[11:16]) == ("ben", "09:00", "11:00")


# --- Moving between features ---


def test_a_task_moves_between_features_and_out_of_them(desk: Containers) -> None:
    desk.feature("coast")
    desk.feature("hills")
    desk.task("walk", of="coast")

    assert desk.change("walk", featureId=desk["hills"]).task.feature_id == desk["hills"]
    assert (desk.counted("coast"), desk.counted("hills")) == ({}, {"NEW": 1})
    assert desk.change("walk", featureId=None).task.feature_id is None
    assert (desk.counted("hills"), desk.counted()) == ({}, {"NEW": 1})
    assert desk.actions("walk") == ["created", "moved", "moved"]


def test_what_is_below_a_task_moves_with_it(desk: Containers) -> None:
    desk.feature("coast")
    desk.task("walk")
    desk.plan("map\n  scale", under="walk")

    desk.change("walk", featureId=desk["coast"])

    assert [desk.shown(name).feature_id for name in ("map", "scale")] == [desk["coast"]] * 2
    assert desk.counted("coast") == {"NEW": 3}


def test_a_task_that_moves_into_a_closed_feature_opens_it(desk: Containers) -> None:
    desk.feature("coast")
    desk.task("walk", of="coast")
    desk.task("draw")
    desk.close("walk")

    moved = desk.change("draw", featureId=desk["coast"]).feature_transition

    assert (desk.name(moved.id), moved.before, moved.after) == ("coast", "CLOSED", "ACTIVE")


def test_moving_the_last_open_task_away_does_not_close_a_feature(desk: Containers) -> None:
    desk.feature("coast")
    desk.tasks("walk", "draw", of="coast")
    desk.close("walk")

    desk.change("draw", featureId=None)

    assert desk.status("coast") == "ACTIVE"


def test_a_task_that_moves_into_a_blocked_feature_is_held_back_until_it_leaves(desk: Containers) -> None:
    desk.feature("coast")
    desk.hold("coast")
    desk.task("walk")

    assert desk.change("walk", featureId=desk["coast"]).task.blocked_above is True
    assert desk.next_task() is None
    desk.change("walk", featureId=None)
    assert desk.next_task() == "walk"


def test_a_task_cannot_move_into_a_feature_it_waits_for(desk: Containers) -> None:
    desk.feature("coast")
    desk.task("walk")
    desk.depend("coast", "walk")

    error = refused(lambda: desk.change("walk", featureId=desk["coast"]))

    assert (error.code, error.contract_code) == ("cycle_detected", "CIRCULAR_DEPENDENCY")
    assert [desk.name(one) for one in error.details["path"]] == ["walk", "coast", "walk"]
    assert desk.shown("walk").feature_id is None


# --- Projects ---


def test_an_owner_changes_what_a_project_says(desk: Containers) -> None:
    project = desk.change_project(summary="Maps", description="d", tags="a").project

    assert (project.name, project.summary, project.description, project.tags) == ("atlas", "Maps", "d", ["a"])
    assert desk.project_shown().project == project
    assert desk.node("root").summary == "Maps"


def test_a_project_keeps_its_name(desk: Containers) -> None:
    for name in ("name", "title"):
        error = refused(partial(desk.change_project, **{name: "other"}))
        assert isinstance(error, Invalid)
        assert error.details["field"] == name


@try_each("summary", [None, "", "x" * 5000])
def test_a_summary_that_a_project_cannot_have_is_refused(desk: Containers, summary: str | None) -> None:
    error = refused(lambda: desk.change_project(summary=summary))

    assert isinstance(error, Invalid)
    assert error.details["field"] == "summary"


def test_only_an_owner_changes_a_project(desk: Containers) -> None:
    desk.call("member.add", scopeId="atlas", userId="ben", role="editor")

    error = refused(lambda: desk.by(person("ben")).change_project(description="d"))

    assert isinstance(error, Forbidden)
    assert desk.project_shown().project.version == 1


# --- Refusals ---

REFUSED: dict[str, tuple[str, dict[str, Any], type[Exception], str | None]] = {
    "a status": ("walk", {"status": "CLOSED"}, Invalid, "status"),
    "nothing": ("walk", {}, Invalid, None),
    "another project": ("walk", {"title": "a", "projectId": "shop"}, Invalid, "projectId"),
    "complexity 0": ("walk", {"complexity": 0}, Invalid, "complexity"),
    "complexity 11": ("walk", {"complexity": 11}, Invalid, "complexity"),
    "a complexity of a feature": ("coast", {"complexity": 3}, Invalid, "complexity"),
    "a feature of a feature": ("coast", {"featureId": "@hills"}, Invalid, "featureId"),
    "a pipeline of a task": ("walk", {"pipeline": ["NEW", "ACTIVE", "CLOSED"]}, Invalid, "pipeline"),
    "51 tags": ("walk", {"tags": [str(one) for one in range(51)]}, Invalid, "tags"),
    "a long tag": ("walk", {"tags": "x" * 101}, Invalid, "tags"),
    "no priority": ("walk", {"priority": "most"}, Invalid, "priority"),
    "two names": ("walk", {"title": "a", "name": "b"}, Invalid, "name"),
    "related to itself": ("walk", {"relatedTo": "@walk"}, Invalid, "relatedTo"),
    "related to nobody": ("walk", {"title": "a", "relatedTo": "task-0"}, NotFound, "relatedTo"),
    "no such feature": ("walk", {"title": "a", "featureId": "feature-0"}, NotFound, "featureId"),
    "a feature that is a task": ("walk", {"featureId": "@draw"}, NotFound, "featureId"),
    "the wrong type": ("walk", {"containerType": "feature", "name": "a"}, NotFound, "id"),
    "nobody": ("task-0", {"containerType": "task", "version": 1, "title": "a"}, NotFound, None),
}


def test_a_change_that_cannot_be_is_refused_with_its_field_and_leaves_nothing(desk: Containers) -> None:
    desk.feature("coast")
    desk.feature("hills")
    desk.tasks("walk", "draw")
    before = desk.shown("walk"), desk.shown("coast"), desk.counts()

    for what, (name, asked, family, field) in REFUSED.items():
        error = refused(partial(desk.change, name, **desk.named(asked)))
        assert isinstance(error, family), (what, error)
        assert field is None or error.details["field"] == field, what

    assert (desk.shown("walk"), desk.shown("coast"), desk.counts()) == before


def test_whoever_sends_a_status_is_pointed_to_advance(desk: Containers) -> None:
    desk.task("walk")

    assert "advance" in refused(lambda: desk.change("walk", status="ACTIVE")).message
