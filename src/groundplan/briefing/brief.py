"""Show the briefing of a task to a person: as data, in the terminal, or as Markdown to paste into any chat."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, NamedTuple

from msgspec import UNSET, Meta, Struct, structs

from groundplan.briefing.briefing import BeforeNote, Briefing, TaskBriefing, format_briefing
from groundplan.briefing.collect import collect_parts
from groundplan.briefing.fill import CallsFor, Entry, Part, fill_briefing
from groundplan.kernel.access import Permission
from groundplan.kernel.answers import CHARS_PER_TOKEN, Budget, count_chars, share_room
from groundplan.kernel.errors import NextStep
from groundplan.kernel.operations.registry import Effect, Route, declare
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.answers import AnswerBriefing, list_described
from groundplan.work.graph.context import to_ancestor
from groundplan.work.graph.node_lists import (
    begin_ancestors,
    count_left_out,
    order_ancestors,
    read_ancestors,
    read_node_lists,
    show_node_lists,
)
from groundplan.work.nodes import WorkNodeRow, build_node, fetch_node, load_rows
from groundplan.work.refs import find_node, find_node_in_project
from groundplan.work.requests import NodeRef

BUDGET_DEFAULT = 4_000  # tokens; a page that a person reads in a few minutes
ATTEMPTS_MAX = 8  # to make Markdown fit, which can be longer than the data


class ReadBriefing(Struct, forbid_unknown_fields=True):
    """The task, and the largest size of its briefing."""

    node_id: NodeRef
    budget: Annotated[int, Meta(ge=200, le=20_000)] = BUDGET_DEFAULT
    markdown: bool = False
    lean: bool | None = None


def brief(tx: Transaction, request: ReadBriefing) -> TaskBriefing:
    """Return the briefing of a node.

    Raises:
        AmbiguousNode: several ids begin with the given text.
    """
    lean = tx.preferences.lean if request.lean is None else request.lean
    n = find_node_in_project(tx, request.node_id).n
    chars_max = tx.preferences.answer_tokens_max * CHARS_PER_TOKEN
    taken = 0
    for _ in range(ATTEMPTS_MAX):
        answer = _build_answer(tx, n, lean=lean, taken=taken)
        if not request.markdown:
            return answer
        text = TaskBriefing(markdown=format_briefing(answer))
        over = count_chars(text) - chars_max
        if over <= 0:
            break
        taken += over + chars_max // 50
    return text


def _build_answer(tx: Transaction, n: int, *, lean: bool, taken: int) -> TaskBriefing:
    row = load_rows(tx, [n])[n]
    node = build_node(row, now=tx.now, lean=lean)
    answer = TaskBriefing(node=node, ancestors=[])
    briefing = AnswerBriefing(tx, n, lean=lean, envelope_chars=taken, list_shown=lambda: list_described(node))
    free = tx.budget.reserve(answer).free_chars - taken - briefing.measure()
    room = Budget(free).take_lists(is_requested=False)
    ancestors = read_ancestors(tx, begin_ancestors(row), room, lambda row: [to_ancestor(row)])
    of_node = read_node_lists(tx, row, node, room, lean=lean)
    share_room(room, [ancestors, *of_node])
    answer.ancestors = order_ancestors(ancestors)
    show_node_lists(node, row, of_node, lean=lean)
    answer.left_out = count_left_out([ancestors, *of_node]) or UNSET
    briefing.add_to(answer)
    return answer


OPERATION = declare(
    brief,
    name="briefing.brief",
    summary="Brief a person or an agent on one task: why, facts, knowledge, what came before.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    project=lambda tx, request: find_node(tx, request.node_id).project_id,
    http=Route("GET", "/projects/{project}/work/nodes/{node_id}/briefing"),
)


# --- Build the briefing of a task from all four slices ----------------------------------------------------------------
# What is read is bounded by the room: no list reads more entries than could be shown.

FEW_CALLS_CHARS = 2_400  # a briefing with less room names one call for everything
PATHS_NAMED_MAX = 3
REST = "rest"  # the call that returns the lists which have no call of their own


class BriefingMaterial(NamedTuple):
    """The parts of a briefing as they were read, from which briefings of any length are made."""

    parts: list[Part]
    calls_for: CallsFor
    lean: bool

    def build(self, chars: int, shown: Mapping[str, bool]) -> Briefing | None:
        """Return a briefing of at most `chars` characters; None if that is too little for any.

        `shown` are the ids of nodes, atoms and molecules that the answer shows beside the briefing, each with whether
        it shows the state. Of these, the briefing has only the states that are not shown.
        """
        if chars <= 0:
            return None
        parts = [_leave_out(part, shown) for part in self.parts] if shown else self.parts
        return fill_briefing(parts, chars, self.calls_for, lean=self.lean)


def collect_briefing(tx: Transaction, n: int, *, chars: int, lean: bool) -> BriefingMaterial:
    """Return the material for briefings of a work node that have at most `chars` characters."""
    node = fetch_node(tx, n)
    return BriefingMaterial(collect_parts(tx, node, chars=chars, lean=lean), name_calls(tx, node), lean)


def _leave_out(part: Part, shown: Mapping[str, bool]) -> Part:
    """Return a part without what the answer shows elsewhere."""
    entries = []
    for entry in part.entries:
        if entry.key is None or entry.key not in shown:
            entries.append(entry)
        elif isinstance(note := entry.forms[0], BeforeNote) and note.state is not UNSET and not shown[entry.key]:
            entries.append(Entry((BeforeNote(note.id, state=note.state),)))
    return structs.replace(part, entries=entries, total=part.total - len(part.entries) + len(entries))


def name_calls(tx: Transaction, node: WorkNodeRow) -> CallsFor:
    """Return a function that takes the names of shortened lists and returns the calls that read them in full."""
    project = tx.project.name
    named = {"node_id": node.id}
    paths = {"paths": node.links_value[:PATHS_NAMED_MAX]} if node.context_links != "[]" else {}
    steps = {
        "why": NextStep("purpose.open", "shows the whole purpose", {"project": project}),
        "missing": NextStep("context.view", "shows all facts", {"scopeId": project}),
        "knowledge": NextStep("knowledge.context", "shows all of it", {"projectId": project, **paths}),
        REST: NextStep("work.context", "with a larger budget has more", named),
        "questions": NextStep("briefing.inbox", "lists all open questions", {"project": project}),
        "decisions": NextStep("work.history", "shows what happened to it", named),
    }
    texts = {name: tx.describe(step) for name, step in steps.items()}
    same = {
        **dict.fromkeys(("marks", "assumptions"), "why"),
        **dict.fromkeys(("constraints", "facts"), "missing"),
        **dict.fromkeys(("before", "overlap"), REST),
    }
    if not paths:
        same["knowledge"] = REST

    def name_calls_for(left: Collection[str], chars: int) -> list[str]:
        if left and chars < FEW_CALLS_CHARS:
            return [texts[REST]]
        wanted = {same.get(name, name) for name in left}
        return [text for name, text in texts.items() if name in wanted]

    return name_calls_for
