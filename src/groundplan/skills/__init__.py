"""The skills: files that tell an agent how to work with the plan, one folder for each."""

from __future__ import annotations

from importlib.resources import files

SKILL_NAMES = ("groundplan-discovery", "groundplan-planning", "groundplan-execution")
SKILL_FILE = "SKILL.md"


def read_skill(name: str) -> str:
    """Return the text of one packaged skill."""
    return files(__name__).joinpath(name, SKILL_FILE).read_text(encoding="utf-8")
