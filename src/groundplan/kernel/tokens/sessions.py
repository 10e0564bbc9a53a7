"""Logins: tokens in a browser's cookie. A login lasts while it is used, but at most 30 days."""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple

from groundplan.kernel.access import Permission
from groundplan.kernel.actors import Actor, ActorKind
from groundplan.kernel.audit import KernelOp
from groundplan.kernel.clock import subtract_time
from groundplan.kernel.errors import NotFound
from groundplan.kernel.principals import add_to_organization
from groundplan.kernel.store.authorize import AgentNotAllowed
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.store import Store
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.tokens.operations import record_token_event, revoke_with_children
from groundplan.kernel.tokens.token import TokenKind, TokenRow, load_acting_token, load_token, view_token
from groundplan.kernel.tokens.token_text import make_secret

IDLE_MAX = timedelta(hours=12)  # a working day, so that nobody logs in twice on one
LENGTH_MAX = timedelta(days=30)

sql = load_queries(__file__)


class OpenedSession(NamedTuple):
    """A new login. `secret` goes into the cookie."""

    id: str
    secret: str
    expires_at: str
    renewable_until: str


def open_session(store: Store, actor: Actor, *, label: str | None = None) -> OpenedSession:
    """Log a person in with the rights of the actor and the limits of its token. The login ends with that token."""
    if actor.kind is not ActorKind.PERSON:
        raise AgentNotAllowed("only a person logs in; an agent sends its token with each request")
    return store.write(actor, None, lambda tx: _open(tx, label), needs=Permission.TOKEN_LIST)


def _open(tx: Transaction, label: str | None) -> OpenedSession:
    actor = tx.actor
    parent = load_acting_token(tx)
    renewable_until = subtract_time(tx.now, -LENGTH_MAX)
    if parent is not None and parent.expires_at is not None:
        renewable_until = min(renewable_until, parent.expires_at)
    expires_at = compute_session_expiry(tx.now, renewable_until)
    is_new = add_to_organization(tx, actor.id, kind=actor.kind)
    secret = make_secret()
    tx.run(
        sql.add_token,
        id=secret.id,
        digest=secret.digest,
        kind=TokenKind.SESSION,
        user_id=actor.id,
        access=actor.access,
        role_max=actor.role_max,
        projects=None if actor.projects is None else to_json_array(sorted(actor.projects)),
        sponsor_id=actor.sponsor,
        label=label,
        parent_id=actor.token_id,
        expires_at=expires_at,
        renewable_until=renewable_until,
    )
    view = view_token(tx.one(sql.token, TokenRow, id=secret.id), tx.now)
    record_token_event(tx, KernelOp.SESSION_OPENED, view, is_new=is_new)
    return OpenedSession(secret.id, secret.text, expires_at, renewable_until)


def close_session(store: Store, actor: Actor) -> None:
    """Revoke the login of the actor."""

    def run(tx: Transaction) -> None:
        row = load_token(tx, actor.token_id or "")
        if row.kind is not TokenKind.SESSION:
            raise NotFound("session", row.id)
        if row.revoked_at is None:
            revoke_with_children(tx, row)

    store.write(actor, None, run, needs=Permission.TOKEN_LIST)


def compute_session_expiry(now: str, renewable_until: str) -> str:
    """Return the expiry time of a login that is used now."""
    return min(subtract_time(now, -IDLE_MAX), renewable_until)
