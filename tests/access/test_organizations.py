"""Two organizations with the same people and the same contents: nothing of one can be reached from the other.

Every id in every example of the registry is replaced by the same thing of the other organization. The answer must be
that for an id which does not exist.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec.structs import replace

from groundplan.catalog import OPERATIONS
from groundplan.kernel.actors import Access, Actor, ActorKind
from groundplan.kernel.answers import encode
from groundplan.kernel.cursors import InvalidCursor
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.operations.registry import Group
from groundplan.kernel.store import authorize
from groundplan.session import Session
from groundplan.surfaces.mcp.tools import RegistryTools
from reference.operation_pages import build_http_request, build_tool_call
from reference.placeholders import fill_placeholders
from tests.access.examples import EXAMPLES, ROWS
from tests.access.permissions import RULES
from tests.access.test_matrix import (
    BESIDE_ONES_OWN,
    MISSING,
    add_purpose,
    placeholder_values,
    plan_task_unlike,
    populate_atlas,
    without_names,
)
from tests.access.two_organizations import Tenant
from tests.engines import Engine, SqliteEngine, fill_once
from tests.kernel.tokens.holders import authenticate_token
from tests.proof import scaled
from tests.surfaces.http.client import HttpClient

OTHERS_PART = scaled(6, 1)  # of the places on surfaces above Python, in one run
TODAY = datetime.now(UTC).toordinal() % OTHERS_PART  # which of the parts: another one every day
CANARY = "wagtail"
HERE = Actor("local", "ada", ActorKind.PERSON, Access.MEMBERS)
THERE = replace(HERE, organization="rival")
# These refuse nothing: the answer lists what is unknown.
REPORTS_UNKNOWN = {
    "briefing.titles",
    "knowledge.record_check",
    "purpose.check as purpose.compliance",
    "work.connect",
}
Send = Callable[[str, dict[str, Any]], bytes]


def populate(engine: Engine) -> None:
    engine.create_organization("rival")
    for organization in ("local", "rival"):
        tenant = Tenant(engine, organization)
        populate_atlas(tenant)
        add_purpose(tenant)
        ada = tenant.session("ada")
        ada.call("template.create", name="Sheet to print", targetEntityType="TASK")
        ada.call("project.create", name="finn's own")
    hidden = Tenant(engine, "rival").session("ada")
    node = {"ref": "w", "summary": f"A {CANARY}", "properties": {"x": CANARY}}
    task = hidden.call("work.plan", project="atlas", nodes=[node]).created[0].id
    bird = {"entityType": "atom", "projectId": "atlas", "name": CANARY, "paths": [f"{CANARY}/**"]}
    hidden.call("knowledge.create", **bird, createdByTaskId=task)
    hidden.call("container.create", containerType="feature", name=CANARY, projectId="atlas", tags=CANARY)
    hidden.call("organization.add_member", name=CANARY)
    hidden.call("organization.configure", name=CANARY)


@pytest.fixture
def tenants(engine: Engine) -> Engine:
    fill_once(engine, populate)
    return engine


def find_ids(engine: Engine, organization: str) -> dict[str, str]:
    """Return the ids of everything in atlas of an organization; projects by id, because both have the same names."""
    found = placeholder_values(engine, "atlas", "ada", organization=organization)
    for name in ("project", "undrafted"):
        ((found[name],),) = engine.as_owner(
            f"SELECT id FROM projects WHERE tenant_id = '{organization}' AND name = '{found[name]}'"
        )
    assert {name for name, value in found.items() if value == MISSING[name]} == set()
    return found


def make_missing(id_: str) -> str:
    """Return an id that nothing has and that begins like this one, because errors suggest similar ids."""
    return id_[:-1] + ("0" if id_[-1] != "0" else "1")


def list_places() -> Iterator[tuple[str, str]]:
    """Yield each example and each placeholder in it.

    Without a project that is created if it is missing: there the id is a name, and everybody may choose their own.
    """
    for row, request in EXAMPLES.items():
        text = json.dumps(request)
        may_create = any(one.when_project_missing for one in (ROWS[row].requested, ROWS[row].handled))
        left_out = {"project", "undrafted"} if may_create else set()
        yield from ((row, name) for name in MISSING if f"{{{name}}}" in text and name not in left_out)


PLACES = list(list_places())


def find_leaks(engine: Engine, send: Send, places: list[tuple[str, str]]) -> dict[tuple[str, str], tuple[bytes, bytes]]:
    """Return the places where an id of the other organization is not answered like one that does not exist."""
    own, foreign = find_ids(engine, "local"), find_ids(engine, "rival")
    leaks = {}
    for row, name in places:

        def answer(id_: str, row: str = row, name: str = name) -> bytes:
            named = {**own, name: id_}
            return without_names(send(row, fill_placeholders(EXAMPLES[row], named)), named)

        answers = answer(foreign[name]), answer(make_missing(foreign[name]))
        if answers[0] != answers[1] or (answers[0].startswith(b"done") and row not in REPORTS_UNKNOWN):
            leaks[row, name] = answers
    return leaks


def call_in_python(session: Session) -> Send:
    def send(row: str, arguments: dict[str, Any]) -> bytes:
        try:
            return b"done" + encode(session.call(ROWS[row].requested.name, **arguments))
        except GroundplanError as refusal:
            return encode(refusal.to_dict())

    return send


def test_the_examples_name_things_in_many_places() -> None:
    assert len(PLACES) > 100
    assert {name for _, name in PLACES} == MISSING.keys() - {"kept"}  # which is named beside one's own


@pytest.mark.parametrize("access", list(Access))
def test_an_id_of_another_organization_is_unknown_wherever_an_id_can_stand(tenants: Engine, access: Access) -> None:
    session = tenants.session(replace(HERE, access=access))

    assert find_leaks(tenants, call_in_python(session), PLACES) == {}


def test_an_id_of_another_organization_is_unknown_over_rest(tenants: Engine) -> None:
    with HttpClient(tenants.store, lambda _name: HERE) as http:

        def send(row: str, arguments: dict[str, Any]) -> bytes:
            line, _, body = build_http_request(ROWS[row].requested, arguments).partition("\n\n")
            method, path = line.split(" ", 1)
            reply = http.send(method, path, json.loads(body) if body else None)
            headers = {name: value for name, value in reply.headers.items() if name != "content-length"}
            return (b"done" if reply.status < 300 else b"") + json.dumps([reply.status, headers]).encode() + reply.body

        leaks = find_leaks(tenants, send, PLACES[TODAY::OTHERS_PART])
    assert leaks == {}


def test_an_id_of_another_organization_is_unknown_over_mcp(tenants: Engine) -> None:
    session = tenants.session(HERE)
    tools = RegistryTools(OPERATIONS, frozenset(Group), session.execute)

    def send(row: str, arguments: dict[str, Any]) -> bytes:
        call = build_tool_call(ROWS[row].requested, arguments)
        answer = tools.call(call["name"], call["arguments"])
        return (b"" if answer.is_error else b"done") + answer.text.encode()

    places = [(row, name) for row, name in PLACES if ROWS[row].requested.tool is not None]
    assert find_leaks(tenants, send, places[TODAY::OTHERS_PART]) == {}


def test_an_id_of_another_organization_beside_ones_own_reads_like_one_that_is_missing(tenants: Engine) -> None:
    ada = tenants.session(HERE)
    ada.call("purpose.draft", project="finn's own")
    ada.call("project.create", name="finn's other")
    foreign = find_ids(tenants, "rival")
    missing = {name: make_missing(id_) for name, id_ in foreign.items()}
    task = plan_task_unlike(ada, [foreign["node"], missing["node"]])
    run, draft = (ada.call("context.create_draft", scopeId="finn's own").run.id for _ in range(2))
    ada.call("context.commit", runId=run)
    mine = {"mine": task, "my run": run, "my draft": draft}

    def answer(operation: str, arguments: dict[str, Any], named: dict[str, str]) -> bytes:
        named = {**named, **mine, "beginning": named["node"][:5]}
        try:
            answered = ada.call(operation, **fill_placeholders(arguments, named))
        except GroundplanError as refusal:
            answered = refusal.to_dict()
        return without_names(encode(answered), named)

    for operation, arguments in BESIDE_ONES_OWN:
        assert answer(operation, arguments, foreign) == answer(operation, arguments, missing), (operation, arguments)


WITH_CURSOR = sorted(
    row
    for row, one in ROWS.items()
    if {"cursor", "limit"} <= set(one.requested.input.__struct_fields__) and one.requested is one.handled
)


def test_a_cursor_of_another_organization_is_refused(tenants: Engine) -> None:
    here, there = tenants.session(HERE), tenants.session(THERE)
    refused = []
    for row in WITH_CURSOR:
        operation = ROWS[row].requested.name
        own, foreign = (
            {**fill_placeholders(EXAMPLES[row], find_ids(tenants, organization)), "limit": 1}
            for organization in ("local", "rival")
        )
        cursor = getattr(there.call(operation, **foreign), "next_cursor", None)
        if isinstance(cursor, str):
            with pytest.raises(InvalidCursor):
                here.call(operation, **own, cursor=cursor)
            refused.append(row)
    assert len(refused) >= 4, refused


def test_the_same_op_id_has_its_own_effect_in_each_organization(tenants: Engine) -> None:
    here, there = tenants.session(HERE), tenants.session(THERE)

    made = [one.call("project.create", name="twice", op_id="same") for one in (here, there, here, there)]

    assert made[0] == made[2] != made[1] == made[3]


def test_a_token_opens_its_own_organization_and_no_other(tenants: Engine) -> None:
    secret = tenants.session(THERE).call("token.create", kind="person").secret
    actor = authenticate_token(tenants.store, secret)
    foreign = find_ids(tenants, "local")

    assert actor.organization == "rival"
    assert {one.id for one in tenants.session(actor).call("token.list").tokens}.isdisjoint({foreign["token"]})
    with pytest.raises(GroundplanError) as refused:
        tenants.session(actor).call("member.list", scopeId=foreign["project"])
    assert refused.value.status == 404


def read_everything(engine: Engine) -> Iterator[tuple[str, bytes]]:
    """Yield what Ada gets for every example in her own organization, and for searches for the canary."""
    own = find_ids(engine, "local")
    for access in Access:
        session = engine.session(replace(HERE, access=access))
        searches: list[tuple[str, dict[str, Any]]] = [
            ("project.list", {"archived": True}),
            ("organization.events", {"limit": 200}),
            ("briefing.search", {"text": CANARY[:-1]}),
            ("container.search", {"containerType": "task", "query": CANARY[:-1]}),
            ("knowledge.context", {"projectId": "atlas", "paths": CANARY[:-1]}),
            ("member.list", {"scopeId": "atlass"}),
        ]
        reading = [
            (one.requested.name, fill_placeholders(EXAMPLES[row], own))
            for row, one in ROWS.items()
            if RULES[row].reads and not RULES[row].if_missing
        ]
        for operation, arguments in [*reading, *searches]:
            try:
                yield operation, encode(session.call(operation, **arguments))
            except GroundplanError as refusal:
                yield operation, encode(refusal.to_dict())


def find_canaries(engine: Engine) -> set[str]:
    return {operation for operation, answer in read_everything(engine) if CANARY.encode() in answer}


def test_nothing_of_another_organization_shows_in_any_answer(tenants: Engine) -> None:
    assert find_canaries(tenants) == set()


def test_an_organization_that_does_not_exist_reads_like_one_that_the_actor_is_not_in(tenants: Engine) -> None:
    def answer(actor: Actor) -> bytes:
        with pytest.raises(GroundplanError) as refused:
            tenants.session(actor).call("project.list")
        return encode(refused.value.to_dict()).replace(actor.organization.encode(), b"...")

    stranger = Actor("rival", "finn the stranger", ActorKind.PERSON, Access.MEMBERS)
    assert answer(stranger) == answer(replace(stranger, organization="nowhere"))


# --- Sabotage --------------------------------------------------------------------------------------------------------


@pytest.mark.teeth
def test_the_places_notice_a_project_that_is_looked_up_without_its_tenant(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from groundplan.kernel.store.queries import Query

    with closing(SqliteEngine(tmp_path / "plan.db")) as engine:
        fill_once(engine, populate)
        blind = authorize.sql.projects_by_ref.sqlite.replace("tenant_id = :tenant_id", ":tenant_id = :tenant_id")
        monkeypatch.setattr(authorize.sql, "projects_by_ref", Query("projects_by_ref", blind))
        session = engine.session(replace(HERE, access=Access.OPEN))

        assert find_leaks(engine, call_in_python(session), [("member.list", "project")])
