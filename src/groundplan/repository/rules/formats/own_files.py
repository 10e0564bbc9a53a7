"""Plan the export of rules as one file each, in a separate folder: `.claude/rules/groundplan/NAME.md`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from groundplan.repository.rules import marks
from groundplan.repository.rules.export_plan import ATOM_GONE, HAND_EDITED, NOT_OURS, ExportPlan, FileChange, FileIssue
from groundplan.repository.rules.folder import Folder, UnusableFile
from groundplan.repository.rules.formats.front_matter import UnreadableRule
from groundplan.repository.rules.formats.registry import OwnFiles
from groundplan.repository.rules.known_content import KnownContent
from groundplan.repository.rules.line_breaks import apply_line_breaks, detect_line_breaks
from groundplan.repository.rules.marks import Piece
from groundplan.repository.rules.slugs import assign_slugs


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
    """Return the changes that give each atom its file; atoms are given by id, with name and piece.

    Raises:
        UnusableFile: the folder for rules of this format is behind a link.
    """
    existing = {
        name: _read_existing(folder, f"{own.generated_folder}/{name}")
        for name in folder.list_names(own.generated_folder, own.suffix)
    }
    pieces = {
        name: file.piece
        for name, file in existing.items()
        if isinstance(file, _ExistingFile) and file.piece is not None
    }
    others = [name.removesuffix(own.suffix) for name, one in pieces.items() if one.mark.project_id != project_id]
    plan = ExportPlan()
    names = assign_slugs([(atom_id, name) for atom_id, (name, _) in named_pieces.items()], others)
    for atom_id, (_, piece) in named_pieces.items():
        name = f"{names[atom_id]}{own.suffix}"
        _plan_one(plan, f"{own.generated_folder}/{name}", piece, existing.get(name), known_content, force=force)
        pieces.pop(name, None)
    for name, found in pieces.items():
        if found.mark.project_id != project_id:
            continue
        if not known_content.covers(found) and not force:
            plan.drifted.append(FileIssue(f"{own.generated_folder}/{name}", found.mark.atom_id, ATOM_GONE))
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
        case _ExistingFile(piece=Piece() as found) if found.has_same_content(piece) and not found.is_edited:
            plan.unchanged.append(path)
        case _ExistingFile(piece=Piece() as found) if not known_content.covers(found) and not force:
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
