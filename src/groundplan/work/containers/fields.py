"""Field types and limits that requests about containers share, and their parsers."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any
from unicodedata import normalize

import msgspec
from msgspec import Meta

from groundplan.kernel.input_gate.strict_json import validate_value
from groundplan.kernel.input_gate.text_limits import MaxBytes, Name, too_many_characters
from groundplan.kernel.wording import ArgumentPath, describe_value, find_nearest, invalid_argument, join_alternatives
from groundplan.work.requests import TAGS_MAX

TEXT_BYTES_MAX = 16_384  # of a summary or a description: both are stored in the properties, which are limited to 32 KB
REASON_BYTES_MAX = 4_096
TAG_CHARS_MAX = 100
IDS_MAX = 50
LIMIT = 20
LIMIT_MAX = 100

ContainerId = Annotated[str, Meta(min_length=1, max_length=255)]
Title = Name
Text = Annotated[str, MaxBytes(TEXT_BYTES_MAX)]
Reason = Annotated[str, MaxBytes(REASON_BYTES_MAX)]
Version = Annotated[int, Meta(ge=1)]
Complexity = Annotated[int, Meta(ge=1, le=10)]
Limit = Annotated[int, Meta(ge=1, le=LIMIT_MAX)]
Offset = Annotated[int, Meta(ge=0, le=2**31)]
# A list of strings: an array, or a comma-separated string.
StringList = Annotated[str | list[str], Meta(extra_json_schema={"type": ["string", "array"]})]


class ContainerType(StrEnum):
    """The types of containers."""

    PROJECT = "project"
    FEATURE = "feature"
    TASK = "task"


class WorkflowType(StrEnum):
    """The container types that have a status."""

    TASK = "task"
    FEATURE = "feature"


class EntityType(StrEnum):
    """The container types in the spelling of sections and templates."""

    PROJECT = "PROJECT"
    FEATURE = "FEATURE"
    TASK = "TASK"

    @property
    def container_type(self) -> ContainerType:
        return ContainerType(self.value.lower())


def parse_list(value: Sequence[Any] | str, path: ArgumentPath, *, items_max: int, chars_max: int) -> list[str]:
    """Return a list of strings in the given order: NFC, stripped, without blanks and duplicates."""
    texts = list(dict.fromkeys(normalize("NFC", text).strip() for text in _split_list(value, path)))
    texts = [text for text in texts if text]
    if len(texts) > items_max:
        wrong = f"has {len(texts)} entries, the limit is {items_max}; leave some out"
        raise invalid_argument(path, wrong, code="too_many", limit=items_max)
    for text in texts:
        if len(text) > chars_max:
            raise too_many_characters(path, chars_max, len(text))
    return texts


def _split_list(value: Sequence[Any] | str, path: ArgumentPath) -> Sequence[str]:
    if not isinstance(value, str):
        return [part for text in value for part in text.split(",")]
    if value.lstrip().startswith(('["', "[]")):
        try:
            decoded = msgspec.json.decode(value, type=list[str])
        except msgspec.DecodeError:
            raise invalid_argument(path, 'is not a JSON array of strings; send ["a","b"] or a,b') from None
        validate_value({str(path[-1]): decoded})  # the input gate has not checked JSON inside a string
        return [part for text in decoded for part in text.split(",")]
    return value.split(",")


def parse_tags(value: Sequence[str] | str, path: ArgumentPath = ("tags",)) -> list[str]:
    """Parse a list of tags."""
    return parse_list(value, path, items_max=TAGS_MAX, chars_max=TAG_CHARS_MAX)


class Priority(StrEnum):
    """A priority. The graph dialect stores it as a number."""

    HIGH = "HIGH"
    MEDIUM = "MEDIUM"
    LOW = "LOW"


# The number of each priority. It also covers larger numbers, up to the next higher priority.
PRIORITY_NUMBERS = {Priority.HIGH: 3, Priority.MEDIUM: 2, Priority.LOW: 1}


def parse_priority(value: str, path: ArgumentPath = ("priority",)) -> Priority:
    """Parse a priority, ignoring case."""
    word = value.strip().upper()
    if word in Priority.__members__:
        return Priority(word)
    allowed = [priority.value for priority in Priority]
    nearest = find_nearest(word, allowed)
    hint = f"; did you mean {nearest!r}?" if nearest else ""
    wrong = f"must be {join_alternatives(allowed)}, not {describe_value(value)}{hint}"
    raise invalid_argument(path, wrong, allowed=allowed)


def priority_from_number(number: float) -> Priority | None:
    """Return the priority for a number of the graph; None for a node without a priority."""
    if number == float("-inf"):
        return None
    return next((priority for priority, least in PRIORITY_NUMBERS.items() if number >= least), Priority.LOW)


def get_priority_range(requested: str | None) -> tuple[float, float]:
    """Return the range of numbers of a priority, or of all priorities: from the first bound to below the second."""
    if not requested:
        return float("-inf"), float("inf")
    priority = parse_priority(requested)
    above = {Priority.HIGH: float("inf"), Priority.MEDIUM: 3.0, Priority.LOW: 2.0}[priority]
    # A node without a priority is stored as -inf, which LOW must not include.
    least = -sys.float_info.max if priority is Priority.LOW else float(PRIORITY_NUMBERS[priority])
    return least, above
