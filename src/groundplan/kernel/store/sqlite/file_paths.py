"""Paths of database files, without pathlib: its import takes longer than a short read of the plan."""

from __future__ import annotations

import os

FilePath = str | os.PathLike[str]

# What a URI has as it is.
_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")


def build_uri(path: FilePath, options: str) -> str:
    """Return the URI by which SQLite opens a file: `file:///srv/plan.db?mode=rw`."""
    # The current folder is looked up only if it is needed: it may have been removed.
    absolute = path if os.path.isabs(path) else os.path.join(os.getcwd(), path)
    text = "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in os.fsencode(absolute))
    return f"file://{text}?{options}"


def quote_name(path: FilePath) -> str:
    """Return the name of a file in quotation marks, without its folder."""
    return repr(os.path.basename(path))
