"""The table of formats, and rendering and parsing of pieces in each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from groundplan.repository.rules import marks
from groundplan.repository.rules.formats import claude, copilot, cursor, front_matter
from groundplan.repository.rules.formats.front_matter import Fields, UnreadableRule
from groundplan.repository.rules.line_breaks import normalize_line_breaks
from groundplan.repository.rules.marks import Piece, RuleBlock
from groundplan.repository.rules.rule import ExportedAtom, Rule, parse_generated, render_body

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
    form: OwnFiles(tool.FOLDER, tool.SUFFIX, tool.PATTERN_FIELD, tool.render_front_matter, tool.read_patterns)
    for form, tool in (
        (RuleFormat.CLAUDE, claude),
        (RuleFormat.CURSOR, cursor),
        (RuleFormat.COPILOT, copilot),
    )
}
OWN_FILES[RuleFormat.COPILOT] = replace(OWN_FILES[RuleFormat.COPILOT], general_file=copilot.GENERAL_FILE)


def render_piece(subject: ExportedAtom, form: RuleFormat) -> Piece:
    """Return the piece of an atom."""
    own = OWN_FILES.get(form)
    return marks.make_piece(
        atom_id=subject.atom_id,
        version=subject.version,
        project_id=subject.project_id,
        front=own.front(subject) if own else "",
        body=render_body(subject, names_files=own is None),
    )


def parse_piece(piece: Piece, form: RuleFormat) -> Rule:
    """Parse a piece.

    Raises:
        UnreadableRule: the front matter is damaged, or its patterns were removed.
    """
    rule = parse_generated(piece.body)
    if own := OWN_FILES.get(form):
        patterns = own.patterns(front_matter.parse_fields(piece.front))
        if not patterns:
            raise UnreadableRule(f"has no file patterns any more; give it the field {own.pattern_field} back")
        return replace(rule, patterns=patterns)
    return rule


def survives_round_trip(piece: Piece, subject: ExportedAtom, form: RuleFormat) -> bool:
    """Return whether parsing a piece gives back its atom, so that an import can find it."""
    if form is RuleFormat.AGENTS and marks.parse_text(piece.as_block) != [RuleBlock(piece.as_block, piece)]:
        return False
    return parse_piece(piece, form) == Rule(
        normalize_line_breaks(subject.knowledge),
        subject.name,
        subject.patterns,
        subject.part_of,
        normalize_line_breaks(subject.molecule_knowledge) or None,
    )
