"""Rules in files of their own, in a folder of ours among those of other people: `.claude/rules/groundplan/NAME.md`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from groundplan.repository.rules import marking
from groundplan.repository.rules.formats.front_matter import Unreadable
from groundplan.repository.rules.formats.table import OwnFiles
from groundplan.repository.rules.line_breaks import breaks_of, with_breaks
from groundplan.repository.rules.marking import Piece
from groundplan.repository.rules.placing import Folder, Misplaced
from groundplan.repository.rules.plan import ATOM_GONE, HAND_EDITED, NOT_OURS, Change, LeftAlone, Plan
from groundplan.repository.rules.said import Said
from groundplan.repository.rules.slugs import slugs


@dataclass(frozen=True, slots=True)
class _File:
    """A file that lies there, and what it is unless somebody else wrote it."""

    text: str
    piece: Piece | None


def plan_files(
    folder: Folder,
    own: OwnFiles,
    project_id: str,
    wanted: Mapping[str, tuple[str, Piece]],
    said: Said,
    *,
    force: bool,
) -> Plan:
    """What to do so that there is a file for each atom; they are given by id, with name and piece.

    Raises:
        Misplaced: the rules of this format lie behind a link.
    """
    there = {name: _there(folder, f"{own.home}/{name}") for name in folder.names(own.home, own.suffix)}
    pieces = {name: file.piece for name, file in there.items() if isinstance(file, _File) and file.piece is not None}
    others = [name.removesuffix(own.suffix) for name, one in pieces.items() if one.mark.project_id != project_id]
    plan = Plan()
    names = slugs([(atom_id, name) for atom_id, (name, _) in wanted.items()], others)
    for atom_id, (_, piece) in wanted.items():
        name = f"{names[atom_id]}{own.suffix}"
        _plan_one(plan, f"{own.home}/{name}", piece, there.get(name), said, force=force)
        pieces.pop(name, None)
    for name, found in pieces.items():
        if found.mark.project_id != project_id:
            continue
        if not said.holds(found) and not force:
            plan.drifted.append(LeftAlone(f"{own.home}/{name}", found.mark.atom_id, ATOM_GONE))
        else:
            plan.changes.append(Change(f"{own.home}/{name}", None))
    return plan


def _plan_one(plan: Plan, path: str, piece: Piece, there: _File | Misplaced | None, said: Said, *, force: bool) -> None:
    match there:
        case Misplaced():
            plan.refused.append(LeftAlone(path, piece.mark.atom_id, there.reason))
        case _File(piece=Piece() as found) if found.says_the_same_as(piece) and not found.is_edited:
            plan.unchanged.append(path)
        case _File(piece=Piece() as found) if not said.holds(found) and not force:
            plan.drifted.append(LeftAlone(path, piece.mark.atom_id, HAND_EDITED))
        case _File(piece=None) if not force:
            plan.drifted.append(LeftAlone(path, piece.mark.atom_id, NOT_OURS, can_be_taken=False))
        case _:
            breaks = breaks_of("" if there is None else there.text)
            plan.changes.append(Change(path, with_breaks(piece.as_file, breaks)))


def _there(folder: Folder, path: str) -> _File | Misplaced | None:
    try:
        text = folder.read(path)
    except Misplaced as error:
        return error
    if text is None:
        return None
    try:
        return _File(text, marking.in_file(text))
    except Unreadable:
        return _File(text, None)
