"""Migrations: numbered steps from an empty database to the current schema, forward only.

The first step is the baseline, which is the whole schema of its version. A step and its record are one transaction, so
an interrupted run can be repeated. A released step is never edited: the checksum of the expanded text is stored, and a
database with another checksum, or with an older or newer schema than the steps, is refused.

A step is one file for both engines. Where only the syntax differs there is a placeholder, one of `PLACEHOLDERS`:

    CREATE TABLE projects (
        id    {text} NOT NULL,
        goal  {text},
        CONSTRAINT projects_goal_fits CHECK ({bytes(goal)} <= 4096)
    ){strict_without_rowid};

Statements for only one engine are in a block. Blocks do not nest.

    -- only: postgres
    CREATE DOMAIN instant AS text …;
    -- end

A rule is a trigger that raises `word: table` where its conditions hold. It may be for several tables and events; `*` in
its name is the table. WHEN is about the row alone, IF may read other rows and, on PostgreSQL, sees all of them.

    REFUSE no_parent AS *_have_a_home
    BEFORE INSERT OR UPDATE OF home ON cats, dogs
    WHEN NEW.home IS NOT NULL
    IF NOT EXISTS (SELECT 1 FROM homes WHERE id = NEW.home);
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import cache
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from groundplan.kernel.errors import Unavailable
from groundplan.kernel.store.schema import TRIGGER_FUNCTION

MIGRATIONS_FOLDER = os.path.abspath(f"{__file__}/../../../migrations")

# Version 13 was reached by 13 steps before it was the baseline, with the same schema. Each is the digest of the
# checksums of these steps, on SQLite and PostgreSQL. Version 1.0 refuses such databases.
BEFORE_THE_BASELINE = (
    "d85668e5a7347a083a2c265eef7702cd96c7699288c6559a203d0c512d9f0e12",
    "1f02780e149fc3c3399eccfc9e6c5b07e4bf7772f67e4fadfdb3adf42a610f05",
)


class Dialect(StrEnum):
    """The engines Groundplan runs on."""

    SQLITE = "sqlite"
    POSTGRES = "postgres"


class Migration(Struct, frozen=True):
    """One step, for one engine."""

    number: int
    name: str
    path: str
    dialect: Dialect

    @property
    def text(self) -> str:

        return expand(Path(self.path), self.dialect)

    @property
    def checksum(self) -> str:
        return sha256(self.text.encode()).hexdigest()


class AppliedMigration(Struct, frozen=True):
    """A step that a database has recorded."""

    number: int
    name: str
    checksum: str


class NewerSchema(Unavailable):
    """The database has the schema of a newer Groundplan."""

    code = "store_newer"

    def __init__(self, stored: int, known: int) -> None:
        super().__init__(
            f"this database has schema {stored} and this Groundplan knows up to {known}; upgrade Groundplan to open it",
            found=stored,
            known=known,
        )


class OlderSchema(Unavailable):
    """The database has a schema from before the baseline."""

    code = "store_older"

    def __init__(self, stored: int, oldest: int) -> None:
        super().__init__(
            f"this database has schema {stored} and this Groundplan can read {oldest} and later ones; "
            "use the Groundplan that created it, or start a new database",
            found=stored,
            oldest=oldest,
        )


class ChangedMigration(Unavailable):
    """A migration of the database differs from the one in this Groundplan."""

    code = "store_migration_changed"

    def __init__(self, number: int, name: str) -> None:
        super().__init__(
            f"migration {number} ({name}) is not the one this database was created with; "
            "use the Groundplan that created it, or restore a backup",
            number=number,
            name=name,
        )


@cache
def load_migrations(dialect: Dialect, folder: str = MIGRATIONS_FOLDER) -> tuple[Migration, ...]:
    """Return all steps for one engine, in order."""
    migrations = []
    for file in sorted(name for name in os.listdir(folder) if name.endswith(".sql")):
        number, _, name = file.removesuffix(".sql").partition("_")
        migrations.append(Migration(int(number), name, f"{folder}/{file}", dialect))
    numbers = [step.number for step in migrations]
    if numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        raise ValueError(f"the migrations in {folder} are not numbered one after the other")
    return tuple(migrations)


def find_pending(steps: Sequence[Migration], applied: Sequence[AppliedMigration]) -> Sequence[Migration]:
    """Return the steps that are not applied yet. The checksums of applied steps are compared first."""
    if not applied:
        return steps
    baseline, latest = steps[0], steps[-1]
    if applied[-1].number > latest.number:
        raise NewerSchema(applied[-1].number, latest.number)
    if applied[-1].number < baseline.number:
        raise OlderSchema(applied[-1].number, baseline.number)
    first = [recorded.checksum for recorded in applied if recorded.number <= baseline.number]
    later = [recorded.checksum for recorded in applied if recorded.number > baseline.number]
    if first != [baseline.checksum] and _digest(first) not in BEFORE_THE_BASELINE:
        raise ChangedMigration(baseline.number, baseline.name)
    for step, checksum in zip(steps[1:], later, strict=False):
        if step.checksum != checksum:
            raise ChangedMigration(step.number, step.name)
    return steps[1 + len(later) :]


def _digest(checksums: Sequence[str]) -> str:
    return sha256("".join(checksums).encode()).hexdigest()


class Placeholder(NamedTuple):
    """The text of a placeholder on each engine; {0} and {1} are its arguments."""

    sqlite: str
    postgres: str
    arguments: int = 0


# A released text must not change: it would change the checksums of the files that use it.
PLACEHOLDERS = {
    # Types of columns.
    "text": Placeholder("TEXT", 'text COLLATE "C"'),
    "integer": Placeholder("INTEGER", "bigint"),
    "boolean": Placeholder("INTEGER", "boolean"),
    "double": Placeholder("REAL", "double precision"),
    "instant": Placeholder("TEXT", "instant"),
    # 64 hexadecimal digits from the random numbers of the operating system, as a default; a UUID has 122 random bits.
    "random_key": Placeholder(
        "(lower(hex(randomblob(32))))", "replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '')"
    ),
    # SQLite table options, after the closing bracket.
    "strict": Placeholder(" STRICT", ""),
    "strict_without_rowid": Placeholder(" STRICT, WITHOUT ROWID", ""),
    # Storage of a generated column: SQLite cannot add a stored one later, PostgreSQL 15 has only stored ones.
    "stored_or_virtual": Placeholder("VIRTUAL", "STORED"),
    # Expressions over a column.
    "bytes": Placeholder("length(CAST({0} AS BLOB))", "octet_length({0})", 1),
    "json": Placeholder("{0}", "{0}::json", 1),
    "json_type": Placeholder("json_type({0})", "json_typeof({0}::json)", 1),
    "is_date": Placeholder(
        "{0} GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'", "{0} ~ '^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}$'", 1
    ),
    # {is_key(key, AS)}: the prefix, then a number from 1.
    "is_key": Placeholder(
        "rtrim({0}, '0123456789') = '{1}' AND ltrim({0}, '{1}') GLOB '[1-9]*'", "{0} ~ '^{1}[1-9][0-9]*$'", 2
    ),
    # {each}(NEW.options): the elements of a JSON array.
    "each": Placeholder("json_each", "gp_each"),
}

_ONLY = re.compile(r"\s*--\s*only:\s*(.*?)\s*", re.IGNORECASE)
_END = re.compile(r"\s*--\s*end\s*", re.IGNORECASE)
_BRACE = re.compile(r"\{[A-Za-z_][^{}]*\}?")  # not '{}', '{"a": 1}' or [0-9]{4}, which are SQL
_PLACEHOLDER = re.compile(r"\{(\w+)(?:\((\w+(?:, \w+)*)\))?\}")
_RULE = re.compile(
    r"^REFUSE (?P<word>\w+) AS (?P<name>[\w*]+)\n(?P<time>BEFORE|AFTER) (?P<events>[^\n]+) ON (?P<tables>[\w, ]+)"
    r"(?:\nWHEN (?P<when>.+?))?(?:\nIF (?P<condition>.+?))?;$",
    re.MULTILINE | re.DOTALL,
)


@cache  # set-up reads the checksum of every step several times
def expand(path: Path, dialect: Dialect) -> str:
    """Return the SQL of a migration file for one engine."""
    expanded = []
    for number, only, line in parse_lines(path):
        try:
            line_sql = _BRACE.sub(lambda match: _expand_placeholder(match[0], dialect), line)
        except ValueError as error:
            raise ValueError(f"{path.name}:{number}: {error}") from None
        if only in (None, dialect):
            expanded.append(line_sql)
    text = _RULE.sub(lambda rule: "\n\n".join(_expand_rule(rule, dialect)), "".join(expanded))
    if unread := re.search(r"^REFUSE .*", text, re.MULTILINE):
        raise ValueError(f"{path.name}: this is not a rule: {unread[0]}")
    return text


def parse_lines(path: Path) -> Iterator[tuple[int, Dialect | None, str]]:
    """Yield every line except block markers: its number, its engine (None for both), and its text."""
    only, begin = None, 0
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(keepends=True), 1):
        if begun := _ONLY.fullmatch(line):
            if only is not None:
                break
            if begun[1] not in set(Dialect):
                raise ValueError(f"{path.name}:{number}: {begun[1]!r} is not one of {', '.join(Dialect)}")
            only, begin = Dialect(begun[1]), number
        elif _END.fullmatch(line):
            if only is None:
                raise ValueError(f"{path.name}:{number}: there is no block to end")
            only = None
        else:
            yield number, only, line
    if only is not None:
        raise ValueError(f"{path.name}:{begin}: the block for {only} is not closed; write `-- end` after it")


def _expand_placeholder(text: str, dialect: Dialect) -> str:
    parsed = _PLACEHOLDER.fullmatch(text)
    placeholder = PLACEHOLDERS.get(parsed[1]) if parsed else None
    arguments = parsed[2].split(", ") if parsed and parsed[2] else []
    if placeholder is None or len(arguments) != placeholder.arguments:
        raise ValueError(f"there is no placeholder {text.strip()}; see PLACEHOLDERS in {__name__}")
    return (placeholder.sqlite if dialect is Dialect.SQLITE else placeholder.postgres).format(*arguments)


def _expand_rule(rule: re.Match[str], dialect: Dialect) -> Iterator[str]:
    """Yield the statements of a rule: a trigger for each table and event; on PostgreSQL, their function comes first."""
    when, condition = rule["when"], rule["condition"]
    function = f"gp_{rule['name'].removeprefix('*_')}"
    if dialect is Dialect.POSTGRES:
        yield (
            f"CREATE FUNCTION {function}() {TRIGGER_FUNCTION}\nAS $$\nBEGIN\nIF {condition or 'true'}\n"
            f"THEN RAISE EXCEPTION '{rule['word']}: %', TG_TABLE_NAME USING ERRCODE = 'GP001'; END IF;\n"
            "RETURN coalesce(NEW, OLD);\nEND\n$$;"
        )
        action = f"EXECUTE FUNCTION {function}();"
    events = rule["events"].split(" OR ")
    for table, event in product(rule["tables"].split(", "), events):
        if dialect is Dialect.SQLITE:
            where = f"\nWHERE {condition}" if condition else ""
            action = f"BEGIN\nSELECT RAISE(ABORT, '{rule['word']}: {table}'){where};\nEND;"
        suffix = f"_at_{event.partition(' ')[0].lower()}" if len(events) > 1 else ""
        name = rule["name"].replace("*", table) + suffix
        row = f"FOR EACH ROW WHEN ({when})" if when else "FOR EACH ROW"
        yield f"CREATE TRIGGER {name}\n{rule['time']} {event} ON {table}\n{row}\n{action}"
