"""Read the files of one import: one file of any format, or several CSV sheets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from groundplan.kernel.errors import Invalid
from groundplan.kernel.input_gate.request import parse_request
from groundplan.purpose.exchange.document import TheoryDocument
from groundplan.purpose.exchange.formats import READABLE, SHEETS_AS_CSV, FileFormat, detect_format
from groundplan.purpose.exchange.readers.builder import (
    EXAMPLES_MAX,
    FILE_BYTES_MAX,
    ReadDocument,
    SkippedItem,
    UnreadableFile,
    decode_json,
    decode_text,
)
from groundplan.purpose.exchange.readers.canvas import read_canvas
from groundplan.purpose.exchange.readers.miradi import read_miradi
from groundplan.purpose.exchange.readers.sheets import read_csv

BETWEEN_SHEETS = b"\n\n"  # an empty line ends a sheet
_READERS: dict[FileFormat, Callable[[bytes], ReadDocument]] = {
    FileFormat.CANVAS: read_canvas,
    FileFormat.CSV: read_csv,
    FileFormat.XMPZ2: read_miradi,
}


class SourceFile(NamedTuple):
    """A file to import. `read(bytes_max)` returns its content; of a larger file at least `bytes_max` + 1 bytes."""

    name: str
    label: str  # the name in messages
    read: Callable[[int], bytes]


def read_files(format_: FileFormat, files: Sequence[SourceFile]) -> ReadDocument:
    """Return the document in a file, or in several files that are its sheets.

    Together they may be as large as one file. The `formats` in the details of an error are those that the content may
    have instead.
    """
    contents: list[bytes] = []
    for file in files:
        bytes_left = max(0, FILE_BYTES_MAX - sum(map(len, contents)))
        raw = file.read(bytes_left)
        is_too_large = len(raw) > bytes_left  # cut off anywhere, so not decoded; read_file refuses the size
        if len(files) > 1 and not is_too_large:
            with _name_files_in_errors([file], raw, format_):
                raw = decode_text(raw).encode()  # each file may have its own encoding
        contents.append(raw)
        if is_too_large:
            break
    content = BETWEEN_SHEETS.join(contents)
    with _name_files_in_errors(files, content, format_):
        return read_file(format_, content)


@contextmanager
def _name_files_in_errors(files: Sequence[SourceFile], raw: bytes, format_: FileFormat) -> Iterator[None]:
    """Add the names of the files to errors, and the formats that they may have instead."""
    try:
        yield
    except Invalid as error:
        sentence = f"{', '.join(file.label for file in files)}: {error.message}"
        if not isinstance(error, UnreadableFile):
            sentence += "; nothing was imported"
        details = {**error.details, "file": ", ".join(file.name for file in files)}
        detected = detect_format(raw)
        if detected is FileFormat.XLSX:
            sentence += f"; it looks like a workbook, so {SHEETS_AS_CSV}"
        elif detected is None:
            details["formats"] = [readable for readable in READABLE if readable is not format_]
        elif detected is not format_:
            sentence += f"; it looks like {detected}"
            details["formats"] = [detected]
        raise Invalid(sentence, code=error.code, **details) from None


def read_file(format_: FileFormat, raw: bytes) -> ReadDocument:
    """Read a file."""
    if len(raw) > FILE_BYTES_MAX:
        raise UnreadableFile(f"it has more than {FILE_BYTES_MAX} bytes", limit_bytes=FILE_BYTES_MAX)
    if format_ is FileFormat.JSON:
        return read_native(raw)
    return _READERS[format_](raw)


def read_native(raw: bytes) -> ReadDocument:
    """Read a native file."""
    return ReadDocument(parse_request(decode_json(raw), TheoryDocument), [])


def remove_waivers(reading: ReadDocument, why: str) -> None:
    """Remove the waivers from a document and record them as skipped, because only an owner may import waivers."""
    codes = [waiver.code for waiver in reading.document.waivers]
    reading.document.waivers = []
    if codes:
        reading.skipped.append(SkippedItem("waiver", why, len(codes), codes[:EXAMPLES_MAX]))
