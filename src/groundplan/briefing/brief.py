"""Show the briefing of a task to a person: as data, in the terminal, or as Markdown to paste into any chat."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan.briefing.briefing import Briefing
from groundplan.kernel.access import Permission
from groundplan.kernel.answers import CHARS_PER_TOKEN, CutLists, DropField, LeftOut, Trimming, count_chars
from groundplan.kernel.operations.registry import Command, Effect, Route, declare
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.answers import TRIMMING, add_briefing
from groundplan.work.graph.context import Ancestor, load_ancestors
from groundplan.work.nodes import TRIMMABLE_FIELDS, WorkNode, load_nodes
from groundplan.work.refs import find_node, find_node_in_project
from groundplan.work.requests import NodeRef

BUDGET_DEFAULT = 4_000  # tokens; a page that a person reads in a few minutes
ATTEMPTS_MAX = 8  # to make Markdown fit, which can be longer than the data


class ReadBriefing(Struct, forbid_unknown_fields=True):
    """The task, and how long its briefing may be."""

    node_id: NodeRef
    budget: Annotated[int, Meta(ge=200, le=20_000)] = BUDGET_DEFAULT
    markdown: bool = False
    lean: bool | None = None


class TaskBriefing(Struct, kw_only=True):
    """A task with its briefing, or both as one text of Markdown."""

    trimming: ClassVar[Trimming] = Trimming(
        *TRIMMING,
        CutLists(("ancestors",), from_start=True),
        *(DropField(f"node.{part}") for part in TRIMMABLE_FIELDS),
    )

    node: WorkNode | UnsetType = UNSET
    ancestors: list[Ancestor] | UnsetType = UNSET
    briefing: Briefing | UnsetType = UNSET
    markdown: str | UnsetType = UNSET
    left_out: LeftOut = UNSET


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
        from groundplan.briefing.briefing_markdown import format_briefing  # here, because few requests need it

        text = TaskBriefing(markdown=format_briefing(answer))
        over = count_chars(text) - chars_max
        if over <= 0:
            break
        taken += over + chars_max // 50
    return text


def _build_answer(tx: Transaction, n: int, *, lean: bool, taken: int) -> TaskBriefing:
    above = load_ancestors(tx, n)
    answer = TaskBriefing(node=load_nodes(tx, [n], lean=lean)[n], ancestors=above.ancestors)
    if above.left_out:
        answer.left_out = {"ancestors": above.left_out}
    add_briefing(tx, answer, n, lean=lean, envelope_chars=taken)
    return answer


OPERATION = declare(
    brief,
    name="briefing.brief",
    summary="Brief a person or an agent on one task: why, facts, knowledge, what came before.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    project=lambda tx, request: find_node(tx, request.node_id).project_id,
    command=Command(("briefing",), arguments=("node_id",)),
    http=Route("GET", "/projects/{project}/work/nodes/{node_id}/briefing"),
)
