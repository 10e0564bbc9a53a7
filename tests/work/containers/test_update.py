"""Fields of a container are updated at the version that was read; its status is not a field."""

from __future__ import annotations

from functools import partial
from typing import Any

from groundplan.kernel.errors import Forbidden, Invalid, NotFound
from tests.engines import person
from tests.errors import error_of
from tests.manual_clock import ManualClock
from tests.work.cases import try_each
from tests.work.containers.client import ContainersClient


def test_every_field_of_a_task_can_be_changed(client: ContainersClient) -> None:
    client.task("walk")
    client.task("draw")
    changes = {"title": "Walk", "summary": "s", "description": "d", "priority": "high", "complexity": 10}

    task = client.change("walk", **changes, tags=["b", "a"], relatedTo=client["draw"]).task

    assert (task.title, task.summary, task.description) == ("Walk", "s", "d")
    assert (task.priority, task.complexity, task.tags, task.related_to) == ("HIGH", 10, ["a", "b"], [client["draw"]])
    assert (task.version, task.status) == (2, "NEW")
    assert client.get("walk") == task
    (_, told) = client.history("walk")
    assert {one.field for one in told.changes} == {
        "summary",
        "properties.summary",
        "properties.description",
        "properties.priority",
        "properties.complexity",
        "tags",
        "relates_to",
    }


def test_every_field_of_a_feature_can_be_changed(client: ContainersClient) -> None:
    client.feature("coast")

    feature = client.change("coast", name="Coast", summary="s", description="d", priority="LOW", tags="a").feature

    assert (feature.name, feature.summary, feature.description) == ("Coast", "s", "d")
    assert (feature.priority, feature.tags, feature.version) == ("LOW", ["a"], 2)


def test_what_is_left_out_stays_and_null_takes_away(client: ContainersClient) -> None:
    client.task("walk", summary="s", description="d", complexity=3, tags="a")

    stays = client.change("walk", title="Walk").task
    assert (stays.summary, stays.description, stays.complexity, stays.tags) == ("s", "d", 3, ["a"])

    gone = client.change("walk", summary=None, description=None, complexity=None, tags=[]).task
    assert (gone.summary, gone.description, gone.complexity, gone.tags) == (None, None, None, [])
    assert client.node("walk").properties == {"priority": 2}


def test_both_words_for_a_name_are_understood(client: ContainersClient) -> None:
    client.task("walk")
    client.feature("coast")

    assert client.change("walk", name="Walk").task.title == "Walk"
    assert client.change("coast", title="Coast").feature.name == "Coast"


def test_a_blank_title_is_refused(client: ContainersClient) -> None:
    client.task("walk")

    error = error_of(lambda: client.change("walk", title="  "))

    assert error.details["field"] == "title"


def test_nothing_is_written_where_nothing_changes(client: ContainersClient) -> None:
    client.task("walk", description="d", tags="a")

    task = client.change("walk", title="walk", description="d", tags=["a"], priority="MEDIUM").task

    assert task.version == 1
    assert client.actions("walk") == ["created"]


def test_what_is_related_can_be_changed_from_either_side(client: ContainersClient) -> None:
    client.tasks("draw", "print")
    client.task("walk", relatedTo=client["draw"])

    client.change("draw", relatedTo=[client["print"]])

    assert [client.get(name).related_to for name in ("walk", "draw", "print")] == [
        [],
        [client["print"]],
        [client["draw"]],
    ]
    assert client.actions("walk") == ["created", "disconnected"]
    assert client.change("print", relatedTo=[]).task.related_to == []
    assert client.get("draw").related_to == []


def test_who_changed_it_last_and_when_is_shown(client: ContainersClient, clock: ManualClock) -> None:
    client.task("walk")
    clock.move(hours=2)

    task = client.by("ben").change("walk", description="d").task

    assert (task.last_modified_by, task.created_at[11:16], task.modified_at[11:16]) == ("ben", "09:00", "11:00")


# --- Moving between features ---


def test_a_task_moves_between_features_and_out_of_them(client: ContainersClient) -> None:
    client.feature("coast")
    client.feature("hills")
    client.task("walk", of="coast")

    assert client.change("walk", featureId=client["hills"]).task.feature_id == client["hills"]
    assert (client.count_by_status("coast"), client.count_by_status("hills")) == ({}, {"NEW": 1})
    assert client.change("walk", featureId=None).task.feature_id is None
    assert (client.count_by_status("hills"), client.count_by_status()) == ({}, {"NEW": 1})
    assert client.actions("walk") == ["created", "moved", "moved"]


