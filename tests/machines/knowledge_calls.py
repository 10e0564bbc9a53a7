"""What callers might say about knowledge: random commands for the oracle, and the same as arguments for the product.

Values come from small sets, so that calls meet: the same atom is moved, related, confirmed and deleted. Most calls make
sense, and some do not. Commands name atoms and molecules by the oracle's numbers and are translated on their way out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.machines.knowledge_oracle import (
    FILES,
    MALFORMED,
    MATCHES,
    NO_TASK,
    NOWHERE,
    TASKS,
    Entity,
    Kind,
    Library,
    Seen,
    Task,
)
from tests.machines.work_calls import often, rarely, sometimes

NAMES = ("Checkout page", "Payments", "Retries", "Éclair", "payments")
TEXTS = ("", "the checkout is cached", "payments, with retries", "Retries of the CHECKOUT", "nothing of note")
# No shorter than an id, so that none is found in the line above appended text.
QUERIES = ("checkout", "payment", "retries", "checkout retries", "PAYMENTS checkout", "nothing")
REASONS = ("calls it", "is called by it")
COMMITS = ("0123456789abcdef0123456789abcdef01234567", "fedcba9")
STATES = ("fresh", "changed", "orphaned", "unanchored")


@dataclass
class Ids:
    """What the product calls what the oracle knows."""

    projects: dict[int, str] = field(default_factory=dict)
    tasks: dict[Task, str] = field(default_factory=dict)
    entities: dict[int, str] = field(default_factory=lambda: {NOWHERE: "00000000-0000-4000-8000-000000000000"})


# Which one is meant: mostly one for which the call makes sense, now and then any other.


def some_task(luck: Random, project: int) -> Task:
    if rarely(luck):
        return luck.choice([Task(project, NO_TASK), Task(1 - project, TASKS[0])])
    return Task(project, luck.choice(TASKS))


def some_entity(luck: Random, library: Library) -> Entity | None:
    """One that is there, or was."""
    there, gone = list(library.entities.values()), list(library.gone.values())
    if gone and (rarely(luck) or not there):
        return luck.choice(gone)
    return luck.choice(there) if there else None


def some_doomed(luck: Random, library: Library) -> Entity | None:
    """One to be deleted: often a molecule that has atoms."""
    groups = [one for one in library.entities.values() if library.members(one.n)]
    return luck.choice(groups) if groups and often(luck) else some_entity(luck, library)


def some_reference(luck: Random, library: Library, kind: Kind, project: int) -> int:
    fitting = [one.n for one in library.of(project, kind)]
    foreign = [one.n for one in library.of(1 - project, kind)]
    if fitting and luck.random() > 0.15:
        return luck.choice(fitting)
    if foreign and often(luck):
        return luck.choice(foreign)
    return luck.choice([NOWHERE, *library.gone, *library.entities])


def some_version(luck: Random, entity: Entity) -> int:
    return entity.version if not rarely(luck) else max(1, entity.version + luck.choice((-1, 1)))


def some_paths(luck: Random) -> list[str]:
    if rarely(luck):
        return luck.choice(([], ["src/**", luck.choice(MALFORMED)]))
    return luck.sample(list(MATCHES), luck.randint(1, 3))


def some_relations(
    luck: Random, library: Library, kind: Kind, project: int, own: int = NOWHERE
) -> list[tuple[int, str]]:
    """Relations to others; now and then to itself."""
    wanted = [some_reference(luck, library, kind, project) for _ in range(luck.choice((0, 1, 2, 2)))]
    return [(n, luck.choice(REASONS)) for n in wanted if n != own or rarely(luck)]


def some_molecule(luck: Random, library: Library, project: int) -> int | None:
    if sometimes(luck) or not library.of(project, "molecule"):
        return None
    return some_reference(luck, library, "molecule", project)


def some_creation(luck: Random, library: Library, kind: Kind, project: int) -> dict[str, Any]:
    given: dict[str, Any] = {"name": luck.choice(NAMES), "task": some_task(luck, project)}
    if often(luck):
        given["knowledge"] = luck.choice(TEXTS)
    if sometimes(luck):
        given["related"] = some_relations(luck, library, kind, project)
    if kind == "atom":
        given |= {"paths": some_paths(luck), "molecule": some_molecule(luck, library, project)}
    return given


def some_changes(luck: Random, library: Library, entity: Entity, wish: str) -> dict[str, Any]:
    """Changes of which one is what is wished for."""
    kind, project = entity.kind, entity.project
    given: dict[str, Any] = {}
    if wish == "append":
        given |= {"append": luck.choice(TEXTS[1:])}
        given |= {} if rarely(luck) else {"task": some_task(luck, project)}
    elif wish == "knowledge" or sometimes(luck):
        given["knowledge"] = luck.choice(TEXTS)
    if wish == "relate" or rarely(luck):
        given["related"] = some_relations(luck, library, kind, project, own=entity.n)
    if kind == "atom":
        if wish == "paths" or rarely(luck):
            given["paths"] = some_paths(luck)
        if wish == "move" or rarely(luck):
            given["molecule"] = some_molecule(luck, library, project)
        if wish == "confirm" or rarely(luck):
            given["confirm"] = luck.choice(COMMITS)
    if sometimes(luck):
        given["name"] = luck.choice(NAMES)
    if sometimes(luck):
        given["task"] = some_task(luck, project)
    return given


def some_sight(luck: Random, library: Library, project: int, now: int) -> list[tuple[int, int, Seen]]:
    """What somebody saw of some atoms, at the versions that they read."""
    atoms = [*library.of(project, "atom"), *(one for one in library.gone.values() if rarely(luck))]
    atoms += library.of(1 - project, "atom") if rarely(luck) else []
    return [
        (
            atom.n,
            some_version(luck, atom),
            Seen(
                luck.choice(STATES), luck.choice((None, *COMMITS)), now, tuple(luck.sample(FILES, luck.randint(0, 2)))
            ),
        )
        for atom in luck.sample(atoms, min(len(atoms), luck.randint(0, 3)))
    ]


def as_arguments(kind: Kind, given: dict[str, Any], ids: Ids, *, task_field: str) -> dict[str, Any]:
    """Fields of an atom or a molecule as the product takes them."""
    told: dict[str, Any] = {name: given[name] for name in ("name", "paths", "knowledge", "confirm") if name in given}
    if "append" in given:
        told |= {"knowledge": given["append"], "knowledgeMode": "append"}
    if "related" in given:
        related = [{f"{kind}Id": ids.entities[n], "reason": reason} for n, reason in given["related"]]
        told["relatedAtoms" if kind == "atom" else "relatedMolecules"] = related
    if "molecule" in given:
        told["moleculeId"] = None if given["molecule"] is None else ids.entities[given["molecule"]]
    if "task" in given:
        told[task_field] = ids.tasks[given["task"]]
    return told


def sight_as_arguments(seen: list[tuple[int, int, Seen]], ids: Ids) -> list[dict[str, Any]]:
    return [
        {
            "id": ids.entities[n],
            "version": version,
            "freshness": one.state,
            "commit": one.commit,
            "files": list(one.files),
        }
        for n, version, one in seen
    ]
