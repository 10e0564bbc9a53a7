"""A graph by numbers: its keys in the order of lists, so that of two equal answers the smaller number is given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from groundplan.purpose.model import sort_keys


class Graph(NamedTuple):
    """Nodes and edges by number. An edge has the number at which it was given; several may have the same ends."""

    keys: list[str]
    numbers: dict[str, int]
    sources: list[int]
    targets: list[int]
    out: list[list[int]]  # of each node the edges that begin at it, those to smaller numbers first
    into: list[list[int]]  # of each node the edges that end at it, those from smaller numbers first


def build_graph(keys: Iterable[str], pairs: Sequence[tuple[str, str]]) -> Graph:
    """A graph of these nodes, with edges from the first to the second of each pair.

    Raises:
        KeyError: an edge has an end that is none of the nodes.
    """
    ordered = sort_keys(set(keys))
    numbers = {key: number for number, key in enumerate(ordered)}
    sources = [numbers[source] for source, _ in pairs]
    targets = [numbers[target] for _, target in pairs]
    out: list[list[int]] = [[] for _ in ordered]
    into: list[list[int]] = [[] for _ in ordered]
    for edge in sorted(range(len(pairs)), key=lambda one: (sources[one], targets[one])):
        out[sources[edge]].append(edge)
        into[targets[edge]].append(edge)
    return Graph(ordered, numbers, sources, targets, out, into)
