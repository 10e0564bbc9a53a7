"""Checks of an SQLite file."""

from __future__ import annotations

import glob
import os
import pwd
import re
import shlex
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

from groundplan.kernel.errors import Unavailable
from groundplan.kernel.store.checkup import CheckStatus, Finding, fail, ok, warn
from groundplan.kernel.store.migrations import Dialect, OlderSchema, find_pending, load_migrations
from groundplan.kernel.store.schema import Schema
from groundplan.kernel.store.sqlite.connection import APPLICATION_ID, SQLITE_VERSION_MIN
from groundplan.kernel.store.sqlite.errors import translate_errors
from groundplan.kernel.store.sqlite.file import migrate, read_applied_migrations
from groundplan.kernel.store.sqlite.log_identity import (
    SET_ASIDE,
    LogInDoubt,
    LogRelation,
    LogRemoved,
    check_log_exists,
    find_relation,
)
from groundplan.migrations import get_latest_version

COMPANION_SUFFIXES = ("-wal", "-shm", "-gate", "-lock")
RESTORE_BACKUP = "restore a backup"
NAME_ANOTHER_FILE = "name another file with --db"
NAMES_SHOWN_MAX = 5


def run_checks(db: str, schema: Schema) -> Iterator[Finding]:
    """Yield the finding of every check, from the engine to the rows; stop if the following checks are impossible."""
    yield _check_engine()
    path = Path(db)
    if not path.exists():
        yield fail("file", f"there is no file {db}", f"groundplan init --db {shlex.quote(db)}, or name the right file")
        return
    if not path.is_file():
        yield fail("file", f"{db} is not a file", "name a file with --db")
        return
    yield ok("file", db)
    # The content is checked before the modes: no fix should change the mode of a file of another program.
    files = list(_stat_files(path))  # before our own connection creates some
    access = _check_access(files)
    if foreign := _check_header(path, files, access):
        yield foreign
        return
    yield access
    if not all(file.is_usable for file in files):
        return
    log = _check_log(path.resolve())
    yield log
    if log.status is CheckStatus.FAIL:
        return  # opening it would apply the log
    with translate_errors():
        # mode=rw does not create a file. Not read-only, because that would leave the files of the log behind.
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None)
        try:
            connection.execute("PRAGMA query_only = ON")
            yield from _check_content(connection, schema, files)
        finally:
            connection.close()


def _check_engine() -> Finding:
    if sqlite3.sqlite_version_info < SQLITE_VERSION_MIN:
        return fail("engine", f"SQLite {sqlite3.sqlite_version} is too old", "use a Python with SQLite 3.40 or newer")
    return ok("engine", f"SQLite {sqlite3.sqlite_version}")


class _FileStat(NamedTuple):
    """The status of a file."""

    path: Path
    mode: int
    owner: int
    size_bytes: int

    @property
    def is_usable(self) -> bool:
        return os.access(self.path, os.R_OK | os.W_OK)


def _stat_files(path: Path) -> Iterator[_FileStat]:
    """Yield the status of the file and of its companion files, beside the target of a symbolic link."""
    real = path.resolve() if path.is_symlink() else path
    for file in (path, *(real.with_name(real.name + suffix) for suffix in COMPANION_SUFFIXES)):
        with suppress(FileNotFoundError):  # SQLite removes its files when the last program closes
            status = file.stat()
            yield _FileStat(file, stat.S_IMODE(status.st_mode), status.st_uid, status.st_size)


def _check_header(path: Path, files: list[_FileStat], access: Finding) -> Finding | None:
    """Return a finding if the header proves that the file is not a Groundplan database; else None."""
    if not files[0].size_bytes:
        return None
    try:
        # SQLite reads it: opening and closing the file here would drop the locks of this process on it.
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as peek:
            mark = _read_pragma(peek, "application_id")
    except sqlite3.DatabaseError as error:
        is_database = error.sqlite_errorcode != sqlite3.SQLITE_NOTADB
        return None if is_database else fail("application", "this is not a database", NAME_ANOTHER_FILE)
    if any(file.size_bytes for file in files if file.path.name.endswith("-wal")):
        return None  # the header may be older than the log
    # The id is 0 for most programs and for an empty database, which init may fill. Its tables decide, if readable.
    unclear = () if access.status is CheckStatus.FAIL else (0,)
    if mark in (APPLICATION_ID, *unclear):
        return None
    return fail("application", "this is a database of another program", NAME_ANOTHER_FILE)


