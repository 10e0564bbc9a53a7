"""Jumps of the clock: which time a transaction has, and how a clock that was set is noticed.

    this clock, against the last write of the project     time            leases
    up to 5 minutes behind                                 the last write  stay
    further behind: one of the two clocks was wrong        this clock      end at most one duration from now
    ahead, and the machine ran for that long               this clock      stay, and end when they end
    ahead, and the machine did not run for that long       this clock      move with the clock

A project keeps when the machine of its last writer started, by the clock of that writer. The same start by another
clock is another time, and the difference is the jump. All programs that share a file run on one machine; on PostgreSQL
there is one clock, and no counter is needed.
"""

from __future__ import annotations

from datetime import timedelta

from groundplan.kernel.clock import ClockJump, UptimeCounter, compute_difference, subtract_time
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Project, Transaction

JUMP_MIN = timedelta(minutes=5)  # clocks of one machine that are corrected a little at a time differ less
UNKNOWN = timedelta()
MINUTE_CHARS = len("2026-11-15T09:30")

sql = load_queries(__file__)


def find_jump(now: str, project: Project, uptime: UptimeCounter | None) -> ClockJump | None:
    """Return the jump between the last write of a project, as read before the lock, and now."""
    if now >= project.updated_at and now[:MINUTE_CHARS] == project.updated_at[:MINUTE_CHARS]:
        return None  # within a minute of the clock, as most writes are: nothing to compute
    gap = compute_difference(now, project.updated_at)
    if timedelta() <= gap <= JUMP_MIN:
        return None
    moved = _measure_jump(now, project, uptime)
    # The machine cannot have run for less than no time: then the counters are of two containers and prove nothing.
    by = UNKNOWN if moved is None or moved > gap + JUMP_MIN else min(moved, gap)
    if now < project.updated_at:
        return ClockJump(project.updated_at, now, by if by < -JUMP_MIN else UNKNOWN)
    return ClockJump(project.updated_at, now, by) if by > JUMP_MIN else None


def _measure_jump(now: str, project: Project, uptime: UptimeCounter | None) -> timedelta | None:
    if uptime is None or project.machine_start is None:
        return None
    boot_id, _, started_at = project.machine_start.partition(" ")
    return compute_difference(now, started_at) - uptime() if boot_id == uptime.boot_id else None


def set_time_of_read(tx: Transaction) -> None:
    """Set the time of a read: as `find_jump` has it, leases have not moved yet, so the time moves back instead."""
    last = tx.project.updated_at
    if tx.now < last <= subtract_time(tx.now, -JUMP_MIN):
        tx.now = last
        return
    tx.clock_jump = find_jump(tx.now, tx.project, tx.uptime)
    if tx.clock_jump is not None and not tx.clock_jump.is_back:
        tx.now = subtract_time(tx.now, tx.clock_jump.by)


def note_machine_start(tx: Transaction, jump: ClockJump | None) -> None:
    """Store when the machine started by the clock of this write, unless what is stored still holds."""
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
