"""`groundplan context export`, `import` and `hydrate`: a run as a document, and back; facts in JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from groundplan.context.document import (
    DOCUMENT_BYTES_MAX,
    count_facts,
    decode_document,
    decode_file,
    format_document,
    format_json,
)
from groundplan.kernel.cancellation import NO_LIMIT_S
from groundplan.kernel.input_gate.strict_json import BODY_BYTES_MAX, validate_value
from groundplan.surfaces.cli.command_line import argument, option
from groundplan.surfaces.cli.failures import print_warning, write_line
from groundplan.surfaces.cli.files import (
    STANDARD_STREAM,
    describe_file,
    read_content,
    refuse_existing,
)
from groundplan.surfaces.cli.invocation import CommandResult, Invocation
from groundplan.surfaces.cli.options import ForceOption, ProjectOption, TimeoutOption
from groundplan.surfaces.cli.renderers import show_answer
from groundplan.surfaces.cli.screen.text import escape_control_chars
from groundplan.surfaces.cli.steps import print_answer, write_answer

if TYPE_CHECKING:
    from groundplan.context.hydrate import Hydrated

VALUE_CHARS_MAX = 80  # of a value in a line


def export_facts(
    invocation: Invocation,
    project: ProjectOption,
    run: Annotated[
        str | None,
        option("--run", value="ID", text="The facts of this run. Default: the latest commit."),
    ] = None,
    out: Annotated[
        str,
        option("--out", value="FILE", text="The output file. Default: -, standard output."),
    ] = STANDARD_STREAM,
    force: ForceOption = False,
) -> CommandResult:
    """Export the facts of a run as a JSON document that import can read."""
    refuse_existing(out, force=force)
    with invocation.session(reads_only=True) as session:
        document = session.call("context.export", scopeId=project, **({} if run is None else {"runId": run}))
    text = format_document(document)
    if len(text.encode()) > DOCUMENT_BYTES_MAX:
        print_warning(f"the document exceeds the import limit of {DOCUMENT_BYTES_MAX} bytes")
    if out == STANDARD_STREAM:
        # Unprintable characters occur only inside JSON strings, where their escapes mean the same.
        return print_answer(escape_control_chars(text) + "\n", document)
    counts = count_facts(document)
    wrote = f"{', '.join(f'{count} {name}' for name, count in counts.items())} of run {document.run.id}"
    data = {"file": out, "run": document.run, **counts}
    return write_answer(out, f"{text}\n".encode(), wrote, force=force, data=data)


def import_facts(
    invocation: Invocation,
    file: Annotated[str, argument("FILE", "A document that export wrote; - for standard input.")],
    project: ProjectOption,
    ownership: Annotated[
        Literal["owned", "shared"],
        option("--ownership", value="owned|shared", text="Owned by you or shared. Default: owned."),
    ] = "owned",
    op_id: Annotated[
        str | None,
        option("--op-id", value="ID"),
    ] = None,
    timeout: TimeoutOption = None,
) -> CommandResult:
    """Import a document of facts as a new draft."""
    given = {"scopeId": project, "ownership": ownership, **({} if op_id is None else {"op_id": op_id})}
    validate_value(given)
    # The document is validated while it is decoded, because it may be larger than a request.
    document = decode_document(read_content(file, DOCUMENT_BYTES_MAX), describe_file(file))
    with invocation.session(reads_only=True, limit_s=NO_LIMIT_S if timeout is None else timeout) as session:
        answer = session.run(session.operations["context.import"], {**given, "document": document})

    return show_answer("context.import", answer)


def hydrate(
    invocation: Invocation,
    project: Annotated[str, option("--project", "-P", value="PROJECT")],
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
