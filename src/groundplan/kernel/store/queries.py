"""Named SQL: `claims.sql` has the statements of `claims.py`, and `claims.postgres.sql` has variants for PostgreSQL.

What several modules of a folder use is in its `queries.sql` and `queries.postgres.sql`.

    -- name: resolve_node
    -- One sentence about it.
    UPDATE … WHERE id = :id;

A parameter is written `:name`, as SQLite has it, and is converted for PostgreSQL. Values never become SQL text.
`each(:list)` returns the elements of a JSON array as texts, `each_number(:list)` as integers, and `{name}` inserts a
part that several statements share:

    -- part: filters
    AND …

Columns that several statements read or write are listed once; those of a `queries.sql`, like its parts, serve its
folder and those below it:

    -- columns: node
    summary, resolved

    {node}          summary, resolved
    {c.node}        c.summary, c.resolved
    {node:values}   :summary, :resolved
    {node:set}      summary = :summary, resolved = :resolved
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from itertools import starmap
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar

import msgspec

SHARED = "queries.sql"  # of a folder
PACKAGE = Path(__file__).parents[2]

# These patterns are compiled by the first statement for PostgreSQL.
# Tokens in which a colon is not a parameter are matched first and kept.
_LITERAL_OR_PARAMETER = r"""(?x)(?P<keep>'(?:[^']|'')*' | "(?:[^"]|"")*" | --[^\n]* | ::)
      | :(?P<parameter>[a-z_][a-z0-9_]*)"""
_EACH, _EACH_NUMBER = "each(", "each_number("
# PostgreSQL reads the whole table to join with a subquery; for an array it uses the index.
_IN_EACH = r"\bIN \((SELECT [^()]+(?:\([^()]*\))? FROM each(?:_number)?\(:\w+\))\)"


class Query:
    """One named statement, with its text for each engine.

    The text for PostgreSQL and the parameters are found when they are first used: a server that starts has hundreds of
    statements, and needs few of them.
    """

    __slots__ = ("_for_postgres", "_text", "name", "parameters", "postgres", "sqlite")

    name: str
    sqlite: str
    postgres: str
    parameters: frozenset[str]

    def __init__(self, name: str, sqlite: str, for_postgres: Callable[[], str] | None = None) -> None:
        self.name = name
        self.sqlite = _name_each(sqlite, "json_each(", "json_each(")
        self._text = sqlite
        self._for_postgres = for_postgres

    def __getattr__(self, name: str) -> Any:
        # Only for a slot that is not filled yet.
        if name not in self.__slots__:
            raise AttributeError(name)
        text = self._for_postgres() if self._for_postgres else self._text
        text = re.sub(_IN_EACH, r"= ANY (ARRAY(\1))", text)
        self.postgres = _to_psycopg(_name_each(text, "gp_each(", "gp_each_number("))
        self.parameters = _find_parameters(self._text) | _find_parameters(text)
        return getattr(self, name)

    def __repr__(self) -> str:
        return f"<Query {self.name}>"


class Queries:
    """The statements of one file as attributes, together with those of `queries.sql` in its folder, and column lists.

    The file is read when the first of them is used: modules load together with others that have what a request needs.
    """

    def __init__(self, path: Path, shared: Queries | None = None) -> None:
        self._path = path
        self._shared = shared

    def __getattr__(self, name: str) -> Query:
        # Only for a statement that is not used yet; then it is a plain attribute, because every statement that runs
        # reads one.
        if name.startswith("__"):
            raise AttributeError(name)
        texts = self._texts
        if name in texts.own:
            query = Query(name, texts.shared.expand(name), lambda: texts.postgres.expand(name))
        elif self._shared is not None:
            query = getattr(self._shared, name)
        else:
            raise AttributeError(f"no query named {name}")
        added: Query = vars(self).setdefault(name, query)  # two threads get the same
        return added

    def __iter__(self) -> Iterator[Query]:
        return (getattr(self, name) for name in self._texts.own)

    @property
    def columns(self) -> dict[str, tuple[str, ...]]:
        """The lists of columns by name."""
        return self._texts.shared.columns

    @property
    def _texts(self) -> _QueryTexts:
        return _load_texts(self._path)


def to_json_array(values: Iterable[int | str]) -> str:
    """Return values as the JSON array that `each(:name)` takes."""
    return msgspec.json.encode(list(values)).decode()


def load_queries(module_file: str) -> Queries:
    """Return the queries of a module: `sql = load_queries(__file__)`.

    They are in the file of its name, `claims.sql` of `claims.py`, and in `queries.sql` of its folder, which its modules
    share.
    """
    own = Path(module_file).with_suffix(".sql")
    shared = own.with_name(SHARED)
    if own == shared or not own.exists():
        return _load_file(shared)
    return _load_file(own, _load_file(shared) if shared.exists() else None)


def _load_file(path: Path, shared: Queries | None = None) -> Queries:
    return _queries.get(path) or _queries.setdefault(path, Queries(path, shared))


_queries: dict[Path, Queries] = {}  # by file: the modules of a folder share its statements


class _QueryTexts:
    """The texts of a file, with the parts and columns of its folder and of the folders above it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._special = path.with_suffix(".postgres.sql")
        self._file = _parse(path)
        above = _find_above(path)
        self._above = _load_texts(above) if above else None
        self.own = self._file.statements  # by name
        self.shared: _SqlFile = self._file.inherit(self._above.shared) if self._above else self._file
        self._postgres: _SqlFile | None = None
        if self._above and path.name != SHARED and (twice := self.own.keys() & self._above.own.keys()):
            raise ValueError(f"{path} and {self._above._path} both have {sorted(twice)}")

    @property
    def postgres(self) -> _SqlFile:
        """The texts for PostgreSQL."""
        if self._postgres is None:
            self._postgres = self._read_postgres()
        return self._postgres

    def _read_postgres(self) -> _SqlFile:
        overrides = _parse(self._special) if self._special.exists() else _SqlFile({}, {}, {})
        unknown = overrides.statements.keys() - self.own.keys()
        if unknown:
            raise ValueError(
                f"{self._special} overrides statements that are not in {self._path.name}: {sorted(unknown)}"
            )
        postgres = self._file.extend(overrides)
        return postgres.inherit(self._above.postgres) if self._above else postgres


