"""Export the atoms of a project as rule files: write new and changed ones, remove those of deleted atoms.

Files that people edited are not overwritten. They are reported, and can be imported into the plan instead.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from groundplan.kernel.errors import RuleViolated
from groundplan.repository.rules.export_plan import ExportPlan, FileChange, FileIssue
from groundplan.repository.rules.exported_atoms import load_exported_atoms, resolve_project_id
from groundplan.repository.rules.folder import Folder, UnusableFile, to_display_path
from groundplan.repository.rules.formats import agents
from groundplan.repository.rules.formats.own_files import plan_files
from groundplan.repository.rules.formats.registry import OWN_FILES, RuleFormat, render_piece, survives_round_trip
from groundplan.repository.rules.formats.shared_files import plan_blocks
from groundplan.repository.rules.known_content import KnownContent
from groundplan.repository.rules.marks import Piece
from groundplan.repository.rules.rule import ExportedAtom
from groundplan.session import Session

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
        """Whether no file needed a change."""
        return not (self.written or self.removed or self.drifted or self.refused)

    @property
    def is_complete(self) -> bool:
        """Whether no file was skipped."""
        return not (self.drifted or self.refused)


def export(
    session: Session, project: str, form: RuleFormat, out: Path, *, check: bool = False, force: bool = False
) -> ExportedRules:
    """Bring the rule files of a working copy up to date; with `check`, only return the necessary changes.

    Raises:
        NotFound: the project does not exist.
        RulesOutOfReach: the folder for rules is behind a symbolic link.
    """
    subjects = load_exported_atoms(session, project)
    project_id = subjects[0].project_id if subjects else resolve_project_id(session, project)
    folder = Folder(out)
    pieces, refused = _render_pieces(subjects, form)
    plan = _plan(folder, project_id, form, [one for one in subjects if one.atom_id in pieces], pieces, force=force)
    plan.refused += refused
    if not check:
        plan.changes = [change for change in plan.changes if _apply_change(change, folder, plan)]
    drifted = {one.path for one in plan.drifted}
    changed = {change.path for change in plan.changes}
    return ExportedRules(
        written=sorted(to_display_path(change.path) for change in plan.changes if change.text is not None),
        removed=sorted(to_display_path(change.path) for change in plan.changes if change.text is None),
        unchanged=sorted(to_display_path(path) for path in plan.unchanged if path not in drifted),
        drifted=_sort_for_answer(plan.drifted),
        refused=_sort_for_answer(plan.refused),
        repaired=_sort_for_answer([one for one in plan.repaired if one.path in changed]),
    )


def _render_pieces(subjects: list[ExportedAtom], form: RuleFormat) -> tuple[dict[str, Piece], list[FileIssue]]:
    pieces, refused = {}, []
    written: set[tuple[str, str | None, str]] = set()  # the knowledge of molecules, by place
    for one in subjects:
        place = agents.choose_file(one.patterns) if form is RuleFormat.AGENTS else one.atom_id
        text = place, one.part_of, one.molecule_knowledge
        # The blocks of a file are read together, so the first of a molecule speaks for the others.
        subject = replace(one, molecule_knowledge="") if text in written else one
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
        by_atom = {one.atom_id: (one.name, pieces[one.atom_id]) for one in subjects}
        try:
            return plan_files(folder, own, project_id, by_atom, known, force=force)
        except UnusableFile as error:
            raise RulesOutOfReach(own.folder, error.reason) from None
    by_file: dict[str, dict[str, Piece]] = {}
    for one in subjects:
        by_file.setdefault(agents.choose_file(one.patterns), {})[one.atom_id] = pieces[one.atom_id]
    return plan_blocks(folder, project_id, by_file, known, force=force)


def _sort_for_answer(issues: list[FileIssue]) -> list[FileIssue]:
    named = [replace(one, path=to_display_path(one.path)) for one in issues]
    return sorted(named, key=lambda one: (one.path, one.atom_id))


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
