"""Fields that several requests about work have, with their limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from groundplan.kernel.errors import Invalid
from groundplan.kernel.input_gate.text_limits import MaxBytes
from groundplan.kernel.next_steps import NextStep
from groundplan.kernel.wording import Path, refusal, rendered

PROPERTIES_BYTES_MAX = STATE_BYTES_MAX = 32_768
LINKS_MAX = 50
RESERVED = "_"  # the first letter of properties that the engine sets

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

    def __init__(self, path: Path) -> None:
        field = rendered(path)
        super().__init__(
            f"{field} begins with {RESERVED!r}, which is for the engine; choose another name",
            next_steps=NextStep("work.next", "claims a node", {"claim": True}),
            field=field,
        )


def own_properties(given: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """The properties that a caller may set: null is the same as none.

    Raises:
        ReservedProperty: a name is kept for the engine.
    """
    for key in given:
        if key.startswith(RESERVED):
            raise ReservedProperty((*path, key))
    return {key: value for key, value in given.items() if value is not None}


def stored_properties(properties: Mapping[str, Any], path: Path) -> str:
    """Properties as they are kept.

    Raises:
        Invalid: they are too large.
    """
    return _stored(properties, path, PROPERTIES_BYTES_MAX) if properties else "{}"


def stored_state(state: Any, path: Path) -> str | None:
    """A state as it is kept; null is none.

    Raises:
        Invalid: it is too large.
    """
    return None if state is None else _stored(state, path, STATE_BYTES_MAX)


def _stored(value: Any, path: Path, limit: int) -> str:
    encoded = msgspec.json.encode(value)
    if len(encoded) > limit:
        wrong = f"is {len(encoded)} bytes long as JSON, the limit is {limit}; keep large things in files"
        raise refusal(path, wrong, code="too_long", limit_bytes=limit, actual_bytes=len(encoded))
    return encoded.decode()


def stored_links(links: list[str], path: Path) -> str:
    """Context links as they are kept.

    Raises:
        Invalid: there are too many.
    """
    if len(links) > LINKS_MAX:
        wrong = f"would be {len(links)}, the limit is {LINKS_MAX}; remove some"
        raise refusal(path, wrong, code="too_many", limit=LINKS_MAX)
    return msgspec.json.encode(links).decode() if links else "[]"
