"""The errors of front matter that cannot be read."""

from __future__ import annotations


class UnreadableFrontMatter(Exception):
    """The front matter cannot be read; the reason is the predicate of a sentence about the file."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


class MalformedValue(Exception):
    """The value of a field has no end, or is nested too deeply; the reason follows "has a value that"."""
