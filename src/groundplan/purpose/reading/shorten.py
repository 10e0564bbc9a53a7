"""Shorten a theory for an answer: drop the least useful fields first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from groundplan.kernel.answers import Budget, DropField, Trimming, count_chars, trim
from groundplan.purpose.model import Content, EdgeType

if TYPE_CHECKING:
    from groundplan.purpose.open import OpenedPurpose

ANSWER_TOKENS_AIM = 3_000  # size to which an answer is shortened unless `detail` is full: about thirty nodes
DESCRIPTION_CHARS_SHORT = 160  # longer descriptions are left out before shorter ones

_ASSUMPTION_PATHS = ("nodes[].assumptions[]", "edges[].assumptions[]")

# Fields to drop from a long answer, the least useful first: row ids, because rows have keys, then long descriptions and
# metadata and narratives, then the default values, and then the fields of _TRIM_LAST. Mechanisms, confidences and
# assumptions stay.
_TRIM_IDS = Trimming(
    *(DropField(f"{rows}.id") for rows in ("nodes[]", "edges[]", "indicators[]", *_ASSUMPTION_PATHS)),
)
_TRIM_EXTRAS = Trimming(DropField("nodes[].metadata"), DropField("nodes[].narrative"))
_DEFAULTS: dict[str, Any] = {"assumptions": [], "metadata": {}, "edge_type": EdgeType.CONTRIBUTES_TO}
_TRIM_LAST = Trimming(
    *(DropField(f"indicators[].{field}") for field in ("method", "frequency", "baseline_verified")),
    *(DropField(f"versions[].{field}") for field in ("content_hash", "context_run")),
    DropField("nodes[].description"),
    *(DropField(f"{rows}.owner") for rows in ("nodes[]", "indicators[]", *_ASSUMPTION_PATHS)),
    *(DropField(f"indicators[].{field}") for field in ("unit", "direction")),
)


def count_chars_min(content: Content) -> int:
    """Return a lower bound for the characters of an answer, from the names and texts that are never left out."""
    return (
        sum(len(node.title) + 40 for node in content.nodes.values())
        + sum(len(one.assumption_text) + 50 for one in content.assumptions.values())
        + sum(len(one.name) + 30 for one in content.indicators.values())
        + sum(len(edge.mechanism or "") + 30 for edge in content.edges)
    )


def shorten(opened: OpenedPurpose, aim: Budget) -> None:
    """Drop optional fields until the answer fits, or none is left."""
    trim(opened, aim, _TRIM_IDS)
    if count_chars(opened) > aim.free_chars:
        _leave_out_long_descriptions(opened)
        trim(opened, aim, _TRIM_EXTRAS)
    if count_chars(opened) > aim.free_chars:
        _leave_out_defaults(opened)
        trim(opened, aim, _TRIM_LAST)


def _leave_out_long_descriptions(opened: OpenedPurpose) -> None:
    long = [node for node in opened.nodes or () if len(node.description or "") > DESCRIPTION_CHARS_SHORT]
    for node in long:
        node.description = None
    if long:
        opened.left_out = {**(opened.left_out or {}), "nodes.description": len(long)}


def _leave_out_defaults(opened: OpenedPurpose) -> None:
    """Drop fields that have their default value."""
    count = 0
    for row in (*(opened.nodes or ()), *(opened.edges or ())):
        for field, default in _DEFAULTS.items():
            if getattr(row, field, UNSET) == default:
                setattr(row, field, UNSET)
                count += 1
    opened.left_out = {**(opened.left_out or {}), "defaults": count}
