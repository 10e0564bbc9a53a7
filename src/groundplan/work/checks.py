"""The checks of the doctor about work: no claim ends too late, and no plan has a loop.

Only a clock that was ahead writes a claim that ends later than one of now would. Writes refuse loops; older data may
hold one.
"""

from __future__ import annotations

from collections.abc import Iterator

from groundplan.kernel.access import Permission
from groundplan.kernel.clock import JUMP_MIN, subtract_time
from groundplan.kernel.projects import ListProjects, list_projects
from groundplan.kernel.store.authorize import authorize_project
from groundplan.kernel.store.checkup import Finding, ok, warn
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.claims import compute_lease_limit, list_leases_after
from groundplan.work.waiting.cycles import describe_stored_loop, find_loop_in_project

LEASES = "leases"
PLANS = "plans"


def check_leases(tx: Transaction) -> Iterator[Finding]:
    """Yield a finding for each project of the actor with claims that end too late."""
    are_well = True
    for view in list_projects(tx, ListProjects(archived=True)).projects:
        tx.set_project(authorize_project(tx, view.id, Permission.WORK_READ, by_id=True))
        late = list_leases_after(tx, subtract_time(compute_lease_limit(tx), -JUMP_MIN))
        if late:
            are_well = False
            last = max(lease.claimed_until for lease in late)
            yield warn(
                LEASES,
                f"{view.name}: {len(late)} claims end later than a claim of now would, the last at {last}",
                "check the clocks of the programs that write here; the holders can release or renew them",
            )
    if are_well:
        yield ok(LEASES, "no claim ends later than a claim of now would")


def check_plans(tx: Transaction) -> Iterator[Finding]:
    """Yield a finding for each project of the actor whose plan has a loop. This reads every open node."""
    loops = find_loops(tx)
    for project, loop in loops.items():
        wrong, _, fix = loop.partition("; ")
        yield warn(PLANS, f"the plan of {project} can never be finished: {wrong}", fix)
    if not loops:
        yield ok(PLANS, "every plan can be finished")


def find_loops(tx: Transaction) -> dict[str, str]:
    """Return a loop as text for each project that has one, by the name of the project."""
    loops = {}
    for project in list_projects(tx, ListProjects(archived=True)).projects:
        tx.set_project(authorize_project(tx, project.id, Permission.WORK_READ, by_id=True))
        if (loop := find_loop_in_project(tx)) is not None:
            loops[project.name] = describe_stored_loop(loop)
    return loops
