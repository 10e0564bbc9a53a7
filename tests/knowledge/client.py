"""A client of one project's knowledge for tests: atoms, molecules and tasks have names instead of ids.

    client.molecule("Shop")
    client.atom("Cart", "src/cart/**", moleculeId="Shop", relatedAtoms={"Payments": "calls it"})
    client.update("Cart", knowledge="Prices come from the catalog.", lastTaskId="build")

A change is sent with the current version unless `version` is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from groundplan.kernel.actors import Actor, ActorKind, local_actor
from groundplan.kernel.errors import GroundplanError
from groundplan.session import Session

TASKS = ("plan", "build", "review")
COMMIT = "0123456789abcdef0123456789abcdef01234567"
NOWHERE = "00000000-0000-4000-8000-000000000000"  # an id that does not exist


class KnowledgeClient:
    """An actor at the knowledge of one project. Arguments that are no name are sent unchanged."""

    def __init__(self, session: Session, project: str = "atlas", ids: dict[str, tuple[str, str]] | None = None) -> None:
        self.session = session
        self.project = project
        self.ids = {} if ids is None else ids  # name → its kind and id, shared with the clients that `by` returns

    def open(self) -> KnowledgeClient:
        """Create the project with some tasks."""
        self.project_id = self.call("project.create", name=self.project).project.id
        nodes = [{"ref": task, "summary": task} for task in TASKS]
        for made in self.call("work.plan", project=self.project, nodes=nodes).created:
            self.ids[made.ref] = ("task", made.id)
        return self

    def create_project(self, project: str) -> KnowledgeClient:
        """Create another project and return a client of it."""
        return KnowledgeClient(self.session, project).open()

    def by(self, who: str | Actor) -> KnowledgeClient:
        """Return a client of another actor with the same names; a bare name is an agent."""
        actor = local_actor(who, kind=ActorKind.AGENT) if isinstance(who, str) else who
        return self.in_session(Session(self.session.store, actor))

    def in_session(self, session: Session) -> KnowledgeClient:
        """Return a client with the same names in another session."""
        return KnowledgeClient(session, self.project, self.ids)

    def call(self, operation: str, /, **arguments: Any) -> Any:
        return self.session.call(operation, **arguments)

    def __getitem__(self, name: str) -> str:
        return self.ids[name][1] if name in self.ids else name

    def name(self, id_: str) -> str:
        """Return the test's name of an id."""
        return next((name for name, (_, one) in self.ids.items() if one == id_), id_)

    # --- Changes ---

    def create(self, entity_type: str, name: str, /, **given: Any) -> Any:
        arguments = {"entityType": entity_type, "projectId": self.project, "name": name, "createdByTaskId": "plan"}
        made = getattr(self.call("knowledge.create", **self._insert_ids(arguments | given)), entity_type)
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
        return getattr(self.call("knowledge.update", **self._insert_ids(arguments)), entity_type)

    def append(self, name: str, text: str, /, **given: Any) -> Any:
        return self.update(name, **{"knowledge": text, "knowledgeMode": "append", "lastTaskId": "build"} | given)

    def delete(self, name: str, /, **given: Any) -> Any:
        entity_type, id_ = self.ids[name]
        arguments = {"entityType": entity_type, "id": id_, **given}
        if "version" not in given:
            arguments["version"] = self.read(name).version
        return self.call("knowledge.delete", **self._insert_ids(arguments))

    def log(self, name: str, summary: str, /, **given: Any) -> Any:
        """Add an entry to a changelog."""
        arguments = {"parentType": self.ids[name][0], "parentId": name, "taskId": "build", "summary": summary}
        return self.call("knowledge.append_changelog", **self._insert_ids(arguments | given)).entry

    def check(self, *seen: Mapping[str, Any], commit: str = COMMIT, **given: Any) -> Any:
        """Record the freshness of atoms at their current versions: `{"id": "Cart", "freshness": "changed"}`."""
        atoms = [{"version": self.read(one["id"]).version, **one, "id": self[one["id"]]} for one in seen]
        return self.call("knowledge.record_check", projectId=self.project, commit=commit, atoms=atoms, **given)

    # --- Questions ---

    def get(self, name: str, **given: Any) -> Any:
        entity_type, id_ = self.ids[name]
        return self.call("knowledge.get", entityType=entity_type, id=id_, **given)

    def read(self, name: str) -> Any:
        """Return an atom or a molecule without its relations."""
        return getattr(self.get(name, includeChangelog=False), self.ids[name][0])

    def search(self, query: str | None = None, *, of: str = "atom", **given: Any) -> Any:
        """Return a page of atoms or of molecules."""
        arguments = {"entityType": of, "projectId": self.project, "limit": 100, **given}
        return self.call("knowledge.search", **self._insert_ids(arguments), **{} if query is None else {"query": query})

    def find_names(self, query: str | None = None, **given: Any) -> list[str]:
        """Return the names of what a search finds."""
        page = self.search(query, **given)
        assert page.count == len(page.items)
        return [one.name for one in page.items]

    def context(self, *paths: str, **given: Any) -> Any:
        return self.call("knowledge.context", projectId=self.project, paths=list(paths), **given)

    def names_matching(self, path: str) -> list[str]:
        """Return the names of the atoms that match a path."""
        known = self.context(path, includeChangelog=False)
        return sorted(atom.name for some in (*known.molecules, known) for atom in atoms_of(some))

    def entries(self, name: str, **given: Any) -> list[str]:
        """Return the summaries of a changelog, newest first."""
        page = self.call("knowledge.search_changelog", parentType=self.ids[name][0], parentId=self[name], **given)
        return [one.summary for one in page.entries]

    def list_atoms(self) -> dict[str, Any]:
        """Return every atom of the list by name."""
        return {one.name: one for one in self.call("knowledge.list", projectId=self.project, limit=1000).atoms}

    def _insert_ids(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments with ids in place of names."""
        return {field: self._insert_id(field, value) for field, value in arguments.items()}

    def _insert_id(self, field: str, value: Any) -> Any:
        if field in ("relatedAtoms", "relatedMolecules") and isinstance(value, dict):
            key = f"{field[7:-1].lower()}Id"
            return [{key: self[name], "reason": reason} for name, reason in value.items()]
        is_reference = field in ("id", "moleculeId", "parentId", "createdByTaskId", "lastTaskId", "taskId")
        return self[value] if is_reference and isinstance(value, str) else value


def atoms_of(some: Any) -> list[Any]:
    """Return the atoms of a molecule in an answer, or those without a molecule."""
    atoms: list[Any] = some.orphan_atoms if hasattr(some, "orphan_atoms") else some.atoms
    return atoms


def outcome_of(call: Any) -> tuple[str, str, str | None]:
    """Return how a call ended: the family of its error, the code and the field."""
    try:
        answer = call()
    except GroundplanError as error:
        family = next(one for one in type(error).__mro__ if GroundplanError in one.__bases__)
        return family.__name__, error.code, error.details.get("field")
    except Exception as defect:  # reported like the rest, so that one does not hide the others
        return "crashed", repr(defect), None
    return "answered", repr(answer), None
