"""Read a theory from a Miradi project (XMPZ2): factors are nodes, and links are edges.

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

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

from groundplan.kernel.wording import quote_text
from groundplan.purpose.dates import is_day
from groundplan.purpose.exchange.document import ITEMS_MAX
from groundplan.purpose.exchange.readers.builder import DocumentBuilder, ReadDocument, UnreadableFile, too_many
from groundplan.purpose.exchange.readers.untrusted import Element, read_member, read_xml
from groundplan.purpose.exchange.theory import VIEWS
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


ID_CHARS_MAX = 64  # they are numbers
LABEL_CHARS_MAX = 100
KIND_CHARS_MAX = 80
NO_REFERENCE = ("", "")
POOL_MAX = 10 * ITEMS_MAX  # a factor may be on any number of diagrams, and its links with it

_BLOCK_TAGS = frozenset({"br", "div", "ul", "ol", "li"})
_BULLET = "\n- "
_SPACE = re.compile(r"\s+")
_WORD = re.compile("[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


class MiradiItem:
    """An item of a pool."""

    def __init__(self, element: Element) -> None:
        self.kind = element.tag
        self.id = element.attributes.get("Id", "").strip()
        if not 0 < len(self.id) <= ID_CHARS_MAX:
            raise UnreadableFile(f"it has a {quote_text(self.kind)} whose Id is {quote_text(self.id)}")
        self._fields: dict[str, Element] = {}
        for child in element.children:
            self._fields.setdefault(child.tag.removeprefix(self.kind), child)

    @cached_property
    def name(self) -> str:
        """The name, or an empty text."""
        return " ".join(self.get_text("Name").split())

    @property
    def label(self) -> str:
        """A short label for messages."""
        return self.name[:LABEL_CHARS_MAX] or f"{self.kind} {self.id}"

    def get_text(self, field: str) -> str:
        """Return a formatted text as plain text with the same line breaks."""
        element = self._fields.get(field)
        return "" if element is None else extract_text(element)

    def is_true(self, field: str) -> bool:
        return self.get_text(field) in ("1", "true")

    def get_ids(self, *fields: str) -> list[str]:
        """Return the Ids in the first list that exists under one of these names."""
        lists = (self._fields[field].children for field in fields if field in self._fields)
        return [item.text.strip() for item in next(lists, [])]

    def get_reference(self, field: str) -> tuple[str, str]:
        """Return the kind and the Id of a reference, or NO_REFERENCE."""
        element = self._fields.get(field)
        while element is not None and element.children:
            element = element.children[0]
        identifier = "" if element is None else element.text.strip()
        if element is None or not 0 < len(identifier) <= ID_CHARS_MAX:
            return NO_REFERENCE
        return element.tag.removesuffix("Id"), identifier


class MiradiProject:
    """A project as XML: pools of items. Each item has an Id, and the names of its fields begin with its kind.

        ConservationProject
          StrategyPool/Strategy Id="12"           StrategyName, StrategyDetails, StrategyIndicatorIds/IndicatorId …
          DiagramFactorPool/DiagramFactor Id="40" DiagramFactorWrappedFactorId/WrappedByDiagramFactorId/StrategyId  12
          DiagramLinkPool/DiagramLink Id="50"     DiagramLinkFromDiagramFactorId/LinkableFactorId/StrategyId        40
                                                  DiagramLinkToDiagramFactorId/LinkableFactorId/CauseId             41

    Diagram factors place a factor on diagrams, and links connect diagram factors: the innermost element of a link's
    end is named after the factor and holds the Id of the diagram factor. Texts are formatted with HTML elements:
    `div`, `br`, `b`, `i`, `u`, `strike`, `a`, `ul`, `ol`, `li`. Names are the same from the first versions of the
    schema to version 248, except for a few, which are looked up by each of their names.
    """

    def __init__(self, root: Element) -> None:
        if root.tag != "ConservationProject":
            raise UnreadableFile(f"it is not a Miradi project: its XML begins with {quote_text(root.tag)}")
        self._elements: dict[str, list[Element]] = {}
        for pool in root.children:
            kind = pool.tag.removesuffix("Pool")
            if kind != pool.tag:
                self._elements.setdefault(kind, []).extend(pool.children)
        self._pools: dict[str, dict[str, MiradiItem]] = {}

    def get_pool(self, kind: str) -> dict[str, MiradiItem]:
        """Return all items of a kind by Id."""
        if kind not in self._pools:
            items: dict[str, MiradiItem] = {}
            for item in self._iter_items(kind):
                if item.id in items:
                    raise UnreadableFile(f"two of its {quote_text(kind)} have the Id {quote_text(item.id)}")
                items[item.id] = item
                if len(items) > POOL_MAX:
                    raise too_many(f"items of the kind {quote_text(kind)}", POOL_MAX)
            self._pools[kind] = items
        return self._pools[kind]

    def list_unread(self) -> Iterator[tuple[str, str]]:
        """Yield kind and label of each item in pools that were not read."""
        for kind, elements in self._elements.items():
            if kind not in self._pools:
                yield from ((kind, _label_element(element)) for element in elements)

    def _iter_items(self, kind: str) -> Iterator[MiradiItem]:
        yield from (MiradiItem(element) for element in self._elements.get(kind, ()) if element.tag == kind)


def to_words(kind: str) -> str | None:
    """Return a kind in words: `sub target`, `IUCN red list species`. None if the name is not valid."""
    if len(kind) > KIND_CHARS_MAX or not kind.isascii() or not kind.isalpha():
        return None
    return " ".join(word if word.isupper() and len(word) > 1 else word.lower() for word in _WORD.findall(kind))


def extract_text(formatted: Element) -> str:
    """Return the text of an element and its descendants. As in HTML, only elements break lines."""
    parts: list[str] = []
    waiting: list[str | Element] = [formatted]
    while waiting:
        piece = waiting.pop()
        if isinstance(piece, str):
            parts.append(piece)
            continue
        if piece.tag in _BLOCK_TAGS:
            parts.append(_BULLET if piece.tag == "li" else "\n")
            waiting.append("\n")
        waiting.extend(_SPACE.sub(" ", part) if isinstance(part, str) else part for part in reversed(piece.pieces))
    lines = (" ".join(line.split()) for line in "".join(parts).split("\n"))
    return "\n".join(line for line in lines if line)


def _label_element(element: Element) -> str:
    """Return a label for an element, which may have no Id."""
    names = (extract_text(child) for child in element.children if child.tag == f"{element.tag}Name")
    name = " ".join(next(names, "").split()) or f"{element.tag} {element.attributes.get('Id', '')}".rstrip()
    return name[:LABEL_CHARS_MAX]


def read_miradi(raw: bytes) -> ReadDocument:
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
            drawn.id: drawn.get_reference("WrappedFactorId") for drawn in project.get_pool("DiagramFactor").values()
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
        for kind, (called, why) in _SKIPPED_KINDS.items():
            for item in self._get_pool(kind).values():
                self._builder.skip(called, why, item.label)
        self._count_unread()
        return self._builder.build()

    def _get_pool(self, kind: str) -> dict[str, MiradiItem]:
        """Return the items of a kind. Older schemas store activities as tasks."""
        return self._project.get_pool(kind) or (self._project.get_pool("Task") if kind == "Activity" else {})

    def _iter_factors(self, linked: set[str]) -> Iterator[_Factor]:
        for kind in _NODE_TYPES:
            for item in self._get_pool(kind).values():
                if kind != "Activity" or _make_ref(kind, item.id) in linked:
                    yield _Factor(kind, item)

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
            for item in self._get_pool(kind).values():
                if _make_ref(kind, item.id) not in described_refs:
                    self._builder.skip(called.lower(), "no imported item lists it", item.label)

    def _describe_details(self, factor: _Factor, described_refs: set[str]) -> Iterator[str]:
        """Yield descriptions of the items of a factor that were not described before."""
        for kind, (called, lists) in _DESCRIBED_KINDS.items():
            for identifier in factor.item.get_ids(*lists):
                item = self._get_pool(kind).get(identifier)
                ref = _make_ref(kind, identifier)
                if item is None or ref in described_refs:
                    continue
                described_refs.add(ref)
                self._builder.skip(called.lower(), "added to the description of its factor", item.label)
                yield f"{called}: {item.name or item.label}\n{item.get_text('Details')}".rstrip()

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
        links: dict[tuple[str, str], list[MiradiItem]] = {}
        for link in self._get_pool("DiagramLink").values():
            source, target = (self._get_end(link, field) for field in ("FromDiagramFactorId", "ToDiagramFactorId"))
            why = self._explain_unlinkable(link, {source[0], target[0]})
            if why is None:
                links.setdefault((_make_ref(*source), _make_ref(*target)), []).append(link)
            else:
                self._builder.skip("link", why, f"{self._get_label(*source)} -> {self._get_label(*target)}")
        return links

    def _get_end(self, link: MiradiItem, field: str) -> tuple[str, str]:
        """Return the kind and Id of the factor at one end of a link."""
        return self._placed.get(link.get_reference(field)[1], NO_REFERENCE)

    def _explain_unlinkable(self, link: MiradiItem, kinds: set[str]) -> str | None:
        if "" in kinds:
            return "its source or target is not in the file"
        if "GroupBox" in kinds:
            is_of_members = any(
                member in self._get_pool("DiagramLink") for member in link.get_ids("GroupedDiagramLinkIds")
            )
            return (
                f"it connects a group box, whose members {'have their own links' if is_of_members else 'have no links'}"
            )
        return None if kinds <= _NODE_TYPES.keys() else "its source or target is not a factor"

    def _get_label(self, kind: str, identifier: str) -> str:
        is_known = any(kind in known for known in (_NODE_TYPES, _SKIPPED_KINDS, _ASSUMPTION_KINDS))
        item = self._get_pool(kind).get(identifier) if is_known else None
        return "?" if item is None else item.label

    def _gather_edges(self, links: dict[tuple[str, str], list[MiradiItem]]) -> set[str]:
        """Add the edges; return the nodes that they connect."""
        linked: set[str] = set()
        for (source, target), drawn in links.items():
            annotations = dict.fromkeys(filter(None, (arrow.get_text("Annotation") for arrow in drawn)))
            confidence = Confidence.LOW if any(arrow.is_true("IsUncertainLink") for arrow in drawn) else None
            if not self._builder.add_edge(source, target, mechanism="\n".join(annotations), confidence=confidence):
                continue
            linked |= {source, target}
            if any(arrow.is_true("IsBidirectionalLink") for arrow in drawn):
                self._builder.add_edge(target, source, EdgeType.FEEDBACK)
        return linked

    def _gather_indicators(self, factors: list[_Factor]) -> None:
        indicators = MiradiIndicators(self._project, self._builder)
        waiting = dict(self._get_pool("Indicator"))
        attributes = dict(self._get_pool("KeyEcologicalAttribute"))
        for factor in factors:
            owners = [factor.item]
            owners += filter(
                None,
                (attributes.pop(attribute, None) for attribute in factor.item.get_ids("KeyEcologicalAttributeIds")),
            )
            for identifier in (id_ for owner in owners for id_ in owner.get_ids("IndicatorIds")):
                item = waiting.pop(identifier, None)
                if item is None:
                    self._builder.skip(
                        "indicator", "it is not in the file, or belongs to another factor", factor.item.label
                    )
                else:
                    indicators.add(_make_ref("Indicator", identifier), factor.ref, item)
        for item in waiting.values():
            self._builder.skip("indicator", "its factor was not imported", item.label)
        indicators.skip_others()

    def _gather_assumptions(self, node_refs: set[str]) -> None:
        for kind, called in _ASSUMPTION_KINDS.items():
            for item in self._get_pool(kind).values():
                about = item.get_ids(*_SUBJECT_LISTS)
                if not about:
                    self._builder.skip(called, "it names no factor or link", item.label)
                    continue
                refs = dict.fromkeys(_make_ref(*self._placed.get(subject, NO_REFERENCE)) for subject in about)
                nodes = [ref for ref in refs if ref in node_refs]
                if not nodes:
                    self._builder.skip(called, "its node or edge was not imported", item.label)
                    continue
                if len(nodes) > 1:
                    self._builder.skip(called, "it is about several factors; kept at the first one", item.label)
                text = "\n".join(filter(None, (item.name, item.get_text("Details"))))
                self._builder.add_assumption(_make_ref(kind, item.id), text, node=nodes[0])

    def _count_unread(self) -> None:
        kinds: dict[str, str] = {}
        for kind, shown in self._project.list_unread():
            if kind not in kinds and len(kinds) < KINDS_NAMED_MAX:
                kinds[kind] = to_words(kind) or _UNKNOWN_KIND
            self._builder.skip(kinds.get(kind, _UNKNOWN_KIND), "a theory cannot store it", shown)


def _make_ref(kind: str, identifier: str) -> str:
    return f"{kind}-{identifier}"


_DIAGRAM_KINDS = ("ConceptualModel", "ResultsChain")
VIEWS_PER_NODE_MAX = 40  # their names must fit into the metadata of the node


def read_views(
    project: MiradiProject, placed: dict[str, tuple[str, str]], builder: DocumentBuilder
) -> dict[tuple[str, str], list[str]]:
    """Return the names of the views of each factor, by kind and Id. `placed` maps diagram factors to factors.

    Two diagrams with one name get numbers, because a view is called by its name.
    """
    views_of: dict[tuple[str, str], list[str]] = {}
    used: set[str] = set()
    for kind in _DIAGRAM_KINDS:
        for diagram in project.get_pool(kind).values():
            plain = (
                builder.clean_word(diagram.name, "name of a diagram", diagram.label) or f"{to_words(kind)} {diagram.id}"
            )
            name, number = plain, 1
            while name in used:
                number += 1
                name = f"{plain} ({number})"
            used.add(name)
            factors = dict.fromkeys(placed[id_] for id_ in diagram.get_ids("DiagramFactorIds") if id_ in placed)
            for factor in factors:
                views = views_of.setdefault(factor, [])
                if len(views) < VIEWS_PER_NODE_MAX:
                    views.append(name)
                else:
                    builder.skip("view of a factor", f"it is on more than {VIEWS_PER_NODE_MAX} diagrams", name)
    return views_of


# One number: digits with points or groups of three, a sign, and after it no other digit.
_NUMBER = re.compile(r"[^\d.+-]{0,3}([+-]?\d{1,3}(?:[, ]\d{3})+(?:\.\d+)?|[+-]?\d{1,15}(?:\.\d{1,15})?)([^\d]{0,40})\Z")
_DAY_CHARS = len("2026-11-15")


class FutureStatus(NamedTuple):
    """A future status of an indicator: its day, and its value as text."""

    day: str
    text: str


class MiradiIndicators:
    """A reader of indicators with their unit, methods, target (from the future status) and measurements.

        Indicator    IndicatorMethodIds/MethodId …  IndicatorFutureStatusIds/FutureStatusId …  IndicatorMeasurementIds/…
        Method       MethodName, MethodDetails
        FutureStatus FutureStatusDate, FutureStatusSummary        in older schemas fields of the indicator itself
        Measurement  MeasurementDate, MeasurementMeasurementValue, in older schemas MeasurementSummary

    Miradi keeps values as text. A text that is one number, with or without a unit, is a value here; the date of a
    future status, and one that is not a number, are added to the method, so that nothing is lost.
    """

    def __init__(self, project: MiradiProject, builder: DocumentBuilder) -> None:
        self._builder = builder
        self._methods = project.get_pool("Method")
        self._statuses = project.get_pool("FutureStatus")
        self._measurements = dict(project.get_pool("Measurement"))

    def add(self, ref: str, node: str, indicator: MiradiItem) -> None:
        """Add an indicator on a node, and its measurements."""
        status = self._find_future_status(indicator)
        target = None if status is None else parse_number(status.text)
        lines = [self._describe_method(id_) for id_ in indicator.get_ids("MethodIds") if id_ in self._methods]
        if status is not None and (status.day or target is None):
            lines.append(f"Future status{f' by {status.day}' if status.day else ''}: {status.text}")
        self._builder.add_indicator(
            ref, node, indicator.name, unit=indicator.get_text("Unit"), target=target, method="\n".join(lines)
        )
        for identifier in indicator.get_ids("MeasurementIds"):
            measurement = self._measurements.pop(identifier, None)
            if measurement is not None:
                self._add_measurement(ref, indicator, measurement)

    def skip_others(self) -> None:
        """Report the measurements whose indicator was not imported."""
        for measurement in self._measurements.values():
            self._builder.skip("measurement", "its indicator was not imported", measurement.label)

    def _find_future_status(self, indicator: MiradiItem) -> FutureStatus | None:
        """Return the latest future status of an indicator that has a text."""
        items = [self._statuses[id_] for id_ in indicator.get_ids("FutureStatusIds") if id_ in self._statuses]
        statuses = [FutureStatus(_get_day(item, "Date"), item.get_text("Summary")) for item in items]
        statuses.append(
            FutureStatus(_get_day(indicator, "FutureStatusDate"), indicator.get_text("FutureStatusSummary"))
        )
        return max((status for status in statuses if status.text), default=None)

    def _describe_method(self, identifier: str) -> str:
        method = self._methods[identifier]
        return ": ".join(filter(None, (method.name, method.get_text("Details"))))

    def _add_measurement(self, ref: str, indicator: MiradiItem, measurement: MiradiItem) -> None:
        text = measurement.get_text("MeasurementValue") or measurement.get_text("Summary")
        value, day = parse_number(text), _get_day(measurement, "Date")
        if value is None:
            why = "its value is not a number" if text else "it has no value"
            self._builder.skip("measurement", why, f"{indicator.label}: {text}")
        elif not day:
            self._builder.skip("measurement", "it has no date", f"{indicator.label}: {text}")
        else:
            note = measurement.get_text("Details") or measurement.get_text("Detail") or measurement.get_text("Comments")
            self._builder.add_measurement(ref, value, day, note=note)


def parse_number(text: str) -> float | None:
    """Return the number in a text such as `45`, `45 %` or `1,200 boats`; None if it has none or several."""
    match = _NUMBER.match(text.strip())
    return None if match is None else float(re.sub("[, ]", "", match[1]))


def _get_day(item: MiradiItem, field: str) -> str:
    day = item.get_text(field)[:_DAY_CHARS]
    return day if is_day(day) else ""
