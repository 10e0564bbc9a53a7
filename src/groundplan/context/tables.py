"""The tables of context, who may touch their rows, and when these become final."""

from __future__ import annotations

from groundplan.kernel.access import Permission
from groundplan.kernel.store.tables import FrozenWhen, Table, in_project

_READ = in_project(Permission.CONTEXT_READ)
_WRITE = in_project(Permission.CONTEXT_WRITE)
_DELETE = in_project(Permission.CONTEXT_DELETE)

_VALUE = ("value_kind", "value_string", "value_number", "value_boolean", "value_enum", "value_json", "provenance")

TABLES = (
    Table(
        "pciv_runs",
        select=_READ,
        insert=_WRITE,
        update=_WRITE,
        delete=_DELETE,
        update_columns=("user_id", "status", "allow_partial", "committed_at", "updated_at", "rev"),
    ),
    Table("pciv_deleted_runs", select=_READ, insert=_DELETE, append_only=True),
    Table(
        "pciv_sources",
        select=_READ,
        insert=_WRITE,
        update=_WRITE,
        delete=_WRITE,
        update_columns=(
            "kind",
            "title",
            "uri",
            "file_id",
            "mime_type",
            "size_bytes",
            "parse_status",
            "excerpt",
            "raw_meta",
        ),
    ),
    Table(
        "pciv_inputs",
        select=_READ,
        insert=_WRITE,
        update=_WRITE,
        delete=_WRITE,
        update_columns=(
            *_VALUE,
            "label",
            "domain",
            "required",
            "field_type",
            "options",
            "updated_by",
            "updated_at",
            "evidence_snippet",
        ),
    ),
    Table("pciv_input_sources", select=_READ, insert=_WRITE, delete=_WRITE),
    Table(
        "pciv_constraints",
        select=_READ,
        insert=_WRITE,
        update=_WRITE,
        delete=_WRITE,
        update_columns=(*_VALUE, "key", "domain", "label", "source_id", "snippet"),
    ),
    Table(
        "pciv_artifacts",
        select=_READ,
        insert=_WRITE,
        update=_WRITE,
        delete=_WRITE,
        update_columns=("type", "title", "payload"),
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

# What lies below a run, from the bottom up: so it can be removed with a draft.
BELOW_A_RUN = (
    "pciv_suggestions",
    "pciv_input_sources",
    "pciv_constraints",
    "pciv_inputs",
    "pciv_sources",
    "pciv_artifacts",
)

FROZEN = (
    FrozenWhen(
        parent="pciv_runs",
        key=("tenant_id", "id"),
        column="status",
        values=("committed", "partial_committed"),
        children=dict.fromkeys(BELOW_A_RUN, ("tenant_id", "run_id")),
    ),
)

# The members of a scope, under the contract's name.
VIEWS = ("pciv_scope_members",)
