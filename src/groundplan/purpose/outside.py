"""What a gate is told beside the content: what was observed, what others and the database say, and which day it is.

For a published version all of it is as it was then: what was observed before, and what others said, kept with it. So
its gates say for ever what they said. As of another day the observations are those of that day.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from groundplan import questions
from groundplan.kernel.store.live_catalog import row_security_findings
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.dates import day_of
from groundplan.purpose.gates.result import ContextFacts, Outside
from groundplan.purpose.model import Content, NodeType
from groundplan.purpose.observing.observed import Observations
from groundplan.purpose.observing.read_observations import Known, observations_of
from groundplan.purpose.tables import TABLES
from groundplan.purpose.version import VersionRow

sql = load_queries(__file__)


class GateInputs(NamedTuple):
    """Everything that a gate looks at beside the content."""

    observations: Observations
    outside: Outside
    today: str


def gate_inputs(tx: Transaction, row: VersionRow, content: Content, *, as_of: str | None = None) -> GateInputs:
    """What the gates of a version look at: now for a draft, then for a published one, or as of some day."""
    if row.published_at is None:
        observed = observations_of(tx, content, Known(as_of=as_of))
        # What others would have said on another day, nobody can tell.
        outside = outside_now(tx, content) if as_of is None else Outside(row_security=_row_security(tx))
        return GateInputs(observed, outside, day_of(as_of or tx.now))
    outside = msgspec.json.decode(tx.scalar(sql.outside_kept, version_id=row.id), type=Outside)
    known = Known(before_rev=row.published_rev) if as_of is None else Known(as_of=as_of)
    return GateInputs(observations_of(tx, content, known), outside, day_of(as_of or row.published_at))


def outside_now(tx: Transaction, content: Content) -> Outside:
    """What others say at this moment."""
    return Outside(context_facts(tx), _served(tx, content), _row_security(tx))


def context_facts(tx: Transaction) -> ContextFacts | None:
    """The facts in force; None where nobody could know them."""
    if not questions.context_in_force.can_be_answered:
        return None
    found = questions.context_in_force(tx, None)
    return ContextFacts() if found is None else ContextFacts(found.run_id, found.is_partial, found.required_unset)


def _row_security(tx: Transaction) -> list[str] | None:
    return row_security_findings(tx, [table.name for table in TABLES])


def _served(tx: Transaction, content: Content) -> dict[str, int] | None:
    """How much work serves each activity; None where nobody could know it."""
    if not questions.work_serving.can_be_answered:
        return None
    keys = [node.key for node in content.of_type(NodeType.ACTIVITY)]
    serving = questions.work_serving(tx, keys)
    return {key: len(serving.get(key, ())) for key in keys}
