"""The page about conformance has the same table as the run."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conformance.expected import INAPPLICABLE

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "concepts" / "conformance.md"


def test_the_page_gives_the_reason_of_each_scenario_that_does_not_apply() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    told = {name: [row for row in rows if f"`{name}`" in row] for name in INAPPLICABLE}

    wrong = [name for name, found in told.items() if len(found) != 1 or INAPPLICABLE[name].reason not in found[0]]
    assert wrong == ["caching", "server-stateless"]  # in part
    assert all(told[name] for name in wrong)


def test_the_packages_of_node_are_locked_without_an_address() -> None:
    wanted = json.loads((HERE / "package.json").read_text(encoding="utf-8"))["dependencies"]
    locked = json.loads((HERE / "package-lock.json").read_text(encoding="utf-8"))["packages"]

    assert {name: locked[f"node_modules/{name}"]["version"] for name in wanted} == wanted
    assert all("integrity" in one and "resolved" not in one for name, one in locked.items() if name)
