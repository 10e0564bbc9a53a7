"""Everything Groundplan consists of: the operations and the tables of the kernel and of every slice."""

from __future__ import annotations

from groundplan.kernel import ports, tables
from groundplan.kernel.members import add, bootstrap, remove
from groundplan.kernel.members import list as list_members
from groundplan.kernel.operations.registry import Registry
from groundplan.kernel.projects import archive, create
from groundplan.kernel.projects import list as list_projects
from groundplan.kernel.store.tables import Schema
from groundplan.work import connect, next, open, plan, restructure, update  # noqa: A004 - what one does
from groundplan.work import tables as work_tables
from groundplan.work.reading import context, history, onboard
from groundplan.work.root import plant_root
from groundplan.work.search import query

OPERATIONS = Registry(
    (
        list_projects.OPERATION,
        create.OPERATION,
        *archive.OPERATIONS,
        bootstrap.OPERATION,
        list_members.OPERATION,
        add.OPERATION,
        remove.OPERATION,
        open.OPERATION,
        plan.OPERATION,
        next.OPERATION,
        next.CLAIM,
        context.OPERATION,
        update.OPERATION,
        connect.OPERATION,
        query.OPERATION,
        restructure.OPERATION,
        history.OPERATION,
        onboard.OPERATION,
    )
)

ports.on_project_created.connect(plant_root)


def schema() -> Schema:
    """What the database enforces, for every table there is."""
    return Schema((*tables.TABLES, *work_tables.TABLES))
