"""The options that every command has, and the invocation that a command gets from them.

They may come before, between or after the words of a command; the last one wins.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, get_args

import typer
from typer.models import OptionInfo

from groundplan.configuration import Flags, Settings
from groundplan.kernel.answers import encode
from groundplan.session import Session
from groundplan.surfaces.cli.command_settings import load_command_settings
from groundplan.surfaces.cli.failures import print_warning, write_line
from groundplan.surfaces.cli.missing_plan import FileMissing, NoPlanHere, choose_project, refuse_missing
from groundplan.surfaces.cli.screen.control_chars import escape_control_chars
from groundplan.surfaces.cli.short.words.table import AGENT_HELP, PERSON_HELP

PANEL = "Common options"
_META = "groundplan.flags"
PROJECT = "project"  # the parameter that a command need not give where the project is known


@dataclass(slots=True)
class CommandResult:
    """The result of a command: data for `--json`, and a function that prints it for people."""

    data: Any
    draw: Callable[[], None]
    as_json: bool = False
    exit_code: int = 0
    encoded: bytes | None = None  # the data as JSON, if it was encoded already


@dataclass(slots=True)
class Invocation:
    """One run of one command."""

    flags: Flags
    as_json: bool
    _settings: Settings | None = field(default=None)

    @property
    def settings(self) -> Settings:
        """The settings from file, environment and flags, loaded on first use: not every command needs them."""
        if self._settings is None:
            self._settings = load_command_settings(self.flags)
        return self._settings

    def find_project(self) -> str:
        """Return the project of a command that names none: the configured one, else the only one of the plan."""
        return choose_project(self._list_project_names())

    def suggest_project(self) -> str | None:
        """Return the same project for a command that needs none; None if there is no such project."""
        try:
            names = self._list_project_names()
        except (FileMissing, NoPlanHere):  # the command itself may create it, or says what is missing
            return None
        return names[0] if len(names) == 1 else None

    def _list_project_names(self) -> list[str]:
        """Return the configured project, else the names of all."""
        if self.settings.project is not None:
            return [self.settings.project]
        with self.session(reads_only=True) as session:
            return [project.name for project in session.call("project.list").projects]

    @contextmanager
    def session(self, *, reads_only: bool = False, limit_s: float | None = None) -> Iterator[Session]:
        """Open a session on the configured store, for the user of this command.

        `limit_s` is the limit of a write in place of the configured one.
        """
        from groundplan.catalog import OPERATIONS, build_schema
        from groundplan.kernel.store.open_store import open_store
        from groundplan.repository.git import WorkingCopy
        from groundplan.surfaces.cli.cancellation import CommandSession
        from groundplan.surfaces.vocabularies import CliVocabulary

        settings = self.settings
        is_new = refuse_missing(settings, reads_only=reads_only)
        actor = settings.build_actor()
        preferences = settings.preferences(CliVocabulary(OPERATIONS), working_copy=WorkingCopy())
        with CommandSession(open_store(settings.db, build_schema), actor, preferences=preferences) as session:
            session.limit_s = limit_s
            session.warn = print_warning
            if is_new and not self.as_json:
                with suppress(OSError):  # stderr is closed
                    write_line(sys.stderr, f"created {escape_control_chars(settings.db)}")
            yield session


CommandFunction = Callable[..., CommandResult]

_COMMON_OPTIONS: dict[str, tuple[Any, Any]] = {
    "db": (
        str | None,
        typer.Option(
            "--db",
            metavar="PATH|URL",
            help="A file, or a postgresql:// URL. Default: GROUNDPLAN_DB, else the plan here or above.",
            rich_help_panel=PANEL,
        ),
    ),
    "org": (
        str | None,
        typer.Option(
            "--org",
            metavar="ID",
            help="The organization. Default: GROUNDPLAN_ORG, else local.",
            rich_help_panel=PANEL,
        ),
    ),
    "agent": (
        str | None,
        typer.Option(
            "--agent",
            metavar="NAME",
            help=AGENT_HELP,
            rich_help_panel=PANEL,
        ),
    ),
    "person": (str | None, typer.Option("--person", metavar="[NAME]", help=PERSON_HELP, rich_help_panel=PANEL)),
    "access": (
        Literal["open", "members"] | None,
        typer.Option(
            "--access",
            help="open: act as owner everywhere; members: the stored roles decide.",
            rich_help_panel=PANEL,
        ),
    ),
    "config": (
        str | None,
        typer.Option(
            "--config",
            metavar="FILE",
            help="Configuration file. Default: the nearest groundplan.yaml, here or above.",
            rich_help_panel=PANEL,
        ),
    ),
    "json": (
        bool,
        typer.Option("--json", metavar="", help="Print the answer as one line of JSON.", rich_help_panel=PANEL),
    ),
}


_VERSION = inspect.Parameter(
    "version",
    inspect.Parameter.KEYWORD_ONLY,
    default=False,
    annotation=Annotated[bool, typer.Option("--version", "-V", metavar="", help="Print the version.")],
)


def with_common_options(command: CommandFunction, own: list[inspect.Parameter] | None = None) -> Callable[..., Any]:
    """Return a function for typer that takes the common options too, and calls the command with an Invocation.

    `own` are the parameters of a generated command; those of a written one are read from its signature.
    """
    if own is None:
        own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
    taken = _COMMON_OPTIONS.keys() & {parameter.name for parameter in own}
    if taken:
        raise ValueError(f"{command.__name__} redefines the common options {sorted(taken)}")

    own, is_project_implied = _imply_project(own)

    def run_command(ctx: typer.Context, **values: Any) -> CommandResult:
        invocation = merge_common_options(ctx, values)
        if is_project_implied and values[PROJECT] is None:
            values[PROJECT] = invocation.find_project()
        outcome = command(invocation, **{name: values[name] for name in values if name not in _COMMON_OPTIONS})
        outcome.as_json = invocation.as_json
        return outcome

    return _set_signature(run_command, own, command.__doc__, name=command.__name__)


def _imply_project(own: list[inspect.Parameter]) -> tuple[list[inspect.Parameter], bool]:
    """Return the parameters with a required project as one that need not be given, and whether there is one."""
    at = next((n for n, one in enumerate(own) if one.name == PROJECT and _is_required_option(one)), None)
    if at is None:
        return own, False
    kind, *details = get_args(own[at].annotation)
    optional = own[at].replace(default=None, annotation=Annotated[kind | None, *details])
    return [*own[:at], optional, *own[at + 1 :]], True


def _is_required_option(parameter: inspect.Parameter) -> bool:
    """Return whether a parameter is a required option. A project as an argument is what the command is about."""
    is_option = any(isinstance(detail, OptionInfo) for detail in get_args(parameter.annotation))
    return is_option and parameter.default is inspect.Parameter.empty


def make_group_callback(description: str, *, has_version: bool = False) -> Callable[..., None]:
    """Return the callback of a command group: it keeps the common options, and prints the help without a command."""
    own = [_VERSION] if has_version else []

    def keep_options(ctx: typer.Context, **values: Any) -> None:
        invocation = merge_common_options(ctx, values)
        if values.get(_VERSION.name):
            from groundplan.surfaces.cli.setup.versions import collect_versions, format_versions

            typer.echo(encode(collect_versions()).decode() if invocation.as_json else format_versions())
            raise typer.Exit
        if ctx.invoked_subcommand is None:
            if text := ctx.get_help():
                typer.echo(text)
            raise typer.Exit

    return _set_signature(keep_options, own, description, hidden=True)


def merge_common_options(ctx: typer.Context, values: dict[str, Any]) -> Invocation:
    """Merge the common options at this word with those given before it."""
    seen: dict[str, Any] = ctx.meta.setdefault(_META, {})
    seen.update({name: values[name] for name in _COMMON_OPTIONS if values.get(name)})
    # An empty text is a given value: it is kept, so that it is refused with a reason.
    seen.update({name: "" for name in _COMMON_OPTIONS if values.get(name) == ""})
    flags = Flags(**{name: seen.get(name) for name in ("db", "agent", "person", "access", "config", "org")})
    return Invocation(flags, as_json=bool(seen.get("json")))


def _set_signature(
    function: Callable[..., Any],
    own: list[inspect.Parameter],
    doc: str | None,
    *,
    name: str = "",
    hidden: bool = False,
) -> Callable[..., Any]:
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter("ctx", keyword, annotation=typer.Context),
        *(parameter.replace(kind=keyword) for parameter in own),
        *(_make_common_parameter(option, hidden=hidden) for option in _COMMON_OPTIONS),
    ]
    function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined] # read by inspect.signature
    function.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    function.__doc__ = doc
    function.__name__ = name
    return function


def _make_common_parameter(name: str, *, hidden: bool) -> inspect.Parameter:
    kind, option = _COMMON_OPTIONS[name]
    shown = copy(option)
    shown.hidden = hidden  # shown in the help of commands, not of groups
    default = False if kind is bool else None
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, shown])
