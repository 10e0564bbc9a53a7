"""Authenticate a request by its token.

The token is looked up for every request, so a revoked one is refused by the next request. All refusals are one error:
it does not tell an unknown token from a revoked one. The log has the reason, and never the token.
"""

from __future__ import annotations

import logging
from collections import Counter
from datetime import timedelta
from enum import StrEnum
from hmac import compare_digest
from typing import NamedTuple

from groundplan.kernel.actors import Actor
from groundplan.kernel.clock import subtract_time
from groundplan.kernel.errors import Unavailable
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.store import Store
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.tokens.sessions import compute_session_expiry
from groundplan.kernel.tokens.token import TokenKind, TokenRow, TokenState, refuse_token
from groundplan.kernel.tokens.token_text import compute_digest

USE_RECORDED_EVERY = timedelta(minutes=1)

log = logging.getLogger(__name__)
sql = load_queries(__file__)


class RefusalReason(StrEnum):
    """The reason why a token is refused. It goes to the log and the counter, and never to the caller."""

    MALFORMED = "malformed"
    UNKNOWN = "unknown"
    EXPIRED = "expired"
    REVOKED = "revoked"


class VerifiedToken(NamedTuple):
    """The actor that a token proves, and whether its use must be recorded."""

    actor: Actor
    kind: TokenKind
    created_at: str
    expires_at: str | None
    renewable_until: str | None
    is_use_due: bool  # its last use is to be recorded, by `record_use` after the answer


class StoredToken(TokenRow):
    """A stored token, found by its digest."""

    tenant_id: str
    digest: str
    now: str  # when it was looked up, by the clock of the store


class RefusalCounts(Counter[RefusalReason]):
    """The number of refused tokens by reason, since the process started."""


def verify_token(store: Store, text: str, refusals: RefusalCounts | None = None) -> VerifiedToken:
    """Return the actor that a token proves, and whether its use must be recorded."""
    digest = compute_digest(text)
    reason = RefusalReason.MALFORMED
    if digest is not None:
        verified = store.read_as_nobody(lambda tx: _find_token(tx, digest))
        if isinstance(verified, VerifiedToken):
            return verified
        reason = verified
    if refusals is not None:
        refusals[reason] += 1
    log.warning("refused a token: %s", reason.value)
    raise refuse_token()


def _find_token(tx: Transaction, digest: str) -> VerifiedToken | RefusalReason:
    row = tx.one_or_none(sql.token_by_digest, StoredToken, digest=digest, clock=tx.clock)
    # The index compares digests, whose timing tells nothing about the secret; this compares them in constant time.
    if row is None or not compare_digest(row.digest, digest):
        return RefusalReason.UNKNOWN
    state = row.get_state(row.now)
    if state is not TokenState.ACTIVE:
        return RefusalReason(state.value)
    return VerifiedToken(
        row.build_actor(row.tenant_id),
        row.kind,
        row.created_at,
        row.expires_at,
        row.renewable_until,
        is_use_due=row.last_used_at is None or row.last_used_at <= subtract_time(row.now, USE_RECORDED_EVERY),
    )


def record_use(store: Store, verified: VerifiedToken) -> bool:
    """Store the time of the last use of a token, and extend a login. Return False if nothing was stored.

    It writes at most once a minute for each token, and does nothing unless `is_use_due`. Call it after the answer is
    sent: a read must not wait for a writer.
    """
    if not verified.is_use_due:
        return False

    def run(tx: Transaction) -> bool:
        expires_at = verified.expires_at
        if verified.renewable_until is not None:
            expires_at = compute_session_expiry(tx.now, verified.renewable_until)
        recorded_before = subtract_time(tx.now, USE_RECORDED_EVERY)
        changed = tx.run(
            sql.record_use, id=verified.actor.token_id, expires_at=expires_at, recorded_before=recorded_before
        )
        return bool(changed)

    try:
        return store.touch(verified.actor, run)
    except Unavailable:
        return False  # the next request tries again
