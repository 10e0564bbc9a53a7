"""Creating, listing and revoking tokens."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Any

import pytest

from groundplan.kernel.access import Role
from groundplan.kernel.actors import ActorKind
from groundplan.kernel.answers import encode
from groundplan.session import Session
from tests.engines import Engine, person
from tests.errors import error_of
from tests.kernel.tokens.holders import authenticate, code, create_token, log_in

PLAN = {"project": "atlas", "nodes": [{"ref": "a", "summary": "A"}]}


def dump_database(engine: Engine) -> bytes:
    return "".join(map(repr, engine.dump().values())).encode()


def test_the_secret_is_in_the_answer_and_nowhere_in_the_database(engine: Engine, ada: Session) -> None:
    secret = create_token(ada, name="scout", op_id="once")

    stored = dump_database(engine)
    assert secret.encode() not in stored
    assert secret[4:-6].encode() not in stored
    assert secret[14:-6].encode() not in stored


def test_a_repeated_request_creates_no_second_token_and_does_not_show_the_secret_again(ada: Session) -> None:
    first = ada.call("token.create", name="scout", op_id="once")
    again = ada.call("token.create", name="scout", op_id="once")

    assert again.token == first.token
    assert again.secret is None
    assert len(ada.call("token.list").tokens) == 1


def test_an_agent_is_a_viewer_by_default_and_a_person_has_no_limit(engine: Engine, ada: Session) -> None:
    scout, self_ = (ada.call("token.create", **one).token for one in ({"name": "scout"}, {"kind": "person"}))

    assert (scout.role, scout.kind, self_.role, self_.name) == (Role.VIEWER, "agent", None, "ada")
    assert code(log_in(engine, ada, name="scout"), "work.plan", **PLAN) == "token_limited"
    assert code(log_in(engine, ada, name="scout", role="editor"), "work.plan", **PLAN) == "ok"


def test_a_token_expires_after_ninety_days_and_that_of_a_person_after_thirty(ada: Session) -> None:
    tokens = {kind: ada.call("token.create", kind=kind, name=f"a {kind}").token for kind in ActorKind}

    assert {kind: count_days(token) for kind, token in tokens.items()} == {"person": 30, "agent": 90, "service": 90}


def count_days(token: Any) -> int:
    return (datetime.fromisoformat(token.expires_at) - datetime.fromisoformat(token.created_at)).days


def test_a_token_that_never_expires_comes_with_a_warning(ada: Session) -> None:
    created = ada.call("token.create", name="scout", expires="never")

    assert created.token.expires_at is None
    assert any("never expires" in warning for warning in created.warnings)


@pytest.mark.parametrize("expires", ["0d", "30", "d", "-1d", "9999w", "1y", "30d " * 2])
def test_a_duration_that_is_none_is_refused(ada: Session, expires: str) -> None:
    assert code(ada, "token.create", name="scout", expires=expires) == "invalid_argument"


def test_a_token_that_opens_nothing_yet_says_how_to_add_its_holder(ada: Session) -> None:
    (warning,) = ada.call("token.create", name="newcomer", projects=["atlas"]).warnings

    assert "member.add" in warning


def test_a_token_needs_a_name_unless_it_is_for_oneself(ada: Session) -> None:
    assert code(ada, "token.create", kind="agent") == "invalid_argument"
    assert code(ada, "token.create", kind="service") == "invalid_argument"


def test_a_list_of_projects_has_at_least_one(ada: Session) -> None:
    assert code(ada, "token.create", name="scout", projects=[]) == "invalid_argument"


@pytest.mark.parametrize("kind", ["agent", "service"])
def test_the_token_of_a_program_never_bears_the_name_of_a_person(ada: Session, kind: str) -> None:
    assert code(ada, "token.create", kind=kind, name="ben") == "token_kind"


def test_a_person_creates_tokens_for_themselves_and_for_agents_only(engine: Engine, ada: Session) -> None:
    ben = engine.session(person("ben"))

    assert code(ben, "token.create", kind="person") == "ok"
    assert code(ben, "token.create", name="scout") == "ok"
    assert code(ben, "token.create", kind="person", name="ada") == "organization_owner_required"
    assert code(ben, "token.create", kind="service", name="robot") == "organization_owner_required"
    assert code(ben, "token.create", name="scout", trusted=True) == "organization_owner_required"
    assert code(ada, "token.create", kind="service", name="robot") == "ok"


def test_a_project_that_the_creator_cannot_see_is_not_found(engine: Engine, ada: Session) -> None:
    ben = engine.session(person("ben"))
    hidden, missing = (
        error_of(partial(ben.call, "token.create", name="scout", projects=[name])) for name in ("borealis", "sumacsum")
    )

    assert encode(hidden.to_dict()).replace(b"borealis", b"") == encode(missing.to_dict()).replace(b"sumacsum", b"")


@pytest.mark.parametrize("kind", ["agent", "service"])
def test_a_token_of_a_program_creates_and_revokes_none(engine: Engine, ada: Session, kind: str) -> None:
    program = log_in(engine, ada, kind=kind, name=f"a {kind}", role="owner", trusted=True)
    own = program.call("token.list").tokens[0].id

    assert code(program, "token.create", name="another") == "agent_not_allowed"
    assert code(program, "token.revoke", id=own) == "agent_not_allowed"


@pytest.mark.parametrize("limit", [{"role": "editor"}, {"projects": ["atlas"]}])
def test_a_limited_token_creates_none(engine: Engine, ada: Session, limit: dict[str, object]) -> None:
    limited = log_in(engine, ada, kind="person", trusted=True, **limit)

    assert code(limited, "token.create", name="scout") == "token_limited"


def test_an_agent_never_has_more_rights_than_the_person_who_created_its_token(engine: Engine, ada: Session) -> None:
    ben = engine.session(person("ben"))  # an editor of atlas; the agent is an editor of borealis, too
    scout = log_in(engine, ben, name="scout", role="owner")

    assert [one.name for one in scout.call("project.list").projects] == ["atlas"]
    assert code(scout, "member.list", scopeId="borealis") == "not_found"
    assert code(scout, "work.plan", **PLAN) == "ok"
    ada.call("member.add", scopeId="atlas", userId="ben", role="viewer")
    assert code(scout, "work.plan", **PLAN) == "forbidden"
    ada.call("member.remove", scopeId="atlas", userId="ben")
    assert code(scout, "member.list", scopeId="atlas") == "not_found"


def test_a_token_loses_the_rights_that_its_holder_loses(engine: Engine, ada: Session) -> None:
    ben = log_in(engine, ada, kind="person", name="ben")
    assert code(ben, "work.plan", **PLAN) == "ok"

    ada.call("member.add", scopeId="atlas", userId="ben", role="viewer")
    assert code(ben, "work.plan", **PLAN) == "forbidden"
    ada.call("member.remove", scopeId="atlas", userId="ben")
    assert code(ben, "member.list", scopeId="atlas") == "not_found"


def test_everybody_lists_their_own_tokens_and_an_owner_of_the_organization_all(engine: Engine, ada: Session) -> None:
    ben = engine.session(person("ben"))
    ben.call("token.create", kind="person")
    ben.call("token.create", name="scout")
    ada.call("token.create", kind="person")
    scout = log_in(engine, ada, name="scout")

    seen = {who: len(session.call("token.list").tokens) for who, session in (("ada", ada), ("ben", ben), ("s", scout))}
    assert seen == {"ada": 4, "ben": 2, "s": 2}
    assert "digest" not in encode(ada.call("token.list")).decode()


def test_ended_tokens_are_listed_on_request(ada: Session) -> None:
    token = ada.call("token.create", name="scout").token
    ada.call("token.revoke", id=token.id)

    assert ada.call("token.list").tokens == []
    assert [one.state for one in ada.call("token.list", ended=True).tokens] == ["revoked"]


def test_the_token_of_somebody_else_is_not_found(engine: Engine, ada: Session) -> None:
    token = ada.call("token.create", kind="person").token
    ben = engine.session(person("ben"))
    foreign, missing = (error_of(partial(ben.call, "token.revoke", id=id_)) for id_ in (token.id, "qqqqqqqqqq"))

    assert encode(foreign.to_dict()).replace(token.id.encode(), b"") == encode(missing.to_dict()).replace(
        b"qqqqqqqqqq", b""
    )


def test_who_is_no_owner_any_more_does_not_revoke_the_token_of_another_person(engine: Engine, ada: Session) -> None:
    token = ada.call("token.create", kind="person", name="ben").token

    assert code(engine.session(person("ada")), "token.revoke", id=token.id) == "organization_owner_required"
    assert code(engine.session(person("ben")), "token.revoke", id=token.id) == "ok"


def test_revoking_a_token_ends_every_token_that_was_created_with_it(engine: Engine, ada: Session) -> None:
    first = ada.call("token.create", kind="person")
    holder = engine.session(authenticate(engine, first.secret))
    second = holder.call("token.create", kind="person", expires="90d")
    third = engine.session(authenticate(engine, second.secret)).call("token.create", name="scout")
    assert second.token.expires_at == first.token.expires_at
    assert any("expires with" in warning for warning in second.warnings)

    revoked = ada.call("token.revoke", id=first.token.id)

    assert revoked.revoked == [first.token.id, second.token.id, third.token.id]
    for one in (first, second, third):
        with pytest.raises(Exception, match="not accepted"):
            authenticate(engine, one.secret)


def test_a_token_that_ended_during_the_request_creates_none(engine: Engine, ada: Session) -> None:
    token = ada.call("token.create", kind="person")
    holder = engine.session(authenticate(engine, token.secret))
    ada.call("token.revoke", id=token.token.id)

    assert code(holder, "token.create", name="scout") == "unauthenticated"


def test_revoking_again_changes_nothing(engine: Engine, ada: Session) -> None:
    token = ada.call("token.create", name="scout").token
    first = ada.call("token.revoke", id=token.id)
    again = ada.call("token.revoke", id=token.id)

    assert (again.token, again.revoked) == (first.token, [])
    ops = engine.as_owner("SELECT op, subject FROM organization_events WHERE op LIKE 'token.%' ORDER BY rev, n")
    assert ops == [("token.created", token.id), ("token.revoked", token.id)]


def test_the_event_of_a_token_says_what_it_allows_and_not_what_it_is(engine: Engine, ada: Session) -> None:
    secret = create_token(ada, name="scout", projects=["atlas"], label="night run")

    ((changes,),) = engine.as_owner("SELECT changes FROM organization_events WHERE op = 'token.created'")
    assert "night run" in changes
    assert secret[14:30] not in changes
