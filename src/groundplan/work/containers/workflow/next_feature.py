"""The feature to go on with: active ones before new ones, the most important first, then the oldest."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Tool
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.container import Feature, load_containers
from groundplan.work.containers.requests import priority_range
from groundplan.work.containers.search_scope import resolve_scope

sql = load_queries(__file__)


class NextFeature(Struct, rename="camel", forbid_unknown_fields=True):
    """Where to look: in a project or everywhere; and perhaps for one priority only."""

    project_id: Name | None = None
    priority: str | None = None


class _OpenFeature(Struct):
    is_new: bool
    priority: float
    created_at: str
    n: int


def next_feature(tx: Transaction, request: NextFeature) -> Feature | None:
    """The best feature that waits for nothing, if there is one."""
    place = resolve_scope(tx)
    least, below = priority_range(request.priority)
    found = []
    for project_id in place.project_ids:
        rows = tx.all(sql.next_features, _OpenFeature, project_id=project_id, least=least, below=below)
        if rows:  # inside a project the lower number is the older one, whatever the clock said
            best = min(rows, key=lambda row: (row.is_new, -row.priority, row.n))
            found.append((best.is_new, -best.priority, best.created_at, project_id, best.n))
    if not found:
        return None
    *_, project_id, n = min(found)
    feature = load_containers(tx, project_id, [n])[n]
    assert isinstance(feature, Feature)  # noqa: S101 - the query asks for no other
    return feature


OPERATION: Operation[NextFeature, Any] = Operation(
    name="container.next_feature",
    summary="Feature to go on with: ACTIVE, then NEW.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    input=NextFeature,
    output=Feature | None,  # type: ignore[arg-type] # a type as much as any
    handler=next_feature,
    project=lambda _tx, request: request.project_id,
    without_project=Permission.PROJECT_LIST,
    tool=Tool("get_next_feature", Group.CONTAINERS),
    command=Command(("feature", "next"), names={"project_id": "project"}),
)
