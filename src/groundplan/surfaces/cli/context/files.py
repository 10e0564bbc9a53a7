"""`groundplan context export` and `import`: write the facts of a run to a document, and create a draft from one."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Annotated, Literal

from groundplan.context.document import (
    DOCUMENT_BYTES_MAX,
    count_facts,
    decode_document,
    format_document,
)
from groundplan.kernel.cancellation import NO_LIMIT_S
from groundplan.kernel.input_gate.strict_json import validate_value
from groundplan.surfaces.cli.command_line import argument, option
from groundplan.surfaces.cli.failures import write_line
from groundplan.surfaces.cli.files import (
    STANDARD_STREAM,
    describe_file,
    read_content,
    refuse_existing,
    write_file,
)
from groundplan.surfaces.cli.invocation import CommandResult, Invocation
from groundplan.surfaces.cli.options import ForceOption, ProjectOption, TimeoutOption
from groundplan.surfaces.cli.screen.control_chars import escape_control_chars
from groundplan.surfaces.cli.screen.progress import show_progress


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
    progress = show_progress("exporting the facts", as_json=invocation.as_json)
    with invocation.session(reads_only=True) as session, progress:
        document = session.call("context.export", scopeId=project, **({} if run is None else {"runId": run}))
    text = format_document(document)
    if len(text.encode()) > DOCUMENT_BYTES_MAX:
        with suppress(OSError):  # stderr is closed
            write_line(
                sys.stderr,
                f"groundplan: warning: the document exceeds the import limit of {DOCUMENT_BYTES_MAX} bytes",
            )
    if out == STANDARD_STREAM:
        # Unprintable characters occur only inside JSON strings, where their escapes mean the same.
        return CommandResult(document, lambda: write_line(sys.stdout, escape_control_chars(text)))
    write_file(out, f"{text}\n".encode(), force=force)
    counts = count_facts(document)

    def draw() -> None:
        from groundplan.surfaces.cli.terminal import echo

        summary = ", ".join(f"{count} {name}" for name, count in counts.items())
        echo(f"Wrote {out}: {summary} of run {document.run.id}.")

    return CommandResult({"file": out, "run": document.run, **counts}, draw)


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
    with (
        invocation.session(reads_only=True, limit_s=NO_LIMIT_S if timeout is None else timeout) as session,
        show_progress("importing the facts", as_json=invocation.as_json),
    ):
        answer = session.run(session.operations["context.import"], {**given, "document": document})

    def draw() -> None:
        from groundplan.surfaces.cli.context.answers import RENDERERS

        RENDERERS["context.import"](answer)

    return CommandResult(answer, draw)
