"""What a start, a tool call and a short word load: only what they run, so that they are fast and take little memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

import groundplan
from tests.surfaces.copied_schema import migrate_once

pytestmark = pytest.mark.slow

MCP = ("mcp", "--db", "plan.db", "--kind", "person")
INITIALIZE = {"method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}}}
LIST = {"method": "tools/list"}
NEXT = {"method": "tools/call", "params": {"name": "graph_next", "arguments": {"project": "atlas"}}}

# Libraries that no agent and no short word needs, and parts of the standard library that take long to import.
SLOW = (
    *("typer", "click", "rich", "yaml", "pydantic", "psycopg", "mcp", "starlette", "uvicorn", "jinja2", "httpx"),
    *("asyncio", "logging", "argparse", "subprocess", "tempfile", "email", "http", "importlib.metadata", "unittest"),
    *("typing_extensions", "dataclasses", "inspect", "ast", "tokenize"),
)
# Parts of the standard library and of msgspec that no short word needs to read the plan, with the milliseconds of each.
NOT_TO_READ = (
    *("pathlib", "urllib", "ipaddress"),  # 2.0 together
    *("platform", "json", "msgspec._typing_utils", "textwrap"),  # 1.0, 0.8, 0.5 (msgspec.inspect), 0.4 (its schemas)
    *("random", "queue", "heapq", "getpass", "shlex", "contextvars", "select"),  # 0.1 to 0.4 each
    *("encodings.ascii", "encodings.utf_8_sig"),
)
# What only a write, a migration, a log beside the file, or a link needs.
NOT_IN_A_READ = (
    *("groundplan.kernel.secrets", "groundplan.kernel.store.idempotency", "groundplan.kernel.store.guards"),
    *("groundplan.kernel.store.migrations", "groundplan.kernel.store.tables", "groundplan.kernel.store.commits"),
    *("groundplan.kernel.store.sqlite.check_log", "groundplan.kernel.store.sqlite.log_file", "struct"),
    *("groundplan.kernel.links", "groundplan.work.engine.root", "groundplan.work.order", "groundplan.surfaces.respond"),
)
# What only creates or updates a database, describes tools, or belongs to another slice or engine.
UNUSED = (
    *(f"groundplan.{name}" for name in ("purpose", "context", "briefing", "argument_descriptions", "exchange", "demo")),
    *(f"groundplan.kernel.store.{name}" for name in ("postgres", "row_policies", "migration_text", "administration")),
    *("groundplan.kernel.operations.schema", "groundplan.kernel.tables", "groundplan.work.tables"),
    *("groundplan.knowledge.reading", "groundplan.knowledge.writing", "groundplan.work.graph.plan"),
    *("groundplan.work.containers.sections.context_files", "groundplan.work.engine.cycles"),
    "groundplan.work.order.project_order",
)
# What the everyday reading of `pl next` does without, with the milliseconds of each.
NOT_TO_READ_QUICKLY = (
    *("typing", "re", "enum", "msgspec", "contextlib"),  # 6 together, and 5 for msgspec
    *("signal", "threading", "weakref", "uuid", "decimal"),  # 3 together
    *(
        f"groundplan.{name}"
        for name in ("catalog", "configuration", "connections", "kernel.errors", "kernel.operations")
    ),
    *(
        f"groundplan.kernel.store.{name}"
        for name in ("store", "transaction", "authorize", "sqlite.store", "sqlite.file")
    ),
    *("groundplan.work.graph.next", "groundplan.work.engine", "groundplan.work.overlap", "groundplan.policies"),
    *("groundplan.surfaces.cli.failures", "groundplan.surfaces.cli.short.dispatch", "groundplan.surfaces.cli.drawing"),
)
# What Python itself imports: site reads paths with this codec since 3.13, NamedTuple needs ast since 3.14.
OF_PYTHON = {
    *(("encodings.utf_8_sig",) if sys.version_info >= (3, 13) else ()),
    *(("ast",) if sys.version_info >= (3, 14) else ()),
}
# Before its first answer a server needs neither operations nor a store.
BEFORE_THE_STORE = ("msgspec", "sqlite3", "datetime", "pathlib", "groundplan.catalog", "groundplan.kernel.store")


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a plan that has a task."""
    migrate_once(monkeypatch)
    with groundplan.open(str(tmp_path / "plan.db"), actor="ada") as session:
        session.call("project.create", name="atlas")
        planned = session.call("work.plan", project="atlas", nodes=[{"ref": "a", "summary": "Draw a map"}])
        session.call("work.update", updates=[{"node_id": planned.created[0].id, "summary": "Draw the map"}])
    return tmp_path


