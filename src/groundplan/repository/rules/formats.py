"""The formats of rule files: the places where each tool looks for them, and their syntax of patterns.

AGENTS.md is plain Markdown that applies to its directory, unless a deeper AGENTS.md overrides it. Several atoms may
share a file, and people write in it too, so each atom has a block between two marks. The others have a file for each
rule, with the patterns in its front matter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from groundplan.front_matter import FENCE
from groundplan.knowledge.paths.pattern import parse_pattern
from groundplan.repository.rules import front_matter, marks
from groundplan.repository.rules.folder import SKIPPED_FOLDERS
from groundplan.repository.rules.front_matter import (
    Fields,
    UnreadableRule,
    find_patterns,
    is_true,
    parse_fields,
    parse_patterns,
    quote,
    quote_if_needed,
)
from groundplan.repository.rules.marks import Piece, RuleBlock
from groundplan.repository.rules.rule import ExportedAtom, Rule, normalize_line_breaks, parse_generated, render_body

# --- AGENTS.md --------------------------------------------------------------------------------------------------------

AGENTS_FILE = "AGENTS.md"
_SPECIAL = "*?[{\\"


def choose_file(patterns: Sequence[str]) -> str:
    """Return the file in the deepest folder that contains all possible matches of the patterns."""
    shared: list[str] | None = None
    for pattern in patterns:
        for directory in _list_directories(pattern):
            shared = directory if shared is None else _find_common_prefix(shared, directory)
    kept = []
    for name in shared or ():
        if name in SKIPPED_FOLDERS:
            break  # tools do not look there, and neither does the next export
        kept.append(name)
    return "/".join((*kept, AGENTS_FILE))


def build_patterns(directory: str) -> tuple[str, ...]:
    """Return the patterns for an AGENTS.md in this folder. An empty text means the root."""
    return (f"{escape_path(directory)}/**" if directory else "**",)


def escape_path(path: str) -> str:
    """Return a pattern that matches only this path."""
    plain = "".join(f"\\{char}" if char in _SPECIAL else char for char in path)
    return f"\\{plain}" if plain.startswith("!") else plain


def _list_directories(pattern: str) -> list[list[str]]:
    parsed = parse_pattern(pattern)
    heads = [route.head for route in parsed.routes] or [parsed.text.rpartition("/")[0]]
    return [[name for name in head.split("/") if name] for head in heads]


def _find_common_prefix(first: list[str], second: list[str]) -> list[str]:
    same = 0
    while same < min(len(first), len(second)) and first[same] == second[same]:
        same += 1
    return first[:same]


# --- Claude Code: `.claude/rules/**/*.md`, with the patterns in the list `paths`; a rule without it applies to all ----


def render_claude(subject: ExportedAtom) -> str:
    """Return the front matter of a rule file."""
    # A list with one quoted item per line is the form that every version with lists can read.
    items = "".join(f"  - {quote(pattern)}\n" for pattern in subject.patterns)
    return f"{FENCE}\npaths:\n{items}{FENCE}\n"


def read_claude_patterns(fields: Fields) -> tuple[str, ...]:
    """Return the patterns of a rule."""
    given = fields.get("paths", find_patterns(fields, "paths"))
    return ("**",) if given is None else parse_patterns(given)


# --- GitHub Copilot: `.github/instructions/**/*.instructions.md`, with the patterns in the text `applyTo` -------------
# `.github/copilot-instructions.md` is for all files; it has no patterns.


def render_copilot(subject: ExportedAtom) -> str:
    """Return the front matter of an instructions file."""
    joined = _render_copilot_front(subject, quote(",".join(subject.patterns)))
    if _reads_back(joined, subject, read_copilot_patterns):
        return joined
    # Patterns with commas, quotes or blanks at their ends need a list, which is exact.
    return _render_copilot_front(subject, f"[{', '.join(quote(pattern) for pattern in subject.patterns)}]")


def read_copilot_patterns(fields: Fields) -> tuple[str, ...]:
    """Return the patterns of an instructions file; none if it applies only when a user attaches it."""
    given = find_patterns(fields, "applyTo")
    return parse_patterns(given) if given else ()


def _render_copilot_front(subject: ExportedAtom, apply_to: str) -> str:
    return f"{FENCE}\ndescription: {quote_if_needed(subject.name)}\napplyTo: {apply_to}\n{FENCE}\n"


# --- Cursor: `.cursor/rules/**/*.mdc`, with the patterns in the text `globs`, or `alwaysApply: true` for all files ----


def render_cursor(subject: ExportedAtom) -> str:
    """Return the front matter of a rule file."""
    bare = _render_cursor_front(subject, ",".join(subject.patterns))
    if _reads_back(bare, subject, read_cursor_patterns):
        return bare
    # Patterns with commas, quotes or blanks need a list, which Cursor does not document, but which is exact.
    return _render_cursor_front(subject, f"[{', '.join(quote(pattern) for pattern in subject.patterns)}]")


def read_cursor_patterns(fields: Fields) -> tuple[str, ...]:
    """Return the patterns of a rule; none if Cursor applies it by its name or its description and not by files."""
    if is_true(fields.get("alwaysApply")):
        return ("**",)
    given = find_patterns(fields, "globs")
    return parse_patterns(given) if given else ()


def _render_cursor_front(subject: ExportedAtom, globs: str) -> str:
    # Cursor treats quotes around globs as part of them, and stops at a blank after a comma.
    return f"{FENCE}\ndescription: {quote_if_needed(subject.name)}\nglobs: {globs}\nalwaysApply: false\n{FENCE}\n"


# --- The table of formats, and rendering and parsing of pieces in each ------------------------------------------------

SUBFOLDER = "groundplan"  # the tools also read subfolders


class RuleFormat(StrEnum):
    """The supported formats of rule files."""

    CLAUDE = "claude"
    CURSOR = "cursor"
    AGENTS = "agents"
    COPILOT = "copilot"


@dataclass(frozen=True, slots=True)
class OwnFiles:
    """A format with one file per rule and the patterns in the front matter."""

    folder: str
    suffix: str
    pattern_field: str
    front: Callable[[ExportedAtom], str]
    patterns: Callable[[Fields], tuple[str, ...]]
    general_file: str | None = None  # one that is for all files

    @property
    def generated_folder(self) -> str:
        """The folder for generated rules."""
        return f"{self.folder}/{SUBFOLDER}"


OWN_FILES = {
    RuleFormat.CLAUDE: OwnFiles(".claude/rules", ".md", "paths", render_claude, read_claude_patterns),
    RuleFormat.CURSOR: OwnFiles(".cursor/rules", ".mdc", "globs", render_cursor, read_cursor_patterns),
    RuleFormat.COPILOT: OwnFiles(
        ".github/instructions",
        ".instructions.md",
        "applyTo",
        render_copilot,
        read_copilot_patterns,
        general_file=".github/copilot-instructions.md",
    ),
}


def _reads_back(text: str, subject: ExportedAtom, read_patterns: Callable[[Fields], tuple[str, ...]]) -> bool:
    try:
        return read_patterns(parse_fields(text)) == subject.patterns
    except UnreadableRule:
        return False


def render_piece(subject: ExportedAtom, form: RuleFormat) -> Piece:
    """Return an atom as a generated piece of text."""
    own = OWN_FILES.get(form)
    return marks.make_piece(
        atom_id=subject.atom_id,
        version=subject.version,
        project_id=subject.project_id,
        front=own.front(subject) if own else "",
        body=render_body(subject, names_files=own is None),
    )


def parse_piece(piece: Piece, form: RuleFormat) -> Rule:
    """Parse a generated piece of text."""
    rule = parse_generated(piece.body)
    if own := OWN_FILES.get(form):
        patterns = own.patterns(front_matter.parse_fields(piece.front))
        if not patterns:
            raise UnreadableRule(f"has no file patterns any more; give it the field {own.pattern_field} back")
        return replace(rule, patterns=patterns)
    return rule


def survives_round_trip(piece: Piece, subject: ExportedAtom, form: RuleFormat) -> bool:
    """Return True if parsing a piece gives back its atom, so that an import can find it."""
    if form is RuleFormat.AGENTS and marks.parse_text(piece.as_block) != [RuleBlock(piece.as_block, piece)]:
        return False
    return parse_piece(piece, form) == Rule(
        normalize_line_breaks(subject.knowledge),
        subject.name,
        subject.patterns,
        subject.part_of,
        normalize_line_breaks(subject.molecule_knowledge) or None,
    )
