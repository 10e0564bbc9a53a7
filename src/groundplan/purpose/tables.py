"""The tables of the purpose, the permissions on their rows, the rules that freeze rows, and the events."""

from __future__ import annotations

from enum import StrEnum

from groundplan.kernel.access import Permission
from groundplan.kernel.errors import Conflict, RuleViolated
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.schema import OWN_DRAFT_OF_AGENT, FreezeRule, Table, in_project, make_error_factory


class Op(StrEnum):
    """The kinds of change to versions, their content and observations."""

    DRAFT_CREATED = "purpose.draft_created"
    PUBLISHED = "purpose.published"
    DISCARDED = "purpose.discarded"
    NODE_ADDED = "purpose.node_added"
    NODE_CHANGED = "purpose.node_changed"
    NODE_REMOVED = "purpose.node_removed"
    EDGE_ADDED = "purpose.edge_added"
    EDGE_CHANGED = "purpose.edge_changed"
    EDGE_REMOVED = "purpose.edge_removed"
    ASSUMPTION_ADDED = "purpose.assumption_added"
    ASSUMPTION_CHANGED = "purpose.assumption_changed"
    ASSUMPTION_REMOVED = "purpose.assumption_removed"
    INDICATOR_ADDED = "purpose.indicator_added"
    INDICATOR_CHANGED = "purpose.indicator_changed"
    INDICATOR_REMOVED = "purpose.indicator_removed"
    MEASURED = "purpose.measured"
    REVIEWED = "purpose.reviewed"
    WAIVED = "purpose.waived"
    DECIDED = "purpose.decided"
    REQUESTED = "purpose.requested"


# Errors for rules that database triggers enforce. The code itself never breaks these rules.


class VersionGap(Conflict):
    """A write would leave a gap in the version numbers, or change one."""

    code = "version_gap"


class KeyReused(Conflict):
    """A write would give a stable key to another item."""

    code = "key_reused"


class RunNotFinal(RuleViolated):
    """The run of facts of a version is not committed, or was deleted."""

    code = "run_not_final"


REFUSALS = {
    "version_gap": make_error_factory(VersionGap, "a version must have the next number of its project and keep it"),
    "key_reused": make_error_factory(KeyReused, "a key is never reused"),
    "run_not_final": make_error_factory(RunNotFinal, "this run is a draft or was deleted; use a run that is in force"),
}


_columns = load_queries(__file__).columns

_READ = in_project(Permission.PURPOSE_READ)
_WRITE = in_project(Permission.PURPOSE_WRITE)
_DISCARD = in_project(Permission.PURPOSE_DISCARD)
_RECORD = in_project(Permission.PURPOSE_RECORD)
_WAIVE = in_project(Permission.PURPOSE_WAIVE)

_PUBLISHING = (
    "status",
    "label",
    "content_hash",
    "context_run_id",
    "gates",
    "outside",
    "published_at",
    "published_by",
    "published_rev",
)
_ASSUMPTION = _columns["assumption"]

TABLES = (
    Table(
        "toc_versions",
        select=_READ,
        insert=_WRITE,
        # Editors need it for every status: an edit locks the row of the draft FOR SHARE, and a row that the policy
        # hides from the lock would look like a published one.
        update=_WRITE,
        delete=f"({_DISCARD}) OR ({_WRITE} AND {OWN_DRAFT_OF_AGENT} AND status = 'DRAFT')",
        update_columns=(*_PUBLISHING, "rev", "sole_writer", "updated_at"),
        reserved_columns={Permission.PURPOSE_PUBLISH: _PUBLISHING},
    ),
    Table("toc_keys", select=_READ, insert=_WRITE, update=_WRITE, update_columns=("last_number",)),
    Table(
        "toc_nodes",
        select=_READ,
        insert=_WRITE,
        update=_WRITE,
        delete=_WRITE,
        update_columns=_columns["node"],
    ),
    Table(
        "toc_edges",
        select=_READ,
        insert=_WRITE,
        update=_WRITE,
        delete=_WRITE,
        update_columns=_columns["edge"],
    ),
    Table("toc_assumptions", select=_READ, insert=_WRITE, update=_WRITE, delete=_WRITE, update_columns=_ASSUMPTION),
    Table(
        "toc_edge_assumptions", select=_READ, insert=_WRITE, update=_WRITE, delete=_WRITE, update_columns=_ASSUMPTION
    ),
    Table(
        "toc_indicators",
        select=_READ,
        insert=_WRITE,
        update=_WRITE,
        delete=_WRITE,
        update_columns=_columns["indicator"],
    ),
    Table("toc_measurements", select=_READ, insert=_RECORD, append_only=True),
    Table("toc_assumption_reviews", select=_READ, insert=_RECORD, append_only=True),
    Table("toc_waivers", select=_READ, insert=_WAIVE, append_only=True),
    Table("toc_decisions", select=_READ, insert=_RECORD, append_only=True),
    Table("toc_requests", select=_READ, insert=_RECORD, append_only=True),
)

# The child tables of a version, in the order in which a discarded draft deletes their rows.
VERSION_CHILD_TABLES = ("toc_indicators", "toc_edge_assumptions", "toc_assumptions", "toc_edges", "toc_nodes")

FROZEN = (
    FreezeRule(
        parent="toc_versions",
        key=("tenant_id", "id"),
        column="status",
        values=("PUBLISHED",),
        children=dict.fromkeys(VERSION_CHILD_TABLES, ("tenant_id", "toc_version_id")),
    ),
)
