"""Check a database without changing it. The result is a list of findings, with fixes for problems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.store.open_store import NoDriver, is_postgres
from groundplan.kernel.store.schema import Schema
from groundplan.kernel.store.store import TryAgain

# For errors whose message recommends doctor, or has no fix after the semicolon.
FIXES: Mapping[str, str] = {
    "store_damaged": "restore a backup",
    "store_disk_full": "free some space, then try again",
    "store_too_slow": "try again in a moment",
    "store_io_error": "check the disk, then restore a backup",
}
FALLBACK_FIX = "check the value of --db"


class CheckStatus(StrEnum):
    """The severity of a finding."""

    OK = "ok"
    WARN = "warn"  # works, but should be fixed
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check, and a fix if there is a problem."""

    name: str
    status: CheckStatus
    message: str
    fix: str | None = None

    def to_dict(self) -> dict[str, str]:
        """Return the finding as data."""
        body = {"name": self.name, "status": self.status.value, "message": self.message}
        return body if self.fix is None else {**body, "fix": self.fix}


def ok(name: str, message: str) -> Finding:
    """Return a finding that is not a problem."""
    return Finding(name, CheckStatus.OK, message)


def warn(name: str, message: str, fix: str) -> Finding:
    """Return a finding about a problem that does not stop Groundplan."""
    return Finding(name, CheckStatus.WARN, message, fix)


def fail(name: str, message: str, fix: str | None = None) -> Finding:
    """Return a finding about a failed check."""
    return Finding(name, CheckStatus.FAIL, message, fix)


def check_store(db: str, schema: Schema) -> Iterator[Finding]:
    """Yield the findings about a database, even if it cannot be opened."""
    try:
        if is_postgres(db):
            from groundplan.kernel.store.postgres.checkup import run_checks as check_postgres

            yield from check_postgres(db, schema)
        else:
            from groundplan.kernel.store.sqlite.checkup import run_checks as check_file

            yield from check_file(db, schema)
    except ImportError:
        yield _to_finding("driver", NoDriver())
    except TryAgain:
        yield fail("opening", "another program holds a lock on the database", "stop it, or try again in a moment")
    except OSError as error:
        yield fail("opening", f"the file cannot be opened: {error.strerror}", "check the owner and mode of its folder")
    except GroundplanError as error:
        # The error that every command would get; the remaining checks cannot run.
        yield _to_finding("opening", error)


def _to_finding(check: str, error: GroundplanError) -> Finding:
    # Messages say what is wrong, and after the first semicolon what to do.
    wrong, _, fix = error.message.partition("; ")
    return fail(check, wrong, FIXES.get(error.code) or fix or FALLBACK_FIX)
