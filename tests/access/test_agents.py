"""What an agent may do: at most what the policy `agents` of the project allows, on both engines and in open access."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from groundplan.kernel.access import Role
from groundplan.kernel.actors import Access, Actor, ActorKind
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.projects import check_owners
from groundplan.session import Session
from tests.engines import Engine, PostgresEngine
from tests.surfaces.http.mcp.client import McpClient

BOT = Actor("local", "bot", ActorKind.AGENT, Access.OPEN)
MEMBER_BOT = replace(BOT, access=Access.MEMBERS)


@pytest.fixture
def ada(engine: Engine) -> Session:
    session = engine.session("ada")
    session.call("project.create", name="atlas")
    return session


def code(session: Session, operation: str, **arguments: object) -> str:
    """Return the error code of a call, or ok."""
    try:
        session.call(operation, **arguments)
    except GroundplanError as error:
        return error.code
    return "ok"


@pytest.mark.parametrize("access", list(Access))
@pytest.mark.parametrize(
    ("policy", "may"),
    [(None, ("ok", "agent_not_allowed")), ("viewer", ("agent_not_allowed",) * 2), ("owner", ("ok", "ok"))],
)
def test_the_policy_of_the_project_limits_the_role_of_an_agent(
    engine: Engine, ada: Session, access: Access, policy: str | None, may: tuple[str, str]
) -> None:
    ada.call("member.add", scopeId="atlas", userId="bot", role="owner", kind="agent")
    if policy is not None:
        ada.call("work.open", project="atlas", policies={"agents": policy})
    bot = engine.session(replace(BOT, access=access))

    plan = code(bot, "work.plan", project="atlas", nodes=[{"ref": "a", "summary": "A"}])
    manage = code(bot, "member.add", scopeId="atlas", userId="cleo", role="viewer")

    assert (plan, manage) == may
    assert bot.call("member.list", scopeId="atlas").members


def test_the_policy_never_raises_the_role_of_an_agent(engine: Engine, ada: Session) -> None:
    ada.call("work.open", project="atlas", policies={"agents": "owner"})
    ada.call("member.add", scopeId="atlas", userId="bot", role="viewer", kind="agent")

    assert code(engine.session(MEMBER_BOT), "work.plan", project="atlas", nodes=[{"ref": "a", "summary": "A"}]) == (
        "forbidden"
    )


@pytest.mark.parametrize(
    ("operation", "arguments", "command"),
    [
        ("project.archive", {"project": "atlas"}, "groundplan project archive atlas"),
        (
            "container.delete",
            {"containerType": "project", "id": "atlas", "version": 1, "cascade": True},
            "groundplan project archive atlas",
        ),
        (
            "container.update",
            {"containerType": "project", "id": "atlas", "version": 1, "pipeline": ["NEW", "ACTIVE", "CLOSED"]},
            """groundplan project update atlas --version 1 --pipeline '["NEW","ACTIVE","CLOSED"]'""",
        ),
    ],
)
def test_the_refusal_names_the_policy_and_what_it_would_have_to_be(
    engine: Engine, ada: Session, operation: str, arguments: dict[str, Any], command: str
) -> None:
    with pytest.raises(GroundplanError) as refused:
        engine.session(BOT).call(operation, **arguments)

    assert (refused.value.code, refused.value.status) == ("agent_not_allowed", 403)
    assert refused.value.details["policy"] == {"agents": "owner"}
    assert refused.value.details["command"] == command
    assert command in refused.value.message


@pytest.mark.parametrize("kind", list(ActorKind))
def test_an_editor_changes_what_a_project_says_in_both_dialects_and_not_its_pipeline(
    engine: Engine, ada: Session, kind: ActorKind
) -> None:
    ada.call("member.add", scopeId="atlas", userId="ben", role="editor", kind=kind)
    editor = engine.session(Actor("local", "ben", kind, Access.MEMBERS))

    project = editor.call("container.get", containerType="project", id="atlas").project
    changes = {"summary": "A better map", "description": "Of all coasts", "tags": ["sea"]}
    at = {"containerType": "project", "id": "atlas"}
    project = editor.call("container.update", **at, version=project.version, **changes).project
    assert (project.summary, project.description, project.tags) == ("A better map", "Of all coasts", ["sea"])
    editor.call("work.update", updates=[{"node_id": project.id, "summary": "The best map"}])

    project = editor.call("container.get", **at).project
    assert project.summary == "The best map"
    pipeline = ["NEW", "ACTIVE", "CLOSED"]
    assert code(editor, "container.update", **at, version=project.version, pipeline=pipeline) == "forbidden"


def test_a_list_of_projects_shows_the_role_that_an_agent_really_has(engine: Engine, ada: Session) -> None:
    assert [one.role for one in engine.session(BOT).call("project.list").projects] == [Role.EDITOR]


def test_an_agent_discards_a_theory_that_only_it_has_written(engine: Engine, ada: Session) -> None:
    bot = engine.session(BOT)
    node = [{"op": "add_node", "node_type": "GOAL", "title": "A map"}]
    bot.call("purpose.draft", project="atlas")
    bot.call("purpose.edit", project="atlas", operations=node)
    assert code(bot, "purpose.discard", project="atlas") == "ok"

    bot.call("purpose.draft", project="atlas")
    ada.call("purpose.edit", project="atlas", operations=node)
    bot.call("purpose.edit", project="atlas", operations=node)
    assert code(bot, "purpose.discard", project="atlas") == "agent_not_allowed"
    assert code(ada, "purpose.discard", project="atlas") == "ok"


@pytest.mark.parametrize(("kind", "refusal"), [(ActorKind.AGENT, "agent_not_allowed"), (ActorKind.PERSON, "forbidden")])
def test_who_may_write_discards_a_draft_of_facts_that_nobody_else_has_written_and_deletes_no_run(
    engine: Engine, ada: Session, kind: ActorKind, refusal: str
) -> None:
    ada.call("member.add", scopeId="atlas", userId="ben", role="editor", kind=kind)
    if kind is ActorKind.AGENT:
        ada.call("member.add", scopeId="atlas", userId="ben", role="owner")  # whom the policy holds to an editor
    ben = engine.session(Actor("local", "ben", kind, Access.MEMBERS))
    length = [{"pointer": "/coast/length", "label": "Length", "value": 214, "provenance": "model-inferred"}]
    own = ben.call("context.create_draft", scopeId="atlas").run.id
    ben.call("context.edit", runId=own, inputs=length)

    assert code(ben, "context.delete", runId=own) == refusal
    assert code(ben, "context.discard", runId=own) == "ok"

    shared = ben.call("context.create_draft", scopeId="atlas").run.id
    ada.call("context.edit", runId=shared, inputs=length)
    assert code(ben, "context.discard", runId=shared) == refusal
    committed = ada.call("context.create_draft", scopeId="atlas").run.id
    ada.call("context.commit", runId=committed)
    assert code(ben, "context.delete", runId=committed) == refusal
    assert code(ada, "context.discard", runId=shared) == "ok"


def test_no_policy_lets_an_agent_delete_a_committed_run(engine: Engine, ada: Session) -> None:
    ada.call("work.open", project="atlas", policies={"agents": "owner"})
    committed = ada.call("context.create_draft", scopeId="atlas").run.id
    ada.call("context.commit", runId=committed)

    assert code(engine.session(BOT), "context.delete", runId=committed) == "person_required"
    assert code(ada, "context.delete", runId=committed) == "ok"


def test_an_editor_who_is_a_person_discards_no_theory(engine: Engine, ada: Session) -> None:
    ada.call("member.add", scopeId="atlas", userId="ben", role="editor")
    ben = engine.session(Actor("local", "ben"))
    ben.call("purpose.draft", project="atlas")

    assert code(ben, "purpose.discard", project="atlas") == "forbidden"


def test_in_open_access_an_agent_owns_the_project_that_it_creates_and_is_limited_all_the_same(engine: Engine) -> None:
    bot = engine.session(BOT)
    bot.call("work.open", project="atlas", policies={"evidence": "require"})

    (member,) = bot.call("member.list", scopeId="atlas").members
    assert (member.user_id, member.role) == ("bot", Role.OWNER)
    assert bot.call("work.open", project="atlas").policies.evidence == "require"
    assert code(bot, "work.open", project="atlas", policies={"evidence": "off"}) == "agent_not_allowed"


@pytest.mark.parametrize("policies", [{"agents": "owner"}, {"publish_role": "editor"}, {"profile_min": "strict"}])
def test_an_agent_does_not_decide_who_decides_in_its_own_project(engine: Engine, policies: dict[str, str]) -> None:
    assert code(engine.session(BOT), "work.open", project="atlas", policies=policies) == "agent_not_allowed"


def test_where_roles_are_stored_an_agent_creates_projects_for_a_responsible_person(
    engine: Engine, ada: Session
) -> None:
    ada.call("member.add", scopeId="atlas", userId="bot", role="viewer", kind="agent")
    alone = engine.session(MEMBER_BOT)
    bot = engine.session(replace(MEMBER_BOT, responsible="ada"))

    assert code(alone, "project.create", name="south") == "agent_not_allowed"
    assert bot.call("project.create", name="south").project.role is Role.EDITOR
    assert [(one.user_id, one.role) for one in bot.call("member.list", scopeId="south").members] == [
        ("ada", Role.OWNER),
        ("bot", Role.EDITOR),
    ]
    assert code(bot, "work.plan", project="south", nodes=[{"ref": "a", "summary": "A"}]) == "ok"


@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        ("member.bootstrap", {"scopeId": "south pole"}),
        ("context.create_draft", {"scopeId": "south pole"}),
        ("project.create", {"name": "south pole"}),
        ("work.open", {"project": "south pole"}),
    ],
)
def test_the_refusal_to_create_a_project_names_the_command_and_the_option_for_an_owner(
    engine: Engine, ada: Session, operation: str, arguments: dict[str, str]
) -> None:
    ada.call("member.add", scopeId="atlas", userId="bot", role="viewer", kind="agent")

    with pytest.raises(GroundplanError) as refused:
        engine.session(MEMBER_BOT).call(operation, **arguments)

    assert refused.value.code == "agent_not_allowed"
    assert refused.value.details["command"] == "groundplan project create 'south pole'"
    assert "--owner NAME" in refused.value.message
    assert refused.value.message.count("groundplan") == 1


def test_an_agent_does_not_act_under_the_name_of_its_person(engine: Engine, ada: Session) -> None:
    agent = engine.session(Actor("local", "ada", ActorKind.AGENT, Access.OPEN, responsible="ada"))

    assert code(agent, "project.create", name="south") == "actor_kind"
    assert code(agent, "project.list") == "actor_kind"


def test_whoever_bears_a_token_is_who_the_token_says_whatever_the_request_says(engine: Engine, ada: Session) -> None:
    tokens = {
        "ada": ada.call("token.create", kind="person").secret,
        "bot": ada.call("token.create", kind="agent", name="bot", role="editor", trusted=True).secret,
    }
    others = {"ada": "bot", "bot": "ada"}
    for name, secret in tokens.items():
        said: Any = {"user-agent": "claude-code/2.1", "x-actor": others[name], "x-groundplan-kind": "agent"}
        with closing(McpClient(engine.store, secret)) as client:
            body = {"nodes": [{"ref": "a", "summary": "A"}]}
            reply = client.send("POST", "/v1/projects/atlas/work/nodes", body, authorization=f"Bearer {secret}", **said)
            assert reply.status == 201
        last = ada.call("event.list", project="atlas", limit=1).events[0]
        assert (last.actor, last.actor_kind) == (name, UNSET if name == "ada" else ActorKind.AGENT)


def test_an_agent_is_not_responsible_for_another(engine: Engine, ada: Session) -> None:
    ada.call("member.add", scopeId="atlas", userId="bot", role="viewer", kind="agent")
    ada.call("member.add", scopeId="atlas", userId="robin", role="viewer", kind="agent")

    assert code(engine.session(replace(MEMBER_BOT, responsible="robin")), "project.create", name="south") == (
        "agent_not_allowed"
    )


def test_the_last_person_among_the_owners_stays(engine: Engine, ada: Session) -> None:
    ada.call("member.add", scopeId="atlas", userId="bot", role="owner", kind="agent")

    assert code(ada, "member.remove", scopeId="atlas", userId="ada") == "pciv_scope_members_last_owner_forbidden"
    assert code(ada, "member.add", scopeId="atlas", userId="ada", role="editor") == (
        "pciv_scope_members_last_owner_forbidden"
    )
    assert code(ada, "member.remove", scopeId="atlas", userId="bot") == "ok"


def test_row_level_security_knows_the_role_of_an_agent(team: PostgresEngine) -> None:
    team.session("ada").call("project.create", name="atlas")
    team.session("ada").call("purpose.draft", project="atlas")
    actors = {"person": replace(BOT, kind=ActorKind.PERSON), "agent": BOT}
    removed = {}
    for kind, actor in actors.items():
        with team.transaction(actor, keep=False) as run:
            removed[kind] = len(run("DELETE FROM toc_versions RETURNING id"))

    assert removed == {"person": 1, "agent": 0}


def test_the_check_of_a_store_names_projects_that_no_person_owns(engine: Engine, ada: Session) -> None:
    engine.session(BOT).call("project.create", name="south")

    (finding,) = ada.store.read(ada.actor, lambda tx: list(check_owners(tx)))

    assert "south" in finding.message
