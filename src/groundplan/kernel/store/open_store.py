"""Open the store that the user names: a file, or a `postgresql://` URL."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from groundplan.kernel.errors import Unavailable
from groundplan.kernel.store.store import Store
from groundplan.kernel.store.tables import Schema


class NoDriver(Unavailable):
    """The PostgreSQL driver, an optional dependency, is not installed."""

    code = "store_no_driver"

    def __init__(self) -> None:
        super().__init__("PostgreSQL support is not installed; run: pip install 'groundplan[postgres]'")


def is_postgres(db: str) -> bool:
    """Return whether `db` is the URL of a PostgreSQL database."""
    return db.startswith(("postgresql://", "postgres://"))


def open_store(db: str, schema: Callable[[], Schema]) -> Store:
    """Return the store that `db` names. A missing file is created."""
    if not is_postgres(db):
        from groundplan.kernel.store.sqlite.store import SqliteStore

        return SqliteStore(Path(db), schema)
    try:
        from groundplan.kernel.store.postgres.store import PostgresStore
    except ImportError:
        raise NoDriver from None
    return PostgresStore(db)
