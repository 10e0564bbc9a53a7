"""Claude Code: `.claude/rules/**/*.md`, with the patterns as the list `paths`; a rule without it is for every file."""

from __future__ import annotations

from groundplan.repository.rules.formats.front_matter import FENCE, Fields, patterns_in, quoted
from groundplan.repository.rules.rule import Subject

FOLDER = ".claude/rules"
SUFFIX = ".md"


def front(subject: Subject) -> str:
    """The head of a rule file."""
    # A list with an item on each line, in quotes: the one form that every version which knows lists reads.
    items = "".join(f"  - {quoted(pattern)}\n" for pattern in subject.patterns)
    return f"{FENCE}\npaths:\n{items}{FENCE}\n"


def patterns(fields: Fields) -> tuple[str, ...]:
    """For which files a rule is.

    Raises:
        Unreadable: it has a list of them, and nothing in it.
    """
    # Older files have Cursor's word for it, which the tool understands too.
    given = fields.get("paths", fields.get("globs"))
    return ("**",) if given is None else patterns_in(given)
