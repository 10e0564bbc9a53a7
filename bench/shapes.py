"""The shape of the measured graphs: a tree with fan-out 8 in which a node has one dependency on average.

Nodes are numbered from 0 in the order of creation, after their parents and dependencies. Nodes with odd numbers have
two dependencies and nodes with even numbers have none, so nearly half of the nodes can be started: the leaves with even
numbers.
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


def get_parent(number: int) -> int:
    """Return the number of a node's parent. The first eight nodes are children of the root."""
    return number // FAN_OUT - 1


def choose_targets(number: int) -> list[int]:
    """Return the dependencies of a node: a near node and any earlier one.

    A target and everything below it is left of the node in the tree, so no choice of targets closes a loop.
    """
    if number % 2 == 0:
        return []
    own = {_find_first_at_depth(node): node for node in (number, *_list_ancestors(number))}
    targets = []
    for wanted in (max(number - 3, 0), _hash_number(number) % number):
        first = _find_first_at_depth(wanted)
        if left := own[first] - first:
            targets.append(first + (wanted - first) % left)
    return list(dict.fromkeys(targets))


def format_summary(number: int) -> str:
    """Return the summary of a node, with a thing that one node in 32 has and a place that one in 64 has."""
    verb, thing, place = choose_words(number)
    return f"{verb} the {thing} of the {place} lane, step {number}"


def choose_words(number: int) -> tuple[str, str, str]:
    """Return the words of a node's summary."""
    mixed = _hash_number(number)
    return (
        VERBS[mixed % len(VERBS)],
        THINGS[mixed // 16 % len(THINGS)],
        PLACES[mixed // 512 % len(PLACES)],
    )


def generate_nodes(first: int, count: int, id_of: Callable[[int], str]) -> Iterator[dict[str, Any]]:
    """Yield nodes for `graph_plan`. The nodes before `first` must exist."""

    def get_ref(number: int) -> str:
        return f"n{number}" if number >= first else id_of(number)

    for number in range(first, first + count):
        node: dict[str, Any] = {"ref": f"n{number}", "summary": format_summary(number)}
        if (parent := get_parent(number)) != ROOT:
            node["parent_ref"] = get_ref(parent)
        if targets := choose_targets(number):
            node["depends_on"] = [get_ref(target) for target in targets]
        if number % 4 == 0:
            node["properties"] = {"priority": number // 4 % 3}
        if number % 16 == 0:
            node["context_links"] = [f"src/lanes/{number // 16}.ts"]
        yield node


def _find_first_at_depth(number: int) -> int:
    """Return the number of the first node at the same depth."""
    first = 0
    while (below := (first + 1) * FAN_OUT) <= number:
        first = below
    return first


def _list_ancestors(number: int) -> Iterator[int]:
    while (number := get_parent(number)) != ROOT:
        yield number


def _hash_number(number: int) -> int:
    # Fibonacci hashing: neighbours get unrelated words, the same in every run.
    return (number * 2_654_435_761 & 0xFFFF_FFFF) >> 7
