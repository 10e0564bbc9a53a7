"""What was taken in of a file, as people read it: how much, under which keys, what not, and what the gate says."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

import msgspec

from groundplan.purpose.exchange.formats.table import FORMATS, Format
from groundplan.purpose.exchange.import_document import TakenIn
from groundplan.purpose.exchange.incoming_keys import KeyGiven
from groundplan.purpose.exchange.readers.document_reading import Skipped
from groundplan.purpose.gates.result import GateResult
from groundplan.surfaces.cli.drawing import one_line, say, say_list
from groundplan.surfaces.cli.files import called
from groundplan.surfaces.cli.purpose.checks import finding
from groundplan.surfaces.cli.purpose.lines import WAY, many

NAMES_SHOWN_MAX = 5
_FILES = {Format.CANVAS: "a canvas", Format.CSV: "CSV sheets", Format.XMPZ2: "a Miradi project"}


def draw_taken(
    answer: TakenIn,
    files: Sequence[str],
    format_: Format,
    skipped: Sequence[Skipped],
    gate: GateResult | str,
    project: str,
) -> None:
    """A draft that was made from files. In place of what the gate says there may be a sentence why it does not."""
    number, source = answer.version.number, ", ".join(map(called, files))
    counts = ((sort.removesuffix("s"), count) for sort, count in msgspec.to_builtins(answer.counts).items())
    told = ", ".join(many(count, one) for one, count in counts if count)
    say(f"Took in {told or 'nothing'} from {source}.", f"The draft of v{number} is at rev {answer.rev}.")
    say_list("Names that became keys:", _names(answer.keys))
    say_list("Keys that were never called so here:", _shown(answer.renamed))
    say_list("Left out, or not taken as it was:", map(_skipped, skipped))
    if format_ in _FILES:
        say("", f"Not in {_FILES[format_]}: {', '.join(FORMATS[format_].not_carried)}.")
    say("")
    if isinstance(gate, str):
        say(gate)
    elif gate.passed:
        say("Gate A would pass.", f"Next: groundplan purpose open --project {shlex.quote(project)}")
    else:
        say("Gate A would not pass:", *(f"  {finding(one)}" for one in gate.checks if one.blocks))
        say(f"Next: groundplan purpose check A --project {shlex.quote(project)}")


def _shown(keys: Sequence[str]) -> Iterator[str]:
    if keys:
        more = len(keys) - NAMES_SHOWN_MAX
        yield ", ".join(keys[:NAMES_SHOWN_MAX]) + (f" and {more} more" if more > 0 else "")


def _names(keys: Sequence[KeyGiven]) -> Iterator[str]:
    for one in keys[:NAMES_SHOWN_MAX]:
        yield f"{one_line(one.name)}{WAY}{one.key}"
    if len(keys) > NAMES_SHOWN_MAX:
        yield f"and {len(keys) - NAMES_SHOWN_MAX} more"


def _skipped(one: Skipped) -> str:
    times = f", {one.count} times" if one.count > 1 else ""
    more = one.count - len(one.examples)
    examples = ", ".join(map(one_line, one.examples)) + (f" and {more} more" if more > 0 else "")
    return f"{one.what}{times}: {one.why}{f' ({examples})' if one.examples else ''}"
