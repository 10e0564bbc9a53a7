"""Named SQL: the statements of a slice are in `queries.sql`, those that differ on PostgreSQL in `queries.postgres.sql`.

    -- name: resolve_node
    -- One sentence about it.
    UPDATE … WHERE id = :id;

A parameter is written `:name` for both engines and is converted for each driver. Values never become SQL text.
`each(:list)` returns the elements of a JSON array, and `{name}` inserts a part that several statements share:

    -- part: filters
    AND …

Columns that several statements read or write are listed once, for this folder and those below it:

    -- columns: node
    summary, resolved

    {node}          summary, resolved
    {c.node}        c.summary, c.resolved
    {node:values}   :summary, :resolved
    {node:set}      summary = :summary, resolved = :resolved
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

# Tokens in which a colon is not a parameter are matched first and kept.
_TOKEN = re.compile(
    r"""(?P<keep>'(?:[^']|'')*' | "(?:[^"]|"")*" | --[^\n]* | ::)
      | :(?P<parameter>[a-z_][a-z0-9_]*)""",
    re.VERBOSE,
)
_NAME = re.compile(r"^-- (name|part|columns): *([a-z_][a-z0-9_]*) *$", re.MULTILINE)
_PART = re.compile(r"\{(?:([a-z_]+)\.)?([a-z_]+)(?::(values|set))?\}")
_EACH = re.compile(r"\beach\(")
# PostgreSQL reads the whole table to join with a subquery; for an array it uses the index.
_IN_EACH = re.compile(r"\bIN \((SELECT [^()]+(?:\([^()]*\))? FROM each\(:\w+\))\)")


class Query:
    """One named statement, with its text for each engine.

    `numbered` is the text for SQLite with numbered parameters, and `pick_values` returns their values: SQLite would
    look up the name of each parameter each time. These, the text for PostgreSQL and the parameters are found when they
    are first used: a server that starts has hundreds of statements, and needs few of them.
    """

    __slots__ = ("_for_postgres", "_text", "name", "numbered", "parameters", "pick_values", "postgres", "sqlite")

    name: str
    sqlite: str
    numbered: str
    pick_values: Callable[[Mapping[str, Any]], Sequence[Any]]
    postgres: str
    parameters: frozenset[str]

    def __init__(self, name: str, sqlite: str, for_postgres: Callable[[], str] | None = None) -> None:
        self.name = name
        self.sqlite = _EACH.sub("json_each(", sqlite)
        self._text = sqlite
        self._for_postgres = for_postgres

    def __getattr__(self, name: str) -> Any:
        # Only for a slot that is not filled yet.
        if name not in self.__slots__:
            raise AttributeError(name)
        if name in ("numbered", "pick_values"):
            self.numbered, self.pick_values = _number_parameters(self.sqlite)
            return getattr(self, name)
        text = self._for_postgres() if self._for_postgres else self._text
        self.postgres = _to_psycopg(_EACH.sub("gp_each(", _IN_EACH.sub(r"= ANY (ARRAY(\1))", text)))
        self.parameters = _find_parameters(self._text) | _find_parameters(text)
        return getattr(self, name)

    def __repr__(self) -> str:
        return f"<Query {self.name}>"


class Queries:
    """The statements of one folder as attributes, and its column lists by name."""

    def __init__(self, queries: dict[str, Query], columns: dict[str, tuple[str, ...]]) -> None:
        vars(self).update(queries)  # plain attributes, because every statement that runs reads one
        self.columns = columns
        self._queries = tuple(queries.values())

    def __getattr__(self, name: str) -> Query:
        raise AttributeError(f"no query named {name}")

    def __iter__(self) -> Iterator[Query]:
        return iter(self._queries)


def to_json_array(values: Iterable[int | str]) -> str:
    """Return values as the JSON array that `each(:name)` takes."""
    return msgspec.json.encode(list(values)).decode()


def load_queries(module_file: str) -> Queries:
    """Return the queries in the folder of a module: `sql = load_queries(__file__)`."""
    return _load_folder(Path(module_file).parent)


@cache  # the modules of a folder share the statements
def _load_folder(folder: Path) -> Queries:
    texts = _load_texts(folder)
    expanded = {
        name: Query(name, texts.shared.expand(name), partial(texts.postgres.expand, name)) for name in texts.own
    }
    return Queries(expanded, texts.shared.columns)


class _FolderTexts(NamedTuple):
    """The texts of a folder for each engine, with the parts and columns of the folders above it."""

    own: list[str]  # the names of its statements
    shared: _SqlFile
    postgres: _SqlFile


@cache
def _load_texts(folder: Path) -> _FolderTexts:
    shared = _parse(folder / "queries.sql")
    special = folder / "queries.postgres.sql"
    overrides = _parse(special) if special.exists() else _SqlFile({}, {}, {})
    unknown = overrides.statements.keys() - shared.statements.keys()
    if unknown:
        raise ValueError(f"{special} overrides statements that are not in queries.sql: {sorted(unknown)}")
    postgres = shared.extend(overrides)
    if (folder.parent / "queries.sql").exists():
        above = _load_texts(folder.parent)
        shared = shared.inherit(above.shared)
        postgres = postgres.inherit(above.postgres)
    return _FolderTexts(list(shared.statements), shared, postgres)


class _SqlFile(NamedTuple):
    """The statements, shared parts and column lists of a file, by name."""

    statements: dict[str, str]
    parts: dict[str, str]
    columns: dict[str, tuple[str, ...]]

    def extend(self, others: _SqlFile) -> _SqlFile:
        """Return this file with the texts of `others` in place of those of the same name."""
        return _SqlFile(self.statements | others.statements, self.parts | others.parts, self.columns | others.columns)

    def inherit(self, above: _SqlFile) -> _SqlFile:
        """Return this file with the parts and columns of the folder above that it does not define itself."""
        return _SqlFile(self.statements, above.parts | self.parts, above.columns | self.columns)

    def expand(self, name: str) -> str:
        """Return a statement with its parts and columns inserted."""
        text = self.statements[name]
        while _PART.search(text):
            text = _PART.sub(self._expand_match, text)
        return text

    def _expand_match(self, match: re.Match[str]) -> str:
        alias, name, form = match.groups()
        if name in self.parts and alias is None and form is None:
            return self.parts[name]
        columns = self.columns[name]
        if form == "values":
            return ", ".join(f":{column}" for column in columns)
        if form == "set":
            return ", ".join(f"{column} = :{column}" for column in columns)
        return ", ".join(f"{alias}.{column}" for column in columns) if alias else ", ".join(columns)


def _parse(path: Path) -> _SqlFile:
    found: dict[str, dict[str, str]] = {"name": {}, "part": {}, "columns": {}}
    pieces = _NAME.split(path.read_text(encoding="utf-8"))[1:]
    for kind, name, text in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True):
        if name in found[kind]:
            raise ValueError(f"{path} has two of the {kind} {name}")
        found[kind][name] = _strip_comments(text)
    columns = {name: tuple(map(str.strip, text.split(","))) for name, text in found["columns"].items()}
    return _SqlFile(found["name"], found["part"], columns)


def _strip_comments(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("--")]
    return "\n".join(lines).strip().removesuffix(";")


def _find_parameters(text: str) -> frozenset[str]:
    return frozenset(match["parameter"] for match in _TOKEN.finditer(text) if match["parameter"])


def _number_parameters(text: str) -> tuple[str, Callable[[Mapping[str, Any]], Sequence[Any]]]:
    """Return a statement with numbered parameters, and the function that picks their values by name, in order."""
    numbers: dict[str, int] = {}

    def number(match: re.Match[str]) -> str:
        name = match["parameter"]
        return match["keep"] if name is None else f"?{numbers.setdefault(name, len(numbers) + 1)}"

    numbered = _TOKEN.sub(number, text)
    names = list(numbers)
    if len(names) > 1:
        return numbered, itemgetter(*names)
    return numbered, lambda values: [values[name] for name in names]  # itemgetter returns no tuple for one name


def _to_psycopg(text: str) -> str:
    def spell(match: re.Match[str]) -> str:
        return match["keep"] or f"%({match['parameter']})s"

    return _TOKEN.sub(spell, text.replace("%", "%%"))
