"""Read the issues of beads.

The path is a JSONL file, the folder `.beads` with one, a folder above it, or the folder of a backup, with a file for
each table. The same id twice is one issue, as of the later update. A tombstone is no issue; the deletions of older
versions are in a file beside the issues.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from groundplan.exchange.model import BadLines, SourcePlan, UnreadableSource
from groundplan.exchange.readers.beads.issue import Issue, make_item
from groundplan.exchange.readers.beads.resolve_links import resolve_links
from groundplan.exchange.readers.beads.rules import TOMBSTONE, TOOL
from groundplan.exchange.readers.json_lines import read_json_lines
from groundplan.exchange.text_files import TITLE_BYTES_MAX, clean_text, clean_title
from groundplan.work.importing.source_items import SOURCE_ID_BYTES_MAX, DeletedItem

ISSUES = ("issues.jsonl", "beads.jsonl")  # newer versions, older versions
FOLDER = ".beads"
DELETIONS = "deletions.jsonl"
DEPENDENCIES = "dependencies.jsonl"  # the file that only a backup has
BACKUP_TABLES = ("dependencies", "labels", "comments")
TOMBSTONES_LEFT_OUT = "tombstones"


def read(path: Path, *, skip_bad: bool, now: datetime | None = None) -> SourcePlan:
    """Return the plan in a file or folder of beads. What is deferred is compared with `now`.

    Raises:
        UnreadableSource: there is no such file, or it is not of beads.
        BadLineFound: a line is bad, and bad lines are not skipped.
    """
    file = _find_file(path)
    bad = BadLines(skip_bad=skip_bad)
    plan = SourcePlan(TOOL, inherits_dependencies=True)
    issues = _merge_same_ids(plan, _read_issues(file, bad))
    if (file.parent / DEPENDENCIES).is_file():
        _join_tables(plan, issues, file.parent, bad)
    for deleted in _read_deletions(file.parent, issues, bad):
        plan.deleted.append(deleted)
    for issue in [issue for issue in issues.values() if issue.status == TOMBSTONE]:
        plan.left_out[TOMBSTONES_LEFT_OUT] += 1
        plan.deleted.append(DeletedItem(issue.id, clean_text(issue.text("delete_reason"))[:1000]))
        del issues[issue.id]
    items = {issue.id: make_item(plan, issue) for issue in issues.values()}
    resolve_links(plan, issues, items, now=now or datetime.now(UTC))
    plan.items = list(items.values())
    plan.skipped = bad.skipped
    return plan


def _find_file(path: Path) -> Path:
    if path.is_dir():
        for folder in (path, path / FOLDER, path / "backup"):
            for name in ISSUES:
                if (folder / name).is_file():
                    return folder / name
        raise UnreadableSource(str(path), f"has no {' or '.join(ISSUES)}; name the file")
    return path


def _read_issues(file: Path, bad: BadLines) -> Iterator[Issue]:
    is_first = True
    for line, fields in read_json_lines(file, bad):
        problem = _find_problem(fields)
        if problem is None:
            yield Issue(str(file), line, fields)
        elif is_first and not {"id", "status", "issue_type"} & fields.keys():
            raise UnreadableSource(str(file), f"is not a file of beads: {problem}", line=line)
        else:
            source_id = fields.get("id")
            bad.add(str(file), line, problem, source_id if isinstance(source_id, str) else None)
        is_first = False


def _find_problem(fields: Mapping[str, Any]) -> str | None:
    """Return what is wrong with an issue, or None."""
    for name in ("id", "title", "status"):
        if not isinstance(fields.get(name), str):
            return f"has no {name}"
    if not clean_title(fields["id"]) or fields["id"] != clean_title(fields["id"]):
        return "has an id with characters that an id cannot have"
    if len(fields["id"].encode("utf-8", "replace")) > SOURCE_ID_BYTES_MAX:
        return f"has an id of more than {SOURCE_ID_BYTES_MAX} bytes"
    if fields["status"] == TOMBSTONE:
        return None
    title = clean_title(fields["title"])
    if not title:
        return "has an empty title"
    if len(title.encode()) > TITLE_BYTES_MAX:
        return f"has a title of more than {TITLE_BYTES_MAX} bytes"
    return None


def _merge_same_ids(plan: SourcePlan, read_issues: Iterable[Issue]) -> dict[str, Issue]:
    """Return the issues by id, in the order of the file; of the same id, the one with the later update."""
    issues: dict[str, Issue] = {}
    for issue in read_issues:
        other = issues.get(issue.id)
        if other is not None:
            plan.note_placed(
                issue.id,
                "twice",
                f"is in the file twice (lines {other.line} and {issue.line}); the later update counts",
            )
        if other is None or issue.updated_at >= other.updated_at:
            issues[issue.id] = issue
    return issues


def _read_deletions(folder: Path, issues: Mapping[str, Issue], bad: BadLines) -> Iterator[DeletedItem]:
    file = folder / DELETIONS
    if not file.is_file():
        return
    for line, fields in read_json_lines(file, bad):
        source_id, reason = fields.get("id"), fields.get("reason")
        if not isinstance(source_id, str) or not source_id:
            bad.add(str(file), line, "has no id")
        elif source_id not in issues:
            yield DeletedItem(source_id, clean_text(reason)[:1000] if isinstance(reason, str) else "")


def _join_tables(plan: SourcePlan, issues: Mapping[str, Issue], folder: Path, bad: BadLines) -> None:
    """Put the rows of the tables of a backup into their issues. Rows of issues that are not in it are counted."""
    for table in BACKUP_TABLES:
        file = folder / f"{table}.jsonl"
        if not file.is_file():
            continue
        for _, row in read_json_lines(file, bad):
            issue = issues.get(str(row.get("issue_id")))
            if issue is None:
                plan.left_out[f"{table} of issues that are not in the backup"] += 1
            else:
                issue.fields.setdefault(table, []).append(row["label"] if table == "labels" and "label" in row else row)
    for issue in issues.values():
        metadata = issue.fields.get("metadata")
        if isinstance(metadata, str):
            try:
                issue.fields["metadata"] = json.loads(metadata)
            except ValueError:
                del issue.fields["metadata"]
