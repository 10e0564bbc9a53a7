"""What a writer asked for and what was acknowledged, on disk before the writer goes on."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple


class Attempt(NamedTuple):
    """One write of a writer; `answer` is None if it was never acknowledged."""

    op_id: str
    operation: str
    arguments: dict[str, Any]
    answer: str | None


class Ledger:
    """The attempts of one writer. Every line is synced, so that a kill loses none that was written."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def begin(self, op_id: str, operation: str, arguments: dict[str, Any]) -> None:
        """Note a write before it is sent."""
        self._append({"op_id": op_id, "operation": operation, "arguments": arguments})

    def acknowledge(self, op_id: str, answer: str) -> None:
        """Note the answer to a write."""
        self._append({"op_id": op_id, "answer": answer})

    def _append(self, line: dict[str, Any]) -> None:
        os.write(self._file, json.dumps(line).encode() + b"\n")
        os.fsync(self._file)


def read_attempts(path: Path) -> list[Attempt]:
    """Return the attempts in a ledger, in order. The last line may be cut by the kill."""
    attempts: dict[str, Attempt] = {}
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    for line in map(json.loads, lines):
        if "answer" in line:
            attempts[line["op_id"]] = attempts[line["op_id"]]._replace(answer=line["answer"])
        else:
            attempts[line["op_id"]] = Attempt(line["op_id"], line["operation"], line["arguments"], None)
    return list(attempts.values())
