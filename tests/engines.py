"""A database under test: access as the product, as the owner of the schema, and by raw SQL."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from functools import cache, cached_property
from itertools import count
from pathlib import Path
from typing import Any, LiteralString, NamedTuple, Self, TypeVar, cast

import psycopg
from psycopg import sql as psql
from psycopg.conninfo import conninfo_to_dict

from groundplan.catalog import build_schema
from groundplan.kernel.actors import Access, Actor, ActorKind, local_actor
from groundplan.kernel.clock import Clock, UptimeCounter, system_clock
from groundplan.kernel.store.migrations import Dialect
from groundplan.kernel.store.postgres.session import format_limits
from groundplan.kernel.store.postgres.setup import set_up
from groundplan.kernel.store.postgres.store import PostgresStore
from groundplan.kernel.store.schema import SCHEMA_NAME, Schema
from groundplan.kernel.store.sqlite.store import SqliteStore
from groundplan.kernel.store.store import Store
from groundplan.session import Session
from tests.postgres import Server

Rows = list[tuple[Any, ...]]
Dump = dict[str, Any]  # by table; for a file of SQLite, its content
Run = Callable[[str], Rows]
T = TypeVar("T")
FILE = "file"

# The planner assumes ten pages for a small table that was never vacuumed, also after its rows
# were deleted. A larger table, or one with large indexes, is truncated instead.
DELETED_BYTES_MAX = 10 * 8192
_TABLES: LiteralString = """
SELECT relname
  FROM pg_class
 WHERE relnamespace = 'groundplan'::regnamespace
   AND relkind = 'r'
   AND relname <> 'schema_migrations'
 ORDER BY relname
"""


def run_and_undo(run: Run, *statements: str) -> Rows:
    """Run statements, undo them, and return the rows of the last one; a refusal is undone too."""
    run("SAVEPOINT undone")
    try:
        rows: Rows = []
        for statement in statements:
            rows = run(statement)
        return rows
    finally:
        run("ROLLBACK TO undone")
        run("RELEASE undone")


def fill_once(engine: Engine, fill: Callable[[Engine], T]) -> T:
    """Fill an unused database; the first result is dumped, and later calls load it, which takes less time.

    Returns what `fill` returned the first time.
    """
    if (type(engine), fill) not in _FILLED:
        first = fill(engine)
        _FILLED[type(engine), fill] = (engine.dump(), first)
        return first
    dump, answer = _FILLED[type(engine), fill]
    engine.load(dump)
    return cast(T, answer)


def person(name: str, *, organization: str = "local") -> Actor:
    """Return an actor with a stored role. Ada owns, Ben edits, Cleo views, Mallory is in another organization."""
    return Actor(organization, name, ActorKind.PERSON, Access.MEMBERS)


class Engine(ABC):
    """The same access to both engines."""

    dialect: Dialect

    @property
    @abstractmethod
    def store(self) -> Store:
        """The store as the product opens it."""

    @property
    @abstractmethod
    def db(self) -> str:
        """The value of `--db`."""

    @abstractmethod
    def store_with_clock(self, clock: Clock) -> Store:
        """Return the product's store with another clock."""

    @abstractmethod
    def another_store(self, *, clock: Clock | None = None, uptime: UptimeCounter | None = None) -> Store:
        """Return a second store on the same database, as another process would have. PostgreSQL needs no uptime."""

    @abstractmethod
    def as_owner(self, *statements: str, keep: bool = True) -> Rows:
        """Run SQL as the owner of the schema, past every policy and authorizer; return the rows of the last statement.

        With `keep=False` it runs in one transaction, which is rolled back.
        """

    @abstractmethod
    def owner_transaction(self, *, references: bool = True) -> AbstractContextManager[Run]:
        """A transaction of the schema's owner, which is rolled back; `references=False` ignores foreign keys."""

    @abstractmethod
    def transaction(self, actor: Actor | None, *, keep: bool = True) -> AbstractContextManager[Run]:
        """A transaction for raw SQL on a connection like the product's; rolled back unless kept."""

    def as_app(self, actor: Actor | None, *statements: str, keep: bool = True) -> Rows:
        """Run raw SQL in one transaction on a connection like the product's."""
        rows: Rows = []
        with self.transaction(actor, keep=keep) as run:
            for statement in statements:
                rows = run(statement)
        return rows

    @abstractmethod
    def install(self, tables: str, declared: Schema) -> None:
        """Add tables of a test, with the guards and policies of their declarations."""

    @property
    @abstractmethod
    def refusals(self) -> tuple[type[Exception], ...]:
        """The exceptions that raw SQL raises when the database refuses it."""

    @abstractmethod
    def reset(self) -> None:
        """Close all stores and empty the database."""

    @abstractmethod
    def dump(self) -> Dump:
        """Return everything that is stored, for `load`."""

    @abstractmethod
    def load(self, dump: Dump) -> None:
        """Store a dump in an unused database."""

    def session(self, actor: Actor | str | None) -> Session:
        """Return a session of an actor; a bare name is trusted, as in local mode."""
        return Session(self.store, local_actor(actor) if isinstance(actor, str) else actor)

    def create_organization(self, name: str, *people: str) -> None:
        """Create another organization with its people."""
        stamped = "2026-01-01T00:00:00.000Z"
        self.as_owner(
            f"INSERT INTO organizations (id, name, created_at) VALUES ('{name}', '{name}', '{stamped}')",
            *(
                statement
                for one in people
                for statement in (
                    "INSERT INTO principals (tenant_id, id, name, kind, created_at) "
                    f"VALUES ('{name}', '{one}', '{one}', 'person', '{stamped}')",
                    "INSERT INTO user_memberships (tenant_id, user_id, created_at, created_by) "
                    f"VALUES ('{name}', '{one}', '{stamped}', '{one}')",
                )
            ),
        )


