"""The work of a project, rebuilt from its events alone.

Some things follow from the kind of an event: a claim begins at its time with the next number, evidence has the author
and time of its event, and a merged node has no edges.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from tests.machines.work_oracle import DESCRIPTION
from tests.machines.work_rows import EventRow


@dataclass
class RebuiltNode:
    """One rebuilt node."""

    summary: str = ""
    parent: str | None = None
    resolved: bool = False
    outcome: str | None = None
    state: Any = None
    properties: dict[str, Any] = field(default_factory=dict)
    context_links: list[str] = field(default_factory=list)
    evidence: list[dict[str, Any]] = field(default_factory=list)
    merged: list[tuple[str, str, str | None]] = field(default_factory=list)  # as in the rows
    claimed_by: str | None = None
    claimed_at: str | None = None
    claimed_until: str | None = None
    claim_number: int = 0
    rev: int = 0
    created_at: str = ""
    created_by: str = ""
    updated_at: str = ""


class Replay:
    """Nodes and edges by id, after all events so far."""

    rebuilt = RebuiltNode

    def __init__(self, events: Iterable[EventRow]) -> None:
        self.nodes: dict[str, RebuiltNode] = {}
        self.edges: set[tuple[str, str, str]] = set()
        self.merged: dict[str, str] = {}
        self.away: dict[str, tuple[RebuiltNode, set[tuple[str, str, str]]]] = {}  # merged or removed, with their edges
        for event in events:
            slice_, _, action = event.op.partition(".")
            if slice_ == "work":
                self._apply(action, event)

    def _apply(self, action: str, event: EventRow) -> None:
        if action == "created":
            self.nodes[event.subject] = self.rebuilt(created_at=event.at, created_by=event.actor)
        if any(change["field"] in ("merged_into", "deleted") and change["before"] for change in event.changes):
            self._bring_back(event)
        node = self.nodes[event.subject]
        node.rev += 1
        node.updated_at = event.at
        if action == "claimed":
            node.claim_number += 1
            if node.claimed_by is None:
                node.claimed_at = event.at
        for change in event.changes:
            if event.subject not in self.nodes:
                break  # what else its last event says is for those who read its history
            self._change(action, event, change["field"], change["before"], deepcopy(change["after"]))

    def _change(self, action: str, event: EventRow, name: str, before: Any, after: Any) -> None:
        subject = event.subject
        node = self.nodes[subject]
        if action in ("connected", "disconnected"):
            self._reconnect(subject, name, before, after)
        elif name == "merged_into":
            if after is not None:
                self._forget(subject, after)
        elif (action, name) == ("unmerged", "summary"):
            assert node.summary == after
        elif name == "deleted":
            if after:
                self._remove(subject)
        elif name == "depends_on" and action == "created":
            self.edges |= {(subject, name, target) for target in after}
        elif name == "evidence":
            for one in before or ():  # it goes back to a node that was merged, or is a note that is taken back
                node.evidence.remove({key: one[key] for key in ("type", "ref", "agent", "timestamp")})
            for one in after or ():  # author and time are those of the event, unless it comes from elsewhere
                entry = {"agent": event.actor, "timestamp": event.at} | one
                entry.pop("rev", None)
                node.evidence.insert(entry.pop("place", len(node.evidence) + 1) - 1, entry)
        elif name.startswith("properties."):
            self._set_property(node, name.partition(".")[2], before, after)
        elif hasattr(node, name):
            self._set(node, name, before, after)
        elif name != "merged_from":  # on the target of a merge: a moved edge
            assert action in ("merged", "unmerged")
            self._reconnect(subject, name, before, after)

    @staticmethod
    def _set(node: RebuiltNode, name: str, before: Any, after: Any) -> None:
        empty: Any = type(getattr(node, name))() if name in ("summary", "properties", "context_links") else None
        assert getattr(node, name) == (empty if before is None else before)
        setattr(node, name, empty if after is None else after)

    @staticmethod
    def _set_property(node: RebuiltNode, key: str, before: Any, after: Any) -> None:
        assert node.properties.get(key) == before
        node.properties.pop(key, None)
        if after is not None:
            node.properties[key] = after

    def _reconnect(self, subject: str, type_: str, before: str | None, after: str | None) -> None:
        if before is not None and before not in self.merged:  # a merged node has no edges
            self.edges.remove((subject, type_, before))
        if after is not None:
            assert (subject, type_, after) not in self.edges
            self.edges.add((subject, type_, after))

    def _remove(self, subject: str) -> None:
        """Remove a node with its remaining edges."""
        edges = {edge for edge in self.edges if subject in (edge[0], edge[2])}
        self.away[subject] = self.nodes.pop(subject), edges
        self.edges -= edges

    def _bring_back(self, event: EventRow) -> None:
        """Bring back a merged or removed node as it was."""
        node, edges = self.away.pop(event.subject)
        self.nodes[event.subject] = node
        self.edges |= edges
        into = self.merged.pop(event.subject, None)
        if into is not None:
            own = {event.subject, *(text[0] for text in node.merged)}
            self.nodes[into].merged = [text for text in self.nodes[into].merged if text[0] not in own]

    def _forget(self, subject: str, into: str) -> None:
        """Remove a merged node, and keep what it said with the other one."""
        node = self.nodes[subject]
        self._remove(subject)
        self.merged[subject] = into
        heir = self.nodes[into]
        heir.merged = sorted([*heir.merged, *node.merged, (subject, node.summary, node.properties.get(DESCRIPTION))])
