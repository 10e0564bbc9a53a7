"""Confirm atoms at a commit: somebody has looked, and what they say is true of the files as they are there."""

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
            f"{len(ids)} atoms are called {quote_text(name)}; say which by its id: {' or '.join(ids)}",
            name=name,
            ids=ids,
        )


class ConfirmedAtom(Struct):
    """An atom, at the version it has by that."""

    id: str
    name: str
    version: int


class Confirmation(Struct):
    """Which atoms were confirmed at which commit."""

    commit: str
    confirmed: list[ConfirmedAtom]
    unchanged: list[ConfirmedAtom]  # these had been confirmed at this commit before
    changed: list[ConfirmedAtom]  # these were changed by somebody else meanwhile, and not confirmed


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
    """Confirm these atoms, each by its id or its name, or `every` atom of the project, at a commit.

    Without a project it is that of the first atom, which must then be given by its id.

    If one of them is not found, none is touched. An atom that somebody changes meanwhile is left out: its text was not
    seen. How the others stand then is looked up and recorded.

    Raises:
        Invalid: no atom is named, or a name is that of several.
        NotFound: there is no such atom, project or revision.
    """
    if not refs and not every:
        raise Invalid("no atom is named; give their ids or names, or ask for every one", code="no_atoms")
    if project is None:
        project = _project_of(session, refs)
    repository = Repository(folder)
    head = repository.head()
    commit = head.id if revision == "HEAD" else repository.commit(revision).id
    atoms = list(list_atoms(session, project))
    meant = atoms if every else _resolve_atoms(atoms, refs)
    by = {} if task is None else {"lastTaskId": task}
    done = Confirmation(commit, [], [], [])
    for atom in meant:
        if atom.confirmed == commit:
            done.unchanged.append(ConfirmedAtom(atom.id, atom.name, atom.version))
            continue
        try:
            change = {"confirm": commit, **by}
            now = session.call("knowledge.update", entityType="atom", id=atom.id, version=atom.version, **change).atom
        except (Conflict, NotFound):
            # Somebody changed it meanwhile. What it says now, whoever confirms has not seen.
            done.changed.append(ConfirmedAtom(atom.id, atom.name, atom.version))
        else:
            done.confirmed.append(ConfirmedAtom(now.id, now.name, now.version))
    if done.confirmed:
        # With another commit to compare with, nothing is known of them until somebody looks; we can.
        check(session, project, folder)
    return done


def _project_of(session: Session, refs: Sequence[str]) -> str:
    if not refs or parse_uuid(refs[0]) is None:
        raise Invalid("say of which project; only an atom's id tells it by itself", code="no_project")
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
