"""What the operations of the work graph cost, against the figures of their contract, on a project of thirty nodes."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.peers import start_groundplan
from bench.tokens import AGENT, TOOLS_WITH_LEAN, measure_operations


@pytest.mark.slow
@pytest.mark.parametrize("lean", [False, True])
def test_every_operation_costs_at_most_what_its_contract_says(tmp_path: Path, lean: bool) -> None:
    with start_groundplan(tmp_path / "graph.db", "--agent", AGENT) as server:
        results = measure_operations(server.begin(), lean=lean)

    assert {result.what: result.value for result in results if not result.is_met} == {}
    assert len(results) > 2 * len(TOOLS_WITH_LEAN)
