"""Regressions: bugs that containers once had."""

from __future__ import annotations

import json
from typing import Any

import pytest

from groundplan.catalog import OPERATIONS
from groundplan.kernel.actors import local_actor
from groundplan.kernel.answers import count_tokens, encode
from groundplan.kernel.operations.registry import Group
from groundplan.kernel.preferences import Preferences
from groundplan.session import Session
from groundplan.surfaces.mcp.tools import RegistryTools
from groundplan.work.kinds import WorkPreferences
from tests.errors import error_of
from tests.work.containers.client import ContainersClient

MANY = 53


def plan_many(client: ContainersClient, **given: Any) -> list[str]:
    names = [f"n{place}" for place in range(MANY)]
    client.plan("\n".join(names), **given)
    return names


def test_relations_that_were_not_shown_are_counted_and_not_replaced_unseen(client: ContainersClient) -> None:
    client.task("hub")
    for name in plan_many(client):
        client.depend("hub", name, type="RELATES_TO")

    shown = client.get("hub")
    error = error_of(lambda: client.change("hub", relatedTo=shown.related_to))

    assert (len(shown.related_to), shown.related_to_total) == (50, MANY)
    assert (error.code, error.details["field"]) == ("too_many", "relatedTo")
    assert client.get("hub").related_to_total == MANY


def test_blockers_that_are_not_shown_are_counted_wherever_they_are_told(client: ContainersClient) -> None:
    client.task("last")
    names = plan_many(client)
    client.block("last", *names[:50])
    client.block("last", *names[50:])

    assert client.get("last").blocked_by_total == MANY
    assert client.state("last").blocked_by_total == MANY
    assert error_of(lambda: client.advance("last")).details["blockedByTotal"] == MANY


@pytest.mark.parametrize("ending", ["terminate", "delete", "close"])
def test_those_who_are_released_are_counted_where_they_are_not_all_listed(
    client: ContainersClient, ending: str
) -> None:
    client.task("hub")
    client.plan("\n".join(f"n{place}: hub" for place in range(MANY)))

    answer = getattr(client, ending)("hub")

    assert (len(answer.unblocked_entities), answer.unblocked_entities_total) == (50, MANY)


def test_a_section_that_went_with_its_task_still_has_its_answers(client: ContainersClient) -> None:
    client.task("walk")
    place = {"entityType": "TASK", "entityId": client["walk"]}
    section = client.call("section.add", **place, title="Notes")
    change = {"sectionId": section.id, "version": 1, "title": "Tides", "op_id": "once"}
    given = client.call("section.update", **change)
    client.delete("walk")

    assert client.call("section.update", **change) == given


def test_the_steps_that_a_project_began_with_are_in_its_history(client: ContainersClient) -> None:
    steps = {"task": ["NEW", "ACTIVE", "CLOSED"], "feature": ["NEW", "ACTIVE", "CLOSED"]}
    preferences = Preferences(of_slices=(WorkPreferences(pipelines=json.dumps(steps)),))
    session = Session(client.session.store, local_actor("ada"), preferences=preferences)
    made = session.call("container.create", containerType="project", name="borealis").project

    created = session.call("work.history", node_id=made.id).events[-1]

    assert {change.field: change.after for change in created.changes}["pipelines"] == steps


def test_what_another_operation_of_the_tool_takes_is_ignored_with_a_warning_where_it_says_something(
    client: ContainersClient,
) -> None:
    client.task("walk")
    tools = RegistryTools(OPERATIONS, {Group.CONTAINERS}, client.session.execute)
    get = {"operation": "get", "containerType": "task", "id": client["walk"]}

    plain = tools.call("query_container", get)
    silent = tools.call("query_container", {**get, "limit": 20, "offset": 0, "query": "", "featureId": "", "tags": []})
    warned = tools.call("query_container", {**get, "limit": 5})

    assert silent == plain
    (warning,) = json.loads(warned.text)["data"].pop("warnings")
    assert "limit (for search or overview)" in warning


def test_a_task_with_much_beside_it_is_answered_within_the_cap(client: ContainersClient) -> None:
    client.task("walk", description="d" * 16_000)
    place = {"entityType": "TASK", "entityId": client["walk"]}
    sections = [{"title": f"s{n}", "usageDescription": "u" * 900} for n in range(49)]
    client.call(
        "section.bulk_create", **place, sections=[{"title": "Context Files", "content": "- src/a.py"}, *sections]
    )
    for n in range(8):
        knowledge = {"entityType": "atom", "projectId": client.project, "createdByTaskId": client["walk"]}
        client.call("knowledge.create", **knowledge, name=f"a{n}", paths=["src/**"], knowledge="k" * 6_000)
    cap = 10_000
    capped = Session(client.session.store, client.session.actor, preferences=Preferences(answer_tokens_max=cap))

    answer = capped.call("container.get", containerType="task", id=client["walk"], includeGraphContext=True)

    assert count_tokens(encode({"success": True, "data": answer})) <= cap
    assert answer.sections[-1].left_out or answer.task.left_out
    assert answer.graph_context.unmatched_paths == []


def test_a_task_that_comes_begun_into_a_new_feature_begins_it_and_those_above(client: ContainersClient) -> None:
    client.feature("atlas")
    client.feature("coast")
    client.move("coast", under="atlas")
    client.task("walk")
    client.claim()

    client.change("walk", featureId=client["coast"])

    assert client.statuses("coast", "atlas") == ["ACTIVE", "ACTIVE"]
