"""Warn about nodes of a plan that share files and may be worked on at the same time.

Two nodes cannot be if the finish of one waits for the finish of the other, directly or not. Among the new nodes this is
known from the plan itself: for each moment one integer holds, as bits, the new nodes that it waits for. A path through
existing nodes is looked for only where the plan allows one, and only for the few pairs that would be reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice

from groundplan.kernel.store.transaction import Transaction
from groundplan.policies import get_policies
from groundplan.providers import find_shared_paths
from groundplan.work.answers import WARNINGS_MAX, Warnings
from groundplan.work.graph.planned_nodes import NewNode, build_planned_waits
from groundplan.work.overlaps import WorkInProgress, extract_paths, shorten_path
from groundplan.work.waiting.cycles import WaitingMoments
from groundplan.work.waiting.moments import get_finish_moment, group_steps

PAIRS_MAX = 2 * WARNINGS_MAX  # pairs that are reported; the answer has fewer lines
LOOKUPS_MAX = 20  # paths through existing nodes that are looked for; each may walk through much of the graph
HINT = "serialise them with depends_on"


def warn_about_planned_overlaps(tx: Transaction, nodes: Sequence[NewNode], warnings: Warnings) -> None:
    """Add a warning for each pair of nodes that share files: two new ones, or a new one and one in progress."""
    paths_of = {node.n: paths for node in nodes if node.links and (paths := extract_paths(node.links))}
    if not paths_of or get_policies(tx).overlap == "off":
        return
    stored = _StoredOrder(tx, nodes)
    pairs = chain(
        _report_new_pairs(tx, nodes, paths_of, stored), _report_pairs_in_progress(tx, nodes, paths_of, stored)
    )
    for subject, sentence in islice(pairs, PAIRS_MAX):
        warnings.add(subject, f"{sentence}; {HINT}")
    if next(pairs, None) is not None:
        warnings.add("others", "more pairs touch the same files; serialise them too")
    elif stored.has_unseen_pairs:
        warnings.add(
            "others", "more pairs touch the same files, and were not looked at; serialise them if they are not"
        )


def _report_new_pairs(
    tx: Transaction, nodes: Sequence[NewNode], paths_of: Mapping[int, Sequence[str]], stored: _StoredOrder
) -> Iterator[tuple[str, str]]:
    for first, second, path in _find_unordered_pairs(tx, nodes, paths_of):
        if stored.is_exhausted:
            stored.has_unseen_pairs = True
            return
        if not stored.are_ordered(first, second):
            yield f"{first.request.ref} and {second.request.ref}", f"touch {shorten_path(path)}"


def _report_pairs_in_progress(
    tx: Transaction, nodes: Sequence[NewNode], paths_of: Mapping[int, Sequence[str]], stored: _StoredOrder
) -> Iterator[tuple[str, str]]:
    in_progress = WorkInProgress(tx)
    shared = in_progress.find_shared(paths_of.values()) if in_progress.paths else {}
    for node in nodes:
        touched = {
            path_in_progress: path for path in paths_of.get(node.n, ()) for path_in_progress in shared.get(path, ())
        }
        for other_n, paths_in_progress in in_progress.paths.items() if touched else ():
            common = next((path for path in paths_in_progress if path in touched), None)
            if common is None:
                continue
            if stored.is_exhausted:
                stored.has_unseen_pairs = True
                return
            if not stored.comes_after(node.n, other_n):
                row = in_progress.nodes[other_n]
                claimant = f" ({row.claimed_by})" if row.claimed_by is not None else ""
                yield node.request.ref, f"touches {shorten_path(common)}, which {row.id}{claimant} works on"


def _find_unordered_pairs(
    tx: Transaction, nodes: Sequence[NewNode], paths_of: Mapping[int, Sequence[str]]
) -> Iterator[tuple[NewNode, NewNode, str]]:
    """Yield the pairs of new nodes that share files and that the plan does not order, each with a common path."""
    members: dict[str, int] = {}
    for index, node in enumerate(nodes):
        for path in paths_of.get(node.n, ()):
            members[path] = members.get(path, 0) | 1 << index
    shared = find_shared_paths(tx, members, members).found
    nodes_near = {path: _join_bits(members[other_index] for other_index in indexes) for path, indexes in shared.items()}
    if all(bits & (bits - 1) == 0 for bits in nodes_near.values()):
        return  # no two nodes have a file in common
    awaited, waiting = _find_orders(tx, nodes)
    for index, node in enumerate(nodes):
        compared = awaited[index] | waiting[index] | (2 << index) - 1
        for path in paths_of.get(node.n, ()):
            pairs = nodes_near.get(path, 0) & ~compared
            compared |= pairs
            for other_index in _list_bits(pairs):
                yield node, nodes[other_index], path


def _join_bits(bits: Iterator[int]) -> int:
    joined = 0
    for bit in bits:
        joined |= bit
    return joined


def _list_bits(bits: int) -> Iterator[int]:
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def _find_orders(tx: Transaction, nodes: Sequence[NewNode]) -> tuple[list[int], list[int]]:
    """Return for each new node, as bits, the new nodes that it waits for, and the new nodes that wait for it."""
    waits = build_planned_waits(tx, nodes)
    waiters = group_steps((awaited, moment) for moment, targets in waits.items() for awaited in targets)
    finishes = [get_finish_moment(node.n) for node in nodes]
    return _collect_behind(waits, finishes), _collect_behind(waiters, finishes)


def _collect_behind(steps: Mapping[int, Sequence[int]], finishes: Sequence[int]) -> list[int]:
    """Return for each finish, as bits, the finishes that its steps lead to. The plan must not have loops."""
    bits = {moment: 1 << index for index, moment in enumerate(finishes)}
    behind: dict[int, int] = {}
    todo = [(moment, False) for moment in steps]
    while todo:
        moment, is_left = todo.pop()
        if is_left:
            behind[moment] = _join_bits(behind[after] | bits.get(after, 0) for after in steps[moment])
        elif moment not in behind:
            todo.append((moment, True))
            todo += [(after, False) for after in steps[moment] if after not in behind]
    return [behind[moment] for moment in finishes]


class _StoredOrder:
    """A search for paths from new nodes through existing ones, up to a limit."""

    def __init__(self, tx: Transaction, nodes: Sequence[NewNode]) -> None:
        self._moments = WaitingMoments(tx)
        self._lookups = LOOKUPS_MAX
        self.has_unseen_pairs = False  # pairs with files in common for which no path was looked for
        inherits = get_policies(tx).inherit_dependencies
        # Only these steps lead from a new node to an existing one.
        self._leaves_plan = any(
            inherits or node.feature_n is not None or any(not isinstance(target, NewNode) for target in node.targets)
            for node in nodes
        )

    @property
    def is_exhausted(self) -> bool:
        """True if the limit of searched paths is reached."""
        return self._lookups <= 0

    def are_ordered(self, first: NewNode, second: NewNode) -> bool:
        """Return True if one of two new nodes waits for the other."""
        return self.comes_after(first.n, second.n) or self.comes_after(second.n, first.n)

    def comes_after(self, n: int, other: int) -> bool:
        """Return True if the finish of a new node waits for another node."""
        # Under inherited waiting this also holds where it waits only for something below the other node.
        if not self._leaves_plan:
            return False
        self._lookups -= 1
        return self._moments.closes_loop(other, n)
