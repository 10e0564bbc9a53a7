r"""Parse requested paths from the many forms in which people and agents write them.

A list may be an array, lines, comma separated text, or a JSON array in a string. Its elements may have bullets, check
boxes, quotes, back-ticks, a leading `./` and the `\` of Windows. The result is a path in the repository; a path outside
of it is kept as it is, and matches nothing.
"""

from __future__ import annotations

import json
import re

from groundplan.knowledge.paths.names import is_drive

PATHS_MAX = 1_000
PATH_CHARS_MAX = 4_096

# A line of a list may begin with a bullet or a number, then with a check box. A blank follows each of them: `-a.ts`,
# `1.txt` and `[x].ts` are names.
BULLET = re.compile(r"(?:[-*+•]|\d{1,9}[.)])(?:\s+|$)")
CHECK_BOX = re.compile(r"\[[ xX]\]\s+")
QUOTES = "`'\""
LAYERS_MAX = 3  # of decoration: a quoted list item with a name in back-ticks has two


def parse_paths(paths: str | list[str]) -> list[str]:
    """Return the distinct requested paths, normalized and sorted."""
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
    """Return the text without bullets, check boxes, quotes and back-ticks."""
    text = text.strip()
    for _ in range(LAYERS_MAX):
        for decoration in (BULLET, CHECK_BOX):
            if found := decoration.match(text):
                text = text[found.end() :]
        if len(text) > 1 and text[0] == text[-1] and text[0] in QUOTES:
            text = text[1:-1].strip()
    return text


def _normalize(text: str) -> str:
    """Return a normalized path below the root, else the text; both with `/` as separator."""
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
