"""Paths of routes: the fields of a request in a path below `/v1`, written by one surface and named by all."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from groundplan.kernel.input_gate.request import PROJECT_NAMES

PREFIX = "/v1"
PROJECT = "project"
_PARAMETER = re.compile(r"\{([^{}]+)\}")


def list_parameters(path: str) -> list[str]:
    """Return the names in braces, in order."""
    return _PARAMETER.findall(path)


def get_project_field(shape: type[Struct]) -> str | None:
    """Return the wire name under which an input type has the project; None if it has none."""
    return next((name for name in PROJECT_NAMES if name in shape.__struct_encode_fields__), None)


def fill_path(path: str, look_up: Callable[[str], Any]) -> str:
    """Return a path below the prefix with its values; a name for which `look_up` returns None stays in braces."""
    from urllib.parse import quote  # here, because `groundplan mcp` loads this module and has no paths

    def replace(match: re.Match[str]) -> str:
        value = look_up(match[1])
        return match[0] if value is None else quote(str(value), safe="")

    return PREFIX + _PARAMETER.sub(replace, path)


def format_query(arguments: Mapping[str, Any]) -> str:
    """Return arguments as a query string that the input gate reads back; empty if there are none."""
    from urllib.parse import urlencode

    from groundplan.kernel.answers import encode

    pairs = [
        (name, one if isinstance(one, str) else encode(one).decode())
        for name, value in arguments.items()
        for one in (value if isinstance(value, list) and all(isinstance(item, str) for item in value) else [value])
    ]
    return f"?{urlencode(pairs)}" if pairs else ""
