"""Transactions: a use case reads rows, changes rows, and records events through one.

The transaction has the actor, and with it the organization. It fills in `:tenant_id`, `:actor_id`, `:now` and
`:write_rev` in every query and ignores values of the caller for them, so no query can reach another organization by
mistake.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any, ClassVar, Protocol, TypeAlias, TypeVar, overload

import msgspec

from groundplan.kernel.access import Role
from groundplan.kernel.actors import Actor, ActorKind, identify
from groundplan.kernel.answers import Budget
from groundplan.kernel.audit import EVENT_FORMAT, Change, Event
from groundplan.kernel.cancellation import Cancellation
from groundplan.kernel.clock import ClockJump, UptimeCounter, find_time_of_read, subtract_time
from groundplan.kernel.errors import NextStep
from groundplan.kernel.preferences import Preferences
from groundplan.kernel.store.queries import (
    UNNAMED_COLUMNS_MAX,
    Query,
    Row,
    load_queries,
    make_row_converter,
    to_json_array,
)

R = TypeVar("R")

EVENTS_AT_ONCE_MAX = 10_000  # so that their text takes a few MB, and a request that is over ends soon
ALIKE_EVENTS_MIN = 500  # from here on, a statement of their own for events that share all but the subject is faster

NO_PREFERENCES = Preferences()

NumberedEvent: TypeAlias = tuple[int, Event]  # with its number in the write

RowConverters: TypeAlias = dict[tuple[Query, type | None], Callable[[list[Row]], list[Any]]]

sql = load_queries(__file__)


class Cursor(Protocol):
    """The part of a database cursor that is needed to read rows."""

    @property
    def description(self) -> Sequence[Any] | None:
        """The columns. The first item of each is its name."""

    def fetchall(self) -> list[Row]:
        """Return every row."""


class Project(msgspec.Struct, frozen=True):
    """The project of a transaction, with the role of the actor in it."""

    id: str
    name: str
    rev: int
    role: Role
    archived_at: str | None
    policies: str  # as stored; `groundplan.policies` declares and decodes them
    updated_at: str  # the time of the last write
    machine_start: str | None  # which start of a machine, and when by the clock of the last writer


class Transaction(ABC):
    """A read of one snapshot, or a write with one lock, one revision and one set of events."""

    def __init__(
        self,
        actor: Actor,
        now: str,
        cache: dict[str, Any],
        cancellation: Cancellation | None = None,
        *,
        clock: str | None = None,
        uptime: UptimeCounter | None = None,
    ) -> None:
        self.actor = actor
        self.cancellation = Cancellation() if cancellation is None else cancellation  # checked before every statement
        self.cache = cache  # of the store; slices cache data there between transactions
        self.clock = clock  # the time of an injected clock; None: the database gives the time
        self.uptime = uptime  # of the machine that runs this; None: there is none, or no need for one
        self.clock_jump: ClockJump | None = None  # since the last write of the project
        self.preferences = NO_PREFERENCES  # session defaults of the caller
        self.prepared: Any = None  # the result of the operation's `prepare`
        self.warnings: list[str] = []  # for the answer of a write, whatever its operation
        self.default_decision: str | None = None  # of events that have no decision of their own
        self.discarded = False  # the write changed nothing, so it is rolled back with its revision
        self.is_first_act = False  # no kind is stored for the name of the actor
        self.other_kinds: Mapping[str, ActorKind] | None = None  # of names that are no persons'; None: not read yet
        self.named_project: str | None = None  # the name or id that the caller gave, if any
        self._project: Project | None = None
        self._cursor_key: bytes | None = None
        self._events: dict[str | None, list[Event]] = {}  # by project; None is the organization
        self._written_counts: dict[str | None, int] = {}  # how many of them are in the database
        self._ambient: dict[str, Any] = {
            "tenant_id": actor.organization,
            "actor_id": actor.id,
            "now": now,
            "write_rev": 0,
        }

    def identify(self, stored: ActorKind | None) -> None:
        """Give the actor the kind that is stored for its name; None if the name has not acted yet."""
        self.is_first_act = stored is None
        self.actor = identify(self.actor, stored)

    @property
    def now(self) -> str:
        """The time of the whole transaction, by the clock of the store: for a write, the time when it got the lock."""
        moment: str = self._ambient["now"]
        return moment

    @now.setter
    def now(self, moment: str) -> None:
        self._ambient["now"] = moment

    @property
    def statement_timeout(self) -> str | None:
        """The statement timeout since the lock was acquired, for a server that enforces one."""
        return None

    @property
    def rev(self) -> int:
        """The revision of the project, or of the organization, after this write; 0 in a read."""
        rev: int = self._ambient["write_rev"]
        return rev

    @rev.setter
    def rev(self, rev: int) -> None:
        self._ambient["write_rev"] = rev

    @property
    def project(self) -> Project:
        """The current project. Raises LookupError in a transaction on the organization."""
        if self._project is None:
            raise LookupError("this transaction has no project")
        return self._project

    @property
    def has_project(self) -> bool:
        """True if there is a current project; else the request covers all projects that the actor sees."""
        return self._project is not None

    @property
    def budget(self) -> Budget:
        """A new budget for one answer, with the cap of the caller."""
        return Budget.for_answer(self.preferences.answer_tokens_max)

    # Not `cached_property`: before Python 3.12 it has one lock for all transactions, which would wait for each other.
    @property
    def cursor_key(self) -> bytes:
        """The key that signs cursors in the organization. Raises LookupError if the actor is not a member.

        It is read in each transaction that needs it: a key that a process remembers would be wrong after a restore.
        """
        if self._cursor_key is None:
            (key,) = self.one(sql.cursor_key)
            self._cursor_key = bytes.fromhex(key)
        return self._cursor_key

    def describe(self, *steps: NextStep) -> str:
        """Return the next steps as a sentence with the operation names of the caller's surface."""
        vocabulary = self.preferences.vocabulary
        return (vocabulary if self._project is None else vocabulary.within(self._project.name)).tell(steps)

    def set_project(self, project: Project | None) -> None:
        """Set the current project; None after a visit of several."""
        self._project = project

    def record(
        self,
        op: str,
        subject: str,
        *changes: Change,
        decision: str | None = None,
        project_id: str | None = None,
    ) -> None:
        """Record an event, which is committed together with the change.

        It belongs to the current project, or to the organization if there is none; `project_id` names a project that
        this transaction creates.
        """
        stream = project_id or self._default_stream
        self._events.setdefault(stream, []).append(
            Event(op, subject, list(changes), self.default_decision if decision is None else decision)
        )

    def record_each(self, op: str, subjects: Iterable[str], *changes: Change, decision: str | None = None) -> None:
        """Record an event with the same changes for each of the subjects, in the order of calls to `record`."""
        shared = list(changes)
        decision = self.default_decision if decision is None else decision
        if recorded := [Event(op, subject, shared, decision) for subject in subjects]:
            self._events.setdefault(self._default_stream, []).extend(recorded)

    def discard(self) -> None:
        """Forget all events, so that the store rolls back every change of this write."""
        self._events.clear()
        self._written_counts.clear()

    @property
    def has_events(self) -> bool:
        """True if any event was recorded."""
        return bool(self._events)

    def write_events(self) -> None:
        """Write the events recorded so far to the database.

        The store calls this at the end. A use case calls it before a step that takes the right to write from the actor,
        such as leaving the project.
        """
        for stream, events in self._events.items():
            # A project that this write creates starts at revision 1.
            rev = self.rev if stream == self._default_stream else 1
            unwritten = list(enumerate(events))[self._written_counts.get(stream, 0) :]
            if stream is None:
                self.run_many(sql.add_organization_event, [{"rev": rev, **row} for row in _build_event_rows(unwritten)])
            else:
                self._write_project_events(stream, rev, unwritten)
            self._written_counts[stream] = len(events)

    def _write_project_events(self, project_id: str, rev: int, events: list[NumberedEvent]) -> None:
        place = {"project_id": project_id, "rev": rev}
        if len(events) == 1:  # as most often
            [row] = _build_event_rows(events)
            self.run(sql.add_event, **place, **row)
            return
        if len(events) >= ALIKE_EVENTS_MIN:
            events, alike = _separate_alike(events)
            for (first, event), *rest in alike:
                subjects = to_json_array([event.subject, *(similar.subject for _, similar in rest)])
                [shared] = _build_event_rows([(first, event)])
                del shared["n"], shared["subject"]
                self.run(sql.add_alike_events, **place, **shared, first=first, subjects=subjects)
        rows = [{**place, **row} for row in _build_event_rows(events)]
        for first in range(0, len(rows), EVENTS_AT_ONCE_MAX):
            self.run_many(sql.add_events, rows[first : first + EVENTS_AT_ONCE_MAX])

    @property
    def _default_stream(self) -> str | None:
        return self._project.id if self._project else None

    @overload
    def all(self, query: Query, /, **parameters: Any) -> list[Row]: ...

    @overload
    def all(self, query: Query, shape: type[R], /, **parameters: Any) -> list[R]: ...

    def all(self, query: Query, shape: type[R] | None = None, /, **parameters: Any) -> list[R] | list[Row]:
        """Return every row: as objects of `shape`, or as tuples if a row has few columns."""
        return self._fetch(query, shape, parameters)

    @overload
    def one_or_none(self, query: Query, /, **parameters: Any) -> Row | None: ...

    @overload
    def one_or_none(self, query: Query, shape: type[R], /, **parameters: Any) -> R | None: ...

    def one_or_none(self, query: Query, shape: type[R] | None = None, /, **parameters: Any) -> R | Row | None:
        """Return the first row, or None."""
        rows = self._fetch(query, shape, parameters)
        return rows[0] if rows else None

    @overload
    def one(self, query: Query, /, **parameters: Any) -> Row: ...

    @overload
    def one(self, query: Query, shape: type[R], /, **parameters: Any) -> R: ...

    def one(self, query: Query, shape: type[R] | None = None, /, **parameters: Any) -> R | Row:
        """Return the first row. Raises LookupError if there is none."""
        rows = self._fetch(query, shape, parameters)
        if not rows:
            raise LookupError(f"query {query.name} returned no row")
        first: R | Row = rows[0]
        return first

    def scalars(self, query: Query, /, **parameters: Any) -> list[Any]:
        """Return the values of the only column."""
        return [value for (value,) in self._fetch(query, None, parameters)]

    def scalar(self, query: Query, /, **parameters: Any) -> Any:
        """Return the value of the only column in the first row; None if there is no row."""
        row = self.one_or_none(query, **parameters)
        if row is None:
            return None
        (value,) = row
        return value

    def run_with_record(self, query: Query, record: msgspec.Struct, /, **parameters: Any) -> int:
        """Change rows and return their number. Parameters that are not given are fields of `record`."""
        return self.run(query, **{**msgspec.structs.asdict(record), **parameters})

    @abstractmethod
    def run(self, query: Query, /, **parameters: Any) -> int:
        """Change rows and return their number."""

    @abstractmethod
    def run_many(self, query: Query, rows: Iterable[Mapping[str, Any]], /) -> None:
        """Run a change with many sets of parameters, which have the same names."""

    # Implemented by each engine.

    runs_in_process: ClassVar[bool]  # whether statements run in this process, so that one more is cheap
    _row_converters: ClassVar[RowConverters]  # shared by all transactions of the engine

    @abstractmethod
    def _fetch(self, query: Query, shape: type[R] | None, parameters: dict[str, Any]) -> list[Any]:
        """Run a statement that returns rows, and return the rows as `all` does."""

    def _build_converter(self, query: Query, shape: type | None, cursor: Cursor) -> Callable[[list[Row]], list[Any]]:
        """Return the function that turns rows of a statement into objects of `shape`; without one, rows stay tuples."""
        columns = [column[0] for column in cursor.description or ()]
        converter: Callable[[list[Row]], list[Any]] = list
        if shape is not None:
            converter = make_row_converter(query.name, shape, columns)
        elif len(columns) > UNNAMED_COLUMNS_MAX:
            converter = partial(_refuse_tuples, query, len(columns))
        self._row_converters[query, shape] = converter
        return converter


