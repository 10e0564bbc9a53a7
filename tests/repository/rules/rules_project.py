"""A project's knowledge and its rule files: tests change atoms in the plan and files in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from groundplan.repository.rules.export import ExportedRules, export
from groundplan.repository.rules.formats import RuleFormat
from groundplan.repository.rules.import_rules import ImportedRules, import_rules
from groundplan.session import Session


def begin_project(session: Session, project: str) -> str:
    """Create a project with one task and return the id of the task."""
    session.call("project.create", name=project)
    task: str = session.call("work.plan", project=project, nodes=[{"ref": "a", "summary": "a"}]).created[0].id
    return task


class RulesProject:
    """A project and the folder of its rule files."""

    def __init__(self, session: Session, project: str, folder: Path, *, task: str | None = None) -> None:
        self.session = session
        self.project = project
        self.folder = folder
        self.task = task or begin_project(session, project)

    def atom(self, name: str = "Cart", *paths: str, **more: Any) -> Any:
        """Create an atom."""
        given = {"paths": list(paths) or ["src/cart/**"], "knowledge": "Never round twice.", **more}
        return self._write("atom", name, **given)

    def molecule(self, name: str, knowledge: str = "Holds for all of them.") -> Any:
        """Create a molecule."""
        return self._write("molecule", name, knowledge=knowledge)

    def molecules(self) -> dict[str, str]:
        """Return the knowledge of each molecule by name, and check that no name occurs twice."""
        found = self.session.call("knowledge.search", entityType="molecule", projectId=self.project).items
        assert len({one.name for one in found}) == len(found)
        return {one.name: one.knowledge for one in found}

    def _write(self, entity: str, name: str, **given: Any) -> Any:
        made = self.session.call(
            "knowledge.create",
            entityType=entity,
            projectId=self.project,
            name=name,
            createdByTaskId=self.task,
            **given,
        )
        return getattr(made, entity)

    def change(self, atom: Any, **changes: Any) -> Any:
        """Update an atom at its current version."""
        version = self.read(atom.id).version
        return self.session.call("knowledge.update", entityType="atom", id=atom.id, version=version, **changes).atom

    def delete(self, atom: Any) -> None:
        """Delete an atom."""
        version = self.read(atom.id).version
        self.session.call("knowledge.delete", entityType="atom", id=atom.id, version=version)

    def read(self, atom_id: str) -> Any:
        """Return an atom as it is now."""
        return self.session.call("knowledge.get", entityType="atom", id=atom_id).atom

    def read_atoms(self) -> list[tuple[str, tuple[str, ...], str]]:
        """Return names, patterns and knowledge of all atoms."""
        found = self.session.call("knowledge.search", entityType="atom", projectId=self.project, limit=100).items
        return [(atom.name, tuple(atom.paths), atom.knowledge) for atom in found]

    def export(self, form: RuleFormat, **options: bool) -> ExportedRules:
        """Write the rule files."""
        return export(self.session, self.project, form, self.folder, **options)

    def import_rules(self, form: RuleFormat, *paths: str | Path) -> ImportedRules:
        """Import rule files: the named ones, or all."""
        named = [str(self.folder / path) for path in paths] or [str(self.folder)]
        return import_rules(self.session, self.project, self.task, form, named)

    def files(self) -> dict[str, str]:
        """Return every file of the working copy."""
        return {
            path.relative_to(self.folder).as_posix(): path.read_bytes().decode()
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and ".git" not in path.parts
        }

    def write(self, path: str, text: str | bytes) -> None:
        """Write a file into the working copy."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace text in a file."""
        text = self.files()[path]
        assert old in text
        self.write(path, text.replace(old, new))
