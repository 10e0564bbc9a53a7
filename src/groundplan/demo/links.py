"""The links of the example: what each task is for, the facts it rests on, and what its evidence says of assumptions.

The evidence of one task supports an assumption, that of another refutes one: this waits for a decision, for which an
agent has asked. Every step runs only if its node or its list is unchanged since the step before, so a second fill
changes nothing, an interrupted fill is completed, and edits by others stay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from groundplan.demo.history import MoveTo, stand_still
from groundplan.demo.theory import GOAL
from groundplan.demo.work import AGENT, load_ids
from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.session import Session

# The purpose nodes that each task serves; a task that is not listed serves what its parent serves.
SERVES: Mapping[str, tuple[str, ...]] = {
    "needs": ("AC1",),
    "ranking": ("AC2",),
    "sites": ("AC2", "OP1"),
    "land": ("AC3",),
    "drilling-permit": ("AC4",),
    "design": ("OP2",),
    "pump": ("AC6",),
    "build": ("OP2",),
    "boreholes": ("AC5",),
    "pumping-test": ("AC8",),
    "install": ("AC6",),
    "upkeep": ("OP5",),
    "caretakers": ("AC9",),
    "handbook": ("AC10",),
    "depot": ("AC12",),
    "fee": ("AC13",),
    "training": ("AC11",),
    "walking": ("OC2",),
    "rain": ("AC8",),
}
RESTS_ON: Mapping[str, tuple[str, ...]] = {
    "sites": ("/valley/households",),
    "land": ("/site/owner",),
    "pump": ("/wells/pump",),
    "costs": ("/wells/cost", "/wells/depth"),
    "boreholes": ("/wells/depth", "/permit/state"),
}
SUPPORTED, REFUTED = "AS3", "AS5"
SUPPORTING_NODE, REFUTING_NODE = "old-wells", "households"

ATOM = "Survey data"
ATOM_PATHS = ("data/**",)
ATOM_KNOWLEDGE = (
    "One row for each household; villages are spelled as on the maps of the district. People who are away in the dry "
    "season count where their children go to school."
)

FEE = "OP7"
FIRST_DECISION = {"text": "Collect the fee every month", "rationale": "Small sums are easier to pay", "about": [FEE]}
LATER_DECISION = {"text": "Collect the fee after the harvest", "rationale": "Nobody has cash in spring", "about": [FEE]}
REQUEST = {
    "question": "People pass wells whose water tastes of iron. Do we count these wells as sources?",
    "about": [REFUTED],
    "to": "ada",
}


def fill_links(session: Session, project: str, move_to: MoveTo = stand_still) -> bool:
    """Write the links of the example into a project, if it has the theory, and return whether anything was written."""
    opened = session.call("purpose.open", project=project)
    if not _is_example(opened):
        return False
    ids = load_ids(session, project)
    keys = {node.key for node in opened.nodes}
    steps: tuple[tuple[float, Callable[[], bool]], ...] = (
        (2, lambda: _link_tasks(session, project, ids, keys)),
        (2, lambda: _link_evidence(session, ids)),
        (2, lambda: _write_knowledge(session, project, ids)),
        (1.5, lambda: _decide_first(session, project)),
        (1, lambda: _decide_again(session, project)),
        (0.5, lambda: _ask(session, project)),
    )
    done = []
    for days_ago, step in steps:
        move_to(days_ago)
        done.append(step())
    return any(done)


def _is_example(opened: Any) -> bool:
    """Return whether the theory is that of the example, and complete."""
    return len(opened.versions) == 3 and bool(opened.nodes) and opened.nodes[0].title == GOAL


def _get_rev(session: Session, ids: Mapping[str, str], ref: str) -> int | None:
    """Return the revision of a node, which counts its writes."""
    if ref not in ids:
        return None
    return int(session.call("work.context", node_id=ids[ref], depth=0, lean=False).node.rev)


def _link_tasks(session: Session, project: str, ids: Mapping[str, str], keys: set[str]) -> bool:
    if _get_rev(session, ids, "needs") != 1:
        return False
    inputs = session.context.resolve_context_view(project).inputs_by_pointer
    updates: list[dict[str, Any]] = []
    for ref in sorted({*SERVES, *RESTS_ON} & ids.keys()):
        serves = [key for key in SERVES.get(ref, ()) if key in keys]
        rests_on = [pointer for pointer in RESTS_ON.get(ref, ()) if pointer in inputs]
        given = {"serves": serves, "rests_on": rests_on}
        updates.append({"node_id": ids[ref], **{name: some for name, some in given.items() if some}})
    session.call("work.update", updates=updates)
    return True


def _link_evidence(session: Session, ids: Mapping[str, str]) -> bool:
    edges = [
        {"from": ids[ref], "to": key, "type": link_type}
        for ref, key, link_type in (
            (SUPPORTING_NODE, SUPPORTED, "supports"),
            (REFUTING_NODE, REFUTED, "refutes"),
        )
        if _get_rev(session, ids, ref) == 2
    ]
    if edges:
        session.call("work.connect", edges=edges)
    return bool(edges)


def _write_knowledge(session: Session, project: str, ids: Mapping[str, str]) -> bool:
    found = session.call("knowledge.search", entityType="atom", projectId=project, limit=100).items
    if REFUTING_NODE not in ids or any(atom.name == ATOM for atom in found):
        return False
    session.call(
        "knowledge.create",
        entityType="atom",
        projectId=project,
        name=ATOM,
        paths=list(ATOM_PATHS),
        knowledge=ATOM_KNOWLEDGE,
        createdByTaskId=ids[REFUTING_NODE],
    )
    return True


def _decide_first(session: Session, project: str) -> bool:
    if len(session.call("purpose.observations", project=project).decisions) != 1:
        return False
    session.call("purpose.record", project=project, decisions=[FIRST_DECISION])
    return True


def _decide_again(session: Session, project: str) -> bool:
    match session.call("purpose.observations", project=project).decisions:
        case [_, first]:
            session.call("purpose.record", project=project, decisions=[{**LATER_DECISION, "supersedes": first.id}])
            return True
    return False


def _ask(session: Session, project: str) -> bool:
    if session.call("purpose.observations", project=project).requests:
        return False
    agent = Session(session.store, local_actor(AGENT, kind=ActorKind.AGENT), session.operations)
    agent.call("purpose.record", project=project, requests=[REQUEST])
    return True
