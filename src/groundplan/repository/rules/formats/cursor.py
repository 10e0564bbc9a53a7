"""Cursor: `.cursor/rules/**/*.mdc`, with the patterns as the text `globs`, or `alwaysApply: true` for every file."""

from __future__ import annotations

from groundplan.repository.rules.formats.front_matter import (
    FENCE,
    Fields,
    Unreadable,
    fields,
    is_true,
    patterns_in,
    plain,
    quoted,
)
from groundplan.repository.rules.rule import Subject

FOLDER = ".cursor/rules"
SUFFIX = ".mdc"


def front(subject: Subject) -> str:
    """The head of a rule file."""
    bare = _front(subject, ",".join(subject.patterns))
    if _reads_back(bare, subject):
        return bare
    # Commas, quotes or blanks in a pattern: a list, which is more than Cursor documents, but exact.
    return _front(subject, f"[{', '.join(quoted(pattern) for pattern in subject.patterns)}]")


def patterns(given: Fields) -> tuple[str, ...]:
    """For which files a rule is.

    Raises:
        Unreadable: for none in particular; somebody has to ask for it by name.
    """
    if is_true(given.get("alwaysApply")):
        return ("**",)
    globs = given.get("globs") or given.get("paths")
    if not globs:
        raise Unreadable("is for no files in particular; give it globs, or alwaysApply: true")
    return patterns_in(globs)


def _front(subject: Subject, globs: str) -> str:
    # Cursor takes quotes around globs for a part of them, and stops at a blank behind a comma.
    return f"{FENCE}\ndescription: {plain(subject.name)}\nglobs: {globs}\nalwaysApply: false\n{FENCE}\n"


def _reads_back(text: str, subject: Subject) -> bool:
    try:
        return patterns(fields(text)) == subject.patterns
    except Unreadable:
        return False
