"""The finding of a check before waivers are applied, and the theory prepared for the checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from msgspec import UNSET

from groundplan.kernel.errors import NextStep
from groundplan.kernel.wording import quote_text
from groundplan.purpose.gates.result import ExternalFacts, Fix
from groundplan.purpose.graph.causal_graph import CausalGraph, build_causal_graph, find_valid_causal_edges
from groundplan.purpose.model import Content, EdgeName, NodeType, Profile, PurposeEdge, edge_order
from groundplan.purpose.observing.observation_rows import Observations

REFS_NAMED_MAX = 5  # refs named in a message; the `refs` list holds all of them
NO_SUBJECTS = "the version has nothing to check"
NOT_KNOWN = "this is not known here"


class CheckFinding(NamedTuple):
    """A rule, the number of its subjects, and the subjects that break it."""

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
    """The content and facts that the checks read, with values shared by several checks computed once."""

    def __init__(
        self, content: Content, observations: Observations, profile: Profile, external_facts: ExternalFacts
    ) -> None:
        self.content = content
        self.observations = observations
        self.external_facts = external_facts
        self.is_strict = profile is Profile.STRICT
        self.edges: list[PurposeEdge] = find_valid_causal_edges(content)
        self.causal: CausalGraph = build_causal_graph(content)
        self.causes = len(self.causal.edges)  # counts an edge that was imported twice once
        self.nodes_with_indicator = {one.node for one in content.indicators.values()}  # nodes that have an indicator
        self.nodes_with_assumption = {one.node for one in content.assumptions.values() if one.node is not None}
        self.edges_with_assumption = {one.edge for one in content.assumptions.values() if one.edge is not None}

    def get_type(self, key: str) -> NodeType | None:
        """Return the type of a node, or None if there is no such node."""
        node = self.content.nodes.get(key)
        return None if node is None else node.node_type


def suggest_edit(instruction: str) -> Fix:
    """Return a fix that edits the draft, such as `add_edge from {refs} towards a goal`."""
    return (NextStep("purpose.edit", f"with {instruction}"),)


def list_edge_refs(names: Iterable[EdgeName]) -> list[str]:
    """Return the names of edges as refs, without duplicates and in list order."""
    return [str(name) for name in sorted(set(names), key=edge_order)]


def has_text(text: str | None) -> bool:
    """Return whether a text is given and not blank."""
    return bool(text and text.strip())


def format_refs(refs: Sequence[str]) -> str:
    """Format refs for a message, naming at most `REFS_NAMED_MAX`."""
    listed = ", ".join(quote_text(ref)[1:-1] for ref in refs[:REFS_NAMED_MAX])
    return listed if len(refs) <= REFS_NAMED_MAX else f"{listed} and {len(refs) - REFS_NAMED_MAX} more"
