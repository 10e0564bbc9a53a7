"""`purpose export --format xlsx` on the command line: the CSV sheets as a workbook with text cells."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from openpyxl import Workbook, load_workbook

import groundplan
from groundplan.purpose.exchange.document import TheoryDocument, build_document, write_json
from groundplan.purpose.exchange.formats import FORMATS, FileFormat
from groundplan.purpose.exchange.readers.files import read_native
from groundplan.purpose.exchange.theory import Theory
from groundplan.purpose.exchange.writers.sheets import COLUMNS, build_sheets
from groundplan.purpose.exchange.writers.workbook import COLUMN_CHARS_MAX, COLUMN_CHARS_MIN, build_workbook
from groundplan.purpose.model import TEXT_BYTES_MAX
from tests.purpose.exchange.theory_strategies import NEVER_STORED, any_theory, make_published, tries
from tests.purpose.theories import theory, whole_theory
from tests.surfaces.cli.conftest import Run, RunResult

# Text that a spreadsheet misreads unless the type is declared.
NO_TEXTS = (
    "=1+1",
    "=",
    "+1",
    "-1",
    "@SUM(A1)",
    "#N/A",
    "#REF!",
    "TRUE",
    "3",
    "1e5",
    "2026-11-15",
    "'quoted",
    " =1",
    "%",
)
THEORY: dict[str, Any] = {
    "nodes": [
        {"key": "G1", "node_type": "GOAL", "title": "=HYPERLINK(1)", "metadata": {"b": 2.0, "a": [1]}},
        {
            "key": "OC1",
            "node_type": "OUTCOME",
            "title": "People drink",
            "description": "One\r\nand two",
            "owner": "ada",
        },
    ],
    "edges": [{"source": "OC1", "target": "G1", "mechanism": "It is clean", "confidence": "high"}],
    "assumptions": [{"key": "AS1", "assumption_text": "There is water", "source": "OC1", "target": "G1"}],
    "indicators": [
        {"key": "IN1", "node": "OC1", "name": "Litres", "baseline": -1.5, "baseline_verified": False, "target": 5}
    ],
}


class FileCommands:
    """Project atlas with a small theory, and commands that export and import it."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def __call__(self, word: str, *words: str) -> RunResult:
        return self.run("purpose", word, "--project", "atlas", *words)


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    db = tmp_path_factory.mktemp("plan") / "groundplan.db"
    with groundplan.open(str(db), actor="ada") as session:
        session.call("project.create", name="atlas")
        session.call("purpose.import", project="atlas", document=THEORY)
    return db


@pytest.fixture
def files(run: Run, plan: Path) -> FileCommands:
    shutil.copy(plan, ".")
    return FileCommands(run)


def open_workbook(raw: bytes) -> Workbook:
    return load_workbook(io.BytesIO(raw))


def cells(book: Workbook) -> dict[str, list[list[Any]]]:
    return {sheet.title: [[cell.value for cell in row] for row in sheet.iter_rows()] for sheet in book}


def kinds(book: Workbook) -> Iterator[tuple[Any, str]]:
    """Return the content and the declared type of every cell."""
    for sheet in book:
        for row in sheet.iter_rows():
            yield from ((cell.value, cell.data_type) for cell in row if cell.value is not None)


def theory_titled(title: str) -> bytes:
    return build_workbook(build_document(make_published(theory("G1", nodes={"G1": {"title": title}}))))


# --- Content ---------------------------------------------------------------------------------------------------------


def test_there_is_a_sheet_for_every_sort_of_thing_with_numbers_as_numbers(files: FileCommands) -> None:
    assert files("export", "--out", "theory.xlsx").code == 0

    assert cells(load_workbook("theory.xlsx")) == {
        "Factors": [
            ["key", "type", "title", "description", "narrative", "owner", "metadata"],
            ["G1", "GOAL", "=HYPERLINK(1)", None, None, None, '{"a":[1],"b":2}'],
            ["OC1", "OUTCOME", "People drink", "One\nand two", None, "ada", None],
        ],
        "Links": [
            ["source", "target", "type", "mechanism", "confidence"],
            ["OC1", "G1", "CONTRIBUTES_TO", "It is clean", "high"],
        ],
        "Assumptions": [
            ["key", "node", "source", "target", "type", "assumption", "risk", "owner", "review_by"],
            ["AS1", None, "OC1", "G1", "CONTRIBUTES_TO", "There is water", None, None, None],
        ],
        "Indicators": [
            [*COLUMNS["indicators"]],  # type: ignore[index] # a sheet by its name
            ["IN1", "OC1", "Litres", None, None, -1.5, False, 5, None, None, None],
        ],
    }


