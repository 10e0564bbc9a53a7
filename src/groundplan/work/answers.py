"""The parts of answers of work besides the result: warnings, side effects, reminders and the briefing of a node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.answers import CHARS_PER_TOKEN, Budget, CutLists, count_chars, trim
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import find_nearest, quote_text
from groundplan.providers import BRIEFING_LISTS, collect_briefing
from groundplan.work.nodes import DEPENDS_ON, ActionableNode, NodeSummary, WorkNode, get_description, load_actionable
from groundplan.work.readiness import Readiness

WARNINGS_MAX = 5
NAMES_MAX = 5  # in one line

# Words for a finished node, which people set as its state.
DONE_WORDS = frozenset({"done", "complete", "completed", "finished", "resolved", "closed", "fixed", "shipped"})

# Types that promise an order, folded: from the node that waits, and from the node that comes first.
WAITING_TYPES = frozenset(
    {"depends", "dependson", "dependenton", "dependency", "requires", "require", "needs", "need", "waitsfor"}
    | {"waitson", "waitfor", "blockedby", "isblockedby", "after", "follows"}
)
LEADING_TYPES = frozenset(
    {"blocks", "block", "blocking", "before", "precedes", "enables", "unblocks", "prerequisiteof", "requiredby"}
    | {"neededby", "dependencyof", "dependedby"}
)

LISTED_NODES_MAX = 50  # nodes in one list; the rest are only counted
# Each list gets at most this fraction of the answer's cap, so that it does not crowd out the main answer.
LIST_BUDGET_DIVISOR = 8

FIFTHS = 5
ANSWER_FIFTHS = 2  # of the budget: an answer has more only where its briefing does not need it
FIELD_CHARS = len(',"briefing":')

# A warning that is added later can make an answer too long; then the briefing is cut, the least important list first.
TRIMMING = tuple(CutLists((f"briefing.{name}",)) for name in reversed(BRIEFING_LISTS))


class Warnings:
    """The warnings of one answer. Equal warnings about several nodes become one line with their number."""

    def __init__(self) -> None:
        self._subjects: dict[str, list[str]] = {}  # the nodes, by sentence

    def add(self, subject: str, sentence: str) -> None:
        """Add a warning about a node."""
        self._subjects.setdefault(sentence, []).append(subject)

    def add_claims(self, claimants: Mapping[str, str], *, verb: str = "resolved") -> None:
        """Add a warning for each node that was changed, resolved or merged during the live claim of another actor."""
        for node_id, claimant in claimants.items():
            self.add(node_id, f"{verb} while {quote_text(claimant)} holds its claim")

    def add_unset_facts(self, node_id: str, pointers: Sequence[str]) -> None:
        """Add a warning about a node that was resolved while required facts on which it rests have no value."""
        self.add(node_id, f"resolved while it rests on required facts without a value: {join_names(pointers)}")

    def lines(self) -> list[str] | UnsetType:
        """Return at most WARNINGS_MAX lines. If lines are left out, the last line has their number."""
        lines = [
            f"{first}{f' and {len(more)} more' if more else ''}: {sentence}"
            for sentence, (first, *more) in self._subjects.items()
        ]
        if len(lines) > WARNINGS_MAX:
            shown_max = WARNINGS_MAX - 1
            lines = [*lines[:shown_max], f"{len(lines) - shown_max} more warnings"]
        return lines or UNSET


def join_names(names: Sequence[str]) -> str:
    """Return names from the caller for one line: `'a', 'b'`, or the first NAMES_MAX `and 2 more`."""
    more = f" and {len(names) - NAMES_MAX} more" if len(names) > NAMES_MAX else ""
    return f"{', '.join(map(quote_text, names[:NAMES_MAX]))}{more}"


def describe_edge_type(type_: str) -> str | None:
    """Return a warning if an edge type looks like a mistaken `depends_on`; else None."""
    if type_ == DEPENDS_ON:
        return None
    folded = "".join(filter(str.isalnum, type_[:64].casefold()))
    problem = f"edge type {quote_text(type_)} has no effect on the order"
    if folded in LEADING_TYPES:
        return f"{problem}; use '{DEPENDS_ON}' with from and to swapped: from is the node that waits"
    if folded in WAITING_TYPES or find_nearest(type_, [DEPENDS_ON]):
        return f"{problem}; use '{DEPENDS_ON}'"
    return None


class SideEffects(Struct, kw_only=True):
    """The side effects of a change. Empty fields are omitted."""

    newly_actionable: list[ActionableNode] | UnsetType = UNSET
    newly_actionable_total: int | UnsetType = UNSET  # set when more became actionable than are listed
    reopened: list[NodeSummary] | UnsetType = UNSET
    reopened_total: int | UnsetType = UNSET
    auto_resolved: list[str] | UnsetType = UNSET
    auto_resolved_total: int | UnsetType = UNSET
    warnings: list[str] | UnsetType = UNSET


T = TypeVar("T", bound=SideEffects)
N = TypeVar("N")


def add_side_effects(answer: T, tx: Transaction, readiness: Readiness, warnings: Warnings) -> T:
    """Settle readiness, and return the answer with the side effects of the change."""
    settled = readiness.settle()
    newly = settled.newly_actionable
    listed = load_actionable(tx, newly, at_most=LISTED_NODES_MAX) if newly else []
    answer.newly_actionable, answer.newly_actionable_total = list_within_budget(tx, listed, total=len(newly))
    answer.reopened, answer.reopened_total = list_within_budget(tx, settled.reopened)
    answer.auto_resolved, answer.auto_resolved_total = list_within_budget(tx, settled.auto_resolved)
    warnings.add_claims(readiness.ended_claims)
    answer.warnings = warnings.lines()
    return answer


def list_within_budget(
    tx: Transaction, entries: list[N], *, total: int | None = None
) -> tuple[list[N] | UnsetType, int | UnsetType]:
    """Return the entries that fit beside the main answer, and their total number if some do not fit."""
    if not entries:
        return UNSET, UNSET
    listed = tx.budget.share(1, of=LIST_BUDGET_DIVISOR).take_rows(entries[:LISTED_NODES_MAX])
    total = len(entries) if total is None else total
    return listed or UNSET, total if len(listed) < total else UNSET


def list_described(node: WorkNode | UnsetType) -> dict[str, bool]:
    """Return the id of a node if an answer shows its description."""
    return {node.id: True} if node and get_description(node.properties) else {}


class AnswerBriefing:
    """The briefing that an answer about a node carries, so that both are within the cap on the answer.

    `list_shown` returns the ids of nodes, atoms and molecules that the answer shows, which the briefing does not
    repeat, each with whether the answer shows its state.
    """

    def __init__(
        self,
        tx: Transaction,
        n: int,
        *,
        lean: bool,
        envelope_chars: int = 0,
        list_shown: Callable[[], Mapping[str, bool]] = dict,
    ) -> None:
        self._chars_max = tx.preferences.answer_tokens_max * CHARS_PER_TOKEN - envelope_chars
        self._material = collect_briefing(tx, n, chars=self._chars_max, lean=lean)
        self._list_shown = list_shown

    def measure(self) -> int:
        """Return the characters that the briefing needs: all that it has to say, or three fifths of the cap."""
        chars_max = self._chars_max * (FIFTHS - ANSWER_FIFTHS) // FIFTHS - FIELD_CHARS
        briefing = self._material.build(chars_max, self._list_shown())
        return 0 if briefing is None else count_chars(briefing) + FIELD_CHARS

    def add_to(self, answer: Any) -> None:
        """Trim the answer if the briefing needs the room, and set its field `briefing`."""
        trim(answer, Budget(self._chars_max - self.measure()))
        briefing = self._material.build(self._chars_max - count_chars(answer) - FIELD_CHARS, self._list_shown())
        if briefing is not None:
            answer.briefing = briefing
