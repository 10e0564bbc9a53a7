"""The work of the example: a work graph in progress.

Some nodes are resolved with evidence, two agents have claimed one each, and one was dropped with a reason. Every step
runs only if its node is unchanged since the step before, so a second fill changes nothing, an interrupted fill is
completed, and edits by others stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from groundplan.demo.history import MoveTo, stand_still
from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.session import Session

AGENT = "claude"
SECOND_AGENT = "juno"
POLICIES = {"claim_ttl_minutes": 480}  # a working day: one claim lapses soon, and the other one not during a trial
MOST_URGENT = {"priority": 3}
URGENT = {"priority": 1}
# Agent, node, a filter that finds it, days ago; the first claim lapses soon.
CLAIMED_NODES = ((AGENT, "ranking", MOST_URGENT, 7 / 24), (SECOND_AGENT, "caretakers", URGENT, 1 / 24))
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
    ExampleNode("caretakers", "Recruit two caretakers in each village", "upkeep", properties=URGENT),
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
        ("note", "In four villages people pass the nearest well, because its water tastes of iron"),
    ),
    "old-wells": (
        ("file", "data/wells.csv"),
        ("test", "14 of 22 wells are above the limit for E. coli, none is for arsenic"),
        ("hint", "Test kits keep for six months only; order them late"),
    ),
    "springs": (("file", "maps/springs.geojson"),),
    "pump": (("note", "Afridev: two people repair it without a crane, and Lenta town sells the parts"),),
}

DROPPED_NODE = ("pipeline", "The upper spring fell dry in two of the last five summers")
DROP_DECISION = "Wells only: a line that is dry when it is needed costs more trust than it brings water"


def fill_work(session: Session, project: str, move_to: MoveTo = stand_still) -> bool:
    """Write the work of the example into a project, and return whether anything was written."""
    is_new = session.call("work.open", project=project).summary.total == 1
    if is_new:
        session.call("work.open", project=project, policies=POLICIES)
        session.call("work.plan", project=project, nodes=[node.to_plan_node() for node in NODES])
    ids = load_ids(session, project)
    done = [is_new]
    for days_ago, step in ((50, _finish), (48, _drop), (47, _relate)):
        move_to(days_ago)
        done.append(step(session, project, ids))
    return any(done)


def fill_claims(session: Session, project: str, move_to: MoveTo = stand_still) -> bool:
    """Let the agents of the example claim their tasks, and return whether one did.

    This comes last, because a claim does not last for weeks.
    """
    ids = load_ids(session, project)
    has_claimed = False
    for name, ref, properties, days_ago in CLAIMED_NODES:
        if _is_as_filled(session, ids, ref):
            move_to(days_ago)
            agent = Session(session.store, local_actor(name, kind=ActorKind.AGENT), session.operations)
            has_claimed |= bool(agent.call("work.claim", project=project, filter=properties).nodes)
    return has_claimed


def load_ids(session: Session, project: str) -> dict[str, str]:
    """Return the ids of the nodes of the example by ref."""
    refs = {node.summary: node.ref for node in NODES}
    found = session.call("work.query", project=project, limit=100, sort="created").nodes
    return {refs[node.summary]: node.id for node in found if node.summary in refs}


def _is_untouched(session: Session, ids: Mapping[str, str], ref: str) -> bool:
    """Return whether a node is unchanged since it was planned, which its revision tells."""
    return ref in ids and session.call("work.context", node_id=ids[ref], depth=0, lean=False).node.rev == 1


def _is_as_filled(session: Session, ids: Mapping[str, str], ref: str) -> bool:
    """Return whether a node is unchanged since it was planned and, if it has links of its own, linked."""
    if ref not in ids:
        return False
    node = session.call("work.context", node_id=ids[ref], depth=0, lean=False).node
    is_linked = any(not link.inherited_from for link in node.serves or ())
    return bool(node.rev == (2 if is_linked else 1))


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
