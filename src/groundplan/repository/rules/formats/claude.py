"""Claude Code: `.claude/rules/**/*.md`, with the patterns as the list `paths`; a rule without it is for every file."""

from __future__ import annotations

from groundplan.repository.rules.formats.front_matter import FENCE, Fields, parse_patterns, quote
from groundplan.repository.rules.rule import ExportedAtom

FOLDER = ".claude/rules"
SUFFIX = ".md"


def render_front_matter(subject: ExportedAtom) -> str:
    """The head of a rule file."""
    # A list with an item on each line, in quotes: the one form that every version which knows lists reads.
    items = "".join(f"  - {quote(pattern)}\n" for pattern in subject.patterns)
    return f"{FENCE}\npaths:\n{items}{FENCE}\n"


def read_patterns(fields: Fields) -> tuple[str, ...]:
    """For which files a rule is.

    Raises:
        UnreadableRule: it has a list of them, and nothing in it.
    """
    # Older files have Cursor's word for it, which the tool understands too.
    given = fields.get("paths", fields.get("globs"))
    return ("**",) if given is None else parse_patterns(given)
