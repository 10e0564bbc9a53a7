"""Create nodes as a plan does, with tags."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from groundplan.kernel.access import Permission
from groundplan.kernel.operations.registry import Command, Effect, Route, declare
from groundplan.work.graph.plan import NODES_MAX, PlanNodes, locate, plan
from groundplan.work.graph.planned_nodes import TaggedPlanNode


class AddNodes(PlanNodes, forbid_unknown_fields=True):
    """Nodes to create, with tags."""

    nodes: Annotated[list[TaggedPlanNode], Meta(min_length=1, max_length=NODES_MAX)]  # type: ignore[assignment] # only read


OPERATION = declare(
    plan,
    name="work.add",
    summary="Create nodes as work plan does, with tags.",
    permission=Permission.WORK_PLAN,
    effect=Effect.WRITE,
    input=AddNodes,
    project=locate,
    command=Command(("work", "add")),
    http=Route("POST", "/projects/{project}/work/tagged-nodes"),
)
