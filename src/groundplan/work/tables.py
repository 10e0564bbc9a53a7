"""The tables of the work graph, and the permissions for each kind of access."""

from __future__ import annotations

from groundplan.kernel.access import Permission
from groundplan.kernel.errors import Conflict
from groundplan.kernel.store.schema import (
    IN_ORGANIZATION,
    WRITES_IN_ORGANIZATION,
    Table,
    in_project,
    make_error_factory,
)

_READ = in_project(Permission.WORK_READ)
_WRITE = in_project(Permission.WORK_UPDATE)

TABLES = (
    Table(
        "work_projects",
        select=_READ,
        insert=_WRITE,
        update=_WRITE,
        update_columns=(
            "last_n",
            "total",
            "resolved",
            "dropped",
            "blocked",
            "actionable",
            "pipelines",
            "features",
            "tasks",
            "tasks_closed",
            "tasks_dropped",
            "is_ordered",
        ),
        reserved_columns={Permission.PROJECT_CONFIGURE: ("pipelines",)},
    ),
    Table("work_nodes", select=_READ, insert=_WRITE, update=_WRITE, delete=_WRITE),
    Table("work_edges", select=_READ, insert=_WRITE, delete=_WRITE),
    Table("work_evidence", select=_READ, insert=_WRITE, delete=_WRITE),
    Table("work_merged", select=_READ, insert=_WRITE, delete=_WRITE),
    Table("work_merged_texts", select=_READ, insert=_WRITE, update=_WRITE, update_columns=("node_n",), delete=_WRITE),
    Table("work_removed", select=_READ, insert=_WRITE, append_only=True),
    Table("work_deleted", select=_READ, insert=_WRITE, append_only=True),
    Table(
        "work_features",
        select=_READ,
        insert=_WRITE,
        update=_WRITE,
        update_columns=("tasks", "tasks_closed", "tasks_dropped"),
        delete=_WRITE,
    ),
    Table(
        "work_sections",
        select=_READ,
        insert=_WRITE,
        update=_WRITE,
        update_columns=(
            "node_n",
            "ordinal",
            "version",
            "title",
            "usage_description",
            "content_format",
            "content",
            "modified_at",
            "modified_by",
        ),
        delete=_WRITE,
    ),
    Table("work_node_tags", select=_READ, insert=_WRITE, delete=_WRITE),
    Table("work_section_tags", select=_READ, insert=_WRITE, delete=_WRITE),
    Table("work_aliases", select=_READ, insert=_WRITE, update=_WRITE, update_columns=("node_n",), delete=_WRITE),
    Table("work_imports", select=_READ, insert=_WRITE, update=_WRITE, update_columns=("node_n", "digest", "base")),
    Table(
        "work_templates",
        select=IN_ORGANIZATION,
        insert=WRITES_IN_ORGANIZATION,
        update=WRITES_IN_ORGANIZATION,
        update_columns=("name", "description", "target", "tags", "is_protected", "is_enabled", "modified_at"),
        delete=WRITES_IN_ORGANIZATION,
    ),
    Table(
        "work_template_sections",
        select=IN_ORGANIZATION,
        insert=WRITES_IN_ORGANIZATION,
        delete=WRITES_IN_ORGANIZATION,
    ),
)


class ClaimNumberReused(Conflict):
    """The claim number would decrease, so that a late writer could pass as the current claimant."""

    code = "claim_number_reused"


REFUSALS = {"claim_step": make_error_factory(ClaimNumberReused, "the number of a claim can only increase")}

# Indexes rather than tables of rows: the text index of summaries, which only SQLite has.
INDEXES = ("work_text", "work_text_content")
