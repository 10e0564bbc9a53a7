"""An item as fields that can be compared one by one, and what is kept of it for the next import.

Long texts are kept as digests: whether a field changed is all that a comparison needs of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct

from groundplan.work.importing.source_items import SourceEvidence, SourceItem, SourceLink
from groundplan.work.kinds import PRIORITY

KEPT_CHARS_MAX = 200  # of a text; a longer one is kept as a digest
DIGEST = "sha256:"

PROPERTIES = "properties."
SECTIONS = "sections."


class ImportBase(Struct, omit_defaults=True):
    """What the file said about an item at the last import; and what was written where the two differ."""

    fields: dict[str, Any] = {}
    depends_on: list[str] = []
    links: list[tuple[str, str]] = []
    tags: list[str] = []
    context_links: list[str] = []
    evidence: list[str] = []
    written: dict[str, Any] = {}
    keeps_parent: bool = False  # the parent here stays: below that of the file, the node would wait for itself
    loops: list[str] = []  # dependencies that were left out, because they close a loop


def compute_digest(value: Any) -> str:
    """Return a digest of a JSON value, independent of the order of keys."""
    return sha256(msgspec.json.encode(value, order="sorted")).hexdigest()


def digest_item(item: SourceItem) -> str:
    """Return a digest of what an item says; its place in the file does not count, nor does the order of sets."""
    sets = {"depends_on": sorted({*item.depends_on}), "tags": sorted({*item.tags}), "links": _sort_links(item)}
    return compute_digest(msgspec.structs.replace(item, file="", line=None, **sets))


def _sort_links(item: SourceItem) -> list[SourceLink]:
    return sorted({*item.links}, key=lambda link: (link.type, link.source_id))


def shorten(value: Any) -> Any:
    """Return a value as it is kept: a long one as a digest."""
    if isinstance(value, str) and len(value) <= KEPT_CHARS_MAX:
        return value
    if isinstance(value, str | dict | list):
        encoded = msgspec.json.encode(value, order="sorted")
        return value if len(encoded) <= KEPT_CHARS_MAX else f"{DIGEST}{sha256(encoded).hexdigest()}"
    return value


def is_same(one: Any, other: Any) -> bool:
    """Return whether two values are the same JSON, of which either may be kept as a digest."""
    return bool(compute_digest(shorten(one)) == compute_digest(shorten(other)))


def describe_fate(fate: str, hold_reason: str | None) -> str:
    """Return a fate as one text, with the reason of a hold."""
    return f"held: {hold_reason}" if fate == "held" else fate


def build_properties(item: SourceItem, tool: str) -> dict[str, Any]:
    """Return the properties of the node of an item."""
    priority = item.priority
    added = {
        PRIORITY: int(priority) if priority is not None and priority.is_integer() else priority,
        "source": tool,
        "source_id": item.source_id,
        "source_status": item.source_status,
    }
    return {**item.properties, **{name: value for name, value in added.items() if value is not None}}


def list_fields(item: SourceItem, tool: str) -> dict[str, Any]:
    """Return the fields of an item that have one value each; those that are empty are left out."""
    fields: dict[str, Any] = {
        "title": item.title,
        "fate": describe_fate(item.fate, item.hold_reason),
        "state": item.state,
        "parent": item.parent,
    }
    if item.is_group:  # follows from its items
        del fields["fate"]
    fields |= {f"{PROPERTIES}{name}": value for name, value in build_properties(item, tool).items()}
    fields |= {f"{SECTIONS}{title}": text for title, text in list_sections(item).items()}
    return {name: value for name, value in fields.items() if value is not None}


def list_sections(item: SourceItem) -> dict[str, str]:
    """Return the sections of an item by title; one that repeats a title is numbered."""
    found: dict[str, str] = {}
    numbers: dict[str, int] = {}  # the last number of each title, so that many equal ones are not counted again
    for section in item.sections:
        title, number = section.title, numbers.get(section.title, 1)
        while title in found:
            number += 1
            title = f"{section.title} [{number}]"
        numbers[section.title] = number
        found[title] = section.text
    return found


def digest_evidence(evidence: Iterable[SourceEvidence]) -> list[str]:
    """Return a short digest for each entry of evidence, to tell which ones are new."""
    return [compute_digest([entry.type, entry.text])[:16] for entry in evidence]


def build_base(item: SourceItem, tool: str) -> ImportBase:
    """Return what is kept of an item for the next import."""
    return ImportBase(
        fields={name: shorten(value) for name, value in list_fields(item, tool).items()},
        depends_on=sorted({*item.depends_on}),
        links=[(link.type, link.source_id) for link in _sort_links(item)],
        tags=sorted({*item.tags}),
        context_links=list(dict.fromkeys(item.context_links)),
        evidence=digest_evidence(item.evidence),
    )
