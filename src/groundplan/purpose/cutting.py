"""An answer too large for its limit, with its lists cut: what is short stays whole, and what is cut is counted."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from groundplan.kernel.output_gate import encode, fits, leading, tokens

T = TypeVar("T", bound=Struct)


def cut_lists(answer: T, tokens_max: int) -> T:
    """The answer, or one with the beginning of each list and `left_out`: how much of which list is missing.

    Lists share the room evenly, and what a short one does not need is for the longer ones. 0 is no limit.
    """
    if fits(encode(answer), tokens_max * 9 // 10):
        return answer
    lists = sorted(_lists(answer), key=lambda one: len(encode(one[1])))
    room = tokens_max * 8 // 10
    changed: dict[str, Any] = {}
    left: dict[str, int] = {}
    for place, (path, items) in enumerate(lists):
        kept = leading(items, tokens_max=max(1, room // (len(lists) - place)))
        room -= tokens(encode(kept))
        if len(kept) < len(items):
            left[".".join(path)] = len(items) - len(kept)
            outer, *inner = path
            before = changed.get(outer, getattr(answer, outer))
            changed[outer] = msgspec.structs.replace(before, **{inner[0]: kept}) if inner else kept
    return msgspec.structs.replace(answer, **changed, left_out=left)


def _lists(answer: Struct) -> list[tuple[tuple[str, ...], list[Any]]]:
    """The lists of an answer and of what it directly contains, each with the way to it."""
    found: list[tuple[tuple[str, ...], list[Any]]] = []
    for name in answer.__struct_fields__:
        value = getattr(answer, name)
        if isinstance(value, list):
            found.append(((name,), value))
        elif isinstance(value, Struct):
            inner = ((field, getattr(value, field)) for field in value.__struct_fields__)
            found += [((name, field), items) for field, items in inner if isinstance(items, list)]
    return found
