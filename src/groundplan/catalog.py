"""Everything Groundplan consists of: the operations and the tables of the kernel and of every slice."""

from __future__ import annotations

from groundplan.kernel import ports, tables
from groundplan.kernel.members import add, bootstrap, remove
from groundplan.kernel.members import list as list_members
from groundplan.kernel.operations.registry import Registry
from groundplan.kernel.projects import archive, create
from groundplan.kernel.projects import list as list_projects
from groundplan.kernel.store.tables import Schema
from groundplan.knowledge import append_changelog, delete, record_check
from groundplan.knowledge import create as create_knowledge
from groundplan.knowledge import tables as knowledge_tables
from groundplan.knowledge import update as update_knowledge
from groundplan.knowledge.reading import context as knowledge_context
from groundplan.knowledge.reading import get, search, search_changelog
from groundplan.knowledge.reading import list as list_atoms
from groundplan.work import connect, next, open, plan, restructure, update  # noqa: A004 - what one does
from groundplan.work import tables as work_tables
from groundplan.work.reading import context, history, onboard
from groundplan.work.refs import task_meant
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
        create_knowledge.OPERATION,
        update_knowledge.OPERATION,
        append_changelog.OPERATION,
        knowledge_context.OPERATION,
        get.OPERATION,
        search.OPERATION,
        search_changelog.OPERATION,
        list_atoms.OPERATION,
        record_check.OPERATION,
        delete.OPERATION,
    )
)

ports.on_project_created.connect(plant_root)
ports.task_meant.connect(task_meant)


def schema() -> Schema:
    """What the database enforces, for every table there is."""
    return Schema((*tables.TABLES, *work_tables.TABLES, *knowledge_tables.TABLES))
