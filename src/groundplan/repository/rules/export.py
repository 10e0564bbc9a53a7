"""Export the atoms of a project as rule files: write new and changed files, and remove those of deleted atoms.

Files that people edited are not overwritten. They are reported, and can be imported into the plan instead.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from msgspec import UNSET

from groundplan.kernel.errors import Conflict, NotFound, RuleViolated
from groundplan.repository.rules import formats
from groundplan.repository.rules.folder import Folder, UnusableFile, to_display_path
from groundplan.repository.rules.formats import OWN_FILES, RuleFormat, render_piece, survives_round_trip
from groundplan.repository.rules.marks import Piece
from groundplan.repository.rules.plan_files import (
    ExportPlan,
    FileChange,
    FileIssue,
    KnownContent,
    plan_blocks,
    plan_files,
)
from groundplan.repository.rules.rule import ExportedAtom, normalize_name
from groundplan.session import Session

PAGE_SIZE = 100
ATTEMPTS = 3


class KnowledgeMoving(Conflict):
    """The knowledge of the project changed repeatedly during the export."""

    code = "knowledge_moving"

    def __init__(self) -> None:
        super().__init__("the knowledge of this project changed while it was read; try again")


def load_exported_atoms(session: Session, project: str) -> list[ExportedAtom]:
    """Return all atoms of a project, sorted by name."""
    molecules = {molecule.id: molecule for molecule in load_molecules(session, project)}
    return [to_exported_atom(atom, molecules.get(atom.molecule_id)) for atom in _load_all(session, project, "atom")]


def load_molecules(session: Session, project: str) -> list[Any]:
    """Return all molecules of a project, sorted by name."""
    return _load_all(session, project, "molecule")


def load_molecule_of(session: Session, atom: Any) -> Any:
    """Return the molecule of a loaded atom, or None."""
    if atom.molecule_id is None:
        return None
    return session.call("knowledge.get", entityType="molecule", id=atom.molecule_id, includeChangelog=False).molecule


def to_exported_atom(atom: Any, molecule: Any) -> ExportedAtom:
    """Convert an atom, given its molecule or None."""
    return ExportedAtom(
        atom_id=atom.id,
        project_id=atom.project_id,
        version=atom.version,
        name=atom.name,
        patterns=tuple(atom.paths),
        knowledge=atom.knowledge,
        part_of=None if molecule is None else molecule.name,
        molecule_knowledge="" if molecule is None else molecule.knowledge,
        related=tuple((relation.name, relation.reason) for relation in atom.related_atoms if relation.name is not None),
    )


def resolve_project_id(session: Session, project: str) -> str:
    """Return the id of a project given by id or name."""
    for row in session.call("project.list", archived=True).projects:
        if normalize_name(project) in (row.id, row.name):
            return str(row.id)
    raise NotFound("project", project)


def _load_all(session: Session, project: str, entity: str) -> list[Any]:
    """Return all entities of a kind, sorted by name. An export deletes the files of all others."""
    for _ in range(ATTEMPTS):
        entities, count = _load_pages(session, project, entity)
        if len(entities) == count:
            return list(entities.values())
    raise KnowledgeMoving


def _load_pages(session: Session, project: str, entity: str) -> tuple[dict[str, Any], int]:
    entities: dict[str, Any] = {}
    offset: Any = 0
    while True:
        page = session.call(
            "knowledge.search",
            entityType=entity,
            projectId=project,
            includeChangelog=False,
            limit=PAGE_SIZE,
            offset=offset,
        )
        entities.update((item.id, item) for item in page.items)
        offset = page.next_offset
        if offset is UNSET:
            return entities, page.count


NOT_CARRIED = "its name or knowledge contains one of its own marks as a line; remove that line from the atom"


class RulesOutOfReach(RuleViolated):
    """The folder for rule files cannot be written to safely."""

    code = "rules_out_of_reach"

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path} {reason}; nothing was written", path=path)


@dataclass(frozen=True, slots=True)
class ExportedRules:
    """The changes that an export made, or would make."""

    written: list[str]
    removed: list[str]
    unchanged: list[str]
    drifted: list[FileIssue]
    refused: list[FileIssue]
    repaired: list[FileIssue]

    @property
    def is_up_to_date(self) -> bool:
        """True if no file needs a change."""
        return not (self.written or self.removed or self.drifted or self.refused)

    @property
    def is_complete(self) -> bool:
        """True if no file was skipped."""
        return not (self.drifted or self.refused)


def export(
    session: Session, project: str, form: RuleFormat, out: Path, *, check: bool = False, force: bool = False
) -> ExportedRules:
    """Write the rule files of a working copy. With `check`, only return the necessary changes."""
    subjects = load_exported_atoms(session, project)
    project_id = subjects[0].project_id if subjects else resolve_project_id(session, project)
    folder = Folder(out)
    pieces, refused = _render_pieces(subjects, form)
    plan = _plan(folder, project_id, form, [atom for atom in subjects if atom.atom_id in pieces], pieces, force=force)
    plan.refused += refused
    if not check:
        plan.changes = [change for change in plan.changes if _apply_change(change, folder, plan)]
    drifted = {issue.path for issue in plan.drifted}
    changed = {change.path for change in plan.changes}
    return ExportedRules(
        written=sorted(to_display_path(change.path) for change in plan.changes if change.text is not None),
        removed=sorted(to_display_path(change.path) for change in plan.changes if change.text is None),
        unchanged=sorted(to_display_path(path) for path in plan.unchanged if path not in drifted),
        drifted=_sort_for_answer(plan.drifted),
        refused=_sort_for_answer(plan.refused),
        repaired=_sort_for_answer([issue for issue in plan.repaired if issue.path in changed]),
    )


def _render_pieces(subjects: list[ExportedAtom], form: RuleFormat) -> tuple[dict[str, Piece], list[FileIssue]]:
    pieces, refused = {}, []
    written: set[tuple[str, str | None, str]] = set()  # the knowledge of molecules, by place
    for atom in subjects:
        place = formats.choose_file(atom.patterns) if form is RuleFormat.AGENTS else atom.atom_id
        text = place, atom.part_of, atom.molecule_knowledge
        # The blocks of a file are read together, so the first of a molecule speaks for the others.
        subject = replace(atom, molecule_knowledge="") if text in written else atom
        piece = render_piece(subject, form)
        if survives_round_trip(piece, subject, form):
            pieces[subject.atom_id] = piece
            written.add(text)
        else:
            refused.append(FileIssue("", subject.atom_id, NOT_CARRIED))
    return pieces, refused


def _plan(
    folder: Folder,
    project_id: str,
    form: RuleFormat,
    subjects: list[ExportedAtom],
    pieces: dict[str, Piece],
    *,
    force: bool,
) -> ExportPlan:
    known = KnownContent(pieces, form)
    if own := OWN_FILES.get(form):
        by_atom = {atom.atom_id: (atom.name, pieces[atom.atom_id]) for atom in subjects}
        try:
            return plan_files(folder, own, project_id, by_atom, known, force=force)
        except UnusableFile as error:
            raise RulesOutOfReach(own.folder, error.reason) from None
    by_file: dict[str, dict[str, Piece]] = {}
    for atom in subjects:
        by_file.setdefault(formats.choose_file(atom.patterns), {})[atom.atom_id] = pieces[atom.atom_id]
    return plan_blocks(folder, project_id, by_file, known, force=force)


def _sort_for_answer(issues: list[FileIssue]) -> list[FileIssue]:
    named = [replace(issue, path=to_display_path(issue.path)) for issue in issues]
    return sorted(named, key=lambda issue: (issue.path, issue.atom_id))


def _apply_change(change: FileChange, folder: Folder, plan: ExportPlan) -> bool:
    try:
        if change.text is None:
            folder.remove(change.path)
        else:
            folder.write(change.path, change.text)
    except UnusableFile as error:
        plan.refused.append(FileIssue(change.path, "", error.reason))
        return False
    return True
