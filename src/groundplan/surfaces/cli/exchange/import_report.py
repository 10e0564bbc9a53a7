"""The terminal output of an import and of an export: what became what, what is lost, and what needs a look."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from groundplan.exchange.import_source import ALWAYS_LOST, ImportReport
from groundplan.surfaces.cli.drawing import GAP, Lines, Rows, View
from groundplan.surfaces.cli.terminal import echo, format_value, to_one_line

SHOWN_MAX = 12  # of each list; --json has all of them
VALUE_CHARS_MAX = 60
FATES = {
    "open": "open",
    "done": "resolved",
    "dropped": "resolved, as dropped",
    "held": "open, on hold until somebody releases it",
}


def draw_report(report: ImportReport, path: str) -> None:
    """Print what became of a file."""
    statuses = [
        {"status": status, "items": count, "becomes": FATES[fate]}
        for (status, fate), count in report.statuses.most_common()
    ]
    REPORT({**report.data, "path": path, "statuses": statuses, "kinds": report.kinds})


def _describe_outcome(report: Mapping[str, Any]) -> Iterator[str]:
    verb = "Would import" if report["dry_run"] else "Imported"
    yield f"{verb} {report['path']} ({report['tool']}) into project {report['project']}."


def _list_counts(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    counts = report["counts"]
    will = "would be " if report["dry_run"] else ""
    rows = [
        ("new items", counts["created"], f"{will}made as {' and '.join(report['kinds'])}"),
        ("changed items", counts["updated"], f"{will}taken over where only the file changed"),
        ("unchanged items", counts["unchanged"], "left as they are"),
        ("fields changed here and there", counts["conflicts"], "ours stays; see Conflicts"),
        ("bad lines", counts["skipped"], "left out; see Bad lines"),
        *((reason, count, "left out") for reason, count in report["left_out"].items()),
    ]
    return [{"what": what, "count": count, "becomes": becomes} for what, count, becomes in rows if count]


def _list_changes(report: Mapping[str, Any], kind: str) -> list[dict[str, Any]]:
    """Return how often each thing happened, with an example: the list itself can be long."""
    notes: Sequence[Mapping[str, str]] = report[kind]
    counts = Counter(note["what"] for note in notes)
    first = {note["what"]: note for note in reversed(notes)}
    return [
        {"what": what, "count": count, "example": _shorten(f"{first[what]['source_id']}: {first[what]['detail']}")}
        for what, count in counts.most_common()
    ]


def _list_conflicts(report: Mapping[str, Any]) -> Iterator[str]:
    for one in report["conflicts"][:SHOWN_MAX]:
        here, there = _shorten(format_value(one["here"])), _shorten(format_value(one["there"]))
        yield f"{one['source_id']} {one['field']}: here {here}, in the file {there}"
    yield from _count_more(report["conflicts"])


def _list_bad(report: Mapping[str, Any]) -> Iterator[str]:
    for one in report["skipped"][:SHOWN_MAX]:
        where = one["file"] + (f", line {one['line']}" if "line" in one else "")
        yield f"{where}: {one['reason']}"
    yield from _count_more(report["skipped"])


def _count_more(items: Sequence[Any]) -> Iterator[str]:
    if len(items) > SHOWN_MAX:
        yield f"and {len(items) - SHOWN_MAX:,} more; --json lists all"


def _list_next(report: Mapping[str, Any]) -> Iterator[str]:
    if report["dry_run"]:
        yield "Nothing was written. Run it again without --dry-run to import."
    else:
        command = "knowledge search --type molecule" if report["kinds"] == ["knowledge"] else "work next"
        yield f"Next: groundplan {command} --project {shlex.quote(report['project'])}"


def _shorten(text: str) -> str:
    line = to_one_line(text)
    return line if len(line) <= VALUE_CHARS_MAX else f"{line[: VALUE_CHARS_MAX - 1]}…"


REPORT = View(
    _describe_outcome,
    Rows(_list_counts, "what, count, becomes"),
    Rows("statuses", "status, items, becomes", title="Statuses:"),
    Rows(lambda report: _list_changes(report, "placed"), "what, count, example", title="Changed on the way:"),
    Rows(lambda report: _list_changes(report, "lost"), "what, count, example", title="Lost:"),
    Lines(lambda report: [*_list_conflicts(report)], title="Conflicts:"),
    Lines(lambda report: [*_list_bad(report)], title="Bad lines:"),
    Lines("warnings", title="Warnings:"),
    GAP,
    lambda _: [f"Never kept: {ALWAYS_LOST}."],
    _list_next,
    footer=(),
)


def draw_export(data: Mapping[str, Any], out: str) -> None:
    """Print what was exported."""
    echo(f"Wrote {out}: {data['items']} nodes of {data['project']} for {data['tool']}.")
    View(Rows(lambda report: _list_changes(report, "lost"), "what, count, example", title="Lost:"), footer=())(data)
