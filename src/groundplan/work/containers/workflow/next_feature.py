"""Get the next feature to work on: active before new, then by priority and age."""

from __future__ import annotations

from msgspec import Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, Group, Route, Tool, declare
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.container import Feature, load_containers
from groundplan.work.containers.refs import resolve_scope
from groundplan.work.containers.requests import get_priority_range

sql = load_queries(__file__)


class NextFeature(Struct, rename="camel", forbid_unknown_fields=True):
    """The scope, a project or all visible projects, and an optional priority."""

    project_id: Name | None = None
    priority: str | None = None


class _OpenFeature(Struct):
    is_new: bool
    priority: float
    created_at: str
    n: int


def next_feature(tx: Transaction, request: NextFeature) -> Feature | None:
    """Return the best feature that is not blocked, if there is one."""
    place = resolve_scope(tx)
    least, below = get_priority_range(request.priority)
    found = []
    for project_id in place.project_ids:
        rows = tx.all(sql.next_features, _OpenFeature, project_id=project_id, least=least, below=below)
        if rows:  # within a project the lower number is older, whatever the clock said
            best = min(rows, key=lambda row: (row.is_new, -row.priority, row.n))
            found.append((best.is_new, -best.priority, best.created_at, project_id, best.n))
    if not found:
        return None
    *_, project_id, n = min(found)
    feature = load_containers(tx, project_id, [n])[n]
    assert isinstance(feature, Feature)  # noqa: S101 - the query returns only features
    return feature


NEXT_FEATURE = declare(
    next_feature,
    name="container.next_feature",
    summary="Feature to continue with: ACTIVE, then NEW.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    without_project=Permission.PROJECT_LIST,
    tool=Tool("get_next_feature", Group.CONTAINERS),
    command=Command(("feature", "next"), names={"project_id": "project"}),
    http=Route("GET", "/projects/{project}/work/next-feature"),
    other_routes=(Route("GET", "/organization/work/next-feature"),),
)
