"""Fields of several work requests, with their limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from groundplan.kernel.errors import Invalid, NextStep
from groundplan.kernel.input_gate.text_limits import MaxBytes, NotBlank
from groundplan.kernel.wording import ArgumentPath, format_argument_path, invalid_argument

PROPERTIES_BYTES_MAX = STATE_BYTES_MAX = 32_768
LINKS_MAX = 50
TAGS_MAX = 50  # per node
SECTIONS_MAX = 100  # per node
CLAIMANT_PROPERTY = "_claimed_by"  # the property that shows a claim
RESERVED_PREFIX = "_"  # the first character of properties that only the engine sets

NodeRef = Annotated[str, Meta(min_length=1, max_length=255)]
Summary = Annotated[str, NotBlank(), MaxBytes(4096)]
Link = Annotated[str, Meta(min_length=1), MaxBytes(4096)]
Links = Annotated[list[Link], Meta(max_length=LINKS_MAX)]
EvidenceRef = Annotated[str, MaxBytes(4096)]
TypeName = Annotated[str, Meta(min_length=1, max_length=255)]
Decision = Annotated[str, MaxBytes(4096)]


class ReservedProperty(Invalid):
    """The request sets a property that is reserved for Groundplan."""

    code = "reserved_property"

    def __init__(self, path: ArgumentPath) -> None:
        field = format_argument_path(path)
        super().__init__(
            f"{field} begins with {RESERVED_PREFIX!r}, which is reserved for the engine; choose another name",
            next_steps=NextStep("work.next", "claims a node", {"claim": True}),
            field=field,
        )


def validate_properties(properties: Mapping[str, Any], path: ArgumentPath) -> dict[str, Any]:
    """Return the given properties, without those that are null."""
    for key in properties:
        if key.startswith(RESERVED_PREFIX):
            raise ReservedProperty((*path, key))
    return {key: value for key, value in properties.items() if value is not None}


def encode_properties(properties: Mapping[str, Any], path: ArgumentPath) -> str:
    """Return properties as JSON text for the store."""
    return _encode_json(properties, path, PROPERTIES_BYTES_MAX) if properties else "{}"


def encode_state(state: Any, path: ArgumentPath) -> str | None:
    """Return a state as JSON text for the store, or None if it is null."""
    return None if state is None else _encode_json(state, path, STATE_BYTES_MAX)


def _encode_json(value: Any, path: ArgumentPath, limit: int) -> str:
    encoded = msgspec.json.encode(value)
    if len(encoded) > limit:
        wrong = f"is {len(encoded)} bytes long as JSON, the limit is {limit}; store large content in files"
        raise invalid_argument(path, wrong, code="too_long", limit_bytes=limit, actual_bytes=len(encoded))
    return encoded.decode()


def encode_links(links: list[str], path: ArgumentPath) -> str:
    """Return context links as JSON text for the store."""
    if len(links) > LINKS_MAX:
        wrong = f"would have {len(links)} links, the limit is {LINKS_MAX}; remove some"
        raise invalid_argument(path, wrong, code="too_many", limit=LINKS_MAX)
    return msgspec.json.encode(links).decode() if links else "[]"
