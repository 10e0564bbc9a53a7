"""The work of the example: a work graph in progress.

Some nodes are resolved with evidence, an agent has claimed one, and one was dropped with a reason. Every step runs only
if its node is unchanged since it was planned, so a second fill changes nothing, an interrupted fill is completed, and
edits by others stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.session import Session

AGENT = "claude"
POLICIES = {"claim_ttl_minutes": 480}  # a working day, so that the example's claim does not lapse during a trial
MOST_URGENT = {"priority": 3}
CLAIMED_NODE = ("ranking", MOST_URGENT)
RELATED = ("handbook", "pump")


@dataclass(frozen=True, slots=True)
class ExampleNode:
    """A node of the example; without a parent it is on the top level."""

    ref: str
    summary: str
    parent: str | None = None
    after: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    properties: Mapping[str, Any] = field(default_factory=dict)

    def to_plan_node(self) -> dict[str, Any]:
        """Return the node as an argument of `work.plan`."""
        parent = {} if self.parent is None else {"parent_ref": self.parent}
        return {
            "ref": self.ref,
            "summary": self.summary,
            **parent,
            "depends_on": list(self.after),
            "context_links": list(self.links),
            "properties": dict(self.properties),
        }


NODES = (
    ExampleNode("needs", "Find out where water is needed most", links=("docs/lenta-valley.md",)),
    ExampleNode("households", "Count the households of all 23 villages", "needs"),
    ExampleNode("old-wells", "Test the water of the existing wells", "needs"),
    ExampleNode("springs", "Map the springs and when they run dry", "needs"),
    ExampleNode(
        "ranking",
        "Rank the candidate sites by need and cost",
        "needs",
        after=("households", "old-wells", "springs"),
        links=("data/households.csv", "data/wells.csv"),
        properties=MOST_URGENT,
    ),
    ExampleNode("sites", "Agree on twelve sites with the village councils", "needs", after=("ranking",)),
    ExampleNode("permits", "Get permission to drill"),
    ExampleNode("land", "Sign agreements with the owners of the land", "permits", after=("sites",)),
    ExampleNode("drilling-permit", "Apply for the drilling permits of the district", "permits", after=("land",)),
    ExampleNode("design", "Decide how to build"),
    ExampleNode("pump", "Choose one hand pump for the whole valley", "design"),
    ExampleNode("well-head", "Draw the standard well head, apron and drain", "design", properties={"priority": 2}),
    ExampleNode("pipeline", "Design a gravity-fed line from the upper spring", "design", after=("springs",)),
    ExampleNode("flow", "Measure the flow of the upper spring for a year", "pipeline"),
    ExampleNode("costs", "Estimate what one site costs", "design", after=("ranking", "well-head")),
    ExampleNode("build", "Build the first four wells"),
    ExampleNode("boreholes", "Drill four boreholes", "build", after=("drilling-permit", "costs")),
    ExampleNode("pumping-test", "Test yield and water quality of each borehole", "build", after=("boreholes",)),
    ExampleNode("install", "Install the pumps", "build", after=("pumping-test", "pump")),
    ExampleNode("aprons", "Build aprons and drains", "build", after=("boreholes", "well-head")),
    ExampleNode("upkeep", "Find people who keep the wells running"),
    ExampleNode("caretakers", "Recruit two caretakers in each village", "upkeep", properties={"priority": 1}),
    ExampleNode("handbook", "Write a repair handbook with pictures", "upkeep"),
    ExampleNode("depot", "Set up a depot for spare parts in Lenta town", "upkeep", after=("pump",)),
    ExampleNode("fee", "Agree on a water fee that pays for repairs", "upkeep", after=("sites",)),
    ExampleNode("training", "Train the caretakers", "upkeep", after=("caretakers", "handbook", "install")),
    ExampleNode("learn", "Learn before building the other eight"),
    ExampleNode("walking", "Measure the way to water again after three months", "learn", after=("install",)),
    ExampleNode("rain", "Test the water again after the rainy season", "learn", after=("install",)),
    ExampleNode("go-on", "Decide about the other eight sites", "learn", after=("walking", "rain")),
)

# The resolved nodes with their evidence.
EVIDENCE: Mapping[str, tuple[tuple[str, str], ...]] = {
    "households": (
        ("file", "data/households.csv"),
        ("note", "2,140 households; 860 of them walk more than half an hour"),
    ),
    "old-wells": (
        ("file", "data/wells.csv"),
        ("test", "14 of 22 wells are above the limit for E. coli"),
        ("hint", "Test kits keep for six months only; order them late"),
    ),
    "springs": (("file", "maps/springs.geojson"),),
    "pump": (("note", "Afridev: two people repair it without a crane, and Lenta town sells the parts"),),
}

DROPPED_NODE = ("pipeline", "The upper spring fell dry in two of the last five summers")
DROP_DECISION = "Wells only: a line that is dry when it is needed costs more trust than it brings water"


def fill_work(session: Session, project: str) -> bool:
    """Write the work of the example into a project, and return whether anything was written."""
    is_new = session.call("work.open", project=project).summary.total == 1
    if is_new:
        session.call("work.open", project=project, policies=POLICIES)
        session.call("work.plan", project=project, nodes=[node.to_plan_node() for node in NODES])
    ids = _load_ids(session, project)
    steps = (_finish, _drop, _relate, _claim)
    return any([is_new, *(step(session, project, ids) for step in steps)])


def _load_ids(session: Session, project: str) -> dict[str, str]:
    refs = {node.summary: node.ref for node in NODES}
    found = session.call("work.query", project=project, limit=100, sort="created").nodes
    return {refs[node.summary]: node.id for node in found if node.summary in refs}


def _is_untouched(session: Session, ids: Mapping[str, str], ref: str) -> bool:
    """Return whether a node is unchanged since it was planned, which its revision tells."""
    return ref in ids and session.call("work.context", node_id=ids[ref], depth=0, lean=False).node.rev == 1


def _finish(session: Session, project: str, ids: Mapping[str, str]) -> bool:
    updates = [
        {
            "node_id": ids[ref],
            "resolved": True,
            "add_evidence": [{"type": type_, "ref": evidence_ref} for type_, evidence_ref in evidence],
        }
        for ref, evidence in EVIDENCE.items()
        if _is_untouched(session, ids, ref)
    ]
    if updates:
        session.call("work.update", updates=updates)
    return bool(updates)


def _drop(session: Session, project: str, ids: Mapping[str, str]) -> bool:
    ref, reason = DROPPED_NODE
    if not _is_untouched(session, ids, ref):
        return False
    drop = {"op": "drop", "node_id": ids[ref], "reason": reason}
    session.call("work.restructure", operations=[drop], decision=DROP_DECISION)
    return True


def _relate(session: Session, project: str, ids: Mapping[str, str]) -> bool:
    source, target = RELATED
    if target not in ids or not _is_untouched(session, ids, source):
        return False
    session.call("work.connect", edges=[{"from": ids[source], "to": ids[target], "type": "relates_to"}])
    return True


def _claim(session: Session, project: str, ids: Mapping[str, str]) -> bool:
    ref, properties = CLAIMED_NODE
    if not _is_untouched(session, ids, ref):
        return False
    agent = Session(session.store, local_actor(AGENT, kind=ActorKind.AGENT), session.operations)
    return bool(agent.call("work.claim", project=project, filter=properties).nodes)
