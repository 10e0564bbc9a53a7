"""A project with an assumption in its chain, and what tests of the watch do to it."""

from __future__ import annotations

from typing import Any

from groundplan.briefing.watch import NO_LIMIT, WatchMark, load_marks
from groundplan.kernel.access import Permission
from groundplan.kernel.store.authorize import authorize_project
from groundplan.kernel.store.transaction import Transaction
from groundplan.session import Session
from tests.context.client import ContextClient
from tests.engines import Engine
from tests.linking import link
from tests.manual_clock import ManualClock
from tests.purpose.client import PurposeClient, add_edge, add_node, op
from tests.purpose.conftest import ADA, WELL, begin_draft

SIZE = "/site/size"


def fill(engine: Engine) -> None:
    """Create a chain with an assumption on the edge from output to outcome, and an activity that bypasses it."""
    begin_draft(engine)
    client = PurposeClient(Session(engine.store_with_clock(ManualClock()), ADA))
    client.draw(WELL)
    client.edit(
        op("add_assumption", source="OP1", target="OC1", assumption_text="It rains"),
        add_node("OUTPUT", "posters", ref="p"),
        add_node("OUTCOME", "people know", ref="k"),
        add_edge("p", "k"),
        add_edge("k", "G1"),
    )


class Watch:
    """Ada at one project, its marks, and what the tests do to it."""

    def __init__(self, session: Session, clock: ManualClock) -> None:
        self.session = session
        self.clock = clock
        self.purpose = PurposeClient(session)
        self.facts = ContextClient(session)

    def marks(self, *, with_work: bool = True, at_most: int = NO_LIMIT) -> list[WatchMark]:
        def run(tx: Transaction) -> list[WatchMark]:
            tx.set_project(authorize_project(tx, "atlas", Permission.WORK_READ))
            return load_marks(tx, with_work=with_work, at_most=at_most)[0]

        return self.session.store.read(self.session.actor, run)

    def marked(self) -> list[tuple[str, str]]:
        return [(mark.ref, mark.status) for mark in self.marks()]

    def plan(self, *nodes: str) -> list[str]:
        """Plan nodes written as `name` or `parent/name`; return their ids."""
        rows = []
        for node in nodes:
            above, _, name = node.rpartition("/")
            rows.append({"ref": name, "summary": name, **({"parent_ref": above} if above else {})})
        return [one.id for one in self.session.call("work.plan", project="atlas", nodes=rows).created]

    def review(self, status: str, assumption: str = "AS1") -> Any:
        return self.purpose.record(reviews=[{"assumption": assumption, "status": status, "reason": "seen"}])

    def decide(self, *about: str, **given: Any) -> str:
        decision = {"text": "go on", "rationale": "r", "about": list(about), **given}
        return str(self.purpose.record(decisions=[decision]).decisions[0])

    def commit(self, **values: Any) -> str:
        """Commit a run of facts about the site. Each has a later time than the one before."""
        self.clock.move(seconds=1)
        run = self.facts.draft(copyFrom="none")
        for name, value in values.items():
            self.facts.write(f"/site/{name}", value, fieldType="number", valueKind="number")
        self.facts.commit(allowDrop=True)
        return run

    def link(self, source: str, type_: str, *targets: str) -> None:
        link(self.session, source, type_, *targets)
