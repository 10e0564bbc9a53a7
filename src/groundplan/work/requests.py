"""Fields that several requests about work have, with their limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from groundplan.kernel.errors import Invalid
from groundplan.kernel.input_gate.text_limits import MaxBytes
from groundplan.kernel.next_steps import NextStep
from groundplan.kernel.wording import ArgumentPath, format_argument_path, invalid_argument

PROPERTIES_BYTES_MAX = STATE_BYTES_MAX = 32_768
LINKS_MAX = 50
RESERVED_PREFIX = "_"  # the first letter of properties that the engine sets

NodeRef = Annotated[str, Meta(min_length=1, max_length=255)]
Summary = Annotated[str, Meta(min_length=1), MaxBytes(4096)]
Link = Annotated[str, Meta(min_length=1), MaxBytes(4096)]
Links = Annotated[list[Link], Meta(max_length=LINKS_MAX)]
EvidenceRef = Annotated[str, MaxBytes(4096)]
TypeName = Annotated[str, Meta(min_length=1, max_length=255)]
Decision = Annotated[str, MaxBytes(4096)]


class ReservedProperty(Invalid):
    """The engine's own properties cannot be set by callers."""

    code = "reserved_property"

    def __init__(self, path: ArgumentPath) -> None:
        field = format_argument_path(path)
        super().__init__(
            f"{field} begins with {RESERVED_PREFIX!r}, which is for the engine; choose another name",
            next_steps=NextStep("work.next", "claims a node", {"claim": True}),
            field=field,
        )


def validate_properties(given: Mapping[str, Any], path: ArgumentPath) -> dict[str, Any]:
    """The properties that a caller may set: null is the same as none.

    Raises:
        ReservedProperty: a name is kept for the engine.
    """
    for key in given:
        if key.startswith(RESERVED_PREFIX):
            raise ReservedProperty((*path, key))
    return {key: value for key, value in given.items() if value is not None}


def encode_properties(properties: Mapping[str, Any], path: ArgumentPath) -> str:
    """Properties as they are kept.

    Raises:
        Invalid: they are too large.
    """
    return _encode_json(properties, path, PROPERTIES_BYTES_MAX) if properties else "{}"


def encode_state(state: Any, path: ArgumentPath) -> str | None:
    """A state as it is kept; null is none.

    Raises:
        Invalid: it is too large.
    """
    return None if state is None else _encode_json(state, path, STATE_BYTES_MAX)


def _encode_json(value: Any, path: ArgumentPath, limit: int) -> str:
    encoded = msgspec.json.encode(value)
    if len(encoded) > limit:
        wrong = f"is {len(encoded)} bytes long as JSON, the limit is {limit}; keep large things in files"
        raise invalid_argument(path, wrong, code="too_long", limit_bytes=limit, actual_bytes=len(encoded))
    return encoded.decode()


def encode_links(links: list[str], path: ArgumentPath) -> str:
    """Context links as they are kept.

    Raises:
        Invalid: there are too many.
    """
    if len(links) > LINKS_MAX:
        wrong = f"would be {len(links)}, the limit is {LINKS_MAX}; remove some"
        raise invalid_argument(path, wrong, code="too_many", limit=LINKS_MAX)
    return msgspec.json.encode(links).decode() if links else "[]"
