"""Import rule files: each rule becomes an atom, and a repeated import updates that atom.

A generated rule names its atom. If it was edited, the edit updates the atom, unless the atom changed too since the
export: then a person must decide which is right. If it was not edited, it changes nothing and does not restore a
deleted atom. Other rules are matched by name and patterns. If several rules match one atom, the first by path counts.

A generated rule also has the knowledge of the molecule of its atom. A new atom joins the molecule of that name, which
is created if there is none; an edit of this text updates the molecule. A rule that is not about files in particular
becomes a molecule, and is matched by its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from msgspec import UNSET

from groundplan.kernel.errors import Conflict, Invalid, NotFound, RuleViolated
from groundplan.repository.rules.export import (
    load_molecule_of,
    load_molecules,
    resolve_project_id,
    to_exported_atom,
)
from groundplan.repository.rules.folder import SKIPPED_FOLDERS, to_display_path
from groundplan.repository.rules.formats import AGENTS_FILE, OWN_FILES, RuleFormat, render_piece
from groundplan.repository.rules.marks import Mark
from groundplan.repository.rules.read_rules import FileRule, RuleFiles, SkippedFile, find_rule_files, read_rules
from groundplan.repository.rules.rule import normalize_line_breaks, normalize_name, normalize_patterns
from groundplan.session import Session

PAGE_SIZE = 1000

NAMED_MAX = 3  # files in a sentence
# Formats whose files are rules by their suffix; an .md file can be anything.
DISTINCT_SUFFIXES = frozenset({RuleFormat.CURSOR, RuleFormat.COPILOT})

_Identity = tuple[str, tuple[str, ...]]  # name and patterns

BOTH_CHANGED = (
    "was edited by hand, and its atom changed too since the export; merge the two in the atom and export with "
    "force, or remove the first line with the mark from the file and import it again"
)
FILE_LEFT_OVER = "was not edited, and its atom was deleted; delete the file, or export again"
BLOCK_LEFT_OVER = "has a block that was not edited and whose atom was deleted; delete the block, or export again"


@dataclass(frozen=True, slots=True)
class ImportedAtom:
    """An atom and the file from which it was imported."""

    file: str
    atom_id: str
    name: str


@dataclass(frozen=True, slots=True)
class ImportedMolecule:
    """A molecule and the first file from which its knowledge was imported."""

    file: str
    molecule_id: str
    name: str


@dataclass(slots=True)
class ImportedRules:
    """The results of an import."""

    created: list[ImportedAtom] = field(default_factory=list)
    updated: list[ImportedAtom] = field(default_factory=list)
    unchanged: list[ImportedAtom] = field(default_factory=list)
    skipped: list[SkippedFile] = field(default_factory=list)
    molecules: list[ImportedMolecule] = field(default_factory=list)  # created or updated
    warnings: list[str] = field(default_factory=list)


def import_rules(session: Session, project: str, task: str, form: RuleFormat, paths: list[str]) -> ImportedRules:
    """Import rule files as atoms of a project. The import belongs to a task."""
    files = find_rule_files(paths, form)
    if not files.found:
        raise _explain_nothing_found(files, form, paths)
    done = ImportedRules()
    if files.elsewhere and form in DISTINCT_SUFFIXES:
        done.warnings.append(_describe_elsewhere(files, form))
    atoms = _ProjectAtoms(session, project)
    molecules = _ProjectMolecules(session, project, task, done)
    for rule in read_rules(files, form):
        if isinstance(rule, SkippedFile):
            done.skipped.append(rule)
            continue
        done.warnings += [f"{rule.file} {warning}" for warning in rule.warnings]
        try:
            with _name_in_warnings(session, rule.file):
                _import_rule(session, atoms, molecules, rule, task, form, done)
        except Conflict as error:
            done.skipped.append(SkippedFile(rule.file, error.message))
        except (Invalid, RuleViolated) as error:
            done.skipped.append(SkippedFile(rule.file, error.message))
            atoms.forget(rule)
    return done


def _explain_nothing_found(files: RuleFiles, form: RuleFormat, paths: list[str]) -> NotFound:
    own = OWN_FILES.get(form)
    wanted = AGENTS_FILE if own is None else f"*{own.suffix} below {own.folder}"
    if own is not None and own.general_file is not None:
        wanted += f", and for {own.general_file}"
    hint = f"looked for {wanted} in every folder but {' and '.join(sorted(SKIPPED_FOLDERS))}"
    if files.elsewhere and form in DISTINCT_SUFFIXES:
        hint += f"; {_describe_elsewhere(files, form)}"
    return NotFound("rule file in", to_display_path(", ".join(paths)), hint=hint)


def _describe_elsewhere(files: RuleFiles, form: RuleFormat) -> str:
    """Return a sentence about the files that look like rules and are not where the tool reads them."""
    own = OWN_FILES[form]
    named = ", ".join(to_display_path(str(file)) for file in files.elsewhere[:NAMED_MAX])
    return (
        f"files that {form} does not read, outside of {own.folder} or without {own.suffix}: {len(files.elsewhere)}; "
        f"name them to import them: {named}" + (", …" if len(files.elsewhere) > NAMED_MAX else "")
    )


@contextmanager
def _name_in_warnings(session: Session, file: str) -> Iterator[None]:
    """Begin the warnings of a session with the name of a file."""
    warn = session.warn
    session.warn = lambda line: warn(f"{file}: {line}")
    try:
        yield
    finally:
        session.warn = warn


def _import_rule(
    session: Session,
    atoms: _ProjectAtoms,
    molecules: _ProjectMolecules,
    rule: FileRule,
    task: str,
    form: RuleFormat,
    done: ImportedRules,
) -> None:
    if not rule.patterns:
        molecules.import_rule(rule)
        return
    atom = atoms.find_atom(rule)
    mark = rule.mark if atom is not None and rule.mark is not None and rule.mark.atom_id == atom.id else None
    if atom is not None and mark is not None and not rule.is_edited:  # it is an unedited export of the atom
        done.unchanged.append(ImportedAtom(rule.file, atom.id, atom.name))
        return
    if mark is None and atoms.is_left_over(rule):
        done.skipped.append(SkippedFile(rule.file, BLOCK_LEFT_OVER if form is RuleFormat.AGENTS else FILE_LEFT_OVER))
        return
    first = atoms.first_rule_for(rule, atom)
    differing = {} if atom is None else _diff_rule(rule, atom)
    edited_molecule = None if mark is None else _find_edited_molecule(session, rule, mark, atom, form)
    if atom is not None and not differing and edited_molecule is None:
        done.unchanged.append(ImportedAtom(rule.file, atom.id, atom.name))
    elif first is not rule:
        done.skipped.append(SkippedFile(rule.file, _explain_duplicate(rule, first)))
    elif atom is None:
        created = session.call(
            "knowledge.create",
            entityType="atom",
            projectId=atoms.project,
            name=rule.name,
            paths=list(rule.patterns),
            knowledge=rule.rule.knowledge,
            createdByTaskId=task,
            moleculeId=molecules.resolve(rule),
        ).atom
        atoms.put(created)
        done.created.append(ImportedAtom(rule.file, created.id, created.name))
    elif mark is not None and not _is_unchanged_since_export(session, mark, atom, form):
        done.skipped.append(SkippedFile(rule.file, BOTH_CHANGED))
    else:
        if differing:
            atom = session.call(
                "knowledge.update", entityType="atom", id=atom.id, version=atom.version, lastTaskId=task, **differing
            ).atom
            atoms.put(atom)
        if edited_molecule is not None:
            molecules.update(edited_molecule, rule)
        done.updated.append(ImportedAtom(rule.file, atom.id, atom.name))


def _explain_duplicate(rule: FileRule, first: FileRule) -> str:
    place = "another part of it" if first.file == rule.file else first.file
    subject = "atom" if rule.patterns else "molecule"
    return f"is about the same {subject} as {place}, which comes first; merge the two there, or rename this one"


def _diff_rule(rule: FileRule, atom: Any) -> dict[str, Any]:
    """Return the fields in which the rule differs from the atom. Parts that the rule lacks are not differences."""
    differing: dict[str, Any] = {}
    if rule.rule.knowledge != normalize_line_breaks(atom.knowledge):
        differing["knowledge"] = rule.rule.knowledge
    if rule.rule.name and normalize_name(rule.rule.name) != atom.name:
        differing["name"] = rule.rule.name
    if rule.mark is not None and rule.rule.patterns and normalize_patterns(rule.rule.patterns) != atom.paths:
        differing["paths"] = list(rule.rule.patterns)
    return differing


def _is_unchanged_since_export(session: Session, mark: Mark, atom: Any, form: RuleFormat) -> bool:
    """Return True if the atom still has its exported content."""
    # A new version can have the same content, for example after a confirmation.
    if atom.version == mark.version:
        return True
    subject = to_exported_atom(atom, load_molecule_of(session, atom))
    # In a file with several blocks, only the first of a molecule has the knowledge of the molecule.
    subjects = (subject, replace(subject, molecule_knowledge=""))
    return any(render_piece(exported, form).mark.sha256 == mark.sha256 for exported in subjects)


def _find_edited_molecule(session: Session, rule: FileRule, mark: Mark, atom: Any, form: RuleFormat) -> Any:
    """Return the molecule of the atom if the rule has edited its knowledge; else None.

    It is an edit if the plan still has all that was exported; otherwise the text in the rule may just be outdated.
    """
    molecule = load_molecule_of(session, atom) if rule.rule.molecule_knowledge else None
    if molecule is None or rule.rule.part_of != molecule.name:
        return None
    is_same = rule.rule.molecule_knowledge == normalize_line_breaks(molecule.knowledge)
    exported = render_piece(to_exported_atom(atom, molecule), form)
    return None if is_same or exported.mark.sha256 != mark.sha256 else molecule


class _ProjectMolecules:
    """The molecules of a project by name."""

    def __init__(self, session: Session, project: str, task: str, done: ImportedRules) -> None:
        self._session = session
        self._project = project
        self._task = task
        self._done = done
        self._first_rules: dict[str, FileRule] = {}

    @cached_property
    def _by_name(self) -> dict[str, Any]:
        return {molecule.name: molecule for molecule in reversed(load_molecules(self._session, self._project))}

    def import_rule(self, rule: FileRule) -> None:
        """Import a rule without file patterns as a molecule."""
        name, knowledge = normalize_name(rule.name), rule.rule.knowledge
        first = self._first_rules.setdefault(name, rule)
        molecule = self._by_name.get(name)
        if molecule is None:
            self._create(name, knowledge, rule)
        elif normalize_line_breaks(molecule.knowledge) == knowledge:
            return
        elif first is rule:
            self._update(molecule, knowledge, rule)
        else:
            self._done.skipped.append(SkippedFile(rule.file, _explain_duplicate(rule, first)))

    def resolve(self, rule: FileRule) -> str | None:
        """Return the id of the molecule that a rule names; None if it names none. A missing molecule is created."""
        if rule.rule.part_of is None:
            return None
        name, knowledge = normalize_name(rule.rule.part_of), rule.rule.molecule_knowledge or ""
        molecule = self._by_name.get(name)
        if molecule is None:
            molecule = self._create(name, knowledge, rule)
        elif (
            knowledge
            and not molecule.knowledge
            and any(written.molecule_id == molecule.id for written in self._done.molecules)
        ):
            self.update(molecule, rule)  # created by a rule before that did not have the text
        return str(molecule.id)

    def update(self, molecule: Any, rule: FileRule) -> None:
        """Set the knowledge of a molecule from a rule."""
        self._update(molecule, rule.rule.molecule_knowledge, rule)

    def _create(self, name: str, knowledge: str, rule: FileRule) -> Any:
        molecule = self._by_name[name] = self._session.call(
            "knowledge.create",
            entityType="molecule",
            projectId=self._project,
            name=name,
            knowledge=knowledge,
            createdByTaskId=self._task,
        ).molecule
        self._report(molecule, rule)
        return molecule

    def _update(self, molecule: Any, knowledge: str | None, rule: FileRule) -> None:
        updated = self._session.call(
            "knowledge.update",
            entityType="molecule",
            id=molecule.id,
            version=molecule.version,
            knowledge=knowledge,
            lastTaskId=self._task,
        ).molecule
        self._by_name[updated.name] = updated
        self._report(updated, rule)

    def _report(self, molecule: Any, rule: FileRule) -> None:
        if all(reported.molecule_id != molecule.id for reported in self._done.molecules):
            self._done.molecules.append(ImportedMolecule(rule.file, molecule.id, molecule.name))


class _ProjectAtoms:
    """The atoms of a project by name and patterns, and the first rule for each."""

    def __init__(self, session: Session, project: str) -> None:
        self.project = project
        self._session = session
        self._identity_by_atom: dict[str, _Identity] = {}
        self._atoms_by_identity: dict[_Identity, dict[str, None]] = {}
        self._first_rules: dict[str | _Identity, FileRule] = {}
        cursor: dict[str, str] = {}
        while True:
            page = session.call("knowledge.list", projectId=project, limit=PAGE_SIZE, **cursor)
            for atom in page.atoms:
                self.put(atom)
            if page.next_cursor is UNSET:
                break
            cursor = {"cursor": page.next_cursor}

    def put(self, atom: Any) -> None:
        """Add an atom, or update its name and patterns."""
        if atom.id in self._identity_by_atom:
            del self._atoms_by_identity[self._identity_by_atom[atom.id]][atom.id]
        identity = _make_identity(atom.name, atom.paths)
        self._identity_by_atom[atom.id] = identity
        self._atoms_by_identity.setdefault(identity, {})[atom.id] = None
        if identity in self._first_rules:
            self._first_rules.setdefault(atom.id, self._first_rules[identity])

    def find_atom(self, rule: FileRule) -> Any:
        """Return the atom of a rule, or None."""
        if rule.mark is not None and rule.mark.atom_id in self._identity_by_atom:
            atom_id: str | None = rule.mark.atom_id
        else:
            atom_id = next(iter(self._atoms_by_identity.get(_make_identity(rule.name, rule.patterns), ())), None)
        if atom_id is None:
            return None
        return self._session.call("knowledge.get", entityType="atom", id=atom_id, includeChangelog=False).atom

    def is_left_over(self, rule: FileRule) -> bool:
        """Return True if a rule is an unedited export of an atom of this project that was deleted."""
        if rule.mark is None or rule.is_edited or rule.mark.atom_id in self._identity_by_atom:
            return False
        return rule.mark.project_id == self._project_id

    @cached_property
    def _project_id(self) -> str:
        return resolve_project_id(self._session, self.project)

    def first_rule_for(self, rule: FileRule, atom: Any) -> FileRule:
        """Return the first rule for the atom: an earlier rule, imported or not, or the given one."""
        if atom is None:
            about: list[str | _Identity] = [_make_identity(rule.name, rule.patterns)]
        else:  # the name and patterns that it gives to the atom count too
            about = [atom.id, _make_identity(rule.rule.name or atom.name, rule.rule.patterns or atom.paths)]
        first = next((self._first_rules[key] for key in about if key in self._first_rules), rule)
        if first is rule:
            self._first_rules.update(dict.fromkeys(about, rule))
        return first

    def forget(self, rule: FileRule) -> None:
        """Forget a rule that the store refused, so that a later rule can be the first for its atom."""
        self._first_rules = {about: first for about, first in self._first_rules.items() if first is not rule}


def _make_identity(name: str, patterns: Iterable[str]) -> _Identity:
    return normalize_name(name), tuple(sorted(normalize_patterns(patterns)))
