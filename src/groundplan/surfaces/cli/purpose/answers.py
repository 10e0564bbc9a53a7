"""Terminal output of the purpose operations: versions, their content, observations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec
from rich.text import Text

from groundplan.purpose.editing.edit import EditedPurpose
from groundplan.purpose.model import EdgeType
from groundplan.purpose.observing.observations import ObservationsPage
from groundplan.purpose.observing.record import RecordedObservations
from groundplan.purpose.open import IndicatorView, OpenedPurpose, PurposeEdgeView
from groundplan.purpose.version import Version
from groundplan.purpose.versions.diff import VersionComparison
from groundplan.purpose.versions.discard import DiscardedDraft
from groundplan.purpose.versions.draft import OneVersion
from groundplan.purpose.versions.list import Versions
from groundplan.purpose.versions.publish import Published
from groundplan.surfaces.cli.purpose.checks import REFUTED_TITLE, draw_check, finding, verdict
from groundplan.surfaces.cli.purpose.formatting import (
    ARROW,
    format_refs,
    humanize,
    join_names,
    pluralize,
    print_lines,
    to_text,
)
from groundplan.surfaces.cli.purpose.tree import assumption_line, format_tree
from groundplan.surfaces.cli.terminal import (
    EMPTY_CELL,
    INDENT,
    draw_pairs,
    draw_table,
    echo,
    echo_list,
    format_time,
    format_title,
    format_value,
    to_one_line,
)

Pairs = Iterator[tuple[str, str]]


def draw_open(answer: OpenedPurpose | ObservationsPage) -> None:
    """Print a version or observations: a request with detail `observations` gets the answer of another operation."""
    if isinstance(answer, ObservationsPage):
        draw_observations(answer)
    else:
        draw_theory(answer)


# --- One version ------------------------------------------------------------------------------------------------------


def draw_theory(answer: OpenedPurpose) -> None:
    """Print a version with its content. Waivers and what is not shown come last."""
    if answer.version is None:
        echo(f"No theory of change here. Next: groundplan purpose draft --project {answer.project}")
        return
    draw_pairs(_about(answer, answer.version))
    if answer.nodes:
        echo("")
        print_lines(format_tree(answer))
    elif not answer.next_cursor and answer.version.status == "DRAFT" and not _total(answer):
        echo("", f"The draft is empty. Next: groundplan purpose edit @FILE --project {answer.project}")
    feedback = [edge for edge in answer.edges or () if edge.edge_type is EdgeType.FEEDBACK]
    if feedback:
        echo("", "Feedback:")
        print_lines(line for edge in feedback for line in _feedback(edge))
    if answer.indicators:
        echo("", "Indicators:", "")
        draw_table(("key", "of", "name", "baseline", "latest", "target", "unit"), map(_indicator, answer.indicators))
    echo_list("Waived:", (_waiver(one) for one in answer.waivers or ()))
    if answer.next_cursor:
        left = answer.left_out or {}
        counts = ", ".join(f"{left[part]} {part}" for part in ("nodes", "edges", "indicators") if left.get(part))
        echo("", f"Not shown: {counts}.", f"Next page: add --cursor {answer.next_cursor}")


def _about(answer: OpenedPurpose, version: Version) -> Pairs:
    yield "project", answer.project
    yield "version", _version(version)
    others = [one for one in answer.versions if one.number != version.number]
    if others:
        yield "other versions", "; ".join(_version(one) for one in others)
    yield "rev", str(answer.rev)
    yield "health", _bands(answer.health.overall, answer.health.bands)
    yield "contents", ", ".join(_format_counts(answer))


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
    nodes, rest = _format_counts(answer)[:4], _format_counts(answer)[4:]
    return [
        f"{' and '.join(states)}; health: {answer.health.overall or EMPTY_CELL}",
        f"{', '.join(nodes)},",
        ", ".join(rest),
    ]


def _format_counts(answer: OpenedPurpose) -> list[str]:
    """Return the number of nodes of each type, edges, assumptions and indicators."""
    counts = answer.counts
    numbers = (
        (counts.goal, "goal"),
        (counts.outcome, "outcome"),
        (counts.output, "output"),
        (counts.activity, "activity"),
        (counts.edges, "edge"),
        (counts.assumptions, "assumption"),
        (counts.indicators, "indicator"),
    )
    return [pluralize(count, noun) for count, noun in numbers]


def _total(answer: OpenedPurpose) -> int:
    return sum(msgspec.structs.astuple(answer.counts))


def _version(version: Version) -> str:
    if version.status == "DRAFT":
        source = f", from v{version.source}" if version.source else ""
        return f"v{version.number}, draft{source} ({version.profile})"
    name = f"v{version.number}" if version.label == f"v{version.number}" else f"v{version.number} {version.label}"
    at = format_time(version.published_at) if version.published_at else EMPTY_CELL
    return f"{to_one_line(name)}, published {at} by {format_value(version.published_by)} ({version.profile})"


def _bands(overall: str | None, bands: Mapping[str, str]) -> str:
    if overall is None:
        return "no data"
    worse = [f"{humanize(name)} {band}" for name, band in bands.items() if band != "green"]
    return f"{overall}: {', '.join(worse)}" if worse else overall


def _feedback(edge: PurposeEdgeView) -> Iterator[Text]:
    yield to_text(INDENT + format_title(f"{edge.source}{ARROW}{edge.target}", edge.mechanism or ""))
    yield from (assumption_line(one, depth=1) for one in edge.assumptions or ())


def _indicator(one: IndicatorView) -> tuple[Any, ...]:
    latest = f"{format_value(one.latest.value)} ({one.latest.as_of[:10]})" if one.latest else EMPTY_CELL
    baseline = format_value(one.baseline) + (" (unverified)" if one.baseline_verified is False else "")
    return one.key, one.node, to_one_line(one.name), baseline, latest, one.target, one.unit


def _waiver(one: Any) -> str:
    return f"{one.code} for {format_refs(one.refs)}, {one.owner} until {one.due}: {to_one_line(one.reason)}"


# --- Versions ---------------------------------------------------------------------------------------------------------


def draw_versions(answer: Versions) -> None:
    """Print all versions, oldest first."""
    if not answer.versions:
        echo("No versions here. Next: groundplan purpose draft --project PROJECT")
        return
    rows = [
        (
            one.number,
            one.status,
            one.label,
            f"v{one.source}" if one.source else None,
            one.profile,
            format_time(one.published_at) if one.published_at else None,
            one.published_by,
        )
        for one in answer.versions
    ]
    draw_table(("number", "status", "label", "from", "profile", "published at", "by"), rows)


def draw_draft(answer: OneVersion) -> None:
    """Print a draft and the next command."""
    draw_pairs((("version", _version(answer.version)), ("rev", str(answer.rev))))
    echo("", "Next: groundplan purpose edit @FILE --project PROJECT")


def draw_publish(answer: Published) -> None:
    """Print a published version and the checks that failed or were waived without blocking it."""
    version = answer.version
    draw_pairs(
        (
            ("version", _version(version)),
            ("hash", format_value(version.content_hash)),
            ("facts", f"run {version.context_run}" if version.context_run else "none committed"),
            *((f"gate {one.gate}", verdict(one)) for one in answer.gates),
        )
    )
    for result in answer.gates:
        echo_list("Warnings:", (finding(check) for check in result.checks if check.result in ("failed", "waived")))


def draw_discard(answer: DiscardedDraft) -> None:
    """Print the version of the discarded draft."""
    echo(f"Discarded the draft of v{answer.discarded}.")


def draw_edit(answer: EditedPurpose) -> None:
    """Print what was created, with its keys."""
    if answer.created:
        rows = [(one.kind, one.ref if isinstance(one.ref, str) else None, one.key) for one in answer.created]
        draw_table(("created", "ref", "key"), rows)
        echo("")
    if answer.left_out:
        echo(f"{answer.left_out['created']} more created. To see them: groundplan purpose open")
    done = "operation" if answer.applied == 1 else "operations"
    echo(f"{answer.applied} {done} applied. The draft of v{answer.version} is at rev {answer.rev}.")


def draw_diff(answer: VersionComparison) -> None:
    """Print the comparison of two versions as Markdown."""
    echo(*(answer.markdown or "The comparison is too large to show. To see its beginning, use --json.").splitlines())


# --- Observations -----------------------------------------------------------------------------------------------------


def draw_observations(answer: ObservationsPage) -> None:
    """Print measurements, reviews, waivers and decisions."""
    parts: tuple[tuple[str, tuple[str, ...], list[tuple[Any, ...]]], ...] = (
        (
            "Measurements:",
            ("indicator", "value", "as of", "source", "note", "by"),
            [
                (
                    one.indicator,
                    one.value,
                    format_time(one.as_of),
                    _format_optional(one.source),
                    _format_optional(one.note),
                    one.by,
                )
                for one in answer.measurements
            ],
        ),
        (
            "Reviews:",
            ("assumption", "status", "reason", "evidence", "at", "by"),
            [
                (
                    one.assumption,
                    humanize(one.status),
                    to_one_line(one.reason),
                    _format_optional(one.evidence),
                    format_time(one.at),
                    one.by,
                )
                for one in answer.reviews
            ],
        ),
        (
            "Waivers:",
            ("check", "for", "reason", "owner", "until", "at", "by"),
            [
                (
                    one.code,
                    format_refs(one.refs),
                    to_one_line(one.reason),
                    one.owner,
                    one.due,
                    format_time(one.at),
                    one.by,
                )
                for one in answer.waivers
            ],
        ),
        (
            "Decisions:",
            ("decision", "why", "about", "outcome", "at", "by"),
            [
                (
                    to_one_line(one.text),
                    to_one_line(one.rationale),
                    join_names(one.about),
                    _format_optional(one.outcome),
                    format_time(one.at),
                    one.by,
                )
                for one in answer.decisions
            ],
        ),
    )
    is_first = True
    for title, titles, rows in parts:
        if rows:
            echo(*([] if is_first else [""]), title, "")
            draw_table(titles, rows)
            is_first = False
    if is_first:
        echo(f"No observations here. Next: groundplan purpose measure INDICATOR VALUE --project {answer.project}")
    if answer.next_cursor:
        echo("", f"Next page: add --cursor {answer.next_cursor}")


def _format_optional(text: str | None) -> str | None:
    return to_one_line(text) if text else None


def draw_record(answer: RecordedObservations) -> None:
    """Print the number of recorded observations, and what refuted assumptions affect."""
    echo(f"Recorded {pluralize(answer.recorded, 'observation')}.")
    for one in answer.affected or ():
        parts = (("nodes", one.nodes), ("edges", one.edges), ("work", one.work))
        echo_list(REFUTED_TITLE.format(one.assumption), (f"{name}: {join_names(keys)}" for name, keys in parts if keys))


RENDERERS: Mapping[str, Callable[[Any], None]] = {
    "purpose.open": draw_open,
    "purpose.observations": draw_observations,
    "purpose.edit": draw_edit,
    "purpose.draft": draw_draft,
    "purpose.publish": draw_publish,
    "purpose.discard": draw_discard,
    "purpose.versions": draw_versions,
    "purpose.diff": draw_diff,
    "purpose.check": draw_check,
    "purpose.health": draw_check,
    "purpose.analysis": draw_check,
    "purpose.compliance": draw_check,
    "purpose.record": draw_record,
}
