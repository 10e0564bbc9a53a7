"""The last task that a person named or got, for `-`: kept in a file of that person, for each database."""

from __future__ import annotations

import os
from collections.abc import Mapping

STATE_HOME = "XDG_STATE_HOME"
ID_CHARS_MAX = 64
READABLE_CHARS = 80  # of a database and an actor, in the name of a file
ASCII_END = 128


def find_state_folder(environment: Mapping[str, str]) -> str:
    """Return the folder for what a program remembers between two runs."""
    home = environment.get("HOME") or os.path.expanduser("~")  # noqa: PTH111 - pathlib takes 5 ms
    base = environment.get(STATE_HOME, "")
    return f"{base if base.startswith('/') else f'{home}/.local/state'}/groundplan"


def remember(db: str, actor: str, node_id: str) -> None:
    """Keep an id. A folder that cannot be written to only costs the comfort."""
    path = _find_file(db, actor)
    if _read(path) == node_id:  # most often: reading takes less than replacing a file
        return
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)  # noqa: PTH103, PTH120 - pathlib takes 5 ms
        file = os.open(f"{path}.{os.getpid()}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            os.write(file, node_id.encode())
        finally:
            os.close(file)
        os.replace(f"{path}.{os.getpid()}", path)  # noqa: PTH105 - pathlib takes 5 ms
    except (OSError, ValueError):
        return


def recall(db: str, actor: str) -> str | None:
    """Return the id that was kept last, or None."""
    return _read(_find_file(db, actor))


def _read(path: str) -> str | None:
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            text = os.read(file, ID_CHARS_MAX)
        finally:
            os.close(file)
    except (OSError, ValueError):
        return None
    found = text.decode("ascii", "replace").strip()
    return found if found.isalnum() else None


def _find_file(db: str, actor: str) -> str:
    from zlib import crc32  # hashlib loads OpenSSL, which takes longer than everything else here

    place = f"{db if '://' in db else os.path.realpath(db)}\0{actor}".encode("utf-8", "surrogateescape")
    readable = "".join(chr(byte) if chr(byte).isalnum() and byte < ASCII_END else "-" for byte in place)
    return f"{find_state_folder(os.environ)}/last/{readable[-READABLE_CHARS:]}-{crc32(place):08x}"
