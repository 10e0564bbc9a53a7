"""AGENTS.md: plain Markdown that holds for the directory it lies in, and gives way to one that lies further down.

Several atoms may share a file, and people write in it too: each atom has a block of its own between two marks.
"""

from __future__ import annotations

from collections.abc import Sequence

from groundplan.knowledge.paths.pattern import parse_pattern
from groundplan.repository.rules.folder import SKIPPED_FOLDERS

FILE = "AGENTS.md"
_SPECIAL = "*?[{\\"


def file_for(patterns: Sequence[str]) -> str:
    """The file in the deepest directory that holds everything the patterns can match."""
    shared: list[str] | None = None
    for pattern in patterns:
        for directory in _directories(pattern):
            shared = directory if shared is None else _common_prefix(shared, directory)
    kept = []
    for name in shared or ():
        if name in SKIPPED_FOLDERS:
            break  # nobody would look for it there, and neither would the next export
        kept.append(name)
    return "/".join((*kept, FILE))


def build_patterns(directory: str) -> tuple[str, ...]:
    """What a file holds for that lies in this directory, which is empty for the root."""
    return (f"{escape_path(directory)}/**" if directory else "**",)


def escape_path(path: str) -> str:
    """A path as a pattern that means nothing but this path."""
    plain = "".join(f"\\{char}" if char in _SPECIAL else char for char in path)
    return f"\\{plain}" if plain.startswith("!") else plain


def _directories(pattern: str) -> list[list[str]]:
    parsed = parse_pattern(pattern)
    heads = [route.head for route in parsed.routes] or [parsed.text.rpartition("/")[0]]
    return [[name for name in head.split("/") if name] for head in heads]


def _common_prefix(one: list[str], other: list[str]) -> list[str]:
    same = 0
    while same < min(len(one), len(other)) and one[same] == other[same]:
        same += 1
    return one[:same]
