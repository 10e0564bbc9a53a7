"""A request for every operation that would succeed if whoever sends it may send it."""

from __future__ import annotations

from typing import Any

# {project} stands for the project in question; dora is a member of it whom an owner can do without.
EXAMPLES: dict[str, dict[str, Any]] = {
    "project.list": {},
    "project.create": {"name": "a new one"},
    "project.archive": {"project": "{project}"},
    "project.restore": {"project": "{project}"},
    "member.bootstrap": {"scopeId": "a new one"},
    "member.list": {"scopeId": "{project}"},
    "member.add": {"scopeId": "{project}", "userId": "emil", "role": "viewer"},
    "member.remove": {"scopeId": "{project}", "userId": "dora"},
}


def example(operation: str, project: str) -> dict[str, Any]:
    """The request, about this project."""
    return {
        key: value.replace("{project}", project) if isinstance(value, str) else value
        for key, value in EXAMPLES[operation].items()
    }
