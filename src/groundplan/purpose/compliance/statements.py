"""The SQL statements of each operation, taken from the slice, so that the checklist shows what really runs."""

from __future__ import annotations

from collections.abc import Iterator

from groundplan.kernel.store.queries import Query
from groundplan.purpose import version
from groundplan.purpose.editing import draft_state
from groundplan.purpose.versions import publish

VERSIONS_QUERY = version.sql.versions
PUBLISH_QUERY = publish.sql.publish_version

# By subject and verb of the operation.
_STATEMENTS: dict[tuple[str, str], Query] = {
    ("node", "CREATE"): draft_state.sql.add_node,
    ("node", "UPDATE"): draft_state.sql.change_node,
    ("node", "DELETE"): draft_state.sql.remove_node,
    ("edge", "CREATE"): draft_state.sql.add_edge,
    ("edge", "UPDATE"): draft_state.sql.change_edge,
    ("edge", "DELETE"): draft_state.sql.remove_edge,
    ("node assumption", "ADD"): draft_state.sql.add_assumption,
    ("node assumption", "UPDATE"): draft_state.sql.change_assumption,
    ("node assumption", "DELETE"): draft_state.sql.remove_assumption,
    ("edge assumption", "ADD"): draft_state.sql.add_edge_assumption,
    ("edge assumption", "UPDATE"): draft_state.sql.change_edge_assumption,
    ("edge assumption", "DELETE"): draft_state.sql.remove_edge_assumption,
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
