"""Names of paths: split a path into them, and guess what a name is of."""

from __future__ import annotations

ROOT = "."  # the root of the repository, as a path
EVERY_FILE = "**"  # the pattern that matches all paths
DRIVE_CHARS = 2  # `C:`
# Files that usually have no ending.
# fmt: off
BARE_FILE_NAMES = frozenset((
    "AUTHORS", "BUILD", "Brewfile", "CHANGELOG", "CODEOWNERS", "CONTRIBUTING", "COPYING", "Containerfile",
    "Dockerfile", "GNUmakefile", "Gemfile", "Jenkinsfile", "Justfile", "LICENSE", "MAINTAINERS", "Makefile",
    "NOTICE", "Pipfile", "Podfile", "Procfile", "README", "Rakefile", "Tiltfile", "VERSION", "Vagrantfile",
    "WORKSPACE", "justfile", "makefile",
))
# fmt: on


def split_path(path: str) -> list[str] | None:
    """Return the directories and the file name of a path, or None if it is not a normalized path below the root.

    Absolute paths and those with a drive, `.`, `..` or an empty name match nothing.
    """
    names = path.split("/")
    if "" in names or "." in names or ".." in names or is_drive(names[0]):
        return None
    return names


def looks_like_folder(path: str) -> bool:
    """Return whether a path is probably that of a folder, because its last name has no ending."""
    name = path.rpartition("/")[2]
    return "." not in name and name not in BARE_FILE_NAMES


def is_drive(name: str) -> bool:
    """Return whether a first name is a drive, as in `C:/code`."""
    return len(name) == DRIVE_CHARS and name[1] == ":" and name[0].isascii() and name[0].isalpha()
