"""What a use case may do inside a transaction: ask, change, and record what it changed.

The actor, and with it the organization, belongs to the transaction. `:tenant_id`, `:actor_id` and `:now` in a query
are filled in from here and a caller's own values for them are ignored, so no query can be pointed at a neighbour by
mistake.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from groundplan.kernel.access import Role
from groundplan.kernel.actors import Actor
from groundplan.kernel.audit import EVENT_FORMAT, Change, Event
from groundplan.kernel.policies import Policies
from groundplan.kernel.preferences import Preferences
from groundplan.kernel.store.queries import Query, load_queries

Row = tuple[Any, ...]

sql = load_queries(__file__)


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
    def has_recorded(self) -> bool:
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

    def one(self, query: Query, /, **parameters: Any) -> Row:
        """The one row there must be."""
        row = self.one_or_none(query, **parameters)
        if row is None:
            raise LookupError(f"{query.name} found nothing")
        return row

    def one_or_none(self, query: Query, /, **parameters: Any) -> Row | None:
        """The first row, if any."""
        rows = self.all(query, **parameters)
        return rows[0] if rows else None

    @abstractmethod
    def all(self, query: Query, /, **parameters: Any) -> list[Row]:
        """Every row."""

    @abstractmethod
    def run(self, query: Query, /, **parameters: Any) -> int:
        """Change rows, and say how many."""

    @abstractmethod
    def many(self, query: Query, rows: Iterable[Mapping[str, Any]], /) -> None:
        """The same change with many sets of values, all with the same names."""
