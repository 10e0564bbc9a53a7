"""The steps of work nodes, with their evidence and the work below them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import UNSET

from groundplan.briefing.throughline.chain import ChainLink, ChainStep, StepType, WorkBelow
from groundplan.kernel.store.queries import to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.engine.node import Evidence, load_evidence
from groundplan.work.tracing.traced_nodes import SubtreeCounts, TracedNode

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


def add_evidence_to_steps(tx: Transaction, steps: Iterable[ChainStep], nodes: Mapping[str, TracedNode]) -> None:
    """Add the newest evidence of each work node to its step; `nodes` are the work nodes by id."""
    proven = [step for step in steps if step.is_work and nodes[step.ref].evidence_total]
    evidence = load_evidence(tx, to_json_array(nodes[step.ref].n for step in proven)) if proven else {}
    for step in proven:
        node = nodes[step.ref]
        step.evidence = [Evidence(one.type, one.ref) for one in evidence.get(node.n, [])[-EVIDENCE_OF_EACH:]]
        if node.evidence_total > EVIDENCE_OF_EACH:
            step.evidence_total = node.evidence_total
