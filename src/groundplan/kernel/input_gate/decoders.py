"""Decoders of typed JSON, built by one thread at a time.

msgspec collects what it has to know about a Struct when the Struct is decoded for the first time. It crashes the
process if two threads do that for the same Struct at once (msgspec 0.22). So everything that decodes into a type that
holds a Struct gets its decoder here.
"""

from __future__ import annotations

import threading
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

_decoders: dict[Any, msgspec.json.Decoder[Any]] = {}
_building = threading.Lock()


def get_decoder(shape: type[T]) -> msgspec.json.Decoder[T]:
    """Return the decoder of a type. After this call, any thread may also use `msgspec.convert` with the type."""
    decoder = _decoders.get(shape)
    if decoder is None:
        with _building:
            decoder = _decoders.setdefault(shape, msgspec.json.Decoder(shape))
    return decoder
