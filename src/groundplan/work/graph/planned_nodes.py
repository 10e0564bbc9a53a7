"""The nodes of a plan: as they are given, those that exist already, and those that are being created."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from groundplan.kernel.links import LinkType
from groundplan.work.links.targets import Pointers, PurposeKeys
from groundplan.work.requests import Links, NodeRef, Summary


class PlanNode(Struct, forbid_unknown_fields=True):
    """A node to create. `parent_ref` and `depends_on` name refs of the same plan, in any order, or existing nodes."""

    ref: NodeRef
    summary: Summary
    parent_ref: NodeRef | None = None
    depends_on: list[NodeRef] = []
    context_links: Links = []
    properties: dict[str, Any] = {}
    serves: PurposeKeys = []
    rests_on: Pointers = []


class TaggedPlanNode(PlanNode, forbid_unknown_fields=True):
    """A node to create, with tags. Tools do not have them, because every conversation pays for their parameters."""

    tags: list[str] = []


class ExistingNode(Struct):
    """A stored node that the plan refers to."""

    project_id: str
    id: str
    n: int
    kind: str | None
    feature_n: int | None
    depth: int
    resolved: bool
    blocked_above: int
    waits: bool
    order_key: str | None


class NewNode(Struct):
    """A node that is being created."""

    request: PlanNode
    index: int
    n: int
    id: str
    properties: dict[str, Any]
    links: list[str]
    parent: NewNode | ExistingNode
    served: dict[LinkType, list[str]]  # the targets of its links
    tags: list[str] = field(default_factory=list)
    targets: list[NewNode | ExistingNode] = field(default_factory=list)
    depth: int = 0
    feature_n: int | None = None
    open_children: int = 0
    open_deps: int = 0
    blocked_above: int = 0
    kind: str | None = None
    order_key: str | None = None

    @property
    def waits(self) -> bool:
        return self.open_deps > 0

    @property
    def is_ready(self) -> bool:
        return not (self.open_children or self.open_deps or self.blocked_above)
