"""Take rule files into the plan: an atom for each rule, the same atom when it comes again.

What Groundplan wrote names its atom. If somebody edited it, the edit becomes the atom's, unless the atom has changed as
well since the file was written: then nobody but a person can say which of the two is right. Other rules are recognised
by their name and their patterns.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from msgspec import UNSET

from groundplan.kernel.errors import Conflict, Invalid, RuleViolated
from groundplan.repository.rules.formats import Format, piece_of
from groundplan.repository.rules.marking import Mark
from groundplan.repository.rules.reading import Found, Skipped, read_rules
from groundplan.repository.rules.subjects import one_subject
from groundplan.session import Session

PAGE = 1000
BOTH_CHANGED = (
    "was edited by hand, and its atom has changed too since it was written; merge the two in the atom and export with "
    "force, or take the first line with the mark out of the file and import it again"
)


@dataclass(frozen=True, slots=True)
class Taken:
    """An atom, and the file that speaks for it."""

    file: str
    atom_id: str
    name: str


@dataclass(slots=True)
class Imported:
    """What became of the files."""

    created: list[Taken] = field(default_factory=list)
    updated: list[Taken] = field(default_factory=list)
    unchanged: list[Taken] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)


def import_rules(session: Session, project: str, task: str, form: Format, paths: list[str]) -> Imported:
    """Read rule files and keep what they say as atoms of a project, on behalf of a task.

    Raises:
        NotFound: there is no such project, task, file or directory.
    """
    done = Imported()
    atoms = _Atoms(session, project)
    for one in read_rules(paths, form):
        if isinstance(one, Skipped):
            done.skipped.append(one)
            continue
        try:
            _take(session, atoms, one, task, form, done)
        except (Invalid, RuleViolated, Conflict) as error:
            done.skipped.append(Skipped(one.file, error.message))
    return done


def _take(session: Session, atoms: _Atoms, found: Found, task: str, form: Format, done: Imported) -> None:
    atom_id = atoms.meant(found)
    if atom_id is None:
        made = session.call(
            "knowledge.create",
            entityType="atom",
            projectId=atoms.project,
            name=found.name,
            paths=list(found.patterns),
            knowledge=found.rule.knowledge,
            createdByTaskId=task,
        ).atom
        atoms.add(made)
        atoms.changed_by[made.id] = found.file
        done.created.append(Taken(found.file, made.id, made.name))
        return
    atom = session.call("knowledge.get", entityType="atom", id=atom_id, includeChangelog=False).atom
    differing = _differences(found, atom)
    mark = found.mark if found.mark is not None and found.mark.atom_id == atom.id else None
    if not differing or (mark is not None and not found.is_edited):  # not edited: it is what the atom once said
        done.unchanged.append(Taken(found.file, atom.id, atom.name))
    elif atom.id in atoms.changed_by:
        done.skipped.append(Skipped(found.file, f"says otherwise about the atom of {atoms.changed_by[atom.id]}"))
    elif mark is not None and not _is_as_written(session, mark, atom, form):
        done.skipped.append(Skipped(found.file, BOTH_CHANGED))
    else:
        session.call(
            "knowledge.update", entityType="atom", id=atom.id, version=atom.version, lastTaskId=task, **differing
        )
        atoms.changed_by[atom.id] = found.file
        done.updated.append(Taken(found.file, atom.id, differing.get("name", atom.name)))


def _differences(found: Found, atom: Any) -> dict[str, Any]:
    """What the rule says otherwise than the atom. Nobody meant to change what a rule does not say."""
    differing: dict[str, Any] = {}
    if found.rule.knowledge != atom.knowledge:
        differing["knowledge"] = found.rule.knowledge
    if found.rule.name and _as_kept(found.rule.name) != atom.name:
        differing["name"] = found.rule.name
    if found.mark is not None and found.rule.patterns and list(found.rule.patterns) != atom.paths:
        differing["paths"] = list(found.rule.patterns)
    return differing


def _is_as_written(session: Session, mark: Mark, atom: Any, form: Format) -> bool:
    """Whether the atom still says what it said when the file was written."""
    # A new version need not say anything new: it may have been confirmed, say.
    return atom.version == mark.version or piece_of(one_subject(session, atom), form).mark.sha256 == mark.sha256


class _Atoms:
    """The atoms of a project by what rules know of them, and which file has changed which."""

    def __init__(self, session: Session, project: str) -> None:
        self.project = project
        self.changed_by: dict[str, str] = {}
        self._ids: set[str] = set()
        self._alike: dict[tuple[str, tuple[str, ...]], str] = {}
        cursor: dict[str, str] = {}
        while True:
            page = session.call("knowledge.list", projectId=project, limit=PAGE, **cursor)
            for atom in page.atoms:
                self.add(atom)
            if page.next_cursor is UNSET:
                break
            cursor = {"cursor": page.next_cursor}

    def add(self, atom: Any) -> None:
        """One more atom."""
        self._ids.add(atom.id)
        self._alike.setdefault(_likeness(atom.name, atom.paths), atom.id)

    def meant(self, found: Found) -> str | None:
        """The atom that a rule is about, if there is one."""
        if found.mark is not None and found.mark.atom_id in self._ids:
            return found.mark.atom_id
        return self._alike.get(_likeness(found.name, found.patterns))


def _likeness(name: str, patterns: Any) -> tuple[str, tuple[str, ...]]:
    return _as_kept(name), tuple(sorted(pattern.strip() for pattern in patterns))


def _as_kept(name: str) -> str:
    """A name in the spelling in which the plan keeps it."""
    import unicodedata

    return unicodedata.normalize("NFC", name).strip()