def run_and_list_modules(folder: Path, program: str, *messages: Mapping[str, object], prints: str) -> list[str]:
    """Run a program that uses `main` and prints a text, and return the modules that are loaded when it calls `tell`."""
    lines = (json.dumps({"jsonrpc": "2.0", "id": number, **each}) for number, each in enumerate(messages))
    begin = (
        "import sys\n"
        "def tell(*_): print('loaded:', *sys.modules, file=sys.stderr)\n"
        "from groundplan.__main__ import main\n"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GROUNDPLAN_")}
    ended = subprocess.run(
        [sys.executable, "-c", begin + program],
        input="\n".join(lines),
        cwd=folder,
        env={**environment, "GROUNDPLAN_AGENT": "ada", "XDG_STATE_HOME": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert prints in ended.stdout
    (loaded,) = (line for line in ended.stderr.splitlines() if line.startswith("loaded:"))
    return loaded.split()[1:]


def find_forbidden(loaded: Iterable[str], forbidden: Iterable[str]) -> set[str]:
    """Return the loaded modules that are forbidden, or are in a forbidden package."""
    packages = tuple(set(forbidden) - OF_PYTHON)
    return {name for name in loaded if name in packages or name.startswith(tuple(f"{one}." for one in packages))}


def count_own(loaded: Iterable[str]) -> int:
    return sum(name.partition(".")[0] == "groundplan" for name in loaded)


def test_the_first_answer_of_a_server_loads_only_the_protocol(plan: Path) -> None:
    stopped = f"from groundplan.surfaces.mcp import interface\ninterface.DeferredTools.load = tell\nmain({MCP!r})"
    loaded = run_and_list_modules(plan, stopped, INITIALIZE, prints="serverInfo")

    assert find_forbidden(loaded, (*SLOW, *UNUSED, *BEFORE_THE_STORE)) == set()
    assert count_own(loaded) <= 32


def test_a_server_loads_the_operation_that_is_called(plan: Path) -> None:
    loaded = run_and_list_modules(plan, f"main({MCP!r})\ntell()", INITIALIZE, LIST, NEXT, prints="Draw the map")

    assert "groundplan.work.graph.next" in loaded
    assert find_forbidden(loaded, (*SLOW, *UNUSED)) == set()
    assert count_own(loaded) <= 135


def test_the_everyday_reading_of_next_loads_neither_typing_nor_msgspec_nor_the_operation(plan: Path) -> None:
    loaded = run_and_list_modules(plan, "main(['next', '--db', 'plan.db'])\ntell()", prints="Draw the map")

    forbidden = (*SLOW, *UNUSED, *NOT_TO_READ, *NOT_IN_A_READ, *NOT_TO_READ_QUICKLY)
    assert find_forbidden(loaded, forbidden) == set()
    assert count_own(loaded) <= 40


def test_a_short_word_loads_the_operation_that_it_calls(plan: Path) -> None:
    loaded = run_and_list_modules(plan, "main(['next', '-n1', '--db', 'plan.db'])\ntell()", prints="Draw the map")

    assert "groundplan.work.graph.next" in loaded
    forbidden = (*SLOW, *UNUSED, *NOT_TO_READ, *NOT_IN_A_READ, "groundplan.knowledge", "groundplan.surfaces.mcp")
    assert find_forbidden(loaded, forbidden) == set()
    assert count_own(loaded) <= 113


@pytest.mark.parametrize("line", [["ls"], ["show", "Draw the map"], ["find", "map"]])
def test_a_short_word_that_reads_loads_little_of_the_standard_library(plan: Path, line: list[str]) -> None:
    loaded = run_and_list_modules(plan, f"main([*{line!r}, '--db', 'plan.db'])\ntell()", prints="Draw the map")

    assert find_forbidden(loaded, (*SLOW, *NOT_TO_READ)) == set()


def test_a_short_word_makes_few_classes_that_are_compiled_from_text(plan: Path) -> None:
    told = "(f'{one.__module__}.{one.__name__}' for one in tuple.__subclasses__() if hasattr(one, '_fields'))"
    program = f"main(['next', '-n1', '--db', 'plan.db'])\nprint('loaded:', *{told}, file=sys.stderr)"
    named_tuples = run_and_list_modules(plan, program, prints="Draw the map")

    # A server needs these before its first answer, for which msgspec would take too long.
    assert {name.rpartition(".")[2] for name in named_tuples if name.startswith("groundplan.")} == {
        *("NextStep", "Settings", "Flags")
    }


def test_undoing_a_change_of_work_loads_no_other_slice(plan: Path) -> None:
    loaded = run_and_list_modules(plan, "main(['undo', '--dry-run', '--db', 'plan.db'])\ntell()", prints="Would undo")

    assert find_forbidden(loaded, (*SLOW, "groundplan.purpose", "groundplan.context", "groundplan.knowledge")) == set()


def test_a_forbidden_module_is_noticed(plan: Path) -> None:
    program = f"import groundplan.purpose.open\nmain({MCP!r})\ntell()"
    loaded = run_and_list_modules(plan, program, INITIALIZE, prints="serverInfo")

    assert "groundplan.purpose.open" in find_forbidden(loaded, UNUSED)
