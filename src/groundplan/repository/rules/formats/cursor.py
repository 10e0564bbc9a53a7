"""Cursor: `.cursor/rules/**/*.mdc`, with the patterns as the text `globs`, or `alwaysApply: true` for every file."""

from __future__ import annotations

from groundplan.repository.rules.formats.front_matter import (
    FENCE,
    Fields,
    UnreadableRule,
    is_true,
    parse_fields,
    parse_patterns,
    quote,
    quote_if_needed,
)
from groundplan.repository.rules.rule import ExportedAtom

FOLDER = ".cursor/rules"
SUFFIX = ".mdc"


def render_front_matter(subject: ExportedAtom) -> str:
    """The head of a rule file."""
    bare = _front(subject, ",".join(subject.patterns))
    if _reads_back(bare, subject):
        return bare
    # Commas, quotes or blanks in a pattern: a list, which is more than Cursor documents, but exact.
    return _front(subject, f"[{', '.join(quote(pattern) for pattern in subject.patterns)}]")


def read_patterns(given: Fields) -> tuple[str, ...]:
    """For which files a rule is.

    Raises:
        UnreadableRule: for none in particular; somebody has to ask for it by name.
    """
    if is_true(given.get("alwaysApply")):
        return ("**",)
    globs = given.get("globs") or given.get("paths")
    if not globs:
        raise UnreadableRule("is for no files in particular; give it globs, or alwaysApply: true")
    return parse_patterns(globs)


def _front(subject: ExportedAtom, globs: str) -> str:
    # Cursor takes quotes around globs for a part of them, and stops at a blank behind a comma.
    return f"{FENCE}\ndescription: {quote_if_needed(subject.name)}\nglobs: {globs}\nalwaysApply: false\n{FENCE}\n"


def _reads_back(text: str, subject: ExportedAtom) -> bool:
    try:
        return read_patterns(parse_fields(text)) == subject.patterns
    except UnreadableRule:
        return False
