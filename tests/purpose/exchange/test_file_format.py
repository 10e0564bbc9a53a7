"""Which format a file has: by its name, by its content, and together with other files."""

from __future__ import annotations

import pytest

from groundplan.purpose.exchange.formats import (
    EXPORTABLE,
    FORMATS,
    READABLE,
    FileFormat,
    FileFormatUnclear,
    detect_format,
    find_format,
    require_one_format,
)


def test_the_suffix_of_a_name_shows_the_format_in_any_case() -> None:
    for possible in (EXPORTABLE, READABLE):
        for one in possible:
            assert find_format(f"folder.d/a{FORMATS[one].suffix.upper()}", possible) is one


@pytest.mark.parametrize("name", ["", "theory", "theory.txt", ".json", "theory.svg", "json"])
def test_a_name_that_shows_no_possible_format_is_refused_with_the_possible_formats(name: str) -> None:
    with pytest.raises(FileFormatUnclear) as refused:
        find_format(name, READABLE)

    assert refused.value.details == {"formats": list(READABLE)}


def test_the_name_of_a_workbook_is_refused_for_import_with_the_way_that_works() -> None:
    with pytest.raises(FileFormatUnclear, match="save its sheets as CSV"):
        find_format("theory.xlsx", READABLE)


def test_only_csv_sheets_may_be_several_files() -> None:
    csv, json = FileFormat.CSV, FileFormat.JSON

    assert [require_one_format(formats) for formats in ([csv], [csv, csv], [json])] == [csv, csv, json]
    for formats in ([json, json], [csv, json]):
        with pytest.raises(FileFormatUnclear, match="only csv sheets may be several files"):
            require_one_format(formats)


@pytest.mark.parametrize(
    ("raw", "format_"),
    [
        (b'\xef\xbb\xbf {"nodes": [{"node_type": "GOAL"}]}', FileFormat.JSON),
        (b'{"nodes": [{"x": 1}]}', FileFormat.CANVAS),
        (b"PK\x03\x04project.xml", FileFormat.XMPZ2),
        (b"PK\x03\x04xl/workbook.xml", FileFormat.XLSX),
        (b"key,type,title\n", None),
        (b"{}", None),
        (b"", None),
    ],
)
def test_the_content_shows_the_format_or_none(raw: bytes, format_: FileFormat | None) -> None:
    assert detect_format(raw) is format_
