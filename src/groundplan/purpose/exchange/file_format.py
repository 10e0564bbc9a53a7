"""Find the format of a file: from its name, or from what its content looks like."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from groundplan.kernel.errors import Invalid
from groundplan.kernel.wording import quote_text
from groundplan.purpose.exchange.formats.table import FORMATS, WRITABLE, FileFormat

SHEETS_AS_CSV = "save its sheets as CSV and import those files"


class FileFormatUnclear(Invalid):
    """The format of a file is not clear, or does not fit; the details name the possible formats."""

    code = "file_format"

    def __init__(self, problem: str, formats: Sequence[FileFormat] = ()) -> None:
        details: dict[str, Any] = {"formats": list(formats)} if formats else {}
        super().__init__(problem, **details)


def find_format(name: str, possible: Sequence[FileFormat]) -> FileFormat:
    """Return the format that the name of a file shows."""
    suffix = PurePath(name).suffix.lower()
    named = next((one for one, about in FORMATS.items() if about.suffix == suffix), None)
    if named is None:
        raise FileFormatUnclear(f"the name {quote_text(name)} does not show the format", possible)
    if named in possible:
        return named
    if named is FileFormat.XLSX:
        raise FileFormatUnclear(f"{quote_text(name)} is a workbook, which cannot be imported; {SHEETS_AS_CSV}")
    limit = "exported" if named in WRITABLE else "imported"
    raise FileFormatUnclear(f"{quote_text(name)} is {named}, which can only be {limit}", possible)


def require_one_format(formats: Sequence[FileFormat]) -> FileFormat:
    """Return the format of files that are imported together, from the format of each."""
    if len(formats) > 1 and set(formats) != {FileFormat.CSV}:
        raise FileFormatUnclear(f"only {FileFormat.CSV} sheets may be several files; name one file")
    return formats[0]


def detect_format(raw: bytes) -> FileFormat | None:
    """Return the format that the content of a file looks like, or None."""
    if raw.startswith(b"PK"):
        return FileFormat.XLSX if b"xl/workbook.xml" in raw else FileFormat.XMPZ2
    if raw.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        if b'"node_type"' in raw:
            return FileFormat.JSON
        if b'"nodes"' in raw and b'"x"' in raw:
            return FileFormat.CANVAS
    return None
