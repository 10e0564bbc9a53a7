"""What a use case may do inside a transaction: ask, change, and record what it changed.

The actor, and with it the organization, belongs to the transaction. `:tenant_id`, `:actor_id` and `:now` in a query
are filled in from here and a caller's own values for them are ignored, so no query can be pointed at a neighbour by
mistake.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeAlias, TypeVar, cast, overload

import msgspec

from groundplan.kernel.access import Role
from groundplan.kernel.actors import Actor
from groundplan.kernel.audit import EVENT_FORMAT, Change, Event
from groundplan.kernel.budget import Budget
from groundplan.kernel.next_steps import NextStep, describe
from groundplan.kernel.policies import Policies
from groundplan.kernel.preferences import Preferences
from groundplan.kernel.store.queries import Query, load_queries
from groundplan.kernel.store.row_types import UNNAMED_COLUMNS_MAX, Row, make_row_converter

R = TypeVar("R")

RowConverters: TypeAlias = dict[tuple[Query, type], Callable[[list[Row]], list[Any]]]

sql = load_queries(__file__)


class Cursor(Protocol):
    """The part of a database cursor that reading rows needs."""

    @property
    def description(self) -> Sequence[Any] | None:
        """The columns; each begins with its name."""

    def fetchall(self) -> list[Row]:
        """Return every row."""


@dataclass(frozen=True, slots=True)
class Project:
    """The project a transaction is about, as this actor sees it."""

    id: str
    name: str
    rev: int
    role: Role
    archived_at: str | None
    policies: Policies


class Transaction(ABC):
    """One snapshot for a read; one lock, one revision and one set of events for a write."""

    def __init__(self, actor: Actor, now: str, memory: dict[str, Any], *, clock: str | None = None) -> None:
        self.actor = actor
        self.memory = memory  # of the store: what slices keep between transactions
        self.clock = clock  # what a given clock says; None where the database itself tells the time
        self.rev = 0  # the revision that this write gives its project, or its organization
        self.preferences = Preferences()  # of whoever asks, where their request does not say
        self.discarded = False  # the write came to nothing, so its revision is taken back
        self._project: Project | None = None
        self._events: dict[str | None, list[Event]] = {}  # by project; None is the organization
        self._written: dict[str | None, int] = {}  # how many of them the database has already
        self._ambient = {"tenant_id": actor.organization, "actor_id": actor.id, "now": now}

    @property
    def now(self) -> str:
        """One moment for the whole transaction, by the store's clock; for a write, the moment it got the lock."""
        return self._ambient["now"]

    @now.setter
    def now(self, moment: str) -> None:
        self._ambient["now"] = moment

    @property
    def project(self) -> Project:
        """The project that was entered. An organization's transaction has none, and asking is a mistake."""
        if self._project is None:
            raise LookupError("this transaction is not about a project")
        return self._project

    @property
    def has_project(self) -> bool:
        """Whether a project was entered; a request that names none is about all that the actor sees."""
        return self._project is not None

    @property
    def budget(self) -> Budget:
        """A fresh budget for one answer, by the caller's cap."""
        return Budget.for_answer(self.preferences.answer_tokens_max)

    def describe(self, *steps: NextStep) -> str:
        """Say in the caller's vocabulary what can be done next."""
        return describe(steps, self.preferences.vocabulary)

    def enter(self, project: Project) -> None:
        """Make the transaction one about this project."""
        self._project = project

    def record(
        self,
        op: str,
        subject: str,
        *changes: Change,
        decision: str | None = None,
        project_id: str | None = None,
    ) -> None:
        """Tell what was changed. The event is written with the change or not at all.

        It goes to the history of the project entered, or to the organization's when there is none; a project that is
        only being made is named by `project_id`.
        """
        where = project_id or self._own_stream
        self._events.setdefault(where, []).append(Event(op, subject, list(changes), decision))

    @property
    def has_events(self) -> bool:
        """Whether anything was changed."""
        return bool(self._events)

    def write_events(self) -> None:
        """Put what was recorded so far into the database.

        The store does it at the end. A use case does it itself before a step after which the actor may no longer
        write here, such as leaving the project.
        """
        for where, events in self._events.items():
            first = self._written.get(where, 0)
            rows = [
                {
                    "project_id": where,
                    # A project that this very write makes begins at its own revision 1.
                    "rev": self.rev if where == self._own_stream else 1,
                    "n": n,
                    "v": EVENT_FORMAT,
                    "op": event.op,
                    "subject": event.subject,
                    "changes": msgspec.json.encode(event.changes).decode(),
                    "decision": event.decision,
                }
                for n, event in enumerate(events[first:], first)
            ]
            self.many(sql.add_organization_event if where is None else sql.add_event, rows)
            self._written[where] = len(events)

    @property
    def _own_stream(self) -> str | None:
        return self._project.id if self._project else None

    @overload
    def all(self, query: Query, /, **parameters: Any) -> list[Row]: ...

    @overload
    def all(self, query: Query, shape: type[R], /, **parameters: Any) -> list[R]: ...

    def all(self, query: Query, shape: type[R] | None = None, /, **parameters: Any) -> list[R] | list[Row]:
        """Return every row: as objects of `shape`, or as tuples where a row has few columns."""
        cursor = self._query(query, parameters)
        rows = cursor.fetchall()
        if shape is None:
            if rows and len(rows[0]) > UNNAMED_COLUMNS_MAX:
                raise TypeError(f"query {query.name} has {len(rows[0])} columns; give it a class with their names")
            return rows
        make = self._row_makers.get((query, shape))
        if make is None:
            make = make_row_converter(query.name, shape, [column[0] for column in cursor.description or ()])
            self._row_makers[query, shape] = make
        return cast("list[R]", make(rows))

    @overload
    def one_or_none(self, query: Query, /, **parameters: Any) -> Row | None: ...

    @overload
    def one_or_none(self, query: Query, shape: type[R], /, **parameters: Any) -> R | None: ...

    def one_or_none(self, query: Query, shape: type[R] | None = None, /, **parameters: Any) -> R | Row | None:
        """Return the first row, if any."""
        rows = self.all(query, **parameters) if shape is None else self.all(query, shape, **parameters)
        return rows[0] if rows else None

    @overload
    def one(self, query: Query, /, **parameters: Any) -> Row: ...

    @overload
    def one(self, query: Query, shape: type[R], /, **parameters: Any) -> R: ...

    def one(self, query: Query, shape: type[R] | None = None, /, **parameters: Any) -> R | Row:
        """Return the one row that there must be."""
        rows = self.all(query, **parameters) if shape is None else self.all(query, shape, **parameters)
        if not rows:
            raise LookupError(f"{query.name} found nothing")
        return rows[0]

    def scalars(self, query: Query, /, **parameters: Any) -> list[Any]:
        """Return the values of the only column."""
        return [value for (value,) in self.all(query, **parameters)]

    def scalar(self, query: Query, /, **parameters: Any) -> Any:
        """Return the value of the only column in the first row; None where there is no row."""
        row = self.one_or_none(query, **parameters)
        if row is None:
            return None
        (value,) = row
        return value

    def store(self, query: Query, record: object, /, **parameters: Any) -> int:
        """Change rows and return how many; what `parameters` does not give is an attribute of `record`."""
        given = {name: getattr(record, name) for name in query.own_parameters if name not in parameters}
        return self.run(query, **given, **parameters)

    @abstractmethod
    def run(self, query: Query, /, **parameters: Any) -> int:
        """Change rows, and say how many."""

    @abstractmethod
    def many(self, query: Query, rows: Iterable[Mapping[str, Any]], /) -> None:
        """The same change with many sets of values, all with the same names."""

    # What an engine brings.

    _row_makers: ClassVar[RowConverters]  # shared by all transactions of the engine

    @abstractmethod
    def _query(self, query: Query, parameters: dict[str, Any]) -> Cursor:
        """Run a statement that returns rows."""
