"""Every kind of event has an inverse or a reason why it has none."""

from __future__ import annotations

from enum import StrEnum

import pytest

from groundplan.briefing.undo.undo import INVERSES, load_inverses
from groundplan.catalog import OPERATIONS
from groundplan.context.events import Op as ContextOp
from groundplan.kernel.audit import KernelOp
from groundplan.knowledge.events import Op as KnowledgeOp
from groundplan.purpose.tables import Op as PurposeOp
from groundplan.work.events import WorkOp

TABLES: dict[str, type[StrEnum]] = {
    "work": WorkOp,
    "knowledge": KnowledgeOp,
    "purpose": PurposeOp,
    "context": ContextOp,
    "project": KernelOp,
}


@pytest.mark.parametrize("area", TABLES)
def test_every_event_has_an_inverse_or_a_reason(area: str) -> None:
    assert load_inverses(area).ops.keys() == {*TABLES[area]}


def test_every_reason_names_an_operation_that_exists() -> None:
    reasons = [why for area in INVERSES for why in load_inverses(area).ops.values() if why is not None]
    assert not [why.step for why in reasons if why.step is not None and why.step.operation not in OPERATIONS]
    assert all(why.reason for why in reasons)
