"""What the database itself refuses about tokens: each rule is tried, and each is needed."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from groundplan.kernel.store.migrations import Dialect
from tests.engines import Engine, fill_once
from tests.kernel.store.attacks import Value, sql_insert
from tests.kernel.store.schema_rules import Attempt, SchemaRules, update_row

AT, LATER, LAST = "2026-01-01T00:00:00.000Z", "2026-01-01T12:00:00.000Z", "2026-01-31T00:00:00.000Z"
TABLE = "access_tokens"


def token_row(**changes: Value) -> Mapping[str, Value]:
    """Return a new token of an agent."""
    return {
        "tenant_id": "local",
        "id": "new",
        "digest": "d" * 64,
        "kind": "agent",
        "actor_id": "scout",
        "access": "members",
        "role_max": "viewer",
        "created_at": AT,
        "created_by": "ada",
        **changes,
    }


LOGIN: Mapping[str, Value] = {
    "id": "login",
    "digest": "c" * 64,
    "kind": "session",
    "actor_id": "ada",
    "role_max": None,
    "expires_at": LATER,
    "renewable_until": LAST,
}


def insert_token(**changes: Value) -> str:
    return sql_insert(TABLE, token_row(**changes))


def update_token(id_: str = "kept", /, **changes: Value) -> str:
    return update_row(TABLE, id_, **changes)


RIGHTS: Mapping[str, Value] = {
    "id": "other",
    "digest": "e" * 64,
    "actor_id": "robin",
    "access": "open",
    "role_max": "owner",
    "projects": '["atlas"]',
    "sponsor_id": "ada",
    "parent_id": "gone",
    "created_at": LATER,
    "created_by": "ben",
}

ATTEMPTS = {
    "twice the same digest": Attempt(insert_token(digest="a" * 64), f"{TABLE}_digest_is_unique"),
    "created with a token that does not exist": Attempt(insert_token(parent_id="none"), f"{TABLE}_parent_is_a_token"),
    "the secret itself": Attempt(insert_token(digest="d" * 63), f"{TABLE}_digest_is_sha256"),
    "an unknown access": Attempt(insert_token(access="all"), f"{TABLE}_access_is_known"),
    "an unknown role": Attempt(insert_token(role_max="admin"), f"{TABLE}_role_is_known"),
    "an agent without a role": Attempt(insert_token(role_max=None), f"{TABLE}_of_programs_have_a_role"),
    "an empty list of projects": Attempt(insert_token(projects="[]"), f"{TABLE}_projects_are_a_list"),
    "an object of projects": Attempt(insert_token(projects='{"a":1}'), f"{TABLE}_projects_are_a_list"),
    "an empty label": Attempt(insert_token(label=""), f"{TABLE}_label_fits"),
    "a long label": Attempt(insert_token(label="x" * 256), f"{TABLE}_label_fits"),
    "a sponsor in open access": Attempt(
        insert_token(sponsor_id="ada", access="open"), f"{TABLE}_sponsor_limits_stored_roles"
    ),
    "an agent's token that is renewed": Attempt(
        insert_token(renewable_until=LAST), f"{TABLE}_only_sessions_are_renewed"
    ),
    "a login longer than it may be": Attempt(
        update_token("session", expires_at="2026-02-01T00:00:00.000Z"), f"{TABLE}_sessions_end"
    ),
    "a login without an end": Attempt(update_token("session", expires_at=None), f"{TABLE}_sessions_end"),
    "revoked by nobody": Attempt(update_token(revoked_at=LATER), f"{TABLE}_revoked_by_somebody"),
    "an agent's token for a person": Attempt(insert_token(actor_id="ada"), f"{TABLE}_kind_is_that_of_the_actor"),
    "a login of an agent": Attempt(
        insert_token(**{**LOGIN, "id": "l2", "digest": "f" * 64, "actor_id": "scout"}),
        f"{TABLE}_kind_is_that_of_the_actor",
    ),
    "a later expiry": Attempt(update_token(expires_at=LAST), f"{TABLE}_expiry_is_final"),
    "no expiry": Attempt(update_token(expires_at=None), f"{TABLE}_expiry_is_final"),
    "working again": Attempt(update_token("gone", revoked_at=None, revoked_by=None), f"{TABLE}_revoked_is_final"),
    "used again": Attempt(update_token("gone", last_used_at=LATER), f"{TABLE}_revoked_is_final"),
    "a longer end of a login": Attempt(
        update_token("session", renewable_until="2027-01-01T00:00:00.000Z"), f"{TABLE}_rights_are_final"
    ),
    "deleted": Attempt(f"DELETE FROM {TABLE} WHERE id = 'gone'", f"{TABLE}_are_never_deleted", Dialect.SQLITE),
    **{
        f"another {column}": Attempt(update_token(**{column: value}), f"{TABLE}_rights_are_final")
        for column, value in RIGHTS.items()
    },
}

RULES = SchemaRules(
    names="access_tokens_",
    tables=(TABLE,),
    attempts=ATTEMPTS,
    words={
        f"{TABLE}_rights_are_final": "token_is_final",
        f"{TABLE}_expiry_is_final": "token_is_final",
        f"{TABLE}_revoked_is_final": "token_is_final",
        f"{TABLE}_are_never_deleted": "token_is_final",
        f"{TABLE}_kind_is_that_of_the_actor": "token_kind",
    },
    # The trigger about the kind refuses an unknown actor and an unknown kind first; the key has a reference to it.
    exempt={f"{TABLE}_are_of_principals", f"{TABLE}_kind_is_known", f"{TABLE}_pkey"},
    sqlite_only={f"{TABLE}_are_never_deleted"},
)


def fill(engine: Engine) -> None:
    """Create two agents, a person, and tokens that work, are revoked, and of a login."""
    principals = (("ada", "person"), ("scout", "agent"), ("robin", "agent"))
    engine.as_owner(
        *(
            "INSERT INTO principals (tenant_id, id, name, kind, created_at) "
            f"VALUES ('local', '{name}', '{name}', '{kind}', '{AT}')"
            for name, kind in principals
        ),
        insert_token(id="kept", digest="a" * 64, expires_at=LATER),
        insert_token(id="gone", digest="b" * 64, revoked_at=AT, revoked_by="ada"),
        insert_token(**{**LOGIN, "id": "session"}),
    )


@pytest.fixture
def tokens(engine: Engine) -> Engine:
    fill_once(engine, fill)
    return engine


def test_every_rule_of_the_migration_is_tried() -> None:
    assert RULES.find_uncovered() == []


def test_the_database_itself_refuses_every_attempt_by_the_rule_that_is_for_it(tokens: Engine) -> None:
    assert RULES.find_accepted(tokens) == {}


@pytest.mark.teeth
def test_without_its_rule_every_attempt_succeeds(tokens: Engine) -> None:
    assert RULES.find_blocked_elsewhere(tokens) == {}


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_a_revoked_token_cannot_be_replaced(tokens: Engine) -> None:
    replaced = sql_insert(TABLE, token_row(id="gone"), verb="INSERT OR REPLACE")

    with pytest.raises(tokens.refusals, match="token_is_final"):
        tokens.as_app(None, replaced)


def test_what_a_token_is_for_is_allowed(tokens: Engine) -> None:
    allowed = [
        insert_token(),
        update_token(last_used_at=LATER),
        update_token(revoked_at=LATER, revoked_by="ada"),
        update_token("session", expires_at=LAST),
    ]
    assert RULES.find_refused(tokens, allowed) == {}
