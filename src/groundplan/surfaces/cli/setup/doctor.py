"""`groundplan doctor`: check the database and say how to fix what is wrong.

It never creates, changes or migrates the database.
"""

from __future__ import annotations

from groundplan.catalog import build_schema
from groundplan.kernel.errors import Unavailable
from groundplan.kernel.projects.check_owners import check_owners
from groundplan.kernel.store.cancellation import NO_LIMIT_S, Cancellation
from groundplan.kernel.store.checkup import CheckStatus, check_store
from groundplan.surfaces.cli.invocation import CommandResult, Invocation
from groundplan.work.check_plans import check_plans


def doctor(invocation: Invocation) -> CommandResult:
    """Check the database: files, settings, schema, triggers, owners, plans, and on PostgreSQL row level security."""
    findings = list(check_store(invocation.settings.db, build_schema()))
    if not any(finding.status is CheckStatus.FAIL for finding in findings):
        with invocation.session(reads_only=True) as session:
            findings += session.store.read(
                session.actor,
                lambda tx: [*check_owners(tx), *check_plans(tx)],
                cancellation=Cancellation(NO_LIMIT_S),
            )
    is_well = not any(finding.status is CheckStatus.FAIL for finding in findings)

    def draw() -> None:
        from groundplan.surfaces.cli.drawing import GAP, Lines, Rows, View

        View(
            Rows("findings", "status, check: name, finding: message"),
            Lines(lambda _: [found for found in findings if found.fix], "{name}: {fix}", title="Next steps:"),
            GAP,
            "No checks failed." if is_well else "Some checks failed.",
        )({"findings": findings})

    data = {"checks": [finding.to_dict() for finding in findings], "ok": is_well}
    return CommandResult(data, draw, exit_code=0 if is_well else Unavailable.exit_code)
