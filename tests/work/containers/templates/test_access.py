"""Templates belong to the organization: its members read and write them, others see nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from groundplan.kernel.answers import encode
from groundplan.kernel.errors import NotFound, Unauthenticated
from groundplan.session import Session
from groundplan.work.containers.built_in_templates import BUILT_IN
from tests.engines import Engine, PostgresEngine, person
from tests.errors import error_of
from tests.work.cases import try_each
from tests.work.containers.templates.client import NOWHERE, TemplatesClient

CALLS: dict[str, Callable[[TemplatesClient], Any]] = {
    "list": lambda client: client.names(),
    "get": lambda client: client.get("Canary", includeSections=True),
    "create": lambda client: client.create("New"),
    "update": lambda client: client.update("Canary", description="new"),
    "enable": lambda client: client.enable("Canary"),
    "disable": lambda client: client.disable("Canary"),
    "add a section": lambda client: client.add("Canary", "More"),
    "delete": lambda client: client.delete("Canary"),
}
every_call = pytest.mark.parametrize("call", CALLS)
every_refused_call = try_each("call", CALLS)


@pytest.fixture
def organization_with_members(engine: Engine, client: TemplatesClient) -> TemplatesClient:
    """Ada's organization with a template and with Cleo, who views a project; Mallory's is another one."""
    client.session.call("project.create", name="atlas")
    client.session.call("member.add", scopeId="atlas", userId="cleo", role="viewer")
    client.create("Canary")
    client.add("Canary", "Song")
    engine.create_organization("rival", "mallory")
    return client


@every_call
def test_every_member_of_the_organization_may_read_and_write(
    organization_with_members: TemplatesClient, call: str
) -> None:
    CALLS[call](organization_with_members.by(person("cleo")))


@every_refused_call
def test_a_stranger_gets_the_answer_of_an_organization_that_is_not_there(
    organization_with_members: TemplatesClient, call: str
) -> None:
    error = error_of(lambda: CALLS[call](organization_with_members.by(person("nobody of this name"))))

    assert isinstance(error, NotFound)
    assert error.details["thing"] == "organization"


@every_refused_call
def test_nobody_gets_in_without_a_name(organization_with_members: TemplatesClient, call: str) -> None:
    nobody = TemplatesClient(Session(organization_with_members.session.store, None), organization_with_members.ids)

    assert isinstance(error_of(lambda: CALLS[call](nobody)), Unauthenticated)


@try_each("call", ["get", "update", "enable", "disable", "add a section", "delete"])
def test_the_neighbours_template_reads_like_one_that_is_missing(
    organization_with_members: TemplatesClient, call: str
) -> None:
    def answer(id_: str) -> bytes:
        mallory = TemplatesClient(
            organization_with_members.by(person("mallory", organization="rival")).session, {"Canary": id_}
        )
        return encode(error_of(lambda: CALLS[call](mallory)).to_dict()).replace(id_.encode(), b"...")

    assert answer(organization_with_members["Canary"]) == answer(NOWHERE)


def test_the_neighbours_see_none_of_it(organization_with_members: TemplatesClient) -> None:
    mallory = TemplatesClient(organization_with_members.by(person("mallory", organization="rival")).session)

    assert mallory.names() == sorted(one.name for one in BUILT_IN.values())


def test_the_database_itself_hides_templates_from_strangers(team: PostgresEngine) -> None:
    desk = TemplatesClient(team.session("ada"))
    desk.create("Canary")
    desk.add("Canary", "Song")
    team.create_organization("rival", "mallory")

    for stranger in (person("mallory", organization="rival"), person("nobody of this name"), None):
        for table in ("work_templates", "work_template_sections"):
            assert team.as_app(stranger, f"SELECT count(*) FROM {table}") == [(0,)]
            assert team.as_app(stranger, f"DELETE FROM {table} RETURNING 1") == []
    with pytest.raises(team.refusals):
        team.as_app(
            person("mallory", organization="rival"),
            "INSERT INTO work_template_sections (tenant_id, template_id, id, ordinal, title, usage_description, "
            f"content_sample, content_format, is_required, tags) VALUES ('local', '{desk['Canary']}', 'x', 9, 'x', '', "
            "'', 'CODE', false, '[]')",
        )
