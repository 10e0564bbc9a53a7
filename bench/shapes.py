"""The graph that everything is measured on: a tree with fan-out 8 in which a node has one dependency on average.

Nodes are counted from 0 in the order of creation; a node's parent and what it waits for come before it. Those with odd
numbers wait for two others and those with even numbers for none, so nearly half of the nodes can be started: the leaves
with even numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

FAN_OUT = 8
ROOT = -1

VERBS = (
    *("Adapt", "Build", "Check", "Drop", "Extend", "Fix", "Guard", "Hide"),
    *("Inline", "Join", "Keep", "Load", "Move", "Name", "Order", "Publish"),
)
THINGS = (
    *("anchor", "button", "cursor", "dialog", "editor", "filter", "gesture", "header"),
    *("invoice", "journal", "keymap", "ledger", "marker", "notice", "outline", "palette"),
    *("query", "ribbon", "scroll", "toggle", "upload", "viewport", "widget", "xylograph"),
    *("yardstick", "zebra", "badge", "canvas", "drawer", "export", "footer", "gallery"),
)
PLACES = tuple(f"{side} {lane}" for side in ("upper", "lower", "inner", "outer") for lane in (
    "amber", "birch", "cedar", "dusk", "ebony", "fern", "grove", "hazel",
    "ivory", "jade", "khaki", "lilac", "maple", "navy", "olive", "pearl",
))  # fmt: skip


def parent_of(number: int) -> int:
    """The number of a node's parent; the first eight lie below the root."""
    return number // FAN_OUT - 1


def targets_of(number: int) -> list[int]:
    """What a node waits for: a near neighbour and one from anywhere before it.

    A target and all that is below it stand left of the node in the tree, so no choice of targets closes a cycle.
    """
    if number % 2 == 0:
        return []
    own = {_first_beside(node): node for node in (number, *_ancestors(number))}
    targets = []
    for wanted in (max(number - 3, 0), _scattered(number) % number):
        first = _first_beside(wanted)
        if left := own[first] - first:
            targets.append(first + (wanted - first) % left)
    return list(dict.fromkeys(targets))


def summary_of(number: int) -> str:
    """What a node says: a thing that one node in 32 mentions, and a place that one in 64 does."""
    verb, thing, place = words_of(number)
    return f"{verb} the {thing} of the {place} lane, step {number}"


def words_of(number: int) -> tuple[str, str, str]:
    """The words of a node's summary."""
    mixed = _scattered(number)
    return (
        VERBS[mixed % len(VERBS)],
        THINGS[mixed // 16 % len(THINGS)],
        PLACES[mixed // 512 % len(PLACES)],
    )


def planned(first: int, count: int, id_of: Callable[[int], str]) -> Iterator[dict[str, Any]]:
    """Nodes as `graph_plan` takes them, when those before them exist already."""

    def name(number: int) -> str:
        return f"n{number}" if number >= first else id_of(number)

    for number in range(first, first + count):
        node: dict[str, Any] = {"ref": f"n{number}", "summary": summary_of(number)}
        if (parent := parent_of(number)) != ROOT:
            node["parent_ref"] = name(parent)
        if targets := targets_of(number):
            node["depends_on"] = [name(target) for target in targets]
        if number % 4 == 0:
            node["properties"] = {"priority": number // 4 % 3}
        if number % 16 == 0:
            node["context_links"] = [f"src/lanes/{number // 16}.ts"]
        yield node


def _first_beside(number: int) -> int:
    """The number of the first node at the same depth."""
    first = 0
    while (below := (first + 1) * FAN_OUT) <= number:
        first = below
    return first


def _ancestors(number: int) -> Iterator[int]:
    while (number := parent_of(number)) != ROOT:
        yield number


def _scattered(number: int) -> int:
    # Fibonacci hashing: neighbours get words that have nothing to do with each other, the same in every run.
    return (number * 2_654_435_761 & 0xFFFF_FFFF) >> 7
