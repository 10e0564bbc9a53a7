"""Skills: how an agent works with the plan, as files that agents find by themselves; a folder for each."""

from __future__ import annotations

from importlib.resources import files

SKILL_NAMES = ("groundplan-discovery", "groundplan-planning", "groundplan-execution")
SKILL_FILE = "SKILL.md"


def read_skill(name: str) -> str:
    """The text of one skill, as it comes with the package."""
    return files(__name__).joinpath(name, SKILL_FILE).read_text(encoding="utf-8")
