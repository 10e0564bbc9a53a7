"""A token as it is stored and as answers show it, never with its secret."""

from __future__ import annotations

from enum import StrEnum

import msgspec
from msgspec import Struct

from groundplan.kernel.access import Role
from groundplan.kernel.actors import Access, Actor, ActorKind
from groundplan.kernel.errors import NextStep, NotFound, RuleViolated, Unauthenticated
from groundplan.kernel.store.authorize import owns_organization
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.schema import Frozen
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


class TokenKind(StrEnum):
    """Whom a token is for. A session is the login of a person in a browser."""

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
    """Whether a token works."""

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
        """Return whether the token works at a time."""
        if self.revoked_at is not None:
            return TokenState.REVOKED
        return TokenState.EXPIRED if self.expires_at is not None and self.expires_at <= now else TokenState.ACTIVE

    def build_actor(self, organization: str) -> Actor:
        """Return the identity that the token proves, with its limits."""
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
    """A token in answers. `role` and `projects` are the most that it allows; null is no limit."""

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
    """What a token allows cannot change, and a revoked token stays revoked."""

    code = "token_is_final"


class TokenOfOtherKind(RuleViolated):
    """The name belongs to an actor of another kind, for whom this token would act."""

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
    """Return the one error for a token that is malformed, unknown, expired or revoked."""
    return Unauthenticated(
        "this token is not accepted; it may be misspelled, expired or revoked",
        next_steps=NextStep("token.create", "creates another one"),
    )


def load_acting_token(tx: Transaction) -> TokenRow | None:
    """Return the token that the caller acts with; None if they act without one.

    Raises:
        Unauthenticated: it ended after the request was authenticated. What it creates would outlive it.
    """
    if tx.actor.token_id is None:
        return None
    row = tx.one(sql.token, TokenRow, id=tx.actor.token_id)
    if row.get_state(tx.now) is not TokenState.ACTIVE:
        raise refuse_token()
    return row


def load_token(tx: Transaction, token_id: str) -> TokenRow:
    """Return a token that is the caller's own, or any for an owner of the organization.

    Raises:
        NotFound: there is no such token, or it is somebody else's.
    """
    row = tx.one_or_none(sql.token, TokenRow, id=token_id)
    if row is None or not (owns_organization(tx.actor) or tx.actor.id in (row.actor_id, row.created_by)):
        raise NotFound("token", token_id)
    return row
