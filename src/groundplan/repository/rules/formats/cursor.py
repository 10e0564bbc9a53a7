"""Cursor: `.cursor/rules/**/*.mdc`, with the patterns in the text `globs`, or `alwaysApply: true` for all files."""

from __future__ import annotations

from groundplan.front_matter.split import FENCE
from groundplan.repository.rules.formats.front_matter import (
    Fields,
    UnreadableRule,
    find_patterns,
    is_true,
    parse_fields,
    parse_patterns,
    quote,
    quote_if_needed,
)
from groundplan.repository.rules.rule import ExportedAtom

FOLDER = ".cursor/rules"
SUFFIX = ".mdc"
PATTERN_FIELD = "globs"


def render_front_matter(subject: ExportedAtom) -> str:
    """Return the front matter of a rule file."""
    bare = _render_front(subject, ",".join(subject.patterns))
    if _reads_back(bare, subject):
        return bare
    # Patterns with commas, quotes or blanks need a list, which Cursor does not document, but which is exact.
    return _render_front(subject, f"[{', '.join(quote(pattern) for pattern in subject.patterns)}]")


def read_patterns(fields: Fields) -> tuple[str, ...]:
    """Return the patterns of a rule; none if it is only used when it is named or its description fits.

    Raises:
        UnreadableRule: the field with patterns has none.
    """
    if is_true(fields.get("alwaysApply")):
        return ("**",)
    given = find_patterns(fields, PATTERN_FIELD)
    return parse_patterns(given) if given else ()


def _render_front(subject: ExportedAtom, globs: str) -> str:
    # Cursor treats quotes around globs as part of them, and stops at a blank after a comma.
    return f"{FENCE}\ndescription: {quote_if_needed(subject.name)}\nglobs: {globs}\nalwaysApply: false\n{FENCE}\n"


def _reads_back(text: str, subject: ExportedAtom) -> bool:
    try:
        return read_patterns(parse_fields(text)) == subject.patterns
    except UnreadableRule:
        return False
