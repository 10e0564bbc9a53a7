"""Count the work that serves each purpose node, and how much of it is resolved."""

from __future__ import annotations

from typing import ClassVar

from msgspec import UNSET, Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import CutLists, LeftOut, Trimming
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, Route, declare
from groundplan.kernel.store.transaction import Transaction


class CountServingWork(Struct, forbid_unknown_fields=True):
    """The project."""

    project: Name


class ServedNode(Struct):
    """The work that serves a purpose node: tasks and what is within them. Dropped work does not count."""

    key: str
    total: int
    resolved: int


class ServingWork(Struct):
    """The purpose nodes that work serves by links of its own, by key."""

    trimming: ClassVar[Trimming] = Trimming(CutLists(("served",)))

    served: list[ServedNode]
    left_out: LeftOut = UNSET


def count_serving_work(tx: Transaction, _request: CountServingWork) -> ServingWork:
    """Return the counts of the work that serves each purpose node of the current project."""
    # Here, because a start of the program does not need them.
    from groundplan.purpose.model import sort_keys
    from groundplan.work.tracing.serving import load_serving_links
    from groundplan.work.tracing.traced_nodes import count_subtrees

    links = load_serving_links(tx)
    # A node that has links of its own does not inherit those of its ancestors.
    counts = count_subtrees(tx, links.keys, links.keys)
    served: dict[str, ServedNode] = {}
    for n, keys in links.keys.items():
        for key in keys:
            one = served.setdefault(key, ServedNode(key, 0, 0))
            one.total += counts[n].total - counts[n].dropped
            one.resolved += counts[n].resolved
    return ServingWork([served[key] for key in sort_keys(served) if served[key].total])


OPERATION = declare(
    count_serving_work,
    name="briefing.serving",
    summary="How much work serves each purpose node, and how much of it is resolved.",
    permission=Permission.PURPOSE_READ,
    effect=Effect.READ,
    command=Command(("serving",)),
    http=Route("GET", "/projects/{project}/serving"),
)
