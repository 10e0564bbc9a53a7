"""Placeholders in example requests: `{coast}` stands for the id that something gets when it is created."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def fill_placeholders(value: Any, names: Mapping[str, str]) -> Any:
    """Return a value with its placeholders replaced, at any depth."""
    match value:
        case str():
            return value.format_map(names)
        case dict():
            return {key: fill_placeholders(inner, names) for key, inner in value.items()}
        case list():
            return [fill_placeholders(inner, names) for inner in value]
    return value
