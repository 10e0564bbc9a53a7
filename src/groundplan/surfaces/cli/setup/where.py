"""`groundplan where`: what is in force, and why; and the versions of the program and its engines."""

from __future__ import annotations

import platform
import sqlite3
from typing import Any, NamedTuple

from groundplan import __version__
from groundplan.configuration import SETTINGS, Settings
from groundplan.discovery import DB_NAME, find_plans
from groundplan.kernel.answers import encode
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.store.open_store import strip_password
from groundplan.surfaces.cli.drawing import Lines, Rows, View
from groundplan.surfaces.cli.invocation import CommandResult, Invocation
from groundplan.surfaces.cli.missing_plan import MISSING, find_lack
from groundplan.surfaces.cli.steps import Step, join_steps
from groundplan.surfaces.cli.terminal import format_value


def collect_versions() -> dict[str, str]:
    """Return the version of the program, of Python and of each engine that is installed."""
    found = {"version": __version__, "python": platform.python_version(), "sqlite": sqlite3.sqlite_version}
    try:
        import psycopg
    except ImportError:  # installed with groundplan[postgres]
        return found
    return {**found, "psycopg": psycopg.__version__, "libpq": _format_libpq(psycopg.pq.version())}


def format_versions() -> str:
    """Return the versions as lines; the first one is only about the program, for scripts."""
    found = collect_versions()
    postgres = f"psycopg {found['psycopg']} with libpq {found['libpq']}" if "psycopg" in found else "no psycopg"
    return f"groundplan {found['version']}\nPython {found['python']}, SQLite {found['sqlite']}, {postgres}"


def print_versions(*, as_json: bool) -> None:
    """Print the versions for a person or a program."""
    print(encode(collect_versions()).decode() if as_json else format_versions())


def _format_libpq(number: int) -> str:
    """Return 160004 as 16.4."""
    return f"{number // 10_000}.{number % 10_000}"


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
    shown = {"db", "org", "project", "agent", "person", "access"}
    others = [name for name, row in SETTINGS.items() if name in settings.sources.keys() - shown and not row.is_secret]
    parts += [SettingInForce(name, format_value(getattr(settings, name)), settings.sources[name]) for name in others]
    # The nearest plan wins, and a worktree uses that of the main working copy. Another one is easily taken for it.
    found = [plan.config_file or plan.db or "" for plan in find_plans()]
    unused = [path for path in found if path not in (settings.config_file, settings.db)]
    data: dict[str, Any] = {part.name: {"value": part.value, "source": part.source} for part in parts}
    if unused:
        data["not_used"] = unused

    view = View(
        Rows("parts", "name, value, because: source"),
        Lines("unused", lambda path: f"not used here: {path}"),
    )
    return join_steps(Step(data, view.list_parts({"parts": parts, "unused": unused})))


def _describe_db(settings: Settings) -> SettingInForce:
    source = settings.sources.get("db")
    if source is None and find_lack(settings.db) == MISSING:
        return SettingInForce("database", None, "no plan here or above")
    return SettingInForce("database", strip_password(settings.db), source or f"{DB_NAME}, found here or above")


def _describe_project(invocation: Invocation) -> SettingInForce:
    source = invocation.settings.sources.get("project")
    if source is not None:
        return SettingInForce("project", invocation.settings.project, source)
    try:
        return SettingInForce("project", invocation.find_project(), "the only project of the plan")
    except GroundplanError as error:
        return SettingInForce("project", None, error.message)
