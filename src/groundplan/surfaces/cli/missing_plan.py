"""Refuse to create a database that was not named: a typo or a wrong folder must leave no empty plan behind."""

from __future__ import annotations

import os
from collections.abc import Sequence

from groundplan.configuration import Settings
from groundplan.kernel.errors import Unavailable
from groundplan.kernel.wording import quote_text
from groundplan.surfaces.cli.failures import UsageError

PROJECTS_SHOWN_MAX = 5


class FileMissing(Unavailable):
    """The database file to read from does not exist."""

    code = "store_missing"

    def __init__(self, db: str) -> None:
        from shlex import quote  # only this error needs it

        super().__init__(
            f"the file {quote_text(db)} does not exist; "
            f"create it with groundplan init --db {quote(db)}, or name another one",
            file=db,
        )


class NoPlanHere(Unavailable):
    """No database was named, and neither this folder nor one above it has a plan."""

    code = "no_plan_here"

    def __init__(self) -> None:
        super().__init__(
            "there is no plan in this folder or above it; run groundplan init to start one here, or name one with --db"
        )


def choose_project(names: Sequence[str]) -> str:
    """Return the only project of a plan."""
    if len(names) == 1:
        return names[0]
    if not names:
        raise UsageError("this plan has no project yet; create one with groundplan project create NAME")
    listed = ", ".join(names[:PROJECTS_SHOWN_MAX]) + (", …" if len(names) > PROJECTS_SHOWN_MAX else "")
    raise UsageError(f"this plan has {len(names)} projects ({listed}); give --project NAME, or set GROUNDPLAN_PROJECT")


def refuse_missing(settings: Settings, *, reads_only: bool = False) -> bool:
    """Return whether the database is to be created."""
    if not _is_missing(settings.db):
        return False
    if not settings.may_create_db:
        raise NoPlanHere
    if reads_only:
        raise FileMissing(settings.db)
    return True


def _is_missing(db: str) -> bool:
    """Return whether the file is missing but its folder exists. If the folder is missing, opening the file fails."""
    from groundplan.kernel.store.open_store import is_postgres

    if is_postgres(db):
        return False
    try:
        os.stat(db)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return os.path.isdir(os.path.dirname(db) or ".")
    except OSError:  # not accessible; opening it reports why
        return False
    return False
