"""What the reference pages say that the code does not: a sentence for every argument, an example for every operation.

Descriptions in the schemas would be paid for in every conversation, so they stand here. The tests run every example
through each surface that reaches the operation, page by page, in the order in which they stand on the page.
"""

from __future__ import annotations

from typing import Any

# By the name on the wire; `operation/argument` where one operation means something else by it.
ARGUMENTS = {
    "archived": "Archived projects too.",
    "createDraftRun": "Begin the first run too. Refused in this version, which has no runs yet.",
    "cursor": "`nextCursor` of the page before.",
    "goal": "What the project is for, in a sentence or a page.",
    "kind": "What sort of actor it is. Counts when the name is new here.",
    "limit": "How many at most; all of them without it.",
    "name": "What it is called; unique in the organization.",
    "member.bootstrap/name": "What the scope is for: the goal of its project.",
    "op_id": "An id of your own for this request. Sent again with the same request it has one effect and one answer.",
    "project": "The project, by id or by name.",
    "role": "What they may do there: see [access](access.md).",
    "scopeId": "The project, by id or by name.",
    "member.bootstrap/scopeId": "The name of the project to make.",
    "userId": "Who: the id or the name of a member, or a name that is new here.",
}

# How each page's examples begin, in an empty database.
FIRST: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "members": [("project.create", {"name": "atlas"})],
}

EXAMPLES: dict[str, dict[str, Any]] = {
    "project.list": {"archived": True},
    "project.create": {"name": "atlas", "goal": "A map that every walker trusts"},
    "project.archive": {"project": "atlas"},
    "project.restore": {"project": "atlas"},
    "member.bootstrap": {"scopeId": "borealis", "name": "Light for the long night"},
    "member.list": {"scopeId": "atlas"},
    "member.add": {"scopeId": "atlas", "userId": "ben", "role": "editor"},
    "member.remove": {"scopeId": "atlas", "userId": "ben"},
}

SETTINGS = {
    "db": "The store: a file, or the `postgresql://` URL of a database.",
    "agent": "Who acts. The command line takes your user name and the MCP server a name of its own if nobody says.",
    "access": "`open` trusts whoever can open the store; `members` lets the stored roles decide.",
    "tools": "The groups of tools that the MCP server offers.",
    "claim_ttl_minutes": "How long a claim on a work node holds.",
    "config_file": "The configuration file itself.",
}

# An example of each command that is no operation.
COMMANDS = {
    "init": "groundplan init plan.db",
    "doctor": "groundplan doctor --db plan.db",
    "demo": "groundplan demo --db demo.db",
    "mcp": "groundplan mcp --help",
}
