"""A project's knowledge and a working copy: tests write atoms on one side and files on the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from groundplan.repository.rules.export import ExportedRules, export
from groundplan.repository.rules.formats.registry import RuleFormat
from groundplan.repository.rules.import_rules import ImportedRules, import_rules
from groundplan.session import Session


def begin_project(session: Session, project: str) -> str:
    """Make a project with one task, whose id is returned."""
    session.call("project.create", name=project)
    task: str = session.call("work.plan", project=project, nodes=[{"ref": "a", "summary": "a"}]).created[0].id
    return task


class Notebook:
    """One project, and the folder that its rule files are written to."""

    def __init__(self, session: Session, project: str, folder: Path, *, task: str | None = None) -> None:
        self.session = session
        self.project = project
        self.folder = folder
        self.task = task or begin_project(session, project)

    def atom(self, name: str = "Cart", *paths: str, **more: Any) -> Any:
        """Write an atom down."""
        given = {"paths": list(paths) or ["src/cart/**"], "knowledge": "Never round twice.", **more}
        return self._write("atom", name, **given)

    def molecule(self, name: str, knowledge: str = "Holds for all of them.") -> Any:
        """Write a molecule down."""
        return self._write("molecule", name, knowledge=knowledge)

    def molecules(self) -> dict[str, str]:
        """What the plan knows of molecules: names and knowledge, each name once."""
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
        """Change an atom, whatever its version is by now."""
        version = self.read(atom.id).version
        return self.session.call("knowledge.update", entityType="atom", id=atom.id, version=version, **changes).atom

    def forget(self, atom: Any) -> None:
        """Delete an atom."""
        version = self.read(atom.id).version
        self.session.call("knowledge.delete", entityType="atom", id=atom.id, version=version)

    def read(self, atom_id: str) -> Any:
        """An atom as it is now."""
        return self.session.call("knowledge.get", entityType="atom", id=atom_id).atom

    def kept(self) -> list[tuple[str, tuple[str, ...], str]]:
        """What the plan knows: names, patterns and knowledge."""
        found = self.session.call("knowledge.search", entityType="atom", projectId=self.project, limit=100).items
        return [(atom.name, tuple(atom.paths), atom.knowledge) for atom in found]

    def export(self, form: RuleFormat, **options: bool) -> ExportedRules:
        """Write the rule files."""
        return export(self.session, self.project, form, self.folder, **options)

    def take(self, form: RuleFormat, *paths: str | Path) -> ImportedRules:
        """Read rule files: those named, or all there are."""
        named = [str(self.folder / path) for path in paths] or [str(self.folder)]
        return import_rules(self.session, self.project, self.task, form, named)

    def files(self) -> dict[str, str]:
        """Every file of the working copy."""
        return {
            path.relative_to(self.folder).as_posix(): path.read_bytes().decode()
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and ".git" not in path.parts
        }

    def write(self, path: str, text: str | bytes) -> None:
        """Put a file into the working copy."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())

    def edit(self, path: str, old: str, new: str) -> None:
        """Change a file by hand."""
        text = self.files()[path]
        assert old in text
        self.write(path, text.replace(old, new))
