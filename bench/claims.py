"""Measure many agents that use one file: each claims the best node, resolves it with evidence, and repeats."""

from __future__ import annotations

from collections import Counter

import groundplan
from bench.fairness import QUICK_S
from bench.graphs import PROJECT, copy_graph
from bench.options import Options
from bench.race import RATIO_MIN, Limit, count_shared_turns, race
from bench.report import Result

SIZE_MAX = 100_000  # enough work for every racer; a larger graph makes no difference


def run(options: Options) -> list[Result]:
    """Return the results of this part."""
    size = max((size for size in options.sizes if size <= SIZE_MAX), default=options.sizes[0])
    seconds = min(QUICK_S, options.seconds) if options.quick else options.seconds
    with copy_graph(options, size) as copy:
        with groundplan.open(str(copy.graph), actor="ada") as plan:
            before = _count_resolved(plan)
        logs = race(copy.graph, options.processes, claim_and_resolve, Limit(seconds=seconds))
        with groundplan.open(str(copy.graph), actor="ada") as plan:
            recorded = _count_resolved(plan) - before
    got = count_shared_turns(logs)
    claimed = Counter(node_id for log in logs for node_id in log.notes)
    errors = sum(len(log.errors) for log in logs)
    name = f"{options.processes} processes, {got.seconds:.0f} s, {size:,} nodes"
    return [
        Result("claims", f"{name}: slowest ÷ fastest", got.ratio, "", bar=RATIO_MIN, at_least=True),
        Result("claims", f"{name}: claimed and resolved", got.per_s, "/s"),
        Result("claims", f"{name}: longest cycle", max(log.longest_wait_s for log in logs) * 1000, "ms"),
        Result("claims", f"{name}: nodes claimed twice", sum(times > 1 for times in claimed.values()), "", bar=0),
        Result("claims", f"{name}: errors", errors, "", bar=0),
        Result("claims", f"{name}: acknowledged but lost", claimed.total() - recorded, "", bar=0),
    ]


def claim_and_resolve(plan: groundplan.Session, name: str, done: int) -> str | None:
    """Claim a node, resolve it and return its id; None if no node is left."""
    offers = plan.call("work.claim", project=PROJECT, claim=True).nodes
    if not offers:
        return None
    node_id: str = offers[0].node.id
    evidence = [{"type": "note", "ref": f"{name} finished its task {done}"}]
    plan.call("work.update", updates=[{"node_id": node_id, "resolved": True, "add_evidence": evidence}])
    return node_id


def _count_resolved(plan: groundplan.Session) -> int:
    resolved: int = plan.call("work.open", project=PROJECT).summary.resolved
    return resolved
