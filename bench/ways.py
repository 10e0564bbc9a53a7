"""The two ways in, so that one measurement can be made through both: over stdio and in-process."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import groundplan
from bench.peers import Peer, answer_text
from groundplan.kernel.output_gate import encode

STDIO, IN_PROCESS = "stdio", "in-process"


@dataclass(frozen=True, slots=True)
class Way:
    """How a call is made ready, how it is made, which is what is timed, and how its answer is read."""

    name: str
    line: Callable[[str, dict[str, Any]], Any]
    send: Callable[[Any], Any]
    read: Callable[[Any], Any]


def over_stdio(server: Peer) -> Way:
    """Through the pipe, as lines of JSON."""
    return Way(STDIO, server.call_line, server.ask_line, lambda line: json.loads(answer_text(line)))


def in_process(plan: groundplan.Session) -> Way:
    """As a Python program calls."""
    names = {operation.tool.name: operation.name for operation in plan.operations if operation.tool is not None}

    def line(tool: str, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        return names[tool], arguments

    return Way(IN_PROCESS, line, lambda call: plan.call(call[0], **call[1]), lambda answer: json.loads(encode(answer)))
