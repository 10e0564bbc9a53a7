"""Rules in files of their own, in a folder of ours among those of other people: `.claude/rules/groundplan/NAME.md`."""

from __future__ import annotations

from collections.abc import Mapping

from groundplan.repository.rules import marking
from groundplan.repository.rules.formats import OwnFiles
from groundplan.repository.rules.front_matter import Unreadable
from groundplan.repository.rules.marking import Piece
from groundplan.repository.rules.placing import Folder, Misplaced
from groundplan.repository.rules.plan import ATOM_GONE, HAND_EDITED, NOT_OURS, Change, LeftAlone, Plan
from groundplan.repository.rules.slugs import slugs

SUBFOLDER = "groundplan"  # both tools look into the folders below their own


def plan_files(
    folder: Folder, own: OwnFiles, project_id: str, wanted: Mapping[str, tuple[str, Piece]], *, force: bool
) -> Plan:
    """What to do so that there is a file for each atom; they are given by id, with name and piece.

    Raises:
        Misplaced: the rules of this format lie behind a link.
    """
    home = f"{own.folder}/{SUBFOLDER}"
    there = {name: _found(folder, f"{home}/{name}") for name in folder.names(home, own.suffix)}
    others = [
        name.removesuffix(own.suffix)
        for name, found in there.items()
        if isinstance(found, Piece) and found.mark.project_id != project_id
    ]
    plan = Plan()
    names = slugs([(atom_id, name) for atom_id, (name, _) in wanted.items()], others)
    for atom_id, (_, piece) in wanted.items():
        name = f"{names[atom_id]}{own.suffix}"
        _plan_one(plan, f"{home}/{name}", piece, there.pop(name, None), force=force)
    for name, found in there.items():
        if not isinstance(found, Piece) or found.mark.project_id != project_id:
            continue
        _, elsewhere = wanted.get(found.mark.atom_id, ("", None))
        if found.is_edited and not found.says_the_same_as(elsewhere) and not force:
            plan.drifted.append(LeftAlone(f"{home}/{name}", found.mark.atom_id, ATOM_GONE))
        else:
            plan.changes.append(Change(f"{home}/{name}", None))
    return plan


def _plan_one(plan: Plan, path: str, piece: Piece, found: Piece | Misplaced | str | None, *, force: bool) -> None:
    match found:
        case Misplaced():
            plan.refused.append(LeftAlone(path, piece.mark.atom_id, found.reason))
        case Piece() if found.says_the_same_as(piece) and not found.is_edited:
            plan.unchanged.append(path)
        case Piece() if found.is_edited and not found.says_the_same_as(piece) and not force:
            plan.drifted.append(LeftAlone(path, piece.mark.atom_id, HAND_EDITED))
        case str() if not force:
            plan.drifted.append(LeftAlone(path, piece.mark.atom_id, NOT_OURS))
        case _:
            plan.changes.append(Change(path, piece.as_file))


def _found(folder: Folder, path: str) -> Piece | Misplaced | str | None:
    """What lies there: our own, somebody else's text, or something that is left alone."""
    try:
        text = folder.read(path)
        return None if text is None else marking.in_file(text) or text
    except Misplaced as error:
        return error
    except Unreadable:
        return ""
