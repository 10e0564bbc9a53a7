"""One issue of beads as an item: its fate, texts and properties. Its links are resolved when all issues are known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from groundplan.exchange.item_parts import (
    add_comment,
    add_evidence,
    add_links,
    add_section,
    choose_fate,
    clean_property,
    make_tags,
    normalize_word,
)
from groundplan.exchange.model import SourcePlan
from groundplan.exchange.readers.beads.rules import FATES, KNOWN_FIELDS, PRIORITY_MAX, PROPERTIES, SECTIONS, STARTED
from groundplan.exchange.text_files import clean_text, clean_title, describe_title_changes
from groundplan.work.importing.source_items import ALIAS_CHARS_MAX, SourceItem

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
        """Return whether a flag is set; a backup has 0 and 1."""
        return self.fields.get(name) in (True, 1)

    def iter_dependencies(self) -> Iterator[tuple[str, str]]:
        """Yield the type and the target of each dependency."""
        dependencies = self.fields.get("dependencies")
        for one in dependencies if isinstance(dependencies, list) else ():
            if isinstance(one, dict) and isinstance(target := one.get("depends_on_id"), str) and target:
                type_ = one.get("type")
                yield (type_ if isinstance(type_, str) and type_ else "blocks"), target


def parse_time(value: Any) -> datetime | None:
    """Return a time of RFC 3339, or None if the value is none."""
    if not isinstance(value, str):
        return None
    try:
        parsed = datetime.fromisoformat(value)
    except ValueError:
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def make_item(plan: SourcePlan, issue: Issue) -> SourceItem:
    """Return an issue as an item without links, and note what was changed about it."""
    title = clean_title(issue.fields["title"])
    if (changed := describe_title_changes(issue.fields["title"], title)) is not None:
        plan.note_placed(issue.id, "title", changed)
    fate, hold_reason = choose_fate(issue.status, FATES)
    if hold_reason is not None:
        plan.note_placed(issue.id, "status", f"is held: {hold_reason}")
    item = SourceItem(
        source_id=issue.id,
        title=title,
        aliases=[issue.id] if len(issue.id) <= ALIAS_CHARS_MAX else [],
        fate=fate,
        hold_reason=hold_reason,
        source_status=clean_title(issue.status)[:255] or None,
        state=issue.status if normalize_word(issue.status) == STARTED else None,
        priority=_get_priority(issue),
        tags=make_tags([*_list_labels(issue), issue.type]),
        properties=_list_properties(issue),
        file=issue.file,
        line=issue.line,
    )
    for name in SECTIONS:
        text = issue.text(name)
        if text != clean_text(text) and "\r" not in text:
            plan.note_placed(issue.id, name, "control characters were replaced")
        add_section(item, name, text)
    _add_comments(item, issue)
    if reason := issue.text("close_reason"):
        add_evidence(item, "dropped" if fate == "dropped" else "note", reason, section="close_reason")
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
            add_comment(
                item,
                clean_text(text),
                author=author if isinstance(author, str) else "",
                at=at if isinstance(at, str) else "",
            )
