"""Read a theory from a Miradi project (XMPZ2): factors become nodes, links become edges.

    Strategy, Activity                                           ACTIVITY
    IntermediateResult                                           OUTPUT
    ThreatReductionResult, Cause, BiophysicalResult and -Factor  OUTCOME
    BiodiversityTarget, HumanWellbeingTarget                     GOAL

The kind of a factor decides its type, not its position. A results chain leads from strategies over intermediate
results and reduced threats to targets, and these steps match our levels; biophysical factors are between threats and
targets. Miradi calls each result a change, so some outputs may be better as outcomes; that is left to the user. Threats
and contributing factors of a situation model keep their wording, which describes a problem and not a change, so they
are reported.

A factor on several diagrams is one node, and a link on several diagrams is one edge. A bidirectional link becomes an
edge and a feedback edge; an uncertain link gets low confidence; the annotation of a link is its mechanism. A group box
stands for its members, and Miradi also writes the links of the members: these are imported, the link of the box is not.
Goals, objectives, key ecological attributes, outputs and activities usually have no links: they are added to the
description of their factor, or of the first of several. Indicators are imported with methods, future status and
measurements, those of a key ecological attribute on its target. Diagrams become named views of their factors. In some
schemas, such as version 239, assumptions and analytical questions name their diagram factors: they become assumptions
on the first imported one. Items of all other pools are counted and skipped.

Each item is written once, however often the file refers to it, so the output is not much longer than the input.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from groundplan.purpose.exchange.readers.document_builder import DocumentBuilder, ReadDocument
from groundplan.purpose.exchange.readers.miradi_indicators import MiradiIndicators
from groundplan.purpose.exchange.readers.miradi_project import NO_REFERENCE, MiradiItem, MiradiProject, to_words
from groundplan.purpose.exchange.readers.miradi_views import read_views
from groundplan.purpose.exchange.readers.safe_xml import read_xml
from groundplan.purpose.exchange.readers.safe_zip import read_member
from groundplan.purpose.exchange.views import VIEWS
from groundplan.purpose.model import Confidence, EdgeType, NodeType

MEMBER = "project.xml"

# HumanWelfareTarget is the older name of HumanWellbeingTarget.
_NODE_TYPES = {
    "BiodiversityTarget": NodeType.GOAL,
    "HumanWellbeingTarget": NodeType.GOAL,
    "HumanWelfareTarget": NodeType.GOAL,
    "ThreatReductionResult": NodeType.OUTCOME,
    "BiophysicalResult": NodeType.OUTCOME,
    "BiophysicalFactor": NodeType.OUTCOME,
    "Cause": NodeType.OUTCOME,
    "IntermediateResult": NodeType.OUTPUT,
    "Strategy": NodeType.ACTIVITY,
    "Activity": NodeType.ACTIVITY,
}

# Kinds that belong to factors without links: their label, and the lists of a factor that name them.
_DESCRIBED_KINDS = {
    "Goal": ("Goal", ("GoalIds",)),
    "Objective": ("Objective", ("ObjectiveIds",)),
    "KeyEcologicalAttribute": ("Key ecological attribute", ("KeyEcologicalAttributeIds",)),
    "Output": ("Output", ("OutputIds",)),
    "Activity": ("Activity", ("OrderedActivityIds", "SortedActivityIds")),
}

# Kinds of assumptions with their labels, and the lists that name their factors.
_ASSUMPTION_KINDS = {
    "Assumption": "assumption",
    "SubAssumption": "assumption",
    "AnalyticalQuestion": "analytical question",
}
_SUBJECT_LISTS = ("RelevantDiagramFactorIds", "DiagramFactorIds")

_SKIPPED_KINDS = {
    "GroupBox": ("group box", "it groups factors and is not a factor itself"),
    "TextBox": ("text box", "it is a note on a diagram, not a factor"),
    "ScopeBox": ("scope box", "it is a frame around targets, not a factor"),
    "Stress": ("stress", "it describes damage to a target and has no links"),
}

# A file may have pools of any name, and each named kind adds a line to the report.
KINDS_NAMED_MAX = 60
_UNKNOWN_KIND = "item of an unknown kind"


def read_xmpz2(raw: bytes) -> ReadDocument:
    """Read the theory of a Miradi project."""
    return _MiradiReader(MiradiProject(read_xml(read_member(raw, MEMBER)))).read()


class _Factor:
    """A factor that becomes a node."""

    def __init__(self, kind: str, item: MiradiItem) -> None:
        self.kind = kind
        self.item = item
        self.ref = _make_ref(kind, item.id)


class _MiradiReader:
    """Builds a theory from a project."""

    def __init__(self, project: MiradiProject) -> None:
        self._project = project
        self._builder = DocumentBuilder()
        self._placed = {
            one.id: one.get_reference("WrappedFactorId") for one in project.get_pool("DiagramFactor").values()
        }
        self._views = read_views(project, self._placed, self._builder)

    def read(self) -> ReadDocument:
        links = self._group_links()
        factors = list(self._iter_factors({end for pair in links for end in pair}))
        self._gather_nodes(factors)
        linked = self._gather_edges(links)
        for factor in factors:
            if factor.ref not in linked:
                self._builder.skip("factor without a link", "imported anyway", factor.item.label)
        self._gather_indicators(factors)
        self._gather_assumptions({factor.ref for factor in factors})
        for kind, (what, why) in _SKIPPED_KINDS.items():
            for thing in self._get_pool(kind).values():
                self._builder.skip(what, why, thing.label)
        self._count_unread()
        return self._builder.build()

    def _get_pool(self, kind: str) -> dict[str, MiradiItem]:
        """Return the items of a kind. Older schemas store activities as tasks."""
        return self._project.get_pool(kind) or (self._project.get_pool("Task") if kind == "Activity" else {})

    def _iter_factors(self, linked: set[str]) -> Iterator[_Factor]:
        for kind in _NODE_TYPES:
            for thing in self._get_pool(kind).values():
                if kind != "Activity" or _make_ref(kind, thing.id) in linked:
                    yield _Factor(kind, thing)

    def _gather_nodes(self, factors: list[_Factor]) -> None:
        described_refs = {factor.ref for factor in factors}  # nodes are not described again
        for factor in factors:
            described = "\n\n".join(
                filter(None, [factor.item.get_text("Details"), *self._describe_details(factor, described_refs)])
            )
            self._builder.add_node(
                factor.ref,
                _NODE_TYPES[factor.kind],
                factor.item.name,
                description=described,
                metadata=self._build_metadata(factor),
            )
            if factor.kind == "Cause":
                self._builder.skip(
                    "threat or contributing factor",
                    "imported as an outcome; its wording describes a problem, not a change",
                    factor.item.label,
                )
        for kind, (called, _) in _DESCRIBED_KINDS.items():
            for thing in self._get_pool(kind).values():
                if _make_ref(kind, thing.id) not in described_refs:
                    self._builder.skip(called.lower(), "no imported item lists it", thing.label)

    def _describe_details(self, factor: _Factor, described_refs: set[str]) -> Iterator[str]:
        """Yield descriptions of the items that belong to a factor and were not described before."""
        for kind, (called, lists) in _DESCRIBED_KINDS.items():
            for identifier in factor.item.get_ids(*lists):
                thing = self._get_pool(kind).get(identifier)
                ref = _make_ref(kind, identifier)
                if thing is None or ref in described_refs:
                    continue
                described_refs.add(ref)
                self._builder.skip(called.lower(), "added to the description of its factor", thing.label)
                yield f"{called}: {thing.name or thing.label}\n{thing.get_text('Details')}".rstrip()

    def _build_metadata(self, factor: _Factor) -> dict[str, Any]:
        kind = factor.kind
        if kind == "Cause":
            kind = "DirectThreat" if factor.item.is_true("IsDirectThreat") else "ContributingFactor"
        metadata: dict[str, Any] = {"miradi_id": factor.item.id, "miradi_type": kind}
        views = self._views.get((factor.kind, factor.item.id))
        if views:
            metadata[VIEWS] = views
        identifier = self._builder.clean_word(factor.item.get_text("Identifier"), "identifier", factor.ref)
        return metadata if identifier is None else metadata | {"miradi_identifier": identifier}

    def _group_links(self) -> dict[tuple[str, str], list[MiradiItem]]:
        """Return the links of all diagrams by source and target."""
        found: dict[tuple[str, str], list[MiradiItem]] = {}
        for link in self._get_pool("DiagramLink").values():
            source, target = (self._get_end(link, field) for field in ("FromDiagramFactorId", "ToDiagramFactorId"))
            why = self._explain_unlinkable(link, {source[0], target[0]})
            if why is None:
                found.setdefault((_make_ref(*source), _make_ref(*target)), []).append(link)
            else:
                self._builder.skip("link", why, f"{self._get_label(*source)} -> {self._get_label(*target)}")
        return found

    def _get_end(self, link: MiradiItem, field: str) -> tuple[str, str]:
        """Return the kind and Id of the factor at an end of a link."""
        return self._placed.get(link.get_reference(field)[1], NO_REFERENCE)

    def _explain_unlinkable(self, link: MiradiItem, kinds: set[str]) -> str | None:
        if "" in kinds:
            return "its source or target is not in the file"
        if "GroupBox" in kinds:
            is_of_members = any(one in self._get_pool("DiagramLink") for one in link.get_ids("GroupedDiagramLinkIds"))
            return (
                f"it connects a group box, whose members {'have their own links' if is_of_members else 'have no links'}"
            )
        return None if kinds <= _NODE_TYPES.keys() else "its source or target is not a factor"

    def _get_label(self, kind: str, identifier: str) -> str:
        is_known = any(kind in known for known in (_NODE_TYPES, _SKIPPED_KINDS, _ASSUMPTION_KINDS))
        thing = self._get_pool(kind).get(identifier) if is_known else None
        return "?" if thing is None else thing.label

    def _gather_edges(self, links: dict[tuple[str, str], list[MiradiItem]]) -> set[str]:
        """Add the edges; return the nodes that they connect."""
        linked: set[str] = set()
        for (source, target), drawn in links.items():
            annotations = dict.fromkeys(filter(None, (one.get_text("Annotation") for one in drawn)))
            confidence = Confidence.LOW if any(one.is_true("IsUncertainLink") for one in drawn) else None
            if not self._builder.add_edge(source, target, mechanism="\n".join(annotations), confidence=confidence):
                continue
            linked |= {source, target}
            if any(one.is_true("IsBidirectionalLink") for one in drawn):
                self._builder.add_edge(target, source, EdgeType.FEEDBACK)
        return linked

    def _gather_indicators(self, factors: list[_Factor]) -> None:
        indicators = MiradiIndicators(self._project, self._builder)
        waiting = dict(self._get_pool("Indicator"))
        attributes = dict(self._get_pool("KeyEcologicalAttribute"))
        for factor in factors:
            owners = [factor.item]
            owners += filter(
                None, (attributes.pop(one, None) for one in factor.item.get_ids("KeyEcologicalAttributeIds"))
            )
            for identifier in (one for owner in owners for one in owner.get_ids("IndicatorIds")):
                thing = waiting.pop(identifier, None)
                if thing is None:
                    self._builder.skip(
                        "indicator", "it is not in the file, or belongs to another factor", factor.item.label
                    )
                else:
                    indicators.add(_make_ref("Indicator", identifier), factor.ref, thing)
        for thing in waiting.values():
            self._builder.skip("indicator", "its factor was not imported", thing.label)
        indicators.skip_others()

    def _gather_assumptions(self, node_refs: set[str]) -> None:
        for kind, what in _ASSUMPTION_KINDS.items():
            for thing in self._get_pool(kind).values():
                about = thing.get_ids(*_SUBJECT_LISTS)
                if not about:
                    self._builder.skip(what, "it names no factor or link", thing.label)
                    continue
                refs = dict.fromkeys(_make_ref(*self._placed.get(one, NO_REFERENCE)) for one in about)
                nodes = [ref for ref in refs if ref in node_refs]
                if not nodes:
                    self._builder.skip(what, "its node or edge was not imported", thing.label)
                    continue
                if len(nodes) > 1:
                    self._builder.skip(what, "it is about several factors; kept at the first one", thing.label)
                text = "\n".join(filter(None, (thing.name, thing.get_text("Details"))))
                self._builder.add_assumption(_make_ref(kind, thing.id), text, node=nodes[0])

    def _count_unread(self) -> None:
        kinds: dict[str, str] = {}
        for kind, shown in self._project.list_unread():
            if kind not in kinds and len(kinds) < KINDS_NAMED_MAX:
                kinds[kind] = to_words(kind) or _UNKNOWN_KIND
            self._builder.skip(kinds.get(kind, _UNKNOWN_KIND), "a theory cannot store it", shown)


def _make_ref(kind: str, identifier: str) -> str:
    return f"{kind}-{identifier}"
