"""Content as canonical JSON, and its hash: equal content gives equal bytes, whenever and wherever it was written."""

from __future__ import annotations

from typing import Any

import msgspec

from groundplan.purpose.model import Content

CONTENT_FORMAT = 1
EXACT_INT_MAX = 2**53  # beyond it a float is whole by lack of digits


def canonical_json(content: Content) -> bytes:
    """Content without row ids: sorted by key, names sorted, no space, whole numbers without a fraction."""
    return msgspec.json.encode(_to_builtins(content), order="sorted")


def content_hash(content: Content) -> str:
    """The SHA-256 of the canonical JSON."""
    from hashlib import sha256  # megabytes of OpenSSL, which only who publishes or checks needs

    return sha256(canonical_json(content)).hexdigest()


def _to_builtins(content: Content) -> dict[str, Any]:
    return {
        "format": CONTENT_FORMAT,
        "nodes": [normalize_numbers(_drop_row_id(node)) for node in content.nodes.values()],
        "edges": [normalize_numbers(_drop_row_id(edge)) for edge in content.edges],
        "assumptions": [normalize_numbers(_drop_row_id(one)) for one in content.assumptions.values()],
        "indicators": [normalize_numbers(_drop_row_id(one)) for one in content.indicators.values()],
    }


def _drop_row_id(row: Any) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.structs.asdict(row)
    del fields["id"]
    return fields


def normalize_number(value: float) -> float:
    """A number as people write it: 5000, not 5000.0."""
    return int(value) if value.is_integer() and abs(value) < EXACT_INT_MAX else value


def normalize_numbers(value: Any) -> Any:
    """Values in which a number that is whole has one spelling."""
    if isinstance(value, float):
        return normalize_number(value)
    if isinstance(value, dict):
        return {name: normalize_numbers(one) for name, one in value.items()}
    if isinstance(value, list):
        return [normalize_numbers(one) for one in value]
    return value