def _check_access(files: list[_FileStat]) -> Finding:
    """Check that the user may read and write the files. If the user is root, check it for their owner, too."""
    first, owner = files[0], files[0].owner
    if others := [file for file in files if file.owner != owner]:
        message = f"{_join_names([file.path.name for file in others])} and {first.path.name} have different owners"
        return fail("access", message, f"run as root: chown {_get_user_name(owner)} {_quote_paths(others)}")
    narrow = [file for file in files if file.mode & 0o600 != 0o600]
    if narrow and os.geteuid() in (0, owner):
        return fail(
            "access", f"its owner may not read and write {_format_modes(narrow)}", f"chmod 600 {_quote_paths(narrow)}"
        )
    if closed := [file for file in files if not file.is_usable]:
        me = _get_user_name(os.geteuid())
        fix = f"run Groundplan as user {_get_user_name(owner)}, or run as root: chown {me} {_quote_paths(files)}"
        return fail("access", f"user {me} may not read and write {_format_modes(closed)}", fix)
    return ok("access", "this user may read and write it")


def _check_log(path: Path) -> Finding:
    try:
        check_log_exists(path)
        relation = find_relation(path)
        if relation is LogRelation.DOUBTFUL:
            raise LogInDoubt(path)
    except (LogInDoubt, LogRemoved) as error:
        problem, _, fix = error.message.partition("; ")
        return fail("log", problem, fix)
    if relation is LogRelation.UNRELATED:
        return fail(
            "log",
            f"{path.name}-wal is not the log of this file, which was replaced",
            "run any other command with the same --db, which sets the log aside",
        )
    if kept := sorted(path.parent.glob(glob.escape(f"{path.name}-wal{SET_ASIDE}") + "*")):
        return warn(
            "log",
            f"a log that is not of this file was set aside: {_join_names([file.name for file in kept])}",
            "remove it when you have what you need",
        )
    return ok("log", "the log belongs to the file")


def _check_modes(files: list[_FileStat]) -> Finding:
    wide = [file for file in files if file.mode & 0o077]
    if not wide:
        return ok("modes", "only its owner may open it")
    return fail("modes", f"others may open {_format_modes(wide)}", f"chmod 600 {_quote_paths(wide)}")


def _format_modes(files: list[_FileStat]) -> str:
    return ", ".join(f"{file.path.name} ({file.mode:04o})" for file in files)


def _quote_paths(files: list[_FileStat]) -> str:
    return " ".join(shlex.quote(str(file.path)) for file in files)


