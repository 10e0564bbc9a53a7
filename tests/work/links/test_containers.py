"""Projects, features and tasks say what they are for, in their own dialect."""

from __future__ import annotations

import pytest
from msgspec import UNSET

from tests.errors import error_of
from tests.work.client import WorkClient
from tests.work.containers.client import ContainersClient
from tests.work.links.conftest import OWNER, SIZE
from tests.work.links.shown import inherited, last_changes, links


@pytest.fixture
def client(work: WorkClient) -> ContainersClient:
    return ContainersClient(work.session, work.project, work.ids)


def test_a_feature_and_a_task_are_created_with_what_they_are_for(client: ContainersClient) -> None:
    feature = client.feature("maps", serves=["OC1"], rests_on=[SIZE]).feature
    task = client.task("draw", of="maps", serves=["OP1"]).task

    assert [(one.to, one.title) for one in feature.serves] == [("OC1", "water")]
    assert [(one.to, one.inherited_from) for one in task.serves] == [("OP1", UNSET)]
    assert [(one.to, one.inherited_from) for one in task.rests_on] == [(SIZE, client["maps"])]
    assert last_changes(client, "maps")[-2:] == [("serves", None, ["OC1"]), ("rests_on", None, [SIZE])]


def test_an_update_replaces_the_links_and_an_empty_list_clears_them(client: ContainersClient) -> None:
    client.task("draw", serves=["OP1"], rests_on=[SIZE])

    client.change("draw", serves=["OC1", "G1"])
    assert links(client, "draw") == {"serves": ["G1", "OC1"], "rests_on": [SIZE]}
    assert last_changes(client, "draw") == [("serves", ["OP1"], ["G1", "OC1"])]

    client.change("draw", serves=[], rests_on=None)  # null is as if it was not given
    assert links(client, "draw") == {"rests_on": [SIZE]}
    client.change("draw", rests_on=[])
    assert links(client, "draw") == {}


def test_a_project_can_rest_on_facts_and_its_tasks_inherit_them(client: ContainersClient) -> None:
    client.task("draw")

    client.change_project(rests_on=[OWNER])

    assert inherited(client, "draw") == {"rests_on": [(OWNER, "root")]}


def test_a_change_that_changes_no_link_is_no_event_and_no_new_version(client: ContainersClient) -> None:
    before = client.task("draw", serves=["OP1"]).task.version

    assert client.change("draw", serves=["OP1"]).task.version == before
    assert client.actions("draw") == ["created"]


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"serves": ["OC9"]}, "unknown_key"),
        ({"rests_on": ["/nowhere"]}, "unknown_pointer"),
        ({"serves": ["AS1"]}, "wrong_link_kind"),
    ],
)
def test_what_leads_nowhere_is_refused_on_creation_and_on_update(
    client: ContainersClient, given: dict[str, list[str]], code: str
) -> None:
    client.task("draw")

    created, updated = (
        error_of(lambda: client.feature("maps", **given)),
        error_of(lambda: client.change("draw", **given)),
    )

    assert (created.code, updated.code) == (code, code)
    assert created.details["field"] == next(iter(given))


def test_a_new_project_has_no_purpose_to_serve(client: ContainersClient) -> None:
    error = error_of(lambda: client.call("container.create", containerType="project", name="new", serves=["G1"]))

    assert (error.code, error.details["field"]) == ("invalid_argument", "serves")


def test_a_task_without_links_is_shown_without_their_fields(client: ContainersClient) -> None:
    client.task("draw")
    shown = client.call("container.get", containerType="task", id=client["draw"]).task

    assert {shown.serves, shown.rests_on, shown.supports, shown.refutes} == {UNSET}
