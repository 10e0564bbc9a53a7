"""Rules as blocks in files that people write too. What they wrote stays as it is, and where it is.

The blocks of a file are in the order of their names. They stand where blocks have stood before, so that somebody may
move them to where they fit; what is new follows the last one, and the first goes to the end of the file.
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
    folder: Folder, project_id: str, wanted: Mapping[str, Mapping[str, Piece]], said: KnownContent, *, force: bool
) -> ExportPlan:
    """What to do so that each file has the blocks that are wanted there; they are given by path and atom, in order."""
    plan = ExportPlan()
    for path in sorted({*wanted, *folder.named(agents.FILE)}):
        here = wanted.get(path, {})
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
        page = _SharedFile(path, here, said, plan, detect_line_breaks(text), force=force)
        standing = {part.mark.atom_id for part in parts if isinstance(part, RuleBlock)}
        for part in parts:
            if isinstance(part, UnclosedBlock):
                plan.repaired.append(FileIssue(path, part.mark.atom_id, REPAIRED))  # by leaving this line out
            elif isinstance(part, RuleBlock) and part.mark.project_id == project_id:
                page.take(part, [one for one in said.others(part.piece) if one not in standing])
            else:
                page.keep(part if isinstance(part, str) else part.text)
        page.finish(text)
    return plan


def _has_unclosed_blocks(
    path: str, parts: list[str | RuleBlock | UnclosedBlock], project_id: str, plan: ExportPlan, *, force: bool
) -> bool:
    """Whether a file has blocks without an end. Those of other projects are not ours to repair."""
    openings = [part for part in parts if isinstance(part, UnclosedBlock)]
    others = [one for one in openings if one.mark.project_id != project_id]
    if not openings or (force and not others):
        return False
    for one in openings:
        left = FileIssue(path, one.mark.atom_id, one.reason, can_be_taken=False)
        (plan.refused if one in others else plan.drifted).append(left)
    return True


class _SharedFile:
    """A file on its way from what it was to what it should be: gaps with the text of others, blocks between them."""

    def __init__(
        self,
        path: str,
        wanted: Mapping[str, Piece],
        said: KnownContent,
        plan: ExportPlan,
        breaks: str,
        *,
        force: bool,
    ) -> None:
        self._path = path
        self._wanted = wanted
        self._said = said
        self._plan = plan
        self._breaks = breaks
        self._force = force
        self._gaps = [""]
        self._written = {atom_id: self._render_block(piece) for atom_id, piece in wanted.items()}
        self._found: dict[str, str] = {}  # what stands there and need not be written
        self._placed: set[str] = set()
        self._had_blocks = False
        self._drops_next_break = (
            False  # a block before the next text was taken away, and the empty line behind it goes too
        )

    def keep(self, text: str) -> None:
        """Text of others."""
        if self._drops_next_break:
            text = text.removeprefix(CRLF if text.startswith(CRLF) else LF)
            self._drops_next_break = False
        self._gaps[-1] += text

    def take(self, block: RuleBlock, heirs: Iterable[str]) -> None:
        """A block of ours: its place stays if its atom belongs here, or else an heir, an atom that says the same."""
        self._had_blocks = True
        atom_id = self._first_unplaced(block.mark.atom_id, *heirs)
        if atom_id is not None:
            self._settle(block, atom_id)
            self._gaps.append("")
        elif self._would_lose_edits(block.piece):
            self._plan.drifted.append(FileIssue(self._path, block.mark.atom_id, ATOM_GONE))
            self.keep(block.text)
        elif empty := _LAST_LINE_IS_EMPTY.search(self._gaps[-1]):
            self._gaps[-1] = self._gaps[-1][: empty.start()]
        else:
            self._drops_next_break = True

    def _first_unplaced(self, *atom_ids: str) -> str | None:
        """The first that belongs here and has no place yet."""
        return next((one for one in atom_ids if one in self._wanted and one not in self._placed), None)

    def _settle(self, block: RuleBlock, atom_id: str) -> None:
        self._placed.add(atom_id)
        if self._would_lose_edits(block.piece):
            self._plan.drifted.append(FileIssue(self._path, atom_id, HAND_EDITED))
            self._found[atom_id] = block.text
            self._written[atom_id] = block.text if block.text.endswith(LF) else block.text + self._breaks
        elif block.piece.same_content_as(self._wanted[atom_id]) and not block.piece.is_edited:
            self._found[atom_id] = block.text
            self._written[atom_id] = self._render_block(block.piece)

    def _would_lose_edits(self, piece: Piece) -> bool:
        """Whether somebody would lose what they wrote."""
        return not self._said.covers(piece) and not self._force

    def _render_block(self, piece: Piece) -> str:
        return apply_line_breaks(piece.as_block, self._breaks)

    def finish(self, before: str) -> None:
        """Put the blocks in order, and say what comes of it."""
        if self._written and len(self._gaps) == 1:
            above = self._gaps[0]
            if above:
                above += self._breaks if above.endswith(LF) else self._breaks * 2
            self._gaps = [above, ""]
        tail = self._gaps.pop()
        self._gaps += [self._breaks] * (len(self._written) - len(self._gaps))
        if self._join({**self._written, **self._found}.values(), tail) == before:
            self._plan.unchanged += [self._path] if self._had_blocks else []
            return
        after = self._join(self._written.values(), tail)
        self._plan.changes.append(FileChange(self._path, after if after.strip() else None))

    def _join(self, blocks: Iterable[str], tail: str) -> str:
        return "".join(f"{gap}{block}" for gap, block in zip(self._gaps, blocks, strict=True)) + tail
