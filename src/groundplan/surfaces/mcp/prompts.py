"""The skills as MCP prompts. Loaded by the first request for prompts, so that the start does not wait for it."""

from __future__ import annotations

from typing import Any

from groundplan.kernel.wording import find_nearest, quote_text
from groundplan.skills import SKILL_NAMES, load_skill
from groundplan.surfaces.mcp.protocol import INVALID_PARAMS, RpcError


class UnknownPrompt(RpcError):
    """No prompt has this name."""

    def __init__(self, name: str, near: str | None) -> None:
        hint = f"; did you mean {near!r}?" if near else ""
        data = {"code": "unknown_prompt"} | ({"near": near} if near else {})
        super().__init__(INVALID_PARAMS, f"no prompt {quote_text(name)}{hint}", data)


def list_prompts() -> list[dict[str, Any]]:
    """Return the MCP description of every prompt. They have no `title`, which the first two revisions do not know."""
    skills = map(load_skill, SKILL_NAMES)
    return [{"name": skill.name, "description": skill.description} for skill in skills]


def get_prompt(name: str) -> dict[str, Any]:
    """Return a prompt as one message of the user.

    Raises:
        UnknownPrompt: there is no such prompt.
    """
    if name not in SKILL_NAMES:
        raise UnknownPrompt(name, find_nearest(name, list(SKILL_NAMES)))
    skill = load_skill(name)
    content = {"type": "text", "text": skill.text}
    return {"description": skill.description, "messages": [{"role": "user", "content": content}]}
