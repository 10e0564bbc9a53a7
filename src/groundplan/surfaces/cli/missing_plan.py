"""Refuse to create a database that was not named: a typo or a wrong folder must leave no empty plan behind."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence

from groundplan.configuration import Settings
from groundplan.discovery import find_plans
from groundplan.kernel.errors import Unavailable
from groundplan.kernel.wording import quote_text
from groundplan.surfaces.cli.failures import UsageError

PROJECTS_SHOWN_MAX = 5
MISSING, EMPTY = "does not exist", "is empty"


class FileMissing(Unavailable):
    """The database file to read from does not exist, or is empty."""

    code = "store_missing"

    def __init__(self, db: str, lack: str) -> None:
        from shlex import quote  # only this error needs it

        super().__init__(
            f"the file {quote_text(db)} {lack}; create it with groundplan init --db {quote(db)}, or name another one",
            file=db,
        )


class NoPlanHere(Unavailable):
    """No database was named, and neither this folder nor one above it has a plan."""

    code = "no_plan_here"

    def __init__(self, config_file: str | None) -> None:
        if config_file is None:
            problem = "there is no plan in this folder or above it"
        else:
            plans = (plan.config_file or plan.db for plan in find_plans())
            hidden = next((path for path in plans if path not in (None, config_file)), None)
            problem = f"{quote_text(config_file)} names no db_path" + (f", and {hidden} is not used" if hidden else "")
        super().__init__(f"{problem}; run groundplan init to start one here, or name one with --db")


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
    lack = find_lack(settings.db)
    if lack is None:
        return False
    if lack == MISSING and not settings.may_create_db:
        raise NoPlanHere(settings.config_file)
    if reads_only:
        raise FileMissing(settings.db, lack)
    return True


def find_lack(db: str) -> str | None:
    """Return why there is no database to read: the file is missing or empty. Opening it reports all else.

    Of a missing file the folder exists. An empty file may have a log that belongs to it.
    """
    from groundplan.kernel.store.open_store import is_postgres

    if is_postgres(db):
        return None
    try:
        found = os.stat(db)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return MISSING if os.path.isdir(os.path.dirname(db) or ".") else None
    except OSError:  # not accessible
        return None
    return EMPTY if stat.S_ISREG(found.st_mode) and not found.st_size and not os.path.exists(f"{db}-wal") else None
