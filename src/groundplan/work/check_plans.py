"""Check that the plan of each project can be finished. Writes refuse loops; older data may hold one."""

from __future__ import annotations

from collections.abc import Iterator

from groundplan.kernel.access import Permission
from groundplan.kernel.projects import ListProjects, list_projects
from groundplan.kernel.store.authorize import authorize_project
from groundplan.kernel.store.checkup import Finding, ok, warn
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.engine.cycles import describe_stored_loop, find_loop_in_project

CHECK = "plans"


def check_plans(tx: Transaction) -> Iterator[Finding]:
    """Yield a finding for each project of the actor whose plan holds a loop. This reads every open node."""
    loops = find_loops(tx)
    for project, loop in loops.items():
        wrong, _, fix = loop.partition("; ")
        yield warn(CHECK, f"the plan of {project} can never be finished: {wrong}", fix)
    if not loops:
        yield ok(CHECK, "every plan can be finished")


def find_loops(tx: Transaction) -> dict[str, str]:
    """Return a loop in words for each project that has one, by the name of the project."""
    loops = {}
    for project in list_projects(tx, ListProjects(archived=True)).projects:
        tx.set_project(authorize_project(tx, project.id, Permission.WORK_READ, by_id=True))
        if (loop := find_loop_in_project(tx)) is not None:
            loops[project.name] = describe_stored_loop(loop)
    return loops
