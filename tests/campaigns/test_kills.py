"""An acknowledged write survives kill -9, and no write is ever half applied."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from groundplan.kernel.store.migrations import Dialect
from tests.campaigns.kill import KillCampaign, find_half_applied
from tests.campaigns.table import CampaignRow, format_table, report_campaign
from tests.campaigns.writer import SABOTAGED
from tests.engines import Engine, SqliteEngine
from tests.proof import scaled
from tests.standby import Standby

KILLS = {Dialect.SQLITE: scaled(8, 300), Dialect.POSTGRES: scaled(4, 30)}
SEED = 7


@pytest.mark.proof
@pytest.mark.slow
def test_a_kill_loses_no_acknowledged_write_and_leaves_none_half_applied(
    engine: Engine, program: Standby, tmp_path: Path, record_property: Callable[[str, Any], None]
) -> None:
    kills = KILLS[engine.dialect]
    result = KillCampaign(engine, program, tmp_path, seed=SEED).run(kills)

    store = "SQLite" if isinstance(engine, SqliteEngine) else "PostgreSQL"
    figure = f"{result.acknowledged:,} acknowledged writes; usable again after {result.usable_p99_s:.2f} s (p99)"
    report_campaign(
        record_property, CampaignRow(f"kill -9, {store}", result.kills, kills, len(result.violations), figure)
    )


@pytest.mark.teeth
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_a_writer_that_acknowledges_before_the_commit_is_found(
    engine: Engine, program: Standby, tmp_path: Path
) -> None:
    result = KillCampaign(engine, program, tmp_path, seed=SEED, mode=SABOTAGED).run(40)

    assert any("is lost" in found for found in result.violations)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE work_nodes SET open_deps = open_deps + 1 WHERE n = 2",
        "UPDATE work_nodes SET open_children = 1 WHERE n = 1",
        "DELETE FROM work_nodes WHERE n = 3",
    ],
)
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_a_write_that_is_half_applied_is_found(engine: SqliteEngine, damage: str) -> None:
    session = engine.session("ada")
    session.call("project.create", name="atlas")
    session.call("work.plan", project="atlas", nodes=[{"ref": "a", "summary": "A"}, {"ref": "b", "summary": "B"}])
    assert find_half_applied(engine) == []

    engine.as_owner("PRAGMA foreign_keys = OFF", damage)
    assert find_half_applied(engine) != []


def test_a_campaign_that_runs_too_short_or_finds_something_misses_its_bound() -> None:
    rows = [CampaignRow("short", 9, 10, 0), CampaignRow("violated", 10, 10, 1), CampaignRow("met", 10, 10, 0)]

    assert [row.is_met for row in rows] == [False, False, True]
    assert [line.split()[0] for line in format_table(rows)] == ["campaign", "met", "short", "violated"]
