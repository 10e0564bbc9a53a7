"""What others rely on changes only on purpose: `make contracts` writes it down, a person reviews the difference."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import groundplan
from groundplan.__main__ import main
from groundplan.catalog import OPERATIONS
from groundplan.kernel.operations.registry import Group
from groundplan.session import Session
from groundplan.surfaces.mcp.tools import RegistryTools
from tests.contracts.reference import by_page, tool_call
from tests.contracts.snapshots import FROZEN, TOKEN_BARS, database, frozen_changes, listed_tokens
from tests.contracts.words import EXAMPLES, FIRST
from tests.contracts.write import REFERENCE, SCHEMA, contents, difference, orphans

PAGES = sorted(path.stem for path in REFERENCE.glob("*.md"))
SHELL = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_the_contracts_are_what_was_last_reviewed() -> None:
    differences = [found for path, text in contents().items() if (found := difference(path, text))]
    assert not differences, "run `make contracts`, review the diff\n" + "\n".join(differences)


def test_no_page_outlives_what_it_describes() -> None:
    assert orphans() == [], "run `make contracts`"


@pytest.mark.parametrize("groups", TOKEN_BARS)
def test_a_list_of_tools_costs_no_more_than_it_may(groups: str) -> None:
    switched_on, bar = TOKEN_BARS[groups]
    assert listed_tokens(switched_on) <= bar


# --- The schema -----------------------------------------------------------------------------------------------------


def test_the_schema_changes_only_by_a_new_migration() -> None:
    changed = frozen_changes(json.loads(SCHEMA.read_text(encoding="utf-8")), database())
    assert not changed, FROZEN.format(changed=", ".join(changed))


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({}, []),
        ({"migrations": {"0001_a.sqlite.sql": "y"}}, ["0001_a.sqlite.sql"]),
        ({"migrations": {}}, ["0001_a.sqlite.sql"]),
        ({"generated": {"guards": "y"}}, ["guards"]),
        ({"generated": {"guards": "y"}, "latest": 2}, []),
        ({"migrations": {"0001_a.sqlite.sql": "y"}, "latest": 2}, ["0001_a.sqlite.sql"]),
    ],
)
def test_a_released_step_never_changes_and_generated_sql_only_with_a_new_one(
    change: dict[str, Any], found: list[str]
) -> None:
    recorded = {"latest": 1, "migrations": {"0001_a.sqlite.sql": "x"}, "generated": {"guards": "x"}}
    assert frozen_changes(recorded, {**recorded, **change}) == found


# --- The examples on the pages --------------------------------------------------------------------------------------


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with nothing configured."""
    monkeypatch.chdir(tmp_path)
    for variable in ("DB", "AGENT", "ACCESS", "TOOLS"):
        monkeypatch.delenv(f"GROUNDPLAN_{variable}", raising=False)
    return tmp_path


@pytest.fixture
def plan(here: Path) -> Iterator[Session]:
    with groundplan.open(str(here / "plan.db"), actor="ada") as plan:
        yield plan


def examples(page: str) -> list[tuple[str, dict[str, Any]]]:
    return [(operation.name, EXAMPLES[operation.name]) for operation in by_page()[page]]


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_on_a_page_run(page: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (REFERENCE / f"{page}.md").read_text(encoding="utf-8")
    for line in "".join(SHELL.findall(text)).splitlines():
        program, *arguments = shlex.split(line)
        assert program == "groundplan"
        assert main(arguments) == 0, f"{line}\n{capsys.readouterr().err}"


@pytest.mark.parametrize("page", by_page())
def test_the_calls_from_python_on_a_page_run(page: str, plan: Session) -> None:
    for name, values in (*FIRST.get(page, ()), *examples(page)):
        plan.call(name, **values)


@pytest.mark.parametrize("page", by_page())
def test_the_tool_calls_on_a_page_run(page: str, plan: Session) -> None:
    tools = RegistryTools(OPERATIONS, frozenset(Group), plan.run)
    for name, values in FIRST.get(page, ()):
        plan.call(name, **values)
    for name, values in examples(page):
        if OPERATIONS[name].tool is not None:
            call = tool_call(OPERATIONS[name], values)
            answer = tools.call(call["name"], call["arguments"])
            assert not answer.is_error, answer.text
