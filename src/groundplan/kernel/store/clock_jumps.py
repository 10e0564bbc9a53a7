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

from groundplan.kernel.clock import ClockJump, find_time_of_read, subtract_time
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


def set_time_of_read(tx: Transaction) -> None:
    """Set the time of a read."""
    tx.now, tx.clock_jump = find_time_of_read(tx.now, tx.project, tx.uptime)


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
