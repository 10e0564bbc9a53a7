"""A path as the names along it."""

from __future__ import annotations

DRIVE_CHARS = 2  # `C:`


def split_path(path: str) -> list[str] | None:
    """The directories of a path and the file at its end, or None for one that does not simply lead down from the root.

    Such paths match nothing: absolute ones, those with a drive, with `.` or `..` on the way, with a `/` too many.
    """
    names = path.split("/")
    if "" in names or "." in names or ".." in names or is_drive(names[0]):
        return None
    return names


def is_drive(name: str) -> bool:
    """Whether a first name is a drive's, as in `C:/code`."""
    return len(name) == DRIVE_CHARS and name[1] == ":" and name[0].isascii() and name[0].isalpha()
