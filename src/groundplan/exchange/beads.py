"""Beads: read its JSONL files or a backup of it, and write items as its issues."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from groundplan.exchange.items import (
    PREFIX,
    PROPERTIES_OF_IMPORT,
    TITLE_BYTES_MAX,
    BadLines,
    ItemNote,
    SourcePlan,
    UnreadableSource,
    WrittenFiles,
    add_comment,
    add_evidence,
    add_links,
    add_parts,
    append_parts,
    choose_fate,
    clean_property,
    clean_title,
    explain_drop,
    get_imported_status,
    get_source_parent,
    index_by_source,
    leave_out_usual_status,
    list_evidence,
    make_tags,
    normalize_word,
    read_node_id,
    replace_unstorable,
    restore_loops,
    split_comment,
)
from groundplan.exchange.texts import read_json_lines
from groundplan.kernel.operations.progress import count_progress
from groundplan.work.importing.export import ExportedItem
from groundplan.work.importing.items import (
    ALIAS_CHARS_MAX,
    SOURCE_ID_BYTES_MAX,
    DeletedItem,
    Fate,
    SourceItem,
    SourceLink,
)

TOOL = "beads"
PRIORITY_MAX = 4  # 0 is the highest there, and the lowest here

TOMBSTONE = "tombstone"
PINNED = "pinned"

# By normalized word; all others are held.
FATES: Mapping[str, Fate] = {
    "closed": "done",
    "complete": "done",
    "completed": "done",
    "cancelled": "dropped",
    "canceled": "dropped",
    "open": "open",
    "in progress": "open",
}
STARTED_WORD = "in progress"

# Types that beads never offers as work.
NO_WORK_TYPES = frozenset({"merge-request", "gate", "molecule", "message", "agent", "role", "rig"})

PARENT_CHILD = "parent-child"
BLOCKING = frozenset({"blocks", "conditional-blocks", "waits-for"})
# Dependency types that have an edge type of ours.
EDGE_TYPES: Mapping[str, str] = {"related": "relates_to", "relates-to": "relates_to"}

# Fields that become properties under another name.
PROPERTIES: Mapping[str, str] = {
    "issue_type": "type",
    "assignee": "assignee",
    "owner": "owner",
    "created_by": "created_by",
    "created_at": "source_created_at",
    "updated_at": "source_updated_at",
    "closed_at": "source_closed_at",
    "started_at": "source_started_at",
    "due_at": "due",
    "defer_until": "defer_until",
    "estimated_minutes": "estimated_minutes",
    "spec_id": "spec_id",
}
SECTIONS = ("description", "design", "acceptance_criteria", "notes")

# Fields that say nothing about the work: bookkeeping of the tool, and what is taken over elsewhere.
KNOWN_FIELDS = frozenset(
    {
        *PROPERTIES,
        *SECTIONS,
        *("id", "title", "status", "priority", "labels", "dependencies", "comments", "close_reason", "external_ref"),
        *("parent", "pinned", "ephemeral", "is_template", "metadata"),
        *("deleted_at", "deleted_by", "delete_reason", "original_type"),
        *("source_repo", "source_repo_path", "content_hash", "compaction_level", "compacted_at", "original_size"),
        *("dependency_count", "dependent_count", "comment_count", "_type"),
    }
)


# --- One issue of beads as an item: its fate, texts and properties ----------------------------------------------------
# Its links are resolved when all issues are known

LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(slots=True)
class Issue:
    """A line of the file."""

    file: str
    line: int
    fields: dict[str, Any]

    @property
    def id(self) -> str:
        return str(self.fields["id"])

    @property
    def status(self) -> str:
        return str(self.fields["status"])

    @property
    def type(self) -> str:
        return self.text("issue_type")

    @property
    def updated_at(self) -> datetime:
        return parse_time(self.fields.get("updated_at")) or LONG_AGO

    def text(self, name: str) -> str:
        """Return a field that is text; empty if it is not."""
        value = self.fields.get(name)
        return value if isinstance(value, str) else ""

    def is_set(self, name: str) -> bool:
        """Return True if a flag is set. A backup stores flags as 0 and 1."""
        return self.fields.get(name) in (True, 1)

    def iter_dependencies(self) -> Iterator[tuple[str, str]]:
        """Yield the type and the target of each dependency."""
        dependencies = self.fields.get("dependencies")
        for entry in dependencies if isinstance(dependencies, list) else ():
            if isinstance(entry, dict) and isinstance(target := entry.get("depends_on_id"), str) and target:
                type_ = entry.get("type")
                yield (type_ if isinstance(type_, str) and type_ else "blocks"), target


def parse_time(value: Any) -> datetime | None:
    """Return the time that a text in the format of RFC 3339 means, or None for any other value."""
    if not isinstance(value, str):
        return None
    try:
        parsed = datetime.fromisoformat(value)
    except ValueError:
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def make_item(plan: SourcePlan, issue: Issue) -> SourceItem:
    """Return an issue as an item without links, and record what was changed about it."""
    title = plan.clean_title(issue.id, issue.fields["title"])
    fate, hold_reason = choose_fate(issue.status, FATES)
    if hold_reason is not None:
        plan.note_placed(issue.id, "status", f"is held: {hold_reason}")
    item = SourceItem(
        source_id=issue.id,
        node=read_node_id(issue.id.removeprefix(PREFIX)) if issue.id.startswith(PREFIX) else None,
        title=title,
        aliases=[issue.id] if len(issue.id) <= ALIAS_CHARS_MAX else [],
        fate=fate,
        hold_reason=hold_reason,
        source_status=clean_title(issue.status)[:255] or None,
        state=issue.status if normalize_word(issue.status) == STARTED_WORD else None,
        priority=_get_priority(issue),
        tags=make_tags([*_list_labels(issue), issue.type]),
        properties=_list_properties(issue),
        file=issue.file,
        line=issue.line,
    )
    for name in SECTIONS:
        text = issue.text(name)
        if text != replace_unstorable(text) and "\r" not in text:
            plan.note_placed(issue.id, name, "control characters were replaced")
        add_parts(item, name, text)
    _add_comments(item, issue)
    if reason := issue.text("close_reason"):
        add_evidence(item, "dropped" if fate == "dropped" else "note", reason, section="close_reason")
    explain_drop(item)
    leave_out_usual_status(item, STATUSES)
    if item.node is not None and issue.type == TYPE_DEFAULT:  # the word that an export has for any node
        item.properties.pop("type", None)
        item.tags = make_tags(_list_labels(issue))
    if link := issue.text("external_ref"):
        add_links(item, [link])
    for name in issue.fields.keys() - KNOWN_FIELDS:
        plan.note_lost(issue.id, name, "beads keeps it for itself; it has no place here")
    return item


def _get_priority(issue: Issue) -> float | None:
    priority = issue.fields.get("priority")
    is_number = isinstance(priority, int | float) and not isinstance(priority, bool)
    return float(PRIORITY_MAX - priority) if is_number else None  # type: ignore[operator] # a number


def _list_labels(issue: Issue) -> list[Any]:
    labels = issue.fields.get("labels")
    return labels if isinstance(labels, list) else []


def _list_properties(issue: Issue) -> dict[str, Any]:
    properties = {
        ours: clean_property(issue.fields[name]) for name, ours in PROPERTIES.items() if issue.fields.get(name)
    }
    properties |= {name: True for name in ("pinned", "ephemeral", "is_template") if issue.is_set(name)}
    if issue.fields.get("metadata"):
        properties["metadata"] = clean_property(issue.fields["metadata"])
    return properties


def _add_comments(item: SourceItem, issue: Issue) -> None:
    comments = issue.fields.get("comments")
    for comment in comments if isinstance(comments, list) else ():
        if isinstance(comment, dict) and isinstance(text := comment.get("text"), str):
            author, at = comment.get("author"), comment.get("created_at")
            # An export gives a date of its own to a comment that nobody is named for.
            heading = {"author": author, "at": at if isinstance(at, str) else ""} if author else {}
            add_comment(item, replace_unstorable(text), **heading)


# --- Parents, dependencies and holds of the issues of beads, by its own rule of what is ready -------------------------
# An issue is ready there if it is open or in progress; not pinned, ephemeral or a template; of a type that is work; not
# deferred, nor its parent; blocked by no issue that is neither closed nor pinned; and below no blocked parent. Targets
# that are not in the file do not block. Holds on parents do not reach their parts, so only issues without unfinished
# parts are held.


def resolve_links(
    plan: SourcePlan, issues: Mapping[str, Issue], items: Mapping[str, SourceItem], *, now: datetime
) -> None:
    """Set the parents, dependencies, links and holds of all items."""
    deleted = {deletion.source_id for deletion in plan.deleted if isinstance(deletion, DeletedItem)}
    for source_id, item in items.items():
        _set_parent(plan, issues[source_id], item, items)
        for type_, target in dict.fromkeys(issues[source_id].iter_dependencies()):
            if type_ == PARENT_CHILD:
                continue
            if target not in items:
                if target not in deleted:
                    plan.note_lost(source_id, type_, f"{target} is not in the file")
            elif type_ in BLOCKING:
                _add_dependency(plan, issues, item, target, type_)
            elif target != source_id:
                item.links.append(SourceLink(EDGE_TYPES.get(type_, type_)[:255], target))
    _hold(plan, issues, items, now=now)


def _set_parent(plan: SourcePlan, issue: Issue, item: SourceItem, items: Mapping[str, SourceItem]) -> None:
    """Set the parent of an item from a dependency of that type, else from its dotted id."""
    named = [target for type_, target in issue.iter_dependencies() if type_ == PARENT_CHILD]
    if (parent := issue.text("parent")) and parent not in named:
        named.append(parent)
    dotted = issue.id.rpartition(".")[0]
    for missing in dict.fromkeys(target for target in named if target not in items):
        plan.note_lost(issue.id, PARENT_CHILD, f"{missing} is not in the file")
    known = list(dict.fromkeys(target for target in named if target in items))
    if not known:
        if dotted in items:
            item.parent = dotted
            plan.note_placed(issue.id, "parent", f"its id says that it is below {dotted}")
        return
    item.parent = dotted if dotted in known else known[0]
    for parent_id in known:
        if parent_id != item.parent:
            item.links.append(SourceLink("relates_to", parent_id))
            plan.note_placed(issue.id, "parent", f"has a second parent {parent_id}; it is related to it now")


def _add_dependency(plan: SourcePlan, issues: Mapping[str, Issue], item: SourceItem, target: str, type_: str) -> None:
    """Add a dependency. One on a pinned issue becomes a link, because beads treats it as satisfied."""
    if issues[target].status == PINNED:
        item.links.append(SourceLink(type_, target))
        plan.note_placed(item.source_id, type_, f"{target} is pinned, and does not block; it is linked")
    else:
        item.depends_on.append(target)


def _hold(plan: SourcePlan, issues: Mapping[str, Issue], items: Mapping[str, SourceItem], *, now: datetime) -> None:
    unfinished_parents = _find_unfinished_parents({name: (item.fate, item.parent) for name, item in items.items()})
    for source_id, item in items.items():
        if item.fate not in ("open", "held"):
            continue
        reason = item.hold_reason or _find_hold_reason(issues[source_id], now)
        if reason is None and item.parent is not None and _is_deferred(issues[item.parent], now):
            reason = f"its parent {item.parent} is deferred"
        if reason is None:
            continue
        if source_id in unfinished_parents:
            item.fate, item.hold_reason = "open", None
            plan.note_placed(source_id, "hold", f"{reason}, but is not held: its unfinished parts are ready in beads")
        else:
            if item.fate == "open":
                plan.note_placed(source_id, "hold", f"is held: {reason}")
            item.fate, item.hold_reason = "held", reason


def _find_unfinished_parents(items: Mapping[str, tuple[str, str | None]]) -> set[str]:
    """Return the ids with an unfinished item below them, at any depth, from the fate and the parent of each item."""
    parents: set[str] = set()
    for fate, parent in items.values():
        above = parent if fate in ("open", "held") else None
        while above is not None and above not in parents:
            parents.add(above)
            _, above = items[above]
    return parents


def _find_hold_reason(issue: Issue, now: datetime) -> str | None:
    """Return the reason why beads does not offer an open issue as work, or None if it does."""
    for flag in ("pinned", "ephemeral", "is_template"):
        if issue.is_set(flag):
            return flag.removeprefix("is_")
    if issue.type in NO_WORK_TYPES:
        return f"type {issue.type}"
    if _is_deferred(issue, now):
        return f"deferred until {issue.fields['defer_until']}"
    return None


def _is_deferred(issue: Issue, now: datetime) -> bool:
    until = parse_time(issue.fields.get("defer_until"))
    return until is not None and until > now


# --- Read the issues of beads -----------------------------------------------------------------------------------------
# The path is a JSONL file, the folder `.beads` with one, a folder above it, or the folder of a backup, with a file for
# each table. The same id twice is one issue, as of the later update. A tombstone is no issue; the deletions of older
# versions are in a file beside the issues.

ISSUES = ("issues.jsonl", "beads.jsonl")  # newer versions, older versions
FOLDER = ".beads"
DELETIONS = "deletions.jsonl"
DEPENDENCIES = "dependencies.jsonl"  # the file that only a backup has
BACKUP_TABLES = ("dependencies", "labels", "comments")
TOMBSTONES_LEFT_OUT = "tombstones"


def read_beads(path: Path, *, skip_bad: bool, now: datetime | None = None) -> SourcePlan:
    """Return the plan in a file or folder of beads. `now` decides which issues are still deferred."""
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
        plan.deleted.append(DeletedItem(issue.id, replace_unstorable(issue.text("delete_reason"))[:1000]))
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
    """Return the problem of an invalid issue, or None."""
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
    """Return the issues by id, in the order of the file. Of issues with the same id, the latest update is kept."""
    issues: dict[str, Issue] = {}
    for issue in read_issues:
        earlier = issues.get(issue.id)
        if earlier is not None:
            plan.note_placed(
                issue.id,
                "twice",
                f"is in the file twice (lines {earlier.line} and {issue.line}); the later update counts",
            )
        if earlier is None or issue.updated_at >= earlier.updated_at:
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
            yield DeletedItem(source_id, replace_unstorable(reason)[:1000] if isinstance(reason, str) else "")


def _join_tables(plan: SourcePlan, issues: Mapping[str, Issue], folder: Path, bad: BadLines) -> None:
    """Add the rows of the tables of a backup to their issues. Rows of unknown issues are counted."""
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


# --- Write the issues of beads: one line for each node, sorted by id, with the keys that beads knows ------------------

STATUSES = {"done": "closed", "dropped": "cancelled", "open": "open", "held": "deferred"}
STARTED_STATUS = "in_progress"
PRIORITY_DEFAULT = 2
TYPE_DEFAULT = "task"


def write_beads(items: Sequence[ExportedItem]) -> WrittenFiles:
    """Return the lines of `issues.jsonl`."""
    items = restore_loops(items)
    by_source = index_by_source(items, TOOL)
    ids = {item.id: item.sources.get(TOOL, f"{PREFIX}{item.id}") for item in items}
    parents = {item.id: get_source_parent(item, by_source) for item in items}
    unfinished_parents = _find_unfinished_parents({item.id: (item.fate, parents[item.id]) for item in items})
    written = WrittenFiles({})
    lines = []
    for item in count_progress(sorted(items, key=lambda exported: ids[exported.id]), len(items)):
        has_unfinished_parts = item.id in unfinished_parents
        issue = _build_issue(item, ids, parents[item.id], has_unfinished_parts=has_unfinished_parts)
        lines.append(json.dumps(issue, ensure_ascii=False, separators=(",", ":")))
        written.lost += _list_lost(item, ids)
    written.files[""] = "".join(f"{line}\n" for line in lines)
    return written


def _build_issue(
    item: ExportedItem, ids: dict[str, str], parent: str | None, *, has_unfinished_parts: bool
) -> dict[str, Any]:
    own_id = ids[item.id]
    issue: dict[str, Any] = {"id": own_id, "title": item.title}
    sections = {section.title: section.text for section in item.sections}
    issue |= {name: sections[name] for name in SECTIONS if name in sections}
    evidence = [entry for entry in list_evidence(item) if entry.type != "comment"]
    type_of_reason = "dropped" if item.fate == "dropped" else "note"  # as it is read
    reason = next((entry for entry in reversed(evidence) if entry.type == type_of_reason), None)
    others = [section for section in item.sections if section.title not in SECTIONS]
    if notes := append_parts(sections.get("notes", ""), others, [entry for entry in evidence if entry != reason]):
        issue["notes"] = notes
    issue |= {
        "status": _choose_status(item, has_unfinished_parts=has_unfinished_parts),
        "priority": _choose_priority(item),
        "issue_type": item.properties.get("type") or TYPE_DEFAULT,
    }
    names = {ours: name for name, ours in PROPERTIES.items() if name != "issue_type"}
    issue |= {names[name]: value for name, value in item.properties.items() if name in names}
    issue.setdefault("created_at", item.created_at)
    issue.setdefault("updated_at", item.updated_at)
    if reason is not None:
        issue["close_reason"] = reason.text
    for name in ("pinned", "ephemeral", "is_template", "metadata"):
        if name in item.properties:
            issue[name] = item.properties[name]
    if item.context_links:
        issue["external_ref"] = item.context_links[0]
    if labels := [tag for tag in item.tags if tag != issue["issue_type"]]:
        issue["labels"] = labels
    if dependencies := _list_dependencies(item, ids, parent):
        issue["dependencies"] = [{"issue_id": own_id, **dependency} for dependency in dependencies]
    if comments := [entry.text for entry in item.evidence if entry.type == "comment"]:
        issue["comments"] = [
            {"id": number, "issue_id": own_id, **_build_comment(text, item.updated_at)}
            for number, text in enumerate(comments, 1)
        ]
    return issue


def _build_comment(text: str, otherwise: str) -> dict[str, str]:
    """Return the author, the text and the date of a comment; one of ours has no author, and another date."""
    author, at, comment = split_comment(text)
    if not author or parse_time(at) is None:
        author, at, comment = "", otherwise, text
    return {"author": author, "text": comment, "created_at": at}


def _choose_status(item: ExportedItem, *, has_unfinished_parts: bool) -> str:
    status = STARTED_STATUS if item.fate == "open" and item.is_claimed else STATUSES[item.fate]
    # The hold of an issue is lifted while it has unfinished parts; other holds follow from fields that are written too.
    is_derived = item.fate != "open" or has_unfinished_parts
    return get_imported_status(item, TOOL, FATES, is_derived=is_derived) or status


def _choose_priority(item: ExportedItem) -> int:
    if item.priority is None:
        return PRIORITY_DEFAULT
    return min(max(round(PRIORITY_MAX - item.priority), 0), PRIORITY_MAX)


def _list_dependencies(item: ExportedItem, ids: dict[str, str], parent: str | None) -> list[dict[str, str]]:
    targets = [(ids[target], "blocks") for target in item.depends_on]
    targets += [(ids[link.id], "related" if link.type == "relates_to" else link.type) for link in item.links]
    if parent is not None:
        targets.append((ids[parent], PARENT_CHILD))
    return [{"depends_on_id": target, "type": type_, "created_at": item.created_at} for target, type_ in targets]


def _list_lost(item: ExportedItem, ids: dict[str, str]) -> list[ItemNote]:
    known = {*PROPERTIES.values(), *PROPERTIES_OF_IMPORT, "pinned", "ephemeral", "is_template", "metadata"}
    lost = [ItemNote(ids[item.id], name, "beads has no such field") for name in item.properties if name not in known]
    if len(item.context_links) > 1:
        lost.append(ItemNote(ids[item.id], "context_links", "beads has one external_ref"))
    return lost
