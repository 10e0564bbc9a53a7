"""What a check finds before anybody answers for it, and the theory made ready for the checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from msgspec import UNSET

from groundplan.kernel.next_steps import NextStep
from groundplan.kernel.wording import quote_text
from groundplan.purpose.gates.result import ExternalFacts, Fix
from groundplan.purpose.graph.causal_graph import CausalGraph, build_causal_graph, find_valid_causal_edges
from groundplan.purpose.model import Content, EdgeName, NodeType, Profile, PurposeEdge, edge_order
from groundplan.purpose.observing.observation_rows import Observations

REFS_NAMED_MAX = 5  # of some refs in a sentence; beside it there is a list of them all
NO_SUBJECTS = "there is nothing here that it is about"
NOT_KNOWN = "nobody here can tell"


class CheckFinding(NamedTuple):
    """A rule, how many things it is about, and which of them break it."""

    rule: str
    subjects: int  # none: the rule does not apply
    failing: Sequence[str] = ()  # refs, in any order
    fix: Fix = ""  # what to do; `{refs}` stands for those for which nobody answers
    wrong: str | None = None  # what is wrong, where that is not how many of the subjects break the rule
    actual: Any = UNSET
    expected: Any = UNSET
    not_applicable: str = NO_SUBJECTS  # why, where the rule does not apply
    is_warning: bool = False  # whatever the profile says, it does not block
    # What is wrong with those for which nobody answers, in words and as data, where that depends on which they are.
    looked_into: Callable[[list[str]], tuple[str, Any]] | None = None


class GateSubject:
    """Content and what is known beside it; what several checks ask for is worked out once."""

    def __init__(self, content: Content, observations: Observations, profile: Profile, outside: ExternalFacts) -> None:
        self.content = content
        self.observations = observations
        self.outside = outside
        self.is_strict = profile is Profile.STRICT
        self.edges: list[PurposeEdge] = find_valid_causal_edges(content)
        self.causal: CausalGraph = build_causal_graph(content)
        self.causes = len(self.causal.edges)  # one that an import brought twice is one
        self.measured = {one.node for one in content.indicators.values()}  # nodes that have an indicator
        self.assumed_nodes = {one.node for one in content.assumptions.values() if one.node is not None}
        self.assumed_edges = {one.edge for one in content.assumptions.values() if one.edge is not None}

    def type_of(self, key: str) -> NodeType | None:
        """What a node is; None where there is no such node."""
        node = self.content.nodes.get(key)
        return None if node is None else node.node_type


def suggest_edit(how: str) -> Fix:
    """A change of the draft that mends what was found: `add_edge from {refs} towards a goal`."""
    return (NextStep("purpose.edit", f"with {how}"),)


def edge_names(names: Iterable[EdgeName]) -> list[str]:
    """Edges as refs: each once, in the order of lists."""
    return [str(name) for name in sorted(set(names), key=edge_order)]


def has_text(text: str | None) -> bool:
    """Whether there is a text and something stands in it."""
    return bool(text and text.strip())


def format_refs(refs: Sequence[str]) -> str:
    """Some refs in a sentence, not too many."""
    shown = ", ".join(quote_text(ref)[1:-1] for ref in refs[:REFS_NAMED_MAX])
    return shown if len(refs) <= REFS_NAMED_MAX else f"{shown} and {len(refs) - REFS_NAMED_MAX} more"
