"""The checks of the gates: gate A checks the consistency of a theory, gate B its readiness to run and be measured.

Each check is a pure function that returns its finding before waivers are applied.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from msgspec import UNSET

from groundplan.kernel.errors import NextStep
from groundplan.kernel.wording import quote_text
from groundplan.purpose.gates.gates import ExternalFacts, Fix
from groundplan.purpose.graph.cycles import find_cyclic_components, find_shortest_cycle
from groundplan.purpose.graph.graph import CausalGraph, build_causal_graph, find_leading_to, find_valid_causal_edges
from groundplan.purpose.metadata_structure import find_structure, format_names
from groundplan.purpose.model import (
    LEVELS,
    Assumption,
    Confidence,
    Content,
    EdgeName,
    Indicator,
    NodeType,
    Profile,
    PurposeEdge,
    PurposeNode,
    RiskLevel,
    edge_order,
    fold_title,
    sort_keys,
)
from groundplan.purpose.observing.records import DoubtStatus, Observations, find_doubts

TITLES_ACROSS_TYPES = 1  # the edition since which titles are compared across types
DEPENDENTS_AS_SOURCES = 2  # the edition since which the source of a DEPENDS_ON edge depends on its target
REFS_NAMED_MAX = 5  # refs named in a message; the `refs` list holds all of them
NO_SUBJECTS = "the version has nothing to check"
NOT_KNOWN = "this is not known here"


class CheckFinding(NamedTuple):
    """The finding of a check: its rule, the number of its subjects, and the subjects that violate it."""

    rule: str
    subjects: int  # 0: the rule does not apply
    failing: Sequence[str] = ()  # refs, in any order
    fix: Fix = ""  # what to do; `{refs}` stands for the failing refs without a waiver
    problem: str | None = None  # what is wrong; by default, how many subjects break the rule
    actual: Any = UNSET
    expected: Any = UNSET
    not_applicable: str = NO_SUBJECTS  # why the rule does not apply
    is_warning: bool = False  # does not block, whatever the profile says
    needs_whole_waiver: bool = False  # waivers for the failing refs alone do not cover it
    # Returns what is wrong with the failing refs without a waiver, as text and as data, if it depends on the refs.
    describe_failing: Callable[[list[str]], tuple[str, Any]] | None = None


class GateSubject:
    """The content and facts for the checks. Values that several checks use are computed once."""

    def __init__(
        self, content: Content, observations: Observations, profile: Profile, external_facts: ExternalFacts
    ) -> None:
        if external_facts.edition < DEPENDENTS_AS_SOURCES:
            content = content._replace(turned=frozenset())
        self.content = content
        self.observations = observations
        self.external_facts = external_facts
        self.is_strict = profile is Profile.STRICT
        self.edges: list[PurposeEdge] = find_valid_causal_edges(content)
        self.causal: CausalGraph = build_causal_graph(content)
        self.causes = len(self.causal.edges)  # counts an edge that was imported twice once
        self.nodes_with_indicator = {
            indicator.node for indicator in content.indicators.values()
        }  # nodes that have an indicator
        self.nodes_with_assumption = {
            assumption.node for assumption in content.assumptions.values() if assumption.node is not None
        }
        self.edges_with_assumption = {
            assumption.edge for assumption in content.assumptions.values() if assumption.edge is not None
        }

    def get_type(self, key: str) -> NodeType | None:
        """Return the type of a node, or None if it does not exist."""
        node = self.content.nodes.get(key)
        return None if node is None else node.node_type

    def get_effect(self, edge: EdgeName) -> str:
        """Return the key of the node to which an edge leads."""
        return self.content.orient(edge).target

    def count_levels_up(self, edge: PurposeEdge) -> int:
        """Return the number of levels that an edge leads up; negative if it leads down."""
        cause, effect, _ = self.content.orient(edge.name)
        return LEVELS[self.content.nodes[effect].node_type] - LEVELS[self.content.nodes[cause].node_type]


def suggest_edit(instruction: str) -> Fix:
    """Return a fix by an edit of the draft, such as `add_edge from {refs} towards a goal`."""
    return (NextStep("purpose.edit", f"with {instruction}"),)


def list_edge_refs(names: Iterable[EdgeName]) -> list[str]:
    """Return the names of edges as refs, without duplicates and in list order."""
    return [str(name) for name in sorted(set(names), key=edge_order)]


def has_text(text: str | None) -> bool:
    """Return True if a text is given and not blank."""
    return bool(text and text.strip())


def format_refs(refs: Sequence[str]) -> str:
    """Return refs as text for a message; at most `REFS_NAMED_MAX` are named."""
    listed = ", ".join(quote_text(ref)[1:-1] for ref in refs[:REFS_NAMED_MAX])
    return listed if len(refs) <= REFS_NAMED_MAX else f"{listed} and {len(refs) - REFS_NAMED_MAX} more"


CYCLE_NODES_NAMED_MAX = 20  # nodes of a cycle in a message


def check_goal_count(theory: GateSubject) -> CheckFinding:
    goals = [node.key for node in theory.content.list_nodes_of_type(NodeType.GOAL)]
    rule = f"There is {'exactly' if theory.is_strict else 'at least'} one GOAL"
    if not goals:
        fix = suggest_edit("add_node (node_type GOAL)")
        return CheckFinding(rule, 1, fix=fix, problem="there is none", actual=0, expected=1)
    if theory.is_strict and len(goals) > 1:
        fix = suggest_edit("update_node or remove_node on all but one of {refs}")
        return CheckFinding(
            rule, 1, sort_keys(goals), fix, problem=f"there are {len(goals)}", actual=len(goals), expected=1
        )
    return CheckFinding(rule, 1)


def check_min_types(theory: GateSubject) -> CheckFinding:
    wanted = (NodeType.GOAL, NodeType.OUTCOME, NodeType.OUTPUT)
    counts = {node_type: len(theory.content.list_nodes_of_type(node_type)) for node_type in wanted}
    missing = [str(node_type) for node_type, count in counts.items() if not count]
    rule = "GOAL, OUTCOME and OUTPUT are each present"
    if not missing:
        return CheckFinding(rule, 1)
    listed = " and no ".join(missing)
    return CheckFinding(
        rule,
        1,
        fix=suggest_edit(f"add_node (node_type {' and '.join(missing)})"),
        problem=f"there is no {listed}",
        actual=len(wanted) - len(missing),
        expected=len(wanted),
    )


def check_orphans(theory: GateSubject) -> CheckFinding:
    goals = theory.causal.list_numbers(NodeType.GOAL)
    reaching = find_leading_to(theory.causal.graph, goals)
    failing = [key for number, key in enumerate(theory.causal.graph.keys) if number not in reaching]
    return CheckFinding(
        "Every node that is not a goal reaches a goal along causal edges",
        len(theory.content.nodes) - len(goals),
        failing,
        suggest_edit("add_edge from {refs} towards a goal"),
    )


def check_type_chain(theory: GateSubject) -> CheckFinding:
    if theory.is_strict:
        rule = "Every causal edge leads exactly one level up: ACTIVITY, OUTPUT, OUTCOME, GOAL"
        failing = [edge.name for edge in theory.edges if theory.count_levels_up(edge) != 1]
    else:
        rule = "No causal edge leads down the levels ACTIVITY, OUTPUT, OUTCOME, GOAL"
        failing = [edge.name for edge in theory.edges if theory.count_levels_up(edge) < 0]
    fix = suggest_edit("remove_edge, update_edge (new_edge_type FEEDBACK) or update_node (node_type) on {refs}")
    return CheckFinding(rule, theory.causes, list_edge_refs(failing), fix)


def check_leap(theory: GateSubject) -> CheckFinding:
    return CheckFinding(
        "No causal edge skips a level",
        theory.causes,
        list_edge_refs(edge.name for edge in theory.edges if theory.count_levels_up(edge) > 1),
        suggest_edit(
            "add_node for the level between the ends of {refs}, and edges through it instead of the direct edge"
        ),
    )


def check_cycle(theory: GateSubject) -> CheckFinding:
    """Report all nodes on a cycle. A waiver for some nodes does not cover a cycle through others."""
    graph = theory.causal.graph
    cyclic = find_cyclic_components(graph)
    failing = sorted(node for component in cyclic for node in component)

    def looked_into(remaining: list[str]) -> tuple[str, Any]:
        path = find_shortest_cycle(graph, cyclic, through=[graph.numbers[key] for key in remaining])
        return f"{_format_cycle(path or [])} is one", path

    return CheckFinding(
        "Causal edges form no cycle",
        theory.causes,
        [graph.keys[node] for node in failing],
        suggest_edit("remove_edge or update_edge (new_edge_type FEEDBACK) on one edge of the cycle"),
        describe_failing=looked_into,
    )


def check_dup_edge(theory: GateSubject) -> CheckFinding:
    counted = Counter(edge.name for edge in theory.content.edges)
    return CheckFinding(
        "No edge exists twice",
        len(counted),
        list_edge_refs(name for name, count in counted.items() if count > 1),
        suggest_edit("remove_edge on {refs}, then add_edge once"),
    )


def check_self_edge(theory: GateSubject) -> CheckFinding:
    names = {edge.name for edge in theory.content.edges}
    return CheckFinding(
        "No edge leads from a node to itself",
        len(names),
        list_edge_refs(name for name in names if name.is_self_edge),
        suggest_edit("remove_edge on {refs}"),
    )


def check_cross_version(theory: GateSubject) -> CheckFinding:
    nodes, edges, assumptions, indicators, _ = theory.content
    names = {edge.name for edge in edges}
    outside = [
        *list_edge_refs(name for name in names if name.source not in nodes or name.target not in nodes),
        *sort_keys(
            assumption.key
            for assumption in assumptions.values()
            if not (assumption.node in nodes or assumption.edge in names)
        ),
        *sort_keys(indicator.key for indicator in indicators.values() if indicator.node not in nodes),
    ]
    return CheckFinding(
        "Every edge, assumption and indicator belongs to nodes and edges of this version",
        len(names) + len(assumptions) + len(indicators),
        outside,
        suggest_edit("remove_edge, remove_assumption or remove_indicator on {refs}, or add the node that is missing"),
    )


def check_mechanism(theory: GateSubject) -> CheckFinding:
    return CheckFinding(
        "Every causal edge says how (mechanism)",
        theory.causes,
        list_edge_refs(edge.name for edge in theory.edges if not has_text(edge.mechanism)),
        suggest_edit("update_edge (mechanism) on {refs}"),
    )


def check_high_risk(theory: GateSubject) -> CheckFinding:
    subjects = [
        assumption for assumption in theory.content.assumptions.values() if assumption.risk_level is RiskLevel.HIGH
    ]

    def is_managed(assumption: Assumption) -> bool:
        node = theory.get_effect(assumption.edge) if assumption.edge is not None else assumption.node
        watched = not theory.is_strict or node in theory.nodes_with_indicator
        return has_text(assumption.owner) and has_text(assumption.review_by) and watched

    also = ", and its node or its edge's target an indicator" if theory.is_strict else ""
    step = ", and add_indicator where there is none" if theory.is_strict else ""
    return CheckFinding(
        f"Every assumption of HIGH risk has an owner and a review date{also}",
        len(subjects),
        sort_keys(assumption.key for assumption in subjects if not is_managed(assumption)),
        suggest_edit(f"update_assumption (owner, review_by) on {{refs}}{step}"),
    )


def check_low_confidence(theory: GateSubject) -> CheckFinding:
    subjects = {edge.name for edge in theory.edges if edge.confidence is Confidence.LOW}
    return CheckFinding(
        "Every causal edge of low confidence carries an assumption",
        len(subjects),
        list_edge_refs(subjects - theory.edges_with_assumption),
        suggest_edit("add_assumption on {refs}"),
    )


def check_outcome_coverage(theory: GateSubject) -> CheckFinding:
    outcomes = [node.key for node in theory.content.list_nodes_of_type(NodeType.OUTCOME)]
    return CheckFinding(
        "Every OUTCOME has an indicator",
        len(outcomes),
        sort_keys(key for key in outcomes if key not in theory.nodes_with_indicator),
        suggest_edit("add_indicator on {refs}"),
    )


def check_assumptions(theory: GateSubject) -> CheckFinding:
    effects = (NodeType.OUTCOME, NodeType.GOAL)
    subjects = {edge.name for edge in theory.edges if theory.get_type(theory.get_effect(edge.name)) in effects}
    bare = [
        name
        for name in subjects - theory.edges_with_assumption
        if theory.content.orient(name).source not in theory.nodes_with_assumption
    ]
    return CheckFinding(
        "Every causal edge into an OUTCOME or GOAL, or its source, carries an assumption",
        len(subjects),
        list_edge_refs(bare),
        suggest_edit("add_assumption on {refs}"),
    )


def check_dead_end(theory: GateSubject) -> CheckFinding:
    activities = [node.key for node in theory.content.list_nodes_of_type(NodeType.ACTIVITY)]
    leading_on = {theory.content.orient(edge.name).source for edge in theory.edges if not edge.name.is_self_edge}
    return CheckFinding(
        "Every ACTIVITY contributes to something",
        len(activities),
        sort_keys(key for key in activities if key not in leading_on),
        suggest_edit("add_edge from {refs} to what each contributes to"),
    )


def check_refuted(theory: GateSubject) -> CheckFinding:
    """Report refuted assumptions on paths to goals, unless a later decision is about them."""
    graph = theory.causal.graph
    reaching = find_leading_to(graph, theory.causal.list_numbers(NodeType.GOAL))
    subjects = []
    for assumption in theory.content.assumptions.values():
        place = assumption.node
        if assumption.edge is not None:
            place = theory.get_effect(assumption.edge) if assumption.edge.edge_type.is_causal else None
        if place is not None and graph.numbers.get(place) in reaching:
            subjects.append(assumption.key)
    doubts = find_doubts(theory.observations, theory.external_facts.refuted_by_work or {})
    failing = [key for key in subjects if key in doubts and doubts[key].status is not DoubtStatus.AT_RISK]
    return CheckFinding(
        "No refuted assumption on a path to a goal is without a decision about it",
        len(subjects),
        sort_keys(failing),
        (
            NextStep("purpose.record", "with decisions about {refs}", fill=("decisions",)),
            NextStep("purpose.edit", "changes what depends on them"),
        ),
    )


def check_context(theory: GateSubject) -> CheckFinding:
    rule = "The facts of the project are committed"
    facts = theory.external_facts.context
    if facts is None:
        return CheckFinding(rule, 0, not_applicable=NOT_KNOWN)
    if facts.run is None:
        return CheckFinding(
            rule, 1, fix=(NextStep("context.commit", "puts them in force"),), problem="none were ever committed"
        )
    if facts.is_partial:
        fix = (
            NextStep("context.edit", "sets the required facts", fill=("inputs",)),
            NextStep("context.commit", "without allowPartial puts all of them in force"),
        )
        return CheckFinding(rule, 1, fix=fix, problem="they are committed in part", is_warning=True)
    return CheckFinding(rule, 1)


def check_title(theory: GateSubject) -> CheckFinding:
    """Report nodes without a title, or with that of another node. Of another type it is never more than a warning."""
    if theory.external_facts.edition < TITLES_ACROSS_TYPES:
        return _check_title_by_type(theory)
    titled: dict[str, list[PurposeNode]] = {}
    for node in theory.content.nodes.values():
        titled.setdefault(fold_title(node.title), []).append(node)
    blocking: list[str] = []
    across: list[str] = []
    for title, nodes in titled.items():
        types = Counter(node.node_type for node in nodes)
        for node in nodes if not title or len(nodes) > 1 else ():
            (blocking if not title or types[node.node_type] > 1 else across).append(node.key)
    return CheckFinding(
        "Every node has a title, and no other node has the same",
        len(theory.content.nodes),
        sort_keys(blocking if blocking and theory.is_strict else blocking + across),
        suggest_edit("update_node (another title) on {refs}"),
        is_warning=bool(across) and not blocking,
    )


def _check_title_by_type(theory: GateSubject) -> CheckFinding:
    titles: dict[tuple[NodeType, str], list[str]] = {}
    for node in theory.content.nodes.values():
        titles.setdefault((node.node_type, node.title.strip().casefold()), []).append(node.key)
    failing = [key for (_, text), keys in titles.items() if not text or len(keys) > 1 for key in keys]
    return CheckFinding(
        "Every node has a title, and no other node of its type has the same",
        len(theory.content.nodes),
        sort_keys(failing),
        suggest_edit("update_node (another title) on {refs}"),
    )


def check_structure(theory: GateSubject) -> CheckFinding:
    structures = {key: find_structure(node.metadata) for key, node in theory.content.nodes.items()}
    names = {key: [*found.links, *found.trees] for key, found in structures.items() if found.links or found.trees}

    def describe(refs: list[str]) -> tuple[str, list[str]]:
        return ", ".join(f"{key} has {format_names(names[key])}" for key in refs[:REFS_NAMED_MAX]), refs

    return CheckFinding(
        "No metadata holds structure of the theory: a parent, children, a tree or a path of nodes",
        len(theory.content.nodes),
        sort_keys(names),
        suggest_edit("update_node (metadata with null for these names) on {refs}, and add_edge for what they meant"),
        describe_failing=describe if names else None,
    )


def check_row_security(theory: GateSubject) -> CheckFinding:
    rule = "Row level security is forced, with four policies on each table, for a role that cannot bypass it"
    wrong = theory.external_facts.row_security
    if wrong is None:
        return CheckFinding(rule, 0, not_applicable="this engine has none")
    if not wrong:
        return CheckFinding(rule, 1)
    return CheckFinding(
        rule,
        1,
        fix="run the migrations as the owner role and connect as the application role",
        problem="; ".join(sorted(wrong)),
        actual=sorted(wrong),
        expected=[],
    )


GATE_A_CHECKS: dict[str, Callable[[GateSubject], CheckFinding]] = {
    "GA_ASSUMPTIONS": check_assumptions,
    "GA_CONTEXT": check_context,
    "GA_CROSS_VERSION": check_cross_version,
    "GA_CYCLE": check_cycle,
    "GA_DEAD_END": check_dead_end,
    "GA_DUP_EDGE": check_dup_edge,
    "GA_GOAL_COUNT": check_goal_count,
    "GA_HIGH_RISK": check_high_risk,
    "GA_LEAP": check_leap,
    "GA_LOW_CONFIDENCE": check_low_confidence,
    "GA_MECHANISM": check_mechanism,
    "GA_MIN_TYPES": check_min_types,
    "GA_ORPHANS": check_orphans,
    "GA_OUTCOME_COVERAGE": check_outcome_coverage,
    "GA_REFUTED": check_refuted,
    "GA_RLS": check_row_security,
    "GA_SELF_EDGE": check_self_edge,
    "GA_STRUCTURE": check_structure,
    "GA_TITLE": check_title,
    "GA_TYPE_CHAIN": check_type_chain,
}


def _format_cycle(path: list[str]) -> str:
    """Return a cycle as text for a message. The middle of a long cycle is left out."""
    if len(path) <= CYCLE_NODES_NAMED_MAX:
        return " -> ".join(path)
    half = CYCLE_NODES_NAMED_MAX // 2
    return " -> ".join((*path[:half], f"… {len(path) - 2 * half} more …", *path[-half:]))


def check_baseline(theory: GateSubject) -> CheckFinding:
    subjects = _find_effect_indicators(theory)
    return CheckFinding(
        "Every indicator on an OUTCOME or GOAL has a baseline",
        len(subjects),
        sort_keys(indicator.key for indicator in subjects if indicator.baseline is None),
        suggest_edit("update_indicator (baseline) on {refs}"),
    )


def check_target(theory: GateSubject) -> CheckFinding:
    subjects = _find_effect_indicators(theory)
    return CheckFinding(
        "Every indicator on an OUTCOME or GOAL has a target",
        len(subjects),
        sort_keys(indicator.key for indicator in subjects if indicator.target is None),
        suggest_edit("update_indicator (target) on {refs}"),
    )


def check_verified(theory: GateSubject) -> CheckFinding:
    """Report baselines that are marked as unverified. A baseline without a mark passes."""
    subjects = [indicator for indicator in theory.content.indicators.values() if indicator.baseline is not None]
    return CheckFinding(
        "No baseline is marked as unverified",
        len(subjects),
        sort_keys(indicator.key for indicator in subjects if indicator.baseline_verified is False),
        suggest_edit("update_indicator (baseline_verified true) on {refs}, after the baseline is verified"),
    )


def check_plan(theory: GateSubject) -> CheckFinding:
    subjects = theory.content.indicators.values()
    return CheckFinding(
        "Every indicator has a method, a frequency and an owner",
        len(subjects),
        sort_keys(
            indicator.key
            for indicator in subjects
            if not (has_text(indicator.method) and has_text(indicator.frequency) and has_text(indicator.owner))
        ),
        suggest_edit("update_indicator (method, frequency, owner) on {refs}"),
    )


def check_indicators(theory: GateSubject) -> CheckFinding:
    """Report outcomes without an indicator. A theory that measures no effect fails even if all outcomes are waived."""
    rule = "An OUTCOME or GOAL has an indicator, and every OUTCOME has one"
    outcomes = [node.key for node in theory.content.list_nodes_of_type(NodeType.OUTCOME)]
    failing = sort_keys(key for key in outcomes if key not in theory.nodes_with_indicator)
    if _find_effect_indicators(theory):
        return CheckFinding(rule, max(1, len(outcomes)), failing, suggest_edit("add_indicator on {refs}"))
    return CheckFinding(
        rule,
        1,
        failing,
        suggest_edit("add_indicator on an OUTCOME or GOAL"),
        problem="there is none",
        actual=0,
        expected=max(1, len(outcomes)),
        needs_whole_waiver=True,
    )


def check_work(theory: GateSubject) -> CheckFinding:
    rule = "Every ACTIVITY is served by at least one work node"
    served = theory.external_facts.served
    if served is None:
        return CheckFinding(rule, 0, not_applicable=NOT_KNOWN)
    activities = [node.key for node in theory.content.list_nodes_of_type(NodeType.ACTIVITY)]
    return CheckFinding(
        rule,
        len(activities),
        sort_keys(key for key in activities if served.get(key, 0) < 1),
        "add work that serves {refs}",
    )


def check_facts(theory: GateSubject) -> CheckFinding:
    rule = "Every required fact of the project is set"
    known = theory.external_facts.context
    if known is None:
        return CheckFinding(rule, 0, not_applicable=NOT_KNOWN)
    if known.run is None:
        return CheckFinding(rule, 0, not_applicable="no facts were ever committed")
    unset = sorted(set(known.required_unset))
    wrong = f"{len(unset)} {'is' if len(unset) == 1 else 'are'} not" if unset else None
    fix = NextStep("context.edit", "sets {refs}", fill=("inputs",)), NextStep("context.commit", "puts them in force")
    return CheckFinding(rule, 1, unset, fix, problem=wrong, actual=len(unset), expected=0)


GATE_B_CHECKS: dict[str, Callable[[GateSubject], CheckFinding]] = {
    "GB_BASELINE": check_baseline,
    "GB_FACTS": check_facts,
    "GB_INDICATORS": check_indicators,
    "GB_PLAN": check_plan,
    "GB_TARGET": check_target,
    "GB_VERIFIED": check_verified,
    "GB_WORK": check_work,
}


def _find_effect_indicators(theory: GateSubject) -> list[Indicator]:
    effects = (NodeType.OUTCOME, NodeType.GOAL)
    return [indicator for indicator in theory.content.indicators.values() if theory.get_type(indicator.node) in effects]
