"""Split paths into names."""

from __future__ import annotations

DRIVE_CHARS = 2  # `C:`


def split_path(path: str) -> list[str] | None:
    """Return the directories and the file name of a path, or None if it is not a normalized path below the root.

    Absolute paths and those with a drive, `.`, `..` or an empty name match nothing.
    """
    names = path.split("/")
    if "" in names or "." in names or ".." in names or is_drive(names[0]):
        return None
    return names


def is_drive(name: str) -> bool:
    """Return whether a first name is a drive, as in `C:/code`."""
    return len(name) == DRIVE_CHARS and name[1] == ":" and name[0].isascii() and name[0].isalpha()
