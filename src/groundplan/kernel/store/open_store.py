"""Open the store for a file or a `postgresql://` URL."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from groundplan.kernel.cancellation import Cancellation
from groundplan.kernel.clock import Clock, system_clock
from groundplan.kernel.errors import Unavailable
from groundplan.kernel.store.schema import Schema
from groundplan.kernel.store.store import Store

SECRETS = ("password", "sslpassword")  # in the query string of a URL


class NoDriver(Unavailable):
    """The PostgreSQL driver, an optional dependency, is not installed."""

    code = "store_no_driver"

    def __init__(self) -> None:
        super().__init__("PostgreSQL support is not installed; run: pip install 'groundplan[postgres]'")


def is_postgres(db: str) -> bool:
    """Return whether `db` is the URL of a PostgreSQL database."""
    return db.startswith(("postgresql://", "postgres://"))


def strip_password(db: str) -> str:
    """Return a display form of `db`: a URL loses its passwords."""
    if not is_postgres(db):
        return db

    parts = urlsplit(db)
    user, at, host = parts.netloc.rpartition("@")
    query = urlencode([(key, value) for key, value in parse_qsl(parts.query) if key not in SECRETS])
    return urlunsplit(parts._replace(netloc=user.partition(":")[0] + at + host, query=query))


def open_store(
    db: str,
    schema: Callable[[], Schema],
    *,
    for_server: bool = False,
    cancellation: Cancellation | None = None,
    clock: Clock | None = None,
    as_owner: bool = False,
) -> Store:
    """Return the store of `db`. A missing file is created. `cancellation` can end the migration of a file.

    In a server the writes of many threads to one file share commits. `clock` replaces the clock of the machine or of
    the database server. `as_owner` is for administration with the URL of the role that owns a PostgreSQL database.
    """
    if not is_postgres(db):
        if for_server:
            from groundplan.kernel.store.sqlite.group_commit import GroupCommitStore

            return GroupCommitStore(db, schema, clock=clock or system_clock, cancellation=cancellation)
        from groundplan.kernel.store.sqlite.store import SqliteStore

        return SqliteStore(db, schema, clock=clock or system_clock, cancellation=cancellation)
    try:
        from groundplan.kernel.store.postgres.store import PostgresStore
    except ImportError:
        raise NoDriver from None
    return PostgresStore(db, clock=clock, as_owner=as_owner)
