"""Read files with one JSON object a line: what is wrong with a line is said with its number."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from groundplan.exchange.model import BadLines, UnreadableSource
from groundplan.exchange.text_files import is_conflict_marker, read_text

VALUE_DEPTH_MAX = 32


def read_json_lines(path: Path, bad: BadLines) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number and the object of each line; blank lines are passed over, and bad ones are added to `bad`."""
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        if is_conflict_marker(line):
            bad.add(str(path), number, "is a conflict marker that a merge left; resolve the conflict first")
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            bad.add(str(path), number, "is not JSON")
            continue
        if isinstance(value, dict):
            yield number, value
        else:
            bad.add(str(path), number, "is not a JSON object")


def read_json(path: Path) -> Any:
    """Return the value of a JSON file.

    Raises:
        UnreadableSource: it cannot be read, has conflict markers, or is not JSON.
    """
    text = read_text(path)
    try:
        return json.loads(text)
    except RecursionError:
        raise UnreadableSource(str(path), "is nested too deep") from None
    except json.JSONDecodeError as error:
        for number, line in enumerate(text.split("\n"), 1):
            if is_conflict_marker(line):
                problem = "is a conflict marker that a merge left; resolve the conflict first"
                raise UnreadableSource(str(path), problem, line=number) from None
        raise UnreadableSource(str(path), f"is not JSON: {error.msg}", line=error.lineno) from None
