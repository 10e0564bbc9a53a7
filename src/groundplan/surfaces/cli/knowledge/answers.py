"""Views of the knowledge operations.

The command line has no limit on the size of answers, so they are always complete.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import UnsetType

from groundplan.knowledge.entities import Atom, AtomRelation, ChangelogLine, Molecule, MoleculeRelation
from groundplan.knowledge.freshness import Freshness, FreshnessState
from groundplan.surfaces.cli.drawing import (
    GAP,
    WARNINGS,
    Fields,
    ForEach,
    Lines,
    Part,
    Rows,
    View,
    When,
    indent,
    note_no_results,
)
from groundplan.surfaces.cli.terminal import format_time, join_first

if TYPE_CHECKING:
    from groundplan.knowledge.context import FileKnowledge, MatchedAtom
    from groundplan.knowledge.read import ListedAtom

PATHS_SHOWN_MAX = 3
COMMITS_SHOWN_MAX = 3
COMMIT_CHARS = 9  # as git abbreviates ids in a repository of some size
CREATE = "groundplan knowledge create NAME --type atom --path PATTERN"


def format_context(answer: FileKnowledge) -> Iterator[Part]:
    """Yield the knowledge about some files: molecules with their atoms, then atoms without a molecule."""
    for molecule in answer.molecules:
        yield molecule.name
        yield from indent(
            (
                *(molecule.knowledge or "").splitlines(),
                *(f"-> {_format_relation(one)}" for one in molecule.related_molecules or ()),
                *map(_format_entry, molecule.changelog or ()),
            )
        )
        for atom in molecule.atoms:
            yield from indent(_format_matched_atom(atom))
    for atom in answer.orphan_atoms:
        yield from _format_matched_atom(atom)


def _format_matched_atom(atom: MatchedAtom) -> Iterator[Part]:
    yield GAP
    yield _format_name(atom)
    yield from indent(
        (
            f"for {', '.join(atom.matched_paths or ())}",
            *(atom.knowledge or "").splitlines(),
            *(f"-> {_format_relation(one)}" for one in atom.related_atoms or ()),
            *map(_format_entry, atom.changelog or ()),
        )
    )


def _list_relations(entity: Atom | Molecule) -> Iterator[tuple[str, str]]:
    related = entity.related_atoms if isinstance(entity, Atom) else entity.related_molecules
    for one in related or ():
        yield "related", _format_relation(one)


def _format_name(atom: Atom | MatchedAtom) -> str:
    return f"{atom.name} [{_format_state(atom.freshness)}]" if atom.freshness else atom.name


def _format_first_and_last_task(entity: Atom | Molecule) -> str:
    first, last = entity.created_by_task_id, entity.last_task_id
    return first if first == last else f"{first}, last {last}"


def _format_relation(one: AtomRelation | MoleculeRelation) -> str:
    return f"{one.name or '(deleted)'}: {one.reason}"


def _format_entry(one: ChangelogLine) -> str:
    return f"{format_time(one.created_at)} {one.task_id} {_shorten(one.summary)}"


def _format_freshness(atom: Atom | ListedAtom) -> str:
    freshness = atom.freshness
    if not freshness:
        return ""
    return f"{_format_state(freshness)} {join_first(freshness.files or (), PATHS_SHOWN_MAX)}".rstrip()


def _format_state(freshness: Freshness) -> str:
    """Return the state, with the newest commits that changed the files."""
    if freshness.state is FreshnessState.UNANCHORED and freshness.commit is None:
        return "never confirmed"
    if not freshness.behind:
        return freshness.state.value
    commits = ", ".join(commit[:COMMIT_CHARS] for commit in (freshness.commits or ())[:COMMITS_SHOWN_MAX])
    return f"{freshness.state} by {freshness.behind} commit{'s' if freshness.behind > 1 else ''}: {commits}"


def _format_paths(entity: Atom | ListedAtom | Molecule) -> str:
    return "" if isinstance(entity, Molecule) else join_first(entity.paths or (), PATHS_SHOWN_MAX)


def _shorten(text: str | UnsetType) -> str:
    """Return the first line of a text, with a mark if there are more."""
    lines = (text or "").splitlines()
    return "" if not lines else lines[0] if len(lines) == 1 else f"{lines[0]} …"


ATOM = (
    _format_name,
    Fields(
        "id, version, paths, molecule: molecule_id",
        _list_relations,
        ("freshness", _format_freshness),
        ("task", _format_first_and_last_task),
    ),
    GAP,
    Lines("knowledge"),
)
MOLECULE = (
    "{name}",
    Fields("id, version", _list_relations, ("task", _format_first_and_last_task)),
    GAP,
    Lines("knowledge"),
)
ENTITY = (ForEach("atom", *ATOM), ForEach("molecule", *MOLECULE))
CONTEXT = (
    format_context,
    WARNINGS,
    Lines("unmatched_paths", title="No knowledge about:"),
    When("unmatched_paths", f"Next: {CREATE} --project PROJECT --task TASK"),
)

RENDERERS = {
    "knowledge.get": View(
        *ENTITY,
        Rows("atoms", "id, name", ("paths", _format_paths), title="Atoms:"),
        Lines("changelog", _format_entry, title="Changelog:"),
    ),
    "knowledge.search": View(
        Rows(
            "items",
            "id",
            "name",
            "version",
            ("updated", "updated_at"),
            ("paths", _format_paths),
            ("task", _format_first_and_last_task),
            ("knowledge", lambda one: _shorten(one.knowledge)),
        ),
        note_no_results,
    ),
    "knowledge.context": View(*CONTEXT),
    "knowledge.coverage": View(
        When(
            "commit",
            "{covered} of {files} files covered, {overlapping} by more than one atom, at {commit}",
            otherwise=("No check sent its files yet. Next: groundplan knowledge check --project PROJECT",),
        ),
        Rows("entries", "path, files, covered, overlapping"),
        Rows("uncovered", "path", ("files", "files"), title="Without knowledge:"),
    ),
    "knowledge.match": View(
        "{count} of {kept} files match",
        Rows("patterns", "pattern, files"),
        Lines("files", title="Files:"),
    ),
    "knowledge.create": View(*ENTITY, WARNINGS),
    "knowledge.update": View(*ENTITY, WARNINGS),
    "knowledge.delete": View(
        "Deleted {deleted}.",
        When("orphaned_atoms", "Atoms now without a molecule: {orphaned_atoms}"),
        When("deleted_atoms", "Atoms deleted with it: {deleted_atoms}"),
    ),
    "knowledge.append_changelog": View("Added to {entry.parent_type} {entry.parent_id}."),
    "knowledge.list": View(
        Rows(
            "atoms",
            "id, name",
            ("paths", _format_paths),
            "version",
            ("freshness", _format_freshness),
            empty=f"No atoms here. Next: {CREATE} --project P --task TASK",
        ),
    ),
}
