"""Templates are the organization's: every member reads and writes them, and nobody else knows of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from groundplan.kernel.errors import NotFound, Unauthenticated
from groundplan.kernel.output_gate import encode
from groundplan.session import Session
from groundplan.work.containers.templates.built_in import BUILT_IN
from tests.engines import Engine, PostgresEngine, person
from tests.work.cases import try_each
from tests.work.containers.templates.desk import NOWHERE, Templates
from tests.work.desk import refused

CALLS: dict[str, Callable[[Templates], Any]] = {
    "list": lambda desk: desk.names(),
    "get": lambda desk: desk.get("Canary", includeSections=True),
    "create": lambda desk: desk.create("New"),
    "update": lambda desk: desk.update("Canary", description="new"),
    "enable": lambda desk: desk.enable("Canary"),
    "disable": lambda desk: desk.disable("Canary"),
    "add a section": lambda desk: desk.add("Canary", "More"),
    "delete": lambda desk: desk.delete("Canary"),
}
every_call = pytest.mark.parametrize("call", CALLS)
every_refused_call = try_each("call", CALLS)


@pytest.fixture
def peopled(engine: Engine, desk: Templates) -> Templates:
    """Ada's organization with Cleo, who only views a project there, and a template; Mallory's is next door."""
    desk.session.call("project.create", name="atlas")
    desk.session.call("member.add", scopeId="atlas", userId="cleo", role="viewer")
    desk.create("Canary")
    desk.add("Canary", "Song")
    engine.found_organization("rival", "mallory")
    return desk


@every_call
def test_every_member_of_the_organization_may_read_and_write(peopled: Templates, call: str) -> None:
    CALLS[call](peopled.by(person("cleo")))


@every_refused_call
def test_a_stranger_gets_the_answer_of_an_organization_that_is_not_there(peopled: Templates, call: str) -> None:
    error = refused(lambda: CALLS[call](peopled.by(person("nobody of this name"))))

    assert isinstance(error, NotFound)
    assert error.details["thing"] == "organization"


@every_refused_call
def test_nobody_gets_in_without_a_name(peopled: Templates, call: str) -> None:
    nobody = Templates(Session(peopled.session.store, None), peopled.ids)

    assert isinstance(refused(lambda: CALLS[call](nobody)), Unauthenticated)


@try_each("call", ["get", "update", "enable", "disable", "add a section", "delete"])
def test_the_neighbours_template_reads_like_one_that_is_missing(peopled: Templates, call: str) -> None:
    def answer(id_: str) -> bytes:
        mallory = Templates(peopled.by(person("mallory", organization="rival")).session, {"Canary": id_})
        return encode(refused(lambda: CALLS[call](mallory)).body()).replace(id_.encode(), b"...")

    assert answer(peopled["Canary"]) == answer(NOWHERE)


def test_the_neighbours_see_none_of_it(peopled: Templates) -> None:
    mallory = Templates(peopled.by(person("mallory", organization="rival")).session)

    assert mallory.names() == sorted(one.name for one in BUILT_IN.values())


def test_the_database_itself_hides_templates_from_strangers(team: PostgresEngine) -> None:
    desk = Templates(team.session("ada"))
    desk.create("Canary")
    desk.add("Canary", "Song")
    team.found_organization("rival", "mallory")

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
