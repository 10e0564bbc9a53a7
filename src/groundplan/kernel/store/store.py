"""The store: every read and every write goes through it, on both engines.

    write:  begin → authorize → lock and increase the revision → run → write events, store the answer → commit
    read:   begin → run → end, all in one snapshot

`run` is called again when the engine requires a retry, so it must have no effects outside its transaction.
"""

from __future__ import annotations

import random
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import msgspec

from groundplan import providers
from groundplan.kernel.access import Permission
from groundplan.kernel.actors import NOBODY, Actor
from groundplan.kernel.cancellation import READ_LIMIT_S, WRITE_LIMIT_S, Cancellation
from groundplan.kernel.clock import JUMP_MIN, ClockJump, find_jump, subtract_time
from groundplan.kernel.errors import Conflict, NextStep, NotFound, Unauthenticated, Unavailable
from groundplan.kernel.principals import store_kind
from groundplan.kernel.store.authorize import authorize_organization, authorize_project
from groundplan.kernel.store.idempotency import IdempotentRequest, find_stored_answer, store_answer
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Project, Transaction, note_machine_start

T = TypeVar("T")

ProjectRef = str | Callable[[Transaction], str]  # an id or a name, or a function that finds it from a request

RETRIES: Counter[str] = Counter()  # of this process, for its metrics
TRIES_MAX = 8
PAUSE_S_MAX = 0.05
RETRY_S_MAX = 30.0  # for all attempts together, because each can wait for a lock

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


class TryAgain(Exception):
    """The attempt failed for a temporary reason; another attempt may succeed."""


class Store(ABC):
    """One database.

    `on_wait` is called in a thread that is about to wait for a commit which others may join, so that a server can let
    another thread work.
    """

    on_wait: Callable[[], None] = staticmethod(lambda: None)

    @cached_property
    def cache(self) -> dict[str, Any]:
        """A cache that slices keep between transactions, each under its own name.

        It holds only data that can be read again from the database; each slice limits the size of its own.
        """
        return {}

    def read(
        self, actor: Actor | None, run: Callable[[Transaction], T], *, cancellation: Cancellation | None = None
    ) -> T:
        """Run a function on one snapshot."""
        known_actor = _require_actor(actor)
        limit = Cancellation() if cancellation is None else cancellation
        limit.prepare(READ_LIMIT_S, is_write=False)
        return retry(lambda: self._read_once(known_actor, run, limit), limit)

    def read_as_nobody(self, run: Callable[[Transaction], T]) -> T:
        """Run one statement for a caller whose identity is unknown.

        On PostgreSQL no policy shows such a caller a row, only functions of the owner of the schema do. The statement
        itself must return the time, because there may be no transaction that knows it.
        """
        return self.read(NOBODY, run)

    def write(
        self,
        actor: Actor | None,
        project: ProjectRef | None,
        run: Callable[[Transaction], T],
        *,
        needs: Permission = Permission.PROJECT_WRITE,
        op_id: IdempotentRequest[T] | None = None,
        on_archived: bool = False,
        limit_s: float = WRITE_LIMIT_S,
        cancellation: Cancellation | None = None,
    ) -> T:
        """Run a function under the lock of one project, or of the organization if `project` is None.

        The changes of `run`, its events and the stored answer for `op_id` are committed together or not at all. A run
        that records no event has changed nothing, and the revision does not increase. The lock is held for at most
        `limit_s`, or the limit of `cancellation` if it has one.
        """
        known_actor = _require_actor(actor)
        limit = Cancellation() if cancellation is None else cancellation
        limit.prepare(limit_s, is_write=True)

        jump: ClockJump | None = None

        def run_in(tx: Transaction) -> T | _ClockAdjustment:
            nonlocal jump
            tx.clock_jump = jump
            answer = self._attempt(tx, project, run, needs, op_id, on_archived)
            jump = tx.clock_jump
            tx.discarded = not tx.has_events and op_id is None
            limit.check()  # the last time: a commit is final
            return answer

        def attempt() -> T:
            answer = self._write_once(known_actor, run_in, limit)
            if isinstance(answer, _ClockAdjustment):
                raise TryAgain
            return answer

        return retry(attempt, limit)

    def touch(self, actor: Actor, run: Callable[[Transaction], T]) -> T:
        """Run a short write that is not part of the history, such as the time of the last use of a token.

        It takes no lock of a project, increases no revision and records no event.
        """
        limit = Cancellation()
        limit.prepare(WRITE_LIMIT_S, is_write=True)
        return retry(lambda: self._write_once(actor, run, limit), limit)

    def _attempt(
        self,
        tx: Transaction,
        project: ProjectRef | None,
        run: Callable[[Transaction], T],
        needs: Permission,
        op_id: IdempotentRequest[T] | None,
        on_archived: bool,
    ) -> T | _ClockAdjustment:
        project_id = self._authorize(tx, project, needs)
        if op_id:
            if (stored := find_stored_answer(tx, op_id)) is not None:
                return stored
            self._set_savepoint(tx)
        before = tx.project if tx.has_project else None
        self._lock(tx, project_id)
        tx.cancellation.start()  # the limit is for holding the lock; the wait for it has its own
        if self.must_recheck_after_lock:
            # The previous holder of the lock may have changed the role of the actor, or stored the answer.
            if project_id is None:
                authorize_organization(tx, needs)
            else:
                tx.set_project(authorize_project(tx, project_id, needs, by_id=True))
            if op_id and (stored := find_stored_answer(tx, op_id)) is not None:
                self._rollback_to_savepoint(tx)
                return stored
        if project_id is not None:
            tx.set_project(msgspec.structs.replace(tx.project, rev=tx.rev))
            if tx.project.archived_at and not on_archived:
                raise ProjectArchived(tx.project)
            if before is not None and _adjust_to_clock(tx, before):
                return _ClockAdjustment()
        answer = run(tx)
        if op_id and not tx.has_events:
            self._rollback_to_savepoint(tx)
        if tx.is_first_act and tx.has_events:
            store_kind(tx)
        tx.write_events()
        if op_id and not store_answer(tx, op_id, answer):
            raise TryAgain
        return answer

    @staticmethod
    def _authorize(tx: Transaction, project: ProjectRef | None, needs: Permission) -> str | None:
        if project is None:
            authorize_organization(tx, needs)
            return None
        access = authorize_project(tx, project if isinstance(project, str) else project(tx), needs)
        tx.set_project(access)
        return access.id

    def _lock(self, tx: Transaction, project_id: str | None) -> None:
        if project_id is not None and self.locks_at_begin:
            _increase_revision(tx)
            return
        parameters = {"clock": tx.clock, "statement_timeout": tx.statement_timeout}
        if project_id is None:
            row = tx.one_or_none(sql.lock_organization, **parameters, latest=subtract_time(tx.now, -JUMP_MIN))
            if row is None:
                raise NotFound("organization", tx.actor.organization)
        else:
            row = tx.one_or_none(sql.lock_project, project_id=project_id, **parameters)
            if row is None:
                # The actor could change the project before the lock and cannot now; the next try raises the error.
                raise TryAgain
        tx.rev, tx.now, *_ = row  # the time after the wait, so that times and revisions have one order

    # Implemented by each engine.

    runs_in_process: bool  # whether statements run in this process, so that threads compete for it
    locks_at_begin: bool  # whether a write holds the lock before its first statement

    @cached_property
    def must_recheck_after_lock(self) -> bool:
        """True if another writer can commit between the first statement and the lock."""
        return not self.locks_at_begin

    @abstractmethod
    def _read_once(self, actor: Actor, run: Callable[[Transaction], T], cancellation: Cancellation) -> T:
        """Run a function on one snapshot. This is not a context manager, because a call is faster."""

    @abstractmethod
    def _write_once(self, actor: Actor, run: Callable[[Transaction], T], cancellation: Cancellation) -> T:
        """Run a function in one transaction, and commit unless it fails or is discarded."""

    @abstractmethod
    def _set_savepoint(self, tx: Transaction) -> None:
        """Set the savepoint of the transaction."""

    @abstractmethod
    def _rollback_to_savepoint(self, tx: Transaction) -> None:
        """Roll back to the savepoint."""

    @abstractmethod
    def watch_commits(self) -> CommitWatch:
        """Return a watch that notices the commits of all processes."""

    @abstractmethod
    def close(self) -> None:
        """Close every connection."""


