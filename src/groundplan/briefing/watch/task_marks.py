"""The marks that touch one task: two searches from what it serves find those of all causes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Literal, NamedTuple

from groundplan.briefing.watch.find_causes import Cause, find_causes
from groundplan.kernel.store.transaction import Transaction


class TaskMark(NamedTuple):
    """A mark that touches a task, with the way from what the task serves; from the linked node if that rests on it."""

    kind: Literal["assumption", "fact"]
    ref: str
    word: str
    path: list[str]
    before: dict[str, Any]  # the former values of a fact, by the node that rests on it


def list_task_marks(
    tx: Transaction, served: Sequence[str], resting: str | None, steps: Sequence[str]
) -> list[TaskMark]:
    """Return the marks of a task, the latest first.

    `served` are the purpose keys that the task serves, `resting` is the node whose facts it rests on, and `steps` are
    the purpose keys whose facts matter to it. Facts of other nodes are not read, because a project may have many.
    """
    causes = find_causes(tx, [*([] if resting is None else [resting]), *steps])
    return _trace(tx, causes, served, resting) if causes else []


def _trace(tx: Transaction, causes: list[Cause], served: Collection[str], resting: str | None) -> list[TaskMark]:
    # Loaded only if something is marked.
    from groundplan.briefing.watch.trace_marks import shorten_path
    from groundplan.purpose.analysis import Place, find_steps, get_place
    from groundplan.purpose.in_force import load_chains_in_force

    chains, _ = load_chains_in_force(tx)
    places: dict[str, Place] = {}
    ahead: dict[str, str | None] = {}
    back: dict[str, str | None] = {}
    if chains is not None:
        for several in (*chains.node_assumptions.values(), *chains.edge_assumptions.values()):
            places |= {one.key: get_place(one) for one in several}
        ahead, back = find_steps(chains.causal, served)
    found = []
    for cause in causes:
        if cause.kind == "assumption":
            wanted = [places[cause.ref]] if cause.ref in places else []
        else:
            wanted = [Place(link.source, link.source) for link in cause.links if link.node_n is None]
        path = next((way for place in wanted if (way := _find_way(place.on, place.behind, ahead, back))), [])
        if cause.kind == "fact" and resting is not None and resting in cause.before:
            path = [resting]
        if path:
            found.append(TaskMark(cause.kind, cause.ref, cause.word, shorten_path([*path, cause.ref]), cause.before))
    return found


def _find_way(
    on: str | None, behind: str | None, ahead: dict[str, str | None], back: dict[str, str | None]
) -> list[str]:
    """Return the way from a served node to a place; nothing if they are not connected."""
    key, steps = (behind, ahead) if behind in ahead else (on, back)
    if key is None or key not in steps:
        return []
    way = [key]
    while (step := steps[way[-1]]) is not None:
        way.append(step)
    return way[::-1]
