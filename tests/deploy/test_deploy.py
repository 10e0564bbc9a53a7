"""The files in `deploy/` are valid for the programs that read them, and name options that Groundplan has."""

from __future__ import annotations

import configparser
import http.client
import inspect
import re
import shutil
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from groundplan.configuration import SETTINGS
from groundplan.surfaces.cli.setup.serve import serve
from tests.kernel.store.test_postgres_catalog import QUESTIONS
from tests.surfaces.cli.test_serve import make_certificate
from tests.surfaces.http.server_program import ServerProgram, run_server

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
PAGES = [*sorted(DEPLOY.iterdir()), *(ROOT / "docs" / "guides" / f"{name}.md" for name in ("operators", "scale"))]
SERVED = re.compile(r"groundplan (?:--\S+ \S+ )*serve\b[^\n]*")
OPTION = re.compile(r"--[a-z][a-z-]+")
VARIABLE = re.compile(r"\bGROUNDPLAN_[A-Z_]+")
COMMON = {"--db", "--agent", "--person", "--access", "--config", "--json"}
OF_THE_UNIT = "GROUNDPLAN_HOST"  # read by systemd
NAME = "plan.example.org"
PATIENCE_S = 30.0
EXPOSURE_MAX = 20  # tenths; systemd calls everything below 50 fine


def need(program: str) -> str:
    """Return the path of a program; without it, nothing is known about its file."""
    found = shutil.which(program) or shutil.which(f"/usr/sbin/{program}")
    if found is None:
        pytest.skip(f"{program} is not installed here, so its file was not checked")
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_option_and_variable_is_one_of_the_program(page: Path) -> None:
    known = COMMON | {f"--{name.replace('_', '-')}" for name in inspect.signature(serve).parameters}
    text = page.read_text(encoding="utf-8")

    assert {option for line in SERVED.findall(text) for option in OPTION.findall(line)} <= known
    assert set(VARIABLE.findall(text)) <= {*(row.variable for row in SETTINGS.values()), OF_THE_UNIT}


def test_the_schema_keeps_the_rules_that_the_guide_names() -> None:
    rules = (ROOT / "docs" / "guides" / "scale.md").read_text(encoding="utf-8").partition("| Rule | So that |")[2]
    named = [row.split("|")[1].strip() for row in rules.splitlines()[2:] if row.startswith("|")]

    assert len(named) == 4
    assert set(named) <= set(QUESTIONS)  # which a test asks the catalog of PostgreSQL


def test_the_unit_is_valid_and_gives_the_server_no_rights_that_it_does_not_need(tmp_path: Path) -> None:
    analyze = need("systemd-analyze")
    unit = tmp_path / "groundplan.service"
    text = (DEPLOY / "groundplan.service").read_text(encoding="utf-8")
    # A program that is there, since it looks for it.
    unit.write_text(text.replace("/opt/groundplan/bin/groundplan", sys.executable), encoding="utf-8")

    checked = subprocess.run([analyze, "verify", str(unit)], capture_output=True, text=True, check=False)
    rated = subprocess.run(
        [analyze, "security", "--offline=yes", f"--threshold={EXPOSURE_MAX}", str(unit)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert [line for line in checked.stderr.splitlines() if unit.name in line] == []
    assert rated.returncode == 0, rated.stdout.splitlines()[-1]


def test_the_pooler_is_set_up_as_in_the_tests_of_the_store() -> None:
    read = configparser.ConfigParser(inline_comment_prefixes=(";",))
    read.read(DEPLOY / "pgbouncer.ini", encoding="utf-8")

    assert read["pgbouncer"]["pool_mode"] == "transaction"
    assert "options" in read["pgbouncer"]["ignore_startup_parameters"]


def test_the_file_for_caddy_is_valid() -> None:
    caddy = need("caddy")

    checked = subprocess.run(
        [caddy, "adapt", "--config", str(DEPLOY / "Caddyfile"), "--adapter", "caddyfile"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert checked.returncode == 0, checked.stderr


def take_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@contextmanager
def run_nginx(folder: Path, server: ServerProgram) -> Iterator[int]:
    """Run nginx with our file on free ports of this machine, and yield the port for TLS."""
    nginx = need("nginx")
    make_certificate(folder)
    port, plain_port = take_port(), take_port()
    text = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
    for told, here in {
        "    listen [::]:443 ssl;\n": "",
        "    listen [::]:80;\n": "",
        "listen 443 ssl;": f"listen 127.0.0.1:{port} ssl;",
        "listen 80;": f"listen 127.0.0.1:{plain_port};",
        "127.0.0.1:8321;": f"127.0.0.1:{server.port};",
        "/etc/ssl/plan.example.org/fullchain.pem": str(folder / "cert.pem"),
        "/etc/ssl/plan.example.org/privkey.pem": str(folder / "key.pem"),
    }.items():
        assert told in text
        text = text.replace(told, here)
    (folder / "groundplan.conf").write_text(text, encoding="utf-8")
    temporary = "".join(
        f"{kind}_temp_path {folder}/{kind}; " for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log;\n"
        f"events {{}}\nhttp {{ access_log off; {temporary} include {folder}/groundplan.conf; }}\n",
        encoding="utf-8",
    )
    command = [nginx, "-p", str(folder), "-e", str(folder / "error.log"), "-c", str(folder / "nginx.conf")]
    checked = subprocess.run([*command, "-t"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            wait_for_port(port)
            yield port
        finally:
            process.terminate()


def wait_for_port(port: int) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), PATIENCE_S).close()
            return
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.02)


@pytest.mark.slow
def test_nginx_with_our_file_leads_to_the_server(tmp_path: Path) -> None:
    behind = ("--proxy", "127.0.0.1", "--allowed-host", NAME)
    with run_server(str(tmp_path / "plan.db"), None, *behind) as server, run_nginx(tmp_path, server) as port:
        trusting = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
        trusting.check_hostname = False  # it is for the address
        headers = {"host": NAME, "authorization": f"Bearer {server.token}"}

        def ask(method: str, path: str, body: str | None = None) -> tuple[int, bytes]:
            with closing(
                http.client.HTTPSConnection("127.0.0.1", port, context=trusting, timeout=PATIENCE_S)
            ) as client:
                client.request(method, path, body, {**headers, "content-type": "application/json"})
                answer = client.getresponse()
                if path.endswith("/events"):
                    return answer.status, answer.readline() + answer.readline() + answer.readline()
                return answer.status, answer.read()

        assert ask("POST", "/v1/projects", '{"name": "atlas"}')[0] == 201
        status, described = ask("GET", "/.well-known/oauth-protected-resource/mcp")
        assert (status, f'"resource":"https://{NAME}/mcp"'.encode() in described) == (200, True)
        assert ask("POST", "/mcp", "{}")[0] == 400  # let in, and no message
        assert ask("GET", "/metrics")[0] == 404
        status, begun = ask("GET", "/v1/projects/atlas/events")
        assert (status, b"event: hello" in begun) == (200, True)
