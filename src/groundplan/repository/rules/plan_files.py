"""The plan of an export: all changes to the files of a working copy, computed before any of them is made."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from groundplan.repository.rules import formats, front_matter, marks
from groundplan.repository.rules.folder import Folder, UnusableFile
from groundplan.repository.rules.formats import OwnFiles, RuleFormat, parse_piece
from groundplan.repository.rules.front_matter import UnreadableRule
from groundplan.repository.rules.marks import Piece, RuleBlock, UnclosedBlock
from groundplan.repository.rules.rule import (
    CRLF,
    LF,
    Rule,
    apply_line_breaks,
    assign_slugs,
    detect_line_breaks,
    list_display_lines,
    normalize_rule,
)

HAND_EDITED = "was edited by hand"
NOT_OURS = "was not written by Groundplan"
REPAIRED = "had a block without its last line; the text is yours now, so delete what the new block repeats"
ATOM_GONE = "was edited by hand, and its atom was deleted or belongs elsewhere"


@dataclass(frozen=True, slots=True)
class FileChange:
    """The new text of a file; None deletes it."""

    path: str
    text: str | None


@dataclass(frozen=True, slots=True)
class FileIssue:
    """A file, or the block of an atom in it, that is not written, and the reason."""

    path: str
    atom_id: str
    reason: str
    can_be_overwritten: bool = True  # whether an import resolves the issue


@dataclass(slots=True)
class ExportPlan:
    """The differences between a working copy and the expected files."""

    changes: list[FileChange] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    drifted: list[FileIssue] = field(default_factory=list)  # edited by people
    refused: list[FileIssue] = field(default_factory=list)  # cannot be written
    repaired: list[FileIssue] = field(default_factory=list)  # blocks without an end that were replaced by force


# --- The content that the plan already has ----------------------------------------------------------------------------
# A piece with only such content may be overwritten, whatever its mark says. An imported edit is normalized in the plan,
# and may have become a new atom if its own was deleted. Then the mark and the lines about the molecule and relations of
# the old atom are outdated.

# Fields that the rule itself covers; the description repeats its heading. Other fields would be lost.
_RULE_FIELDS = (*front_matter.PATTERN_FIELDS, "description")

_Meaning = tuple[Rule, str]


class KnownContent:
    """The known generated pieces, by atom and by content."""

    def __init__(self, pieces: Mapping[str, Piece], form: RuleFormat) -> None:
        self._pieces = pieces
        self._form = form
        self._atoms: dict[_Meaning | None, list[str]] = {}
        for atom_id, piece in pieces.items():
            self._atoms.setdefault(self._get_meaning(piece), []).append(atom_id)

    def covers(self, piece: Piece) -> bool:
        """Return True if a piece can be overwritten without losing edits."""
        return not piece.is_edited or self._matches_own_atom(piece) or bool(self.list_other_atoms(piece))

    def list_other_atoms(self, piece: Piece) -> list[str]:
        """Return the atoms with the content of a piece, without the atom in the piece's own mark."""
        return [atom_id for atom_id in self._atoms.get(self._get_meaning(piece), ()) if atom_id != piece.mark.atom_id]

    def _matches_own_atom(self, piece: Piece) -> bool:
        wanted = self._pieces.get(piece.mark.atom_id)
        if wanted is None or list_display_lines(piece.body) != list_display_lines(wanted.body):
            return False
        return self._get_meaning(piece) == self._get_meaning(wanted)

    def _get_meaning(self, piece: Piece) -> _Meaning | None:
        """Return the rule of a piece and its other fields; None if its front matter is damaged."""
        try:
            rule = normalize_rule(parse_piece(piece, self._form))
            fields = front_matter.parse_fields(piece.front) if piece.front else {}
        except UnreadableRule:
            return None
        return rule, repr(sorted((name, value) for name, value in fields.items() if name not in _RULE_FIELDS))


# --- Plan the export of rules as one file each, in a separate folder: `.claude/rules/groundplan/NAME.md` --------------


@dataclass(frozen=True, slots=True)
class _ExistingFile:
    """An existing file, and its piece if Groundplan generated it."""

    text: str
    piece: Piece | None


