"""A version as writers of files and pictures use it: with its observations, or limited to one of its views.

A view is the set of nodes that one diagram of an imported project shows. A node has the names of its views in its
metadata, as `{"views": ["Results chain: fishing"]}`. So views need no table of their own, belong to the version, and
are exported and imported with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from groundplan.kernel.errors import NotFound
from groundplan.kernel.wording import quote_text
from groundplan.purpose.model import (
    Assumption,
    AssumptionStatus,
    Content,
    EdgeName,
    EdgeType,
    Indicator,
    Profile,
    PurposeEdge,
    VersionStatus,
)
from groundplan.purpose.observing.records import Measurement, Waiver
from groundplan.purpose.picture.tokens import STATUS_NAMES

VIEWS = "views"  # in the metadata of a node
VIEW_CHARS_MAX = 255
KNOWN_MAX = 12  # names in a message


class Theory(NamedTuple):
    """A version to export. Equal theories give equal bytes."""

    project: str
    number: int
    label: str
    status: VersionStatus
    profile: Profile
    published_at: str | None
    content: Content
    statuses: dict[str, AssumptionStatus]  # by key of the reviewed assumption
    latest: dict[str, Measurement]  # by key of the measured indicator
    waivers: list[Waiver]  # active ones that apply to this version, sorted, without duplicates

    @property
    def display_name(self) -> str:
        """The display name of the version: `v2`, `v2 Two wells`, `v3 (draft)`."""
        if self.status is VersionStatus.DRAFT:
            return f"v{self.number} (draft)"
        return self.label if self.label == f"v{self.number}" else f"v{self.number} {self.label}"

    def get_status(self, assumption: str) -> AssumptionStatus:
        """Return the status of an assumption by its latest review."""
        return self.statuses.get(assumption, AssumptionStatus.UNTESTED)

    def group_indicators_by_node(self) -> dict[str, list[Indicator]]:
        """Return the indicators by the key of their node."""
        by_node: dict[str, list[Indicator]] = {}
        for indicator in self.content.indicators.values():
            by_node.setdefault(indicator.node, []).append(indicator)
        return by_node

    def group_assumptions_by_subject(self) -> dict[str | EdgeName, list[Assumption]]:
        """Return the assumptions by subject: the key of a node, or the name of an edge."""
        by_subject: dict[str | EdgeName, list[Assumption]] = {}
        for assumption in self.content.assumptions.values():
            on = assumption.node if assumption.edge is None else assumption.edge
            if on is not None:
                by_subject.setdefault(on, []).append(assumption)
        return by_subject


def list_views(content: Content) -> list[str]:
    """Return the names of the views, in the order of the nodes that have them."""
    return collect_views(node.metadata for node in content.nodes.values())


def collect_views(metadata: Iterable[dict[str, Any]]) -> list[str]:
    """Return the names of the views in the metadata of some nodes."""
    return list(dict.fromkeys(name for node_metadata in metadata for name in _get_views(node_metadata)))


def select_view(theory: Theory, name: str) -> Theory:
    """Return a theory with only the nodes of a view, their edges, assumptions and indicators."""
    content = theory.content
    nodes = {key: node for key, node in content.nodes.items() if name in _get_views(node.metadata)}
    if not nodes:
        known = format_known(list_views(content))
        hint = f"the views are: {known}" if known else "this version has no views; an import of a Miradi project has"
        raise NotFound("view", name, hint=hint, field="view")
    edges = [edge for edge in content.edges if edge.source in nodes and edge.target in nodes]
    names = {edge.name for edge in edges}
    assumptions = {
        key: assumption
        for key, assumption in content.assumptions.items()
        if (assumption.node in nodes if assumption.edge is None else assumption.edge in names)
    }
    indicators = {key: indicator for key, indicator in content.indicators.items() if indicator.node in nodes}
    return theory._replace(
        content=content._replace(nodes=nodes, edges=edges, assumptions=assumptions, indicators=indicators)
    )


def format_known(names: list[str]) -> str:
    """Return the first of the known names as text for a message."""
    more = ", …" if len(names) > KNOWN_MAX else ""
    return ", ".join(map(quote_text, names[:KNOWN_MAX])) + more


def _get_views(metadata: dict[str, Any]) -> list[str]:
    """Return the names of a node's views. Values other than texts are ignored, because metadata may be anything."""
    views = metadata.get(VIEWS)
    return [name for name in views if isinstance(name, str)] if isinstance(views, list) else []


def describe_version(theory: Theory) -> str:
    """Return the description of a version: `wells, v2 Two wells, profile standard`."""
    return f"{theory.project}, {theory.display_name}, profile {theory.profile}"


def describe_assumption(theory: Theory, assumption: Assumption) -> str:
    """Return a short description of an assumption: `AS3 HIGH, at risk`. Unknown risk or status is left out."""
    risk = "" if assumption.risk_level is None else f" {assumption.risk_level}"
    status = theory.get_status(assumption.key)
    return f"{assumption.key}{risk}" + ("" if status is AssumptionStatus.UNTESTED else f", {STATUS_NAMES[status]}")


def describe_edge(edge: PurposeEdge) -> list[str]:
    """Return the description of an edge that leads from its cause to its effect: its relation and its confidence."""
    parts = list(filter(None, [name_relation(edge.edge_type)]))
    return parts if edge.confidence is None else [*parts, f"confidence {edge.confidence}"]


def name_relation(edge_type: EdgeType) -> str:
    """Return the relation of a cause to its effect; nothing for CONTRIBUTES_TO, which goes without saying."""
    if edge_type is EdgeType.CONTRIBUTES_TO:
        return ""
    return edge_type.relation


def describe_waiver(waiver: Waiver) -> str:
    """Return the description of a waiver. A waiver without refs covers its check as a whole."""
    about = f" on {', '.join(waiver.refs)}" if waiver.refs else ""
    return f"{waiver.code}{about}: {waiver.reason} ({waiver.owner} answers for it until {waiver.due})"