_FILLED: dict[tuple[type[Engine], Callable[[Engine], Any]], tuple[Dump, Any]] = {}


class SqliteEngine(Engine):
    """One file for each test, copied from a migrated one."""

    dialect = Dialect.SQLITE
    refusals = (sqlite3.DatabaseError,)

    def __init__(self, path: Path) -> None:
        self._file = path
        self._write(_migrated_file())
        self._stores: list[Store] = []

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self._file

    @property
    def db(self) -> str:
        return str(self.path)

    @cached_property
    def store(self) -> Store:  # opened lazily: many tests only use a store with their own clock
        return self.another_store()

    def store_with_clock(self, clock: Clock) -> Store:
        return self.another_store(clock=clock)

    def another_store(self, *, clock: Clock | None = None, uptime: UptimeCounter | None = None) -> SqliteStore:
        store = SqliteStore(self._file, build_schema, clock=clock or system_clock, uptime=uptime)
        self._stores.append(store)
        return store

    def as_owner(self, *statements: str, keep: bool = True) -> Rows:
        if _is_about_rows(statements, keep=keep):
            return [self._connection.execute(statement).fetchall() for statement in statements][-1]
        with contextlib.closing(sqlite3.connect(self._file, isolation_level=None)) as connection:
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA synchronous = OFF")  # no durability needed
            if not keep:
                connection.execute("BEGIN")  # closing rolls back
            rows: Rows = []
            for statement in statements:
                rows = connection.execute(statement).fetchall()
            return rows

    @contextlib.contextmanager
    def owner_transaction(self, *, references: bool = True) -> Iterator[Run]:
        with contextlib.closing(sqlite3.connect(self._file, isolation_level=None)) as connection:
            connection.execute(f"PRAGMA foreign_keys = {references}")
            connection.execute("BEGIN")  # closing undoes it
            yield lambda statement: connection.execute(statement).fetchall()

    def app_connection(self) -> sqlite3.Connection:
        """Return a connection configured like the product's."""
        return self.another_store()._get_connection().require_open()

    @contextlib.contextmanager
    def transaction(self, actor: Actor | None, *, keep: bool = True) -> Iterator[Run]:
        connection = self.app_connection()
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield lambda statement: connection.execute(statement).fetchall()
            connection.execute("COMMIT" if keep else "ROLLBACK")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def install(self, tables: str, declared: Schema) -> None:
        from groundplan.kernel.store.schema import generate_sqlite_guards
        from groundplan.kernel.store.sqlite.file import split_statements

        self.as_owner(*split_statements(tables), *generate_sqlite_guards(declared))

    def dump(self) -> Dump:
        return {FILE: self._connection.serialize()}

    def load(self, dump: Dump) -> None:
        assert not self._stores, "somebody uses this file"
        self._write(dump[FILE])

    def _write(self, content: bytes) -> None:
        self._file.touch(mode=0o600)
        self._file.write_bytes(content)

    @cached_property
    def _connection(self) -> sqlite3.Connection:
        """A connection that stays open, because SQLite reads the whole schema for a new one, which takes 3 ms."""
        connection = sqlite3.connect(self._file, isolation_level=None)
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = OFF")
        return connection

    def reset(self) -> None:
        self.close()
        self._stores.clear()
        self.__dict__.pop("store", None)
        self.__dict__.pop("_connection", None)
        self._write(_migrated_file())

    def close(self) -> None:
        for store in self._stores:
            store.close()
        if "_connection" in self.__dict__:
            self._connection.close()


