"""Hydration: write the values of a view into a caller's structure, each at its pointer."""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from groundplan.context.schemas import ContextView, PcivContextViewV1, Provenance, ReplacedValue, UnplacedInput
from groundplan.context.values import get_value, split_pointer
from groundplan.kernel.errors import Invalid
from groundplan.kernel.wording import describe_value, quote_text

VERSION_KEY = "contextVersionId"  # at the root of the hydrated structure: the version of its facts

_INDEX = re.compile("0|[1-9][0-9]*")  # RFC 6901: an array index has no leading zeros


class Hydrated(Struct, rename="camel"):
    """The filled structure, and the outcome for each input.

    An input with a value is in one list: `placed` where there was no value or the same, `replaced` where there was
    another, `kept` if that stays, else `unplaced`. Required inputs without a value are in `missing`.
    """

    target: dict[str, Any]
    context_version_id: str
    placed: list[str]
    kept: list[str]
    replaced: list[ReplacedValue]
    unplaced: list[UnplacedInput]
    missing: list[str]


class _PlacementError(Exception):
    """A value cannot be written at its pointer; the message has the reason."""


def hydrate(view: PcivContextViewV1, target: Any, *, create_missing: bool = False, overwrite: bool = False) -> Hydrated:
    """Write the values of a view into a copy of the target; the target itself is unchanged.

    Every SET value is written, including the empty text, 0 and false. A model-inferred one replaces another value of
    the target only with `overwrite`; null is no value. UNSET inputs leave the target as it is, without a default. A
    value has a place if the object or array that holds it exists; `create_missing` creates missing objects on the path.
    Arrays keep their length, so only existing items are replaced. Where one input lies below another, the one of higher
    provenance wins. Hydrating the result again does not change it.
    """
    if not isinstance(target, dict):
        raise Invalid(f"the target is {describe_value(target)}; hydrate an object", code="invalid_target")
    patched = _deep_copy(target)
    version = _get_version(view)
    done = Hydrated(patched, version, [], [], [], [], [])
    overruled = _find_overruled(view)
    written: dict[str, list[str]] = {}  # the steps to each place, by pointer
    # A pointer sorts before those below it, so an object is written before its parts.
    for pointer, fact in sorted(view.inputs_by_pointer.items()):
        value = get_value(fact)
        if value is None:
            if fact.required:
                done.missing.append(pointer)
            continue
        try:
            if pointer in overruled:
                raise _PlacementError(f"{quote_text(overruled[pointer])} has a value of higher provenance")
            steps = _find_place(patched, pointer, create_missing=create_missing)
        except _PlacementError as why:
            done.unplaced.append(UnplacedInput(pointer, str(why)))
            continue
        if fact.provenance is Provenance.MODEL_INFERRED and not overwrite and _differ(_read(target, steps), value):
            done.kept.append(pointer)
            continue
        _write(patched, steps, _deep_copy(value))
        written[pointer] = steps
    for pointer, steps in written.items():  # now, because what lies below one fact is another's to say
        before = _read(target, steps)
        if _differ(before, _read(patched, steps)):
            done.replaced.append(ReplacedValue(pointer, before, view.inputs_by_pointer[pointer].provenance))
        else:
            done.placed.append(pointer)
    patched[VERSION_KEY] = version
    return done


def _find_overruled(view: PcivContextViewV1) -> dict[str, str]:
    """Return the overruled inputs, each with the input above or below it that has a higher provenance.

    Two pointers can lead to the same part of a plan. Then the value of higher provenance wins, as at one pointer.
    """
    held = {pointer: fact for pointer, fact in view.inputs_by_pointer.items() if get_value(fact) is not None}
    overruled: dict[str, str] = {}
    for pointer, fact in held.items():
        for above in (pointer[:index] for index, letter in enumerate(pointer) if letter == "/" and index):
            if above in held and held[above].provenance is not fact.provenance:
                is_weaker = held[above].provenance.rank < fact.provenance.rank
                overruled.update({above: pointer} if is_weaker else {pointer: above})
    return overruled


