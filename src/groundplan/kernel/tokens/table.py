"""The table of tokens, with the conditions for reading and changing its rows."""

from __future__ import annotations

from groundplan.kernel.store.schema import ADMINISTERS, IN_ORGANIZATION, Table

# A person creates tokens for agents and for themselves; those of services and of other people need an owner of the
# organization. A login takes the limits of the token that it was made with.
# An administrator revokes the tokens of people who are removed.
_OWN_TOKENS = f"(actor_id = (SELECT gp_actor()) OR created_by = (SELECT gp_actor()) OR {ADMINISTERS})"
OWN_TOKENS = f"{IN_ORGANIZATION} AND {_OWN_TOKENS}"
_LOGIN = (
    "kind = 'session' AND actor_id = (SELECT gp_actor()) AND role_max IS NOT DISTINCT FROM (SELECT gp_role_max()) "
    "AND projects IS NOT DISTINCT FROM (SELECT gp_only_projects())"
)
_BY_PERSON = (
    "kind <> 'session' AND (SELECT gp_is_unlimited_person()) "
    "AND (kind = 'agent' OR (kind = 'person' AND actor_id = (SELECT gp_actor())) OR (SELECT gp_owns_organization())) "
    "AND (kind <> 'agent' OR (SELECT gp_access_is_open()) OR sponsor_id = (SELECT gp_actor()))"
)
NEW_TOKENS = (
    f"{IN_ORGANIZATION} AND created_by = (SELECT gp_actor()) AND (SELECT gp_actor_is_person()) "
    f"AND (access = 'members' OR (SELECT gp_access_is_open())) AND (({_LOGIN}) OR ({_BY_PERSON}))"
)
# All but the digest, which only the function that finds a token reads.
TOKEN_COLUMNS = (
    "tenant_id",
    "id",
    "kind",
    "actor_id",
    "access",
    "role_max",
    "projects",
    "sponsor_id",
    "label",
    "parent_id",
    "created_at",
    "created_by",
    "expires_at",
    "renewable_until",
    "last_used_at",
    "revoked_at",
    "revoked_by",
)
TOKEN_EVENTS = (
    f"{IN_ORGANIZATION} AND op = ANY (ARRAY['token.created', 'token.revoked', 'session.opened', 'session.closed']) "
    "AND (actor_id = (SELECT gp_actor()) OR (SELECT gp_owns_organization()))"
)

TOKENS = Table(
    "access_tokens",
    select=OWN_TOKENS,
    select_columns=TOKEN_COLUMNS,
    insert=NEW_TOKENS,
    update=OWN_TOKENS,
    update_columns=("expires_at", "last_used_at", "revoked_at", "revoked_by"),
)
