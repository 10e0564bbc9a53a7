"""The tables of context, the permissions on their rows, and when rows become final."""

from __future__ import annotations

from groundplan.kernel.access import Permission
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.schema import FreezeRule, Table, in_project

_READ = in_project(Permission.CONTEXT_READ)
_WRITE = in_project(Permission.CONTEXT_WRITE)
_DELETE = in_project(Permission.CONTEXT_DELETE)
# A draft that nobody but the actor has written; `sole_writer` is null once somebody else writes.
_OWN_DRAFT = "sole_writer = (SELECT gp_actor()) AND status = 'draft'"
# Whoever removed their own draft notes it here; they cannot hide a run that exists.
_IS_REMOVED = (
    "NOT EXISTS (SELECT 1 FROM pciv_runs AS r"
    " WHERE r.tenant_id = pciv_deleted_runs.tenant_id AND r.id = pciv_deleted_runs.run_id)"
)

_COLUMNS = load_queries(__file__).columns

TABLES = (
    Table(
        "pciv_runs",
        select=_READ,
        insert=_WRITE,
        update=_WRITE,
        delete=f"({_DELETE}) OR ({_WRITE} AND {_OWN_DRAFT})",
        update_columns=(
            *("user_id", "status", "allow_partial", "committed_at", "sole_writer", "updated_at", "rev"),
            *("committed_by", "committer_kind", "replaced_run_id", "base_run_id"),
        ),
    ),
    Table("pciv_deleted_runs", select=_READ, insert=f"({_DELETE}) OR ({_WRITE} AND {_IS_REMOVED})", append_only=True),
    Table(
        "pciv_sources",
        select=_READ,
        insert=_WRITE,
        update=_WRITE,
        delete=_WRITE,
        update_columns=_COLUMNS["source"],
    ),
    Table(
        "pciv_inputs",
        select=_READ,
        insert=_WRITE,
        update=_WRITE,
        delete=_WRITE,
        update_columns=(*_COLUMNS["value"], *_COLUMNS["input"]),
    ),
    Table("pciv_input_sources", select=_READ, insert=_WRITE, delete=_WRITE),
    Table(
        "pciv_constraints",
        select=_READ,
        insert=_WRITE,
        update=_WRITE,
        delete=_WRITE,
        update_columns=(*_COLUMNS["value"], *_COLUMNS["constraint"]),
    ),
    Table(
        "pciv_artifacts",
        select=_READ,
        insert=_WRITE,
        update=_WRITE,
        delete=_WRITE,
        update_columns=_COLUMNS["artifact"],
    ),
    Table(
        "pciv_suggestions",
        select=_READ,
        insert=_WRITE,
        update=_WRITE,
        delete=_WRITE,
        update_columns=("source_ids", "status", "decided_at", "decided_by"),
    ),
)

# The tables below a run, in the order in which rows can be deleted.
RUN_CHILD_TABLES = (
    "pciv_suggestions",
    "pciv_input_sources",
    "pciv_constraints",
    "pciv_inputs",
    "pciv_sources",
    "pciv_artifacts",
)

FROZEN = (
    FreezeRule(
        parent="pciv_runs",
        key=("tenant_id", "id"),
        column="status",
        values=("committed", "partial_committed"),
        children=dict.fromkeys(RUN_CHILD_TABLES, ("tenant_id", "run_id")),
    ),
)

# The members of a scope, under the name that the contract uses; and what one run displaces of another.
VIEWS = ("pciv_scope_members", "pciv_displaced")
