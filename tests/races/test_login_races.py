"""Logins, invitations and removals at the same moment: one account, one person, and nobody who was removed."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.identities.bind_login import bind_login
from groundplan.kernel.tokens.sessions import open_session
from groundplan.session import Session
from tests.engines import Engine
from tests.kernel.identities.logins import ADA, OTHER_ADA, log_in
from tests.kernel.tokens.holders import authenticate
from tests.proof import rounds
from tests.races.concurrent_calls import outcome_codes, run_together

pytestmark = [pytest.mark.proof, pytest.mark.slow]

ROUNDS = rounds(3)


def invite(owner: Session, number: int) -> str:
    email = f"ada{number}@example.org"
    owner.call("member.add", scopeId="atlas", userId=email, role="viewer")
    return email


@pytest.fixture
def owner(engine: Engine) -> Session:
    session = engine.session("ben")
    session.call("project.create", name="atlas")
    return session


def test_of_two_accounts_that_use_one_invitation_at_once_one_is_let_in(engine: Engine, owner: Session) -> None:
    stores = [engine.another_store() for _ in range(2)]
    for number in range(ROUNDS):
        email = invite(owner, number)
        one, other = (replace(each, email=email, subject=f"{each.subject}.{number}") for each in (ADA, OTHER_ADA))

        answers = run_together(partial(bind_login, stores[0], one), partial(bind_login, stores[1], other))

        assert sorted(outcome_codes(answers)) == ["not_invited", "ok"]


def test_two_first_logins_of_one_account_at_once_are_one_person(engine: Engine, owner: Session) -> None:
    stores = [engine.another_store() for _ in range(3)]
    owner.call("organization.configure", allowed_domains=["example.net"])
    for number in range(ROUNDS):
        for email in (invite(owner, number), f"new{number}@example.net"):  # by an invitation, and by the domain
            account = replace(ADA, email=email, subject=email)

            answers = run_together(*(partial(log_in, store, account) for store in stores))

            assert answers == [email] * 3
            assert engine.as_owner(f"SELECT count(*) FROM identities WHERE email = '{email}'") == [(1,)]


def test_a_login_at_the_moment_of_the_removal_leaves_no_session(engine: Engine, owner: Session) -> None:
    logging_in, removing = engine.another_store(), Session(engine.another_store(), owner.actor)

    def enter(number: int) -> str:
        account = replace(ADA, email=f"ada{number}@example.org", subject=str(number))
        return open_session(logging_in, bind_login(logging_in, account)).secret

    for number in range(ROUNDS):
        email = invite(owner, number)

        secret, removed = run_together(
            partial(enter, number), partial(removing.call, "organization.remove_member", name=email)
        )

        assert not isinstance(removed, Exception)
        if isinstance(secret, str):
            with pytest.raises(GroundplanError):
                authenticate(engine, secret)
        else:
            assert secret.code in ("person_removed", "not_invited", "not_found")
        assert engine.as_owner(f"SELECT count(*) FROM project_members WHERE user_id = '{email}'") == [(0,)]


def test_two_owners_who_leave_at_once_leave_one_behind(engine: Engine, owner: Session) -> None:
    removing = [Session(engine.another_store(), owner.actor) for _ in range(2)]
    for number in range(ROUNDS):
        project = f"atlas {number}"
        people = [f"{name} {number}" for name in ("ada", "cleo")]
        owner.call("project.create", name=project)
        for name in people:
            owner.call("member.add", scopeId=project, userId=name, role="owner")
        owner.call("member.remove", scopeId=project, userId="ben")

        answers = run_together(
            *(
                partial(one.call, "organization.remove_member", name=name)
                for one, name in zip(removing, people, strict=True)
            )
        )

        assert sorted(outcome_codes(answers)) == ["ok", "pciv_scope_members_last_owner_forbidden"]
