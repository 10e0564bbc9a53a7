"""Facts into a plan: each value of a view is put where its pointer says, in a structure of the caller's own."""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from groundplan.context.pointers import split_pointer
from groundplan.context.schemas import ContextView, PcivContextViewV1
from groundplan.context.values import value_of
from groundplan.kernel.errors import Invalid
from groundplan.kernel.wording import describe_value, quote_text

VERSION_KEY = "contextVersionId"  # at the root of what is hydrated: of which version the facts in it are

_INDEX = re.compile("0|[1-9][0-9]*")  # RFC 6901: a place of an array is counted without leading zeros


class UnplacedInput(Struct):
    """An input whose value has no place in the structure, and why."""

    pointer: str
    reason: str


class Hydrated(Struct, rename="camel"):
    """The structure with the facts in it, and what became of each of them.

    An input stands in `placed`, in `unplaced`, or has no value; of the last, those that are required are `missing`.
    """

    target: dict[str, Any]
    context_version_id: str
    placed: list[str]
    unplaced: list[UnplacedInput]
    missing: list[str]


class _PlacementError(Exception):
    """The pointer leads nowhere; the text says why."""


def hydrate(view: PcivContextViewV1, target: Any) -> Hydrated:
    """Put the values of a view into a copy of the target; the target itself is not touched.

    Every value that is SET is written, the empty text, 0 and false among them. What is UNSET is not, whatever stands
    there stays: no default is made up. Objects on the way are made where there is nothing; an array keeps its length,
    so that only places it has are written to. Where one input lies below another, the one of higher provenance stands.
    The same view again changes nothing more.

    Raises:
        Invalid: the target is no object.
    """
    if not isinstance(target, dict):
        raise Invalid(f"the target is {describe_value(target)}; hydrate an object", code="invalid_target")
    patched = _deep_copy(target)
    version = _version(view)
    done = Hydrated(patched, version, [], [], [])
    overruled = _find_overruled(view)
    # What lies below a pointer sorts behind it, so that a whole object is there before a part of it is changed.
    for pointer, one in sorted(view.inputs_by_pointer.items()):
        value = value_of(one)
        if value is None:
            if one.required:
                done.missing.append(pointer)
            continue
        try:
            if pointer in overruled:
                raise _PlacementError(f"{quote_text(overruled[pointer])} has a value of higher provenance")
            _place(patched, pointer, value)
        except _PlacementError as why:
            done.unplaced.append(UnplacedInput(pointer, str(why)))
        else:
            done.placed.append(pointer)
    patched[VERSION_KEY] = version
    return done


def _find_overruled(view: PcivContextViewV1) -> dict[str, str]:
    """Inputs that would change what stands, with a higher provenance, above or below them; and where that is.

    Two pointers can lead to the same part of a plan. Then the one of higher provenance has it, as at one pointer.
    """
    held = {pointer: one for pointer, one in view.inputs_by_pointer.items() if value_of(one) is not None}
    found: dict[str, str] = {}
    for pointer, one in held.items():
        for above in (pointer[:place] for place, letter in enumerate(pointer) if letter == "/" and place):
            if above in held and held[above].provenance is not one.provenance:
                is_weaker = held[above].provenance.rank < one.provenance.rank
                found.update({above: pointer} if is_weaker else {pointer: above})
    return found


def _version(view: PcivContextViewV1) -> str:
    return view.context_version_id if isinstance(view, ContextView) else view.run.committed_at or view.run.updated_at


def _place(root: dict[str, Any], pointer: str, value: Any) -> None:
    if not pointer.startswith("/"):
        raise _PlacementError("a pointer begins with /")
    way = split_pointer(pointer)
    if way[0] == VERSION_KEY:
        raise _PlacementError(f"{VERSION_KEY} says of which version the facts are; no input is written there")
    # Looked at before anything is made: a pointer that ends nowhere leaves no empty objects behind. Below a place
    # where nothing is, there is nothing in the way.
    here: Any = root
    for depth, step in enumerate(way):
        if isinstance(here, dict):
            if step not in here:
                break
            here = here[step]
        else:
            here = here[_index(here, step, pointer, depth)]
    _write(root, way, _deep_copy(value))


def _index(here: Any, step: str, pointer: str, depth: int) -> int:
    place = quote_text("/".join(pointer.split("/")[: depth + 1]))
    if not isinstance(here, list):
        raise _PlacementError(f"{place} holds {describe_value(here)}, so there is nothing below it")
    if not _INDEX.fullmatch(step):
        raise _PlacementError(f"{place} holds an array, and {quote_text(step)} is not the number of a place in it")
    # By its digits first: a number of thousands of them is none that Python would read.
    if len(step) > len(str(len(here))) or int(step) >= len(here):
        raise _PlacementError(
            f"{place} holds an array of {len(here)}, so there is no place {quote_text(step)[1:-1]} in it"
        )
    return int(step)


def _write(root: dict[str, Any], way: list[str], value: Any) -> None:
    here: Any = root
    for step in way[:-1]:
        here = here.setdefault(step, {}) if isinstance(here, dict) else here[int(step)]
    if isinstance(here, dict):
        here[way[-1]] = value
    else:
        here[int(way[-1])] = value


def _deep_copy(value: Any) -> Any:
    """Objects and arrays anew, everything else as it is. Not by recursion: a pointer can make hundreds of levels."""
    found: list[Any] = [value]
    waiting: list[tuple[Any, Any]] = [(found, 0)]
    while waiting:
        holder, key = waiting.pop()
        held = holder[key]
        if isinstance(held, dict):
            holder[key] = copy = dict(held)
            waiting += [(copy, inner) for inner in copy]
        elif isinstance(held, list):
            holder[key] = places = list(held)
            waiting += [(places, inner) for inner in range(len(places))]
    return found[0]
