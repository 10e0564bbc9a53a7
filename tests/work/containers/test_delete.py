"""What is deleted is gone with all that lies beside it; what waited for it is free, and its history stays."""

from __future__ import annotations

import pytest

from groundplan.kernel.errors import Forbidden, NotFound
from tests.engines import Engine, person
from tests.work.containers.desk import Containers
from tests.work.desk import refused


def test_a_deleted_task_is_gone_and_its_id_stays_taken(desk: Containers) -> None:
    desk.task("walk", tags="wet")
    desk.call("section.add", entityType="TASK", entityId=desk["walk"], title="Notes", content="n")
    desk.update("walk", add_evidence=[{"type": "note", "ref": "n"}])

    answer = desk.delete("walk")

    assert (answer.deleted, answer.count) == (desk["walk"], 1)
    error = refused(lambda: desk.call("container.get", containerType="task", id=desk["walk"]))
    assert isinstance(error, NotFound)
    assert "deleted" in error.message
    assert desk.found() == []
    assert desk.counts() == (1, 0, 1, 0, 0)
    assert desk.project_shown().task_counts.total == 0


def test_the_history_of_what_was_deleted_can_be_read(desk: Containers) -> None:
    desk.task("walk")
    desk.advance("walk")
    desk.delete("walk")

    assert desk.actions("walk") == ["created", "advanced", "deleted"]


def test_nothing_is_left_of_what_lay_beside_a_deleted_task(desk: Containers, engine: Engine) -> None:
    desk.feature("coast", tags="sea")
    desk.task("walk", of="coast", tags="wet")
    desk.task("draw", relatedTo=desk["walk"])
    section = {"entityType": "TASK", "entityId": desk["walk"], "title": "Notes", "content": "n", "tags": "x"}
    desk.call("section.add", **section)
    desk.update("walk", add_evidence=[{"type": "note", "ref": "n"}])

    desk.delete("coast", cascade=True)

    for table in ("work_sections", "work_section_tags", "work_node_tags", "work_evidence", "work_edges"):
        assert engine.as_owner(f"SELECT count(*) FROM {table}") == [(0,)]
    assert desk.shown("draw").related_to == []


def test_what_waited_for_a_deleted_task_is_released_and_told_so(desk: Containers) -> None:
    desk.tasks("pay", "walk", "draw")
    desk.depend("pay", "walk")
    desk.depend("pay", "draw")
    desk.hold("draw")
    before = desk.version("walk")

    answer = desk.delete("pay")

    assert desk.names(answer.unblocked_entities) == ["walk"]
    assert (desk.version("walk"), desk.actions("walk")[-1]) == (before + 1, "disconnected")
    assert (desk.state("walk").is_blocked, desk.state("draw").blocked_by) == (False, ["NO_OP"])
    assert desk.next() == ["walk"]


def test_what_waited_below_a_deleted_feature_is_released_with_the_tasks_of_a_feature_that_waited(
    desk: Containers,
) -> None:
    desk.feature("coast")
    desk.feature("hills")
    desk.task("walk", of="coast")
    desk.task("climb", of="hills")
    desk.depend("walk", "hills")
    assert desk.next_task() == "walk"

    desk.delete("coast", cascade=True)

    assert desk.next_task() == "climb"


@pytest.mark.parametrize("name", ["coast", "walk"])
def test_what_has_something_below_it_is_deleted_only_with_it(desk: Containers, name: str) -> None:
    desk.feature("coast")
    desk.task("walk", of="coast")
    desk.plan("map\n  scale", under="walk")
    below = {"coast": 3, "walk": 2}[name]

    error = refused(lambda: desk.delete(name))
    assert (error.code, error.contract_code) == ("has_children", "INVALID_OPERATION")
    assert (error.details["field"], error.details["count"]) == ("cascade", below)
    assert refused(lambda: desk.delete(name, cascade=False)).code == "has_children"

    assert desk.delete(name, cascade=True).count == below + 1
    assert desk.query(text="scale") == []


def test_a_feature_keeps_exact_counts_when_tasks_of_every_status_are_deleted(desk: Containers) -> None:
    desk.feature("coast")
    desk.tasks("a", "b", "c", "d", of="coast")
    desk.close("a")
    desk.terminate("b")
    desk.advance("c")

    for name, left in {
        "a": {"NEW": 1, "ACTIVE": 1, "WILL_NOT_IMPLEMENT": 1},
        "b": {"NEW": 1, "ACTIVE": 1},
        "c": {"NEW": 1},
        "d": {},
    }.items():
        desk.delete(name)
        assert desk.counted("coast") == desk.counted() == left
    assert desk.status("coast") == "ACTIVE"  # deleting its last task does not close it


def test_a_node_of_the_graph_dialect_is_deleted_like_a_task(desk: Containers) -> None:
    desk.plan("a\n  b\nc: b")

    desk.call("container.delete", containerType="task", id=desk["a"], version=1, cascade=True)

    assert desk.next() == ["c"]


def test_an_id_that_was_deleted_begins_no_other(desk: Containers) -> None:
    desk.task("walk")
    desk.delete("walk")

    assert isinstance(refused(lambda: desk.update("walk", summary="x")), NotFound)
    assert isinstance(refused(lambda: desk.depend("walk", "walk")), NotFound)


# --- Projects ---


def test_a_deleted_project_is_put_away_and_everything_in_it_stays(desk: Containers) -> None:
    desk.task("walk")
    asked = {"containerType": "project", "id": "atlas", "version": 1}

    error = refused(lambda: desk.call("container.delete", **asked))
    assert error.code == "has_children"
    answer = desk.call("container.delete", **asked, cascade=True)

    assert (answer.archived, answer.count) == (True, 2)
    assert desk.call("container.search", containerType="project").count == 0
    assert desk.call("container.next_task") is None
    desk.call("project.restore", project="atlas")
    assert desk.status("walk") == "NEW"


def test_an_empty_project_is_put_away_by_its_owner_alone(desk: Containers) -> None:
    desk.call("member.add", scopeId="atlas", userId="ben", role="editor")
    asked = {"containerType": "project", "id": "atlas", "version": 1}

    assert isinstance(refused(lambda: desk.by(person("ben")).call("container.delete", **asked)), Forbidden)
    assert desk.call("container.delete", **asked).archived is True
