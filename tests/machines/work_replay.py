"""The state of a project's work, rebuilt from its events and from nothing else.

What an event is says some things by itself: whoever claims a node has it from that moment on under the next number,
evidence is of whoever added it then, nobody holds what is resolved, and who was merged away has no edges.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from tests.machines.work_rows import EventRow


@dataclass
class Rebuilt:
    """What is known of one node."""

    summary: str = ""
    parent: str | None = None
    resolved: bool = False
    outcome: str | None = None
    state: Any = None
    properties: dict[str, Any] = field(default_factory=dict)
    context_links: list[str] = field(default_factory=list)
    evidence: list[dict[str, str]] = field(default_factory=list)
    claimed_by: str | None = None
    claimed_at: str | None = None
    claimed_until: str | None = None
    claim_number: int = 0
    rev: int = 0
    created_at: str = ""
    created_by: str = ""
    updated_at: str = ""


class Replay:
    """Nodes and edges by id, as the events told so far have left them."""

    rebuilt = Rebuilt

    def __init__(self, events: Iterable[EventRow]) -> None:
        self.nodes: dict[str, Rebuilt] = {}
        self.edges: set[tuple[str, str, str]] = set()
        self.merged: dict[str, str] = {}
        for event in events:
            slice_, _, action = event.op.partition(".")
            if slice_ == "work":
                self._apply(action, event)

    def _apply(self, action: str, event: EventRow) -> None:
        if action == "created":
            self.nodes[event.subject] = self.rebuilt(created_at=event.at, created_by=event.actor)
        node = self.nodes[event.subject]
        node.rev += 1
        node.updated_at = event.at
        if action == "claimed":
            node.claimed_at = event.at
            node.claim_number += 1
        for change in event.changes:
            self._change(action, event, change["field"], change["before"], deepcopy(change["after"]))

    def _change(self, action: str, event: EventRow, name: str, before: Any, after: Any) -> None:
        subject = event.subject
        node = self.nodes[subject]
        if action in ("connected", "disconnected"):
            self._reconnect(subject, name, before, after)
        elif name == "merged_into":
            self._forget(subject, after)
        elif name == "depends_on" and action == "created":
            self.edges |= {(subject, name, target) for target in after}
        elif name == "evidence" and isinstance(after, list):
            # Who added it and when is what the event itself says, unless it came from elsewhere.
            node.evidence += [{"agent": event.actor, "timestamp": event.at} | one for one in after]
        elif name.startswith("properties."):
            self._set_property(node, name.partition(".")[2], before, after)
        elif hasattr(node, name):
            self._set(node, name, before, after)
        elif name != "merged_from":  # on the target of a merge, an edge that came over
            assert action == "merged"
            self._reconnect(subject, name, before, after)

    @staticmethod
    def _set(node: Rebuilt, name: str, before: Any, after: Any) -> None:
        empty: Any = type(getattr(node, name))() if name in ("summary", "properties", "context_links") else None
        assert getattr(node, name) == (empty if before is None else before)
        setattr(node, name, empty if after is None else after)
        if (name, after) in (("claimed_by", None), ("resolved", True)):
            node.claimed_by = node.claimed_at = node.claimed_until = None

    @staticmethod
    def _set_property(node: Rebuilt, key: str, before: Any, after: Any) -> None:
        assert node.properties.get(key) == before
        node.properties.pop(key, None)
        if after is not None:
            node.properties[key] = after

    def _reconnect(self, subject: str, type_: str, before: str | None, after: str | None) -> None:
        if before is not None and before not in self.merged:  # who was merged away has no edges any more
            self.edges.remove((subject, type_, before))
        if after is not None:
            assert (subject, type_, after) not in self.edges
            self.edges.add((subject, type_, after))

    def _forget(self, subject: str, into: str) -> None:
        """A node that was merged away takes what is left of its edges with it."""
        self.merged[subject] = into
        del self.nodes[subject]
        self.edges = {edge for edge in self.edges if subject not in (edge[0], edge[2])}
