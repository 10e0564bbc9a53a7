"""Named SQL: a slice keeps its statements in `queries.sql`, and in `queries.postgres.sql` the few that must differ.

    -- name: resolve_node
    -- One sentence about it.
    UPDATE … WHERE id = :id;

A parameter is written `:name` for both engines; here it becomes what each driver wants. Values never become SQL text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

# The few things in which a colon is not a parameter are matched first and kept as they are.
_TOKEN = re.compile(
    r"""(?P<keep>'(?:[^']|'')*' | "(?:[^"]|"")*" | --[^\n]* | ::)
      | :(?P<parameter>[a-z_][a-z0-9_]*)""",
    re.VERBOSE,
)
_NAME = re.compile(r"^-- name: *([a-z_][a-z0-9_]*) *$", re.MULTILINE)

# Filled in by the transaction; a caller can neither forget nor choose them.
AMBIENT = frozenset({"tenant_id", "actor_id", "now"})


class Query:
    """One named statement in the spelling of each engine."""

    __slots__ = ("ambient", "name", "parameters", "postgres", "sqlite")

    def __init__(self, name: str, sqlite: str, postgres: str | None = None) -> None:
        self.name = name
        self.sqlite = sqlite
        self.postgres = _for_psycopg(postgres or sqlite)
        self.parameters = _parameters(sqlite) | (_parameters(postgres) if postgres else frozenset())
        self.ambient = tuple(sorted(self.parameters & AMBIENT))

    def __repr__(self) -> str:
        return f"<Query {self.name}>"


class Queries:
    """The statements of one slice, as attributes."""

    def __init__(self, queries: dict[str, Query]) -> None:
        self._queries = queries

    def __getattr__(self, name: str) -> Query:
        try:
            return self._queries[name]
        except KeyError:
            raise AttributeError(f"no query named {name}") from None

    def __iter__(self) -> Iterator[Query]:
        return iter(self._queries.values())


@cache
def load_queries(module_file: str) -> Queries:
    """The queries that lie beside a module: `sql = load_queries(__file__)`."""
    folder = Path(module_file).parent
    shared = _parse(folder / "queries.sql")
    special = folder / "queries.postgres.sql"
    overrides = _parse(special) if special.exists() else {}
    strangers = overrides.keys() - shared.keys()
    if strangers:
        raise ValueError(f"{special} overrides what queries.sql does not have: {sorted(strangers)}")
    return Queries({name: Query(name, text, overrides.get(name)) for name, text in shared.items()})


def _parse(path: Path) -> dict[str, str]:
    parts = _NAME.split(path.read_text(encoding="utf-8"))[1:]
    names, texts = parts[::2], parts[1::2]
    if len(set(names)) != len(names):
        raise ValueError(f"{path} names a query twice")
    return dict(zip(names, map(_statement, texts), strict=True))


def _statement(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("--")]
    return "\n".join(lines).strip().removesuffix(";")


def _parameters(text: str) -> frozenset[str]:
    return frozenset(match["parameter"] for match in _TOKEN.finditer(text) if match["parameter"])


def _for_psycopg(text: str) -> str:
    def spell(match: re.Match[str]) -> str:
        return match["keep"] or f"%({match['parameter']})s"

    return _TOKEN.sub(spell, text.replace("%", "%%"))
