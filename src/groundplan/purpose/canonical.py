"""Canonical JSON of content, and its hash. Equal content always gives equal bytes."""

from __future__ import annotations

from typing import Any

import msgspec

from groundplan.purpose.model import Content

CONTENT_FORMAT = 1
EXACT_INT_MAX = 2**53  # above it every float is whole


def encode_canonical(content: Content) -> bytes:
    """Encode content without row ids: items and names sorted, no whitespace, whole numbers without a fraction."""
    return msgspec.json.encode(_to_builtins(content), order="sorted")


def compute_content_hash(content: Content) -> str:
    """Return the SHA-256 of the canonical JSON."""
    from hashlib import sha256  # loads megabytes of OpenSSL, needed only to publish or check

    return sha256(encode_canonical(content)).hexdigest()


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
    """Return a whole number as int: 5000, not 5000.0."""
    return int(value) if value.is_integer() and abs(value) < EXACT_INT_MAX else value


def normalize_numbers(value: Any) -> Any:
    """Normalize all numbers in nested dicts and lists."""
    if isinstance(value, float):
        return normalize_number(value)
    if isinstance(value, dict):
        return {name: normalize_numbers(one) for name, one in value.items()}
    if isinstance(value, list):
        return [normalize_numbers(one) for one in value]
    return value
