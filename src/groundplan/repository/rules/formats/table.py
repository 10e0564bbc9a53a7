"""The formats there are, and what each makes of an atom."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from groundplan.repository.rules import marking
from groundplan.repository.rules.formats import claude, cursor, front_matter
from groundplan.repository.rules.formats.front_matter import Fields
from groundplan.repository.rules.line_breaks import with_lf
from groundplan.repository.rules.marking import Block, Piece
from groundplan.repository.rules.rule import Rule, Subject, body_of, written

SUBFOLDER = "groundplan"  # both tools look into the folders below their own


class Format(StrEnum):
    """Whose files they are."""

    CLAUDE = "claude"
    CURSOR = "cursor"
    AGENTS = "agents"


@dataclass(frozen=True, slots=True)
class OwnFiles:
    """A format in which every rule is a file of its own, with its patterns in the front matter."""

    folder: str
    suffix: str
    front: Callable[[Subject], str]
    patterns: Callable[[Fields], tuple[str, ...]]

    @property
    def home(self) -> str:
        """The folder of what Groundplan writes, among the rules of other people."""
        return f"{self.folder}/{SUBFOLDER}"


OWN_FILES = {
    Format.CLAUDE: OwnFiles(claude.FOLDER, claude.SUFFIX, claude.front, claude.patterns),
    Format.CURSOR: OwnFiles(cursor.FOLDER, cursor.SUFFIX, cursor.front, cursor.patterns),
}


def piece_of(subject: Subject, form: Format) -> Piece:
    """What is written for an atom."""
    own = OWN_FILES.get(form)
    return marking.made(
        atom_id=subject.atom_id,
        version=subject.version,
        project_id=subject.project_id,
        front=own.front(subject) if own else "",
        body=body_of(subject, names_files=own is None),
    )


def rule_in(piece: Piece, form: Format) -> Rule:
    """What a piece says.

    Raises:
        Unreadable: its front matter was damaged.
    """
    rule = written(piece.body)
    if own := OWN_FILES.get(form):
        return Rule(rule.knowledge, rule.name, own.patterns(front_matter.fields(piece.front)))
    return rule


def carries(piece: Piece, subject: Subject, form: Format) -> bool:
    """Whether a piece says all that it should, so that an import finds the atom in it again."""
    if form is Format.AGENTS and marking.in_text(piece.as_block) != [Block(piece.as_block, piece)]:
        return False
    return rule_in(piece, form) == Rule(with_lf(subject.knowledge), subject.name, subject.patterns)
