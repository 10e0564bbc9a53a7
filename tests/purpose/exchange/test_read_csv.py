"""CSV sheets of others: what is read, what is left out, and what refuses a file."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.purpose.exchange.readers.builder import ReadDocument
from groundplan.purpose.exchange.readers.sheets import read_csv
from groundplan.purpose.model import EdgeType, NodeType
from tests.purpose.exchange.foreign_files import count_skipped, damaged_files, error_of, fields_of, read_or_none
from tests.purpose.exchange.sheets import WHOLE, read, titles
from tests.purpose.exchange.theory_strategies import hostile_text, tries

UNSAID = ("type", "not given; inferred from the position of the node")


def read_indicator(**cells: str) -> tuple[Any, ReadDocument]:
    """Read one indicator from its cells."""
    header = ",".join(["node", "name", *cells])
    row = ",".join(["G1", "how many", *(f'"{cell}"' for cell in cells.values())])
    reading = read(f"key,type,title\nG1,GOAL,g\n\n{header}\n{row}\n")
    return reading.document.indicators[0], reading


def test_sheets_may_come_in_any_order_and_a_sort_in_several() -> None:
    sheets = WHOLE.rstrip().split("\r\n\r\n")
    reading = read("\r\n\r\n".join([*reversed(sheets), "key,title,type\r\nOC9,More,outcome"]))

    expected = fields_of(read(WHOLE))
    expected["nodes"].append({"key": "OC9", "node_type": "OUTCOME", "title": "More"})
    assert fields_of(reading) == expected


def test_headers_are_known_by_what_people_call_them() -> None:
    reading = read(
        "ID, Name ,Node Type\na,Dig,Activities\nb,Well,Deliverable\n\n"
        "From,To,Label,Link type\na,b,so,depends on\n\n"
        "On,Text,Risk Level\na,it rains,high\n\n"
        "From,To,Text\na,b,it runs\n\n"
        "Factor,Indicator,Review-By,BASELINE\nb,depth,,7\n"
    )

    document = reading.document
    assert titles(reading) == {"a": "Dig", "b": "Well"}
    assert [(one.edge_type, one.mechanism) for one in document.edges] == [(EdgeType.DEPENDS_ON, "so")]
    assert [(one.key, one.node, one.risk_level) for one in document.assumptions] == [
        ("assumption 1", "a", "HIGH"),
        ("assumption 2", None, None),
    ]
    assert document.assumptions[1].edge_type is EdgeType.DEPENDS_ON
    assert [(one.key, one.name, one.baseline) for one in document.indicators] == [("indicator 1", "depth", 7)]
    assert count_skipped(reading) == {("column", "unknown in a sheet of indicators"): 1}


def test_a_header_that_could_be_of_two_sheets_is_of_the_one_that_needs_less_to_be_known() -> None:
    reading = read("node,name\na,A\nb,B\n\nid,name,from,to\n1,x,a,b\n")

    assert titles(reading) == {"a": "A", "b": "B"}
    assert len(reading.document.edges) == 1


def test_names_are_the_same_whatever_spaces_stand_around_them() -> None:
    reading = read("key,type,title\n a ,goal,A\nb,goal,B\n , ,\nsource,target\na , b\n")

    assert [(one.source, one.target) for one in reading.document.edges] == [("a", "b")]


def test_a_column_called_as_we_call_it_comes_before_one_that_is_meant() -> None:
    assert titles(read("label,title,key,type\nwrong,right,G1,goal")) == {"G1": "right"}


def test_factors_alone_are_enough_and_their_titles_name_them_where_there_are_no_keys() -> None:
    reading = read("title\nDig\nWell\n\nfrom,to\nDig,Well\n")

    assert titles(reading) == {"Dig": "Dig", "Well": "Well"}
    assert [one.node_type for one in reading.document.nodes] == [NodeType.OUTCOME, NodeType.GOAL]
    assert count_skipped(reading) == {UNSAID: 2}


def test_a_long_title_without_a_key_names_its_factor_by_its_beginning() -> None:
    assert titles(read(f"title\n{'ab' * 100}")) == {"ab" * 64: "ab" * 100}


def test_feedback_does_not_tell_where_a_node_stands() -> None:
    reading = read("title\na\nb\n\nfrom,to,type\na,b,\nb,a,feedback\n")

    assert [one.node_type for one in reading.document.nodes] == [NodeType.OUTCOME, NodeType.GOAL]


def test_a_type_that_is_none_is_told_from_where_the_node_stands() -> None:
    reading = read("key,type,title\na,Threat,A\nb,GOAL,B\n\nsource,target\na,b\n")

    assert [one.node_type for one in reading.document.nodes] == [NodeType.OUTCOME, NodeType.GOAL]
    assert count_skipped(reading) == {("type", "unknown value"): 1, UNSAID: 1}


def test_unknown_columns_and_cells_without_a_column_are_counted() -> None:
    reading = read("key,type,title,colour,,size\nG1,goal,One,red,here,2,there,,and there\nG2,goal\n")

    assert titles(reading) == {"G1": "One", "G2": ""}
    assert count_skipped(reading) == {
        ("column", "unknown in a sheet of factors"): 2,
        ("cell", "its column has no header"): 3,
    }


def test_rows_under_no_known_header_are_counted_and_left_out() -> None:
    reading = read("key,type,title\nG1,goal,One\n\nG2,goal,Two\n\nmonth,cost\nMay,3\n")

    assert titles(reading) == {"G1": "One"}
    assert count_skipped(reading) == {("row", "it follows an empty line instead of a known header"): 3}


@pytest.mark.parametrize("cell", ["NaN", "inf", "-Infinity", "1e400", "9" * 401, "1_000", "1,000", "٣", "80%", "0x10"])
def test_what_is_no_number_is_left_out_and_counted(cell: str) -> None:
    one, reading = read_indicator(baseline=cell, target="5")

    assert (one.baseline, one.target) == (None, 5)
    assert count_skipped(reading) == {("baseline", "not a number that can be stored"): 1}


@pytest.mark.parametrize(("cell", "number"), [("3,5", 3.5), ("-0", 0), (".5", 0.5), ("1e3", 1000), ("+2.", 2)])
def test_numbers_are_read_as_people_write_them(cell: str, number: float) -> None:
    assert read_indicator(baseline=cell)[0].baseline == number


def test_a_zero_comes_in_without_a_sign() -> None:
    assert str(read_indicator(baseline="-0")[0].baseline) == "0.0"


def test_what_is_no_choice_no_day_and_no_truth_is_left_out_and_counted() -> None:
    one, reading = read_indicator(direction="sideways", baseline_verified="perhaps")
    assert (one.direction, one.baseline_verified) == (None, None)
    assert count_skipped(reading) == {
        ("direction", "unknown value"): 1,
        ("baseline_verified", "neither true nor false"): 1,
    }

    reading = read(
        "key,type,title\na,goal,A\nb,goal,B\n\nsource,target,type,confidence\na,b,hinders,great\n\n"
        "node,assumption,risk,review_by\na,it rains,grave,31.12.2027\n"
    )
    assert reading.document.edges[0].edge_type is EdgeType.CONTRIBUTES_TO
    assert reading.document.assumptions[0].review_by is None
    assert count_skipped(reading) == {
        ("type of a link", "unknown value"): 1,
        ("confidence", "unknown value"): 1,
        ("risk", "unknown value"): 1,
        ("review_by", "not a date such as 2026-11-15"): 1,
    }


@pytest.mark.parametrize("cell", ["[1]", "{", '{"a":1,"a":2}', '{"a":NaN}', '{"a":9007199254740993}', "[" * 99])
def test_metadata_that_cannot_be_kept_is_left_out_and_counted(cell: str) -> None:
    quoted = cell.replace('"', '""')
    reading = read(f'key,type,title,metadata\nG1,goal,One,"{quoted}"')

    assert reading.document.nodes[0].metadata is None
    assert count_skipped(reading) == {("metadata", "not a JSON object that can be stored"): 1}


def test_metadata_is_as_deep_and_as_long_as_a_call_may_carry_it() -> None:
    deep = '{""a"":' * 29 + "1" + "}" * 29  # as deep as an edit accepts
    reading = read(f'key,type,title,metadata\nG1,goal,One,"{deep}"')
    assert reading.document.nodes[0].metadata
    assert not read(f'key,type,title,metadata\nG1,goal,One,"{{""a"":{deep}}}"').document.nodes[0].metadata
    long = '{""a"":""' + "b" * 16_384 + '""}'
    assert not read(f'key,type,title,metadata\nG1,goal,One,"{long}"').document.nodes[0].metadata


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32"])
def test_an_encoding_without_its_mark_is_refused_and_not_taken_for_text(encoding: str) -> None:
    assert "save it as UTF-8" in error_of(read_csv, "key,type,title\nG1,GOAL,x\n".encode(encoding))


def test_an_assumption_on_a_node_and_a_link_stays_on_the_node() -> None:
    reading = read(
        "key,type,title\na,goal,A\nb,goal,B\n\nsource,target\na,b\n\nnode,source,target,assumption\na,a,b,so\n"
    )

    (one,) = reading.document.assumptions
    assert (one.node, one.source) == ("a", None)
    assert count_skipped(reading) == {
        ("link of an assumption", "the assumption also names a node and is kept there"): 1
    }


def test_a_file_without_factors_is_refused_and_told_the_header_to_write() -> None:
    for raw in (b"", b"\n\n", b"\xff\xfe", b"month,cost\nMay,3\n", b"source,target\na,b\n"):
        assert "key,type,title,description,narrative,owner,metadata" in error_of(read_csv, raw)
    assert "contains nothing" in error_of(read_csv, b"key,type,title\n")


def test_two_things_with_one_name_refuse_the_file() -> None:
    assert "'G1'" in error_of(read_csv, b"key,type,title\nG1,goal,One\n G1 ,goal,Two\n")
    assert "'AS1'" in error_of(
        read_csv, b"key,type,title\nG1,goal,One\n\nkey,node,assumption\nAS1,G1,one\nAS1,G1,two\n"
    )


@given(
    st.binary(max_size=80)
    | damaged_files(WHOLE.encode(), (b'"', b'""', b",", b";", b"\n", b"\r\n\r\n", b"'=", b"key,"))
)
@tries(30)
def test_whatever_a_file_holds_it_comes_in_within_limits_or_is_refused(raw: bytes) -> None:
    read_or_none(read_csv, raw)


@given(st.lists(st.lists(hostile_text() | st.sampled_from(["key", "type", "title", "", "G1"]), max_size=4), max_size=6))
@tries(15)
def test_any_cells_under_a_header_come_in_within_limits_or_are_refused(rows: list[list[str]]) -> None:
    filled = io.StringIO()
    csv.writer(filled).writerows([["key", "type", "title", "metadata"], *rows, [], ["source", "target"], *rows])
    read_or_none(read_csv, filled.getvalue().encode())


def test_thousands_of_rows_of_each_sort_come_in() -> None:
    count = 2_000
    sheets = [
        ["key,type,title", *(f'N{n},,"Title, {n}"' for n in range(count))],
        ["source,target", *(f"N{n},N{n + 1}" for n in range(count - 1))],
        ["node,assumption", *(f"N{n},it holds" for n in range(count))],
        ["node,name,target", *(f"N{n},how many,{n}" for n in range(count))],
    ]
    document = read_csv("\n\n".join("\n".join(rows) for rows in sheets).encode()).document

    assert [len(sort) for sort in (document.nodes, document.edges, document.assumptions, document.indicators)] == [
        count,
        count - 1,
        count,
        count,
    ]
