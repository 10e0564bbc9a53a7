"""Follow the line from work to the goals, or from a purpose node down to work, evidence and measurements.

`to` always leads towards the goals, whichever way the chain was traced: from a work node to its parent or to what it
serves, from a purpose node to its effects.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, ClassVar, Literal, NamedTuple

from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import CHARS_PER_TOKEN, CutLists, DropField, LeftOut, Trimming
from groundplan.kernel.errors import NextStep, NotFound
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, Group, Route, Tool, declare
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.model import AssumptionStatus, Confidence, Content, RiskLevel
from groundplan.work.refs import find_node_or_none, missing_node, node_elsewhere

Direction = Literal["up", "down"]


class StepType(StrEnum):
    """The type of a step: work, or the type of a purpose node."""

    WORK = "WORK"
    ACTIVITY = "ACTIVITY"
    OUTPUT = "OUTPUT"
    OUTCOME = "OUTCOME"
    GOAL = "GOAL"


class StepRelation(StrEnum):
    """How a step leads to the next one: within work, from work to purpose, or as an edge of the purpose."""

    PART_OF = "PART_OF"
    SERVES = "SERVES"
    CONTRIBUTES_TO = "CONTRIBUTES_TO"
    CAUSES = "CAUSES"
    DEPENDS_ON = "DEPENDS_ON"


class DeadEndReason(StrEnum):
    """Why a line does not go on."""

    REACHES_NO_GOAL = "reaches_no_goal"
    SERVES_NOTHING = "serves_nothing"
    DANGLING = "dangling"  # a link to a key that neither the version in force nor the draft has
    NO_WORK = "no_work"  # no work serves it or anything that leads to it


class ChainAssumption(Struct):
    """An assumption, and its status by its latest review and newer evidence."""

    key: str
    text: str
    status: AssumptionStatus
    risk: RiskLevel | UnsetType = UNSET


class ChainIndicator(Struct):
    """An indicator with its latest value."""

    key: str
    name: str
    value: float | UnsetType = UNSET
    as_of: str | UnsetType = UNSET
    target: float | UnsetType = UNSET
    unit: str | UnsetType = UNSET


class ChainFact(Struct):
    """A fact that a step rests on."""

    pointer: str
    label: str | UnsetType = UNSET  # not set if no run has the fact


class ChainEvidence(Struct):
    """Evidence of a work node, or of another one below it."""

    type: str
    ref: str
    node: str | UnsetType = UNSET  # set if it is of a node below


class ChainLink(Struct):
    """How a step leads to the next one."""

    ref: str
    by: StepRelation
    mechanism: str | UnsetType = UNSET
    confidence: Confidence | UnsetType = UNSET
    assumptions: list[ChainAssumption] | UnsetType = UNSET


class WorkBelow(Struct):
    """The nodes of a subtree by state. Dropped nodes are neither open nor resolved."""

    total: int
    open: int
    resolved: int
    dropped: int = 0
    claimed: int = 0


class ChainStep(Struct, kw_only=True):
    """A work node or a purpose node, and what it leads to."""

    ref: str
    type: StepType
    title: str
    level: int  # steps from the start
    to: list[ChainLink]
    draft: bool | UnsetType = UNSET  # set if only the draft has it
    resolved: bool | UnsetType = UNSET
    dropped: bool | UnsetType = UNSET
    claimed_by: str | UnsetType = UNSET
    work: WorkBelow | UnsetType = UNSET
    evidence: list[ChainEvidence] | UnsetType = UNSET  # the newest of the node, or of its subtree if that is counted
    evidence_total: int | UnsetType = UNSET  # set when there are more than are listed
    assumptions: list[ChainAssumption] | UnsetType = UNSET
    indicators: list[ChainIndicator] | UnsetType = UNSET
    facts: list[ChainFact] | UnsetType = UNSET

    @property
    def is_work(self) -> bool:
        return self.type is StepType.WORK


class DeadEnd(Struct):
    """Where a line ends without a goal, or without work."""

    ref: str
    reason: DeadEndReason
    source: str | UnsetType = UNSET  # the work node with a dangling link


class Throughline(Struct, rename={"start": "from"}, kw_only=True):
    """The steps by their distance from the start, and the dead ends."""

    trimming: ClassVar[Trimming] = Trimming(
        DropField("chain[].evidence"),
        DropField("chain[].indicators"),
        DropField("chain[].facts"),
        DropField("chain[].assumptions"),
        DropField("chain[].to[].assumptions"),
        DropField("chain[].to[].mechanism"),
        CutLists(("dead_ends", "goals")),
        CutLists(("chain",)),
        CutLists(("chain[].to",)),
    )

    start: str
    direction: Direction
    version: int | UnsetType = UNSET  # of the purpose
    chain: list[ChainStep]
    goals: list[str]  # the goals that the start leads to
    work: WorkBelow | UnsetType = UNSET  # all work below a purpose node
    dead_ends: list[DeadEnd]
    left_out: LeftOut = UNSET


class ThroughlineText(Struct, rename={"start": "from"}, kw_only=True):
    """The same as Markdown."""

    start: str
    direction: Direction
    version: int | UnsetType = UNSET
    markdown: str
    left_out: LeftOut = UNSET


class ThroughlinePicture(Struct, rename={"start": "from"}, kw_only=True):
    """The same as a picture."""

    start: str
    direction: Direction
    version: int | UnsetType = UNSET
    svg: str
    width: int
    height: int
    left_out: LeftOut = UNSET


# --- Follow the line from work to the goals, or from a purpose node down to work, evidence and measurements -----------

NEAR_MAX = 3

LineFormat = Literal["data", "markdown", "svg"]


class FollowLine(Struct, rename={"start": "from"}, forbid_unknown_fields=True):
    """The work node or purpose node to start from. By default work is followed up and purpose down."""

    project: Name
    start: Annotated[str, Meta(min_length=1, max_length=255)]
    direction: Direction | None = None
    format: LineFormat = "data"


class TracedLine(NamedTuple):
    """A line to present, and the characters that the answer can have; 0 means any number."""

    line: Throughline
    format: LineFormat
    title: str
    chars_max: int


def follow_line(tx: Transaction, request: FollowLine) -> TracedLine:
    """Trace the line from a work node or a purpose node.

    Raises:
        NotFound: there is no such node or key.
        AmbiguousNode: several node ids begin with the given text.
        ContentAltered: the content of the published version does not match its hash.
    """
    # Here, because a start of the program does not need the graph algorithms.
    from groundplan.briefing.trace import (
        add_facts_to_steps,
        build_purpose_graph,
        trace_purpose_down,
        trace_purpose_up,
        trace_work_down,
        trace_work_up,
    )
    from groundplan.purpose.in_force import read_purpose_in_force

    # Ids of work nodes have small letters and keys have capitals, so only one kind can match.
    node = find_node_or_none(tx, request.start)
    if node is not None:
        if node.project_id != tx.project.id:
            raise node_elsewhere(node, tx.project.id, beside=None)
        trace_work = trace_work_down if request.direction == "down" else trace_work_up
        line = trace_work(tx, node.n)
    else:
        purpose = read_purpose_in_force(tx, [request.start])
        if purpose is None or request.start not in purpose.content.nodes:
            raise _missing_start(tx, request.start, None if purpose is None else purpose.content)
        trace_purpose = trace_purpose_up if request.direction == "up" else trace_purpose_down
        line = trace_purpose(tx, build_purpose_graph(purpose), request.start)
    add_facts_to_steps(tx, line.chain)
    chars_max = tx.preferences.answer_tokens_max * CHARS_PER_TOKEN
    return TracedLine(line, request.format, tx.project.name, chars_max)


def present_line(traced: TracedLine) -> Throughline | ThroughlineText | ThroughlinePicture:
    """Return the answer in its format, outside the transaction because a picture takes long."""
    if traced.format == "data":
        return traced.line
    if traced.format == "markdown":
        from groundplan.briefing.outline import write_outline  # loaded only for this format

        return write_outline(traced.line, chars_max=traced.chars_max)
    from groundplan.briefing.outline import draw_line  # loaded only to draw

    return draw_line(traced.line, traced.title, chars_max=traced.chars_max)


def _missing_start(tx: Transaction, ref: str, content: Content | None) -> NotFound:
    """Return the error for a text that names nothing, with similar ids and keys."""
    near: list[str] = []
    if content is not None:
        from difflib import get_close_matches  # here, because only this error needs it

        key = ref.upper()
        subjects = {
            one.key: one.node or (one.edge.source if one.edge else None) for one in content.assumptions.values()
        }
        subjects |= {one.key: one.node for one in content.indicators.values()}
        if key in content.nodes:
            near = [key]
        elif subject := subjects.get(key):
            near = [subject]  # an assumption or an indicator is no node, but it is on one
        else:
            near = get_close_matches(key[:32], content.nodes, n=NEAR_MAX)
    similar = missing_node(tx, ref)
    near = [*near, *similar.details.get("near", ())][:NEAR_MAX]
    steps = (
        NextStep("work.query", "finds work nodes by text"),
        NextStep("purpose.open", "shows the keys of the purpose", {"project": tx.project.name}),
    )
    return NotFound("work node or purpose node", ref, near=near, next_steps=steps, hint=similar.hint, field="from")


OPERATION = declare(
    follow_line,
    name="briefing.throughline",
    summary="The line from work up to the goals, or from a purpose node down to work, evidence and measurements.",
    permission=Permission.PURPOSE_READ,
    effect=Effect.READ,
    finish=present_line,
    tool=Tool("throughline", Group.BRIEFING),
    command=Command(("throughline",), arguments=("start",), names={"start": "ref"}),
    http=Route("GET", "/projects/{project}/throughline/{from}"),
)
