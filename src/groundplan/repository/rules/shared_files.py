"""Rules as blocks in files that people write too. What they wrote stays as it is, and where it is.

The blocks of a file are in the order of their names. They stand where blocks have stood before, so that somebody may
move them to where they fit; what is new follows the last one, and the first goes to the end of the file.
"""

from __future__ import annotations

from collections.abc import Mapping

from groundplan.repository.rules import agents, marking
from groundplan.repository.rules.marking import Damaged, Piece
from groundplan.repository.rules.placing import Folder, Misplaced
from groundplan.repository.rules.plan import ATOM_GONE, HAND_EDITED, Change, LeftAlone, Plan


def plan_blocks(folder: Folder, project_id: str, wanted: Mapping[str, Mapping[str, Piece]], *, force: bool) -> Plan:
    """What to do so that each file has the blocks that are wanted there; they are given by path and atom, in order."""
    plan = Plan()
    everywhere = {atom_id: piece for pieces in wanted.values() for atom_id, piece in pieces.items()}
    for path in sorted({*wanted, *folder.named(agents.FILE)}):
        here = wanted.get(path, {})
        try:
            text = folder.read(path)
            parts = marking.in_text(text or "")
        except Damaged as error:
            plan.drifted.append(LeftAlone(path, error.atom_id, error.reason))
            continue
        except Misplaced as error:
            plan.refused += [LeftAlone(path, atom_id, error.reason) for atom_id in here]
            continue
        page = _Page(path, here, everywhere, plan, force=force)
        for part in parts:
            if isinstance(part, Piece) and part.mark.project_id == project_id:
                page.take(part)
            else:
                page.keep(part if isinstance(part, str) else part.as_block)
        page.finish(text)
    return plan


class _Page:
    """A file on its way from what it was to what it should be: gaps with the text of others, blocks between them."""

    def __init__(
        self,
        path: str,
        wanted: Mapping[str, Piece],
        everywhere: Mapping[str, Piece],
        plan: Plan,
        *,
        force: bool,
    ) -> None:
        self._path = path
        self._wanted = dict(wanted)
        self._everywhere = everywhere
        self._plan = plan
        self._force = force
        self._gaps = [""]
        self._settled: set[str] = set()
        self._had_blocks = False
        self._joins = False  # a block before the next text was taken away, and the empty line behind it goes too

    def keep(self, text: str) -> None:
        """Text of others."""
        if self._joins:
            text = text.removeprefix("\n")
            self._joins = False
        self._gaps[-1] += text

    def take(self, block: Piece) -> None:
        """A block of ours: its place stays if its atom belongs here."""
        self._had_blocks = True
        atom_id = block.mark.atom_id
        wanted = None if atom_id in self._settled else self._wanted.get(atom_id)
        if wanted is not None:
            self._wanted[atom_id] = self._chosen(block, wanted)
            self._settled.add(atom_id)
            self._gaps.append("")
        elif block.is_edited and not block.says_the_same_as(self._everywhere.get(atom_id)) and not self._force:
            self._plan.drifted.append(LeftAlone(self._path, atom_id, ATOM_GONE))
            self.keep(block.as_block)
        elif self._gaps[-1] == "\n" or self._gaps[-1].endswith("\n\n"):
            self._gaps[-1] = self._gaps[-1][:-1]
        else:
            self._joins = True

    def _chosen(self, block: Piece, wanted: Piece) -> Piece:
        says_the_same = block.says_the_same_as(wanted)
        if block.is_edited and not says_the_same and not self._force:
            self._plan.drifted.append(LeftAlone(self._path, block.mark.atom_id, HAND_EDITED))
            return block
        return block if says_the_same and not block.is_edited else wanted

    def finish(self, before: str | None) -> None:
        """Put the blocks in order, and say what comes of it."""
        blocks = list(self._wanted.values())
        if blocks and len(self._gaps) == 1:
            above = self._gaps[0]
            if above:
                above += "\n" if above.endswith("\n") else "\n\n"
            self._gaps = [above, ""]
        tail = self._gaps.pop()
        self._gaps += ["\n"] * (len(blocks) - len(self._gaps))
        after = "".join(f"{gap}{block.as_block}" for gap, block in zip(self._gaps, blocks, strict=True)) + tail
        if after == (before or ""):
            self._plan.unchanged += [self._path] if self._had_blocks else []
        else:
            self._plan.changes.append(Change(self._path, after if after.strip() else None))
