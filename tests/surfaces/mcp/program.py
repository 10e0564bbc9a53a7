"""A server for tests with three sample operations, served over stdin and stdout.

note_keep    keeps a text; a colour selects how
note_wait    reports its start on stderr, then waits until the file with the given name exists
note_find    always answers not found
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from groundplan.kernel.access import Permission
from groundplan.kernel.errors import Invalid, NotFound
from groundplan.kernel.operations.execute import ExecutionResult
from groundplan.kernel.operations.registry import Effect, Group, Operation, Registry, Tool
from groundplan.surfaces.mcp.stdio import serve
from groundplan.surfaces.mcp.tools import RegistryTools

SOME_PERMISSION = next(iter(Permission))


class Keep(msgspec.Struct):
    """The text to keep."""

    text: str
    times: int = 1


class Kept(msgspec.Struct):
    """The kept text."""

    text: str


class Wait(msgspec.Struct):
    """The file to wait for: a named pipe, opened for reading."""

    gate: str


class Find(msgspec.Struct):
    """The text to find."""

    scopeId: str  # noqa: N815 - the contract's spelling


def keep(_tx: Any, request: Keep) -> Kept:
    print("a tool printed this")
    os.write(1, b"and this came from below Python\n")
    if request.text == "crash":
        raise RuntimeError("the secret of Mallory")
    return Kept(request.text * request.times)


def wait(_tx: Any, request: Wait) -> Kept:
    print("waiting", file=sys.stderr, flush=True)
    with open(request.gate, encoding="utf-8") as gate:  # noqa: PTH123 - a named pipe, not a path of ours
        return Kept(gate.read())


def find(_tx: Any, request: Find) -> Kept:
    raise NotFound("scope", request.scopeId)


def operation(name: str, effect: Effect, request: type, handler: Any, tool: Tool) -> Operation[Any, Any]:
    return Operation(
        name=name,
        summary=f"To {name.replace('.', ' ')}.",
        permission=SOME_PERMISSION,
        effect=effect,
        input=request,
        output=Kept,
        handler=handler,
        idempotent=effect is Effect.READ,
        tool=tool,
    )


REGISTRY = Registry(
    [
        operation("note.keep", Effect.WRITE, Keep, keep, Tool("note_keep", Group.WORK)),
        operation("note.wait", Effect.READ, Wait, wait, Tool("note_wait", Group.WORK)),
        operation("note.find", Effect.READ, Find, find, Tool("note_find", Group.CONTEXT)),
    ]
)


def run(chosen: Operation[Any, Any], arguments: Mapping[str, Any], *_others: Any) -> ExecutionResult:
    try:
        request = msgspec.convert(dict(arguments), chosen.input)
    except msgspec.ValidationError as error:
        raise Invalid(str(error)) from error
    return ExecutionResult(chosen.handler(None, request))  # type: ignore[arg-type]  # these operations touch no store


def main(_arguments: Sequence[str] = ()) -> int:
    """Serve until the input ends."""
    return serve(
        RegistryTools(REGISTRY, set(Group), run),
        sys.stdin.buffer,
        sys.stdout.buffer,
        version="1.2.3",
        instructions="Read.",
    )


if __name__ == "__main__":
    sys.exit(main())
