"""Confirm atoms at a commit: their knowledge is correct for the files of that commit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from groundplan.kernel.errors import Conflict, Invalid, NotFound
from groundplan.kernel.ids import parse_uuid
from groundplan.kernel.wording import find_nearest, quote_text
from groundplan.repository.check import check, list_atoms
from groundplan.repository.git import Repository
from groundplan.session import Session


class AmbiguousAtom(Invalid):
    """Several atoms of the project have this name."""

    code = "ambiguous_atom"

    def __init__(self, name: str, ids: list[str]) -> None:
        super().__init__(
            f"{len(ids)} atoms are called {quote_text(name)}; name one by its id: {' or '.join(ids)}",
            name=name,
            ids=ids,
        )


class ConfirmedAtom(Struct):
    """An atom and its version."""

    id: str
    name: str
    version: int


class Confirmation(Struct):
    """The commit, and which atoms were confirmed at it."""

    commit: str
    confirmed: list[ConfirmedAtom]
    unchanged: list[ConfirmedAtom]  # confirmed at this commit before
    changed: list[ConfirmedAtom]  # changed by somebody else meanwhile, so not confirmed


def confirm(
    session: Session,
    project: str | None,
    folder: Path | str,
    refs: Sequence[str],
    *,
    every: bool = False,
    revision: str = "HEAD",
    task: str | None = None,
) -> Confirmation:
    """Confirm atoms, each by its id or name, or `every` atom of the project, at a commit.

    Without a project, the project of the first atom is used, which must then be given by its id.

    If an atom is not found, none is confirmed. An atom that somebody changes meanwhile is skipped, because the new text
    was not reviewed. The project is checked again afterwards.

    Raises:
        Invalid: no atom is named, or several atoms have the name.
        NotFound: an atom, the project or the revision does not exist.
    """
    if not refs and not every:
        raise Invalid("no atom is named; give ids or names, or ask for every atom", code="no_atoms")
    if project is None:
        project = _resolve_project(session, refs)
    repository = Repository(folder)
    head = repository.resolve_head()
    commit = head.id if revision == "HEAD" else repository.resolve_commit(revision).id
    atoms = list(list_atoms(session, project))
    selected = atoms if every else _resolve_atoms(atoms, refs)
    by = {} if task is None else {"lastTaskId": task}
    done = Confirmation(commit, [], [], [])
    for atom in selected:
        if atom.confirmed == commit:
            done.unchanged.append(ConfirmedAtom(atom.id, atom.name, atom.version))
            continue
        try:
            change = {"confirm": commit, **by}
            now = session.call("knowledge.update", entityType="atom", id=atom.id, version=atom.version, **change).atom
        except (Conflict, NotFound):
            # Somebody changed it meanwhile, and the caller has not seen the new text.
            done.changed.append(ConfirmedAtom(atom.id, atom.name, atom.version))
        else:
            done.confirmed.append(ConfirmedAtom(now.id, now.name, now.version))
    if done.confirmed:
        # The confirmation deleted the last results, so the project is checked again.
        check(session, project, folder)
    return done


def _resolve_project(session: Session, refs: Sequence[str]) -> str:
    if not refs or parse_uuid(refs[0]) is None:
        raise Invalid("no project is named; name it, or give the first atom by its id", code="no_project")
    found = session.call("knowledge.get", entityType="atom", id=refs[0], includeChangelog=False)
    return str(found.atom.project_id)


def _resolve_atoms(atoms: Sequence[Any], refs: Sequence[str]) -> list[Any]:
    by_id = {atom.id: atom for atom in atoms}
    by_name: dict[str, list[Any]] = {}
    for atom in atoms:
        by_name.setdefault(atom.name, []).append(atom)
    found = {}
    for ref in refs:
        atom = by_id.get(parse_uuid(ref) or ref) or _find_by_name(ref, by_name)
        found[atom.id] = atom
    return list(found.values())


def _find_by_name(name: str, by_name: dict[str, list[Any]]) -> Any:
    import unicodedata  # a megabyte of tables, which an id does not need

    named = by_name.get(unicodedata.normalize("NFC", name).strip(), [])
    if not named:
        near = find_nearest(name, list(by_name))
        raise NotFound("atom", name, near=[near] if near else [])
    if len(named) > 1:
        raise AmbiguousAtom(name, [atom.id for atom in named])
    return named[0]