def plan_files(
    folder: Folder,
    own: OwnFiles,
    project_id: str,
    named_pieces: Mapping[str, tuple[str, Piece]],
    known_content: KnownContent,
    *,
    force: bool,
) -> ExportPlan:
    """Return the changes that write the file of each atom. Atoms are given by id, with name and piece."""
    existing = {
        name: _read_existing(folder, f"{own.generated_folder}/{name}")
        for name in folder.list_names(own.generated_folder, own.suffix)
    }
    pieces = {
        name: file.piece
        for name, file in existing.items()
        if isinstance(file, _ExistingFile) and file.piece is not None
    }
    others = [
        name.removesuffix(own.suffix) for name, written in pieces.items() if written.mark.project_id != project_id
    ]
    plan = ExportPlan()
    names = assign_slugs([(atom_id, name) for atom_id, (name, _) in named_pieces.items()], others)
    for atom_id, (_, piece) in named_pieces.items():
        name = f"{names[atom_id]}{own.suffix}"
        _plan_one(plan, f"{own.generated_folder}/{name}", piece, existing.get(name), known_content, force=force)
        pieces.pop(name, None)
    for name, obsolete in pieces.items():
        if obsolete.mark.project_id != project_id:
            continue
        if not known_content.covers(obsolete) and not force:
            plan.drifted.append(FileIssue(f"{own.generated_folder}/{name}", obsolete.mark.atom_id, ATOM_GONE))
        else:
            plan.changes.append(FileChange(f"{own.generated_folder}/{name}", None))
    return plan


def _plan_one(
    plan: ExportPlan,
    path: str,
    piece: Piece,
    existing: _ExistingFile | UnusableFile | None,
    known_content: KnownContent,
    *,
    force: bool,
) -> None:
    match existing:
        case UnusableFile():
            plan.refused.append(FileIssue(path, piece.mark.atom_id, existing.reason))
        case _ExistingFile(piece=Piece() as stored) if stored.has_same_content(piece) and not stored.is_edited:
            plan.unchanged.append(path)
        case _ExistingFile(piece=Piece() as stored) if not known_content.covers(stored) and not force:
            plan.drifted.append(FileIssue(path, piece.mark.atom_id, HAND_EDITED))
        case _ExistingFile(piece=None) if not force:
            plan.drifted.append(FileIssue(path, piece.mark.atom_id, NOT_OURS, can_be_overwritten=False))
        case _:
            breaks = detect_line_breaks("" if existing is None else existing.text)
            plan.changes.append(FileChange(path, apply_line_breaks(piece.as_file, breaks)))


def _read_existing(folder: Folder, path: str) -> _ExistingFile | UnusableFile | None:
    try:
        text = folder.read(path)
    except UnusableFile as error:
        return error
    if text is None:
        return None
    try:
        return _ExistingFile(text, marks.parse_file(text))
    except UnreadableRule:
        return _ExistingFile(text, None)


# --- Plan the export of rules as blocks in files that people write too ------------------------------------------------
# Their own text stays unchanged. The blocks of a file are sorted by name. They fill the positions of existing blocks,
# so people may move these positions; new blocks follow the last one, and the first block of a file goes to its end.

_LAST_LINE_IS_EMPTY = re.compile(r"(?:\A|(?<=\n))\r?\n\Z")


def plan_blocks(
    folder: Folder,
    project_id: str,
    pieces: Mapping[str, Mapping[str, Piece]],
    known_content: KnownContent,
    *,
    force: bool,
) -> ExportPlan:
    """Return the changes that write the blocks of each file. Pieces are given by path and atom, in order."""
    plan = ExportPlan()
    for path in sorted({*pieces, *folder.find_files(formats.AGENTS_FILE)}):
        here = pieces.get(path, {})
        try:
            text = folder.read(path) or ""
        except UnusableFile as error:
            plan.refused += [FileIssue(path, atom_id, error.reason) for atom_id in here]
            continue
        parts = marks.parse_text(text)
        if not here and all(isinstance(part, str) or part.mark.project_id != project_id for part in parts):
            continue
        if _has_unclosed_blocks(path, parts, project_id, plan, force=force):
            continue
        page = _SharedFile(path, here, known_content, plan, detect_line_breaks(text), force=force)
        existing = {part.mark.atom_id for part in parts if isinstance(part, RuleBlock)}
        for part in parts:
            if isinstance(part, UnclosedBlock):
                plan.repaired.append(FileIssue(path, part.mark.atom_id, REPAIRED))  # by dropping this line
            elif isinstance(part, RuleBlock) and part.mark.project_id == project_id:
                page.add_block(
                    part,
                    [other_id for other_id in known_content.list_other_atoms(part.piece) if other_id not in existing],
                )
            else:
                page.add_text(part if isinstance(part, str) else part.text)
        page.finish(text)
    return plan


