"""GitHub Copilot: `.github/instructions/**/*.instructions.md`, with the patterns in the text `applyTo`.

`.github/copilot-instructions.md` is for all files; it has no patterns.
"""

from __future__ import annotations

from groundplan.front_matter.split import FENCE
from groundplan.repository.rules.formats.front_matter import (
    Fields,
    UnreadableRule,
    find_patterns,
    parse_fields,
    parse_patterns,
    quote,
    quote_if_needed,
)
from groundplan.repository.rules.rule import ExportedAtom

FOLDER = ".github/instructions"
SUFFIX = ".instructions.md"
GENERAL_FILE = ".github/copilot-instructions.md"
PATTERN_FIELD = "applyTo"


def render_front_matter(subject: ExportedAtom) -> str:
    """Return the front matter of an instructions file."""
    joined = _render_front(subject, quote(",".join(subject.patterns)))
    if _reads_back(joined, subject):
        return joined
    # Patterns with commas, quotes or blanks at their ends need a list, which is exact.
    return _render_front(subject, f"[{', '.join(quote(pattern) for pattern in subject.patterns)}]")


def read_patterns(fields: Fields) -> tuple[str, ...]:
    """Return the patterns of an instructions file; none if it is only used when somebody attaches it.

    Raises:
        UnreadableRule: the field with patterns has none.
    """
    given = find_patterns(fields, PATTERN_FIELD)
    return parse_patterns(given) if given else ()


def _render_front(subject: ExportedAtom, apply_to: str) -> str:
    return f"{FENCE}\ndescription: {quote_if_needed(subject.name)}\napplyTo: {apply_to}\n{FENCE}\n"


def _reads_back(text: str, subject: ExportedAtom) -> bool:
    try:
        return read_patterns(parse_fields(text)) == subject.patterns
    except UnreadableRule:
        return False
