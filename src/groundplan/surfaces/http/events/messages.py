"""Server-sent events as bytes.

    id: 42.0
    data: {"area":"work","ids":["k7m2qp"],"actor":"ada"}

A message without a name is a change. The named ones are `hello` (the stream has begun), `reset` (read everything
again), `closed` (there is nothing more to see) and `bye` (the server stops; connect again).
"""

from __future__ import annotations

from typing import Any

from groundplan.kernel.answers import encode
from groundplan.kernel.events.follow import AreaChange, EventPosition

HEARTBEAT = b": heartbeat\n\n"


def encode_change(change: AreaChange) -> bytes:
    """Return the message of a change."""
    data: dict[str, Any] = {"area": change.area, "ids": change.ids, "actor": change.actor}
    if change.left_out:
        data["left_out"] = change.left_out
    return b"id: %s\ndata: %s\n\n" % (str(change.last).encode(), encode(data))


def encode_named(name: str, *, rev: int | None = None, position: EventPosition | None = None) -> bytes:
    """Return a message about the stream itself. A client that connects again goes on after `position`."""
    data = {} if rev is None else {"rev": rev}
    place = b"" if position is None else b"id: %s\n" % str(position).encode()
    return b"event: %s\n%sdata: %s\n\n" % (name.encode(), place, encode(data))


def encode_retry(retry_ms: int) -> bytes:
    """Return after how many milliseconds a client shall connect again."""
    return b"retry: %d\n\n" % retry_ms
