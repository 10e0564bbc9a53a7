"""One thing that waits for a person, and what settles it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.store.transaction import Transaction


class InboxKind(StrEnum):
    """Why something waits for a person, in the order of the list: what blocks others comes first."""

    GATE_BLOCKS = "gate_blocks"
    AT_RISK = "at_risk"
    REQUEST = "request"
    SUGGESTION = "suggestion"
    REVIEW_DUE = "review_due"
    CLAIM_LAPSING = "claim_lapsing"
    WAIVER_ENDING = "waiver_ending"


RANKS = {kind: rank for rank, kind in enumerate(InboxKind)}


class InboxAction(Struct, kw_only=True):
    """The operation that settles an item. A person adds the arguments in `needs`; without them it can be sent as is."""

    operation: str
    arguments: dict[str, Any]
    needs: list[str] | UnsetType = UNSET
    call: str | UnsetType = UNSET  # the tool, command or route of the operation, where it has another name


class InboxItem(Struct, kw_only=True):
    """Something that waits for a person. `ref` is the id, key or pointer of what it is about."""

    kind: InboxKind
    project: str | UnsetType = UNSET  # its name, in a list of several projects
    ref: str
    text: str
    since: str  # the time, or the day, from which it has waited
    action: InboxAction


def make_action(
    tx: Transaction, operation: str, arguments: Mapping[str, Any], *, needs: list[str] | UnsetType = UNSET
) -> InboxAction:
    """Return an action, with the name of its operation on the surface of the caller."""
    spelled = tx.preferences.vocabulary.spell(operation, arguments)
    return InboxAction(
        operation=operation,
        arguments=dict(arguments),
        needs=needs,
        call=UNSET if spelled == operation else spelled,
    )
