"""Warnings of the work graph: what a request did without effect, or over somebody's head, one line each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import UNSET, UnsetType

from groundplan.kernel.wording import find_nearest, quote_text
from groundplan.work.engine.edges import DEPENDS_ON, RELATES_TO

LINES_MAX = 5
NAMES_MAX = 5  # in one line

# Words for a finished node, which people set as its state.
DONE_WORDS = frozenset({"done", "complete", "completed", "finished", "resolved", "closed", "fixed", "shipped"})

# Types that say how two nodes are related and promise no order, so that nobody is surprised.
RELATIONS = frozenset(
    {RELATES_TO, "related_to", "references", "see_also", "duplicates", "duplicate_of", "supersedes", "implements"}
    | {"tests", "documents", "discovered_from", "serves", "rests_on", "supports", "refutes"}
)

# Types that promise an order, folded: from the node that waits, and from the node that comes first.
WAITING_TYPES = frozenset(
    {"depends", "dependson", "dependenton", "dependency", "requires", "require", "needs", "need", "waitsfor"}
    | {"waitson", "waitfor", "blockedby", "isblockedby", "after", "follows"}
)
LEADING_TYPES = frozenset(
    {"blocks", "block", "blocking", "before", "precedes", "enables", "unblocks", "prerequisiteof", "requiredby"}
    | {"neededby", "dependencyof", "dependedby"}
)


class Warnings:
    """The warnings of one answer. Equal ones about several nodes become one line with their number."""

    def __init__(self) -> None:
        self._subjects: dict[str, list[str]] = {}  # the nodes, by sentence

    def add(self, subject: str, sentence: str) -> None:
        """Add a warning about a node."""
        self._subjects.setdefault(sentence, []).append(subject)

    def add_ended_claims(self, claimants: Mapping[str, str], *, verb: str = "resolved") -> None:
        """Add a warning for each node that was resolved, moved on or merged while another actor's claim was live."""
        for node_id, claimant in claimants.items():
            self.add(node_id, f"{verb} while {quote_text(claimant)} holds its claim")

    def lines(self) -> list[str] | UnsetType:
        """Return at most LINES_MAX lines, of which the last counts those that are left out."""
        lines = [
            f"{first}{f' and {len(others)} more' if others else ''}: {sentence}"
            for sentence, (first, *others) in self._subjects.items()
        ]
        if len(lines) > LINES_MAX:
            kept = LINES_MAX - 1
            lines = [*lines[:kept], f"{len(lines) - kept} more warnings"]
        return lines or UNSET


def join_names(names: Sequence[str]) -> str:
    """Return names of the caller for one line: `'a', 'b'`, or the first NAMES_MAX `and 2 more`."""
    more = f" and {len(names) - NAMES_MAX} more" if len(names) > NAMES_MAX else ""
    return f"{', '.join(map(quote_text, names[:NAMES_MAX]))}{more}"


def describe_edge_type(type_: str) -> str | None:
    """Return a warning if an edge of this type does not do what its name promises; None for plain relations."""
    if type_ == DEPENDS_ON or type_ in RELATIONS:
        return None
    folded = "".join(filter(str.isalnum, type_[:64].casefold()))
    problem = f"edge type {quote_text(type_)} has no effect on the order"
    if folded in LEADING_TYPES:
        return f"{problem}; use '{DEPENDS_ON}' with from and to swapped: from is the node that waits"
    if folded in WAITING_TYPES or find_nearest(type_, [DEPENDS_ON]):
        return f"{problem}; use '{DEPENDS_ON}'"
    return f"{problem}; only '{DEPENDS_ON}' has"
