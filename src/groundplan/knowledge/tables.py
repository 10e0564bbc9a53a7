"""The tables of knowledge and the permissions on their rows."""

from __future__ import annotations

from groundplan.kernel.access import Permission
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.schema import Table, in_project

_READ = in_project(Permission.KNOWLEDGE_READ)
_WRITE = in_project(Permission.KNOWLEDGE_WRITE)

_COLUMNS = load_queries(__file__).columns
_MUTABLE_COLUMNS = (*_COLUMNS["revised"], "words")

TABLES = (
    Table(
        "graph_projects",
        select=_READ,
        insert=_WRITE,
        update=_WRITE,
        update_columns=("rev", "last_n", "patterns", "patterns_rev"),
    ),
    Table(
        "graph_molecules",
        select=_READ,
        insert=_WRITE,
        update=_WRITE,
        delete=_WRITE,
        update_columns=(*_MUTABLE_COLUMNS, *_COLUMNS["molecule"]),
    ),
    Table(
        "graph_atoms",
        select=_READ,
        insert=_WRITE,
        update=_WRITE,
        delete=_WRITE,
        update_columns=(*_MUTABLE_COLUMNS, *_COLUMNS["atom"]),
    ),
    Table("graph_changelog", select=_READ, insert=_WRITE, append_only=True),
    Table("graph_deleted", select=_READ, insert=_WRITE, append_only=True),
    Table(
        "graph_freshness",
        select=_READ,
        insert=_WRITE,
        update=_WRITE,
        delete=_WRITE,
    ),
    Table("graph_files", select=_READ, insert=_WRITE, update=_WRITE, update_columns=_COLUMNS["checked"]),
)

# The full-text indexes of words and of their trigrams, which only SQLite has.
INDEXES = ("graph_text", "graph_trigrams")
