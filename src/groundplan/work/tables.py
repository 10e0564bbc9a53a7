"""The tables of the work graph and who may touch their rows."""

from __future__ import annotations

from groundplan.kernel.access import Permission
from groundplan.kernel.store.tables import Table, in_project

_READ = in_project(Permission.WORK_READ)
_WRITE = in_project(Permission.WORK_UPDATE)

TABLES = (
    Table(
        "work_projects",
        select=_READ,
        insert=_WRITE,
        update=_WRITE,
        update_columns=("last_n", "total", "resolved", "blocked", "actionable"),
    ),
    Table("work_nodes", select=_READ, insert=_WRITE, update=_WRITE, delete=_WRITE, read_by_functions=True),
    Table("work_edges", select=_READ, insert=_WRITE, delete=_WRITE),
    Table("work_evidence", select=_READ, insert=_WRITE, delete=_WRITE),
    Table("work_merged", select=_READ, insert=_WRITE, read_by_functions=True),
)

# Not rows but where to find them: the index of summaries, which only SQLite has.
INDEXES = ("work_text",)
