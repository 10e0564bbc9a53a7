"""What a command imports at its start: no package that is optional or slow, unless the command needs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.engines import SqliteEngine

OF_SERVER = {"anyio", "cryptography", "httpx", "jinja2", "jwt", "mcp", "starlette", "uvicorn"}
OPTIONAL = OF_SERVER | {"openpyxl", "psycopg", "resvg_py", "sqlglot"}
SLOW = {"asyncio", "click", "email", "http", "pydantic", "unittest", "yaml"}

# A client of MCP waits for every server that it starts.
STARTS = {"mcp": OPTIONAL | SLOW, "project list": OPTIONAL | SLOW}


@pytest.mark.slow
@pytest.mark.parametrize("command", STARTS)
def test_a_command_starts_without_what_it_does_not_need(command: str, tmp_path: Path) -> None:
    engine = SqliteEngine(tmp_path / "plan.db")
    engine.close()
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "groundplan", *command.split(), "--db", engine.db],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [line for line in ran.stderr.splitlines() if line.startswith("import time:")]
    packages = {line.rpartition("|")[2].strip().partition(".")[0] for line in lines}

    assert "groundplan" in packages
    assert not packages & STARTS[command]
