"""The one way in and the one way to change anything, the same on both engines.

    write:  begin → may they? → lock and move the revision on → run → events, kept answer → commit
    read:   begin → run → end, all in one snapshot

`run` is called again when the engine asks for another try, so it must not do anything outside its transaction.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar

from groundplan.kernel.access import Permission
from groundplan.kernel.actors import Actor
from groundplan.kernel.errors import Conflict, NotFound, Unauthenticated
from groundplan.kernel.next_steps import NextStep
from groundplan.kernel.store.authorize import authorize_organization, authorize_project
from groundplan.kernel.store.idempotency import IdempotentRequest, find_stored_answer, store_answer
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.retry import TryAgain, retry
from groundplan.kernel.store.transaction import Project, Transaction

T = TypeVar("T")

ProjectRef = str | Callable[[Transaction], str]  # an id or a name, or how to find it from the ids of a request

sql = load_queries(__file__)


class ProjectArchived(Conflict):
    """An archived project can be read but not changed."""

    code = "project_archived"

    def __init__(self, project: Project) -> None:
        super().__init__(
            f"project {project.name!r} is archived",
            next_steps=NextStep("project.restore", "brings it back", {"project": project.name}),
            project=project.id,
        )


class Store(ABC):
    """Plans in one database."""

    @cached_property
    def memory(self) -> dict[str, Any]:
        """What slices keep of this database between transactions, each under its own name.

        Only what can be read again at any time, and each slice bounds its own: nothing is ever lost with it.
        """
        return {}

    def read(self, actor: Actor | None, run: Callable[[Transaction], T]) -> T:
        """Run against one snapshot.

        Raises:
            Unauthenticated: nobody said who is asking.
        """
        known = _require_actor(actor)
        return retry(lambda: self._read_once(known, run))

    def write(
        self,
        actor: Actor | None,
        project: ProjectRef | None,
        run: Callable[[Transaction], T],
        *,
        needs: Permission = Permission.PROJECT_WRITE,
        op_id: IdempotentRequest[T] | None = None,
        on_archived: bool = False,
    ) -> T:
        """Run under the lock of one project, or of the organization when `project` is None.

        What `run` changes, the events it records and the answer kept for `op_id` are committed together or not at all.
        A run that records nothing changed nothing, and the revision stays where it was.
        """
        known = _require_actor(actor)

        def attempt() -> T:
            with self._writing(known) as tx:
                answer = self._attempt(tx, project, run, needs, op_id, on_archived)
                tx.discarded = not tx.has_events and op_id is None
                return answer

        return retry(attempt)

    def _attempt(
        self,
        tx: Transaction,
        project: ProjectRef | None,
        run: Callable[[Transaction], T],
        needs: Permission,
        op_id: IdempotentRequest[T] | None,
        on_archived: bool,
    ) -> T:
        project_id = self._come_in(tx, project, needs)
        if op_id and (given := find_stored_answer(tx, op_id)) is not None:
            return given
        if op_id:
            self._savepoint(tx)
        self._lock(tx, project_id)
        if self.must_recheck_after_lock:
            # Whoever held the lock before us may have changed who we are here, or answered for us.
            if project_id is None:
                authorize_organization(tx, needs)
            else:
                tx.enter(authorize_project(tx, project_id, needs, by_id=True))
            if op_id and (given := find_stored_answer(tx, op_id)) is not None:
                self._back_to_savepoint(tx)
                return given
        if project_id is not None:
            tx.enter(replace(tx.project, rev=tx.rev))
            if tx.project.archived_at and not on_archived:
                raise ProjectArchived(tx.project)
        answer = run(tx)
        if op_id and not tx.has_events:
            self._back_to_savepoint(tx)
        tx.write_events()
        if op_id and not store_answer(tx, op_id, answer):
            raise TryAgain
        return answer

    @staticmethod
    def _come_in(tx: Transaction, project: ProjectRef | None, needs: Permission) -> str | None:
        if project is None:
            authorize_organization(tx, needs)
            return None
        found = authorize_project(tx, project if isinstance(project, str) else project(tx), needs)
        tx.enter(found)
        return found.id

    @staticmethod
    def _lock(tx: Transaction, project_id: str | None) -> None:
        if project_id is None:
            row = tx.one_or_none(sql.lock_organization, clock=tx.clock)
            if row is None:
                raise NotFound("organization", tx.actor.organization)
        else:
            row = tx.one_or_none(sql.lock_project, project_id=project_id, clock=tx.clock)
            if row is None:
                # It was there a moment ago and is not ours to change now; the next try says why.
                raise TryAgain
        tx.rev, tx.now = row  # the moment is the one behind the wait, so that time never runs against the revisions

    # What an engine brings.

    must_recheck_after_lock: bool  # whether another writer can commit between our first statement and our lock

    @abstractmethod
    def _read_once(self, actor: Actor, run: Callable[[Transaction], T]) -> T:
        """Run against one snapshot. A function and no context: reads are the most frequent thing there is."""

    @abstractmethod
    def _writing(self, actor: Actor) -> AbstractContextManager[Transaction]:
        """A transaction that commits when its block ends well, and leaves no trace when it fails or was discarded."""

    @abstractmethod
    def _savepoint(self, tx: Transaction) -> None:
        """Remember this point of the transaction."""

    @abstractmethod
    def _back_to_savepoint(self, tx: Transaction) -> None:
        """Take back everything since the point remembered."""

    @abstractmethod
    def close(self) -> None:
        """Let go of every connection."""


def _require_actor(actor: Actor | None) -> Actor:
    if actor is None:
        raise Unauthenticated("say who is acting: --agent NAME, GROUNDPLAN_AGENT or agent_identity in groundplan.yaml")
    return actor
