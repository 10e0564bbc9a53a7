"""What was taken in of a file, as people read it: how much, under which keys, what not, and what the gate says."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

import msgspec

from groundplan.purpose.exchange.formats.table import FORMATS, FileFormat
from groundplan.purpose.exchange.import_document import ImportedPurpose
from groundplan.purpose.exchange.incoming_keys import KeyMapping
from groundplan.purpose.exchange.readers.document_builder import SkippedItem
from groundplan.purpose.gates.result import GateResult
from groundplan.surfaces.cli.files import describe_file
from groundplan.surfaces.cli.purpose.checks import finding
from groundplan.surfaces.cli.purpose.formatting import ARROW, pluralize
from groundplan.surfaces.cli.terminal import echo, echo_list, to_one_line

NAMES_SHOWN_MAX = 5
_FILE_KINDS = {FileFormat.CANVAS: "a canvas", FileFormat.CSV: "CSV sheets", FileFormat.XMPZ2: "a Miradi project"}


def draw_import(
    answer: ImportedPurpose,
    files: Sequence[str],
    format_: FileFormat,
    skipped: Sequence[SkippedItem],
    gate: GateResult | str,
    project: str,
) -> None:
    """A draft that was made from files. In place of what the gate says there may be a sentence why it does not."""
    number, source = answer.version.number, ", ".join(map(describe_file, files))
    counts = ((sort.removesuffix("s"), count) for sort, count in msgspec.to_builtins(answer.counts).items())
    told = ", ".join(pluralize(count, one) for one, count in counts if count)
    echo(f"Took in {told or 'nothing'} from {source}.", f"The draft of v{number} is at rev {answer.rev}.")
    echo_list("Names that became keys:", _format_new_keys(answer.keys))
    echo_list("Keys that were never called so here:", _format_keys(answer.renamed))
    echo_list("Left out, or not taken as it was:", map(_format_skipped, skipped))
    if format_ in _FILE_KINDS:
        echo("", f"Not in {_FILE_KINDS[format_]}: {', '.join(FORMATS[format_].not_carried)}.")
    echo("")
    if isinstance(gate, str):
        echo(gate)
    elif gate.passed:
        echo("Gate A would pass.", f"Next: groundplan purpose open --project {shlex.quote(project)}")
    else:
        echo("Gate A would not pass:", *(f"  {finding(one)}" for one in gate.checks if one.is_blocking))
        echo(f"Next: groundplan purpose check A --project {shlex.quote(project)}")


def _format_keys(keys: Sequence[str]) -> Iterator[str]:
    if keys:
        more = len(keys) - NAMES_SHOWN_MAX
        yield ", ".join(keys[:NAMES_SHOWN_MAX]) + (f" and {more} more" if more > 0 else "")


def _format_new_keys(keys: Sequence[KeyMapping]) -> Iterator[str]:
    for one in keys[:NAMES_SHOWN_MAX]:
        yield f"{to_one_line(one.name)}{ARROW}{one.key}"
    if len(keys) > NAMES_SHOWN_MAX:
        yield f"and {len(keys) - NAMES_SHOWN_MAX} more"


def _format_skipped(one: SkippedItem) -> str:
    times = f", {one.count} times" if one.count > 1 else ""
    more = one.count - len(one.examples)
    examples = ", ".join(map(to_one_line, one.examples)) + (f" and {more} more" if more > 0 else "")
    return f"{one.what}{times}: {one.why}{f' ({examples})' if one.examples else ''}"
