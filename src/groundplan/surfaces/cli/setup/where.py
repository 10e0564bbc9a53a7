"""`groundplan where`: which database, organization, project and actor are in force, and why."""

from __future__ import annotations

from typing import Any, NamedTuple

from groundplan.configuration import Settings
from groundplan.discovery import find_plans
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.store.open_store import strip_password
from groundplan.surfaces.cli.invocation import CommandResult, Invocation


class SettingInForce(NamedTuple):
    """A value that is in force, and where it comes from."""

    name: str
    value: str | None
    source: str


def where(invocation: Invocation) -> CommandResult:
    """Show which database, organization, project and actor are in force here, and why."""
    settings = invocation.settings
    who = settings.identity
    parts = [
        _describe_db(settings),
        SettingInForce("organization", settings.org, settings.sources.get("org", "default")),
        _describe_project(invocation),
        SettingInForce("actor", who.name, who.source),
        SettingInForce("kind", who.kind, "what the name is, unless it has acted as another kind"),
        SettingInForce("access", settings.access, settings.sources.get("access", "default")),
        SettingInForce(
            "configuration", settings.config_file, "found" if settings.config_file else "no file here or above"
        ),
    ]
    # The nearest plan wins, and a worktree uses that of the main working copy. Another one is easily taken for it.
    found = [plan.config_file or plan.db or "" for plan in find_plans()]
    others = [path for path in found if path not in (settings.config_file, settings.db)]
    data: dict[str, Any] = {part.name: {"value": part.value, "source": part.source} for part in parts}
    if others:
        data["not_used"] = others

    def draw() -> None:
        from groundplan.surfaces.cli.drawing import Lines, Rows, View

        View(
            Rows("parts", "name, value, because: source"),
            Lines("others", lambda path: f"not used here: {path}"),
        )({"parts": parts, "others": others})

    return CommandResult(data, draw)


def _describe_db(settings: Settings) -> SettingInForce:
    found = "groundplan.db, found here or above"
    return SettingInForce("database", strip_password(settings.db), settings.sources.get("db", found))


def _describe_project(invocation: Invocation) -> SettingInForce:
    source = invocation.settings.sources.get("project")
    if source is not None:
        return SettingInForce("project", invocation.settings.project, source)
    try:
        return SettingInForce("project", invocation.find_project(), "the only project of the plan")
    except GroundplanError as error:
        return SettingInForce("project", None, error.message)
