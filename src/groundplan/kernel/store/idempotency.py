"""Durable idempotency: a repeated request with the same `op_id` has no second effect and gets the stored answer."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct

from groundplan.kernel.clock import subtract_time
from groundplan.kernel.errors import Conflict
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

ANSWER_TTL = timedelta(days=7)  # longer than any client retries
LATER_ANSWERS_MIN = 1_000  # and so many later ones, which no clock can bring about
SWEEP_ROWS_MAX = 8  # a write adds one row and deletes up to eight, so the table shrinks after a burst

T = TypeVar("T")

sql = load_queries(__file__)


class OpIdReused(Conflict):
    """The op_id was already used with another request."""

    code = "op_id_reused"

    def __init__(self, op_id: str) -> None:
        super().__init__(
            "this op_id was used with another request; send a new op_id, or repeat the earlier request exactly",
            op_id=op_id,
        )


class IdempotentRequest(Struct, Generic[T], frozen=True):
    """A request that has an `op_id`."""

    op_id: str
    body_digest: str
    dump: Callable[[T], bytes]
    load: Callable[[str], T]


def make_idempotent_request(
    op_id: str, operation: str, body: Any, *, dump: Callable[[T], bytes], load: Callable[[str], T]
) -> IdempotentRequest[T]:
    """Return the idempotent form of a request. `body` is the request without its op_id.

    `dump` encodes an answer for storage, `load` decodes it.
    """
    from hashlib import sha256  # here, because only requests with an op_id need it

    encoded = msgspec.json.encode([operation, body], order="deterministic")
    return IdempotentRequest(op_id, sha256(encoded).hexdigest(), dump, load)


def find_stored_answer(tx: Transaction, request: IdempotentRequest[T]) -> T | None:
    """Return the stored answer of a request, or None."""
    row = tx.one_or_none(sql.stored_answer, op_id=request.op_id, **_compute_retention(tx))
    if row is None:
        return None
    digest, answer = row
    if digest != request.body_digest:
        raise OpIdReused(request.op_id)
    return request.load(answer)


def store_answer(tx: Transaction, request: IdempotentRequest[T], answer: T) -> bool:
    """Store the answer in the same transaction. Return False if another write has stored one for the same op_id."""
    retention = _compute_retention(tx)
    stored = tx.one_or_none(
        sql.store_answer,
        op_id=request.op_id,
        body_digest=request.body_digest,
        answer=request.dump(answer).decode(),
        **retention,
    )
    tx.all(sql.sweep_answers, **retention, at_most=SWEEP_ROWS_MAX)
    return stored is not None


def _compute_retention(tx: Transaction) -> dict[str, Any]:
    return {
        "kept_since": subtract_time(tx.now, ANSWER_TTL),
        "kept_until": subtract_time(tx.now, -ANSWER_TTL),
        "later_min": LATER_ANSWERS_MIN,
    }
