"""Everything Groundplan consists of: the operations and the tables of the kernel and of every slice."""

from __future__ import annotations

from groundplan.kernel import tables
from groundplan.kernel.members import add, bootstrap, remove
from groundplan.kernel.members import list as list_members
from groundplan.kernel.operations.registry import Registry
from groundplan.kernel.projects import archive, create
from groundplan.kernel.projects import list as list_projects
from groundplan.kernel.store.tables import Schema

OPERATIONS = Registry(
    (
        list_projects.OPERATION,
        create.OPERATION,
        *archive.OPERATIONS,
        bootstrap.OPERATION,
        list_members.OPERATION,
        add.OPERATION,
        remove.OPERATION,
    )
)


def schema() -> Schema:
    """What the database enforces, for every table there is."""
    return Schema(tables.TABLES)
