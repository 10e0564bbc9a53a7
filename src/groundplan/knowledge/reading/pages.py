"""A page of a list: which part of it was asked for, and how much of that fits into an answer."""

from __future__ import annotations

from typing import Any, TypeVar

from groundplan.kernel.output_gate import leading
from groundplan.kernel.store.queries import Query
from groundplan.kernel.store.transaction import Transaction

SPARE_TOKENS = 60  # of the caller's cap, for what stands around the items

T = TypeVar("T")


def page_of(tx: Transaction, listing: Query, *, limit: int, offset: int, **parameters: Any) -> tuple[list[str], int]:
    """The ids on a page, and how many there are on all pages."""
    rows = tx.all(listing, project_id=tx.project.id, limit=limit, offset=offset, **parameters)
    if not rows and offset:
        # Behind the last page there is no row that could tell how many there are.
        _, total = page_of(tx, listing, limit=1, offset=0, **parameters)
        return [], total
    return [id_ for id_, _ in rows], next((total for _, total in rows), 0)


def fitting(tx: Transaction, items: list[T]) -> list[T]:
    """As many items from the front as the caller's cap leaves room for."""
    cap = tx.preferences.answer_tokens_max
    return leading(items, tokens_max=max(cap - SPARE_TOKENS, 1) if cap else 0)