def test_what_is_below_a_task_moves_with_it(client: ContainersClient) -> None:
    client.feature("coast")
    client.task("walk")
    client.plan("map\n  scale", under="walk")

    client.change("walk", featureId=client["coast"])

    assert [client.get(name).feature_id for name in ("map", "scale")] == [client["coast"]] * 2
    assert client.count_by_status("coast") == {"NEW": 3}


def test_a_task_that_moves_into_a_closed_feature_opens_it(client: ContainersClient) -> None:
    client.feature("coast")
    client.task("walk", of="coast")
    client.task("draw")
    client.close("walk")

    moved = client.change("draw", featureId=client["coast"]).feature_transition

    assert (client.name(moved.id), moved.before, moved.after) == ("coast", "CLOSED", "ACTIVE")


def test_moving_the_last_open_task_away_does_not_close_a_feature(client: ContainersClient) -> None:
    client.feature("coast")
    client.tasks("walk", "draw", of="coast")
    client.close("walk")

    client.change("draw", featureId=None)

    assert client.status("coast") == "ACTIVE"


def test_a_task_that_moves_into_a_blocked_feature_is_held_back_until_it_leaves(client: ContainersClient) -> None:
    client.feature("coast")
    client.hold("coast")
    client.task("walk")

    assert client.change("walk", featureId=client["coast"]).task.blocked_above is True
    assert client.next_task() is None
    client.change("walk", featureId=None)
    assert client.next_task() == "walk"


def test_a_task_cannot_move_into_a_feature_it_waits_for(client: ContainersClient) -> None:
    client.feature("coast")
    client.task("walk")
    client.depend("coast", "walk")

    error = error_of(lambda: client.change("walk", featureId=client["coast"]))

    assert (error.code, error.contract_code) == ("cycle_detected", "CIRCULAR_DEPENDENCY")
    assert [client.name(one) for one in error.details["path"]] == ["walk", "coast", "walk"]
    assert client.get("walk").feature_id is None


# --- Projects ---


def test_an_owner_changes_what_a_project_says(client: ContainersClient) -> None:
    project = client.change_project(summary="Maps", description="d", tags="a").project

    assert (project.name, project.summary, project.description, project.tags) == ("atlas", "Maps", "d", ["a"])
    assert client.get_project().project == project
    assert client.node("root").summary == "Maps"


def test_a_project_keeps_its_name(client: ContainersClient) -> None:
    for name in ("name", "title"):
        error = error_of(partial(client.change_project, **{name: "other"}))
        assert isinstance(error, Invalid)
        assert error.details["field"] == name


@try_each("summary", [None, "", "x" * 5000])
def test_a_summary_that_a_project_cannot_have_is_refused(client: ContainersClient, summary: str | None) -> None:
    error = error_of(lambda: client.change_project(summary=summary))

    assert isinstance(error, Invalid)
    assert error.details["field"] == "summary"


def test_an_editor_changes_what_a_project_says_and_only_an_owner_its_pipeline(client: ContainersClient) -> None:
    client.call("member.add", scopeId="atlas", userId="ben", role="editor")
    ben = client.by(person("ben"))
    steps = ["NEW", "ACTIVE", "CLOSED"]

    assert isinstance(error_of(lambda: ben.change_project(pipeline=steps)), Forbidden)
    assert isinstance(error_of(lambda: ben.change_project(pipeline=steps, description="d")), Forbidden)
    assert client.get_project().project.version == 1

    ben.change_project(description="d", tags="sea", summary="A map")
    assert client.get_project().project.description == "d"


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


def test_a_change_that_cannot_be_is_refused_with_its_field_and_leaves_nothing(client: ContainersClient) -> None:
    client.feature("coast")
    client.feature("hills")
    client.tasks("walk", "draw")
    before = client.get("walk"), client.get("coast"), client.counts()

    for what, (name, asked, family, field) in REFUSED.items():
        error = error_of(partial(client.change, name, **client.insert_ids(asked)))
        assert isinstance(error, family), (what, error)
        assert field is None or error.details["field"] == field, what

    assert (client.get("walk"), client.get("coast"), client.counts()) == before


def test_whoever_sends_a_status_is_pointed_to_advance(client: ContainersClient) -> None:
    client.task("walk")

    assert "advance" in error_of(lambda: client.change("walk", status="ACTIVE")).message
