"""Check from the first 100 bytes of a file, without SQLite, whether it will open.

The MCP server answers its client before it opens the store. It may do so if the header names Groundplan and the current
schema, or if the file can be created. Otherwise the server opens the store first, so that a wrong path fails at once
with a clear message.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from groundplan.migrations import get_latest_version

HEADER_BYTES = 100
MAGIC = b"SQLite format 3\0"
USER_VERSION_OFFSET = 60
APPLICATION_ID_OFFSET = 68
APPLICATION_ID = 0x47504C4E  # the same as in `sqlite_file`, which would import SQLite; a test compares the two


def is_ready(path: str, *, may_create: bool = True) -> bool:
    """Return whether the file is a writable Groundplan database of the current schema, or may and can be created.

    A header can be older than the file's write-ahead log, never newer: then the answer is no, and opening decides.
    """
    try:
        if not stat.S_ISREG(Path(path).stat().st_mode):
            return False  # a named pipe would block
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        # SQLite creates more files beside it, so the folder must be writable.
        return may_create and os.access(Path(path).parent, os.W_OK | os.X_OK)
    except (OSError, ValueError):
        return False
    try:
        header = os.read(file, HEADER_BYTES)
    except OSError:
        return False
    finally:
        os.close(file)  # this would drop the locks of our own connections, but there are none yet
    return (
        header.startswith(MAGIC)
        and _read_number(header, APPLICATION_ID_OFFSET) == APPLICATION_ID
        and _read_number(header, USER_VERSION_OFFSET) == get_latest_version()
    )


def _read_number(header: bytes, at: int) -> int:
    return int.from_bytes(header[at : at + 4], "big")
