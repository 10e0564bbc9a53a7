"""A client of tags for tests: tasks and sections have names instead of ids.

client.task("walk", "coast", "north")
client.section("walk", "Notes", "coast")
client.rename("coast", "shore")
"""

from __future__ import annotations

from typing import Any

from groundplan.kernel.actors import Actor
from groundplan.kernel.input_gate.strict_json import validate_value
from groundplan.kernel.operations.registry import Operation
from groundplan.kernel.preferences import Preferences
from groundplan.kernel.store.transaction import Transaction
from groundplan.session import Session
from groundplan.work.containers import tags
from groundplan.work.containers import tags as listing
from groundplan.work.containers.sections.section import NewSection, add_sections
from groundplan.work.events import WorkOp
from groundplan.work.nodes import fetch_node, set_tags
from groundplan.work.refs import find_node
from tests.engines import Engine


class TagsClient:
    """An actor at the tags of one project. Arguments that are no name are sent unchanged."""

    def __init__(self, engine: Engine, session: Session, project: str = "atlas") -> None:
        self.engine = engine
        self.session = session
        self.project = project
        self.ids: dict[str, str] = {}  # of tasks and sections, by name

    def open(self) -> TagsClient:
        """Create the project."""
        self.ids[self.project] = self.session.call("project.create", name=self.project).project.id
        root = f"SELECT id FROM work_nodes WHERE n = 1 AND project_id = '{self.ids[self.project]}'"
        self.ids["root"] = self.engine.as_owner(root)[0][0]
        return self

    def by(self, actor: Actor) -> TagsClient:
        """Return a client of another actor with the same names."""
        return self._at(Session(self.session.store, actor))

    def with_cap(self, tokens: int) -> TagsClient:
        """Return a client of the same actor with a limit on the size of answers."""
        return self._at(
            Session(self.session.store, self.session.actor, preferences=Preferences(answer_tokens_max=tokens))
        )

    def _at(self, session: Session) -> TagsClient:
        other = TagsClient(self.engine, session, self.project)
        other.ids = self.ids
        return other

    def run(self, operation: Operation[Any, Any], /, **arguments: Any) -> Any:
        validate_value(arguments)
        return self.session.run(operation, arguments)

    def write(self, act: Any) -> Any:
        """Run a write that no operation of tags offers."""
        return self.session.store.write(self.session.actor, self.project, act)

    def name(self, id_: str) -> str:
        """Return the test's name of an id."""
        return next((name for name, one in self.ids.items() if one == id_), id_)

    # --- Tagged things ---

    def task(self, name: str, *tags: str) -> None:
        """Set the tags of a task; create the task if the name is new."""
        if name not in self.ids:
            nodes = [{"ref": name, "summary": name}]
            self.ids[name] = self.session.call("work.plan", project=self.project, nodes=nodes).created[0].id

        def tag(tx: Transaction) -> None:
            change = set_tags(tx, find_node(tx, self.ids[name]).n, list(tags))
            if change is not None:
                tx.record(WorkOp.TAGGED, self.ids[name], change)

        self.write(tag)

    def plan_many(self, count: int, *tags: str) -> None:
        """Plan many tasks with these tags in a project without other tasks."""
        nodes = [{"ref": f"n{n}", "summary": f"n{n}"} for n in range(count)]
        made = self.session.call("work.plan", project=self.project, nodes=nodes).created

        def tag(tx: Transaction) -> None:
            for n, one in enumerate(made, 2):
                set_tags(tx, n, list(tags))
                tx.record(WorkOp.TAGGED, one.id)

        self.write(tag)

    def feature(self, name: str, *tags: str) -> None:
        """Create a feature with these tags."""
        self.task(name, *tags)
        self.engine.as_owner(f"UPDATE work_nodes SET kind = 'feature' WHERE id = '{self.ids[name]}'")

    def section(self, name: str, title: str, *tags: str) -> None:
        """Add a section with these tags to a task."""

        def add(tx: Transaction) -> None:
            node = fetch_node(tx, find_node(tx, self.ids[name]).n)
            draft = NewSection(title, tags=list(tags))
            self.ids[title] = add_sections(tx, node, [draft])[0].id

        self.write(add)

    # --- Questions and changes ---

    def counts(self, **given: Any) -> dict[str, int]:
        """Return the tags with their counts, in the order of the answer."""
        answer = self.run(listing.LIST, **given)
        assert answer.count == len(answer.tags)
        return {one.tag: one.count for one in answer.tags}

    def usage(self, tag: str, **given: Any) -> list[tuple[str, str]]:
        """Return type and name of everything that has a tag."""
        answer = self.run(tags.USAGE, tag=tag, **given)
        assert answer.count == len(answer.entities)
        return [(one.type.value, self.name(one.id)) for one in answer.entities]

    def rename(self, old: str, new: str, **given: Any) -> Any:
        return self.run(tags.RENAME, oldTag=old, newTag=new, **given)

    def tags_of(self, name: str) -> list[str]:
        """Return the stored tags of a task or a section."""
        found = self.engine.as_owner(
            "SELECT t.tag FROM work_node_tags AS t JOIN work_nodes AS c ON c.project_id = t.project_id "
            f"AND c.n = t.node_n WHERE c.id = '{self.ids[name]}' UNION ALL "
            f"SELECT tag FROM work_section_tags WHERE section_id = '{self.ids[name]}'"
        )
        return sorted(tag for (tag,) in found)

    def version(self, name: str) -> tuple[int, str]:
        """Return the version of a task or a section, and its author."""
        id_ = self.ids[name]
        (row,) = self.engine.as_owner(
            f"SELECT rev, updated_by FROM work_nodes WHERE id = '{id_}' UNION ALL "
            f"SELECT version, modified_by FROM work_sections WHERE id = '{id_}'"
        )
        return row[0], row[1]


def all_rows(engine: Engine) -> list[Any]:
    """Return all rows that a rename could change."""
    tables = ("work_node_tags", "work_section_tags", "work_sections", "work_nodes", "events", "projects")
    return [engine.as_owner(f"SELECT * FROM {table} ORDER BY 1, 2, 3, 4") for table in tables]
