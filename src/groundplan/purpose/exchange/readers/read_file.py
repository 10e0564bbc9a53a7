"""Read a file of any format that can be taken in."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from groundplan.kernel.input_gate.parse_request import parse_request
from groundplan.purpose.exchange.formats.document import TheoryDocument
from groundplan.purpose.exchange.formats.table import FileFormat
from groundplan.purpose.exchange.readers.document_builder import (
    FILE_BYTES_MAX,
    ReadDocument,
    UnreadableFile,
    decode_json,
)

# What reads each of them. Only the one that is asked for is loaded.
_READERS = {
    FileFormat.CANVAS: ("read_canvas", "read_canvas"),
    FileFormat.CSV: ("read_csv", "read_csv"),
    FileFormat.XMPZ2: ("read_xmpz2", "read_xmpz2"),
}


def read_file(format_: FileFormat, raw: bytes) -> ReadDocument:
    """What is in a file.

    Raises:
        UnreadableFile: it is too large, or not what it is said to be.
        Invalid: it is a native file in which something is malformed.
    """
    if len(raw) > FILE_BYTES_MAX:
        raise UnreadableFile(f"it has more than {FILE_BYTES_MAX} bytes", limit_bytes=FILE_BYTES_MAX)
    if format_ is FileFormat.JSON:
        return read_native(raw)
    module, function = _READERS[format_]
    readers = import_module(f"groundplan.purpose.exchange.readers.{module}")
    reader: Callable[[bytes], ReadDocument] = getattr(readers, function)
    return reader(raw)


def read_native(raw: bytes) -> ReadDocument:
    """What is in a native file, all of it.

    Raises:
        UnreadableFile: it is no strict JSON.
        Invalid: something in it is malformed.
    """
    return ReadDocument(parse_request(decode_json(raw), TheoryDocument), [])
