"""The purpose of a task: the strongest paths from the nodes that it serves to the goals, and the decisions about it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from msgspec import UNSET

from groundplan.briefing.briefing import AssumptionNote, DecisionNote, Via, WhyStep
from groundplan.kernel.events import list_decisions_about
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.in_force import PurposeChains, load_chains, load_chains_in_force
from groundplan.purpose.model import Assumption, AssumptionStatus, NodeType, RiskLevel
from groundplan.purpose.observing.read import read_assumption_statuses, read_newest_decisions
from groundplan.purpose.observing.records import Decision

ASSUMPTIONS_MAX = 500  # of which the status is read

_DOUBT_RANKS = {AssumptionStatus.REFUTED: 0, AssumptionStatus.AT_RISK: 1}
_RISK_RANKS = {RiskLevel.HIGH: 0, RiskLevel.MEDIUM: 1, RiskLevel.LOW: 2, None: 3}


class StepAssumption(NamedTuple):
    """An assumption, and the key of the step that shows it."""

    step: str
    note: AssumptionNote
    is_urgent: bool  # it is at risk or refuted, or its risk is high


class Reasons(NamedTuple):
    """The steps from the purpose nodes that a task serves to the goals."""

    steps: list[WhyStep]  # the shortest path first; a step that two paths share stands once
    steps_total: int
    goal: int | None  # the index of the first goal among the steps
    assumptions: list[StepAssumption]  # the worst first


class _Start(NamedTuple):
    chains: PurposeChains
    number: int

    @property
    def order(self) -> tuple[bool, int, int, int]:
        strength, length = self.chains.ways.strengths[self.number], self.chains.ways.lengths[self.number]
        return strength < 0, length, -strength, self.number


def collect_why(tx: Transaction, served: Sequence[str], *, at_most: int) -> Reasons:
    """Return the steps from the served purpose nodes to the goals: the first `at_most`, and always the first goal."""
    if not served:
        return Reasons([], 0, None, [])
    starts, dangling = _find_starts(tx, served)
    steps: list[WhyStep] = []
    assumptions: list[tuple[str, Assumption]] = []
    keys: set[str] = set()
    goal: int | None = None
    for start in starts:
        chains = start.chains
        for number in chains.walk_to_goal(start.number):
            key = chains.causal.graph.keys[number]
            if key in keys:
                break  # from here on, the path was listed already
            keys.add(key)
            is_first_goal = goal is None and chains.get_node(number).node_type is NodeType.GOAL
            if len(steps) < at_most or is_first_goal:
                goal = len(steps) if is_first_goal else goal
                steps.append(_build_step(chains, number))
                assumptions += [(key, assumption) for assumption in _list_assumptions(chains, number)]
    steps += [WhyStep(key=key, dangling=True) for key in dangling[: max(at_most - len(steps), 1)]]
    return Reasons(steps, len(keys) + len(dangling), goal, _build_notes(tx, assumptions))


def _find_starts(tx: Transaction, served: Sequence[str]) -> tuple[list[_Start], list[str]]:
    """Return the starts of the paths, the shortest path first, and the keys that are in no version."""
    in_force, draft = load_chains_in_force(tx)
    starts, others, dangling = [], [], []
    for key in served:
        number = None if in_force is None else in_force.find_number(key)
        if in_force is not None and number is not None:
            starts.append(_Start(in_force, number))
        else:
            others.append(key)
    if others and draft is not None:
        chains = load_chains(tx, draft)
        for key in others:
            number = chains.find_number(key)
            if number is None:
                dangling.append(key)
            else:
                starts.append(_Start(chains, number))
    else:
        dangling = others
    return sorted(starts, key=lambda start: start.order), dangling


def _build_step(chains: PurposeChains, number: int) -> WhyStep:
    node, edge = chains.get_node(number), chains.get_edge_ahead(number)
    step = WhyStep(key=node.key, type=node.node_type, title=node.title)
    if edge is not None:
        effect = chains.causal.content.orient(edge.name).target
        step.via = Via(effect, edge.mechanism or UNSET, edge.confidence or UNSET)
    return step


def _list_assumptions(chains: PurposeChains, number: int) -> list[Assumption]:
    edge = chains.get_edge_ahead(number)
    of_edge = [] if edge is None else chains.edge_assumptions.get(edge.name, [])
    return chains.node_assumptions.get(chains.causal.graph.keys[number], []) + of_edge


def _build_notes(tx: Transaction, assumptions: list[tuple[str, Assumption]]) -> list[StepAssumption]:
    shown = assumptions[:ASSUMPTIONS_MAX]
    statuses = read_assumption_statuses(tx, [assumption.key for _, assumption in shown])

    def rank(entry: tuple[str, Assumption]) -> tuple[bool, int, int]:
        _, assumption = entry
        status = statuses.get(assumption.key, AssumptionStatus.UNTESTED)
        is_urgent = status in _DOUBT_RANKS or assumption.risk_level is RiskLevel.HIGH
        is_tested = status is not AssumptionStatus.UNTESTED
        return not is_urgent, _DOUBT_RANKS.get(status, 2 + is_tested), _RISK_RANKS[assumption.risk_level]

    return [
        StepAssumption(
            step,
            AssumptionNote(
                assumption.key,
                assumption.assumption_text,
                assumption.risk_level or UNSET,
                statuses.get(assumption.key, AssumptionStatus.UNTESTED),
            ),
            not rank((step, assumption))[0],
        )
        for step, assumption in sorted(shown, key=rank)
    ]


# --- The decisions that bind a task: reasons of changes to it and its ancestors, and decisions about its purpose ------

RECORDED_MAX = 200  # decisions about the purpose that are looked through
EVENT_PREFIX = "work"  # the events of work nodes


class DatedDecision(NamedTuple):
    """A decision with its sort position."""

    is_replaced: bool
    position: tuple[int, int]  # rev and n
    note: DecisionNote


def collect_decisions(
    tx: Transaction, node_ids: Sequence[str], refs: Collection[str], *, at_most: int
) -> list[DecisionNote]:
    """Return the decisions about work nodes and purpose items: the newest first, and replaced ones at the end.

    A decision without a subject binds every task.
    """
    about = {*node_ids, *refs}
    recorded = read_newest_decisions(tx, at_most=RECORDED_MAX)
    replaced_by = {_get_superseded(decision): decision for decision in recorded}
    dated = [
        _date_decision(decision, replaced_by.get((decision.rev, decision.n)))
        for decision in recorded
        if not decision.about or not about.isdisjoint(decision.about)
    ]
    given = list_decisions_about(tx, node_ids, ops=EVENT_PREFIX, at_most=at_most)
    dated += [
        DatedDecision(False, event.position, DecisionNote(text=event.decision, at=event.at))
        for event in given
        if event.decision is not None
    ]
    dated.sort(key=lambda entry: (not entry.is_replaced, entry.position), reverse=True)
    unique: dict[tuple[object, ...], DecisionNote] = {}
    for entry in dated:  # one call gives the same reason to all its events
        unique.setdefault((entry.note.text, entry.note.at, entry.is_replaced), entry.note)
    return list(unique.values())


def _get_superseded(decision: Decision) -> tuple[int, int] | None:
    """Return the position of the decision that this one replaces."""
    rev, n = decision.supersedes_rev, decision.supersedes_n
    return None if rev is None or n is None else (rev, n)


def _date_decision(decision: Decision, newer: Decision | None) -> DatedDecision:
    note = DecisionNote(text=decision.text, at=decision.recorded_at, replaced_by=UNSET if newer is None else newer.text)
    return DatedDecision(newer is not None, (decision.rev, decision.n), note)
