"""A deleted container is gone with its sections and edges; what waited for it is released, and its history stays."""

from __future__ import annotations

import pytest

from groundplan.kernel.errors import Forbidden, NotFound
from tests.engines import Engine, person
from tests.errors import error_of
from tests.work.containers.client import ContainersClient


def test_a_deleted_task_is_gone_and_its_id_stays_taken(client: ContainersClient) -> None:
    client.task("walk", tags="wet")
    client.call("section.add", entityType="TASK", entityId=client["walk"], title="Notes", content="n")
    client.update("walk", add_evidence=[{"type": "note", "ref": "n"}])

    answer = client.delete("walk")

    assert (answer.deleted, answer.count) == (client["walk"], 1)
    error = error_of(lambda: client.call("container.get", containerType="task", id=client["walk"]))
    assert isinstance(error, NotFound)
    assert "deleted" in error.message
    assert client.search() == []
    assert client.counts() == (1, 0, 1, 0, 0)
    assert client.get_project().task_counts.total == 0


def test_the_history_of_what_was_deleted_can_be_read(client: ContainersClient) -> None:
    client.task("walk")
    client.advance("walk")
    client.delete("walk")

    assert client.actions("walk") == ["created", "advanced", "deleted"]


def test_nothing_is_left_of_what_lay_beside_a_deleted_task(client: ContainersClient, engine: Engine) -> None:
    client.feature("coast", tags="sea")
    client.task("walk", of="coast", tags="wet")
    client.task("draw", relatedTo=client["walk"])
    section = {"entityType": "TASK", "entityId": client["walk"], "title": "Notes", "content": "n", "tags": "x"}
    client.call("section.add", **section)
    client.update("walk", add_evidence=[{"type": "note", "ref": "n"}])

    client.delete("coast", cascade=True)

    for table in ("work_sections", "work_section_tags", "work_node_tags", "work_evidence", "work_edges"):
        assert engine.as_owner(f"SELECT count(*) FROM {table}") == [(0,)]
    assert client.get("draw").related_to == []


def test_what_waited_for_a_deleted_task_is_released_and_told_so(client: ContainersClient) -> None:
    client.tasks("pay", "walk", "draw")
    client.depend("pay", "walk")
    client.depend("pay", "draw")
    client.hold("draw")
    before = client.version("walk")

    answer = client.delete("pay")

    assert client.names(answer.unblocked_entities) == ["walk"]
    assert (client.version("walk"), client.actions("walk")[-1]) == (before + 1, "disconnected")
    assert (client.state("walk").is_blocked, client.state("draw").blocked_by) == (False, ["NO_OP"])
    assert client.next() == ["walk"]


def test_what_waited_below_a_deleted_feature_is_released_with_the_tasks_of_a_feature_that_waited(
    client: ContainersClient,
) -> None:
    client.feature("coast")
    client.feature("hills")
    client.task("walk", of="coast")
    client.task("climb", of="hills")
    client.depend("walk", "hills")
    assert client.next_task() == "walk"

    client.delete("coast", cascade=True)

    assert client.next_task() == "climb"


@pytest.mark.parametrize("name", ["coast", "walk"])
def test_what_has_something_below_it_is_deleted_only_with_it(client: ContainersClient, name: str) -> None:
    client.feature("coast")
    client.task("walk", of="coast")
    client.plan("map\n  scale", under="walk")
    below = {"coast": 3, "walk": 2}[name]

    error = error_of(lambda: client.delete(name))
    assert (error.code, error.contract_code) == ("has_children", "INVALID_OPERATION")
    assert (error.details["field"], error.details["count"]) == ("cascade", below)
    assert error_of(lambda: client.delete(name, cascade=False)).code == "has_children"

    assert client.delete(name, cascade=True).count == below + 1
    assert client.query(text="scale") == []


def test_a_feature_keeps_exact_counts_when_tasks_of_every_status_are_deleted(client: ContainersClient) -> None:
    client.feature("coast")
    client.tasks("a", "b", "c", "d", of="coast")
    client.close("a")
    client.terminate("b")
    client.advance("c")

    for name, left in {
        "a": {"NEW": 1, "ACTIVE": 1, "WILL_NOT_IMPLEMENT": 1},
        "b": {"NEW": 1, "ACTIVE": 1},
        "c": {"NEW": 1},
        "d": {},
    }.items():
        client.delete(name)
        assert client.count_by_status("coast") == client.count_by_status() == left
    assert client.status("coast") == "ACTIVE"  # deleting its last task does not close it


def test_a_node_of_the_graph_dialect_is_deleted_like_a_task(client: ContainersClient) -> None:
    client.plan("a\n  b\nc: b")

    client.call("container.delete", containerType="task", id=client["a"], version=1, cascade=True)

    assert client.next() == ["c"]


def test_an_id_that_was_deleted_begins_no_other(client: ContainersClient) -> None:
    client.task("walk")
    client.delete("walk")

    assert isinstance(error_of(lambda: client.update("walk", summary="x")), NotFound)
    assert isinstance(error_of(lambda: client.depend("walk", "walk")), NotFound)


# --- Projects ---


def test_a_deleted_project_is_put_away_and_everything_in_it_stays(client: ContainersClient) -> None:
    client.task("walk")
    asked = {"containerType": "project", "id": "atlas", "version": 1}

    error = error_of(lambda: client.call("container.delete", **asked))
    assert error.code == "has_children"
    answer = client.call("container.delete", **asked, cascade=True)

    assert (answer.archived, answer.count) == (True, 2)
    assert client.call("container.search", containerType="project").count == 0
    assert client.call("container.next_task") is None
    client.call("project.restore", project="atlas")
    assert client.status("walk") == "NEW"


def test_an_empty_project_is_put_away_by_its_owner_alone(client: ContainersClient) -> None:
    client.call("member.add", scopeId="atlas", userId="ben", role="editor")
    asked = {"containerType": "project", "id": "atlas", "version": 1}

    assert isinstance(error_of(lambda: client.by(person("ben")).call("container.delete", **asked)), Forbidden)
    assert client.call("container.delete", **asked).archived is True


def test_only_what_depended_on_a_deleted_task_is_named_as_unblocked(client: ContainersClient) -> None:
    client.feature("coast")
    client.task("walk")
    client.task("draw", of="coast", relatedTo=client["walk"])
    client.depend("walk", "coast")

    answer = client.delete("walk")

    assert client.names(answer.unblocked_entities) == ["coast"]
    assert client.next() == ["draw"]
