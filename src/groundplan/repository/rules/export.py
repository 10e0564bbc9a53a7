"""Write rule files from the atoms of a project: new ones, changed ones, and none where there is no atom any more.

What people changed since it was written is not written over. It is reported, and can be taken into the plan instead.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from groundplan.kernel.errors import RuleViolated
from groundplan.repository.rules.formats import agents
from groundplan.repository.rules.formats.own_files import plan_files
from groundplan.repository.rules.formats.shared_files import plan_blocks
from groundplan.repository.rules.formats.table import OWN_FILES, Format, carries, piece_of
from groundplan.repository.rules.marking import Piece
from groundplan.repository.rules.placing import Folder, Misplaced, shown
from groundplan.repository.rules.plan import Change, LeftAlone, Plan
from groundplan.repository.rules.rule import Subject
from groundplan.repository.rules.said import Said
from groundplan.repository.rules.subjects import project_id_of, subjects_of
from groundplan.session import Session

NOT_CARRIED = "its name or knowledge holds one of its own marks as a line; take that line out of the atom"


class RulesOutOfReach(RuleViolated):
    """The folder for rule files is not one that can be written to safely."""

    code = "rules_out_of_reach"

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path} {reason}; nothing was written", path=path)


@dataclass(frozen=True, slots=True)
class Exported:
    """What was done, or is to be done."""

    written: list[str]
    removed: list[str]
    unchanged: list[str]
    drifted: list[LeftAlone]
    refused: list[LeftAlone]
    repaired: list[LeftAlone]

    @property
    def is_up_to_date(self) -> bool:
        """Whether the files were what they should be."""
        return not (self.written or self.removed or self.drifted or self.refused)

    @property
    def is_complete(self) -> bool:
        """Whether nothing was left alone."""
        return not (self.drifted or self.refused)


def export(
    session: Session, project: str, form: Format, out: Path, *, check: bool = False, force: bool = False
) -> Exported:
    """Bring the rule files of a working copy up to date; with `check`, only say what that would be.

    Raises:
        NotFound: there is no such project.
        RulesOutOfReach: the folder for them lies behind a symbolic link.
    """
    subjects = subjects_of(session, project)
    project_id = subjects[0].project_id if subjects else project_id_of(session, project)
    folder = Folder(out)
    pieces, refused = _pieces(subjects, form)
    plan = _plan(folder, project_id, form, [one for one in subjects if one.atom_id in pieces], pieces, force=force)
    plan.refused += refused
    if not check:
        plan.changes = [change for change in plan.changes if _is_done(change, folder, plan)]
    drifted = {one.path for one in plan.drifted}
    changed = {change.path for change in plan.changes}
    return Exported(
        written=sorted(shown(change.path) for change in plan.changes if change.text is not None),
        removed=sorted(shown(change.path) for change in plan.changes if change.text is None),
        unchanged=sorted(shown(path) for path in plan.unchanged if path not in drifted),
        drifted=_sorted(plan.drifted),
        refused=_sorted(plan.refused),
        repaired=_sorted([one for one in plan.repaired if one.path in changed]),
    )


def _pieces(subjects: list[Subject], form: Format) -> tuple[dict[str, Piece], list[LeftAlone]]:
    pieces, refused = {}, []
    for subject in subjects:
        piece = piece_of(subject, form)
        if carries(piece, subject, form):
            pieces[subject.atom_id] = piece
        else:
            refused.append(LeftAlone("", subject.atom_id, NOT_CARRIED))
    return pieces, refused


def _plan(
    folder: Folder,
    project_id: str,
    form: Format,
    subjects: list[Subject],
    pieces: dict[str, Piece],
    *,
    force: bool,
) -> Plan:
    said = Said(pieces, form)
    if own := OWN_FILES.get(form):
        by_atom = {one.atom_id: (one.name, pieces[one.atom_id]) for one in subjects}
        try:
            return plan_files(folder, own, project_id, by_atom, said, force=force)
        except Misplaced as error:
            raise RulesOutOfReach(own.folder, error.reason) from None
    by_file: dict[str, dict[str, Piece]] = {}
    for one in subjects:
        by_file.setdefault(agents.file_for(one.patterns), {})[one.atom_id] = pieces[one.atom_id]
    return plan_blocks(folder, project_id, by_file, said, force=force)


def _sorted(some: list[LeftAlone]) -> list[LeftAlone]:
    named = [replace(one, path=shown(one.path)) for one in some]
    return sorted(named, key=lambda one: (one.path, one.atom_id))


def _is_done(change: Change, folder: Folder, plan: Plan) -> bool:
    try:
        if change.text is None:
            folder.remove(change.path)
        else:
            folder.write(change.path, change.text)
    except Misplaced as error:
        plan.refused.append(LeftAlone(change.path, "", error.reason))
        return False
    return True