def _find_above(path: Path) -> Path | None:
    """Return the nearest `queries.sql` above a file: in its folder, else in the folders above."""
    own_folder, *folders = path.parents
    for folder in folders if path.name == SHARED else (own_folder, *folders):
        if (folder / SHARED).exists():
            return folder / SHARED
        if folder == PACKAGE:
            break
    return None


def _load_texts(path: Path) -> _QueryTexts:
    return _texts.get(path) or _texts.setdefault(path, _QueryTexts(path))


_texts: dict[Path, _QueryTexts] = {}  # by file


class _SqlFile:
    """The statements, shared parts and column lists of a file, by name."""

    __slots__ = ("columns", "parts", "statements")

    def __init__(self, statements: dict[str, str], parts: dict[str, str], columns: dict[str, tuple[str, ...]]) -> None:
        self.statements, self.parts, self.columns = statements, parts, columns

    def extend(self, others: _SqlFile) -> _SqlFile:
        """Return this file with the texts of `others`, which replace texts of the same name."""
        return _SqlFile(self.statements | others.statements, self.parts | others.parts, self.columns | others.columns)

    def inherit(self, above: _SqlFile) -> _SqlFile:
        """Return this file with the parts and columns of the folder above that it does not define."""
        return _SqlFile(self.statements, above.parts | self.parts, above.columns | self.columns)

    def expand(self, name: str) -> str:
        """Return a statement with its parts and columns inserted."""
        return self._insert_parts(_strip_comments(self.statements[name]))

    def _insert_parts(self, text: str) -> str:
        before, *following = text.split("{")
        pieces = [before]
        for piece in following:
            reference, brace, after = piece.partition("}")
            inserted = self._find_part(reference) if brace else None
            pieces.append(f"{{{piece}" if inserted is None else inserted + after)
        return "".join(pieces)

    def _find_part(self, reference: str) -> str | None:
        """Return the part for a text in braces; None if the braces belong to the statement, as in JSON."""
        qualified, _, form = reference.partition(":")
        alias, _, name = qualified.rpartition(".")
        if not name.isidentifier():
            return None
        if name in self.parts and reference == name:
            return self._insert_parts(_strip_comments(self.parts[name]))
        columns = self.columns[name]
        if form == "values":
            return ", ".join(f":{column}" for column in columns)
        if form == "set":
            return ", ".join(f"{column} = :{column}" for column in columns)
        return ", ".join(f"{alias}.{column}" for column in columns) if alias else ", ".join(columns)


