"""The chain of a throughline: its steps, the links between them, and the ends without a goal.

`to` always leads towards the goals, whichever way the chain was traced: from a work node to its parent or to what it
serves, from a purpose node to its effects.
"""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar, Literal

from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.answers import CutLists, DropField, LeftOut, Trimming
from groundplan.purpose.model import NEEDED_BY, AssumptionStatus, Confidence, EdgeType, RiskLevel
from groundplan.work.evidence_check import EvidenceCheck
from groundplan.work.kinds import Outcome

Direction = Literal["up", "down"]


class StepType(StrEnum):
    """The type of a step: work, or the type of a purpose node."""

    WORK = "WORK"
    ACTIVITY = "ACTIVITY"
    OUTPUT = "OUTPUT"
    OUTCOME = "OUTCOME"
    GOAL = "GOAL"


class StepRelation(StrEnum):
    """The relation of a step to the next one: within work, from work to purpose, or an edge of the purpose."""

    PART_OF = "PART_OF"
    SERVES = "SERVES"
    CONTRIBUTES_TO = "CONTRIBUTES_TO"
    CAUSES = "CAUSES"
    NEEDED_BY = NEEDED_BY

    @property
    def edge_type(self) -> EdgeType:
        """The type of the edge of the purpose."""
        return EdgeType.DEPENDS_ON if self is StepRelation.NEEDED_BY else EdgeType(self)


class DeadEndReason(StrEnum):
    """The reason why a line ends."""

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
    """Evidence of a work node or of one of its descendants."""

    type: str
    ref: str
    node: str | UnsetType = UNSET  # set if it is of a node below
    checked: EvidenceCheck | UnsetType = UNSET  # of a commit or a file
    undone: bool | UnsetType = UNSET  # set if the write that added it was undone


class ChainLink(Struct):
    """The link from a step to the next one."""

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
    """A work node or a purpose node, and the links to its next steps."""

    ref: str
    type: StepType
    title: str
    level: int  # steps from the start
    to: list[ChainLink]
    draft: bool | UnsetType = UNSET  # set if only the draft has it
    resolved: bool | UnsetType = UNSET
    outcome: Outcome | UnsetType = UNSET  # of resolved work
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
    """The end of a line that does not reach a goal, or does not reach work."""

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
    """A throughline as Markdown."""

    start: str
    direction: Direction
    version: int | UnsetType = UNSET
    markdown: str
    left_out: LeftOut = UNSET


class ThroughlinePicture(Struct, rename={"start": "from"}, kw_only=True):
    """A throughline as a picture."""

    start: str
    direction: Direction
    version: int | UnsetType = UNSET
    svg: str
    width: int
    height: int
    left_out: LeftOut = UNSET