def test_the_header_is_bold_and_stays_in_sight_and_columns_are_as_wide_as_reason_allows() -> None:
    sheet = open_workbook(theory_titled("x" * 500))["Factors"]

    assert sheet.freeze_panes == "A2"
    assert [cell.font.bold for cell in sheet[1]] == [True] * 7
    assert not any(cell.font.bold for cell in sheet[2])
    widths = [sheet.column_dimensions[letter].width for letter in "ABC"]
    assert widths == [COLUMN_CHARS_MIN, COLUMN_CHARS_MIN, COLUMN_CHARS_MAX]


@pytest.mark.parametrize("text", NO_TEXTS)
def test_a_text_stays_text_whatever_it_looks_like(text: str) -> None:
    assert (text, "s") in kinds(open_workbook(theory_titled(text)))


@given(any_theory())
@tries(12)
def test_every_cell_of_any_theory_is_there_and_no_text_is_anything_else(one: Theory) -> None:
    book = open_workbook(build_workbook(msgspec.json.decode(write_json(one), type=TheoryDocument)))

    expected = {
        sheet.capitalize(): [[*COLUMNS[sheet]], *([_as_stored(value) for value in row] for row in rows)]
        for sheet, rows in build_sheets(build_document(one)).items()
    }
    assert cells(book) == expected
    assert all(kind == {str: "s", bool: "b"}.get(type(value), "n") for value, kind in kinds(book))


def _as_stored(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.16g}")  # how openpyxl writes a number; spreadsheets show fewer digits still
    return value.replace("\r\n", "\n").replace("\r", "\n") or None if isinstance(value, str) else value


def test_characters_that_no_workbook_holds_break_nothing() -> None:
    assert (
        cells(open_workbook(theory_titled(f"a{NEVER_STORED}b\ud800")))["Factors"][1][2]
        == "a�������\x7f\x80\x85\x9f��b�"
    )


def test_a_text_that_looks_like_a_coded_letter_is_not_taken_for_one() -> None:
    with zipfile.ZipFile(io.BytesIO(theory_titled("a_x0041_x000D_ _x_ _x12_"))) as parts:
        assert b"<t>a_x005F_x0041_x005F_x000D_ _x_ _x12_</t>" in parts.read("xl/worksheets/sheet1.xml")


def test_line_ends_are_line_feeds_and_an_empty_text_is_no_cell() -> None:
    def described(description: str | None) -> bytes:
        return build_workbook(build_document(make_published(theory("G1", nodes={"G1": {"description": description}}))))

    assert described("a\r\nb\rc") == described("a\nb\nc") != described("a b c")
    assert described("") == described(None)


