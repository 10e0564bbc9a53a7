"""Check that no claim ends later than a claim of now would. Only a clock that was ahead writes such a claim."""

from __future__ import annotations

from collections.abc import Iterator

from groundplan.kernel.access import Permission
from groundplan.kernel.clock import JUMP_MIN, subtract_time
from groundplan.kernel.projects import ListProjects, list_projects
from groundplan.kernel.store.authorize import authorize_project
from groundplan.kernel.store.checkup import Finding, ok, warn
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.engine.claims import compute_lease_end, list_leases_after

CHECK = "leases"


def check_leases(tx: Transaction) -> Iterator[Finding]:
    """Yield a finding for each project of the actor with claims that end too late."""
    are_well = True
    for view in list_projects(tx, ListProjects(archived=True)).projects:
        tx.set_project(authorize_project(tx, view.id, Permission.WORK_READ, by_id=True))
        late = list_leases_after(tx, subtract_time(compute_lease_end(tx), -JUMP_MIN))
        if late:
            are_well = False
            last = max(lease.claimed_until for lease in late)
            yield warn(
                CHECK,
                f"{view.name}: {len(late)} claims end later than a claim of now would, the last at {last}",
                "check the clocks of the programs that write here; the holders can release or renew them",
            )
    if are_well:
        yield ok(CHECK, "no claim ends later than a claim of now would")
