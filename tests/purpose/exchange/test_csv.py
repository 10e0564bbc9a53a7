"""Theories as CSV sheets: nothing is lost, and no cell is a formula."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from msgspec.structs import replace

from groundplan.kernel.input_gate.strict_json import INTEGER_MAX
from groundplan.purpose.exchange.readers.sheets import read_csv
from groundplan.purpose.exchange.theory import Theory
from groundplan.purpose.exchange.writers.sheets import COLUMNS, write_csv
from groundplan.purpose.model import TEXT_BYTES_MAX
from tests.purpose.exchange.foreign_files import expected_fields, fields_of, read_or_none
from tests.purpose.exchange.sheets import cells_of, read, titles
from tests.purpose.exchange.theory_strategies import NEVER_STORED, any_theory, make_published, tries
from tests.purpose.theories import theory

FORMULAS = ("=1+1", "+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "\uff1d1", "\uff0b1", "\uff0d1", "\uff20a")
GUARDED = (*FORMULAS, "\ttab", "\rreturn", "\nfeed", "'quoted", "''twice")


def make_storable(one: Theory) -> Theory:
    """Return the theory with metadata that the input gate accepts: bounded integers and length."""

    def kept(value: Any) -> Any:
        if isinstance(value, list):
            return [kept(item) for item in value]
        return float(value) if isinstance(value, int) and abs(value) > INTEGER_MAX else value

    nodes = {}
    for key, node in one.content.nodes.items():
        metadata = {name: kept(value) for name, value in node.metadata.items()}
        is_short = len(msgspec.json.encode(metadata)) <= TEXT_BYTES_MAX
        nodes[key] = replace(node, metadata=metadata if is_short else {})
    return one._replace(content=one.content._replace(nodes=nodes))


def test_the_sheets_are_four_with_their_headers_and_an_empty_line_between_them() -> None:
    assert write_csv(make_published(theory("AC1 -> OP1"))).split("\r\n") == [
        "key,type,title,description,narrative,owner,metadata",
        "OP1,OUTPUT,what OP1 is,,,,",
        "AC1,ACTIVITY,what AC1 is,,,,",
        "",
        "source,target,type,mechanism,confidence",
        "AC1,OP1,CONTRIBUTES_TO,,",
        "",
        "key,node,source,target,type,assumption,risk,owner,review_by",
        "",
        "key,node,name,unit,direction,baseline,baseline_verified,target,method,frequency,owner",
        "",
    ]


@given(any_theory().map(make_storable))
@tries(15)
def test_every_field_of_any_theory_comes_back(one: Theory) -> None:
    reading = read_or_none(read_csv, write_csv(one).encode())

    assert (reading is None) == (not one.content.nodes)
    if reading is not None:
        assert fields_of(reading) == expected_fields(one)
        assert reading.skipped == []


@given(any_theory())
@tries(10)
def test_no_text_leaves_its_cell_or_becomes_a_formula(one: Theory) -> None:
    text = write_csv(one)
    rows = cells_of(text)
    content = one.content

    assert text.endswith("\r\n")
    assert not text.endswith("\r\n\r\n\r\n")
    sizes = [len(content.nodes), len(content.edges), len(content.assumptions), len(content.indicators)]
    widths = [
        width
        for columns, size in zip(COLUMNS.values(), sizes, strict=True)
        for width in (*[len(columns)] * (size + 1), 0)
    ]
    assert [len(row) for row in rows] == widths[:-1]
    for cell in (cell for row in rows for cell in row):
        is_number = cell.lstrip("-").replace(".", "").replace("e", "").replace("+", "").replace("-", "").isdigit()
        assert is_number or not cell.lstrip().startswith(("=", "+", "-", "@"))


@pytest.mark.parametrize("text", GUARDED)
def test_what_begins_like_a_formula_is_guarded_and_comes_back_without_its_guard(text: str) -> None:
    sheets = write_csv(make_published(theory("AC1", nodes={"AC1": {"description": text}})))

    assert cells_of(sheets)[1][3] == f"'{text}"
    assert read(sheets).document.nodes[0].description == text


def test_a_negative_number_and_a_truth_stay_what_they_are() -> None:
    one = make_published(
        theory("G1", indicators={"IN1": {"on": "G1", "baseline": -3, "baseline_verified": True, "target": -0.5}})
    )

    assert "IN1,G1,how many,,,-3,true,-0.5,,,\r\n" in write_csv(one)


def test_characters_that_no_store_keeps_break_nothing() -> None:
    odd = NEVER_STORED.replace("\x00", "")  # which shows a wrong encoding
    sheets = write_csv(make_published(theory("AC1", nodes={"AC1": {"title": f"a{odd}b"}})))

    assert cells_of(sheets)[1][2] == f"a{odd}b"
    assert titles(read(sheets)) == {"AC1": "ab"}


def test_an_apostrophe_of_somebody_else_stays() -> None:
    assert titles(read("key,title\na,'t is so\nb,'=1")) == {"a": "'t is so", "b": "=1"}


def test_cycles_and_links_that_lead_down_come_in_as_they_are() -> None:
    one = make_published(theory("AC1 -> OP1 -> AC1", "G1 -> AC1", "AC1->OP1/FEEDBACK"))
    assert len(read(write_csv(one)).document.edges) == 4
