"""Random calls about knowledge: for the oracle, and as arguments for the product.

Values come from small sets, so that calls collide: the same atom is moved, related, confirmed and deleted. Most calls
are valid, and some are not. Commands name atoms and molecules by the oracle's numbers, which are translated to ids.
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
    RecordedFreshness,
    Task,
)
from tests.machines.work_calls import often, rarely, sometimes

NAMES = ("Checkout page", "Payments", "Retries", "Éclair", "payments")
TEXTS = ("", "the checkout is cached", "payments, with retries", "Retries of the CHECKOUT", "nothing of note")
# As long as an id, so that none occurs in the line above appended text.
QUERIES = (
    *("checkout", "payment", "retries", "checkout retries", "PAYMENTS checkout", "nothing"),
    *("heckou", "yment che", "trie eckout", "out"),
)
REASONS = ("calls it", "is called by it")
COMMITS = ("0123456789abcdef0123456789abcdef01234567", "fedcba9")
STATES = ("fresh", "changed", "orphaned", "unanchored")


@dataclass
class Ids:
    """The product's ids of the oracle's numbers."""

    projects: dict[int, str] = field(default_factory=dict)
    tasks: dict[Task, str] = field(default_factory=dict)
    entities: dict[int, str] = field(default_factory=lambda: {NOWHERE: "00000000-0000-4000-8000-000000000000"})


# Targets: mostly one for which the call is valid, sometimes any other.


def some_task(rng: Random, project: int) -> Task:
    if rarely(rng):
        return rng.choice([Task(project, NO_TASK), Task(1 - project, TASKS[0])])
    return Task(project, rng.choice(TASKS))


def some_entity(rng: Random, library: Library) -> Entity | None:
    """Return an existing or deleted entity."""
    there, gone = list(library.entities.values()), list(library.gone.values())
    if gone and (rarely(rng) or not there):
        return rng.choice(gone)
    return rng.choice(there) if there else None


def some_deletion(rng: Random, library: Library) -> Entity | None:
    """Return an entity to delete, often a molecule with atoms."""
    groups = [one for one in library.entities.values() if library.members(one.n)]
    return rng.choice(groups) if groups and often(rng) else some_entity(rng, library)


def some_reference(rng: Random, library: Library, kind: Kind, project: int) -> int:
    fitting = [one.n for one in library.of(project, kind)]
    foreign = [one.n for one in library.of(1 - project, kind)]
    if fitting and rng.random() > 0.15:
        return rng.choice(fitting)
    if foreign and often(rng):
        return rng.choice(foreign)
    return rng.choice([NOWHERE, *library.gone, *library.entities])


def some_version(rng: Random, entity: Entity) -> int:
    return entity.version if not rarely(rng) else max(1, entity.version + rng.choice((-1, 1)))


def some_paths(rng: Random) -> list[str]:
    if rarely(rng):
        return rng.choice(([], ["src/**", rng.choice(MALFORMED)]))
    return rng.sample(list(MATCHES), rng.randint(1, 3))


def some_relations(
    rng: Random, library: Library, kind: Kind, project: int, own: int = NOWHERE
) -> list[tuple[int, str]]:
    """Return relations to others, sometimes to itself."""
    wanted = [some_reference(rng, library, kind, project) for _ in range(rng.choice((0, 1, 2, 2)))]
    return [(n, rng.choice(REASONS)) for n in wanted if n != own or rarely(rng)]


def some_molecule(rng: Random, library: Library, project: int) -> int | None:
    if sometimes(rng) or not library.of(project, "molecule"):
        return None
    return some_reference(rng, library, "molecule", project)


def some_creation(rng: Random, library: Library, kind: Kind, project: int) -> dict[str, Any]:
    given: dict[str, Any] = {"name": rng.choice(NAMES), "task": some_task(rng, project)}
    if often(rng):
        given["knowledge"] = rng.choice(TEXTS)
    if sometimes(rng):
        given["related"] = some_relations(rng, library, kind, project)
    if kind == "atom":
        given |= {"paths": some_paths(rng), "molecule": some_molecule(rng, library, project)}
    return given


def some_changes(rng: Random, library: Library, entity: Entity, wish: str) -> dict[str, Any]:
    """Return changes that include the wished one."""
    kind, project = entity.kind, entity.project
    given: dict[str, Any] = {}
    if wish == "append":
        given |= {"append": rng.choice(TEXTS[1:])}
        given |= {} if rarely(rng) else {"task": some_task(rng, project)}
    elif wish == "knowledge" or sometimes(rng):
        given["knowledge"] = rng.choice(TEXTS)
    if wish == "relate" or rarely(rng):
        given["related"] = some_relations(rng, library, kind, project, own=entity.n)
    if kind == "atom":
        if wish == "paths" or rarely(rng):
            given["paths"] = some_paths(rng)
        if wish == "move" or rarely(rng):
            given["molecule"] = some_molecule(rng, library, project)
        if wish == "confirm" or rarely(rng):
            given["confirm"] = rng.choice(COMMITS)
    if sometimes(rng):
        given["name"] = rng.choice(NAMES)
    if sometimes(rng):
        given["task"] = some_task(rng, project)
    return given


def some_check(rng: Random, library: Library, project: int, now: int) -> list[tuple[int, int, RecordedFreshness]]:
    """Return the recorded freshness of some atoms, at the versions that were read."""
    atoms = [*library.of(project, "atom"), *(one for one in library.gone.values() if rarely(rng))]
    atoms += library.of(1 - project, "atom") if rarely(rng) else []
    return [
        (
            atom.n,
            some_version(rng, atom),
            RecordedFreshness(
                rng.choice(STATES), rng.choice((None, *COMMITS)), now, tuple(rng.sample(FILES, rng.randint(0, 2)))
            ),
        )
        for atom in rng.sample(atoms, min(len(atoms), rng.randint(0, 3)))
    ]


def as_arguments(kind: Kind, given: dict[str, Any], ids: Ids, *, task_field: str) -> dict[str, Any]:
    """Return fields of an atom or a molecule as the product takes them."""
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


def check_as_arguments(seen: list[tuple[int, int, RecordedFreshness]], ids: Ids) -> list[dict[str, Any]]:
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
