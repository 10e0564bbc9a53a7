"""What is known of a project, on the desk: tests speak of atoms, molecules and tasks by names of their own.

    desk.molecule("Shop")
    desk.atom("Cart", "src/cart/**", moleculeId="Shop", relatedAtoms={"Payments": "calls it"})
    desk.update("Cart", knowledge="Prices come from the catalog.", lastTaskId="build")

A change is made from the version that is there, unless the test says from which.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from groundplan.kernel.actors import Actor, ActorKind, local_actor
from groundplan.kernel.errors import GroundplanError
from groundplan.session import Session

TASKS = ("plan", "build", "review")
COMMIT = "0123456789abcdef0123456789abcdef01234567"
NOWHERE = "00000000-0000-4000-8000-000000000000"  # the id of nothing


class Knowledge:
    """Somebody at the knowledge of one project. What is no name of anything is sent as it is."""

    def __init__(self, session: Session, project: str = "atlas", ids: dict[str, tuple[str, str]] | None = None) -> None:
        self.session = session
        self.project = project
        self.ids = {} if ids is None else ids  # name → what it is and its id, shared by everybody at this desk

    def open(self) -> Knowledge:
        """Make the project, with some tasks."""
        self.project_id = self.call("project.create", name=self.project).project.id
        nodes = [{"ref": task, "summary": task} for task in TASKS]
        for made in self.call("work.plan", project=self.project, nodes=nodes).created:
            self.ids[made.ref] = ("task", made.id)
        return self

    def beside(self, project: str) -> Knowledge:
        """The same person at another project, which is made."""
        return Knowledge(self.session, project).open()

    def by(self, who: str | Actor) -> Knowledge:
        """Somebody else at the same desk; a bare name is an agent."""
        actor = local_actor(who, kind=ActorKind.AGENT) if isinstance(who, str) else who
        return self.at(Session(self.session.store, actor))

    def at(self, session: Session) -> Knowledge:
        """The same desk in another session."""
        return Knowledge(session, self.project, self.ids)

    def call(self, operation: str, /, **arguments: Any) -> Any:
        return self.session.call(operation, **arguments)

    def __getitem__(self, name: str) -> str:
        return self.ids[name][1] if name in self.ids else name

    def name(self, id_: str) -> str:
        """How the test calls what has this id."""
        return next((name for name, (_, one) in self.ids.items() if one == id_), id_)

    # --- Changes ---

    def create(self, entity_type: str, name: str, /, **given: Any) -> Any:
        arguments = {"entityType": entity_type, "projectId": self.project, "name": name, "createdByTaskId": "plan"}
        made = getattr(self.call("knowledge.create", **self._spelled(arguments | given)), entity_type)
        self.ids[name] = (entity_type, made.id)
        return made

    def atom(self, name: str, /, *paths: str, **given: Any) -> Any:
        return self.create("atom", name, **{"paths": list(paths) or [f"src/{name}/**"]} | given)

    def molecule(self, name: str, /, **given: Any) -> Any:
        return self.create("molecule", name, **given)

    def update(self, name: str, /, **changes: Any) -> Any:
        entity_type, id_ = self.ids[name]
        arguments = {"entityType": entity_type, "id": id_, **changes}
        if "version" not in changes:
            arguments["version"] = self.read(name).version
        return getattr(self.call("knowledge.update", **self._spelled(arguments)), entity_type)

    def append(self, name: str, text: str, /, **given: Any) -> Any:
        return self.update(name, **{"knowledge": text, "knowledgeMode": "append", "lastTaskId": "build"} | given)

    def delete(self, name: str, /, **given: Any) -> Any:
        entity_type, id_ = self.ids[name]
        arguments = {"entityType": entity_type, "id": id_, **given}
        if "version" not in given:
            arguments["version"] = self.read(name).version
        return self.call("knowledge.delete", **self._spelled(arguments))

    def log(self, name: str, summary: str, /, **given: Any) -> Any:
        """Add an entry to a changelog."""
        arguments = {"parentType": self.ids[name][0], "parentId": name, "taskId": "build", "summary": summary}
        return self.call("knowledge.append_changelog", **self._spelled(arguments | given)).entry

    def check(self, *seen: Mapping[str, Any], commit: str = COMMIT, **given: Any) -> Any:
        """Leave behind what was seen of some atoms, as they are now: `{"id": "Cart", "freshness": "changed"}`."""
        atoms = [{"version": self.read(one["id"]).version, **one, "id": self[one["id"]]} for one in seen]
        return self.call("knowledge.record_check", projectId=self.project, commit=commit, atoms=atoms, **given)

    # --- Questions ---

    def get(self, name: str, **given: Any) -> Any:
        entity_type, id_ = self.ids[name]
        return self.call("knowledge.get", entityType=entity_type, id=id_, **given)

    def read(self, name: str) -> Any:
        """An atom or a molecule by itself."""
        return getattr(self.get(name, includeChangelog=False), self.ids[name][0])

    def search(self, query: str | None = None, *, of: str = "atom", **given: Any) -> Any:
        """A page of atoms, or of molecules."""
        arguments = {"entityType": of, "projectId": self.project, "limit": 100, **given}
        return self.call("knowledge.search", **self._spelled(arguments), **{} if query is None else {"query": query})

    def found(self, query: str | None = None, **given: Any) -> list[str]:
        """The names of what is found."""
        page = self.search(query, **given)
        assert page.count == len(page.items)
        return [one.name for one in page.items]

    def context(self, *paths: str, **given: Any) -> Any:
        return self.call("knowledge.context", projectId=self.project, paths=list(paths), **given)

    def matching(self, path: str) -> list[str]:
        """The names of the atoms that a path is of."""
        known = self.context(path, includeChangelog=False)
        return sorted(atom.name for some in (*known.molecules, known) for atom in atoms_of(some))

    def entries(self, name: str, **given: Any) -> list[str]:
        """What the changelog says, newest first."""
        page = self.call("knowledge.search_changelog", parentType=self.ids[name][0], parentId=self[name], **given)
        return [one.summary for one in page.entries]

    def listed(self) -> dict[str, Any]:
        """Every atom in short, by name."""
        return {one.name: one for one in self.call("knowledge.list", projectId=self.project, limit=1000).atoms}

    def _spelled(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments with ids in place of names."""
        return {field: self._spelled_one(field, value) for field, value in arguments.items()}

    def _spelled_one(self, field: str, value: Any) -> Any:
        if field in ("relatedAtoms", "relatedMolecules") and isinstance(value, dict):
            key = f"{field[7:-1].lower()}Id"
            return [{key: self[name], "reason": reason} for name, reason in value.items()]
        is_reference = field in ("id", "moleculeId", "parentId", "createdByTaskId", "lastTaskId", "taskId")
        return self[value] if is_reference and isinstance(value, str) else value


def atoms_of(some: Any) -> list[Any]:
    """The atoms of a molecule in an answer, or those that are of none."""
    atoms: list[Any] = some.orphan_atoms if hasattr(some, "orphan_atoms") else some.atoms
    return atoms


def ended(call: Any) -> tuple[str, str, str | None]:
    """How a call ended: the family of its refusal, the code and the field."""
    try:
        answer = call()
    except GroundplanError as error:
        family = next(one for one in type(error).__mro__ if GroundplanError in one.__bases__)
        return family.__name__, error.code, error.details.get("field")
    except Exception as defect:  # told like the rest, so that one does not hide the others
        return "crashed", repr(defect), None
    return "answered", repr(answer), None
