"""`pciv_bootstrap_scope` in SQL on PostgreSQL does what the operation does, with the rights of its caller."""

from __future__ import annotations

import json
import re
from typing import Any

import psycopg
import pytest

from groundplan.kernel.actors import Access, Actor, ActorKind
from tests.engines import PostgresEngine, Rows, person

# What differs between two scopes that were made in the same way.
VARYING = {"id", "project_id", "rev", "number", "updated_at", "created_at", "at", "subject", "run_id"}
TABLES = (
    *("projects", "project_members", "work_projects", "work_nodes", "pciv_runs", "events", "organization_events"),
    *("principals", "user_memberships"),
)


def bootstrap(team: PostgresEngine, actor: Actor | None, arguments: str = "'atlas'") -> Rows:
    return team.as_app(actor, f"SELECT * FROM pciv_bootstrap_scope({arguments})")


def dump(team: PostgresEngine, name: str) -> dict[str, Any]:
    """Return every row about a scope, without what differs between two of them."""
    ((project_id,),) = team.as_owner(f"SELECT id FROM projects WHERE name = '{name}'")
    rows: dict[str, Any] = {}
    for table in TABLES:
        column = {"projects": "id", "organization_events": "subject"}.get(table, "project_id")
        where = "" if table in ("principals", "user_memberships") else f"WHERE {column} = '{project_id}'"
        found = [row for (row,) in team.as_owner(f"SELECT row_to_json(t) FROM {table} AS t {where}")]
        texts = [json.dumps({key: row[key] for key in row if key not in VARYING}) for row in found]
        rows[table] = sorted(text.replace(name, "NAME") for text in texts)  # ids, by which they are ordered, are random
    return rows


@pytest.mark.parametrize("policies", [None, {"evidence": "require", "agents": "viewer"}])
def test_it_writes_every_row_and_event_that_the_operation_writes(
    team: PostgresEngine, policies: dict[str, str] | None
) -> None:
    ada = team.session("ada")
    ada.call("project.create", name="so that she is a member")
    if policies is not None:
        ada.call("organization.configure", default_policies=policies)
    ada.call("member.bootstrap", scopeId="by operation", createDraftRun=True)

    ((name, run_id),) = bootstrap(team, ada.actor, "E' by function\\t'")

    assert name == "by function"
    assert ada.call("context.fetch_run", runId=run_id).run.scope_id == "by function"
    assert dump(team, "by function") == dump(team, "by operation")


def test_a_first_caller_becomes_a_member_and_the_draft_is_optional(team: PostgresEngine) -> None:
    ((name, run_id),) = bootstrap(team, team.session("mallory").actor, "'atlas', false")

    assert (name, run_id) == ("atlas", None)
    ((changes,),) = team.as_owner("SELECT changes FROM events WHERE op = 'member.added'")
    assert [change["field"] for change in json.loads(changes)] == ["role", "in_organization"]
    (member,) = team.session("mallory").call("member.list", scopeId="atlas").members
    assert (member.user_id, member.role) == ("mallory", "owner")
    assert team.session("mallory").call("context.list", scopeId="atlas").runs == []


@pytest.mark.parametrize(
    ("actor", "arguments", "sqlstate", "message"),
    [
        (None, "'atlas'", "42501", "pciv_auth_required"),
        (person("stranger"), "'atlas'", "42501", "pciv_auth_required"),
        (Actor("local", "bot", ActorKind.AGENT, Access.MEMBERS), "'atlas'", "42501", "agent_not_allowed"),
        (person("ada"), "''", "22023", "pciv_scope_id_required"),
        (person("ada"), "NULL", "22023", "pciv_scope_id_required"),
        (person("ada"), "repeat('a', 201)", "22023", "pciv_scope_id_too_long"),
        (person("ada"), "E'a\\nb'", "22023", "invalid_argument"),
        (person("ada"), "'theirs'", "23505", "pciv_scope_already_initialized"),
    ],
)
def test_it_refuses_with_the_codes_of_the_contract_and_writes_nothing(
    team: PostgresEngine, actor: Actor | None, arguments: str, sqlstate: str, message: str
) -> None:
    team.session("ada").call("member.bootstrap", scopeId="hers")
    team.session("cleo").call("member.bootstrap", scopeId="theirs")
    before = team.as_owner("SELECT count(*) FROM projects", "SELECT rev FROM organizations")

    with pytest.raises(psycopg.Error) as refused:
        bootstrap(team, actor, arguments)

    assert refused.value.sqlstate == sqlstate
    assert re.match(message, str(refused.value))
    assert team.as_owner("SELECT count(*) FROM projects", "SELECT rev FROM organizations") == before
