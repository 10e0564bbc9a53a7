"""The page about the gates is right."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from groundplan.purpose import health
from groundplan.purpose.gates.gates import NOT_WAIVABLE, SEVERITY_TABLES, Gate
from groundplan.purpose.health import Metrics

PAGE = (Path(__file__).parents[3] / "docs" / "concepts" / "gates.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `(\w+)` \| .+ \| (block|warn|-) \| (block|warn|-) \| (block|warn|-) \|$", re.MULTILINE)
METRIC = re.compile(r"^\| `(\w+)` \| .+ \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)


def section(title: str) -> str:
    return PAGE.partition(f"\n## {title}")[2].partition("\n## ")[0]


@pytest.mark.parametrize("gate", SEVERITY_TABLES)
def test_the_page_has_every_check_with_its_weight_in_every_profile(gate: Gate) -> None:
    documented = [(code, tuple(weights)) for code, *weights in ROW.findall(section(f"Gate {gate}"))]

    assert documented == [
        (code, tuple(one or "-" for one in row)) for code, row in sorted(SEVERITY_TABLES[gate].items())
    ]


def test_the_page_names_what_cannot_be_waived() -> None:
    (sentence,) = [line for line in section("Waivers").split("\n- ") if "cannot be waived" in line]

    assert set(re.findall(r"`(G[AB]_\w+)`", sentence)) == NOT_WAIVABLE


def test_the_page_has_every_metric_with_its_bands() -> None:
    share = f"≥ {health.SHARE_GREEN_MIN} %", f"≥ {health.SHARE_AMBER_MIN} %"
    count = f"{health.COUNT_GREEN_MAX}", f"≤ {health.COUNT_AMBER_MAX}"
    days = f"≤ {health.FRESH_GREEN_MAX}", f"≤ {health.FRESH_AMBER_MAX}"
    bands = {"open_high_risk": count, "stale_assumptions": count, "required_facts_unset": count}
    bands["data_freshness_days"] = days

    documented = [(name, (green, amber)) for name, green, amber in METRIC.findall(section("Health"))]

    assert documented == [(one.name, bands.get(one.name, share)) for one in msgspec.structs.fields(Metrics)]
