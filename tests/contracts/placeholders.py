"""Requests with names to fill in: `{coast}` stands for what is called that way only once it has been made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def filled(value: Any, names: Mapping[str, str]) -> Any:
    """A value with names in the place of its placeholders, however deep they stand."""
    match value:
        case str():
            return value.format_map(names)
        case dict():
            return {key: filled(inner, names) for key, inner in value.items()}
        case list():
            return [filled(inner, names) for inner in value]
    return value
