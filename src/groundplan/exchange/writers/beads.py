"""Write the issues of beads: one line for each node, sorted by id, with the keys that beads knows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from groundplan.exchange.item_parts import normalize_word
from groundplan.exchange.model import ItemNote
from groundplan.exchange.readers.beads.rules import FATES, PARENT_CHILD, PRIORITY_MAX, PROPERTIES, SECTIONS, TOOL
from groundplan.exchange.writers.written_files import (
    PREFIX,
    PROPERTIES_OF_IMPORT,
    WrittenFiles,
    get_source_parent,
    index_by_source,
    restore_loops,
)
from groundplan.kernel.operations.progress import count_progress
from groundplan.work.importing.export_items import ExportedItem

STATUSES = {"done": "closed", "dropped": "cancelled", "open": "open", "held": "deferred"}
STARTED = "in_progress"
PRIORITY_DEFAULT = 2
TYPE_DEFAULT = "task"


def write(items: Sequence[ExportedItem]) -> WrittenFiles:
    """Return the lines of `issues.jsonl`."""
    items = restore_loops(items)
    by_source = index_by_source(items, TOOL)
    ids = {item.id: item.sources.get(TOOL, f"{PREFIX}{item.id}") for item in items}
    written = WrittenFiles({})
    lines = []
    for item in count_progress(sorted(items, key=lambda one: ids[one.id]), len(items)):
        issue = _build_issue(item, ids, get_source_parent(item, by_source))
        lines.append(json.dumps(issue, ensure_ascii=False, separators=(",", ":")))
        written.lost += _list_lost(item, ids)
    written.files[""] = "".join(f"{line}\n" for line in lines)
    return written


def _build_issue(item: ExportedItem, ids: dict[str, str], parent: str | None) -> dict[str, Any]:
    own_id = ids[item.id]
    issue: dict[str, Any] = {"id": own_id, "title": item.title}
    sections = {section.title: section.text for section in item.sections}
    issue |= {name: sections[name] for name in SECTIONS if name in sections}
    others = [f"## {title}\n\n{text}" for title, text in sections.items() if title not in SECTIONS]
    if others:
        issue["notes"] = "\n\n".join([*([issue["notes"]] if "notes" in issue else ()), *others])
    issue |= {
        "status": _choose_status(item),
        "priority": _choose_priority(item),
        "issue_type": item.properties.get("type") or TYPE_DEFAULT,
    }
    names = {ours: name for name, ours in PROPERTIES.items() if name != "issue_type"}
    issue |= {names[name]: value for name, value in item.properties.items() if name in names}
    issue.setdefault("created_at", item.created_at)
    issue.setdefault("updated_at", item.updated_at)
    if reasons := [one.text for one in item.evidence if one.type in ("note", "dropped")]:
        issue["close_reason"] = "\n\n".join(reasons)
    for name in ("pinned", "ephemeral", "is_template", "metadata"):
        if name in item.properties:
            issue[name] = item.properties[name]
    if item.context_links:
        issue["external_ref"] = item.context_links[0]
    if labels := [tag for tag in item.tags if tag != issue["issue_type"]]:
        issue["labels"] = labels
    if dependencies := _list_dependencies(item, ids, parent):
        issue["dependencies"] = [{"issue_id": own_id, **one} for one in dependencies]
    if comments := [one.text for one in item.evidence if one.type == "comment"]:
        issue["comments"] = [
            {"id": number, "issue_id": own_id, "author": "", "text": text, "created_at": item.updated_at}
            for number, text in enumerate(comments, 1)
        ]
    return issue


def _choose_status(item: ExportedItem) -> str:
    given = item.properties.get("source_status")
    if item.properties.get("source") == TOOL and isinstance(given, str):
        # A word that is not known was held; pinned flags and types hold an issue whose word says that it is open.
        fate = FATES.get(normalize_word(given), "held")
        if fate == item.fate or (fate == "open" and item.fate == "held" and _is_held_by_rule(item)):
            return given
    return STARTED if item.fate == "open" and item.is_claimed else STATUSES[item.fate]


def _is_held_by_rule(item: ExportedItem) -> bool:
    """Return whether beads itself would not offer the issue, so that its word can stay."""
    reason = item.hold_reason or ""
    return reason in ("pinned", "ephemeral", "template") or reason.startswith(
        ("type ", "deferred until ", "its parent ")
    )


def _choose_priority(item: ExportedItem) -> int:
    if item.priority is None:
        return PRIORITY_DEFAULT
    return min(max(round(PRIORITY_MAX - item.priority), 0), PRIORITY_MAX)


def _list_dependencies(item: ExportedItem, ids: dict[str, str], parent: str | None) -> list[dict[str, str]]:
    found = [(ids[target], "blocks") for target in item.depends_on]
    found += [(ids[link.id], "related" if link.type == "relates_to" else link.type) for link in item.links]
    if parent is not None:
        found.append((ids[parent], PARENT_CHILD))
    return [{"depends_on_id": target, "type": type_, "created_at": item.created_at} for target, type_ in found]


def _list_lost(item: ExportedItem, ids: dict[str, str]) -> list[ItemNote]:
    known = {*PROPERTIES.values(), *PROPERTIES_OF_IMPORT, "pinned", "ephemeral", "is_template", "metadata"}
    lost = [ItemNote(ids[item.id], name, "beads has no such field") for name in item.properties if name not in known]
    if len(item.context_links) > 1:
        lost.append(ItemNote(ids[item.id], "context_links", "beads has one external_ref"))
    lost += [
        ItemNote(ids[item.id], "evidence", f"beads has no evidence of type {one.type}")
        for one in item.evidence
        if one.type not in ("note", "dropped", "comment")
    ]
    return lost
