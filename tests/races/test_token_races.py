"""Tokens that are revoked while they are used."""

from __future__ import annotations

import threading
from functools import partial

import pytest

from groundplan.kernel.errors import Unauthenticated
from groundplan.kernel.store.store import Store
from groundplan.kernel.tokens.authenticate import record_use, verify_token
from groundplan.kernel.tokens.token import TokenRow, TokenState
from groundplan.session import Session
from tests.engines import Engine
from tests.kernel.tokens.holders import authenticate_token
from tests.proof import rounds
from tests.races.concurrent_calls import outcome_codes, run_together

pytestmark = [pytest.mark.proof, pytest.mark.slow]

USERS = 3


def use_until_refused(
    store: Store, text: str, is_revoked: threading.Event, is_used: threading.Event, late: list[int]
) -> None:
    """Send requests until one is refused. Count those that began after the answer of the revocation and succeeded."""
    while True:
        began_late = is_revoked.is_set()
        try:
            session = Session(store, authenticate_token(store, text))
        except Unauthenticated:
            return
        session.call("project.list")
        is_used.set()
        if began_late:
            late.append(1)
            return


def revoke_during_use(engine: Engine, users: list[Store]) -> int:
    """Revoke a token while several processes use it; return how many uses began after the answer and succeeded."""
    ada = engine.session("ada")
    created = ada.call("token.create", name="scout")
    is_revoked, is_used = threading.Event(), threading.Event()
    late: list[int] = []
    threads = [
        threading.Thread(target=use_until_refused, args=(store, created.secret, is_revoked, is_used, late))
        for store in users
    ]
    for thread in threads:
        thread.start()
    is_used.wait()
    ada.call("token.revoke", id=created.token.id)
    is_revoked.set()
    for thread in threads:
        thread.join()
    return len(late)


def test_no_use_that_begins_after_the_answer_of_the_revocation_succeeds(engine: Engine) -> None:
    users = [engine.another_store() for _ in range(USERS)]

    assert sum(revoke_during_use(engine, users) for _ in range(rounds(5))) == 0


@pytest.mark.teeth
def test_the_race_notices_a_revocation_that_is_looked_up_too_late(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TokenRow, "get_state", lambda *_: TokenState.ACTIVE)

    assert revoke_during_use(engine, [engine.another_store() for _ in range(USERS)]) == USERS


def test_a_token_that_is_revoked_while_it_creates_another_takes_the_other_along(engine: Engine) -> None:
    ada = engine.session("ada")
    other = engine.another_store()
    for _ in range(rounds(5)):
        first = ada.call("token.create", kind="person")
        holder = Session(other, authenticate_token(other, first.secret))

        second, revoked = run_together(
            partial(holder.call, "token.create", name="scout"),
            partial(ada.call, "token.revoke", id=first.token.id),
        )

        created, _ = outcome_codes([second, revoked])
        assert created in ("ok", "unauthenticated")
        if created == "ok":
            with pytest.raises(Unauthenticated):
                authenticate_token(other, second.secret)


def test_a_use_that_is_recorded_while_the_token_is_revoked_does_not_revive_it(engine: Engine) -> None:
    ada = engine.session("ada")
    other = engine.another_store()
    for _ in range(rounds(5)):
        created = ada.call("token.create", name="scout")
        verified = verify_token(other, created.secret)

        answers = run_together(
            partial(record_use, other, verified),
            partial(ada.call, "token.revoke", id=created.token.id),
        )

        assert outcome_codes(answers) == ["ok", "ok"]
        with pytest.raises(Unauthenticated):
            verify_token(other, created.secret)
