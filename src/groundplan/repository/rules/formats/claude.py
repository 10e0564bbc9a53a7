"""Claude Code: `.claude/rules/**/*.md`, with the patterns in the list `paths`; a rule without it applies to all."""

from __future__ import annotations

from groundplan.front_matter.split import FENCE
from groundplan.repository.rules.formats.front_matter import Fields, find_patterns, parse_patterns, quote
from groundplan.repository.rules.rule import ExportedAtom

FOLDER = ".claude/rules"
SUFFIX = ".md"
PATTERN_FIELD = "paths"


def render_front_matter(subject: ExportedAtom) -> str:
    """Return the front matter of a rule file."""
    # A list with one quoted item per line is the form that every version with lists can read.
    items = "".join(f"  - {quote(pattern)}\n" for pattern in subject.patterns)
    return f"{FENCE}\npaths:\n{items}{FENCE}\n"


def read_patterns(fields: Fields) -> tuple[str, ...]:
    """Return the patterns of a rule.

    Raises:
        UnreadableRule: the list of patterns is empty.
    """
    given = fields.get(PATTERN_FIELD, find_patterns(fields, PATTERN_FIELD))
    return ("**",) if given is None else parse_patterns(given)
