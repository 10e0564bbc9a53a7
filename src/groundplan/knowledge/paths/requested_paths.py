r"""The paths somebody asks about, from the many ways in which people and agents write them down.

A list comes as an array, as lines, separated by commas, or as an array that was written into a string. Its elements
come with bullets, check boxes, quotes and back-ticks, with `./` in front and with the `\` of Windows. What is left is a
path as it is in the repository, or one that lies outside of it: that stays as it is, to be shown, and matches nothing.
"""

from __future__ import annotations

import json
import re

from groundplan.knowledge.paths.names import is_drive

PATHS_MAX = 1_000
PATH_CHARS_MAX = 4_096

# What a line of a list begins with: a bullet or a number, then perhaps a box to be ticked. A blank follows on each:
# `-a.ts`, `1.txt` and `[x].ts` are names.
BULLET = re.compile(r"(?:[-*+•]|\d{1,9}[.)])(?:\s+|$)")
CHECK_BOX = re.compile(r"\[[ xX]\]\s+")
QUOTES = "`'\""
LAYERS_MAX = 3  # of decoration: a quoted line of a list with a name in back-ticks has two


def parse_paths(paths: str | list[str]) -> list[str]:
    """The paths that are meant, normalised, sorted, each once."""
    return sorted({path for text in _elements(paths) if (path := _normalize(_strip_decoration(text)))})


def _elements(paths: str | list[str]) -> list[str]:
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
    """The text without what only decorates it."""
    text = text.strip()
    for _ in range(LAYERS_MAX):
        for decoration in (BULLET, CHECK_BOX):
            if found := decoration.match(text):
                text = text[found.end() :]
        if len(text) > 1 and text[0] == text[-1] and text[0] in QUOTES:
            text = text[1:-1].strip()
    return text


def _normalize(text: str) -> str:
    """A path that leads down from the root, or the text if it does not; in any case with `/` between its names."""
    path = text.replace("\\", "/")
    names: list[str] = []
    if path.startswith("/"):
        return path
    for name in path.split("/"):
        if name == "..":
            if not names:
                return path
            names.pop()
        elif name not in ("", "."):
            names.append(name)
    return path if names and is_drive(names[0]) else "/".join(names)