def _get_user_name(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:  # an account without a name, as in containers
        return str(number)


def _check_folder(path: Path) -> Finding:
    folder = path.absolute().parent
    mode = folder.stat().st_mode
    if not mode & stat.S_IWOTH:
        return ok("folder", f"{folder} is not open to everybody")
    if mode & stat.S_ISVTX:
        return warn("folder", f"everybody may add files to {folder}", "keep the database in a folder of your own")
    return fail("folder", f"everybody may replace files in {folder}", f"chmod o-w {shlex.quote(str(folder))}")


def _check_content(connection: sqlite3.Connection, schema: Schema, files: list[_FileStat]) -> Iterator[Finding]:
    if _read_pragma(connection, "application_id") != APPLICATION_ID:
        if connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone():
            yield fail("application", "this is a database of another program", NAME_ANOTHER_FILE)
        else:
            yield fail("application", "the file is empty", "groundplan init, with the same --db")
        return
    yield ok("application", "a Groundplan database")
    yield _check_modes(files)
    yield _check_folder(files[0].path)
    yield _check_journal(connection)
    pages = _check_pages(connection)
    yield pages
    if pages.status is CheckStatus.FAIL:
        return
    yield _check_references(connection)
    yield _check_schema_version(connection)
    yield _check_migrations(connection)
    if _read_pragma(connection, "user_version") == get_latest_version():
        yield from _check_objects(connection, schema)


def _check_journal(connection: sqlite3.Connection) -> Finding:
    mode = _read_pragma(connection, "journal_mode")
    if mode == "wal":
        return ok("journal", "write-ahead log")
    return fail(
        "journal",
        f"the journal mode is {mode}; readers and writers would block each other",
        "run any other command with the same --db, which turns the log on",
    )


def _check_pages(connection: sqlite3.Connection) -> Finding:
    try:
        problems = [row[0] for row in connection.execute("PRAGMA quick_check(5)")]
    except sqlite3.DatabaseError as error:
        problems = [str(error)]
    if problems == ["ok"]:
        return ok("pages", "no damage found")
    return fail("pages", f"the file is damaged: {'; '.join(problems)}", RESTORE_BACKUP)


def _check_references(connection: sqlite3.Connection) -> Finding:
    tables = sorted({row[0] for row in connection.execute("PRAGMA foreign_key_check")})
    if not tables:
        return ok("references", "every row's references exist")
    return fail("references", f"rows reference missing rows in {_join_names(tables)}", RESTORE_BACKUP)


def _check_schema_version(connection: sqlite3.Connection) -> Finding:
    version, known = _read_pragma(connection, "user_version"), get_latest_version()
    if version > known:
        return fail("schema", f"schema {version}, and this Groundplan knows up to {known}", "upgrade Groundplan")
    if 0 < version < (baseline := load_migrations(Dialect.SQLITE)[0].number):
        problem, _, fix = OlderSchema(version, baseline).message.partition("; ")
        return fail("schema", problem, fix)
    if version < known:
        return warn(
            "schema", f"schema {version} of {known}", "groundplan init, with the same --db, brings it up to date"
        )
    return ok("schema", f"schema {version}")


def _check_migrations(connection: sqlite3.Connection) -> Finding:
    steps = read_applied_migrations(connection)
    version, recorded = _read_pragma(connection, "user_version"), steps[-1].number if steps else 0
    if recorded != version:
        return fail(
            "migrations", f"schema {recorded} is recorded, but the file says that it has {version}", RESTORE_BACKUP
        )
    try:
        find_pending(load_migrations(Dialect.SQLITE), steps)
    except Unavailable as error:
        return fail("migrations", error.message, RESTORE_BACKUP)
    return ok("migrations", f"{len(steps)} applied, all as released")


def _check_objects(connection: sqlite3.Connection, schema: Schema) -> Iterator[Finding]:
    """Compare the tables, indexes and guards with the ones of a new database."""
    fresh = sqlite3.connect(":memory:", isolation_level=None)
    try:
        migrate(fresh, schema)
        expected = _read_definitions(fresh)
    finally:
        fresh.close()
    actual = _read_definitions(connection)
    if len(read_applied_migrations(connection)) > len(load_migrations(Dialect.SQLITE)):
        # Before the baseline, rules were written in other words, with the same names and effect.
        expected |= {key: actual[key] for key in expected.keys() & actual.keys() if _is_rule(*key)}
    for name, is_trigger in (("tables", False), ("guards", True)):
        kinds = {key for key in expected.keys() | actual.keys() if (key[0] == "trigger") is is_trigger}
        missing = sorted(key[1] for key in kinds if key not in actual)
        changed = sorted(key[1] for key in kinds if key in actual and key in expected and actual[key] != expected[key])
        foreign = sorted(key[1] for key in kinds if key not in expected)
        if missing or changed:
            parts = [
                f"{word}: {_join_names(names)}" for word, names in (("missing", missing), ("changed", changed)) if names
            ]
            yield fail(name, "; ".join(parts), f"{RESTORE_BACKUP}; the file was changed by hand")
        elif foreign:
            yield warn(name, f"not part of Groundplan: {_join_names(foreign)}", "remove them if you do not know them")
        else:
            yield ok(name, f"all {len(kinds)} in place")


def _read_definitions(connection: sqlite3.Connection) -> dict[tuple[str, str], str | None]:
    """Return the text of each definition without comments and line breaks, for comparisons."""
    rows = connection.execute("SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
    return {(kind, name): text and " ".join(re.sub("--.*", "", text).split()) for kind, name, text in rows}


def _is_rule(kind: str, name: str) -> bool:
    return kind == "trigger" and not name.startswith("guard_")


def _read_pragma(connection: sqlite3.Connection, name: str) -> Any:
    return connection.execute(f"PRAGMA {name}").fetchone()[0]


def _join_names(names: list[str]) -> str:
    more = len(names) - NAMES_SHOWN_MAX
    return ", ".join(names[:NAMES_SHOWN_MAX]) + (f" and {more} more" if more > 0 else "")
