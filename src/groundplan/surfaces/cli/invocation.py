"""One run of one command: its settings, its project, its calls of operations, and the task that was named last."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from groundplan.catalog import OPERATIONS, build_schema
from groundplan.configuration import Flags, Settings, load_settings
from groundplan.kernel.answers import encode
from groundplan.kernel.cancellation import NO_LIMIT_S, Cancellation
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.input_gate.strict_json import validate_value
from groundplan.kernel.operations.envelopes import wrap
from groundplan.kernel.operations.execute import ExecutionResult
from groundplan.kernel.operations.registry import Effect, Operation
from groundplan.kernel.store.open_store import open_store
from groundplan.session import Session
from groundplan.surfaces.cli.command_settings import load_command_settings
from groundplan.surfaces.cli.failures import UsageError, print_warning, write_line
from groundplan.surfaces.cli.last_id import recall, remember
from groundplan.surfaces.cli.missing_plan import FileMissing, NoPlanHere, choose_project, refuse_missing
from groundplan.surfaces.cli.screen.progress import show_progress
from groundplan.surfaces.cli.screen.text import escape_control_chars
from groundplan.surfaces.stop_signals import cancel_on_signals

if TYPE_CHECKING:
    from groundplan.kernel.actors import Actor
    from groundplan.kernel.errors import Vocabulary
    from groundplan.kernel.store.store import Store
    from groundplan.surfaces.cli.command_line import Line
    from groundplan.work.graph.outline import OutlineNode

PROJECT = "project"  # the parameter that a command need not give where the project is known
LAST = "-"  # stands for the last task


class CommandResult:
    """The result of a command: data for `--json`, and a function that prints it for people.

    `encoded` is the data as JSON, if it was encoded already; `last` the task that `-` stands for from now on; `follow`
    reads again, for `--watch`.
    """

    __slots__ = ("data", "draw", "encoded", "exit_code", "follow", "last")

    def __init__(
        self,
        data: Any,
        draw: Callable[[], None],
        exit_code: int = 0,
        *,
        encoded: bytes | None = None,
        last: str | None = None,
        follow: Callable[[], CommandResult] | None = None,
    ) -> None:
        self.data, self.draw, self.exit_code = data, draw, exit_code
        self.encoded, self.last, self.follow = encoded, last, follow


class CommandSession(Session):
    """The session of a command. A terminal shows the progress of its operations.

    Signals cancel them, and reads have no limit: somebody can press Ctrl-C.
    """

    limit_s: float | None = None  # of a write; None: as configured
    is_quiet: bool = False

    def execute(
        self,
        operation: Operation[Any, Any],
        arguments: Any,
        cancellation: Cancellation | None = None,
        warnings: Sequence[str] = (),
    ) -> ExecutionResult:
        """As `Session.execute`."""
        limit_s = NO_LIMIT_S if operation.effect is Effect.READ and self.limit_s is None else self.limit_s
        activity = operation.name.replace(".", " ").replace("_", " ")
        try:
            with cancel_on_signals(limit_s) as by_signal, show_progress(activity, as_json=self.is_quiet):
                return super().execute(operation, arguments, cancellation or by_signal, warnings)
        except GroundplanError as error:
            error.has_contract_name = operation.uses_fact_error_names
            raise


class Invocation:
    """One run of one command."""

    def __init__(
        self,
        flags: Flags,
        *,
        as_json: bool,
        vocabulary: Vocabulary,
        project: str | None = None,
        settings: Settings | None = None,
    ) -> None:
        self.flags, self.as_json = flags, as_json
        self.named_project = project  # of --project
        self._vocabulary = vocabulary
        self._settings = settings
        self._session: CommandSession | None = None
        self._opened = ExitStack()
        self.answers: list[bytes] = []  # as JSON, of the calls that the command stands for

    def within(self, config_file: str) -> Invocation:
        """Return an invocation with another configuration."""
        flags = self.flags._replace(config=config_file)
        settings = load_settings(flags)  # a person has been confirmed by now
        return Invocation(flags, as_json=self.as_json, vocabulary=self._vocabulary, settings=settings)

    def __enter__(self) -> Invocation:
        return self

    def __exit__(self, *_raised: object) -> None:
        self._opened.close()

    @property
    def settings(self) -> Settings:
        """The settings from file, environment and flags, loaded on first use: not every command needs them."""
        if self._settings is None:
            self._settings = load_command_settings(self.flags)
        return self._settings

    @property
    def actor(self) -> Actor | None:
        """The user of this command."""
        return self.settings.build_actor()

    # --- The project ------------------------------------------------------------------------------------------------

    @property
    def project(self) -> str:
        """The project of the command: the named one, else as `find_project`."""
        if self.named_project is None:
            self.named_project = self.find_project()
        return self.named_project

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
        return [project.name for project in self.read("project.list").projects]

    # --- Calls ------------------------------------------------------------------------------------------------------

    @contextmanager
    def session(self, *, reads_only: bool = False, limit_s: float | None = None) -> Iterator[CommandSession]:
        """Return the session on the configured store, which stays open until the command ends.

        `limit_s` is the limit of a write in place of the configured one.
        """
        if self._session is None:
            self._session = self._opened.enter_context(self._open(reads_only=reads_only))
        self._session.limit_s = limit_s
        yield self._session
        self._session.limit_s = None

    @property
    def store(self) -> Store:
        """The store of the session."""
        with self.session(reads_only=True) as session:
            return session.store

    def _open(self, *, reads_only: bool) -> CommandSession:
        from groundplan.repository.git import WorkingCopy

        is_new = refuse_missing(self.settings, reads_only=reads_only)
        preferences = self.settings.preferences(self._vocabulary, working_copy=WorkingCopy())
        session = CommandSession(open_store(self.settings.db, build_schema), self.actor, preferences=preferences)
        session.warn = print_warning
        session.is_quiet = self.as_json
        if is_new and not self.as_json:
            with suppress(OSError):  # stderr is closed
                write_line(sys.stderr, f"created {escape_control_chars(self.settings.db)}")
        return session

    def run(self, name: str, **arguments: Any) -> Any:
        """Run an operation that the command stands for, and return its answer; `--json` prints it."""
        operation = OPERATIONS[name]
        result = self._execute(operation, arguments)
        self.answers.append(result.encoded or encode(wrap(operation.group, result.answer, result.warnings)))
        if not hasattr(result.answer, "warnings"):  # else the view of the answer has them
            for line in result.warnings:
                print_warning(line)
        return result.answer

    def read(self, name: str, **arguments: Any) -> Any:
        """Run an operation that only prepares another, and return its answer."""
        return self._execute(OPERATIONS[name], arguments).answer

    def _execute(self, operation: Operation[Any, Any], arguments: Mapping[str, Any]) -> ExecutionResult:
        given = {key: value for key, value in arguments.items() if value is not None and value != []}
        validate_value(given)
        # A task needs a project, which a new database does not have: so a missing file is never created here.
        with self.session(reads_only=True) as session:
            return session.execute(operation, given)

    # --- Tasks ------------------------------------------------------------------------------------------------------

    def look_up(self, refs: Iterable[str]) -> list[OutlineNode]:
        """Return the tasks for what a person typed, in this order."""
        wanted = [self._replace_last(ref) for ref in refs]
        found: list[OutlineNode] = self.read("work.lookup", project=self.project, refs=wanted).nodes if wanted else []
        unique = {node.id: node for node in found}
        return list(unique.values())

    def look_up_one(self, ref: str | None) -> OutlineNode | None:
        """Return the task for what a person typed; None if nothing was."""
        return None if ref is None else self.look_up([ref])[0]

    def remember(self, node_id: str | None) -> None:
        """Keep an id, so that `-` stands for it from now on."""
        if node_id is not None:
            remember(self.settings.db, self._actor_name, node_id)

    def _replace_last(self, ref: str) -> str:
        if ref != LAST:
            return ref
        last = recall(self.settings.db, self._actor_name)
        if last is None:
            raise UsageError("there is no last task yet, which - stands for; name one by its id")
        return last

    @property
    def _actor_name(self) -> str:
        return "" if self.actor is None else self.actor.id


def open_invocation(line: Line, vocabulary: Vocabulary) -> Invocation:
    """Return the invocation of a command line. Hints in answers spell commands with the vocabulary."""
    flags = Flags(**{name: line.find(name) for name in Flags._fields})
    return Invocation(flags, as_json=line.has("json"), project=line.find(PROJECT), vocabulary=vocabulary)
