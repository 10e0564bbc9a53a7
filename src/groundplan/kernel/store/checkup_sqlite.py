"""A file looked at from outside: everything that should be true of it, checked and told."""

from __future__ import annotations

import shlex
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from groundplan.kernel.errors import Unavailable
from groundplan.kernel.store.checkup import Finding, Status, fail, ok, warn
from groundplan.kernel.store.migrations import Dialect, migrations, pending
from groundplan.kernel.store.sqlite_errors import translated
from groundplan.kernel.store.sqlite_file import APPLICATION_ID, SQLITE_VERSION_MIN, applied, migrate
from groundplan.kernel.store.tables import Schema

COMPANIONS = ("-wal", "-shm", "-gate", "-lock")
RESTORE = "restore a backup"
NAMES_SHOWN_MAX = 5


def examine(db: str, schema: Schema) -> Iterator[Finding]:
    """Every check, from the engine down to the rows. Ends early where the next check would have nothing to look at."""
    yield _engine()
    path = Path(db)
    if not path.exists():
        yield fail("file", f"there is no file {db}", f"groundplan init --db {shlex.quote(db)}, or name the right one")
        return
    if not path.is_file():
        yield fail("file", f"{db} is not a file", "name a file with --db")
        return
    yield ok("file", db)
    yield _modes(path)
    yield _folder(path)
    with translated():
        # Only a file that exists. Not read-only, which would leave the files of the log behind.
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None)
        try:
            connection.execute("PRAGMA query_only = ON")
            yield from _content(connection, schema)
        finally:
            connection.close()


def _engine() -> Finding:
    if sqlite3.sqlite_version_info < SQLITE_VERSION_MIN:
        return fail("engine", f"SQLite {sqlite3.sqlite_version} is too old", "use a Python with SQLite 3.40 or newer")
    return ok("engine", f"SQLite {sqlite3.sqlite_version}")


def _modes(path: Path) -> Finding:
    files = [path, *(path.with_name(path.name + suffix) for suffix in COMPANIONS)]
    wide = [file for file in files if file.exists() and stat.S_IMODE(file.stat().st_mode) & 0o077]
    if not wide:
        return ok("modes", "only its owner may open it")
    shown = ", ".join(f"{file.name} ({stat.S_IMODE(file.stat().st_mode):04o})" for file in wide)
    return fail("modes", f"others may open {shown}", f"chmod 600 {' '.join(shlex.quote(str(file)) for file in wide)}")


def _folder(path: Path) -> Finding:
    folder = path.absolute().parent
    mode = folder.stat().st_mode
    if not mode & stat.S_IWOTH:
        return ok("folder", f"{folder} is not open to everybody")
    if mode & stat.S_ISVTX:
        return warn("folder", f"everybody may put files into {folder}", "keep the database in a folder of your own")
    return fail("folder", f"everybody may replace files in {folder}", f"chmod o-w {shlex.quote(str(folder))}")


def _content(connection: sqlite3.Connection, schema: Schema) -> Iterator[Finding]:
    if _pragma(connection, "application_id") != APPLICATION_ID:
        if connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone():
            yield fail("application", "this is a database of another program", "name another file with --db")
        else:
            yield fail("application", "the file is empty", "groundplan init, with the same --db")
        return
    yield ok("application", "a Groundplan database")
    yield _journal(connection)
    pages = _pages(connection)
    yield pages
    if pages.status is Status.FAIL:
        return
    yield _references(connection)
    yield _schema_version(connection)
    yield _checksums(connection)
    if _pragma(connection, "user_version") == len(migrations(Dialect.SQLITE)):
        yield from _objects(connection, schema)


def _journal(connection: sqlite3.Connection) -> Finding:
    mode = _pragma(connection, "journal_mode")
    if mode == "wal":
        return ok("journal", "write-ahead log")
    return fail(
        "journal",
        f"the journal mode is {mode}; readers and writers would block each other",
        "stop everything that uses it, then run: sqlite3 FILE 'PRAGMA journal_mode = WAL'",
    )


def _pages(connection: sqlite3.Connection) -> Finding:
    try:
        found = [row[0] for row in connection.execute("PRAGMA quick_check(5)")]
    except sqlite3.DatabaseError as error:
        found = [str(error)]
    if found == ["ok"]:
        return ok("pages", "no damage found")
    return fail("pages", f"the file is damaged: {'; '.join(found)}", RESTORE)


def _references(connection: sqlite3.Connection) -> Finding:
    tables = sorted({row[0] for row in connection.execute("PRAGMA foreign_key_check")})
    if not tables:
        return ok("references", "every row's references exist")
    return fail("references", f"rows point to nothing in {_listed(tables)}", RESTORE)


def _schema_version(connection: sqlite3.Connection) -> Finding:
    found, known = _pragma(connection, "user_version"), len(migrations(Dialect.SQLITE))
    if found > known:
        return fail("schema", f"schema {found}, and this Groundplan knows up to {known}", "upgrade Groundplan")
    if found < known:
        return warn("schema", f"schema {found} of {known}", "groundplan init, with the same --db, brings it up to date")
    return ok("schema", f"schema {found}")


def _checksums(connection: sqlite3.Connection) -> Finding:
    steps = applied(connection)
    version = _pragma(connection, "user_version")
    if len(steps) != version:
        return fail("migrations", f"{len(steps)} steps are noted, but the file says schema {version}", RESTORE)
    try:
        pending(migrations(Dialect.SQLITE), steps)
    except Unavailable as error:
        return fail("migrations", error.message, RESTORE)
    return ok("migrations", f"{len(steps)} taken, all as released")


def _objects(connection: sqlite3.Connection, schema: Schema) -> Iterator[Finding]:
    """Compare with a database made just now, which has every table, index and guard as it should be."""
    fresh = sqlite3.connect(":memory:", isolation_level=None)
    try:
        migrate(fresh, schema)
        wanted = _definitions(fresh)
    finally:
        fresh.close()
    there = _definitions(connection)
    for name, is_trigger in (("tables", False), ("guards", True)):
        kinds = {key for key in wanted.keys() | there.keys() if (key[0] == "trigger") is is_trigger}
        missing = sorted(key[1] for key in kinds if key not in there)
        changed = sorted(key[1] for key in kinds if key in there and key in wanted and there[key] != wanted[key])
        foreign = sorted(key[1] for key in kinds if key not in wanted)
        if missing or changed:
            parts = [
                f"{word}: {_listed(names)}" for word, names in (("missing", missing), ("changed", changed)) if names
            ]
            yield fail(name, "; ".join(parts), f"{RESTORE}; the file has been changed by hand")
        elif foreign:
            yield warn(name, f"not ours: {_listed(foreign)}", "remove them if you do not know them")
        else:
            yield ok(name, f"all {len(kinds)} in place")


def _definitions(connection: sqlite3.Connection) -> dict[tuple[str, str], str | None]:
    rows = connection.execute("SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
    return {(kind, name): text for kind, name, text in rows}


def _pragma(connection: sqlite3.Connection, name: str) -> Any:
    return connection.execute(f"PRAGMA {name}").fetchone()[0]


def _listed(names: list[str]) -> str:
    more = len(names) - NAMES_SHOWN_MAX
    return ", ".join(names[:NAMES_SHOWN_MAX]) + (f" and {more} more" if more > 0 else "")
