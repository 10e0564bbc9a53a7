"""The skills: texts that tell an agent how to use the plan. MCP serves them as prompts, and `init` installs them."""

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
    """A skill: its name, the description of its use, and its instructions."""

    name: str
    description: str
    text: str


def read_skill(name: str) -> str:
    """Return the file of one packaged skill, with its front matter."""
    return files(__name__).joinpath(name, SKILL_FILE).read_text(encoding="utf-8")


def load_skill(name: str) -> Skill:
    """Return one packaged skill. Its front matter has one line per field, so that it is read without a YAML library."""
    _, front, text = read_skill(name).split(_FENCE, 2)
    (description,) = (line for line in front.splitlines() if line.startswith(_DESCRIPTION))
    return Skill(name, description.removeprefix(_DESCRIPTION), text.lstrip("\n"))
