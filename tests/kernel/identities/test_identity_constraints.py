"""What the database itself refuses about organizations, invitations and accounts: each rule is tried and needed."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from groundplan.kernel.store.migrations import Dialect
from tests.engines import Engine, fill_once
from tests.kernel.store.attacks import Value, sql_insert
from tests.kernel.store.schema_rules import Attempt, SchemaRules, update_row

AT, SOON, LATER = "2026-01-01T00:00:00.000Z", "2026-01-05T00:00:00.000Z", "2026-01-15T00:00:00.000Z"


def invitation(**changes: Value) -> str:
    row: Mapping[str, Value] = {
        "tenant_id": "local",
        "id": "new",
        "email": "new@example.org",
        "principal_id": "cleo",
        "created_at": AT,
        "created_by": "ada",
        "expires_at": LATER,
    }
    return sql_insert("invitations", {**row, **changes})


def identity(**changes: Value) -> str:
    row: Mapping[str, Value] = {
        "tenant_id": "local",
        "issuer": "https://id.example",
        "subject": "new",
        "principal_id": "ben",
        "email": "ben@example.org",
        "invitation_id": "used",
        "bound_at": SOON,
    }
    return sql_insert("identities", {**row, **changes})


def settings(**changes: Value) -> str:
    row: Mapping[str, Value] = {
        "tenant_id": "rival",
        "project_creators": "members",
        "allowed_domains": "[]",
        "default_policies": "{}",
        "updated_at": AT,
        "updated_by": "ada",
    }
    return sql_insert("organization_settings", {**row, **changes})


def update_invitation(id_: str = "open", /, **changes: Value) -> str:
    return update_row("invitations", id_, **changes)


def update_identity(column: str, value: str) -> str:
    return f"UPDATE identities SET {column} = '{value}' WHERE subject = 'bound'"


ATTEMPTS = {
    "a role that nobody knows": Attempt(
        "UPDATE user_memberships SET role = 'king' WHERE user_id = 'ben'", "user_memberships_role_is_known"
    ),
    "settings twice": Attempt(settings(tenant_id="local"), "organization_settings_pkey"),
    "settings of no organization": Attempt(
        settings(tenant_id="nowhere"), "organization_settings_are_of_an_organization"
    ),
    "creators that nobody knows": Attempt(
        settings(project_creators="kings"), "organization_settings_creators_are_known"
    ),
    "domains that are no list": Attempt(settings(allowed_domains="{}"), "organization_settings_domains_are_a_list"),
    "policies that are no object": Attempt(
        settings(default_policies="[]"), "organization_settings_policies_are_an_object"
    ),
    "an invitation with a used id": Attempt(invitation(id="open"), "invitations_pkey"),
    "an invitation of nobody": Attempt(invitation(principal_id="nobody"), "invitations_are_of_principals"),
    "an invitation without an address": Attempt(invitation(email="@"), "invitations_email_fits"),
    "an invitation that is over at once": Attempt(invitation(expires_at=AT), "invitations_expire_later"),
    "an invitation that is accepted too late": Attempt(
        update_invitation(accepted_at=LATER), "invitations_are_accepted_in_time"
    ),
    "an invitation that is accepted and revoked": Attempt(
        update_invitation(accepted_at=SOON, revoked_at=SOON, revoked_by="ada"), "invitations_end_once"
    ),
    "an invitation that nobody revoked": Attempt(update_invitation(revoked_at=SOON), "invitations_revoked_by_somebody"),
    "a second open invitation": Attempt(invitation(email="cleo@example.org"), "invitations_open_email_is_unique"),
    **{
        f"another {column} of an invitation": Attempt(
            update_invitation(**{column: value}), "invitations_terms_are_final"
        )
        for column, value in {
            "id": "other",
            "email": "eve@example.org",
            "principal_id": "ben",
            "created_at": SOON,
            "created_by": "eve",
            "expires_at": "2027-01-01T00:00:00.000Z",
        }.items()
    },
    "a used invitation that is used again": Attempt(
        update_invitation("used", accepted_at=AT), "invitations_ended_are_final"
    ),
    "a revoked invitation that is accepted": Attempt(
        update_invitation("revoked", revoked_at=None, revoked_by=None, accepted_at=SOON), "invitations_ended_are_final"
    ),
    "an account twice": Attempt(identity(subject="bound", invitation_id=None), "identities_pkey"),
    "two accounts from one invitation": Attempt(identity(), "identities_use_an_invitation_once"),
    "an account of an agent": Attempt(identity(principal_id="bot", invitation_id=None), "identities_are_of_persons"),
    "an account from an invitation of somebody else": Attempt(
        identity(principal_id="ben", email="cleo@example.org", invitation_id="open"),
        "identities_come_from_their_invitation",
    ),
    "an account from an invitation for another address": Attempt(
        identity(principal_id="cleo", email="eve@example.org", invitation_id="open"),
        "identities_come_from_their_invitation",
    ),
    "an account without an issuer": Attempt(identity(issuer="", invitation_id=None), "identities_issuer_fits"),
    "an account without a subject": Attempt(identity(subject="", invitation_id=None), "identities_subject_fits"),
    "an account without an address": Attempt(identity(email="", invitation_id=None), "identities_email_fits"),
    "an account that becomes another": Attempt(update_identity("subject", "other"), "identities_are_final"),
    "an account that is given away": Attempt(update_identity("bound_at", AT), "identities_are_final"),
    "an agent that becomes a person": Attempt(
        "UPDATE principals SET kind = 'person' WHERE id = 'bot'", "principals_kind_is_final"
    ),
    "a name that is forgotten": Attempt(
        "DELETE FROM principals WHERE id = 'bot'", "principals_are_never_deleted", only=Dialect.SQLITE
    ),
    "an invitation that is deleted": Attempt(
        "DELETE FROM invitations WHERE id = 'open'", "invitations_are_never_deleted", only=Dialect.SQLITE
    ),
}


def fill(engine: Engine) -> None:
    """Create people, an open, a used and a revoked invitation, and an account."""
    people = [("ada", "person"), ("ben", "person"), ("cleo", "person"), ("bot", "agent")]
    engine.as_owner(
        *(
            sql_insert("principals", {"tenant_id": "local", "id": name, "name": name, "kind": kind, "created_at": AT})
            for name, kind in people
        ),
        f"INSERT INTO user_memberships VALUES ('local', 'ben', '{AT}', 'ada', 'member')",
        f"INSERT INTO organizations (id, name, created_at) VALUES ('rival', 'rival', '{AT}')",
        settings(tenant_id="local"),
        invitation(id="open", email="cleo@example.org"),
        invitation(id="used", email="ben@example.org", principal_id="ben", accepted_at=SOON),
        invitation(id="revoked", email="dora@example.org", revoked_at=SOON, revoked_by="ada"),
        identity(subject="bound"),
    )


RULES = SchemaRules(
    names="principals_kind_is_final|principals_are_|user_memberships_role_|organization_settings_|invitations_|identities_",
    tables=("principals", "user_memberships", "organization_settings", "invitations", "identities"),
    attempts=ATTEMPTS,
    words={
        "principals_kind_is_final": "frozen",
        "principals_are_never_deleted": "frozen",
        "invitations_terms_are_final": "invitation_is_final",
        "invitations_ended_are_final": "invitation_is_final",
        "invitations_are_never_deleted": "invitation_is_final",
        "identities_are_final": "identity_is_final",
        "identities_are_of_persons": "identity_kind",
    },
    exempt={
        "invitations_have_a_person_and_an_address",  # the id alone is unique; a reference needs all of them
        "identities_are_of_principals",  # whoever is a person is a principal; a trigger says so first
    },
    sqlite_only={"principals_are_never_deleted", "invitations_are_never_deleted"},
)


@pytest.fixture
def filled(engine: Engine) -> Engine:
    fill_once(engine, fill)
    return engine


def test_every_rule_of_the_migration_is_tried() -> None:
    assert RULES.find_uncovered() == []


def test_the_database_itself_refuses_every_attempt_by_the_rule_that_is_for_it(filled: Engine) -> None:
    assert RULES.find_accepted(filled) == {}


@pytest.mark.teeth
def test_without_its_rule_every_attempt_succeeds(filled: Engine) -> None:
    assert RULES.find_blocked_elsewhere(filled) == {}
