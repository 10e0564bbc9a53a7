"""`groundplan doctor`: check the database and say how to fix what is wrong.

It never creates, changes or migrates the database.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from groundplan.catalog import build_schema
from groundplan.kernel.errors import GroundplanError, Unavailable
from groundplan.kernel.store.checkup import CheckStatus, Finding, fail
from groundplan.kernel.store.open_store import NoDriver, is_postgres
from groundplan.kernel.store.retry import TryAgain
from groundplan.surfaces.cli.invocation import CommandResult, Invocation

# For errors whose message recommends doctor, or has no fix after the semicolon.
FIXES: Mapping[str, str] = {
    "store_damaged": "restore a backup",
    "store_disk_full": "free some space, then try again",
    "store_too_slow": "try again in a moment",
    "store_io_error": "check the disk, then restore a backup",
}
FALLBACK_FIX = "check the value of --db"


def doctor(invocation: Invocation) -> CommandResult:
    """Check the database: file modes, settings, schema, triggers, and on PostgreSQL row level security."""
    findings = list(_examine(invocation.settings.db))
    is_well = not any(finding.status is CheckStatus.FAIL for finding in findings)

    def draw() -> None:
        from groundplan.surfaces.cli.terminal import draw_table, echo

        draw_table(("status", "check", "finding"), [(found.status, found.name, found.message) for found in findings])
        fixes = [found for found in findings if found.fix]
        if fixes:
            echo("", "Next steps:", *(f"  {found.name}: {found.fix}" for found in fixes))
        echo("", "No checks failed." if is_well else "Some checks failed.")

    data = {"checks": [finding.body() for finding in findings], "ok": is_well}
    return CommandResult(data, draw, exit_code=0 if is_well else Unavailable.exit_code)


def _examine(db: str) -> Iterator[Finding]:
    try:
        if is_postgres(db):
            from groundplan.kernel.store.postgres.checkup import run_checks as examine_postgres

            yield from examine_postgres(db, build_schema())
        else:
            from groundplan.kernel.store.sqlite.checkup import run_checks as examine_file

            yield from examine_file(db, build_schema())
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
