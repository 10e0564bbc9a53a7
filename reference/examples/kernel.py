"""Examples of projects, members, tokens and events."""

from __future__ import annotations

from typing import Any

FIRST: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "members": [("project.create", {"name": "atlas"})],
    "tokens": [("project.create", {"name": "atlas"})],
    "events": [("project.create", {"name": "atlas"})],
}

NODES = {"token": "k3v9xq7m2d"}
MADE_AS = {"scout": "token"}

EXAMPLES: dict[str, dict[str, Any]] = {
    "project.list": {"archived": True},
    "project.create": {"name": "atlas", "goal": "A map that every walker trusts"},
    "project.archive": {"project": "atlas"},
    "project.restore": {"project": "atlas"},
    "member.bootstrap": {"scopeId": "borealis", "name": "Light for the long night", "createDraftRun": True},
    "member.list": {"scopeId": "atlas"},
    "member.add": {"scopeId": "atlas", "userId": "ben", "role": "editor"},
    "member.remove": {"scopeId": "atlas", "userId": "ben"},
    "token.create": {"kind": "agent", "name": "scout", "role": "viewer", "projects": ["atlas"], "expires": "30d"},
    "token.list": {"ended": True},
    "token.revoke": {"id": "{token}"},
    "event.list": {"project": "atlas", "op": "member", "limit": 2},
}
