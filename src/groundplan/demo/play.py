"""An agent that works in the example during a demonstration: it plans, claims, resolves, takes notes and reviews.

Every step is one write. After the last one the agent removes what it made and begins anew, so that the plan stays as
large as it is. It stops after some rounds, because the history keeps every step. People may change anything meanwhile:
a step that is refused ends its round.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from functools import partial

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.errors import GroundplanError
from groundplan.session import Session

AGENT = "mira"
EVERY_S = 4.0
ROUNDS_MAX = 60  # about an hour
GOAL = "Prepare the visit of the district engineer"
TASKS = (
    ("letters", "Collect the letters of the four councils"),
    ("map", "Draw the map of the twelve sites on one page"),
    ("route", "Plan the route so that it ends before the heat"),
)
EVIDENCE = {
    "letters": {"type": "note", "ref": "Three letters are here; the fourth council signs on Friday"},
    "map": {"type": "file", "ref": "maps/visit.pdf"},
    "route": {"type": "note", "ref": "Five villages in one morning, with the old wells on the way"},
}
NOTE = "Visits of officials"
NOTE_PATHS = ("maps/visit*",)
NOTE_TEXT = "Officials come with their own driver: print the map in colour, and write the distances in minutes."
POINTER = "/valley/households"
SUGGESTED = {"pointer": POINTER, "value": 2155, "rationale": "The councils list fifteen households more than the count"}
ASSUMPTION = "AS12"  # the radio link holds
REVIEWS = (("at_risk", "Two of five villages had no signal this week"), ("holding", "All five villages answered today"))

Step = Callable[[], object]
Wait = Callable[[float], bool]  # for so many seconds; returns whether the play is over

log = logging.getLogger(__name__)


class PlayingAgent:
    """The agent in one project of the example. `owner` is the session of a person who rejects its suggestions."""

    def __init__(self, owner: Session, project: str) -> None:
        self._owner = owner
        self._agent = Session(owner.store, local_actor(AGENT, kind=ActorKind.AGENT), owner.operations)
        self._project = project
        self._ids: dict[str, str] = {}

    def play(self, wait: Wait, *, every_s: float = EVERY_S, rounds_max: int = ROUNDS_MAX) -> None:
        """Take one step after each call of `wait`, until `wait` ends the play or the last round is over."""
        for number in range(rounds_max):
            self.remove()
            for step in self._list_steps(number):
                if wait(every_s):
                    return
                try:
                    step()
                except GroundplanError as error:
                    log.info("a step of the example was refused: %s", error.message)
                    break
            if wait(every_s):
                return
        self.remove()

    def remove(self) -> None:
        """Remove the items of a round, even if the round was interrupted."""
        for clean in (self._reject, self._forget, self._delete):
            try:
                clean()
            except GroundplanError as error:
                log.info("what the example made stays: %s", error.message)

    def _list_steps(self, number: int) -> Iterator[Step]:
        yield self._plan
        meanwhile: dict[str, Step] = {
            "letters": self._suggest,
            "map": self._take_note,
            "route": partial(self._review, number),
        }
        for ref, _ in TASKS:
            yield partial(self._claim, ref)
            yield meanwhile[ref]
            yield partial(self._resolve, ref)

    def _plan(self) -> None:
        nodes: list[dict[str, object]] = [{"ref": "visit", "summary": GOAL}]
        before: list[str] = []
        for ref, summary in TASKS:
            nodes.append({"ref": ref, "summary": summary, "parent_ref": "visit", "depends_on": before})
            before = [ref]
        planned = self._agent.call("work.plan", project=self._project, nodes=nodes)
        self._ids = {node.ref: node.id for node in planned.created}

    def _claim(self, ref: str) -> None:
        self._agent.call("work.claim", project=self._project, node_id=self._ids[ref])

    def _resolve(self, ref: str) -> None:
        done = {"node_id": self._ids[ref], "resolved": True, "add_evidence": [EVIDENCE[ref]]}
        self._agent.call("work.update", updates=[done])

    def _take_note(self) -> None:
        self._agent.call(
            "knowledge.create",
            entityType="atom",
            projectId=self._project,
            name=NOTE,
            paths=list(NOTE_PATHS),
            knowledge=NOTE_TEXT,
            createdByTaskId=self._ids["map"],
        )

    def _suggest(self) -> None:
        for run in self._list_drafts():
            self._agent.call("context.edit", runId=run, inputs=[SUGGESTED])

    def _review(self, number: int) -> None:
        status, reason = REVIEWS[number % len(REVIEWS)]
        review = {"assumption": ASSUMPTION, "status": status, "reason": reason}
        self._agent.call("purpose.record", project=self._project, reviews=[review])

    def _list_drafts(self) -> list[str]:
        runs = self._owner.call("context.list", scopeId=self._project, limit=3).runs
        return [run.id for run in runs if run.status == "draft"]

    def _reject(self) -> None:
        for run in self._list_drafts():
            waiting = self._owner.call("context.view", scopeId=self._project, runId=run).suggestions or ()
            mine = [
                suggestion.id
                for suggestion in waiting
                if suggestion.pointer == POINTER and suggestion.created_by == AGENT
            ]
            if mine:
                self._owner.call("context.edit", runId=run, reject=mine)

    def _forget(self) -> None:
        atoms = self._agent.call("knowledge.search", entityType="atom", projectId=self._project, query=NOTE).items
        for atom in atoms:
            if atom.name == NOTE:
                self._agent.call("knowledge.delete", entityType="atom", id=atom.id, version=atom.version)

    def _delete(self) -> None:
        nodes = self._agent.call("work.query", project=self._project, filter={"text": GOAL}).nodes
        for node in nodes:
            if node.summary == GOAL:
                rev = self._agent.call("work.context", node_id=node.id, depth=0, lean=False).node.rev
                self._agent.call("container.delete", containerType="task", id=node.id, version=rev, cascade=True)
