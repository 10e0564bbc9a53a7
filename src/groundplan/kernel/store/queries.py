"""Named SQL: a slice keeps its statements in `queries.sql`, and in `queries.postgres.sql` the few that must differ.

    -- name: resolve_node
    -- One sentence about it.
    UPDATE … WHERE id = :id;

A parameter is written `:name` for both engines; here it becomes what each driver wants. Values never become SQL text.
`each(:list)` stands for the elements of a JSON array, and `{name}` for a part that several statements share:

    -- part: filters
    AND …
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import msgspec

# The few things in which a colon is not a parameter are matched first and kept as they are.
_TOKEN = re.compile(
    r"""(?P<keep>'(?:[^']|'')*' | "(?:[^"]|"")*" | --[^\n]* | ::)
      | :(?P<parameter>[a-z_][a-z0-9_]*)""",
    re.VERBOSE,
)
_NAME = re.compile(r"^-- (name|part): *([a-z_][a-z0-9_]*) *$", re.MULTILINE)
_PART = re.compile(r"\{([a-z_]+)\}")
_EACH = re.compile(r"\beach\(")
# PostgreSQL joins with a subselect and reads the whole table for it; an array, made once, is looked up in the index.
_IN_EACH = re.compile(r"\bIN \((SELECT [^()]+(?:\([^()]*\))? FROM each\(:\w+\))\)")

# Filled in by the transaction; a caller can neither forget nor choose them.
AMBIENT = frozenset({"tenant_id", "actor_id", "now"})


class Query:
    """One named statement in the spelling of each engine."""

    __slots__ = ("ambient", "name", "parameters", "postgres", "sqlite")

    def __init__(self, name: str, sqlite: str, postgres: str | None = None) -> None:
        self.name = name
        self.sqlite = _EACH.sub("json_each(", sqlite)
        self.postgres = _for_psycopg(_EACH.sub("gp_each(", _IN_EACH.sub(r"= ANY (ARRAY(\1))", postgres or sqlite)))
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


def listed(values: Iterable[int | str]) -> str:
    """Values as `each(:name)` takes them."""
    return msgspec.json.encode(list(values)).decode()


def load_queries(module_file: str) -> Queries:
    """The queries that lie beside a module: `sql = load_queries(__file__)`."""
    return _of_folder(Path(module_file).parent)


@cache  # by folder: the modules of one share its statements
def _of_folder(folder: Path) -> Queries:
    shared, parts = _parse(folder / "queries.sql")
    special = folder / "queries.postgres.sql"
    overrides, other_parts = _parse(special) if special.exists() else ({}, {})
    strangers = overrides.keys() - shared.keys()
    if strangers:
        raise ValueError(f"{special} overrides what queries.sql does not have: {sorted(strangers)}")
    return Queries(
        {
            name: Query(name, _whole(text, parts), _whole(overrides.get(name, text), parts | other_parts))
            for name, text in shared.items()
        }
    )


def _parse(path: Path) -> tuple[dict[str, str], dict[str, str]]:
    """The statements of a file and the parts they share, by name."""
    found: dict[str, dict[str, str]] = {"name": {}, "part": {}}
    pieces = _NAME.split(path.read_text(encoding="utf-8"))[1:]
    for kind, name, text in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True):
        if name in found[kind]:
            raise ValueError(f"{path} has two of the {kind} {name}")
        found[kind][name] = _statement(text)
    return found["name"], found["part"]


def _whole(text: str, parts: dict[str, str]) -> str:
    while _PART.search(text):
        text = _PART.sub(lambda match: parts[match[1]], text)
    return text


def _statement(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("--")]
    return "\n".join(lines).strip().removesuffix(";")


def _parameters(text: str) -> frozenset[str]:
    return frozenset(match["parameter"] for match in _TOKEN.finditer(text) if match["parameter"])


def _for_psycopg(text: str) -> str:
    def spell(match: re.Match[str]) -> str:
        return match["keep"] or f"%({match['parameter']})s"

    return _TOKEN.sub(spell, text.replace("%", "%%"))
