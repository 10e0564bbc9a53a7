"""Set the relations of a container, in whichever direction they are stored."""

from __future__ import annotations

from collections.abc import Sequence

from groundplan.kernel.audit import Change, changed
from groundplan.kernel.errors import NextStep
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import invalid_argument
from groundplan.work.containers.refs import find_any_container
from groundplan.work.containers.requests import IDS_MAX, parse_list
from groundplan.work.events import WorkOp
from groundplan.work.kinds import ROOT_N
from groundplan.work.nodes import RELATES_TO, WorkNodeRow, add_edge, remove_edge, touch

sql = load_queries(__file__)


def set_relations(tx: Transaction, node: WorkNodeRow, given: Sequence[str] | str) -> list[Change]:
    """Replace the relations of a container and return the changes to record."""
    others: dict[int, str] = {}
    for ref in parse_list(given, ("relatedTo",), items_max=IDS_MAX, chars_max=255):
        other = find_any_container(tx, ref, field="relatedTo")
        if other.n in (node.n, ROOT_N):
            which = "the container itself" if other.n == node.n else "the project"
            raise invalid_argument(("relatedTo",), f"names {which}; name other tasks and features")
        others[other.n] = other.id
    place = {"project_id": tx.project.id, "n": node.n}
    before: dict[int, str] = dict(tx.all(sql.related_numbers, **place))
    if len(before) > IDS_MAX:  # more than the caller can have seen
        wrong = f"would replace {len(before)} relations, the limit is {IDS_MAX}"
        relation = {"fromId": node.id, "type": "RELATES_TO"}
        steps = (
            NextStep("dependency.create", "adds single ones", relation),
            NextStep("dependency.delete", "removes single ones", relation),
        )
        raise invalid_argument(("relatedTo",), wrong, code="too_many", next_steps=steps, limit=IDS_MAX)
    if others.keys() == before.keys():
        return []
    for n, other_id in before.items():
        if n not in others:
            _remove_relation(tx, node, n, other_id)
    for n in others:
        if n not in before:
            add_edge(tx, node.n, RELATES_TO, n)
    return [changed(RELATES_TO, [before[n] for n in sorted(before)], [others[n] for n in sorted(others)])]


def _remove_relation(tx: Transaction, node: WorkNodeRow, other_n: int, other_id: str) -> None:
    remove_edge(tx, node.n, RELATES_TO, other_n)
    # An edge that is stored from the other end is a change of the other container too.
    if remove_edge(tx, other_n, RELATES_TO, node.n):
        touch(tx, other_n)
        tx.record(WorkOp.DISCONNECTED, other_id, changed(RELATES_TO, node.id, None))
