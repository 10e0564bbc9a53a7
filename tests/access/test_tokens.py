"""What tokens allow, for each kind, role and list of projects, on both engines, compared with the permission table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from groundplan.kernel.access import Permission, Role
from groundplan.kernel.actors import Access, Actor, ActorKind
from groundplan.kernel.answers import encode
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.store import authorize
from groundplan.kernel.store.postgres.store import PostgresStore
from groundplan.kernel.store.queries import Query
from groundplan.kernel.store.transaction import Transaction
from tests.access.examples import ROWS, example
from tests.access.permissions import FOR_PERSONS, RULES, is_allowed
from tests.access.test_matrix import (
    ACCEPTS_A_SUGGESTION,
    OF_A_PROJECT,
    creates_project,
    make_databases,
    placeholder_values,
    populate_with_purpose,
    without_names,
)
from tests.engines import Engine, PostgresEngine, fill_once, run_and_undo
from tests.kernel.tokens.holders import authenticate_token
from tests.proof import scaled

CANARY = "wren"  # a word of atlas, which a token for another project must never show
NAMES = {ActorKind.PERSON: "ada", ActorKind.AGENT: "bot", ActorKind.SERVICE: "robot"}  # all are stored as owners
ATLAS, NORTH = "atlas", "north"
LISTS = {ATLAS: [ATLAS, "south of atlas"], NORTH: [NORTH], None: None}  # examples are about the first two
ROWS_PART = scaled(7, 1)  # each token is tried with every seventh row, and in a proof with all


class Cell(NamedTuple):
    """A token: its kind, the role that it is limited to, and the project of its list."""

    kind: ActorKind
    role: Role | None
    project: str | None

    @property
    def largest_role(self) -> Role:
        """The role in the project, written independently of the code that enforces it."""
        by_policy = Role.EDITOR if self.kind is ActorKind.AGENT else Role.OWNER
        return min(by_policy, self.role or Role.OWNER, key=[Role.VIEWER, Role.EDITOR, Role.OWNER].index)


CELLS = [
    Cell(*one)
    for one in product(ActorKind, (Role.VIEWER, Role.EDITOR, Role.OWNER, None), (None, ATLAS, NORTH))
    if one[0] is ActorKind.PERSON or one[1] is not None
]
SERVICES_REFUSED = {"context.delete"}  # only a person deletes what was committed


def populate(engine: Engine) -> dict[Cell, Actor]:
    """Add a service and canaries to atlas, and create every token. Return the actors that they prove."""
    populate_with_purpose(engine)
    ada = engine.session("ada")
    ada.call("project.create", name=NORTH)
    ada.call("container.create", containerType="feature", name="North", projectId=NORTH, tags="coast")
    ada.call("member.add", scopeId=NORTH, userId="bot", role="owner", kind="agent")
    for project in (ATLAS, "south of atlas", NORTH):
        ada.call("member.add", scopeId=project, userId="robot", role="owner", kind="service")
    node = {"ref": "w", "summary": f"A {CANARY}", "properties": {"x": CANARY}}
    task = ada.call("work.plan", project=ATLAS, nodes=[node]).created[0].id
    bird = {"entityType": "atom", "projectId": ATLAS, "name": CANARY, "paths": [f"{CANARY}/**"]}
    ada.call("knowledge.create", **bird, createdByTaskId=task)
    ada.call("container.create", containerType="feature", name=CANARY, projectId=ATLAS, tags=CANARY)
    nodes = [{"ref": name, "summary": f"Walk with {name}"} for name in NAMES.values()]
    planned = {one.ref: one.id for one in ada.call("work.plan", project=ATLAS, nodes=nodes).created}
    for kind, name in NAMES.items():  # a last change of each that can be undone
        holder = engine.session(Actor("local", name, kind, Access.MEMBERS))
        holder.call("work.update", updates=[{"node_id": planned[name], "state": "begun"}])
    return {cell: _log_in(engine, cell) for cell in CELLS}


def _log_in(engine: Engine, cell: Cell) -> Actor:
    limits: dict[str, Any] = {"role": cell.role, "projects": LISTS[cell.project]}
    created = engine.session("ada").call("token.create", kind=cell.kind, name=NAMES[cell.kind], **limits)
    return authenticate_token(engine.store, created.secret)


@pytest.fixture
def holders(engine: Engine) -> dict[Cell, Actor]:
    return fill_once(engine, populate)


def expected_status(row: str, cell: Cell) -> int:
    """Return the status by the hand-written table, whatever the operation says about itself."""
    rule = RULES[row]
    if not rule.in_project:
        return _expected_in_organization(rule.permission, cell)
    if cell.project == NORTH:
        if rule.if_missing is not None:
            return _expected_in_organization(rule.if_missing, cell)
        return 404
    # Ada wrote what the examples are about, and the tokens of persons are hers.
    if not is_allowed(cell.largest_role, rule.declared if cell.kind is ActorKind.PERSON else rule.permission):
        return 403
    if cell.kind is not ActorKind.PERSON and row in ACCEPTS_A_SUGGESTION:
        return 422
    return 422 if cell.kind is ActorKind.SERVICE and row in SERVICES_REFUSED else 200


def _expected_in_organization(permission: Permission, cell: Cell) -> int:
    if permission in FOR_PERSONS and cell.kind is not ActorKind.PERSON:
        return 403
    role = Role.VIEWER if cell.project else cell.role or Role.OWNER
    return 200 if is_allowed(role, permission) else 403


def changes_something(row: str, cell: Cell) -> bool:
    return expected_status(row, cell) == 200 and not RULES[row].reads


def find_status(engine: Engine, row: str, actor: Actor, named: dict[str, str]) -> int:
    try:
        engine.session(actor).call(ROWS[row].requested.name, **example(row, named))
    except GroundplanError as refusal:
        return refusal.status
    except engine.refusals:  # only where a check is switched off
        return 500
    return 200


def find_wrong_cells(engine: Engine, holders: dict[Cell, Actor]) -> dict[tuple[str, Cell], int]:
    """Return the requests that change nothing by the permission table, and have another status."""
    named = {name: placeholder_values(engine, ATLAS, name) for name in NAMES.values()}
    return {
        (row, cell): status
        for number, (cell, actor) in enumerate(holders.items())
        for row in list(ROWS)[number % ROWS_PART :: ROWS_PART]
        if not changes_something(row, cell) and not creates_project(row)
        if (status := find_status(engine, row, actor, named[actor.id])) != expected_status(row, cell)
    }


def test_a_token_allows_no_more_than_its_kind_its_role_and_its_projects(
    engine: Engine, holders: dict[Cell, Actor]
) -> None:
    assert find_wrong_cells(engine, holders) == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    "cell",
    [Cell(ActorKind.PERSON, Role.EDITOR, ATLAS), Cell(ActorKind.AGENT, Role.OWNER, None)],
    ids=["person, editor, atlas", "agent, owner"],
)
def test_what_a_token_allows_can_be_done_with_it(engine: Engine, tmp_path: Path, cell: Cell) -> None:
    rows = [row for row in list(ROWS)[::ROWS_PART] if changes_something(row, cell) and not creates_project(row)]
    worlds = make_databases(engine, tmp_path, populate)  # type: ignore[arg-type] # the result is not needed
    world = next(worlds)
    refused = {}
    for row in rows:
        for _ in range(2):  # a request that comes too late in one database is repeated in a new one
            actor = _log_in(world, cell)
            if find_status(world, row, actor, placeholder_values(world, ATLAS, actor.id)) == 200:
                break
            world = next(worlds)
        else:
            refused[row] = cell
    assert refused == {}


def test_a_project_that_a_token_does_not_open_reads_like_one_that_does_not_exist(
    engine: Engine, holders: dict[Cell, Actor]
) -> None:
    hidden, missing = (placeholder_values(engine, project, "ada") for project in (ATLAS, "sumac"))
    actor = holders[Cell(ActorKind.PERSON, None, NORTH)]

    def answer(row: str, named: dict[str, str]) -> bytes:
        with pytest.raises(GroundplanError) as refusal:
            engine.session(actor).call(ROWS[row].requested.name, **example(row, named))
        return without_names(encode(refusal.value.to_dict()), named)

    told = {row: (answer(row, hidden), answer(row, missing)) for row in OF_A_PROJECT}
    assert {row: answers for row, answers in told.items() if answers[0] != answers[1]} == {}


def read_everything(engine: Engine, actor: Actor) -> Iterator[tuple[str, bytes]]:
    """Yield what an actor gets for every reading request about atlas and about no project."""
    named = placeholder_values(engine, ATLAS, actor.id)
    searches: list[tuple[str, dict[str, Any]]] = [
        ("project.list", {"archived": True}),
        ("container.search", {"containerType": "task", "query": CANARY}),
        ("container.search", {"containerType": "feature", "tags": CANARY}),
        ("member.list", {"scopeId": "atlass"}),
    ]
    reading = [
        (ROWS[row].requested.name, example(row, named))
        for row in ROWS
        if RULES[row].reads and not RULES[row].if_missing
    ]
    for operation, arguments in [*reading, *searches]:
        if "name" in arguments or operation not in {row.requested.name for row in ROWS.values()}:
            continue
        try:
            answer = encode(engine.session(actor).call(operation, **arguments))
        except GroundplanError as refusal:
            body = refusal.to_dict()
            # An error repeats what the request named.
            answer = without_names(encode(body), named).replace(b"atlass", b"")
        yield operation, answer


def find_canaries(engine: Engine, actor: Actor) -> list[str]:
    return [
        operation
        for operation, answer in read_everything(engine, actor)
        if CANARY.encode() in answer or b'"atlas"' in answer
    ]


@pytest.mark.parametrize("access", list(Access))
def test_nothing_of_other_projects_shows_in_any_answer(
    engine: Engine, holders: dict[Cell, Actor], access: Access
) -> None:
    inside, outside = (
        replace(holders[Cell(ActorKind.PERSON, None, project)], access=access) for project in (ATLAS, NORTH)
    )

    assert find_canaries(engine, outside) == []
    assert len(find_canaries(engine, inside)) > 5


def find_allowed_statements(engine: PostgresEngine, actor: Actor) -> set[str]:
    """Return which raw SQL statements the database lets an actor run with an effect."""
    statements = {
        "read": "SELECT id FROM projects WHERE name = 'atlas'",
        "read nodes": "SELECT n FROM work_nodes WHERE project_id = (SELECT id FROM projects WHERE name = 'atlas')",
        "edit": "UPDATE projects SET updated_at = updated_at WHERE name = 'atlas' RETURNING id",
        "manage": "DELETE FROM project_members WHERE user_id = 'cleo' AND project_id = "
        "(SELECT id FROM projects WHERE name = 'atlas') RETURNING user_id",
        "create": "INSERT INTO projects (tenant_id, id, name, created_at, created_by, updated_at) VALUES "
        f"('local', 'zzzzzz', 'new', '2026-01-01T00:00:00.000Z', '{actor.id}', '2026-01-01T00:00:00.000Z') "
        "ON CONFLICT DO NOTHING",
        "template": "DELETE FROM work_templates RETURNING id",
        "token": "INSERT INTO access_tokens (tenant_id, id, digest, kind, actor_id, access, role_max, created_at, "
        f"created_by, sponsor_id) VALUES ('local', 'q', '{'0' * 64}', 'agent', 'bot', 'members', 'owner', "
        f"'2026-01-01T00:00:00.000Z', '{actor.id}', '{actor.id}')",
    }
    allowed = set()
    with engine.transaction(actor, keep=False) as run:
        for name, statement in statements.items():
            try:
                if run_and_undo(run, statement) or statement.startswith("INSERT"):
                    allowed.add(name)
            except engine.refusals:
                pass
    return allowed


def expected_statements(cell: Cell) -> set[str]:
    inside = cell.project != NORTH
    role = cell.largest_role
    token_role = cell.role or Role.OWNER
    in_organization = cell.project is None
    allowed = {
        "read": inside,
        "read nodes": inside,
        "edit": inside and role is not Role.VIEWER,
        "manage": inside and role is Role.OWNER,
        "create": in_organization and token_role is not Role.VIEWER,
        "template": in_organization and token_role is not Role.VIEWER,
        "token": in_organization and token_role is Role.OWNER and cell.kind is ActorKind.PERSON,
    }
    return {name for name, is_allowed in allowed.items() if is_allowed}


def find_wrong_statements(engine: PostgresEngine, holders: dict[Cell, Actor]) -> dict[Cell, set[str]]:
    return {
        cell: wrong
        for cell, actor in holders.items()
        if (wrong := find_allowed_statements(engine, actor) ^ expected_statements(cell))
    }


def test_row_level_security_knows_the_limits_of_a_token(team: PostgresEngine) -> None:
    assert find_wrong_statements(team, fill_once(team, populate)) == {}


def test_the_next_caller_on_a_pooled_connection_does_not_inherit_limits(team: PostgresEngine) -> None:
    holders = fill_once(team, populate)
    one = Cell(ActorKind.PERSON, Role.VIEWER, NORTH)
    with closing(PostgresStore(team.app_url, connections_max=1)) as store:

        def count_projects(actor: Actor, *, fails: bool) -> int:
            def run(tx: Transaction) -> int:
                found = len(tx.all(Query("raw", "SELECT id FROM projects WHERE tenant_id = :tenant_id")))
                if fails:
                    raise TimeoutError(found)
                return found

            try:
                return store.read(actor, run)
            except TimeoutError as ended:
                return int(ended.args[0])

        free = holders[Cell(ActorKind.PERSON, None, None)]
        counts = [
            (count_projects(holders[one], fails=fails), count_projects(free, fails=not fails))
            for fails in (False, True, False)
        ]

    assert counts == [(1, 3)] * 3


# --- Sabotage --------------------------------------------------------------------------------------------------------


@pytest.mark.teeth
def test_the_matrix_notices_a_role_that_python_does_not_check(
    engine: Engine, holders: dict[Cell, Actor], monkeypatch: pytest.MonkeyPatch
) -> None:
    limit_role = authorize.limit_role
    monkeypatch.setattr(authorize, "limit_role", lambda actor, *rest: limit_role(replace(actor, role_max=None), *rest))

    assert find_wrong_cells(engine, {cell: holders[cell] for cell in CELLS[:6]})


@pytest.mark.teeth
def test_the_matrix_notices_a_list_of_projects_that_python_does_not_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.engines import SqliteEngine

    engine = SqliteEngine(tmp_path / "plan.db")
    holders = fill_once(engine, populate)
    monkeypatch.setattr(authorize, "_limit_membership", lambda _tx, _project_id, role: role)

    assert find_wrong_cells(engine, {cell: one for cell, one in holders.items() if cell.project == NORTH})
    engine.close()


@pytest.mark.teeth
def test_the_canaries_notice_a_list_of_projects_that_searches_ignore(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.engines import SqliteEngine

    engine = SqliteEngine(tmp_path / "plan.db")
    actor = fill_once(engine, populate)[Cell(ActorKind.PERSON, None, NORTH)]
    monkeypatch.setattr(Actor, "is_limited", property(lambda _: False))

    assert find_canaries(engine, actor)
    engine.close()


@pytest.mark.teeth
@pytest.mark.parametrize(
    ("function", "body"),
    [
        ("gp_smaller_role(role text, role_max text) RETURNS text", "IMMUTABLE PARALLEL SAFE RETURN role"),
        ("gp_only_projects() RETURNS text", "STABLE PARALLEL SAFE RETURN NULL::text"),
        ("gp_may_write_organization() RETURNS boolean", "STABLE PARALLEL SAFE RETURN true"),
        ("gp_actor_is_person() RETURNS boolean", "STABLE PARALLEL SAFE RETURN true"),
        ("gp_is_unlimited_person() RETURNS boolean", "STABLE PARALLEL SAFE RETURN true"),
    ],
)
def test_the_statements_notice_a_limit_that_the_policies_do_not_check(
    team: PostgresEngine, function: str, body: str
) -> None:
    holders = fill_once(team, populate)
    team.as_owner(f"CREATE OR REPLACE FUNCTION {function} LANGUAGE sql {body}")

    assert find_wrong_statements(team, holders)


@pytest.mark.teeth
def test_a_role_that_python_forgets_is_refused_by_the_database(
    team: PostgresEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    actor = fill_once(team, populate)[Cell(ActorKind.PERSON, Role.VIEWER, None)]
    monkeypatch.setattr(authorize, "limit_role", lambda _actor, role, _policies: role)

    with pytest.raises(GroundplanError) as refused:
        team.session(actor).call("project.archive", project=ATLAS)
    assert refused.value.status in (403, 503)