def _parse(path: Path) -> _SqlFile:
    """Return the texts of a file, with their comments."""
    by_kind: dict[str, dict[str, str]] = {"name": {}, "part": {}, "columns": {}}
    texts: dict[str, str] | None = None  # those of the last heading
    pieces = f"\n{path.read_text(encoding='utf-8')}".split("\n-- ")
    for piece in pieces[1:]:
        line, _, text = piece.partition("\n")
        kind, _, given = line.partition(": ")
        name = given.strip()
        if kind in by_kind and name.isidentifier():
            texts, last = by_kind[kind], name
            if name in texts:
                raise ValueError(f"{path} has two of the {kind} {name}")
            texts[name] = text
        elif kind.partition(":")[0] in by_kind:
            raise ValueError(f"{path} has a heading that cannot be read: -- {line}")
        elif texts is not None:  # a comment
            texts[last] += f"\n{text}"
    columns = {
        name: tuple(map(str.strip, _strip_comments(text).split(","))) for name, text in by_kind["columns"].items()
    }
    return _SqlFile(by_kind["name"], by_kind["part"], columns)


def _strip_comments(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("--")]
    return "\n".join(lines).strip().removesuffix(";")


def _name_each(text: str, name: str, name_of_numbers: str) -> str:
    """Return a statement with other names for `each(` and `each_number(`; such as `json_each(` are unchanged."""
    before, *pieces = text.replace(_EACH_NUMBER, name_of_numbers).split(_EACH)
    for piece in pieces:
        before += (_EACH if before[-1:].isalnum() or before.endswith("_") else name) + piece
    return before


def _find_parameters(text: str) -> frozenset[str]:
    return frozenset(match["parameter"] for match in re.finditer(_LITERAL_OR_PARAMETER, text) if match["parameter"])


def _to_psycopg(text: str) -> str:
    def spell(match: re.Match[str]) -> str:
        return match["keep"] or f"%({match['parameter']})s"

    return re.sub(_LITERAL_OR_PARAMETER, spell, text.replace("%", "%%"))


# --- Rows -----------------------------------------------------------------------------------------------------------

# Rows become objects of a class with one field for each column: a msgspec Struct, a NamedTuple or a dataclass. Columns
# are matched to fields by name, so the order of a SELECT list does not matter; a column without a field, or a required
# field without a column, is a TypeError on first use. A field annotated with `bool` or an Enum, or one of them and
# None, holds that type on both engines.

R = TypeVar("R")

Row = tuple[Any, ...]
UNNAMED_COLUMNS_MAX = 3  # a row with more columns is read by name

_BOOLEANS: dict[Any, Any] = {0: False, 1: True, None: None}  # SQLite stores 0 and 1; True == 1


def make_row_converter(query: str, shape: type[R], columns: Sequence[str]) -> Callable[[Sequence[Row]], list[R]]:
    """Return a function that turns rows with these columns into objects of `shape`."""
    fields: tuple[str, ...] = shape.__match_args__  # type: ignore[attr-defined] # Struct, NamedTuple, dataclass have it
    filled = fields[: len(columns)]
    if sorted(filled) != sorted(columns):
        raise TypeError(
            f"query {query} does not match {shape.__name__}: unknown columns {sorted(set(columns) - set(fields))}, "
            f"missing columns {sorted(set(filled) - set(columns))}"
        )
    reorder = None if filled == tuple(columns) else itemgetter(*map(list(columns).index, filled))
    converted = [(index, values) for index, name in enumerate(filled) if (values := _map_stored_values(shape, name))]

    def convert(row: Row) -> R:
        values = list(row if reorder is None else reorder(row))
        for index, by_stored in converted:
            values[index] = by_stored[values[index]]
        return shape(*values)

    if converted:
        return lambda rows: list(map(convert, rows))
    if reorder is None:
        return lambda rows: list(starmap(shape, rows))
    return lambda rows: list(starmap(shape, map(reorder, rows)))


def _map_stored_values(shape: type, field: str) -> dict[Any, Any] | None:
    """Return the Python value of each stored value of a field, by its annotation; None if no value is converted."""
    for declaring in shape.__mro__:
        # Not from vars(): since Python 3.14 a NamedTuple makes its annotations when they are asked for.
        annotation = getattr(declaring, "__annotations__", {}).get(field)
        if annotation is not None:
            # A NamedTuple stores a string annotation as a ForwardRef.
            name = str(getattr(annotation, "__forward_arg__", annotation)).removesuffix(" | None")
            known = getattr(sys.modules[declaring.__module__], name, None)
            if isinstance(known, type) and issubclass(known, Enum):
                return {None: None, **{member.value: member for member in known}}
            return _BOOLEANS if name == "bool" else None
    return None
