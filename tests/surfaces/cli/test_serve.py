"""`groundplan serve` answers on this machine until it is told to end."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from groundplan.surfaces.cli.setup.serve import PORT
from tests.surfaces.cli.conftest import Run

ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/v1")


@contextmanager
def server(folder: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start the program and yield it with its address."""
    command = [sys.executable, "-m", "groundplan", "serve", "--port", "0", "--agent", "ada", *arguments]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            line = process.stderr.readline()
            found = ADDRESS.search(line)
            assert found is not None, line + process.stderr.read()
            yield process, found[0]
        finally:
            process.kill()


@pytest.mark.slow
@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGINT])
def test_the_server_answers_keeps_what_was_written_and_ends_when_told(tmp_path: Path, told: signal.Signals) -> None:
    with server(tmp_path) as (process, address):
        request = urllib.request.Request(  # noqa: S310 - our own server on loopback
            f"{address}/projects", b'{"name": "atlas"}', {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request) as made:  # noqa: S310 - as above
            assert (made.status, json.load(made)["project"]["created_by"]) == (201, "ada")
        process.send_signal(told)
        assert process.wait(timeout=30) == 0
    with server(tmp_path) as (_, address), urllib.request.urlopen(f"{address}/projects") as found:  # noqa: S310 - as above
        assert [one["name"] for one in json.load(found)["projects"]] == ["atlas"]


def test_a_port_that_is_taken_is_refused_with_what_to_do(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        ended = run("serve", "--port", str(other.getsockname()[1]), "--json")

    assert (ended.code, json.loads(ended.err)["error"]["code"]) == (7, "port_taken")
    assert "--port" in ended.err


def test_without_the_extra_the_command_says_what_to_install(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [one for one in sys.modules if one.startswith("groundplan.surfaces.http")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "starlette.applications", None)

    ended = run("serve", "--json")

    assert (ended.code, json.loads(ended.err)["error"]["code"]) == (7, "server_missing")
    assert "groundplan[server]" in ended.err
    assert not Path("groundplan.db").exists()


def test_the_port_is_the_documented_one() -> None:
    guide = Path(__file__).parents[3] / "docs" / "guides" / "rest.md"

    assert f"serve --port {PORT}" in guide.read_text(encoding="utf-8")
