"""Git repositories made by tests with ordinary commands: the same commits every time, with a plan beside them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from copy import copy
from pathlib import Path
from typing import Any

from groundplan.kernel.actors import Access, ActorKind, local_actor
from groundplan.repository.check import Report, check
from groundplan.session import Session

WHO = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"))
}
BEGINNING_S = 1_777_887_000  # a morning in May 2026
NOBODY_S_SETTINGS = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def git_environment(minutes: int = 0) -> dict[str, str]:
    """Return the environment of every git process in tests, without the machine's own settings."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    now = f"{BEGINNING_S + 60 * minutes} +0000"
    return inherited | WHO | NOBODY_S_SETTINGS | {"GIT_AUTHOR_DATE": now, "GIT_COMMITTER_DATE": now}


class WorkingCopy:
    """A repository in its own folder. Each command takes a minute of its clock."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        self._minutes = 0
        folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "--quiet", "--initial-branch=main", *options)

    def copy_to(self, folder: Path) -> WorkingCopy:
        """Return a copy with the same history, which is faster than making it again."""
        shutil.copytree(self.folder, folder)
        copied = copy(self)
        copied.folder = folder
        return copied

    @property
    def head(self) -> str:
        return self.git("rev-parse", "HEAD")

    def git(self, *words: str) -> str:
        """Run a command and return its output without the line break."""
        self._minutes += 1
        environment = git_environment(self._minutes)
        ended = subprocess.run(
            ("git", *words), check=False, capture_output=True, text=True, env=environment, cwd=self.folder
        )
        assert ended.returncode == 0, f"git {' '.join(words)}: {ended.stderr}"
        return ended.stdout.strip()

    def write(self, files: Mapping[str, str | None]) -> None:
        """Write these texts into files; None deletes a file."""
        for name, text in files.items():
            path = self.folder / name
            if text is None:
                path.unlink()
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")

    def commit(self, files: Mapping[str, str | None] | None = None, *, message: str = "a change") -> str:
        """Change files, commit everything, and return the id of the commit."""
        self.write(files or {})
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.head


class PlanOfCopy:
    """A project whose atoms are about a working copy, and an actor who compares the two."""

    def __init__(self, session: Session, copy: WorkingCopy, *, project: str = "atlas") -> None:
        self.session = session
        self.copy = copy
        self.project = project

    @classmethod
    def create(cls, session: Session, copy: WorkingCopy) -> PlanOfCopy:
        """Create a new project and return its plan."""
        plan = cls(session, copy)
        session.call("project.create", name=plan.project)
        return plan

    def by(self, who: str, role: str | None = None) -> PlanOfCopy:
        """Return a plan of an actor with a stored role; without a role, a stranger."""
        if role is not None:
            self.session.call("member.add", scopeId=self.project, userId=who, role=role)
        actor = local_actor(who, kind=ActorKind.PERSON, access=Access.MEMBERS)
        return PlanOfCopy(Session(self.session.store, actor), self.copy)

    def task(self, summary: str = "Describe the areas") -> str:
        nodes = [{"ref": "a", "summary": summary}]
        made: str = self.session.call("work.plan", project=self.project, nodes=nodes).created[0].id
        return made

    def atom(self, name: str, *paths: str, at: str | None = None) -> str:
        """Create an atom, confirmed at this commit, and return its id."""
        made = self.session.call(
            "knowledge.create",
            entityType="atom",
            projectId=self.project,
            name=name,
            paths=list(paths),
            createdByTaskId=self.task(),
        ).atom
        if at is not None:
            self.session.call("knowledge.update", entityType="atom", id=made.id, version=made.version, confirm=at)
        atom_id: str = made.id
        return atom_id

    def list_atoms(self) -> dict[str, Any]:
        """Return every stored atom by name."""
        return {atom.name: atom for atom in self.session.call("knowledge.list", projectId=self.project).atoms}

    def check(self, since: str | None = None, **options: Any) -> Report:
        return check(self.session, self.project, self.copy.folder, since, **options)

    def states(self, since: str | None = None) -> dict[str, str]:
        """Return the state of every atom by name; nothing is recorded."""
        return {atom.name: str(atom.freshness) for atom in self.check(since, record=False).atoms}
