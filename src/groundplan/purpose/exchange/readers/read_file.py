"""Read a file of any import format."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from groundplan.kernel.input_gate.request import parse_request
from groundplan.purpose.exchange.formats.document import TheoryDocument
from groundplan.purpose.exchange.formats.table import FileFormat
from groundplan.purpose.exchange.readers.document_builder import (
    FILE_BYTES_MAX,
    ReadDocument,
    UnreadableFile,
    decode_json,
)

# The module and function that read each format. Only the requested one is loaded.
_READERS = {
    FileFormat.CANVAS: ("read_canvas", "read_canvas"),
    FileFormat.CSV: ("read_csv", "read_csv"),
    FileFormat.XMPZ2: ("read_xmpz2", "read_xmpz2"),
}


def read_file(format_: FileFormat, raw: bytes) -> ReadDocument:
    """Read a file."""
    if len(raw) > FILE_BYTES_MAX:
        raise UnreadableFile(f"it has more than {FILE_BYTES_MAX} bytes", limit_bytes=FILE_BYTES_MAX)
    if format_ is FileFormat.JSON:
        return read_native(raw)
    module, function = _READERS[format_]
    readers = import_module(f"groundplan.purpose.exchange.readers.{module}")
    reader: Callable[[bytes], ReadDocument] = getattr(readers, function)
    return reader(raw)


def read_native(raw: bytes) -> ReadDocument:
    """Read a native file."""
    return ReadDocument(parse_request(decode_json(raw), TheoryDocument), [])
