"""A request for every operation that would succeed if whoever sends it may send it.

An operation that serves some requests by becoming another one has a row for each of them, `called as meant`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from groundplan.catalog import OPERATIONS
from groundplan.kernel.operations.registry import Operation
from tests.contracts.placeholders import filled

AnyOperation = Operation[Any, Any]


@dataclass(frozen=True, slots=True)
class Row:
    """An operation that can be called, and the one that such a request is really for."""

    called: AnyOperation
    meant: AnyOperation

    @property
    def name(self) -> str:
        return self.called.name if self.called is self.meant else f"{self.called.name} as {self.meant.name}"


ROWS = {
    row.name: row
    for operation in OPERATIONS
    for row in (Row(operation, operation), *(Row(operation, other) for other in operation.becomes))
}

# {project} stands for the project in question, {node} and {other} for two open nodes in it, {atom} for an atom; dora is
# a member of it whom an owner can do without.
EXAMPLES: dict[str, dict[str, Any]] = {
    "project.list": {},
    "project.create": {"name": "a new one"},
    "project.archive": {"project": "{project}"},
    "project.restore": {"project": "{project}"},
    "member.bootstrap": {"scopeId": "a new one"},
    "member.list": {"scopeId": "{project}"},
    "member.add": {"scopeId": "{project}", "userId": "emil", "role": "viewer"},
    "member.remove": {"scopeId": "{project}", "userId": "dora"},
    "work.open": {"project": "{project}"},
    "work.open as work.projects": {},
    "work.open as work.begin": {"project": "a new one"},
    "work.open as work.configure": {"project": "{project}", "policies": {"claims": "enforced"}},
    "work.plan": {"project": "{project}", "nodes": [{"ref": "a", "summary": "Draw the coast"}]},
    "work.next": {"project": "{project}"},
    "work.next as work.claim": {"project": "{project}", "claim": True},
    "work.claim": {"project": "{project}"},
    "work.context": {"node_id": "{node}"},
    "work.update": {"updates": [{"node_id": "{node}", "state": "begun"}]},
    "work.connect": {"edges": [{"from": "{node}", "to": "{other}", "type": "relates_to"}]},
    "work.query": {"project": "{project}"},
    "work.restructure": {"operations": [{"op": "drop", "node_id": "{node}", "reason": "Nobody walks there"}]},
    "work.history": {"node_id": "{node}"},
    "work.onboard": {},
    "work.onboard as work.onboard.project": {"project": "{project}"},
    "knowledge.create": {
        "entityType": "atom",
        "projectId": "{project}",
        "name": "Hills",
        "createdByTaskId": "{node}",
        "paths": ["hills/**"],
    },
    "knowledge.update": {"entityType": "atom", "id": "{atom}", "version": 1, "knowledge": "Tides matter"},
    "knowledge.append_changelog": {
        "parentType": "atom",
        "parentId": "{atom}",
        "taskId": "{node}",
        "summary": "Walked it once more",
    },
    "knowledge.context": {"projectId": "{project}", "paths": "coast/north.md"},
    "knowledge.get": {"entityType": "atom", "id": "{atom}"},
    "knowledge.search": {"entityType": "atom", "projectId": "{project}"},
    "knowledge.search_changelog": {"parentType": "atom", "parentId": "{atom}"},
    "knowledge.list": {"projectId": "{project}"},
    "knowledge.record_check": {
        "projectId": "{project}",
        "commit": "0123abc",
        "atoms": [{"id": "{atom}", "version": 1, "freshness": "unanchored"}],
    },
    "knowledge.delete": {"entityType": "atom", "id": "{atom}", "version": 1},
}


def example(row: str, names: Mapping[str, str]) -> dict[str, Any]:
    """The request, with these names in the place of the placeholders."""
    request: dict[str, Any] = filled(EXAMPLES[row], names)
    return request
