"""The steps of work nodes, with their evidence and the work below them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from msgspec import UNSET

from groundplan.briefing.throughline.chain import ChainEvidence, ChainLink, ChainStep, StepType, WorkBelow
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.tracing.traced_nodes import (
    SubtreeCounts,
    TracedNode,
    load_evidence_below,
    load_evidence_of_nodes,
)

EVIDENCE_OF_EACH = 3  # the newest


def build_work_step(
    node: TracedNode, level: int, to: list[ChainLink], *, now: str, below: SubtreeCounts | None = None
) -> ChainStep:
    """Return the step of a node; `below` is shown if the node has a subtree."""
    return ChainStep(
        ref=node.id,
        type=StepType.WORK,
        title=node.summary,
        level=level,
        to=to,
        resolved=node.resolved,
        dropped=True if node.outcome is not None else UNSET,
        claimed_by=node.get_holder(now=now) or UNSET,
        work=UNSET if below is None or below.total == 1 else to_work_below([below]),
    )


def to_work_below(counts: Iterable[SubtreeCounts]) -> WorkBelow:
    """Return the sum of some counts."""
    total = resolved = dropped = claimed = 0
    for one in counts:
        total, resolved = total + one.total, resolved + one.resolved
        dropped, claimed = dropped + one.dropped, claimed + one.claimed
    return WorkBelow(total, total - resolved - dropped, resolved, dropped, claimed)


def add_evidence_to_steps(
    tx: Transaction, steps: Iterable[ChainStep], nodes: Mapping[str, TracedNode], stops: Collection[int] | None = None
) -> None:
    """Add the newest evidence of each work node to its step; `nodes` are the work nodes by id.

    With `stops`, the evidence of its subtree counts, too, without the subtrees of these nodes.
    """
    of_work = [step for step in steps if step.is_work]
    starts = [nodes[step.ref].n for step in of_work]
    if stops is None:
        evidence = load_evidence_of_nodes(tx, starts, of_each=EVIDENCE_OF_EACH)
    else:
        evidence = load_evidence_below(tx, starts, stops, of_each=EVIDENCE_OF_EACH)
    for step in of_work:
        entries = evidence.get(nodes[step.ref].n, [])
        if entries:
            step.evidence = [
                ChainEvidence(one.type, one.ref, UNSET if one.id == step.ref else one.id) for one in entries
            ]
            if entries[0].total > len(entries):
                step.evidence_total = entries[0].total
