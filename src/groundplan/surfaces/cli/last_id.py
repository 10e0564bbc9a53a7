"""The last task that a person named or got, for `-`: kept in a file of that person, for each database."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from zlib import crc32

STATE_HOME = "XDG_STATE_HOME"
ID_CHARS_MAX = 64
READABLE_CHARS = 80  # of a database and an actor, in the name of a file
ASCII_END = 128


def find_state_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder for what a program remembers between two runs."""
    base = environment.get(STATE_HOME, "")
    if base.startswith("/"):
        return Path(base, "groundplan")
    home = environment.get("HOME") or os.path.expanduser("~")  # noqa: PTH111 - Path.home raises if there is none
    return Path(home, ".local/state/groundplan")


def remember(db: str, actor: str, node_id: str) -> None:
    """Keep an id. A folder that cannot be written to only costs the comfort."""
    path = _find_file(db, actor)
    if _read(path) == node_id:
        return
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary.touch(mode=0o600)
        temporary.write_text(node_id, encoding="ascii")
        temporary.replace(path)
    except (OSError, ValueError):
        return


def recall(db: str, actor: str) -> str | None:
    """Return the id that was kept last, or None."""
    return _read(_find_file(db, actor))


def _read(path: Path) -> str | None:
    try:
        text = path.read_bytes()[:ID_CHARS_MAX].decode("ascii", "replace").strip()
    except (OSError, ValueError):
        return None
    return text if text.isalnum() else None


def _find_file(db: str, actor: str) -> Path:
    place = f"{db if '://' in db else os.path.realpath(db)}\0{actor}".encode("utf-8", "surrogateescape")
    readable = "".join(chr(byte) if chr(byte).isalnum() and byte < ASCII_END else "-" for byte in place)
    return find_state_folder(os.environ) / "last" / f"{readable[-READABLE_CHARS:]}-{crc32(place):08x}"
