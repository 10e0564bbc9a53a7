"""CSV of other programs: separators, line ends, quotes, encodings and limits."""

from __future__ import annotations

import csv
import io

import pytest

from groundplan.purpose.exchange.readers.sheets import read_csv
from tests.purpose.exchange.foreign_files import count_skipped, error_of, fields_of
from tests.purpose.exchange.sheets import WHOLE, cells_of, read, titles


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_separators_and_line_ends_are_told_from_the_file(separator: str, line_end: str) -> None:
    rows = ['key|type|title|"size,,,,or;;;;so"', 'G1|goal|"One, or; more"|3']
    reading = read(line_end.join(["", *rows]).replace("|", separator))

    assert titles(reading) == {"G1": "One, or; more"}
    assert count_skipped(reading) == {("column", "unknown in a sheet of factors"): 1}


def test_each_sheet_may_have_a_separator_of_its_own() -> None:
    reading = read("key;type;title\na;goal;A, then B\n\nsource,target\na,b\n\nkey\ttype\ttitle\nb\tgoal\tB; so\n")

    assert titles(reading) == {"a": "A, then B", "b": "B; so"}
    assert len(reading.document.edges) == 1
    assert reading.skipped == []


def test_a_header_of_one_column_has_the_separator_of_the_sheet_before_it() -> None:
    assert titles(read("key;type;title\na;goal;A\n;;\ntitle\nB, then C\n"))["B, then C"] == "B, then C"


@pytest.mark.parametrize("said", ["sep=;\n", "SEP=;\r\n", '"sep=;"\n', "\ufeffsep=;\n", "\n\nsep=;\n", "sep=;;;\n"])
def test_a_line_that_says_the_separator_is_understood(said: str) -> None:
    reading = read(f"{said}key;type;title, or, what, it, is, called\nG1;goal;One\n")

    assert [one.key for one in reading.document.nodes] == ["G1"]
    assert count_skipped(reading) == {("column", "unknown in a sheet of factors"): 1}


def test_a_separator_that_is_said_may_be_any_and_holds_for_what_follows() -> None:
    reading = read("sep=|\nkey|type|title\na|goal|A, B; C\n||\nsource|target\na|b\n\nkey,type,title\nb,goal,D|E\n")

    assert titles(reading) == {"a": "A, B; C", "b": "D|E"}
    assert len(reading.document.edges) == 1


def test_sep_without_a_separator_is_a_row_as_any() -> None:
    assert titles(read("title\nsep=a\nsep=\nsep=;\n")) == {"sep=a": "sep=a", "sep=": "sep=", "sep=;": "sep=;"}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_files_are_utf_8_or_say_otherwise(encoding: str) -> None:
    assert titles(read_csv("key,type,title\nG1,goal,Bücher 漢字".encode(encoding))) == {"G1": "Bücher 漢字"}


def test_another_encoding_is_refused_with_the_place() -> None:
    assert "not UTF-8 at byte 24" in error_of(read_csv, "key,type,title\nG1,goal,Bücher".encode("latin-1"))


def test_an_empty_line_in_a_cell_does_not_end_its_sheet() -> None:
    reading = read('key,type,title,description\nG1,goal,One,"a\n\nkey,type\n\nb"\nG2,goal,Two,\n')

    assert titles(reading) == {"G1": "One", "G2": "Two"}
    assert reading.document.nodes[0].description == "a\n\nkey,type\n\nb"


def test_a_file_that_a_spreadsheet_filled_up_with_empty_cells_is_the_same_file() -> None:
    rows = cells_of(WHOLE)
    filled = io.StringIO()
    csv.writer(filled, delimiter=";").writerows([*row, *[""] * (11 - len(row))] for row in rows)

    assert fields_of(read(filled.getvalue())) == fields_of(read(WHOLE))
    assert read(filled.getvalue()).skipped == []


def test_a_quote_that_is_left_open_refuses_the_file_with_its_line() -> None:
    open_ = 'key,type,title\nG1,goal,"One"\nG2,goal,"Two\nG3,goal,Three\n'
    assert error_of(read_csv, open_.encode()).startswith("line 3 has a quote that is not closed at the end of its cell")
    assert "line 2" in error_of(read_csv, b'key,type,title\nG1,goal,"the "big" one"\n')


def test_quotes_inside_of_a_plain_cell_and_spaces_around_a_quoted_one_are_understood() -> None:
    assert titles(read('key,type,title\na,goal,5" pipe\nb,goal, "x, y" \n')) == {"a": '5" pipe', "b": "x, y"}


def test_a_cell_of_any_length_is_shortened_and_the_limit_of_the_csv_module_stays_what_it_was() -> None:
    before = csv.field_size_limit()
    reading = read(f'key,type,title,description\nG1,goal,One,"{"ab," * 100_000}"')

    assert len((reading.document.nodes[0].description or "").encode()) <= 16_384
    assert count_skipped(reading) == {("description", "longer than 16384 bytes; shortened"): 1}
    assert csv.field_size_limit() == before


# The rest would be refused as well, if it were read.
LEFT_OPEN = '\n\n"left open'


@pytest.mark.parametrize(
    ("limit", "text", "why"),
    [
        ("CELLS_MAX", "a" + "," * 10, "more than 5 cells"),
        ("CELLS_MAX", "a\n" * 10, "more than 5 cells"),
        ("COLUMNS_MAX", "a,b,c,d,e,f\n", "more than 5 columns"),
        ("BLOCKS_MAX", "title\n\n" * 7, "more than 5 sheets"),
        ("BLOCKS_MAX", '""\n' * 7, "more than 5 sheets"),
        ("ITEMS_MAX", "title\n" + "a\n" * 6, "more than 5 rows of one sheet"),
        ("ITEMS_MAX", "month\n" + "May\n" * 6, "more than 5 rows of one sheet"),
    ],
)
def test_far_too_much_is_refused_as_soon_as_it_is(
    monkeypatch: pytest.MonkeyPatch, limit: str, text: str, why: str
) -> None:
    monkeypatch.setattr(f"groundplan.purpose.exchange.readers.sheets.{limit}", 5)

    assert why in error_of(read_csv, (text + LEFT_OPEN).encode())


def test_as_much_as_there_may_be_comes_in(monkeypatch: pytest.MonkeyPatch) -> None:
    for limit, count in {"CELLS_MAX": 11, "COLUMNS_MAX": 2, "BLOCKS_MAX": 2, "ITEMS_MAX": 2}.items():
        monkeypatch.setattr(f"groundplan.purpose.exchange.readers.sheets.{limit}", count)

    assert titles(read("key,title\na,A\nb,B\n\n\n , ,,,\nfrom,to\na,b")) == {"a": "A", "b": "B"}


def test_empty_lines_and_rows_of_separators_cost_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundplan.purpose.exchange.readers.sheets.CELLS_MAX", 4)

    assert titles(read("title\na\n" + "\r\n ;\t,\u00a0\n" * 1_000 + "b")) == {"a": "a"}


def test_a_sort_in_several_sheets_is_counted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundplan.purpose.exchange.readers.sheets.ITEMS_MAX", 3)

    assert "more than 3 factors" in error_of(read_csv, b"title\na\nb\n\ntitle\nc\nd\n")
