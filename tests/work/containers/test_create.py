"""A new container has the given fields and defaults for the rest; a refused request leaves nothing behind."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from groundplan.kernel.errors import Conflict, Invalid, NotFound
from tests.errors import error_of
from tests.work.containers.client import ContainersClient

NOW = "2026-03-01T09:00:00.000Z"


def test_a_task_has_every_field_that_was_said(client: ContainersClient) -> None:
    client.feature("coast")
    client.task("draw")

    task = client.task(
        "walk",
        of="coast",
        summary="Along the beach",
        description="At low tide.",
        priority="HIGH",
        complexity=3,
        tags="wet,cold",
        relatedTo=[client["draw"]],
    ).task

    assert (task.title, task.summary, task.description) == ("walk", "Along the beach", "At low tide.")
    assert (task.priority, task.complexity, task.tags) == ("HIGH", 3, ["cold", "wet"])
    assert (task.feature_id, task.related_to) == (client["coast"], [client["draw"]])
    assert (task.status, task.version, task.created_at, task.last_modified_by) == ("NEW", 1, NOW, "ada")
    assert client.get("walk") == task


def test_a_task_of_which_little_is_said_is_new_and_of_medium_priority(client: ContainersClient) -> None:
    task = client.task("walk").task

    assert (task.status, task.priority, task.complexity, task.feature_id) == ("NEW", "MEDIUM", None, None)
    assert (task.tags, task.related_to, task.blocked_by, task.summary, task.description) == ([], [], [], None, None)
    assert client.node("walk").properties == {"priority": 2}


def test_a_feature_has_every_field_that_was_said(client: ContainersClient) -> None:
    client.task("draw")
    made = {"summary": "All of it", "description": "From cape to cape.", "priority": "low", "tags": ["wet"]}

    feature = client.feature("coast", relatedTo=client["draw"], **made).feature

    assert (feature.name, feature.summary, feature.description) == ("coast", "All of it", "From cape to cape.")
    assert (feature.priority, feature.tags, feature.related_to) == ("LOW", ["wet"], [client["draw"]])
    assert (feature.status, feature.version) == ("NEW", 1)


def test_a_project_has_what_was_said_and_whoever_makes_it_owns_it(client: ContainersClient) -> None:
    said = {"name": "shop", "summary": "Sell maps", "description": "Paper ones.", "tags": "money"}
    project = client.call("container.create", containerType="project", **said).project

    assert (project.name, project.summary, project.description) == ("shop", "Sell maps", "Paper ones.")
    assert project.tags == ["money"]
    assert client.call("container.get", containerType="project", id="shop").project == project
    assert client.call("container.get", containerType="project", id=project.id).project == project
    (owner,) = client.call("member.list", scopeId="shop").members
    assert (owner.user_id, owner.role) == ("ada", "owner")


def test_a_task_may_be_named_and_a_feature_titled(client: ContainersClient) -> None:
    task = client.call("container.create", containerType="task", projectId="atlas", name="walk").task
    feature = client.call("container.create", containerType="feature", projectId="atlas", title="coast").feature

    assert (task.title, feature.name) == ("walk", "coast")


def test_a_task_in_a_feature_may_name_its_project_too(client: ContainersClient) -> None:
    client.feature("coast")

    assert client.task("walk", of="coast", projectId="atlas").task.feature_id == client["coast"]


def test_what_is_empty_is_as_if_it_was_not_given(client: ContainersClient) -> None:
    empty = {"featureId": "", "priority": "", "tags": "", "relatedTo": [], "serves": []}

    task = client.call("container.create", containerType="task", projectId="atlas", title="walk", **empty).task
    feature = client.call("container.create", containerType="feature", projectId="atlas", name="coast", **empty).feature
    project = client.call("container.create", containerType="project", name="borealis", **empty).project

    assert (task.feature_id, task.priority, feature.priority, project.name) == (None, "MEDIUM", "MEDIUM", "borealis")
    filters = {"featureId": "", "status": "", "priority": "", "tags": ""}
    for kind, name in (("task", task), ("feature", feature), ("project", project)):
        listed = client.call("container.overview", containerType=kind, id="", **filters)
        assert name.id in [item.id for item in listed.items]
        assert client.call("container.overview", containerType=kind, id=name.id, **filters)
        assert client.call("container.search", containerType=kind, query="", **filters).items == listed.items
    assert client.call("container.next_task", projectId="atlas", featureId="", priority="").id == task.id
    assert client.call("container.blocked_tasks", projectId="atlas", featureId="").count == 0


def test_tags_come_as_a_string_an_array_or_a_string_of_json(client: ContainersClient) -> None:
    tags: Any
    for tags in ("b, a ,b", ["b", " a", "b"], '["b","a"]'):
        assert client.task("walk", tags=tags).task.tags == ["a", "b"]


def test_fifty_tags_of_a_hundred_characters_are_taken(client: ContainersClient) -> None:
    tags = [f"{place:0100}" for place in range(50)]

    assert client.task("walk", tags=tags).task.tags == tags


def test_what_is_related_is_so_from_both_sides(client: ContainersClient) -> None:
    client.tasks("draw", "print")
    before = client.version("draw")

    client.task("walk", relatedTo=f"{client['draw']},{client['print']}")

    assert client.get("walk").related_to == [client["draw"], client["print"]]
    assert client.get("draw").related_to == [client["walk"]]
    assert client.version("draw") == before


REFUSED: dict[str, tuple[dict[str, Any], type[Exception], str | None]] = {
    "no title": ({"containerType": "task", "projectId": "atlas"}, Invalid, "title"),
    "no name": ({"containerType": "feature", "projectId": "atlas"}, Invalid, "name"),
    "a blank title": ({"containerType": "task", "projectId": "atlas", "title": "  "}, Invalid, "title"),
    "a title too long": ({"containerType": "task", "projectId": "atlas", "title": "x" * 256}, Invalid, "title"),
    "two names": ({"containerType": "task", "projectId": "atlas", "title": "a", "name": "b"}, Invalid, "name"),
    "no place": ({"containerType": "task", "title": "a"}, Invalid, "projectId"),
    "no such project": ({"containerType": "task", "projectId": "nowhere", "title": "a"}, NotFound, None),
    "no such feature": ({"containerType": "task", "featureId": "feature-0", "title": "a"}, NotFound, None),
    "a task for a feature": ({"containerType": "task", "featureId": "@walk", "title": "a"}, NotFound, "featureId"),
    "a feature in a feature": (
        {"containerType": "feature", "projectId": "atlas", "featureId": "@coast", "name": "a"},
        Invalid,
        "featureId",
    ),
    "a complex feature": (
        {"containerType": "feature", "projectId": "atlas", "name": "a", "complexity": 3},
        Invalid,
        "complexity",
    ),
    "no priority": (
        {"containerType": "task", "projectId": "atlas", "title": "a", "priority": "URGENT"},
        Invalid,
        "priority",
    ),
    "complexity 0": (
        {"containerType": "task", "projectId": "atlas", "title": "a", "complexity": 0},
        Invalid,
        "complexity",
    ),
    "complexity 11": (
        {"containerType": "task", "projectId": "atlas", "title": "a", "complexity": 11},
        Invalid,
        "complexity",
    ),
    "51 tags": (
        {"containerType": "task", "projectId": "atlas", "title": "a", "tags": [str(one) for one in range(51)]},
        Invalid,
        "tags",
    ),
    "a tag of 101 characters": (
        {"containerType": "task", "projectId": "atlas", "title": "a", "tags": "x" * 101},
        Invalid,
        "tags",
    ),
    "tags of broken json": (
        {"containerType": "task", "projectId": "atlas", "title": "a", "tags": '["a"'},
        Invalid,
        "tags",
    ),
    "related to nobody": (
        {"containerType": "task", "projectId": "atlas", "title": "a", "relatedTo": "task-0"},
        NotFound,
        "relatedTo",
    ),
    "a status": ({"containerType": "task", "projectId": "atlas", "title": "a", "status": "ACTIVE"}, Invalid, "status"),
    "no such type": ({"containerType": "epic", "projectId": "atlas", "title": "a"}, Invalid, "containerType"),
    "a project with a priority": ({"containerType": "project", "name": "shop", "priority": "LOW"}, Invalid, "priority"),
    "a project of 51 tags": (
        {"containerType": "project", "name": "shop", "tags": [str(one) for one in range(51)]},
        Invalid,
        "tags",
    ),
    "a project that is there": ({"containerType": "project", "name": "atlas"}, Conflict, None),
    "a project without a name": ({"containerType": "project"}, Invalid, "name"),
}


def test_what_cannot_be_made_is_refused_with_its_field_and_leaves_nothing(client: ContainersClient) -> None:
    client.feature("coast")
    client.task("walk")
    before = client.counts(), len(client.call("project.list").projects)

    for what, (asked, family, field) in REFUSED.items():
        error = error_of(partial(client.call, "container.create", **client.insert_ids(asked)))
        assert isinstance(error, family), (what, error)
        assert field is None or error.details["field"] == field, what

    assert (client.counts(), len(client.call("project.list").projects)) == before


def test_a_project_whose_summary_is_too_long_is_refused(client: ContainersClient) -> None:
    error = error_of(lambda: client.call("container.create", containerType="project", name="shop", summary="x" * 5000))

    assert isinstance(error, Invalid)
    assert error.details["field"] == "summary"


def test_a_project_without_a_summary_is_called_by_its_name(client: ContainersClient) -> None:
    for name, given in {"shop": {}, "mill": {"summary": ""}}.items():
        project = client.call("container.create", containerType="project", name=name, **given).project
        assert project.summary == name


def test_a_feature_of_another_project_is_no_place_for_a_task(client: ContainersClient) -> None:
    other = client.create_project("shop")
    other.feature("till")

    error = error_of(lambda: client.task("walk", of="till", projectId="atlas"))

    assert (error.code, error.contract_code) == ("mixed_projects", None)


def test_what_is_made_can_be_told_from_its_history(client: ContainersClient) -> None:
    client.feature("coast")
    client.task("walk", of="coast", tags="wet", description="At low tide.")

    (made,) = client.history("walk")

    assert made.action == "created"
    assert {one.field: one.after for one in made.changes} == {
        "kind": "task",
        "summary": "walk",
        "parent": client["coast"],
        "properties": {"priority": 2, "description": "At low tide."},
        "tags": ["wet"],
    }


def test_what_is_sent_twice_is_made_once(client: ContainersClient) -> None:
    first = client.task("walk", op_id="once")
    again = client.task("walk", op_id="once")

    assert json.dumps(first.task.id) == json.dumps(again.task.id)
    assert client.counts()[0] == 2
