"""Migrations: numbered steps from an empty database to the current schema, forward only, each in one transaction.

A step is one file for both engines, which `migration_text` expands. The step and its record are one transaction, so an
interrupted run can be repeated. A released step is never edited: the checksum of the expanded text is stored, and a
database with another checksum, or with steps of a newer Groundplan, is refused.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import StrEnum
from functools import cache

from msgspec import Struct

from groundplan.kernel.errors import Unavailable

MIGRATIONS_FOLDER = os.path.abspath(f"{__file__}/../../../migrations")


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
        from pathlib import Path  # not at import, as in `checksum`

        from groundplan.kernel.store.migration_text import expand

        return expand(Path(self.path), self.dialect)

    @property
    def checksum(self) -> str:
        from hashlib import sha256  # not at import: a current database needs no checksum

        return sha256(self.text.encode()).hexdigest()


class AppliedMigration(Struct, frozen=True):
    """A step that a database has recorded."""

    number: int
    name: str
    checksum: str


class NewerSchema(Unavailable):
    """The database has the schema of a newer Groundplan."""

    code = "store_newer"

    def __init__(self, found: int, known: int) -> None:
        super().__init__(
            f"this database has schema {found} and this Groundplan knows up to {known}; upgrade Groundplan to open it",
            found=found,
            known=known,
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
    found = []
    for file in sorted(name for name in os.listdir(folder) if name.endswith(".sql")):
        number, _, name = file.removesuffix(".sql").partition("_")
        found.append(Migration(int(number), name, f"{folder}/{file}", dialect))
    if [step.number for step in found] != list(range(1, len(found) + 1)):
        raise ValueError(f"the migrations in {folder} are not numbered 1 to {len(found)}")
    return tuple(found)


def find_pending(steps: Sequence[Migration], applied: Sequence[AppliedMigration]) -> Sequence[Migration]:
    """Return the steps that are not applied yet, after checking the checksums of the others."""
    if len(applied) > len(steps):
        raise NewerSchema(applied[-1].number, len(steps))
    for step, recorded in zip(steps, applied, strict=False):
        if step.checksum != recorded.checksum:
            raise ChangedMigration(step.number, step.name)
    return steps[len(applied) :]
