"""A client of one project that has work and a purpose: nodes have names, purpose nodes have keys."""

from __future__ import annotations

from typing import Any

from groundplan.kernel.links import LinkSource, LinkType, add_link
from groundplan.kernel.store.transaction import Transaction
from groundplan.session import Session
from groundplan.work.refs import find_node
from tests.purpose.client import PurposeClient
from tests.work.client import WorkClient


class PlanClient:
    """An actor at the work and the purpose of one project."""

    def __init__(self, session: Session, project: str = "atlas") -> None:
        self.session = session
        self.project = project
        self.work = WorkClient(session, project)
        self.purpose = PurposeClient(session, project)

    def link(self, **links: str) -> None:
        """Let work nodes serve purpose nodes: `link(draw="AC1 OC2")`."""
        self.link_nodes({name: keys.split() for name, keys in links.items()})

    def link_nodes(self, links: dict[str, list[str]], link_type: LinkType = LinkType.SERVES) -> None:
        def write(tx: Transaction) -> None:
            for name, targets in links.items():
                found = find_node(tx, self.work[name])
                for target in targets:
                    add_link(tx, LinkSource(found.id, found.n), link_type, target)
                tx.record("work.updated", found.id)

        self.session.store.write(self.session.actor, self.project, write)

    def line(self, start: str, direction: str | None = None, **given: Any) -> Any:
        request = {"project": self.project, "from": self.work[start], "direction": direction, **given}
        return self.session.call("briefing.throughline", **request)

    def coverage(self) -> Any:
        return self.session.call("briefing.coverage", project=self.project)

    def names(self, refs: list[str]) -> list[str]:
        """Return the test's names of work nodes; keys stay as they are."""
        return [self.work.name(ref) for ref in refs]

    def steps(self, line: Any) -> list[str]:
        """Return the names of the steps of a line, in its order."""
        return self.names([step.ref for step in line.chain])

    def dead_ends(self, line: Any) -> list[tuple[str, str]]:
        return [(self.work.name(one.ref), one.reason.value) for one in line.dead_ends]
