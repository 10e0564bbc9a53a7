"""A pgbouncer in transaction mode in front of the test PostgreSQL, where it is installed (Debian: pgbouncer)."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
from psycopg.conninfo import conninfo_to_dict

PORT = 6432
POOL = 3  # sessions of the server that all clients share, so that they follow each other in each of them
START_S = 30.0
POLL_S = 0.02


@contextmanager
def run_pgbouncer(url: str) -> Iterator[str]:
    """Run a pgbouncer for one role until the end of the block, and yield the URL through it."""
    program = shutil.which("pgbouncer") or shutil.which("/usr/sbin/pgbouncer")
    if program is None:
        pytest.skip("pgbouncer is not installed here, so nothing is known about it: apt install pgbouncer")
    about = conninfo_to_dict(url)
    folder = Path(tempfile.mkdtemp(prefix="gp-pgb-", dir="/tmp"))
    try:
        _write_settings(folder, about)
        as_nobody = ["-u", "nobody"] if os.geteuid() == 0 else []  # it refuses to run as root
        process = subprocess.Popen(
            [program, *as_nobody, str(folder / "pgbouncer.ini")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            _wait_for_socket(folder / f".s.PGSQL.{PORT}", process)
            yield f"postgresql://{about['user']}@/{about['dbname']}?host={quote(str(folder), safe='')}&port={PORT}"
        finally:
            process.terminate()
            process.wait(START_S)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _write_settings(folder: Path, about: Mapping[str, object]) -> None:
    host, port = about.get("host", "localhost"), about.get("port") or 5432
    password = f" password={about['password']}" if about.get("password") else ""
    settings = f"""
[databases]
{about["dbname"]} = host={host} port={port} dbname={about["dbname"]}{password}

[pgbouncer]
listen_port = {PORT}
unix_socket_dir = {folder}
auth_type = trust
auth_file = {folder}/users.txt
pool_mode = transaction
default_pool_size = {POOL}
max_client_conn = 200
ignore_startup_parameters = extra_float_digits, options
logfile = {folder}/log
"""
    (folder / "pgbouncer.ini").write_text(settings, encoding="utf-8")
    (folder / "users.txt").write_text(f'"{about["user"]}" ""\n', encoding="utf-8")
    folder.chmod(0o777)  # for `nobody`
    for one in folder.iterdir():
        one.chmod(0o644)


def _wait_for_socket(path: Path, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_S
    while True:
        with socket.socket(socket.AF_UNIX) as door:
            try:
                door.connect(str(path))
                return
            except OSError:
                assert process.poll() is None, (path.parent / "log").read_text(encoding="utf-8")
                assert time.monotonic() < deadline, "pgbouncer did not start"
        time.sleep(POLL_S)