def _increase_revision(tx: Transaction) -> None:
    """Increase the revision of a project that was read under the lock, and set its time of the last write.

    It is never before the last write, unless that is too far ahead of this clock to be right.
    """
    project = tx.project
    if tx.now < project.updated_at <= subtract_time(tx.now, -JUMP_MIN):
        tx.now = project.updated_at
    tx.rev = project.rev + 1
    tx.run(sql.lock_project, project_id=project.id)


class _ClockAdjustment:
    """The write only moved leases after a jump of the clock. It is committed, and then the request is repeated."""


def _adjust_to_clock(tx: Transaction, before: Project) -> bool:
    """Move the leases of the project if the clock jumped since its last write. Return False if nothing changed.

    It is committed by itself: a caller who is refused because of a lease must not undo the end that the lease got.
    """
    jump = find_jump(tx.now, before, tx.uptime)
    note_machine_start(tx, jump)
    if jump is None:
        return False
    tx.clock_jump = jump
    providers.move_leases(tx, jump.by)
    tx.write_events()
    return tx.has_events


def _require_actor(actor: Actor | None) -> Actor:
    if actor is None:
        raise Unauthenticated(
            "no actor is given; name an agent with --agent NAME, GROUNDPLAN_AGENT or agent_identity in groundplan.yaml,"
            " or a person with --person"
        )
    return actor


def retry(attempt: Callable[[], T], cancellation: Cancellation | None = None) -> T:
    """Return the answer of the first attempt that succeeds."""
    give_up_at = time.monotonic() + RETRY_S_MAX
    for tried in range(TRIES_MAX):
        try:
            return attempt()
        except TryAgain:
            RETRIES["transactions"] += 1
            if cancellation is not None and cancellation.is_cancelled:
                raise cancellation.build_error() from None
            if time.monotonic() > give_up_at:
                break
            # A random pause, so that two conflicting writers do not collide again; none before the second attempt.
            if tried:
                time.sleep(random.uniform(0, PAUSE_S_MAX) * tried / TRIES_MAX)  # noqa: S311 - not a secret
    raise Unavailable("the store is too busy for this now; try again in a moment", code="store_busy")


class WatchedProject(NamedTuple):
    """A project to watch for commits, or an organization without its projects."""

    organization: str
    id: str = ""  # empty: the organization itself


class ChangedProjects(NamedTuple):
    """The projects that changed during a wait. There may be too many, but never too few."""

    projects: frozenset[WatchedProject]


NO_COMMITS = ChangedProjects(frozenset())


class CommitWatch(ABC):
    """A watch that waits for commits on a separate connection, which `Store.close` closes. One thread uses it."""

    @abstractmethod
    def wait(self, projects: Collection[WatchedProject]) -> ChangedProjects:
        """Wait for a short time, and return the given projects that changed, or whose organization changed.

        The first call for a project always returns it.
        """

    @abstractmethod
    def close(self) -> None:
        """Close the connection."""
