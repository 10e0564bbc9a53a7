"""`groundplan doctor`: check the database and say how to fix what is wrong.

It never creates, changes or migrates the database.
"""

from __future__ import annotations

from groundplan.catalog import build_schema
from groundplan.kernel.actors import Access, trusted_reader
from groundplan.kernel.cancellation import NO_LIMIT_S, Cancellation
from groundplan.kernel.errors import NotFound, Unavailable
from groundplan.kernel.organizations.people import check_entry
from groundplan.kernel.preferences import Preferences
from groundplan.kernel.projects import check_clocks, check_owners
from groundplan.kernel.store.checkup import CheckStatus, Finding, check_store, fail, ok, warn
from groundplan.kernel.store.open_store import is_postgres
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.turned_edges import check_turned_edges
from groundplan.session import Session
from groundplan.surfaces.cli.drawing import GAP, Lines, Rows, View
from groundplan.surfaces.cli.invocation import CommandResult, Invocation
from groundplan.surfaces.cli.missing_plan import MISSING, NoPlanHere, find_lack
from groundplan.surfaces.cli.steps import Step, join_steps
from groundplan.work.checks import check_leases, check_plans


def doctor(invocation: Invocation) -> CommandResult:
    """Check the database: files, settings, schema, triggers, owners, plans, clocks, and row level security."""
    from groundplan.repository.setup.synced_folders import REMEDY, describe_danger

    db = invocation.settings.db
    if find_lack(db) == MISSING and not invocation.settings.may_create_db:
        raise NoPlanHere(invocation.settings.config_file)
    findings = list(check_store(db, build_schema()))
    if not is_postgres(db) and (danger := describe_danger(db)) is not None:
        findings.append(warn("folder", danger, REMEDY))
    if not any(finding.status is CheckStatus.FAIL for finding in findings):
        with invocation.session(reads_only=True) as session:
            findings.append(_check_organization(session))
            if invocation.settings.access == Access.MEMBERS:
                reader = trusted_reader(invocation.settings.org)
                findings.append(session.store.read(reader, check_entry))
            findings += session.store.read(
                session.actor,
                lambda tx: _check_content(tx, session.preferences),
                cancellation=Cancellation(NO_LIMIT_S),
            )
    is_well = not any(finding.status is CheckStatus.FAIL for finding in findings)

    view = View(
        Rows("findings", "status, check: name, finding: message"),
        Lines(lambda _: [found for found in findings if found.fix], "{name}: {fix}", title="Next steps:"),
        GAP,
        "No checks failed." if is_well else "Some checks failed.",
    )
    data = {"checks": [finding.to_dict() for finding in findings], "ok": is_well}
    checked = Step(data, view.list_parts({"findings": findings}))
    return join_steps(checked, exit_code=0 if is_well else Unavailable.exit_code)


def _check_organization(session: Session) -> Finding:
    """Return the organization of this session."""
    try:
        view = session.call("organization.view").organization
    except NotFound as error:
        wrong, _, fix = error.message.partition("; ")
        return fail("organization", wrong, f"{fix}; or choose another one with --org")
    name = "" if view.name == view.id else f" ({view.name})"
    return ok("organization", f"{view.id}{name} is in force")


def _check_content(tx: Transaction, preferences: Preferences) -> list[Finding]:
    tx.preferences = preferences  # the duration of claims
    return [*check_owners(tx), *check_plans(tx), *check_clocks(tx), *check_leases(tx), *check_turned_edges(tx)]
