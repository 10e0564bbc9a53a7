"""The statements that an operation would run: those of the slice, so what the checklist shows is what happens."""

from __future__ import annotations

from collections.abc import Iterator

from groundplan.kernel.store.queries import Query
from groundplan.purpose import version
from groundplan.purpose.editing import drafting
from groundplan.purpose.versions import publish

VERSIONS_QUERY = version.sql.versions
PUBLISH_QUERY = publish.sql.publish_version

# By what the operation is about, and its verb.
_STATEMENTS: dict[tuple[str, str], Query] = {
    ("node", "CREATE"): drafting.sql.add_node,
    ("node", "UPDATE"): drafting.sql.change_node,
    ("node", "DELETE"): drafting.sql.remove_node,
    ("edge", "CREATE"): drafting.sql.add_edge,
    ("edge", "UPDATE"): drafting.sql.change_edge,
    ("edge", "DELETE"): drafting.sql.remove_edge,
    ("node assumption", "ADD"): drafting.sql.add_assumption,
    ("node assumption", "UPDATE"): drafting.sql.change_assumption,
    ("node assumption", "DELETE"): drafting.sql.remove_assumption,
    ("edge assumption", "ADD"): drafting.sql.add_edge_assumption,
    ("edge assumption", "UPDATE"): drafting.sql.change_edge_assumption,
    ("edge assumption", "DELETE"): drafting.sql.remove_edge_assumption,
}


def format_statement(title: str, query: Query | None) -> Iterator[str]:
    """A statement under its title; nothing where the operation runs none."""
    if query is not None:
        yield f"**{title}:**"
        yield "```sql"
        yield f"{query.sqlite};"
        yield "```"
        yield ""


def statement(about: str, verb: str | None) -> Query | None:
    """The statement for a `node`, an `edge`, a `node assumption` or an `edge assumption`."""
    return _STATEMENTS.get((about, verb or ""))
