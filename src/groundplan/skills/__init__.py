"""The skills: texts that tell an agent how to work with the plan. MCP serves them as prompts, `init` installs them."""

from __future__ import annotations

from importlib.resources import files
from typing import NamedTuple

SKILL_NAMES = (
    "groundplan-discovery",
    "groundplan-planning",
    "groundplan-execution",
    "groundplan-facts",
    "groundplan-theory-of-change",
)
SKILL_FILE = "SKILL.md"

_FENCE = "---\n"
_DESCRIPTION = "description: "


class Skill(NamedTuple):
    """A skill: when to use it, and what to do."""

    name: str
    description: str
    text: str


def read_skill(name: str) -> str:
    """Return the file of one packaged skill, with its front matter."""
    return files(__name__).joinpath(name, SKILL_FILE).read_text(encoding="utf-8")


def load_skill(name: str) -> Skill:
    """Return one packaged skill. Its front matter has one line for each field, so that no YAML library is needed."""
    _, front, text = read_skill(name).split(_FENCE, 2)
    (description,) = (line for line in front.splitlines() if line.startswith(_DESCRIPTION))
    return Skill(name, description.removeprefix(_DESCRIPTION), text.lstrip("\n"))