def test_the_longest_text_is_whole() -> None:
    text = "ab" * (TEXT_BYTES_MAX // 2)
    raw = build_workbook(build_document(make_published(theory("G1", nodes={"G1": {"description": text}}))))

    assert cells(open_workbook(raw))["Factors"][1][3] == text


def test_the_same_theory_gives_the_same_bytes_because_none_of_them_tells_the_time() -> None:
    document = build_document(make_published(whole_theory()))
    raw = build_workbook(document)

    assert build_workbook(document) == raw
    assert open_workbook(raw).properties.created == open_workbook(raw).properties.modified
    with zipfile.ZipFile(io.BytesIO(raw)) as parts:
        assert {part.date_time for part in parts.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert parts.read("docProps/core.xml").count(b">1980-01-01T00:00:00Z<") == 2


def test_an_empty_theory_is_four_headers() -> None:
    assert [len(rows) for rows in cells(open_workbook(build_workbook(TheoryDocument([])))).values()] == [1, 1, 1, 1]


# --- Commands --------------------------------------------------------------------------------------------------------


def test_the_answer_says_what_was_written(files: FileCommands) -> None:
    told = files("export", "--format", "xlsx", "--out", "theory", "--version", "draft", "--json").answer

    raw = Path("theory").read_bytes()
    assert told == {"file": "theory", "format": "xlsx", "version": 1, "bytes": len(raw)}
    assert files("export", "--out", "B.XLSX").out == f"Wrote B.XLSX: v1 as xlsx, {len(raw)} bytes.\n"
    assert Path("B.XLSX").read_bytes() == raw


def test_a_workbook_is_not_for_standard_output_and_not_written_over_a_file(files: FileCommands) -> None:
    Path("mine.xlsx").write_text("mine", encoding="utf-8")
    refused = [
        files("export", *words, "--json").error
        for words in (("--format", "xlsx"), ("--format", "xlsx", "--out", "-"), ("--out", "mine.xlsx"))
    ]

    assert refused == [(2, "usage")] * 3
    assert Path("mine.xlsx").read_text(encoding="utf-8") == "mine"
    assert files("export", "--out", "mine.xlsx", "--force").code == 0
    assert Path("mine.xlsx").read_bytes().startswith(b"PK")
    assert files("export", "--out", "none.xlsx", "--version", "9", "--json").error == (3, "not_found")
    assert not Path("none.xlsx").exists()


def test_without_the_extra_the_error_says_how_to_install_it_and_csv_is_written_still(
    files: FileCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)

    # Refused before a store is opened.
    refused = files("export", "--out", "theory.xlsx", "--db", "no.db", "--json")

    assert refused.error == (7, "extra_missing")
    assert "pip install 'groundplan[xlsx]'" in json.loads(refused.err)["error"]["message"]
    assert not Path("theory.xlsx").exists()
    assert files("export", "--out", "theory.csv").code == 0


def test_a_workbook_is_not_taken_in_and_the_advice_to_save_its_sheets_as_csv_works(
    files: FileCommands, run: Run
) -> None:
    files("export", "--out", "theory.xlsx")
    files("export", "--out", "before.json")
    run("project", "create", "borea")

    refused = [
        run("purpose", "import", "theory.xlsx", "--project", "borea", *words, "--json")
        for words in ((), ("--format", "csv"), ("--format", "xmpz2"), ("--format", "json"))
    ]
    assert [one.error for one in refused] == [(2, "usage"), *[(2, "unreadable_file")] * 3]
    assert all("save its sheets as CSV and import those files" in one.err for one in refused)
    assert run("purpose", "import", "theory.xlsx", "--project", "borea", "--format", "xlsx").code == 2

    names = []
    for title, rows in cells(load_workbook("theory.xlsx")).items():
        names.append(f"{title}.csv")
        with Path(names[-1]).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(rows)
    taken = run("purpose", "import", *names, "--project", "borea", "--json").answer

    assert taken["skipped"] == []
    run("purpose", "export", "--project", "borea", "--out", "after.json")
    before, after = (read_native(Path(f"{name}.json").read_bytes()).document for name in ("before", "after"))
    before.nodes[1].description = "One\nand two"
    assert after == before


def test_help_tells_of_the_format_and_what_it_needs(files: FileCommands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    about = FORMATS[FileFormat.XLSX]

    shown = files.run("purpose", "export", "--help").out

    said = " ".join(shown.split())
    assert f"xlsx {about.description} (.xlsx) keeps {about.keeps} loses {about.loses}" in said
    assert "groundplan[xlsx]" in about.description
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.slow
def test_who_writes_no_workbook_and_no_png_loads_neither_library(files: FileCommands) -> None:
    script = (
        "import sys\n"
        "from groundplan.__main__ import main\n"
        "words = ('--project', 'atlas', '--db', 'groundplan.db')\n"
        "assert main(('purpose', 'export', *words, '--out', 'theory.csv')) == 0\n"
        "assert main(('purpose', 'render', *words, '--svg', 'theory.svg')) == 0\n"
        "print(*sorted(name.partition('.')[0] for name in sys.modules))"
    )

    ended = subprocess.run((sys.executable, "-c", script), capture_output=True, text=True, check=True)

    assert not {"openpyxl", "resvg_py"} & set(ended.stdout.split())
