"""An oracle of the knowledge of two projects: what every call should answer and change.

Everything is a plain object in a dictionary; matches, members and missing things are computed at each request. Atoms
and molecules have numbers, tasks names, times are milliseconds, and a refused call raises `Refusal` with the acceptable
codes.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Kind = Literal["atom", "molecule"]

NOWHERE = 0  # the number of nothing
PROJECTS = (0, 1)
TASKS = ("plan", "build")
NO_TASK = "nobody's"
CHANGELOG_SHOWN = 5

# Which files each pattern matches, and whether it can match below src/b, if that is a folder: written by hand and
# independent of the matcher.
MATCHES: Mapping[str, frozenset[str]] = {
    "src/**": frozenset({"src/a.ts", "src/b", "src/b/a.ts", "src/b/c.md"}),
    "src/*": frozenset({"src/a.ts", "src/b"}),
    "src/*.ts": frozenset({"src/a.ts"}),
    "**/*.md": frozenset({"README.md", "src/b", "src/b/c.md"}),
    "**/a.ts": frozenset({"src/a.ts", "src/b", "src/b/a.ts"}),
    "src/{a,b/a}.ts": frozenset({"src/a.ts", "src/b", "src/b/a.ts"}),
    "src/b/[a-b].ts": frozenset({"src/b", "src/b/a.ts"}),
    "README.md": frozenset({"README.md"}),
    "elsewhere/?": frozenset(),
}
PLACE = "src/b"
MATCHING_IT = ("src/**", "src/*")  # as a file
BEGINNING_BELOW = ("src/{a,b/a}.ts", "src/b/[a-b].ts")  # it is a folder where one of them is known
FILES = ("README.md", "lib/x.c", "src/a.ts", "src/b", "src/b/a.ts", "src/b/c.md")
MALFORMED = ("../a", "/a", "src/[a", "docs/")


class Refusal(Exception):
    """The call must fail with one of these codes and change nothing."""

    def __init__(self, codes: set[str]) -> None:
        super().__init__(" or ".join(sorted(codes)))
        self.codes = codes


class Author(NamedTuple):
    """Who makes a call, and when."""

    agent: str
    at: int


class Task(NamedTuple):
    """A task of one of the projects."""

    project: int
    name: str


class Part(NamedTuple):
    """A piece of knowledge; an appended one has a time and a task."""

    text: str
    at: int | None = None
    task: Task | None = None


class Entry(NamedTuple):
    """An entry of a changelog."""

    task: Task
    summary: str
    at: int
    agent: str


class RecordedFreshness(NamedTuple):
    """The last recorded freshness of an atom."""

    state: str
    commit: str | None
    at: int
    files: tuple[str, ...] = ()


@dataclass
class Entity:
    """An atom or a molecule."""

    n: int
    kind: Kind
    project: int
    name: str
    first_task: Task
    last_task: Task
    created_at: int
    created_by: str
    updated_at: int
    updated_by: str
    version: int = 1
    knowledge: list[Part] = field(default_factory=list)
    related: list[tuple[int, str]] = field(default_factory=list)
    molecule: int | None = None
    paths: list[str] = field(default_factory=list)
    confirmed: tuple[str, int] | None = None
    freshness: RecordedFreshness | None = None
    entries: list[Entry] = field(default_factory=list)

    @property
    def latest(self) -> list[Entry]:
        """The entries shown with it, the last one first, whatever the clock said."""
        return self.entries[::-1][:CHANGELOG_SHOWN]


class Library:
    """All knowledge, existing and deleted."""

    def __init__(self) -> None:
        self.entities: dict[int, Entity] = {}
        self.gone: dict[int, Entity] = {}
        self.revisions = dict.fromkeys(PROJECTS, 0)
        self.last_n = 0

    def copy(self) -> Library:
        return copy.deepcopy(self)

    # --- Questions ---

    def of(self, project: int, kind: Kind) -> list[Entity]:
        return [one for one in self.entities.values() if (one.project, one.kind) == (project, kind)]

    def members(self, molecule: int) -> list[Entity]:
        return [one for one in self.entities.values() if one.molecule == molecule]

    def matched(self, atom: Entity) -> list[str]:
        """Return the files of an atom."""
        known = {pattern for other in self.of(atom.project, "atom") for pattern in other.paths}
        is_folder = any(pattern in known for pattern in BEGINNING_BELOW)
        return [
            file
            for file in FILES
            if any(
                file in MATCHES[pattern] and (file != PLACE or is_folder or pattern in MATCHING_IT)
                for pattern in atom.paths
            )
        ]

    # --- Changes ---

    def create(self, kind: Kind, project: int, given: Mapping[str, Any], *, by: Author) -> int:
        wrong = self._wrong(kind, project, given, own=None)
        if wrong:
            raise Refusal(wrong)
        self.last_n += 1
        task = given["task"]
        made = Entity(self.last_n, kind, project, given["name"], task, task, by.at, by.agent, by.at, by.agent)
        self._apply(made, given, by.at)
        self.entities[made.n] = made
        self.revisions[project] += 1
        return made.n

    def update(self, n: int, version: int, given: Mapping[str, Any], *, by: Author) -> None:
        entity = self._there(n)
        wrong = self._wrong(entity.kind, entity.project, given, own=n)
        if version != entity.version:
            wrong.add("stale_version")
        if not given:
            wrong.add("invalid_argument")
        if "append" in given and "task" not in given:
            wrong.add("missing_argument")
        if wrong:
            raise Refusal(wrong)
        before = list(entity.paths)
        self._apply(entity, given, by.at)
        if "confirm" in given:
            entity.confirmed = (given["confirm"], by.at)
        if "confirm" in given or entity.paths != before:
            entity.freshness = None
        self._touch(entity, given.get("task"), by)
        self.revisions[entity.project] += 1

    def delete(self, n: int, version: int, *, cascade: bool, task: Task | None, by: Author) -> tuple[str, int] | None:
        """Delete an entity; return what happened to a molecule's atoms, and to how many."""
        entity = self._there(n)
        wrong = self._wrong_task(entity.project, task)
        if version != entity.version:
            wrong.add("stale_version")
        if wrong:
            raise Refusal(wrong)
        members = self.members(n)
        for member in members:
            if cascade:
                self.gone[member.n] = self.entities.pop(member.n)
            else:
                member.molecule = None
                self._touch(member, task, by)
        self.gone[n] = self.entities.pop(n)
        self.revisions[entity.project] += 1
        if entity.kind == "atom":
            return None
        return "deletedAtoms" if cascade else "orphanedAtoms", len(members)

    def log(self, n: int, task: Task, summary: str, *, by: Author) -> None:
        entity = self._there(n)
        if wrong := self._wrong_task(entity.project, task):
            raise Refusal(wrong)
        entity.entries.append(Entry(task, summary, by.at, by.agent))
        self.revisions[entity.project] += 1

    def check(self, project: int, seen: Sequence[tuple[int, int, RecordedFreshness]]) -> list[int]:
        """Record freshness; return the atoms that changed since they were read."""
        skipped = []
        for n, version, what in seen:
            atom = self.entities.get(n)
            if atom is None or (atom.kind, atom.project, atom.version) != ("atom", project, version):
                skipped.append(n)
            else:
                atom.freshness = what
        return skipped

    # --- Invalid requests ---

    def _there(self, n: int) -> Entity:
        if n not in self.entities:
            raise Refusal({"not_found"})
        return self.entities[n]

    def _wrong(self, kind: Kind, project: int, given: Mapping[str, Any], *, own: int | None) -> set[str]:
        wrong = self._wrong_task(project, given.get("task"))
        if "paths" in given:
            wrong |= {"empty_paths"} if not given["paths"] else set()
            wrong |= {"malformed_pattern"} if set(given["paths"]) & set(MALFORMED) else set()
        kept = {n for n, _ in self.entities[own].related} if own is not None else set()
        for n, _ in given.get("related", ()):
            if n == own:
                wrong |= {"related_to_itself"}
            elif n not in kept:  # what is gone may stay
                wrong |= self._wrong_reference(n, kind, project)
        if given.get("molecule") is not None:
            wrong |= self._wrong_reference(given["molecule"], "molecule", project)
        return wrong

    def _wrong_reference(self, n: int, kind: Kind, project: int) -> set[str]:
        found = self.entities.get(n)
        if found is None or found.kind != kind:
            return {"not_found"}
        return set() if found.project == project else {"other_project"}

    @staticmethod
    def _wrong_task(project: int, task: Task | None) -> set[str]:
        if task is None:
            return set()
        if task.name == NO_TASK:
            return {"not_found"}
        return set() if task.project == project else {"other_project"}

    # --- Effects of a request ---

    @staticmethod
    def _apply(entity: Entity, given: Mapping[str, Any], now: int) -> None:
        for name in ("name", "paths", "molecule", "related"):
            if name in given:
                setattr(entity, name, copy.copy(given[name]))
        if "knowledge" in given:
            entity.knowledge = [Part(given["knowledge"])] if given["knowledge"] else []
        if "append" in given:
            entity.knowledge.append(Part(given["append"], now, given["task"]))

    @staticmethod
    def _touch(entity: Entity, task: Task | None, by: Author) -> None:
        entity.version += 1
        entity.updated_at, entity.updated_by = by.at, by.agent
        entity.last_task = task or entity.last_task
