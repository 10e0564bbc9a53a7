"""A client of one project in all four slices, for tests of what joins them."""

from __future__ import annotations

from typing import Any

from groundplan.kernel.answers import encode
from groundplan.kernel.links import LinkSource, LinkType, add_link
from groundplan.kernel.store.transaction import Transaction
from groundplan.session import Session
from groundplan.work.events import WorkOp
from groundplan.work.refs import find_node
from tests.context.client import ContextClient
from tests.knowledge.client import KnowledgeClient
from tests.purpose.client import PurposeClient
from tests.work.client import WorkClient


class BriefingClient(WorkClient):
    """An actor at one project: its work, and clients of its purpose, facts and knowledge."""

    def __init__(self, session: Session, project: str = "atlas", ids: dict[str, str] | None = None) -> None:
        super().__init__(session, project, ids)
        self.purpose = PurposeClient(session, project)
        self.facts = ContextClient(session, project)
        self.knowledge = KnowledgeClient(session, project)

    def link(self, name: str, link_type: LinkType, *targets: str) -> None:
        """Link a work node, or a purpose node by its key, to some targets."""

        def run(tx: Transaction) -> None:
            found = find_node(tx, self.ids[name]) if name in self.ids else None
            source = LinkSource(name) if found is None else LinkSource(found.id, found.n)
            for target in targets:
                add_link(tx, source, link_type, target)
            tx.record(WorkOp.UPDATED, source.ref)

        self.session.store.write(self.session.actor, self.project, run)

    def serve(self, name: str, *keys: str) -> None:
        self.link(name, LinkType.SERVES, *keys)

    def rest(self, name: str, *pointers: str) -> None:
        self.link(name, LinkType.RESTS_ON, *pointers)

    def know(self, name: str, path: str, text: str) -> str:
        """Write an atom and return its id."""
        created = self.call(
            "knowledge.create",
            projectId=self.project,
            entityType="atom",
            name=name,
            paths=[path],
            knowledge=text,
            createdByTaskId=self["task"],
        )
        atom_id: str = created.atom.id
        return atom_id

    def brief(self, name: str = "task", budget: int = 20_000, **given: Any) -> Any:
        """Return the briefing of a node."""
        return self.call("briefing.brief", node_id=self[name], budget=budget, **given).briefing


def count_tokens(answer: Any) -> float:
    """Return the tokens of an answer, not rounded."""
    return len(encode(answer).decode()) / 4
