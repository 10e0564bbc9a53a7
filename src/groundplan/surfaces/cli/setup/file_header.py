"""Whether a file will open, told without SQLite from its first 100 bytes.

The MCP server answers its client before it opens the store. A file whose header names Groundplan and today's schema
will open, and so will one that can still be made; for any other the server opens the store first, so that a wrong path
is refused at once, in plain words.
"""

from __future__ import annotations

import os

import groundplan.migrations

HEADER_BYTES = 100
MAGIC = b"SQLite format 3\0"
USER_VERSION_OFFSET = 60
APPLICATION_ID_OFFSET = 68
APPLICATION_ID = 0x47504C4E  # as in `sqlite_file`, which would bring SQLite with it; a test keeps the two alike
MIGRATION_SUFFIX = ".sql"


def is_ready(path: str) -> bool:
    """Whether the file is a Groundplan database of today's schema that we may read and write, or can be made.

    A header can be older than the file's own log, never newer: then the answer is no, and opening it says more.
    """
    try:
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        # Written through SQLite's files beside it, so it is the folder that must let us.
        return os.access(os.path.dirname(path) or ".", os.W_OK | os.X_OK)  # noqa: PTH120 - pathlib takes 5 ms
    except (OSError, ValueError):
        return False
    try:
        header = os.read(file, HEADER_BYTES)
    except OSError:
        return False
    finally:
        os.close(file)  # would drop the locks of a connection of ours, but there is none yet
    return (
        header.startswith(MAGIC)
        and _number(header, APPLICATION_ID_OFFSET) == APPLICATION_ID
        and _number(header, USER_VERSION_OFFSET) == _count_migrations()
    )


def _number(header: bytes, at: int) -> int:
    return int.from_bytes(header[at : at + 4], "big")


def _count_migrations() -> int:
    (folder,) = groundplan.migrations.__path__
    return sum(name.endswith(MIGRATION_SUFFIX) for name in os.listdir(folder))  # noqa: PTH208 - pathlib takes 5 ms
