"""The parts of an item that all readers make alike: status words, sections, comments, tags and links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from groundplan.exchange.text_files import clean_text
from groundplan.work.importing.source_items import (
    SECTION_BYTES_MAX,
    Fate,
    SourceEvidence,
    SourceItem,
    SourceSection,
)
from groundplan.work.requests import LINKS_MAX, TAGS_MAX

EVIDENCE_BYTES_MAX = 4096
LINK_BYTES_MAX = 4096
TAG_CHARS_MAX = 100
INTEGER_MAX = 1 << 53  # the largest number that can be stored
OTHER_LINKS = "Links"  # the section for links beyond the limit


def normalize_word(word: str) -> str:
    """Return a status word for comparisons: without case, and with `_`, `-` and spaces alike."""
    return " ".join(word.replace("_", " ").replace("-", " ").casefold().split())


def choose_fate(word: str, fates: Mapping[str, Fate]) -> tuple[Fate, str | None]:
    """Return the fate for a status word and the reason of a hold; a word that is not known is held.

    `fates` has normalized words.
    """
    fate = fates.get(normalize_word(word), "held")
    return fate, f"status {word.strip() or 'missing'}" if fate == "held" else None


def add_section(item: SourceItem, title: str, text: Any) -> None:
    """Add a text to an item as a section, or as several if it is too long for one; a blank text adds none."""
    if not isinstance(text, str) or not text.strip():
        return
    parts = split_text(clean_text(text).strip("\n"), SECTION_BYTES_MAX)
    for number, part in enumerate(parts, 1):
        item.sections.append(SourceSection(title if number == 1 else f"{title} ({number})", part))


def add_comment(item: SourceItem, text: str, *, author: str = "", at: str = "") -> None:
    """Add a comment to an item as evidence with author and date in front, or as a section if it is too long."""
    heading = " ".join(clean_text(part) for part in (author, at) if part)
    comment = clean_text(text)
    if heading:
        comment = f"{heading}: {comment}"
    add_evidence(item, "comment", comment, section=f"Comment of {heading}"[:255] if heading else "Comment")


def add_evidence(item: SourceItem, type_: str, text: str, *, section: str) -> None:
    """Add evidence to an item, or a section under this title if the text is too long for evidence."""
    text = clean_text(text).strip()
    if not text:
        return
    if len(text.encode()) <= EVIDENCE_BYTES_MAX:
        item.evidence.append(SourceEvidence(type_, text))
    else:
        add_section(item, section, text)


def make_tags(labels: Iterable[Any]) -> list[str]:
    """Return labels as tags: trimmed, each once, without empty ones."""
    texts = (clean_text(label).strip()[:TAG_CHARS_MAX].strip() for label in labels if isinstance(label, str))
    return list(dict.fromkeys(text for text in texts if text))[:TAGS_MAX]


def add_links(item: SourceItem, links: Iterable[str]) -> None:
    """Add context links to an item; those beyond the limit go into a section."""
    texts = [clean_text(link).strip() for link in links]
    known = {*item.context_links}
    fresh = [link for link in dict.fromkeys(texts) if link and link not in known]
    fit = [link for link in fresh if len(link.encode()) <= LINK_BYTES_MAX][: LINKS_MAX - len(item.context_links)]
    item.context_links += fit
    kept = {*fit}
    if rest := [link for link in fresh if link not in kept]:
        add_section(item, OTHER_LINKS, "\n".join(f"- {link}" for link in rest))


def split_text(text: str, bytes_max: int) -> list[str]:
    """Return a text in parts of at most so many bytes, cut at line breaks where that is possible."""
    encoded = text.encode()
    parts: list[str] = []
    start = 0
    while len(encoded) - start > bytes_max:
        end = encoded.rfind(b"\n", start + 1, start + bytes_max) + 1
        if end == 0:  # a line that is too long is cut between two characters
            end = start + bytes_max
            while encoded[end] & 0xC0 == 0x80:
                end -= 1
        parts.append(encoded[start:end].decode().rstrip("\n"))
        start = end
    return [*parts, encoded[start:].decode()]


def clean_property(value: Any) -> Any:
    """Return a JSON value with texts that can be stored; numbers that cannot are texts."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        return {clean_text(str(name)): clean_property(one) for name, one in value.items()}
    if isinstance(value, list):
        return [clean_property(one) for one in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value if abs(value) <= INTEGER_MAX else str(value)  # also for NaN, which compares with nothing
    return value