def _has_unclosed_blocks(
    path: str, parts: list[str | RuleBlock | UnclosedBlock], project_id: str, plan: ExportPlan, *, force: bool
) -> bool:
    """Report blocks without an end. Return True if the file must be skipped.

    With `force`, those of this project are repaired; a file with those of other projects is always skipped.
    """
    openings = [part for part in parts if isinstance(part, UnclosedBlock)]
    others = [opening for opening in openings if opening.mark.project_id != project_id]
    if not openings or (force and not others):
        return False
    for opening in openings:
        left = FileIssue(path, opening.mark.atom_id, opening.reason, can_be_overwritten=False)
        (plan.refused if opening in others else plan.drifted).append(left)
    return True


class _SharedFile:
    """The new content of a file: handwritten parts, and blocks between them."""

    def __init__(
        self,
        path: str,
        pieces: Mapping[str, Piece],
        known_content: KnownContent,
        plan: ExportPlan,
        breaks: str,
        *,
        force: bool,
    ) -> None:
        self._path = path
        self._pieces = pieces
        self._known_content = known_content
        self._plan = plan
        self._breaks = breaks
        self._force = force
        self._gaps = [""]
        self._new_blocks = {atom_id: self._render_block(piece) for atom_id, piece in pieces.items()}
        self._existing_blocks: dict[str, str] = {}  # existing blocks that need no change
        self._placed: set[str] = set()
        self._had_blocks = False
        # Set when a block was removed, so that the empty line after it is removed too.
        self._drops_next_break = False

    def add_text(self, text: str) -> None:
        """Add text that is not a block of this project."""
        if self._drops_next_break:
            text = text.removeprefix(CRLF if text.startswith(CRLF) else LF)
            self._drops_next_break = False
        self._gaps[-1] += text

    def add_block(self, block: RuleBlock, heirs: Iterable[str]) -> None:
        """Add a block of this project at the position of its atom, or of an atom with the same content."""
        self._had_blocks = True
        atom_id = self._find_first_unplaced(block.mark.atom_id, *heirs)
        if atom_id is not None:
            self._place_block(block, atom_id)
            self._gaps.append("")
        elif self._would_lose_edits(block.piece):
            self._plan.drifted.append(FileIssue(self._path, block.mark.atom_id, ATOM_GONE))
            self.add_text(block.text)
        elif empty := _LAST_LINE_IS_EMPTY.search(self._gaps[-1]):
            self._gaps[-1] = self._gaps[-1][: empty.start()]
        else:
            self._drops_next_break = True

    def _find_first_unplaced(self, *atom_ids: str) -> str | None:
        """Return the first atom of this file that has no position yet."""
        return next((atom_id for atom_id in atom_ids if atom_id in self._pieces and atom_id not in self._placed), None)

    def _place_block(self, block: RuleBlock, atom_id: str) -> None:
        self._placed.add(atom_id)
        if self._would_lose_edits(block.piece):
            self._plan.drifted.append(FileIssue(self._path, atom_id, HAND_EDITED))
            self._existing_blocks[atom_id] = block.text
            self._new_blocks[atom_id] = block.text if block.text.endswith(LF) else block.text + self._breaks
        elif block.piece.has_same_content(self._pieces[atom_id]) and not block.piece.is_edited:
            self._existing_blocks[atom_id] = block.text
            self._new_blocks[atom_id] = self._render_block(block.piece)

    def _would_lose_edits(self, piece: Piece) -> bool:
        """Return True if overwriting a piece would lose edits."""
        return not self._known_content.covers(piece) and not self._force

    def _render_block(self, piece: Piece) -> str:
        return apply_line_breaks(piece.as_block, self._breaks)

    def finish(self, before: str) -> None:
        """Sort the blocks, and add the change of the file to the plan."""
        if self._new_blocks and len(self._gaps) == 1:
            above = self._gaps[0]
            if above:
                above += self._breaks if above.endswith(LF) else self._breaks * 2
            self._gaps = [above, ""]
        tail = self._gaps.pop()
        self._gaps += [self._breaks] * (len(self._new_blocks) - len(self._gaps))
        if self._join({**self._new_blocks, **self._existing_blocks}.values(), tail) == before:
            self._plan.unchanged += [self._path] if self._had_blocks else []
            return
        after = self._join(self._new_blocks.values(), tail)
        self._plan.changes.append(FileChange(self._path, after if after.strip() else None))

    def _join(self, blocks: Iterable[str], tail: str) -> str:
        return "".join(f"{gap}{block}" for gap, block in zip(self._gaps, blocks, strict=True)) + tail
