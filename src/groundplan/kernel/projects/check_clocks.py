"""Check that this clock agrees with the clocks that wrote last."""

from __future__ import annotations

from collections.abc import Iterator

from groundplan.kernel.access import Permission
from groundplan.kernel.clock import find_jump
from groundplan.kernel.projects.list import ListProjects, list_projects
from groundplan.kernel.store.authorize import authorize_project
from groundplan.kernel.store.checkup import Finding, ok, warn
from groundplan.kernel.store.transaction import Transaction

CHECK = "clocks"


def check_clocks(tx: Transaction) -> Iterator[Finding]:
    """Yield a finding for each project of the actor whose last write has another idea of the time."""
    agree = True
    for view in list_projects(tx, ListProjects(archived=True)).projects:
        project = authorize_project(tx, view.id, Permission.PROJECT_READ, by_id=True)
        jump = find_jump(tx.now, project, tx.uptime)
        if jump is not None:
            agree = False
            wrong, _, fix = jump.describe().partition("; ")
            yield warn(CHECK, f"{project.name}: {wrong}", fix)
    if agree:
        yield ok(CHECK, "this clock agrees with the last changes")
