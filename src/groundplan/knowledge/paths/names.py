r"""Parse paths in the forms in which people and agents write them.

A list of paths may be an array, lines, comma separated text, or a JSON array in a string. Its elements may have
bullets, check boxes, quotes, back-ticks, a leading `./` and the `\` of Windows. They may be absolute, or relative to a
folder of a working copy. The result is a path from the root of the repository; a path outside of it is kept as it is,
and matches nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from groundplan.kernel.preferences import RepositoryPaths
from groundplan.kernel.wording import quote_text

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
PATHS_MAX = 1_000
PATH_CHARS_MAX = 4_096

# A line of a list may begin with a bullet or a number, then with a check box. A blank follows each of them: `-a.ts`,
# `1.txt` and `[x].ts` are names.
BULLET = re.compile(r"(?:[-*+•]|\d{1,9}[.)])(?:\s+|$)")
CHECK_BOX = re.compile(r"\[[ xX]\]\s+")
QUOTES = "`'\""
OUTSIDE_SHOWN_MAX = 3
LAYERS_MAX = 3  # of decoration: a quoted list item with a name in back-ticks has two


def split_path(path: str) -> list[str] | None:
    """Return the folders and the file name of a path, or None if it is not a normalized path below the root.

    Absolute paths and those with a drive, `.`, `..` or an empty name match nothing.
    """
    names = path.split("/")
    if "" in names or "." in names or ".." in names or is_drive(names[0]):
        return None
    return names


def looks_like_folder(path: str) -> bool:
    """Return True if a path probably names a folder, because its last name has no extension."""
    name = path.rpartition("/")[2]
    return "." not in name and name not in BARE_FILE_NAMES


def is_drive(name: str) -> bool:
    """Return True if the first name of a path is a drive, as in `C:/code`."""
    return len(name) == DRIVE_CHARS and name[1] == ":" and name[0].isascii() and name[0].isalpha()


def parse_paths(paths: str | list[str], working_copy: RepositoryPaths | None = None) -> dict[str, bool | None]:
    """Return the requested paths, normalized and in their order, and whether each is a folder.

    It is one if it ends with `/`, and else what it is in the working copy. None: it is not there, so only the patterns
    tell.
    """
    parsed: dict[str, bool | None] = {}
    for text in _split_elements(paths):
        written = _strip_decoration(text).replace("\\", "/")
        path = _normalize(working_copy.locate(written) if working_copy and written else written)
        if path and not parsed.get(path):
            parsed[path] = written.endswith("/") or path == ROOT or _ask_working_copy(path, working_copy)
    return parsed


def replace_patterns(paths: Iterable[str]) -> list[str]:
    """Return paths with each pattern replaced by the folder that it begins with: `src/web/` for `src/web/**`.

    A pattern without a folder is left out: it may mean any file.
    """
    folders = (path.partition("*")[0].rpartition("/") if "*" in path else (path, "", "") for path in paths)
    return [folder + slash for folder, slash, _ in folders if folder]


def _ask_working_copy(path: str, working_copy: RepositoryPaths | None) -> bool | None:
    return working_copy.is_folder(path) if working_copy and split_path(path) else None


def warn_about_outside_paths(paths: Iterable[str], working_copy: RepositoryPaths | None) -> list[str]:
    """Return a warning if paths are outside of the repository, or absolute without a known repository."""
    outside = [path for path in paths if path != ROOT and split_path(path) is None]
    if not outside:
        return []
    shown = ", ".join(map(quote_text, outside[:OUTSIDE_SHOWN_MAX]))
    more = len(outside) - OUTSIDE_SHOWN_MAX
    named = f"{shown} and {more} more" if more > 0 else shown
    if working_copy is None or working_copy.root is None:
        advice = "" if working_copy is None else f", or {working_copy.advice}"
        return [f"{named}: no repository is known here; ask with paths from its root, such as src/a.ts{advice}"]
    return [f"{named}: outside of the repository {working_copy.root}; ask for paths in it"]


def _split_elements(paths: str | list[str]) -> list[str]:
    if not isinstance(paths, str):
        return paths
    if paths.lstrip().startswith("["):
        try:
            written = json.loads(paths)
        except (ValueError, RecursionError):
            written = None
        if isinstance(written, list) and all(isinstance(one, str) for one in written):
            return written
    return paths.replace("\r", ",").replace("\n", ",").split(",")


def _strip_decoration(text: str) -> str:
    """Return the text without bullets, check boxes, quotes and back-ticks."""
    text = text.strip()
    for _ in range(LAYERS_MAX):
        for decoration in (BULLET, CHECK_BOX):
            if found := decoration.match(text):
                text = text[found.end() :]
        if len(text) > 1 and text[0] == text[-1] and text[0] in QUOTES:
            text = text[1:-1].strip()
    return text


def _normalize(path: str) -> str:
    """Return a normalized path below the root, the root itself, or an outside path unchanged."""
    names: list[str] = []
    if not path or path.startswith("/"):
        return path
    for name in path.split("/"):
        if name == "..":
            if not names:
                return path
            names.pop()
        elif name not in ("", "."):
            names.append(name)
    return path if names and is_drive(names[0]) else "/".join(names) or ROOT
