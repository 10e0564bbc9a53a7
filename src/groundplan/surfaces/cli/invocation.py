"""The options that every command has, and what a command does with them.

They may stand before the words, between them or after them; the one that stands last wins.
"""

from __future__ import annotations

import inspect
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from groundplan.configuration import Flags, Settings, get_user_name, load_settings
from groundplan.kernel.actors import ActorKind
from groundplan.kernel.errors import Unavailable
from groundplan.kernel.wording import quote_text
from groundplan.session import Session
from groundplan.surfaces.cli.failures import escape_control_chars, write_line

PANEL = "Common options"
_META = "groundplan.flags"


class FileMissing(Unavailable):
    """The file to read from is not there. A typo must not leave an empty plan behind, so none is made."""

    code = "store_missing"

    def __init__(self, db: str) -> None:
        super().__init__(
            f"there is no file {quote_text(db)}; "
            f"groundplan init --db {shlex.quote(db)} makes it, or name the right one",
            file=db,
        )


@dataclass(slots=True)
class CommandResult:
    """What a command has to say: as data for `--json`, and drawn for people."""

    data: Any
    draw: Callable[[], None]
    as_json: bool = False
    exit_code: int = 0


@dataclass(slots=True)
class Invocation:
    """One run of one command."""

    flags: Flags
    as_json: bool
    _settings: Settings | None = field(default=None)

    @property
    def settings(self) -> Settings:
        """What file, environment and flags come to. Read when first asked for: not every command needs it."""
        if self._settings is None:
            self._settings = load_settings(self.flags)
        return self._settings

    @contextmanager
    def session(self, *, reads_only: bool = False) -> Iterator[Session]:
        """The configured store, used by whoever runs this command.

        Raises:
            FileMissing: the command only reads, and there is nothing to read from.
        """
        from groundplan.catalog import OPERATIONS, build_schema
        from groundplan.kernel.store.open_store import open_store
        from groundplan.surfaces.vocabularies import CliVocabulary

        settings = self.settings
        is_new = _is_missing(settings.db)
        if is_new and reads_only:
            raise FileMissing(settings.db)
        actor = settings.actor(get_user_name, ActorKind.PERSON)
        preferences = settings.preferences(CliVocabulary(OPERATIONS))
        with Session(open_store(settings.db, build_schema), actor, preferences=preferences) as session:
            if is_new and not self.as_json:
                with suppress(OSError):  # nobody reads stderr any more
                    write_line(sys.stderr, f"made {escape_control_chars(settings.db)}")
            yield session


def _is_missing(db: str) -> bool:
    """Whether a file of this name could be made; where even its folder is missing, opening it says so."""
    from groundplan.kernel.store.open_store import is_postgres

    if is_postgres(db):
        return False
    try:
        return not Path(db).exists() and Path(db).parent.is_dir()
    except OSError:  # out of reach; opening it says why
        return False


CommandFunction = Callable[..., CommandResult]

_COMMON_OPTIONS: dict[str, tuple[Any, Any]] = {
    "db": (
        str | None,
        typer.Option(
            "--db",
            metavar="PATH|URL",
            help="A file, or a postgresql:// URL. Default: GROUNDPLAN_DB, else groundplan.db.",
            rich_help_panel=PANEL,
        ),
    ),
    "agent": (
        str | None,
        typer.Option(
            "--agent",
            metavar="NAME",
            help="Who acts. Default: GROUNDPLAN_AGENT, else your user name.",
            rich_help_panel=PANEL,
        ),
    ),
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
            help="Configuration file. Default: groundplan.yaml here, where there is one.",
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
    """A function for typer that takes the common options beside the command's own and calls it with an Invocation.

    `own` are the parameters of a command that is made from data; those of a written one are read from it.
    """
    if own is None:
        own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
    taken = _COMMON_OPTIONS.keys() & {parameter.name for parameter in own}
    if taken:
        raise ValueError(f"{command.__name__} has options of its own named {sorted(taken)}, which every command has")

    def called(ctx: typer.Context, **values: Any) -> CommandResult:
        invocation = merge_common_options(ctx, values)
        outcome = command(invocation, **{name: values[name] for name in values if name not in _COMMON_OPTIONS})
        outcome.as_json = invocation.as_json
        return outcome

    return _set_signature(called, own, command.__doc__, name=command.__name__)


def group_callback(description: str, *, version: str | None = None) -> Callable[..., None]:
    """For an app with commands below it: keeps the common options for them, and alone prints its help."""
    own = [] if version is None else [_VERSION]

    def called(ctx: typer.Context, **values: Any) -> None:
        invocation = merge_common_options(ctx, values)
        if values.get(_VERSION.name):
            typer.echo(f'{{"version":"{version}"}}' if invocation.as_json else f"groundplan {version}")
            raise typer.Exit
        if ctx.invoked_subcommand is None:
            if text := ctx.get_help():
                typer.echo(text)
            raise typer.Exit

    return _set_signature(called, own, description, hidden=True)


def merge_common_options(ctx: typer.Context, values: dict[str, Any]) -> Invocation:
    """Add what was given at this word to what was given before it."""
    seen: dict[str, Any] = ctx.meta.setdefault(_META, {})
    seen.update({name: values[name] for name in _COMMON_OPTIONS if values.get(name)})
    # An empty text is not the same as none: it was given, and will be refused with a reason.
    seen.update({name: "" for name in _COMMON_OPTIONS if values.get(name) == ""})
    flags = Flags(**{name: seen.get(name) for name in ("db", "agent", "access", "config")})
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
        *(_common_parameter(option, hidden=hidden) for option in _COMMON_OPTIONS),
    ]
    function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined] # read by inspect.signature
    function.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    function.__doc__ = doc
    function.__name__ = name
    return function


def _common_parameter(name: str, *, hidden: bool) -> inspect.Parameter:
    kind, option = _COMMON_OPTIONS[name]
    shown = copy(option)
    shown.hidden = hidden  # the help of a group is about its commands; theirs show the options
    default = False if kind is bool else None
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, shown])
