"""Examples of organizations, invitations, projects, members, tokens and events."""

from __future__ import annotations

from typing import Any

FIRST: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "organizations": [("organization.add_member", {"name": "ben"}), ("token.create", {"kind": "person"})],
    "members": [("project.create", {"name": "atlas"})],
    "tokens": [("project.create", {"name": "atlas"})],
    "events": [("project.create", {"name": "atlas"})],
}

NODES = {"token": "k3v9xq7m2d", "invitation": "p6w2hn8r4c"}
MADE_AS = {"scout": "token", "ada@example.org": "invitation"}

EXAMPLES: dict[str, dict[str, Any]] = {
    "organization.view": {},
    "organization.configure": {"project_creators": "owners", "allowed_domains": ["example.org"]},
    "organization.members": {"limit": 50},
    "organization.add_member": {"name": "ada@example.org", "role": "administrator"},
    "organization.remove_member": {"name": "ben"},
    "organization.leave": {},
    "organization.unlink_account": {"name": "ada@example.org"},
    "organization.events": {"limit": 20},
    "invitation.list": {"ended": True},
    "invitation.revoke": {"id": "{invitation}"},
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
