"""Terminal output of the knowledge operations.

The command line has no limit on the size of answers, so they are always complete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import UNSET, UnsetType

from groundplan.knowledge.atom import Atom, AtomRelation
from groundplan.knowledge.changelog import ChangelogLine
from groundplan.knowledge.entity import WrittenKnowledge
from groundplan.knowledge.freshness import Freshness
from groundplan.knowledge.molecule import Molecule, MoleculeRelation
from groundplan.knowledge.reading.context import FileKnowledge, MatchedAtom
from groundplan.knowledge.reading.get import KnowledgeDetails
from groundplan.knowledge.reading.list import Atoms
from groundplan.knowledge.reading.search import KnowledgePage
from groundplan.knowledge.writing.append_changelog import AppendedEntry
from groundplan.knowledge.writing.delete import DeletedKnowledge
from groundplan.surfaces.cli.terminal import INDENT, draw_pairs, draw_table, echo, echo_list, format_time

PATHS_SHOWN_MAX = 3

Pairs = Iterator[tuple[str, str]]


def draw_context(answer: FileKnowledge) -> None:
    """Print the knowledge about some files, and the files without any."""
    for molecule in answer.molecules:
        echo(molecule.name, *_indent(molecule.knowledge, INDENT))
        echo(*(f"{INDENT}-> {_format_relation(one)}" for one in molecule.related_molecules or ()))
        echo(*(f"{INDENT}{_entry(one)}" for one in molecule.changelog or ()))
        for atom in molecule.atoms:
            _draw_matched_atom(atom, INDENT)
    for atom in answer.orphan_atoms:
        _draw_matched_atom(atom, "")
    echo_list("Warnings:", answer.warnings or ())
    if answer.unmatched_paths:
        echo("", "No knowledge about:", *(f"{INDENT}{path}" for path in answer.unmatched_paths))
        echo("Next: groundplan knowledge create NAME --type atom --path PATTERN --project PROJECT --task TASK")


def _draw_matched_atom(atom: MatchedAtom, indent: str) -> None:
    inner = indent + INDENT
    echo("", f"{indent}{atom.name}{_mark(atom.freshness)}", f"{inner}for {', '.join(atom.matched_paths or ())}")
    echo(*_indent(atom.knowledge, inner))
    echo(*(f"{inner}-> {_format_relation(one)}" for one in atom.related_atoms or ()))
    echo(*(f"{inner}{_entry(one)}" for one in atom.changelog or ()))


def draw_get(answer: KnowledgeDetails) -> None:
    """Print one atom or molecule with its atoms and latest changelog entries."""
    if answer.atom:
        _draw_atom(answer.atom)
    if answer.molecule:
        _draw_molecule(answer.molecule)
    if answer.atoms:
        echo("", "Atoms:")
        draw_table(
            ("id", "name", "paths"), [(one.id, one.name, _format_paths(one.paths or ())) for one in answer.atoms]
        )
    if answer.changelog:
        echo("", "Changelog:", *(f"{INDENT}{_entry(one)}" for one in answer.changelog))


def draw_entity(answer: WrittenKnowledge) -> None:
    """Print the written atom or molecule."""
    if answer.atom:
        _draw_atom(answer.atom)
    if answer.molecule:
        _draw_molecule(answer.molecule)
    echo_list("Warnings:", answer.warnings or ())


def draw_delete(answer: DeletedKnowledge) -> None:
    """Print the deleted id and what happened to the atoms of a molecule."""
    echo(f"Deleted {answer.deleted}.")
    if answer.orphaned_atoms:
        echo(f"Atoms now without a molecule: {answer.orphaned_atoms}")
    if answer.deleted_atoms:
        echo(f"Atoms deleted with it: {answer.deleted_atoms}")


def draw_page(answer: KnowledgePage) -> None:
    """Print a page of atoms or molecules."""
    if not answer.items:
        echo("Nothing found." if not answer.count else f"No results after {answer.offset}; {answer.count} in total.")
        return
    rows = [
        (one.id, one.name, one.version, format_time(one.updated_at), _first_line(one.knowledge)) for one in answer.items
    ]
    draw_table(("id", "name", "version", "updated", "knowledge"), rows)
    if answer.next_offset is not UNSET:
        echo(f"{len(answer.items)} of {answer.count}. Next page: add --offset {answer.next_offset}")


def draw_list(answer: Atoms) -> None:
    """Print a page of atoms without their knowledge."""
    if not answer.atoms:
        echo("No atoms here. Next: groundplan knowledge create NAME --type atom --path PATTERN --project P --task TASK")
        return
    rows = [(one.id, one.name, _format_paths(one.paths), one.version, _state(one.freshness)) for one in answer.atoms]
    draw_table(("id", "name", "paths", "version", "freshness"), rows)
    if answer.next_cursor is not UNSET:
        echo(f"Next page: add --cursor {answer.next_cursor}")


def draw_entry(answer: AppendedEntry) -> None:
    """Print where a changelog entry was added."""
    echo(f"Added to {answer.entry.parent_type} {answer.entry.parent_id}.")


def _draw_atom(atom: Atom) -> None:
    echo(f"{atom.name}{_mark(atom.freshness)}")
    draw_pairs(_about_atom(atom))
    _draw_knowledge(atom.knowledge)


def _draw_molecule(molecule: Molecule) -> None:
    echo(molecule.name)
    draw_pairs(_about_molecule(molecule))
    _draw_knowledge(molecule.knowledge)


def _about_atom(atom: Atom) -> Pairs:
    yield "id", atom.id
    yield "version", str(atom.version)
    yield "paths", ", ".join(atom.paths or ())
    if atom.molecule_id:
        yield "molecule", atom.molecule_id
    for one in atom.related_atoms or ():
        yield "related", _format_relation(one)
    if atom.freshness:
        yield "freshness", _state(atom.freshness)
    yield "task", _tasks(atom)


def _about_molecule(molecule: Molecule) -> Pairs:
    yield "id", molecule.id
    yield "version", str(molecule.version)
    for one in molecule.related_molecules or ():
        yield "related", _format_relation(one)
    yield "task", _tasks(molecule)


def _tasks(entity: Atom | Molecule) -> str:
    first, last = entity.created_by_task_id, entity.last_task_id
    return first if first == last else f"{first}, last {last}"


def _draw_knowledge(knowledge: str | UnsetType) -> None:
    if knowledge:
        echo("", *knowledge.splitlines())


def _format_relation(one: AtomRelation | MoleculeRelation) -> str:
    return f"{one.name or '(deleted)'}: {one.reason}"


def _entry(one: ChangelogLine) -> str:
    return f"{format_time(one.created_at)} {one.task_id} {_first_line(one.summary)}"


def _mark(freshness: Freshness | UnsetType) -> str:
    return f" [{freshness.state}]" if freshness else ""


def _state(freshness: Freshness | UnsetType) -> str:
    if not freshness:
        return ""
    return f"{freshness.state} {_format_paths(freshness.files or ())}".rstrip()


def _format_paths(paths: Sequence[str]) -> str:
    more = len(paths) - PATHS_SHOWN_MAX
    return ", ".join(paths[:PATHS_SHOWN_MAX]) + (f" and {more} more" if more > 0 else "")


def _indent(text: str | UnsetType, indent: str) -> list[str]:
    return [f"{indent}{line}" for line in (text or "").splitlines()]


def _first_line(text: str | UnsetType) -> str:
    lines = (text or "").splitlines()
    return "" if not lines else lines[0] if len(lines) == 1 else f"{lines[0]} …"


RENDERERS: Mapping[str, Callable[[Any], None]] = {
    "knowledge.get": draw_get,
    "knowledge.search": draw_page,
    "knowledge.context": draw_context,
    "knowledge.create": draw_entity,
    "knowledge.update": draw_entity,
    "knowledge.delete": draw_delete,
    "knowledge.append_changelog": draw_entry,
    "knowledge.list": draw_list,
}