def _refuse_tuples(query: Query, column_count: int, rows: list[Row]) -> list[Row]:
    if rows:
        raise TypeError(f"query {query.name} has {column_count} columns; give it a class with their names")
    return rows


def _separate_alike(events: list[NumberedEvent]) -> tuple[list[NumberedEvent], list[list[NumberedEvent]]]:
    """Return the separate events, and the long runs of events that differ only in their subjects."""
    others: list[NumberedEvent] = []
    alike: list[list[NumberedEvent]] = []
    for _, group in groupby(
        events, key=lambda numbered: (numbered[1].op, id(numbered[1].changes), numbered[1].decision)
    ):
        run = list(group)
        if len(run) >= ALIKE_EVENTS_MIN:
            alike.append(run)
        else:
            others += run
    return others, alike


def _build_event_rows(events: Iterable[NumberedEvent]) -> list[dict[str, Any]]:
    """Return the rows of events. Changes that several events share are encoded once."""
    rows: list[dict[str, Any]] = []
    encoded_of: list[Change] | None = None
    encoded = ""
    for n, event in events:
        if event.changes is not encoded_of:
            encoded_of, encoded = event.changes, msgspec.json.encode(event.changes).decode()
        rows.append(
            {
                "n": n,
                "v": EVENT_FORMAT,
                "op": event.op,
                "subject": event.subject,
                "changes": encoded,
                "decision": event.decision,
            }
        )
    return rows


def set_time_of_read(tx: Transaction) -> None:
    """Set the time of a read."""
    tx.now, tx.clock_jump = find_time_of_read(tx.now, tx.project, tx.uptime)


def note_machine_start(tx: Transaction, jump: ClockJump | None) -> None:
    """Store the start of the machine by the clock of this write, unless the stored start is still correct."""
    if tx.uptime is None:
        return
    start = tx.project.machine_start
    if jump is None and start is not None and start.startswith(tx.uptime.boot_id):
        return
    tx.run(
        sql.set_machine_start,
        project_id=tx.project.id,
        machine_start=f"{tx.uptime.boot_id} {subtract_time(tx.now, tx.uptime())}",
    )
