"""A token as it is stored, and as answers show it without its secret; and the table of tokens."""

from __future__ import annotations

from enum import StrEnum

import msgspec
from msgspec import Struct

from groundplan.kernel.access import Role
from groundplan.kernel.actors import Access, Actor, ActorKind
from groundplan.kernel.errors import NextStep, NotFound, RuleViolated, Unauthenticated
from groundplan.kernel.store.authorize import owns_organization
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.schema import ADMINISTERS, IN_ORGANIZATION, Frozen, Table
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


class TokenKind(StrEnum):
    """The kind of actor that a token is for. A session is the login of a person in a browser."""

    PERSON = "person"
    AGENT = "agent"
    SERVICE = "service"
    SESSION = "session"


ACTOR_KINDS = {
    TokenKind.PERSON: ActorKind.PERSON,
    TokenKind.SESSION: ActorKind.PERSON,
    TokenKind.AGENT: ActorKind.AGENT,
    TokenKind.SERVICE: ActorKind.SERVICE,
}


class TokenState(StrEnum):
    """The state of a token, which tells if it can be used."""

    ACTIVE = "active"
    EXPIRED = "expired"
    REVOKED = "revoked"


class TokenRow(Struct):
    """A stored token without its digest."""

    id: str
    kind: TokenKind
    actor_id: str
    access: Access
    role_max: Role | None
    projects: str | None  # a JSON array of ids
    sponsor_id: str | None
    label: str | None
    parent_id: str | None
    created_at: str
    created_by: str
    expires_at: str | None
    renewable_until: str | None
    last_used_at: str | None
    revoked_at: str | None
    revoked_by: str | None

    def get_state(self, now: str) -> TokenState:
        """Return the state of a token at a time."""
        if self.revoked_at is not None:
            return TokenState.REVOKED
        return TokenState.EXPIRED if self.expires_at is not None and self.expires_at <= now else TokenState.ACTIVE

    def build_actor(self, organization: str) -> Actor:
        """Return the actor that the token proves, with the limits of the token."""
        return Actor(
            organization,
            self.actor_id,
            ACTOR_KINDS[self.kind],
            self.access,
            responsible=self.created_by if self.kind is TokenKind.AGENT else None,
            role_max=self.role_max,
            projects=None if self.projects is None else frozenset(msgspec.json.decode(self.projects)),
            sponsor=self.sponsor_id,
            token_id=self.id,
        )


class TokenView(Struct):
    """A token in answers. `role` and `projects` are its limits; null means no limit."""

    id: str
    kind: TokenKind
    name: str
    state: TokenState
    role: Role | None
    projects: list[str] | None
    trusted: bool
    label: str | None
    created_at: str
    created_by: str
    expires_at: str | None
    last_used_at: str | None
    revoked_at: str | None
    revoked_by: str | None


class TokenIsFinal(Frozen):
    """The change concerns the limits of a token, or a revoked token; both are final."""

    code = "token_is_final"


class TokenOfOtherKind(RuleViolated):
    """The name belongs to an actor of another kind than the token."""

    code = "token_kind"


REFUSALS = {
    "token_is_final": lambda table: TokenIsFinal("a token cannot change; revoke it and create another", table=table),
    "token_kind": lambda table: TokenOfOtherKind(
        "this name belongs to an actor of another kind; choose another name for the token", table=table
    ),
}


def view_token(row: TokenRow, now: str) -> TokenView:
    """Return a token as answers show it."""
    return TokenView(
        row.id,
        row.kind,
        row.actor_id,
        row.get_state(now),
        row.role_max,
        None if row.projects is None else msgspec.json.decode(row.projects),
        row.access is Access.OPEN,
        row.label,
        row.created_at,
        row.created_by,
        row.expires_at,
        row.last_used_at,
        row.revoked_at,
        row.revoked_by,
    )


def refuse_token() -> Unauthenticated:
    """Return the error for a token that is malformed, unknown, expired or revoked, which is the same for all."""
    return Unauthenticated(
        "this token is not accepted; it may be misspelled, expired or revoked",
        next_steps=NextStep("token.create", "creates another one", fill=("name",)),
    )


def load_acting_token(tx: Transaction) -> TokenRow | None:
    """Return the token that the caller acts with, or None."""
    if tx.actor.token_id is None:
        return None
    row = tx.one(sql.token, TokenRow, id=tx.actor.token_id)
    if row.get_state(tx.now) is not TokenState.ACTIVE:
        raise refuse_token()
    return row


def load_token(tx: Transaction, token_id: str) -> TokenRow:
    """Return a token of the caller, or any token for an owner of the organization."""
    row = tx.one_or_none(sql.token, TokenRow, id=token_id)
    if row is None or not (owns_organization(tx.actor) or tx.actor.id in (row.actor_id, row.created_by)):
        raise NotFound("token", token_id)
    return row


# --- The table --------------------------------------------------------------------------------------------------------

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
