"""The files of one import: sheets that belong together, and errors that name the file and the formats to try."""

from __future__ import annotations

import json

import pytest

from groundplan.kernel.errors import Invalid
from groundplan.purpose.exchange.formats import FileFormat
from groundplan.purpose.exchange.readers.files import SourceFile, read_files, remove_waivers

FACTORS = b"key,type,title\nG1,GOAL,Health\nAC1,ACTIVITY,Dig"
NATIVE = json.dumps({"nodes": [{"key": "G1", "node_type": "GOAL", "title": "Health"}]}).encode()


def uploaded(name: str, raw: bytes) -> SourceFile:
    return SourceFile(name, f"the file {name}", lambda bytes_max: raw[: bytes_max + 1])


def refused(format_: FileFormat, *files: SourceFile) -> Invalid:
    with pytest.raises(Invalid) as caught:
        read_files(format_, files)
    return caught.value


def test_sheets_with_their_own_encodings_are_one_document() -> None:
    links = uploaded("links.csv", "source;target\nAC1;G1\n".encode("utf-16"))

    document = read_files(FileFormat.CSV, [uploaded("factors.csv", FACTORS), links]).document

    assert (len(document.nodes), len(document.edges)) == (2, 1)


def test_an_error_names_the_file_and_the_format_that_its_content_has() -> None:
    error = refused(FileFormat.CANVAS, uploaded("a", NATIVE))

    assert error.message.startswith("the file a: ")
    assert error.message.endswith("; it looks like json")
    assert (error.code, error.details["file"], error.details["formats"]) == ("unreadable_file", "a", ["json"])


def test_an_error_about_content_of_no_clear_format_names_the_others() -> None:
    assert refused(FileFormat.JSON, uploaded("a", FACTORS)).details["formats"] == ["canvas", "csv", "xmpz2"]


def test_an_error_about_content_of_the_given_format_names_no_other() -> None:
    error = refused(FileFormat.JSON, uploaded("a", NATIVE.replace(b"GOAL", b"GAOL")))

    assert "formats" not in error.details
    assert error.message.count("nothing was imported") == 1


def test_of_several_files_the_one_that_cannot_be_decoded_is_named() -> None:
    files = [uploaded("a.csv", FACTORS), uploaded("b.csv", b"source,target\n\xff,G1\n")]

    assert refused(FileFormat.CSV, *files).details["file"] == "b.csv"


def test_several_files_may_be_no_larger_together_than_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundplan.purpose.exchange.readers.files.FILE_BYTES_MAX", len(FACTORS) + 5)
    names: list[str] = []

    def counted(name: str) -> SourceFile:
        def read(bytes_max: int) -> bytes:
            names.append(name)
            return FACTORS[: bytes_max + 1]

        return SourceFile(name, name, read)

    assert read_files(FileFormat.CSV, [counted("a")]).document.nodes
    assert "more than" in refused(FileFormat.CSV, counted("b"), counted("c"), counted("d")).message
    assert names == ["a", "b", "c"]


def test_waivers_that_are_left_out_are_reported_once_with_the_reason() -> None:
    waiver = {"code": "GA_ORPHANS", "refs": [], "reason": "Later", "owner": "ben", "due": "2999-01-01"}
    reading = read_files(
        FileFormat.JSON, [uploaded("a", json.dumps({**json.loads(NATIVE), "waivers": [waiver]}).encode())]
    )

    for _ in range(2):
        remove_waivers(reading, "not wanted")

    assert reading.document.waivers == []
    assert [(one.what, one.why, one.examples) for one in reading.skipped] == [("waiver", "not wanted", ["GA_ORPHANS"])]
