"""The numbered steps from an empty database to today's schema: forward only, each whole or not at all.

A step is one file for both engines, which `migration_text` expands. The step and the note that it was taken are one
transaction, so a run that was killed is simply run again. A step that was taken is never edited: the checksum of the
expansion is kept, and a database that took another one is refused, as is a database that a newer Groundplan has already
taken further.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

from groundplan.kernel.errors import Unavailable

MIGRATIONS_FOLDER = Path(__file__).parents[2] / "migrations"


class Dialect(StrEnum):
    """The engines Groundplan runs on."""

    SQLITE = "sqlite"
    POSTGRES = "postgres"


@dataclass(frozen=True, slots=True)
class Migration:
    """One step, for one engine."""

    number: int
    name: str
    path: Path
    dialect: Dialect

    @property
    def text(self) -> str:
        from groundplan.kernel.store.migration_text import expand  # not at import, as for the checksum

        return expand(self.path, self.dialect)

    @property
    def checksum(self) -> str:
        from hashlib import sha256  # not at import: a database that is up to date needs no checksum

        return sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class AppliedMigration:
    """What a database says it has taken."""

    number: int
    name: str
    checksum: str


class NewerSchema(Unavailable):
    """A newer Groundplan wrote here; an older one could only do harm."""

    code = "store_newer"

    def __init__(self, found: int, known: int) -> None:
        super().__init__(
            f"this database has schema {found} and this Groundplan knows up to {known}; upgrade Groundplan to open it",
            found=found,
            known=known,
        )


class ChangedMigration(Unavailable):
    """The database took a step that reads differently here."""

    code = "store_migration_changed"

    def __init__(self, number: int, name: str) -> None:
        super().__init__(
            f"migration {number} ({name}) is not the one this database was made with; "
            "use the Groundplan that made it, or restore a backup",
            number=number,
            name=name,
        )


@cache
def load_migrations(dialect: Dialect, folder: Path = MIGRATIONS_FOLDER) -> tuple[Migration, ...]:
    """All steps for one engine, in order."""
    found = []
    for path in sorted(folder.glob("*.sql")):
        number, _, name = path.stem.partition("_")
        found.append(Migration(int(number), name, path, dialect))
    if [step.number for step in found] != list(range(1, len(found) + 1)):
        raise ValueError(f"the migrations in {folder} are not numbered 1 to {len(found)}")
    return tuple(found)


def find_pending(steps: Sequence[Migration], applied: Sequence[AppliedMigration]) -> Sequence[Migration]:
    """The steps still to take, after checking that those taken are the ones we know."""
    if len(applied) > len(steps):
        raise NewerSchema(applied[-1].number, len(steps))
    for step, taken in zip(steps, applied, strict=False):
        if step.checksum != taken.checksum:
            raise ChangedMigration(step.number, step.name)
    return steps[len(applied) :]
