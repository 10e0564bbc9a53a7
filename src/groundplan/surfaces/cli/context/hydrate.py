"""`groundplan context hydrate`: insert the facts of a project into a JSON object."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from groundplan.context.document import decode_file, format_json
from groundplan.kernel.input_gate.strict_json import BODY_BYTES_MAX
from groundplan.surfaces.cli.command_line import argument, option
from groundplan.surfaces.cli.failures import write_line
from groundplan.surfaces.cli.files import STANDARD_STREAM, describe_file, read_content
from groundplan.surfaces.cli.invocation import CommandResult, Invocation
from groundplan.surfaces.cli.screen.control_chars import escape_control_chars

if TYPE_CHECKING:
    from groundplan.context.hydrate import Hydrated

VALUE_CHARS_MAX = 80  # of a value in a line


def hydrate(
    invocation: Invocation,
    project: Annotated[str, option("--project", value="PROJECT")],
    file: Annotated[
        str,
        argument("FILE", "The JSON object to fill. Default: -, standard input."),
    ] = STANDARD_STREAM,
    run: Annotated[
        str | None,
        option("--run", value="ID", text="The facts of this run. Default: the latest commit."),
    ] = None,
    create_missing: Annotated[
        bool, option("--create-missing", text="Create the objects on the path that are missing.")
    ] = False,
    overwrite: Annotated[
        bool, option("--overwrite", text="Replace other values with model-inferred facts, too.")
    ] = False,
) -> CommandResult:
    """Insert the facts of a project into a JSON object, each at its pointer, and print it."""
    from groundplan.context.hydrate import hydrate as hydrate_target

    target = decode_file(read_content(file, BODY_BYTES_MAX), describe_file(file))
    with invocation.session(reads_only=True) as session:
        view = session.context.resolve_context_view(project, run_id=run)
    done = hydrate_target(view, target, create_missing=create_missing, overwrite=overwrite)
    return CommandResult(done, lambda: _draw(done))


def _draw(done: Hydrated) -> None:
    # Unprintable characters occur only inside JSON strings, where their escapes mean the same.
    write_line(sys.stdout, escape_control_chars(format_json(msgspec.json.encode(done.target))))
    with suppress(OSError):  # stderr is closed
        for line in _format_warnings(done):
            write_line(sys.stderr, escape_control_chars(line))


def _format_warnings(done: Hydrated) -> Iterator[str]:
    for replaced in done.replaced:
        yield f"replaced: {_escape_line_breaks(replaced.pointer)} was {_shorten(replaced.before)}"
    for pointer in done.kept:
        yield f"kept: {_escape_line_breaks(pointer)} has another value than the model-inferred fact; see --overwrite"
    for one in done.unplaced:
        yield f"not placed: {_escape_line_breaks(one.pointer)}: {one.reason}"
    for pointer in done.missing:
        yield f"missing: {_escape_line_breaks(pointer)} is required and has no value yet"


def _shorten(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= VALUE_CHARS_MAX else f"{text[:VALUE_CHARS_MAX]}…"


def _escape_line_breaks(pointer: str) -> str:
    return pointer.replace("\n", "\\n").replace("\t", "\\t")
