"""The session of a short word: the plan here, its project, and calls of operations as any other surface makes them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from groundplan.catalog import OPERATIONS, build_schema
from groundplan.configuration import Settings
from groundplan.kernel.answers import encode
from groundplan.kernel.cancellation import NO_LIMIT_S
from groundplan.kernel.errors import NextStep, Vocabulary
from groundplan.kernel.input_gate.strict_json import validate_value
from groundplan.kernel.operations.envelopes import wrap
from groundplan.kernel.operations.execute import ExecutionResult, execute
from groundplan.kernel.operations.registry import Effect
from groundplan.kernel.store.open_store import open_store
from groundplan.surfaces.cli.failures import UsageError, print_warning, write_line
from groundplan.surfaces.cli.missing_plan import choose_project, refuse_missing
from groundplan.surfaces.cli.short.last_id import recall, remember
from groundplan.surfaces.stop_signals import cancel_on_signals

if TYPE_CHECKING:
    from groundplan.kernel.store.store import Store
    from groundplan.work.graph.outline import OutlineNode

LAST = "-"  # stands for the last task


class LateVocabulary(Vocabulary):
    """The vocabulary of the short words, loaded when a hint is phrased."""

    def spell(self, operation: str, arguments: Mapping[str, Any]) -> str:
        """Return the word with its arguments."""
        return _load_names().spell(operation, arguments)

    def call(self, operation: str, arguments: Mapping[str, Any], fill: Sequence[str] = ()) -> dict[str, Any]:
        """Return the word as data."""
        return _load_names().call(operation, arguments, fill)

    def tell(self, steps: Iterable[NextStep]) -> str:
        """Return one sentence with the effect of each step."""
        return _load_names().tell(steps)


def _load_names() -> Vocabulary:
    from groundplan.surfaces.cli.short.words.hints import load_word_vocabulary

    return load_word_vocabulary()


class WordSession:
    """One run of one short word."""

    def __init__(self, settings: Settings, project: str | None) -> None:
        self.settings = settings
        self.actor = settings.build_actor()
        self.answers: list[bytes] = []  # as JSON, of the calls that the word stands for
        self._project = project or settings.project
        self._preferences = settings.preferences(LateVocabulary())
        self._store: Store | None = None

    def __enter__(self) -> WordSession:
        return self

    def __exit__(self, *_: object) -> None:
        if self._store is not None:
            self._store.close()

    @property
    def store(self) -> Store:
        """The store, opened on first use."""
        if self._store is None:
            # A task needs a project, which a new database does not have: so a missing file is never created here.
            refuse_missing(self.settings, reads_only=True)
            self._store = open_store(self.settings.db, build_schema)
        return self._store

    @property
    def project(self) -> str:
        """The project: the one that is named or configured, else the only one of the plan."""
        if self._project is None:
            self._project = choose_project([project.name for project in self.read("project.list").projects])
        return self._project

    @property
    def named_project(self) -> str | None:
        """The project that is named or configured, if any."""
        return self._project

    def run(self, name: str, **arguments: Any) -> Any:
        """Run an operation that the word stands for, and return its answer; `--json` prints it."""
        operation = OPERATIONS[name]
        result = self._execute(name, arguments)
        self.answers.append(result.encoded or encode(wrap(operation.group, result.answer, result.warnings)))
        if not hasattr(result.answer, "warnings"):  # else the view of the answer has them
            for line in result.warnings:
                print_warning(line)
        return result.answer

    def read(self, name: str, **arguments: Any) -> Any:
        """Run an operation that only prepares another, and return its answer."""
        return self._execute(name, arguments).answer

    def _execute(self, name: str, arguments: dict[str, Any]) -> ExecutionResult:
        operation = OPERATIONS[name]
        given = {key: value for key, value in arguments.items() if value is not None and value != []}
        validate_value(given)
        limit_s = NO_LIMIT_S if operation.effect is Effect.READ else None
        with cancel_on_signals(limit_s) as cancellation:
            return execute(self.store, self.actor, operation, given, self._preferences, cancellation)

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


def print_json(answers: Iterable[bytes]) -> None:
    """Print answers as JSON, one line each."""
    for answer in answers:
        write_line(sys.stdout, answer.decode("utf-8").rstrip("\n"))
