"""A client of one project's work graph, for tests: nodes have names instead of ids, and plans are outlines.

    work.plan('''
        phase
          draw
          build: draw, phase 2's result
    ''')

Each line of an outline is a node, indented below its parent; its dependencies follow the colon.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from groundplan.kernel.actors import Actor, ActorKind, local_actor
from groundplan.session import Session

DEPENDS_ON = "depends_on"


class OutlineNode(NamedTuple):
    """A node of an outline."""

    name: str
    parent: str | None
    depends_on: list[str]


def parse_outline(outline: str) -> Iterator[OutlineNode]:
    """Yield the nodes of an outline in its order."""
    above: list[tuple[int, str]] = []
    for line in filter(str.strip, textwrap.dedent(outline).splitlines()):
        name, _, waits = line.strip().partition(":")
        indent = len(line) - len(line.lstrip())
        while above and above[-1][0] >= indent:
            above.pop()
        yield OutlineNode(
            name, above[-1][1] if above else None, [one.strip() for one in waits.split(",") if one.strip()]
        )
        above.append((indent, name))


class WorkClient:
    """An actor at one project. Arguments that are no name of a node are sent unchanged."""

    def __init__(self, session: Session, project: str = "atlas", ids: dict[str, str] | None = None) -> None:
        self.session = session
        self.project = project
        self.ids = {} if ids is None else ids  # by name, shared with the clients that `by` returns

    def by(self, who: str | Actor, *, kind: ActorKind = ActorKind.AGENT) -> WorkClient:
        """Return a client of another actor with the same names; a bare name is an agent."""
        actor = local_actor(who, kind=kind) if isinstance(who, str) else who
        return WorkClient(Session(self.session.store, actor), self.project, self.ids)

    def open(self, **given: Any) -> Any:
        opened = self.call("work.open", project=self.project, **given)
        self.ids["root"] = opened.root.id
        return opened

    def call(self, operation: str, **arguments: Any) -> Any:
        return self.session.call(operation, **arguments)

    def __getitem__(self, name: str) -> str:
        return self.ids.get(name, name)

    def name(self, node_id: str) -> str:
        """Return the test's name of a node."""
        return next((name for name, one in self.ids.items() if one == node_id), node_id)

    def names(self, nodes: Any) -> list[str]:
        """Return the test's names of the nodes in an answer; an absent list gives []."""
        return [self.name(one.id) for one in nodes or ()]

    # --- Changes ---

    def plan(self, outline: str, *, each: Mapping[str, Any] | None = None, **given: Any) -> Any:
        """Plan an outline below the root, or below `under`; `each` adds fields to some nodes."""
        under = given.pop("under", None)
        written = {one.name for one in parse_outline(outline)}
        nodes = []
        for line in parse_outline(outline):
            node: dict[str, Any] = {"ref": line.name, "summary": line.name}
            if line.parent is not None or under is not None:
                node["parent_ref"] = line.parent if line.parent is not None else self[under]
            if line.depends_on:
                node["depends_on"] = [one if one in written else self[one] for one in line.depends_on]
            nodes.append(node | (each or {}).get(line.name, {}))
        planned = self.call("work.plan", **{"project": self.project, "nodes": nodes} | given)
        self.ids.update({one.ref: one.id for one in planned.created})
        return planned

    def update(self, name: str, *, op_id: str | None = None, decision: str | None = None, **changes: Any) -> Any:
        return self.updates({"node_id": name, **changes}, op_id=op_id, decision=decision)

    def updates(self, *items: Mapping[str, Any], **given: Any) -> Any:
        named = [{**item, "node_id": self[item["node_id"]]} for item in items]
        return self.call("work.update", updates=named, **given)

    def resolve(self, *names: str, **given: Any) -> Any:
        return self.updates(*({"node_id": name, "resolved": True} for name in names), **given)

    def reopen(self, *names: str) -> Any:
        return self.updates(*({"node_id": name, "resolved": False} for name in names))

    def edge(self, written: str, *, type: str = DEPENDS_ON, remove: bool = False) -> dict[str, Any]:  # noqa: A002 - the field's name
        """Return the edge that `a: b` stands for: a depends on b."""
        source, _, target = written.partition(":")
        edge: dict[str, Any] = {"from": self[source.strip()], "to": self[target.strip()], "type": type}
        return edge | ({"remove": True} if remove else {})

    def connect(self, *edges: str, type: str = DEPENDS_ON, **given: Any) -> Any:  # noqa: A002 - the field's name
        return self.call("work.connect", edges=[self.edge(one, type=type) for one in edges], **given)

    def disconnect(self, *edges: str, type: str = DEPENDS_ON) -> Any:  # noqa: A002 - the field's name
        return self.call("work.connect", edges=[self.edge(one, type=type, remove=True) for one in edges])

    def restructure(self, *operations: Mapping[str, str], **given: Any) -> Any:
        named = [
            {field: value if field in ("op", "reason") else self[value] for field, value in one.items()}
            for one in operations
        ]
        return self.call("work.restructure", operations=named, **given)

    def move(self, name: str, under: str) -> Any:
        return self.restructure({"op": "move", "node_id": name, "new_parent": under})

    def merge(self, source: str, target: str) -> Any:
        return self.restructure({"op": "merge", "source": source, "target": target})

    def drop(self, name: str, reason: str = "no longer needed") -> Any:
        return self.restructure({"op": "drop", "node_id": name, "reason": reason})

    def claim(self, **given: Any) -> list[str]:
        """Claim the best nodes and return their names."""
        return self.names([one.node for one in self.offers(claim=True, **given)])

    # --- Questions ---

    def offers(self, **given: Any) -> list[Any]:
        if "scope" in given:
            given["scope"] = self[given["scope"]]
        offers: list[Any] = self.call("work.next", project=self.project, **given).nodes
        return offers

    def next(self, **given: Any) -> list[str]:
        """Return the names of the nodes that are offered, best first."""
        return self.names([one.node for one in self.offers(**{"count": 50} | given)])

    def context(self, name: str, **given: Any) -> Any:
        return self.call("work.context", node_id=self[name], **given)

    def node(self, name: str) -> Any:
        return self.context(name, depth=0).node

    def filter_open(self, among: Iterable[str]) -> list[str]:
        return [name for name in among if not self.node(name).resolved]

    def waits_for(self, name: str) -> list[str]:
        return self.names([one.node for one in self.context(name).depends_on])

    def query(self, **filters: Any) -> list[str]:
        """Return the names of the nodes that pass a filter, in the order of creation."""
        found = self.call("work.query", project=self.project, filter=filters, sort="created", limit=100)
        return self.names(found.nodes)

    def history(self, name: str) -> list[Any]:
        """Return the events of a node, oldest first."""
        events: list[Any] = self.call("work.history", node_id=self[name], limit=100).events
        return events[::-1]

    def actions(self, name: str) -> list[str]:
        return [one.action for one in self.history(name)]

    def counts(self) -> tuple[int, int, int, int, int]:
        """Return how many nodes are: total, resolved, unresolved, blocked, actionable."""
        one = self.call("work.open", project=self.project).summary
        return one.total, one.resolved, one.unresolved, one.blocked, one.actionable
