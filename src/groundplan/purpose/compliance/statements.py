"""The SQL statements of each operation, taken from the slice, so that the checklist shows what really runs."""

from __future__ import annotations

from collections.abc import Iterator

from groundplan.kernel.store.queries import Query
from groundplan.purpose.editing import draft
from groundplan.purpose.versions import publish, versions

VERSIONS_QUERY = versions.sql.versions
PUBLISH_QUERY = publish.sql.publish_version

# By subject and verb of the operation.
_STATEMENTS: dict[tuple[str, str], Query] = {
    ("node", "CREATE"): draft.sql.add_node,
    ("node", "UPDATE"): draft.sql.change_node,
    ("node", "DELETE"): draft.sql.remove_node,
    ("edge", "CREATE"): draft.sql.add_edge,
    ("edge", "UPDATE"): draft.sql.change_edge,
    ("edge", "DELETE"): draft.sql.remove_edge,
    ("node assumption", "ADD"): draft.sql.add_assumption,
    ("node assumption", "UPDATE"): draft.sql.change_assumption,
    ("node assumption", "DELETE"): draft.sql.remove_assumption,
    ("edge assumption", "ADD"): draft.sql.add_edge_assumption,
    ("edge assumption", "UPDATE"): draft.sql.change_edge_assumption,
    ("edge assumption", "DELETE"): draft.sql.remove_edge_assumption,
}


def format_statement(title: str, query: Query | None) -> Iterator[str]:
    """Yield a statement under its title, or nothing if the operation runs none."""
    if query is not None:
        yield f"**{title}:**"
        yield "```sql"
        yield f"{query.sqlite};"
        yield "```"
        yield ""


def find_statement(subject: str, verb: str | None) -> Query | None:
    """Return the statement for a `node`, an `edge`, a `node assumption` or an `edge assumption`."""
    return _STATEMENTS.get((subject, verb or ""))
