"""Make the file of an export: `purpose.export` returns text, of which some formats are made."""

from __future__ import annotations

from groundplan.kernel.input_gate.types import get_decoder
from groundplan.purpose.exchange.extras import require_extra
from groundplan.purpose.exchange.formats.table import FORMATS, FileFormat

_MADE_FROM = {FileFormat.XLSX: FileFormat.JSON}


def prepare_export(format_: FileFormat) -> FileFormat:
    """Return the format in which to call `purpose.export` for a file."""
    extra = FORMATS[format_].extra
    if extra is not None:
        require_extra(extra)
    return _MADE_FROM.get(format_, format_)


def build_file(format_: FileFormat, exported: str) -> bytes:
    """Return the file from the text that `purpose.export` returned for it."""
    if format_ is not FileFormat.XLSX:
        return exported.encode()
    from groundplan.purpose.exchange.formats.document import TheoryDocument
    from groundplan.purpose.exchange.formats.workbook import build_workbook

    return build_workbook(get_decoder(TheoryDocument).decode(exported))
