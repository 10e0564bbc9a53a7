"""Plan the export of rules as blocks in files that people write too. Their own text stays unchanged.

The blocks of a file are sorted by name. They fill the positions of existing blocks, so people may move these positions;
new blocks follow the last one, and the first block of a file goes to its end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from groundplan.repository.rules import marks
from groundplan.repository.rules.export_plan import ATOM_GONE, HAND_EDITED, REPAIRED, ExportPlan, FileChange, FileIssue
from groundplan.repository.rules.folder import Folder, UnusableFile
from groundplan.repository.rules.formats import agents
from groundplan.repository.rules.known_content import KnownContent
from groundplan.repository.rules.line_breaks import CRLF, LF, apply_line_breaks, detect_line_breaks
from groundplan.repository.rules.marks import Piece, RuleBlock, UnclosedBlock

_LAST_LINE_IS_EMPTY = re.compile(r"(?:\A|(?<=\n))\r?\n\Z")


def plan_blocks(
    folder: Folder,
    project_id: str,
    pieces: Mapping[str, Mapping[str, Piece]],
    known_content: KnownContent,
    *,
    force: bool,
) -> ExportPlan:
    """Return the changes that give each file its blocks; pieces are given by path and atom, in order."""
    plan = ExportPlan()
    for path in sorted({*pieces, *folder.find_files(agents.FILE)}):
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
                page.add_block(part, [one for one in known_content.list_other_atoms(part.piece) if one not in existing])
            else:
                page.add_text(part if isinstance(part, str) else part.text)
        page.finish(text)
    return plan


def _has_unclosed_blocks(
    path: str, parts: list[str | RuleBlock | UnclosedBlock], project_id: str, plan: ExportPlan, *, force: bool
) -> bool:
    """Report blocks without an end, and return whether the file must be skipped.

    With `force`, those of this project are repaired; a file with those of other projects is always skipped.
    """
    openings = [part for part in parts if isinstance(part, UnclosedBlock)]
    others = [one for one in openings if one.mark.project_id != project_id]
    if not openings or (force and not others):
        return False
    for one in openings:
        left = FileIssue(path, one.mark.atom_id, one.reason, can_be_overwritten=False)
        (plan.refused if one in others else plan.drifted).append(left)
    return True


class _SharedFile:
    """A file under construction: gaps with the text of people, and blocks between them."""

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
        """Add a block of this project. Its position goes to its atom, or to an heir: one with the same content."""
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
        """Return the first atom that belongs in this file and has no position yet."""
        return next((one for one in atom_ids if one in self._pieces and one not in self._placed), None)

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
        """Return whether overwriting a piece would lose edits."""
        return not self._known_content.covers(piece) and not self._force

    def _render_block(self, piece: Piece) -> str:
        return apply_line_breaks(piece.as_block, self._breaks)

    def finish(self, before: str) -> None:
        """Put the blocks in order, and add the change of the file to the plan."""
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
