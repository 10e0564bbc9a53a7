"""Terminal output of an import: counts, keys, skipped items and the result of gate A."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

import msgspec

from groundplan.purpose.exchange.formats import FORMATS, FileFormat
from groundplan.purpose.exchange.import_document import ImportedPurpose
from groundplan.purpose.exchange.incoming_keys import KeyMapping
from groundplan.purpose.exchange.readers.builder import SkippedItem
from groundplan.purpose.gates.gates import GateResult
from groundplan.surfaces.cli.files import describe_file
from groundplan.surfaces.cli.purpose.checks import format_finding
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
    """Print a draft that was imported from files. `gate` may be a sentence that says why there is no result."""
    number, source = answer.version.number, ", ".join(map(describe_file, files))
    counts = ((name.removesuffix("s"), count) for name, count in msgspec.to_builtins(answer.counts).items())
    summary = ", ".join(pluralize(count, noun) for noun, count in counts if count)
    echo(f"Imported {summary or 'nothing'} from {source}.", f"The draft of v{number} is at rev {answer.rev}.")
    echo_list("New keys:", _format_new_keys(answer.keys))
    echo_list("Existing keys with new titles:", _format_keys(answer.renamed))
    echo_list("Warnings:", map(_format_skipped, skipped))
    if format_ in _FILE_KINDS:
        echo("", f"Not included in {_FILE_KINDS[format_]}: {', '.join(FORMATS[format_].not_carried)}.")
    echo("")
    if isinstance(gate, str):
        echo(gate)
    elif gate.passed:
        echo("Gate A would pass.", f"Next: groundplan purpose open --project {shlex.quote(project)}")
    else:
        echo("Gate A would not pass:", *(f"  {format_finding(one)}" for one in gate.checks if one.is_blocking))
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
