"""AGENTS.md: plain Markdown that applies to its directory, unless a deeper AGENTS.md overrides it.

Several atoms may share a file, and people write in it too, so each atom has a block between two marks.
"""

from __future__ import annotations

from collections.abc import Sequence

from groundplan.knowledge.paths.pattern import parse_pattern
from groundplan.repository.rules.folder import SKIPPED_FOLDERS

FILE = "AGENTS.md"
_SPECIAL = "*?[{\\"


def choose_file(patterns: Sequence[str]) -> str:
    """Return the file in the deepest directory that contains everything the patterns can match."""
    shared: list[str] | None = None
    for pattern in patterns:
        for directory in _list_directories(pattern):
            shared = directory if shared is None else _find_common_prefix(shared, directory)
    kept = []
    for name in shared or ():
        if name in SKIPPED_FOLDERS:
            break  # tools do not look there, and neither does the next export
        kept.append(name)
    return "/".join((*kept, FILE))


def build_patterns(directory: str) -> tuple[str, ...]:
    """Return the patterns that an AGENTS.md in this directory applies to; an empty text is the root."""
    return (f"{escape_path(directory)}/**" if directory else "**",)


def escape_path(path: str) -> str:
    """Return a pattern that matches only this path."""
    plain = "".join(f"\\{char}" if char in _SPECIAL else char for char in path)
    return f"\\{plain}" if plain.startswith("!") else plain


def _list_directories(pattern: str) -> list[list[str]]:
    parsed = parse_pattern(pattern)
    heads = [route.head for route in parsed.routes] or [parsed.text.rpartition("/")[0]]
    return [[name for name in head.split("/") if name] for head in heads]


def _find_common_prefix(one: list[str], other: list[str]) -> list[str]:
    same = 0
    while same < min(len(one), len(other)) and one[same] == other[same]:
        same += 1
    return one[:same]
