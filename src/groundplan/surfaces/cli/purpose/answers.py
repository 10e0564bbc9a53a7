"""Views of the purpose operations: versions, their content, observations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from groundplan.purpose.model import EdgeType
from groundplan.purpose.observing.read import ObservationsPage
from groundplan.purpose.open import IndicatorView, OpenedPurpose, PurposeItems, name_edge
from groundplan.purpose.versions.publish import Published
from groundplan.purpose.versions.versions import Version
from groundplan.surfaces.cli.drawing import (
    FOOTER,
    GAP,
    Fields,
    ForEach,
    Lines,
    Part,
    Rows,
    TypeSwitch,
    View,
    When,
)
from groundplan.surfaces.cli.purpose.checks import CHECK, REFUTED_TITLE, format_finding, format_verdict
from groundplan.surfaces.cli.purpose.formatting import (
    ARROW,
    format_refs,
    humanize,
    join_names,
    list_named_keys,
    pluralize,
)
from groundplan.surfaces.cli.purpose.tree import format_assumption_line, format_tree
from groundplan.surfaces.cli.terminal import EMPTY_CELL, INDENT, format_time, format_title, format_value, to_one_line

COUNTED = ("goal", "outcome", "output", "activity", "edge", "assumption", "indicator")


# --- One version ------------------------------------------------------------------------------------------------------


def summarize_theory(answer: OpenedPurpose) -> list[str]:
    """Return a theory in three lines of at most 80 characters."""
    if not answer.versions:
        return ["none yet"]
    last = answer.versions[-1]
    published = last.number - (last.status == "DRAFT")
    states = (
        f"{pluralize(published, 'version')} published",
        *(["a draft in progress"] if last.status == "DRAFT" else []),
    )
    counts = _format_counts(answer)
    return [
        f"{' and '.join(states)}; health: {answer.health.overall or EMPTY_CELL}",
        f"{', '.join(counts[:4])},",
        ", ".join(counts[4:]),
    ]


def _format_counts(answer: OpenedPurpose) -> list[str]:
    """Return the number of nodes of each type, edges, assumptions and indicators."""
    return [pluralize(count, noun) for count, noun in zip(msgspec.structs.astuple(answer.counts), COUNTED, strict=True)]


def _format_version(version: Version) -> str:
    if version.status == "DRAFT":
        source = f", from v{version.source}" if version.source else ""
        return f"v{version.number}, draft{source} ({version.profile})"
    name = f"v{version.number}" if version.label == f"v{version.number}" else f"v{version.number} {version.label}"
    at = format_time(version.published_at) if version.published_at else EMPTY_CELL
    return f"{to_one_line(name)}, published {at} by {format_value(version.published_by)} ({version.profile})"


def _format_other_versions(answer: OpenedPurpose) -> str:
    number = answer.version.number if answer.version else None
    return "; ".join(_format_version(one) for one in answer.versions if one.number != number)


def _format_health(answer: OpenedPurpose) -> str:
    overall, bands = answer.health.overall, answer.health.bands
    if overall is None:
        return "no data"
    worse = [f"{humanize(name)} {band}" for name, band in bands.items() if band != "green"]
    return f"{overall}: {', '.join(worse)}" if worse else overall


def _is_empty_draft(answer: OpenedPurpose) -> bool:
    is_draft = answer.version is not None and answer.version.status == "DRAFT"
    return is_draft and not (answer.nodes or answer.next_cursor or any(msgspec.structs.astuple(answer.counts)))


def _format_feedback(answer: OpenedPurpose) -> Iterator[Part]:
    for edge in answer.edges or ():
        if edge.edge_type is EdgeType.FEEDBACK:
            yield format_title(f"{edge.source}{ARROW}{edge.target}", edge.mechanism or "")
            yield from _format_assumptions(edge)


def _format_assumptions(on: Any) -> Iterator[Part]:
    yield from (format_assumption_line(one, depth=0) for one in on.assumptions or ())


def _format_edges(answer: PurposeItems) -> Iterator[Part]:
    for edge in answer.edges:
        words = (edge.confidence and f"{edge.confidence} confidence", edge.mechanism)
        yield format_title(str(name_edge(edge)), ", ".join(filter(None, words)))
        yield from _format_assumptions(edge)


def _format_baseline(one: IndicatorView) -> str:
    return format_value(one.baseline) + (" (unverified)" if one.baseline_verified is False else "")


def _format_latest(one: IndicatorView) -> str | None:
    return f"{format_value(one.latest.value)} ({one.latest.as_of[:10]})" if one.latest else None


def _format_waiver(one: Any) -> str:
    return f"{one.code} for {format_refs(one.refs)}, {one.owner} until {one.due}: {to_one_line(one.reason)}"


def _format_left_out(answer: OpenedPurpose) -> str:
    left = answer.left_out or {}
    parts = ("nodes", "edges", "indicators")
    return f"Not shown: {', '.join(f'{left[part]} {part}' for part in parts if left.get(part))}."


# --- Versions and observations ----------------------------------------------------------------------------------------


def _list_gates(answer: Published) -> Iterator[tuple[str, str]]:
    for one in answer.gates:
        yield f"gate {one.gate}", format_verdict(one)


def _list_findings(answer: Published) -> list[str]:
    return [format_finding(one) for gate in answer.gates for one in gate.checks if one.result in ("failed", "waived")]


# --- Views ------------------------------------------------------------------------------------------------------------

INDICATORS = Rows(
    "indicators",
    "key, of: node, name",
    ("baseline", _format_baseline),
    ("latest", _format_latest),
    "target, unit",
    title="Indicators:",
)
THEORY = (
    Fields(
        "project",
        ("version", lambda answer: _format_version(answer.version)),
        ("other versions", _format_other_versions),
        "rev",
        ("health", _format_health),
        ("contents", _format_counts),
    ),
    GAP,
    format_tree,
    When(_is_empty_draft, GAP, "The draft is empty. Next: groundplan purpose edit @FILE --project {project}"),
    Lines(_format_feedback, title="Feedback:"),
    INDICATORS,
    # Last, where they are seen.
    Lines("waivers", _format_waiver, title="Waived:"),
    When("next_cursor", GAP, _format_left_out, "Next page: add --cursor {next_cursor}"),
)
ITEMS = (
    Fields("project", ("version", lambda answer: _format_version(answer.version)), "rev"),
    ForEach(
        "nodes",
        lambda node: [format_title(node.key, node.title)],
        Fields("type: node_type, owner, description, narrative, metadata", indent=INDENT),
        _format_assumptions,
    ),
    Lines(_format_edges, title="Edges:"),
    INDICATORS,
    Lines("waivers", _format_waiver, title="Waived:"),
)
OBSERVATIONS = (
    Rows("measurements", "indicator, value, as of: as_of, source, note, by", title="Measurements:"),
    Rows(
        "reviews",
        "assumption",
        ("status", lambda one: humanize(one.status)),
        "reason, evidence, at, by",
        title="Reviews:",
    ),
    Rows(
        "waivers",
        "check: code",
        ("for", lambda one: format_refs(one.refs)),
        "reason, owner, until: due, at, by",
        title="Waivers:",
    ),
    Rows(
        "decisions",
        "id, decision: text, why: rationale",
        ("about", lambda one: join_names(one.about)),
        "outcome, supersedes, superseded by: superseded_by, answers, at, by",
        title="Decisions:",
    ),
    Rows(
        "requests",
        "id, question",
        ("about", lambda one: join_names(one.about)),
        "to, answered by: answered_by, at, by",
        title="Requests:",
    ),
    When(
        lambda answer: answer.measurements or answer.reviews or answer.waivers or answer.decisions or answer.requests,
        otherwise=("No observations here. Next: groundplan purpose measure INDICATOR VALUE --project {project}",),
    ),
)
NO_THEORY = "No theory of change here. Next: groundplan purpose draft --project {project}"
OPENED = View(
    TypeSwitch(
        {
            OpenedPurpose: (When("version", *THEORY, otherwise=(NO_THEORY,)),),
            ObservationsPage: (*OBSERVATIONS, *FOOTER),  # of a request with the detail `observations`
            PurposeItems: ITEMS,
        }
    ),
    footer=(),
)
VERSION = ("version", lambda answer: _format_version(answer.version))

RENDERERS = {
    "purpose.open": OPENED,
    "purpose.observations": View(*OBSERVATIONS),
    "purpose.items": View(*ITEMS),
    "purpose.edit": View(
        Rows("created", "created: kind, ref, key"),
        GAP,
        lambda answer: (
            f"{pluralize(answer.applied, 'operation')} applied. The draft of v{answer.version} is at rev {answer.rev}."
        ),
    ),
    "purpose.draft": View(Fields(VERSION, "rev"), GAP, "Next: groundplan purpose edit @FILE --project PROJECT"),
    "purpose.publish": View(
        Fields(
            VERSION,
            "hash: version.content_hash",
            ("facts", lambda answer: f"run {run}" if (run := answer.version.context_run) else "none committed"),
            _list_gates,
        ),
        Lines(_list_findings, title="Warnings:"),
    ),
    "purpose.discard": View("Discarded the draft of v{discarded}."),
    "purpose.versions": View(
        Rows(
            "versions",
            "number, status, label",
            ("from", lambda one: f"v{one.source}" if one.source else None),
            "profile, published_at, by: published_by",
            empty="No versions here. Next: groundplan purpose draft --project PROJECT",
        )
    ),
    "purpose.diff": View(
        Lines(
            lambda answer: answer.markdown or "The comparison is too large to show. To see its beginning, use --json."
        )
    ),
    "purpose.check": CHECK,
    "purpose.health": CHECK,
    "purpose.analysis": CHECK,
    "purpose.compliance": CHECK,
    "purpose.record": View(
        lambda answer: f"Recorded {pluralize(answer.recorded, 'observation')}.",
        Fields(
            ("decisions", lambda answer: ", ".join(answer.decisions or ()) or None),
            ("requests", lambda answer: ", ".join(answer.requests or ()) or None),
        ),
        ForEach("affected", Lines(lambda one: list_named_keys(one, "nodes, edges, work"), title=REFUTED_TITLE)),
    ),
}
