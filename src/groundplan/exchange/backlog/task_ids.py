"""Ids of tasks: `task-12`, `TASK-012`, `back-3.1`. Case and leading zeros do not count, the prefix does."""

from __future__ import annotations

from dataclasses import dataclass, replace

_DIGITS_MAX = 12
_NAME_SEPARATOR = " - "  # between the id and the title in the name of a file


@dataclass(frozen=True, slots=True, order=True)
class TaskId:
    """The prefix and the numbers of an id; a subtask has more numbers than its task."""

    prefix: str
    numbers: tuple[int, ...]

    @property
    def parent(self) -> TaskId | None:
        """The id of the task that this is a subtask of by its numbers."""
        return replace(self, numbers=self.numbers[:-1]) if len(self.numbers) > 1 else None


def parse_task_id(text: str) -> TaskId | None:
    """Return the id that a text is, or None."""
    prefix, dash, numbers = text.strip().rpartition("-")
    parts = numbers.split(".")
    is_number = all(part.isascii() and part.isdecimal() and len(part) <= _DIGITS_MAX for part in parts)
    if not dash or not prefix or not is_number:
        return None
    return TaskId(prefix.casefold(), tuple(int(part) for part in parts))


def parse_file_name(name: str) -> TaskId | None:
    """Return the id in the name of a file, such as `task-12 - Title.md`, or None."""
    head, separator, _ = name.removesuffix(".md").partition(_NAME_SEPARATOR)
    return parse_task_id(head) if separator and name.endswith(".md") else None