def _get_version(view: PcivContextViewV1) -> str:
    return view.context_version_id if isinstance(view, ContextView) else view.run.committed_at or view.run.updated_at


def _find_place(root: dict[str, Any], pointer: str, *, create_missing: bool) -> list[str]:
    """Return the steps to the place of a pointer, or raise."""
    if not pointer.startswith("/"):
        raise _PlacementError("a pointer must begin with /")
    way = split_pointer(pointer)
    if way[0] == VERSION_KEY:
        raise _PlacementError(f"{VERSION_KEY} is reserved for the version of the facts")
    # The path is checked before anything is created, so that a failing pointer leaves no empty objects. Below a missing
    # key nothing can be in the way.
    here: Any = root
    for depth, step in enumerate(way):
        if isinstance(here, dict):
            if step not in here:
                if not create_missing and depth < len(way) - 1:
                    location = quote_text("/".join(pointer.split("/")[: depth + 2]))
                    raise _PlacementError(f"{location} is missing, so nothing can be written below it")
                break
            here = here[step]
        else:
            here = here[_parse_index(here, step, pointer, depth)]
    return way


def _read(root: Any, steps: list[str]) -> Any:
    """Return what is at the end of some steps; None if there is nothing."""
    here = root
    for step in steps:
        if isinstance(here, dict):
            here = here.get(step)
        elif isinstance(here, list) and _INDEX.fullmatch(step) and len(step) <= len(str(len(here))):
            here = here[int(step)] if int(step) < len(here) else None
        else:
            return None
    return here


def _differ(before: Any, after: Any) -> bool:
    """Return whether a value replaces another one. They are compared as in JSON, where false and 0 differ."""
    waiting = [(before, after)] if before is not None else []
    while waiting:  # without recursion, as below
        match waiting.pop():
            case (dict() as one, dict() as other) if one.keys() == other.keys():
                waiting += [(one[key], other[key]) for key in one]
            case (list() as one, list() as other) if len(one) == len(other):
                waiting += zip(one, other, strict=True)
            case (one, other) if isinstance(one, bool) is not isinstance(other, bool) or one != other:
                return True
    return False


def _parse_index(container: Any, step: str, pointer: str, depth: int) -> int:
    location = quote_text("/".join(pointer.split("/")[: depth + 1]))
    if not isinstance(container, list):
        raise _PlacementError(f"{location} holds {describe_value(container)}, so nothing can be written below it")
    if not _INDEX.fullmatch(step):
        raise _PlacementError(f"{location} holds an array, and {quote_text(step)} is not an index")
    # The digits are counted first, because Python refuses to parse a number with thousands of them.
    if len(step) > len(str(len(container))) or int(step) >= len(container):
        raise _PlacementError(
            f"{location} holds an array of {len(container)} items, so index {quote_text(step)[1:-1]} is out of range"
        )
    return int(step)


def _write(root: dict[str, Any], steps: list[str], value: Any) -> None:
    here: Any = root
    for step in steps[:-1]:
        here = here.setdefault(step, {}) if isinstance(here, dict) else here[int(step)]
    if isinstance(here, dict):
        here[steps[-1]] = value
    else:
        here[int(steps[-1])] = value


def _deep_copy(value: Any) -> Any:
    """Copy objects and arrays without recursion, because a pointer can have hundreds of levels."""
    root: list[Any] = [value]
    waiting: list[tuple[Any, Any]] = [(root, 0)]
    while waiting:
        holder, key = waiting.pop()
        held = holder[key]
        if isinstance(held, dict):
            holder[key] = copy = dict(held)
            waiting += [(copy, inner) for inner in copy]
        elif isinstance(held, list):
            holder[key] = items = list(held)
            waiting += [(items, inner) for inner in range(len(items))]
    return root[0]
