"""Items of the purpose that wait for a person: blocking checks, ending waivers, requests, and reviews that are due."""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple

from groundplan.kernel.clock import subtract_time
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.policies import get_policies
from groundplan.purpose.content import read_content
from groundplan.purpose.dates import get_day
from groundplan.purpose.gates.gates import Check, Gate, describe_fix, list_required_gates, select_active_waivers
from groundplan.purpose.gates.run import read_gate_inputs, run_checks
from groundplan.purpose.observing.read import NO_CUTOFF, read_requests, read_waivers
from groundplan.purpose.observing.records import DecisionRequest, Waiver
from groundplan.purpose.versions.versions import find_latest_published, read_versions, resolve_version

sql = load_queries(__file__)


class BlockingCheck(NamedTuple):
    """A check of a gate that fails without a waiver, in the words of the caller's surface."""

    gate: Gate
    check: Check
    changed_at: str  # when the draft was last changed


def list_blocking_checks(tx: Transaction) -> list[BlockingCheck]:
    """Return the failing checks of the gates that the draft must pass; an empty list if there is no draft."""
    draft = next((row for row in read_versions(tx) if row.is_draft), None)
    if draft is None:
        return []
    changed_at = tx.scalar(sql.version_changed_at, version_id=draft.id)
    content = read_content(tx, draft.id)
    observations, outside, today = read_gate_inputs(tx, draft, content)
    blocking = []
    for gate in list_required_gates(get_policies(tx)):
        checks, fixes = run_checks(
            gate, content, observations, profile=draft.profile, external_facts=outside, today=today
        )
        for check in checks:
            if check.is_blocking:
                check.fix = describe_fix(fixes.get(check.code), tx.preferences.vocabulary)
                blocking.append(BlockingCheck(gate, check, changed_at))
    return blocking


NOTICE = timedelta(days=14)


def list_ending_waivers(tx: Transaction) -> list[Waiver]:
    """Return the active waivers that end within the notice period, each with the refs that it still decides."""
    last_day = get_day(subtract_time(tx.now, -NOTICE))
    active = select_active_waivers(read_waivers(tx, NO_CUTOFF), tx.now)
    return [waiver for waiver in active if get_day(waiver.due) <= last_day]


def list_open_requests(tx: Transaction) -> list[DecisionRequest]:
    """Return the requests of the project that no decision has answered, oldest first."""
    return [request for request in read_requests(tx, NO_CUTOFF) if request.answered_by is None]


class DueReview(NamedTuple):
    """An assumption whose review is due."""

    key: str
    text: str
    owner: str | None
    review_by: str


def list_reviews_due(tx: Transaction) -> list[DueReview]:
    """Return the assumptions of the purpose in force whose reviews are due.

    A review on the day named by `review_by` or later settles it, and so does another day in a later version.
    """
    version = find_latest_published(tx) or resolve_version(tx, None)
    if version is None:
        return []
    return tx.all(
        sql.assumptions_past_review,
        DueReview,
        project_id=tx.project.id,
        version_id=version.id,
        rev=tx.project.rev,
        today=get_day(tx.now),
    )
