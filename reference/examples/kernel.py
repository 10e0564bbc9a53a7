"""Examples of projects and members."""

from __future__ import annotations

from typing import Any

FIRST: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "members": [("project.create", {"name": "atlas"})],
}

EXAMPLES: dict[str, dict[str, Any]] = {
    "project.list": {"archived": True},
    "project.create": {"name": "atlas", "goal": "A map that every walker trusts"},
    "project.archive": {"project": "atlas"},
    "project.restore": {"project": "atlas"},
    "member.bootstrap": {"scopeId": "borealis", "name": "Light for the long night", "createDraftRun": True},
    "member.list": {"scopeId": "atlas"},
    "member.add": {"scopeId": "atlas", "userId": "ben", "role": "editor"},
    "member.remove": {"scopeId": "atlas", "userId": "ben"},
}
