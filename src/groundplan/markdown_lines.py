"""The lines of a Markdown text: its headings, and the lines of code between fences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

LEVEL_MAX = 6
FENCE_CHARS_MIN = 3
_INDENT_MAX = 3  # a heading that is indented deeper is code


@dataclass(frozen=True, slots=True)
class MarkdownHeading:
    """A heading, the index of its line, and its level from 1 to 6."""

    line: int
    level: int
    title: str


def iter_headings(text: str) -> Iterator[MarkdownHeading]:
    """Yield the headings of a text outside of code fences."""
    for index, (line, is_code) in enumerate(iter_lines(text)):
        if not is_code and (heading := parse_heading(line)) is not None:
            yield MarkdownHeading(index, *heading)


def iter_lines(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each line, and True if it is code or a fence of code. Fences may be indented, as below list items."""
    fence = ""
    for line in text.split("\n"):
        run = _parse_fence(line)
        if not fence:
            fence = run
            yield line, bool(run)
            continue
        yield line, True
        if run.startswith(fence) and not line.strip(" \t\r" + fence[0]):
            fence = ""


def parse_heading(line: str) -> tuple[int, str] | None:
    """Return the level and title of a heading, or None. Trailing signs, as in `## Title ##`, are left out."""
    bare = line.lstrip(" ")
    rest = bare.lstrip("#")
    level = len(bare) - len(rest)
    if not 0 < level <= LEVEL_MAX or len(line) - len(bare) > _INDENT_MAX or rest[:1] not in (" ", "\t"):
        return None
    title = rest.strip()
    if not title:
        return None
    open_end = title.rstrip("#")
    return level, open_end.rstrip() if open_end[-1:].isspace() else title


def _parse_fence(line: str) -> str:
    """Return the back-ticks or tildes at the beginning of a line, or nothing."""
    bare = line.lstrip(" \t")
    for char in "`~":
        run = len(bare) - len(bare.lstrip(char))
        if run >= FENCE_CHARS_MIN and not (char == "`" and char in bare[run:]):  # else it is code within a line
            return bare[:run]
    return ""
