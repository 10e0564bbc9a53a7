"""The transports of a call: over stdio and in-process."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import groundplan
from bench.peers import Peer, extract_text
from groundplan.kernel.answers import encode

STDIO, IN_PROCESS = "stdio", "in-process"


@dataclass(frozen=True, slots=True)
class Transport:
    """Functions to prepare a call, to send it, and to read its answer. Only `send` is timed."""

    name: str
    prepare: Callable[[str, dict[str, Any]], Any]
    send: Callable[[Any], Any]
    read: Callable[[Any], Any]


def connect_stdio(server: Peer) -> Transport:
    """Return the transport that sends lines of JSON over a pipe."""
    return Transport(STDIO, server.format_call, server.send, lambda line: json.loads(extract_text(line)))


def connect_in_process(plan: groundplan.Session) -> Transport:
    """Return the transport that calls operations from Python."""
    names = {operation.tool.name: operation.name for operation in plan.operations if operation.tool is not None}

    def prepare(tool: str, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        return names[tool], arguments

    return Transport(
        IN_PROCESS, prepare, lambda call: plan.call(call[0], **call[1]), lambda answer: json.loads(encode(answer))
    )
