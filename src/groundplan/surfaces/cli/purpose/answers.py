"""The theory of change as people read it: a version with everything in it, versions, what was observed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec
from rich.text import Text

from groundplan.purpose.editing.edit import Edited
from groundplan.purpose.model import EdgeType
from groundplan.purpose.observing.observations import Observed
from groundplan.purpose.observing.record import Recorded
from groundplan.purpose.open import EdgeShown, IndicatorShown, Opened
from groundplan.purpose.version import Version
from groundplan.purpose.versions.diff import Compared
from groundplan.purpose.versions.discard import Discarded
from groundplan.purpose.versions.draft import OneVersion
from groundplan.purpose.versions.list import Versions
from groundplan.purpose.versions.publish import Published
from groundplan.surfaces.cli.drawing import (
    INDENT,
    NOTHING,
    draw_pairs,
    draw_table,
    moment,
    one_line,
    say,
    say_list,
    shown,
    titled,
)
from groundplan.surfaces.cli.purpose.checks import REFUTED, draw_checked, finding, verdict
from groundplan.surfaces.cli.purpose.lines import WAY, many, plain, print_lines, refs_or_whole, some, spoken
from groundplan.surfaces.cli.purpose.tree import assumption_line, tree_of

Pairs = Iterator[tuple[str, str]]


def draw_read(answer: Opened | Observed) -> None:
    """A version, or what was observed: some requests are really for another operation, and get its answer."""
    if isinstance(answer, Observed):
        draw_observations(answer)
    else:
        draw_opened(answer)


# --- A version --------------------------------------------------------------------------------------------------------


def draw_opened(answer: Opened) -> None:
    """A version with everything in it; what somebody answers for, and what is not shown, stands last."""
    if answer.version is None:
        say(f"No theory of change here. Next: groundplan purpose draft --project {answer.project}")
        return
    draw_pairs(_about(answer, answer.version))
    if answer.nodes:
        say("")
        print_lines(tree_of(answer))
    elif not answer.next_cursor and answer.version.status == "DRAFT" and not _total(answer):
        say("", f"Nothing in it yet. Next: groundplan purpose edit @FILE --project {answer.project}")
    feedback = [edge for edge in answer.edges or () if edge.edge_type is EdgeType.FEEDBACK]
    if feedback:
        say("", "Feedback:")
        print_lines(line for edge in feedback for line in _feedback(edge))
    if answer.indicators:
        say("", "Indicators:", "")
        draw_table(("key", "of", "name", "baseline", "latest", "target", "unit"), map(_indicator, answer.indicators))
    say_list("Waived:", (_waiver(one) for one in answer.waivers or ()))
    if answer.next_cursor:
        left = answer.left_out or {}
        told = ", ".join(f"{left[part]} {part}" for part in ("nodes", "edges", "indicators") if left.get(part))
        say("", f"Not shown for lack of room: {told}.", f"The next page: the same with --cursor {answer.next_cursor}")


def _about(answer: Opened, version: Version) -> Pairs:
    yield "project", answer.project
    yield "version", _version(version)
    others = [one for one in answer.versions if one.number != version.number]
    if others:
        yield "others", "; ".join(_version(one) for one in others)
    yield "rev", str(answer.rev)
    yield "health", _bands(answer.health.overall, answer.health.bands)
    yield "in it", ", ".join(_counted(answer))


def summed_up(answer: Opened) -> list[str]:
    """A theory in three lines, each in 80 characters."""
    if not answer.versions:
        return ["none yet"]
    last = answer.versions[-1]
    published = last.number - (last.status == "DRAFT")
    states = (f"{many(published, 'version')} published", *(["a draft in progress"] if last.status == "DRAFT" else []))
    nodes, rest = _counted(answer)[:4], _counted(answer)[4:]
    return [
        f"{' and '.join(states)}; health: {answer.health.overall or NOTHING}",
        f"{', '.join(nodes)},",
        ", ".join(rest),
    ]


def _counted(answer: Opened) -> list[str]:
    """How much of everything a version has."""
    counts = answer.counts
    several = (
        (counts.goal, "goal"),
        (counts.outcome, "outcome"),
        (counts.output, "output"),
        (counts.activity, "activity"),
        (counts.edges, "edge"),
        (counts.assumptions, "assumption"),
        (counts.indicators, "indicator"),
    )
    return [many(count, one) for count, one in several]


def _total(answer: Opened) -> int:
    return sum(msgspec.structs.astuple(answer.counts))


def _version(version: Version) -> str:
    if version.status == "DRAFT":
        source = f", from v{version.source}" if version.source else ""
        return f"v{version.number}, draft{source} ({version.profile})"
    called = f"v{version.number}" if version.label == f"v{version.number}" else f"v{version.number} {version.label}"
    at = moment(version.published_at) if version.published_at else NOTHING
    return f"{one_line(called)}, published {at} by {shown(version.published_by)} ({version.profile})"


def _bands(overall: str | None, bands: Mapping[str, str]) -> str:
    if overall is None:
        return "nothing to tell"
    worse = [f"{spoken(name)} {band}" for name, band in bands.items() if band != "green"]
    return f"{overall}: {', '.join(worse)}" if worse else overall


def _feedback(edge: EdgeShown) -> Iterator[Text]:
    yield plain(INDENT + titled(f"{edge.source}{WAY}{edge.target}", edge.mechanism or ""))
    yield from (assumption_line(one, depth=1) for one in edge.assumptions or ())


def _indicator(one: IndicatorShown) -> tuple[Any, ...]:
    latest = f"{shown(one.latest.value)} ({one.latest.as_of[:10]})" if one.latest else NOTHING
    baseline = shown(one.baseline) + (" (unverified)" if one.baseline_verified is False else "")
    return one.key, one.node, one_line(one.name), baseline, latest, one.target, one.unit


def _waiver(one: Any) -> str:
    return f"{one.code} for {refs_or_whole(one.refs)}, {one.owner} until {one.due}: {one_line(one.reason)}"


# --- Versions ---------------------------------------------------------------------------------------------------------


def draw_versions(answer: Versions) -> None:
    """All versions, the last one last."""
    if not answer.versions:
        say("No versions here. Next: groundplan purpose draft --project PROJECT")
        return
    rows = [
        (
            one.number,
            one.status,
            one.label,
            f"v{one.source}" if one.source else None,
            one.profile,
            moment(one.published_at) if one.published_at else None,
            one.published_by,
        )
        for one in answer.versions
    ]
    draw_table(("number", "status", "label", "from", "profile", "published at", "by"), rows)


def draw_begun(answer: OneVersion) -> None:
    """A draft, and how to go on with it."""
    draw_pairs((("version", _version(answer.version)), ("rev", str(answer.rev))))
    say("", "Next: groundplan purpose edit @FILE --project PROJECT")


def draw_published(answer: Published) -> None:
    """A version that is final, and what its gates found that did not keep them shut."""
    version = answer.version
    draw_pairs(
        (
            ("version", _version(version)),
            ("hash", shown(version.content_hash)),
            ("facts", f"run {version.context_run}" if version.context_run else "none committed"),
            *((f"gate {one.gate}", verdict(one)) for one in answer.gates),
        )
    )
    for result in answer.gates:
        say_list("Mind:", (finding(check) for check in result.checks if check.result in ("failed", "waived")))


def draw_discarded(answer: Discarded) -> None:
    """Which draft is gone."""
    say(f"Discarded the draft of v{answer.discarded}.")


def draw_edited(answer: Edited) -> None:
    """What was made, under which keys."""
    if answer.created:
        rows = [(one.kind, one.ref if isinstance(one.ref, str) else None, one.key) for one in answer.created]
        draw_table(("made", "ref", "key"), rows)
        say("")
    if answer.left_out:
        say(f"{answer.left_out['created']} more were made; groundplan purpose open shows them.")
    done = "operation" if answer.applied == 1 else "operations"
    say(f"{answer.applied} {done} applied. The draft of v{answer.version} is at rev {answer.rev}.")


def draw_compared(answer: Compared) -> None:
    """The comparison as it is written for people."""
    say(*(answer.markdown or "The two differ in more than there is room for; --json has the beginning.").splitlines())


# --- Observations -----------------------------------------------------------------------------------------------------


def draw_observations(answer: Observed) -> None:
    """What was recorded, each sort in its order."""
    parts: tuple[tuple[str, tuple[str, ...], list[tuple[Any, ...]]], ...] = (
        (
            "Measurements:",
            ("indicator", "value", "as of", "source", "note", "by"),
            [
                (one.indicator, one.value, moment(one.as_of), _told(one.source), _told(one.note), one.by)
                for one in answer.measurements
            ],
        ),
        (
            "Reviews:",
            ("assumption", "status", "reason", "evidence", "at", "by"),
            [
                (one.assumption, spoken(one.status), one_line(one.reason), _told(one.evidence), moment(one.at), one.by)
                for one in answer.reviews
            ],
        ),
        (
            "Waivers:",
            ("check", "for", "reason", "owner", "until", "at", "by"),
            [
                (one.code, refs_or_whole(one.refs), one_line(one.reason), one.owner, one.due, moment(one.at), one.by)
                for one in answer.waivers
            ],
        ),
        (
            "Decisions:",
            ("decision", "why", "about", "outcome", "at", "by"),
            [
                (
                    one_line(one.text),
                    one_line(one.rationale),
                    some(one.about),
                    _told(one.outcome),
                    moment(one.at),
                    one.by,
                )
                for one in answer.decisions
            ],
        ),
    )
    is_first = True
    for title, titles, rows in parts:
        if rows:
            say(*([] if is_first else [""]), title, "")
            draw_table(titles, rows)
            is_first = False
    if is_first:
        say(f"Nothing observed here. Next: groundplan purpose measure INDICATOR VALUE --project {answer.project}")
    if answer.next_cursor:
        say("", f"There is more. The next page: the same with --cursor {answer.next_cursor}")


def _told(text: str | None) -> str | None:
    return one_line(text) if text else None


def draw_recorded(answer: Recorded) -> None:
    """How much was recorded, and what falls with what was refuted."""
    say(f"Recorded {many(answer.recorded, 'observation')}.")
    for one in answer.affected or ():
        parts = (("nodes", one.nodes), ("edges", one.edges), ("work", one.work))
        say_list(REFUTED.format(one.assumption), (f"{name}: {some(keys)}" for name, keys in parts if keys))


DRAWINGS: Mapping[str, Callable[[Any], None]] = {
    "purpose.open": draw_read,
    "purpose.observations": draw_observations,
    "purpose.edit": draw_edited,
    "purpose.draft": draw_begun,
    "purpose.publish": draw_published,
    "purpose.discard": draw_discarded,
    "purpose.versions": draw_versions,
    "purpose.diff": draw_compared,
    "purpose.check": draw_checked,
    "purpose.health": draw_checked,
    "purpose.analysis": draw_checked,
    "purpose.compliance": draw_checked,
    "purpose.record": draw_recorded,
}