@cache
def _migrated_file() -> bytes:
    with tempfile.TemporaryDirectory(prefix="gp-") as folder:
        path = Path(folder) / "plan.db"
        SqliteStore(path, build_schema).close()
        return path.read_bytes()


class SharedSqliteEngine(SqliteEngine):
    """One file for all tests of a worker, emptied between tests and made anew after a test that may have altered it.

    SQLite parses the whole schema for every new connection, which takes longer than most tests. So the connections stay
    open. A test that asks where the file is may do anything with it, and gets a file that is not used again.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = count()
        self._clock = _SettableClock()
        self._make()

    def _make(self) -> None:
        """Make a file, and a connection that empties it."""
        bare = _bare_file()
        self._columns, self._first_rows = bare.columns, bare.rows
        self._is_altered = False
        self._stores = []
        folder = self._folder / str(next(self._numbers))
        folder.mkdir()
        self._file = folder / "plan.db"
        self._write(bare.content)
        # This connection reads the schema while there are no triggers, and nothing tells it that they are added.
        self._past_triggers = sqlite3.connect(self._file, isolation_level=None)
        self._past_triggers.execute("PRAGMA synchronous = OFF")
        self._past_triggers.execute("PRAGMA wal_autocheckpoint = 0")  # a store trusts only its own checkpoints
        self._past_triggers.execute("SELECT 1 FROM organizations")
        self._version = self._read_version()
        with contextlib.closing(sqlite3.connect(self._file, isolation_level=None)) as connection:
            connection.execute("PRAGMA writable_schema = ON")
            connection.execute("BEGIN")
            connection.executemany("INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)", bare.triggers)
            connection.execute("COMMIT")

    @property
    def path(self) -> Path:
        self._is_altered = True
        return self._file

    @cached_property
    def store(self) -> Store:
        return SqliteStore(self._file, build_schema)

    @cached_property
    def _clocked_store(self) -> Store:
        return SqliteStore(self._file, build_schema, clock=self._clock)

    def store_with_clock(self, clock: Clock) -> Store:
        self._clock.shown = clock
        return self._clocked_store

    def as_owner(self, *statements: str, keep: bool = True) -> Rows:
        self._is_altered = self._is_altered or (keep and not _is_about_rows(statements, keep=keep))
        return super().as_owner(*statements, keep=keep)

    def dump(self) -> Dump:
        found = {
            table: self._past_triggers.execute(f"SELECT {columns} FROM {table}").fetchall()
            for table, columns in self._columns.items()
        }
        return {table: rows for table, rows in found.items() if rows != self._first_rows[table]}

    def load(self, dump: Dump) -> None:
        with self._change() as connection:
            for table, rows in dump.items():
                connection.execute(f"DELETE FROM {table}")
                self._insert(table, rows)

    def reset(self) -> None:
        """Undo everything that the last test did."""
        for store in self._stores:
            store.close()
        self._stores.clear()
        shared = [self.__dict__[name] for name in ("store", "_clocked_store") if name in self.__dict__]
        if self._is_altered or any(store._is_closed for store in shared) or self._read_version() != self._version:
            self.close()
            shutil.rmtree(self._file.parent)
            self._make()
            return
        self._empty()
        for store in shared:
            store.cache.clear()

    def _read_version(self) -> Rows:
        """Return the number that SQLite increases with each change of the schema."""
        return self._past_triggers.execute("PRAGMA schema_version").fetchall()

    def _empty(self) -> None:
        with self._change() as connection:
            for table, rows in self._first_rows.items():
                if rows or connection.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone():
                    connection.execute(f"DELETE FROM {table}")
                    self._insert(table, rows)

    @contextlib.contextmanager
    def _change(self) -> Iterator[sqlite3.Connection]:
        """A transaction past every trigger."""
        self._past_triggers.execute("BEGIN IMMEDIATE")
        try:
            yield self._past_triggers
            self._past_triggers.execute("COMMIT")
        finally:
            if self._past_triggers.in_transaction:
                self._past_triggers.execute("ROLLBACK")

    def _insert(self, table: str, rows: Rows) -> None:
        if rows:
            places = ", ".join("?" * len(rows[0]))
            self._past_triggers.executemany(f"INSERT INTO {table} ({self._columns[table]}) VALUES ({places})", rows)

    def close(self) -> None:
        """Close all connections to the file, which is not used again."""
        self._is_altered = True
        for store in self._stores:
            store.close()
        for name in ("store", "_clocked_store", "_connection"):
            if name in self.__dict__:
                self.__dict__.pop(name).close()
        self._past_triggers.close()


class _BareFile(NamedTuple):
    """A migrated file without its triggers."""

    content: bytes
    triggers: Rows
    columns: dict[str, str]  # of each table that tests may change, as a list in SQL
    rows: dict[str, Rows]  # of these tables


@cache
def _bare_file() -> _BareFile:
    with tempfile.TemporaryDirectory(prefix="gp-") as folder:
        path = Path(folder) / "plan.db"
        path.write_bytes(_migrated_file())
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
            triggers = connection.execute("SELECT * FROM sqlite_schema WHERE type = 'trigger'").fetchall()
            # Without generated columns; with the number of a row, by which the text index knows it.
            columns = connection.execute(
                "SELECT t.name, iif(t.wr, '', 'rowid, ') || group_concat(c.name, ', ')"
                "  FROM pragma_table_list AS t, pragma_table_info(t.name) AS c"
                " WHERE t.schema = 'main' AND t.type IN ('table', 'shadow')"
                "   AND t.name NOT IN ('sqlite_schema', 'schema_migrations', 'file_mark')"
                " GROUP BY t.name"
            ).fetchall()
            rows = {table: connection.execute(f"SELECT {names} FROM {table}").fetchall() for table, names in columns}
            connection.execute("PRAGMA writable_schema = ON")
            connection.execute("DELETE FROM sqlite_schema WHERE type = 'trigger'")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return _BareFile(path.read_bytes(), triggers, dict(columns), rows)


class PostgresEngine(Engine):
    """One database for all tests of a worker, emptied between tests and copied anew after a test that altered it."""

    dialect = Dialect.POSTGRES
    refusals = (psycopg.Error,)

    def __init__(self, superuser_url: str, owner_url: str, maintenance: psycopg.Connection) -> None:
        self.superuser_url = superuser_url
        self.owner_url = owner_url
        self._maintenance = maintenance  # of a superuser, on another database
        made = set_up(owner_url, build_schema())
        self.app_url, self.app_role = made.app_url, made.app_role
        about = conninfo_to_dict(owner_url)
        self._name, self._owner = str(about["dbname"]), str(about["user"])
        self._copy(self._name, self._image)
        self._stores: list[Store] = []
        self._altered = False
        self._connection: psycopg.Connection | None = None  # for the work around every test
        self._loader: psycopg.Connection | None = None  # past every trigger
        self._clock = _SettableClock()

    @classmethod
    @contextlib.contextmanager
    def on(cls, server: Server, worker: str) -> Iterator[Self]:
        """Create a database and roles for the worker. The owner is no superuser, as in a careful team."""
        database, owner, app = f"groundplan_{worker}", f"owner_{worker}", f"groundplan_{worker}_app"
        with psycopg.connect(server.uri(), autocommit=True) as maintenance, server.database(database) as url:
            name = psql.Identifier(owner)
            maintenance.execute(psql.SQL("CREATE ROLE {} LOGIN CREATEROLE").format(name))
            maintenance.execute(psql.SQL("ALTER DATABASE {} OWNER TO {}").format(psql.Identifier(database), name))
            made = cls(url, server.uri(database, user=owner), maintenance)
            try:
                yield made
            finally:
                made._disconnect()
                made._drop(made._image)
                with psycopg.connect(url, autocommit=True) as connection:
                    connection.execute(psql.SQL("DROP SCHEMA {} CASCADE").format(psql.Identifier(SCHEMA_NAME)))
                    connection.execute(psql.SQL("DROP OWNED BY {}").format(psql.Identifier(app)))
                    connection.execute(psql.SQL("DROP ROLE {}").format(psql.Identifier(app)))
                    connection.execute(psql.SQL("REASSIGN OWNED BY {} TO CURRENT_USER").format(name))
                    connection.execute(psql.SQL("DROP OWNED BY {}").format(name))
                maintenance.execute(psql.SQL("DROP ROLE {}").format(name))

    @property
    def db(self) -> str:
        return self.app_url

    # Shared by all tests: to connect, check and open a pool takes longer than most tests.

    @cached_property
    def store(self) -> Store:
        return PostgresStore(self.app_url)

    @cached_property
    def _clocked_store(self) -> Store:
        return PostgresStore(self.app_url, clock=self._clock)

    def store_with_clock(self, clock: Clock) -> Store:
        self._clock.shown = clock
        return self._clocked_store

    def another_store(self, *, clock: Clock | None = None, uptime: UptimeCounter | None = None) -> PostgresStore:
        store = PostgresStore(self.app_url, clock=clock)
        self._stores.append(store)
        return store

    def as_owner(self, *statements: str, keep: bool = True) -> Rows:
        # The superuser, because FORCE applies the policies to the owner too. An altered schema is copied anew.
        if _is_about_rows(statements, keep=keep):
            return _run(self._superuser(), statements)
        self._altered = self._altered or (keep and any(_is_ddl(statement) for statement in statements))
        with psycopg.connect(
            self.superuser_url, autocommit=keep, options=f"-c search_path={SCHEMA_NAME}"
        ) as connection:
            rows = _run(connection, statements)
            if not keep:
                connection.rollback()
            return rows

    @contextlib.contextmanager
    def owner_transaction(self, *, references: bool = True) -> Iterator[Run]:
        with psycopg.connect(self.superuser_url, options=f"-c search_path={SCHEMA_NAME}") as connection:
            connection.prepare_threshold = None  # prepared statements would not see changes of the schema
            if not references:
                connection.execute("SET session_replication_role = replica")

            def run(statement: str) -> Rows:
                self._altered = self._altered or statement == "COMMIT"
                return _run(connection, (statement,))

            yield run
            connection.rollback()

    @contextlib.contextmanager
    def transaction(self, actor: Actor | None, *, keep: bool = True) -> Iterator[Run]:
        with psycopg.connect(self.app_url, options=f"-c search_path={SCHEMA_NAME}") as connection:
            if actor is not None:
                connection.execute(
                    "SELECT set_config('groundplan.tenant', %s, true), set_config('groundplan.actor', %s, true), "
                    "set_config('groundplan.access', %s, true), set_config('groundplan.kind', %s, true)",
                    (actor.organization, actor.id, actor.access.value, actor.kind.value),
                )
                limits = format_limits(actor)
                connection.execute(
                    "SELECT set_config('groundplan.role_max', %s, true), set_config('groundplan.projects', %s, true), "
                    "set_config('groundplan.sponsor', %s, true)",
                    (limits["role_max"], limits["projects"], limits["sponsor"]),
                )
            yield lambda statement: _run(connection, (statement,))
            if not keep:
                connection.rollback()

    def install(self, tables: str, declared: Schema) -> None:
        from groundplan.kernel.store.schema import generate_postgres_guards, generate_postgres_policies

        self._altered = True
        role = psql.Identifier(self.app_role)
        with psycopg.connect(self.owner_url, options=f"-c search_path={SCHEMA_NAME}") as connection:
            guards = [one for one in generate_postgres_guards(declared) if "FUNCTION guard_refuse()" not in one]
            opened = generate_postgres_policies(declared, role.as_string(connection))
            _run(connection, (tables, *guards, *(one for one in opened if not one.startswith("REVOKE"))))

    def dump(self) -> Dump:
        connection = self._superuser()
        tables = [name for (name,) in connection.execute(_TABLES)]
        return {
            name: self._copy_out(name) for name in tables if _run(connection, (f"SELECT EXISTS (TABLE {name})",))[0][0]
        }

    def _copy_out(self, table: str) -> bytes:
        with self._superuser().cursor().copy(f"COPY {table} TO STDOUT (FORMAT binary)".encode()) as copy:
            return b"".join(map(bytes, copy))

    def load(self, dump: Dump) -> None:
        connection = self._past_triggers()
        with connection.transaction():
            _run(connection, ("DELETE FROM organizations",))
            for table, rows in dump.items():
                with connection.cursor().copy(f"COPY {table} FROM STDIN (FORMAT binary)".encode()) as copy:
                    copy.write(rows)

    def _superuser(self) -> psycopg.Connection:
        """Return a connection that stays open, because connecting takes longer than most queries."""
        if self._connection is None or self._connection.closed:
            self._connection = psycopg.connect(
                self.superuser_url, autocommit=True, options=f"-c search_path={SCHEMA_NAME}"
            )
            self._connection.prepare_threshold = None  # a new schema changes the results of prepared statements
        return self._connection

    def _past_triggers(self) -> psycopg.Connection:
        """Return a connection that no trigger stops, and on which the function that empties all tables is planned."""
        if self._loader is None or self._loader.closed:
            self._loader = psycopg.connect(
                self.superuser_url,
                autocommit=True,
                options=f"-c search_path={SCHEMA_NAME} -c session_replication_role=replica",
            )
            tables = [name for (name,) in self._loader.execute(_TABLES)]
            self._loader.execute(_generate_function_to_empty(tables).encode())
        return self._loader

    def mark_altered(self) -> None:
        """Make the schema be copied anew after this test, because the test changes it."""
        self._altered = True

    def reset(self) -> None:
        """Undo everything that the last test did."""
        for store in self._stores:
            store.close()
        self._stores.clear()
        if self._altered:
            self._altered = False
            self._disconnect()
            self._drop(self._name)
            self._copy(self._image, self._name)
        else:
            self._empty()
        for store in self._shared():
            store.cache.clear()

    def _shared(self) -> list[Store]:
        """Return the stores that tests share, if they are open."""
        return [self.__dict__[name] for name in ("store", "_clocked_store") if name in self.__dict__]

    def _disconnect(self) -> None:
        """Close all connections to the database."""
        for store in self._shared():
            store.close()
        self.__dict__.pop("store", None)
        self.__dict__.pop("_clocked_store", None)
        for connection in (self._connection, self._loader):
            if connection is not None:
                connection.close()

    def _empty(self) -> None:
        """Delete all rows. TRUNCATE of all tables takes 40 ms; deleting the rows of a test takes a fiftieth of that."""
        self._past_triggers().execute("SELECT pg_temp.empty_tables()")

    @property
    def _image(self) -> str:
        """A set-up database to copy from: a copy takes a quarter of the time of a set-up."""
        return f"{self._name}_image"

    def _copy(self, source: str, target: str) -> None:
        copied = psql.SQL("CREATE DATABASE {} TEMPLATE {} OWNER {} STRATEGY file_copy")
        words = (psql.Identifier(word) for word in (target, source, self._owner))
        self._maintenance.execute(copied.format(*words))

    def _drop(self, name: str) -> None:
        self._maintenance.execute(psql.SQL("DROP DATABASE {} WITH (FORCE)").format(psql.Identifier(name)))


class _SettableClock:
    """A clock that delegates to another one, so that a store can stay open while each test has its own clock."""

    def __init__(self) -> None:
        self.shown: Clock = system_clock

    def __call__(self) -> datetime:
        return self.shown()


def _generate_function_to_empty(tables: Sequence[str]) -> str:
    """Return a function that empties tables. Only a function keeps the plans of its statements."""
    deletions = "".join(
        f"""
        DELETE FROM {table};
        IF FOUND AND pg_table_size('{table}') > {DELETED_BYTES_MAX} THEN
            grown := grown || '{table}'::text;
        END IF;"""
        for table in tables
    )
    return f"""
    CREATE FUNCTION pg_temp.empty_tables() RETURNS void LANGUAGE plpgsql AS $$
    DECLARE
        grown text[] := '{{}}';
    BEGIN
        LOCK TABLE {", ".join(tables)} IN SHARE ROW EXCLUSIVE MODE;  -- waits for writers
        {deletions}
        IF grown <> '{{}}' THEN
            EXECUTE 'TRUNCATE ' || array_to_string(grown, ', ') || ' CASCADE';
        END IF;
        INSERT INTO organizations (id, name, created_at) VALUES ('local', 'local', '2026-01-01T00:00:00.000Z');
    END $$
    """


def _is_about_rows(statements: Sequence[str], *, keep: bool) -> bool:
    """Return whether the statements leave no state on the connection, so that it can be shared."""
    words = ("SELECT ", "WITH ", "INSERT ", "UPDATE ", "DELETE ") if keep else ("SELECT ",)
    return all(one.startswith(words) and "set_config(" not in one for one in statements)


def _is_ddl(statement: str) -> bool:
    return statement.split(maxsplit=1)[0].upper() in {"CREATE", "ALTER", "DROP", "GRANT", "REVOKE"}


def _run(connection: psycopg.Connection, statements: Sequence[str]) -> Rows:
    rows: Rows = []
    for statement in statements:
        if statement.startswith("COPY"):  # the rows follow on the next lines, as in a dump
            command, _, lines = statement.partition("\n")
            with connection.cursor() as cursor, cursor.copy(command) as copy:
                copy.write(lines)
        else:
            done = connection.execute(statement)
            rows = done.fetchall() if done.description else []
    return rows
