"""Native files of any origin: invalid ones are refused with one of two known errors."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.kernel.errors import Invalid
from groundplan.purpose.exchange.document import ITEMS_MAX, TheoryDocument, build_document, write_json
from groundplan.purpose.exchange.formats import READABLE, FileFormat
from groundplan.purpose.exchange.readers.builder import FILE_BYTES_MAX, ReadDocument, UnreadableFile
from groundplan.purpose.exchange.readers.files import read_file, read_native
from groundplan.purpose.exchange.theory import Theory
from tests.purpose.exchange.foreign_files import damaged_files
from tests.purpose.exchange.theory_strategies import any_theory, hostile_text, make_published, make_waiver, tries
from tests.purpose.theories import theory, whole_theory

THEORY = make_published(whole_theory(), waivers=[make_waiver("GA_LEAP", ["AC1->OP1"])])
WHOLE = write_json(THEORY).encode()
NODE = {"key": "G1", "node_type": "GOAL", "title": "Health"}


def read(document: Any) -> ReadDocument:
    return read_native(json.dumps(document).encode())


def error_of(document: Any) -> Invalid:
    with pytest.raises(Invalid) as refused:
        read_file(FileFormat.JSON, document if isinstance(document, bytes) else json.dumps(document).encode())
    return refused.value


def test_what_was_written_is_read_whole_and_written_again_byte_for_byte() -> None:
    reading = read_file(FileFormat.JSON, WHOLE)

    assert reading.document == build_document(THEORY)
    assert reading.skipped == []
    again = msgspec.json.decode(msgspec.json.encode(reading.document))
    assert again == {**json.loads(WHOLE), "measurements": []}  # which belong to no version


@given(any_theory())
@tries(10)
def test_any_theory_is_read_as_it_was_written(one: Theory) -> None:
    raw = write_json(one).encode()
    if b"1152921504606846976" in raw:  # which no gate accepts
        assert "not a number that can be stored" in error_of(raw).message
    else:
        assert read_native(raw).document == build_document(one)


def test_a_file_needs_nodes_and_nothing_else() -> None:
    document = read({"nodes": []}).document

    assert document == TheoryDocument([])
    assert error_of({}).details["field"] == "nodes"
    assert error_of({"edges": []}).details["field"] == "nodes"


@pytest.mark.parametrize("format_", [2, 0, "2", 1.5, True])
def test_another_version_of_the_format_is_refused(format_: Any) -> None:
    assert error_of({"format": format_, "nodes": []}).details["field"] == "format"


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({"nodes": [], "colour": 1}, "colour"),
        ({"nodes": [{**NODE, "colour": 1}]}, "nodes[0].colour"),
        ({"nodes": [], "edges": [{"source": "a", "target": "b", "kind": "x"}]}, "edges[0].kind"),
        ({"nodes": [NODE, {"key": "G2", "title": "x"}]}, "nodes[1].node_type"),
        ({"nodes": [{**NODE, "node_type": "Goal!"}]}, "nodes[0].node_type"),
        ({"nodes": [{**NODE, "key": ""}]}, "nodes[0].key"),
        ({"nodes": [{**NODE, "key": "a" * 129}]}, "nodes[0].key"),
        ({"nodes": [{**NODE, "title": "a" * 501}]}, "nodes[0].title"),
        ({"nodes": [{**NODE, "description": "a" * 16_385}]}, "nodes[0].description"),
        ({"nodes": [{**NODE, "metadata": []}]}, "nodes[0].metadata"),
        (
            {"nodes": [NODE], "indicators": [{"key": "IN1", "node": "G1", "name": "x", "target": "many"}]},
            "indicators[0].target",
        ),
        ({"nodes": [NODE], "assumptions": [{"key": "AS1", "assumption_text": " "}]}, "assumptions[0].assumption_text"),
        (
            {"nodes": [NODE], "waivers": [{"code": "x", "refs": "G1", "reason": "x", "owner": "x", "due": "x"}]},
            "waivers[0].refs",
        ),
        ({"nodes": [NODE], "profile": "lax"}, "profile"),
        ({"nodes": "none"}, "nodes"),
        ({"nodes": [NODE] * (ITEMS_MAX + 1)}, "nodes"),
    ],
)
def test_what_is_malformed_is_refused_with_its_place(document: Any, field: str) -> None:
    assert error_of(document).details["field"] == field


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"", "it is not JSON at line 1"),
        (b"{", "it is not JSON at line 1"),
        (b'{"nodes": []} {}', "exactly one JSON document"),
        (b'{"nodes": [], "nodes": []}', "the key 'nodes' appears twice"),
        (b'{"nodes": [{"key": "G1", "key": "G2"}]}', "the key 'key' appears twice"),
        (b'{"nodes": ' + b"[" * 100 + b"]" * 100 + b"}", "nested more than 32 levels"),
        (b"[" * 100_000, "nested more than 32 levels"),
        (b'{"nodes": [' + b"9" * 5_000 + b"]}", "is not a number that can be stored"),
        (b'{"nodes": [1e999]}', "is not a number that can be stored"),
        (b'{"nodes": [-Infinity]}', "is not a number that can be stored"),
        (b'{"nodes": ["\\ud800"]}', "half of a surrogate pair"),
        (b'{"nodes": ["\\u0000"]}', "control character"),
        (b'{"nodes": ["\x00"]}', "control character"),
        ('{"nodes": ["Bücher"]}'.encode("latin-1"), "it is not UTF-8 at byte 13"),
        ("{}".encode("utf-16-le"), "control character"),
        (b"\xff\xfe{", "it is not UTF-16"),
        (b"\x89PNG\r\n", "it is not UTF-8 at byte 0"),
    ],
)
def test_what_is_no_strict_json_is_refused_with_the_reason(raw: bytes, why: str) -> None:
    refused = error_of(raw)

    assert isinstance(refused, UnreadableFile)
    assert why in refused.message
    assert refused.message.endswith("; nothing was imported")
    assert "request" not in refused.message


@pytest.mark.parametrize("value", [None, 1, "x", [], [{"nodes": []}], True])
def test_what_is_no_object_is_refused(value: Any) -> None:
    error_of(value)


def test_a_file_may_be_as_large_as_the_limit_and_no_larger() -> None:
    fields = b'{"nodes": []}'
    assert read_file(FileFormat.JSON, fields + b" " * (1 << 20)).document.nodes == []
    for one in READABLE:
        with pytest.raises(UnreadableFile, match="more than 67108864 bytes"):
            read_file(one, bytes(FILE_BYTES_MAX + 1))


def test_a_file_may_be_utf_16_or_begin_with_a_byte_order_mark() -> None:
    for raw in (b"\xef\xbb\xbf" + WHOLE, WHOLE.decode().encode("utf-16")):
        assert read_native(raw) == read_native(WHOLE)


def test_what_leads_nowhere_is_left_to_whoever_takes_it_in() -> None:
    reading = read(
        {"nodes": [NODE, NODE], "edges": [{"source": "G1", "target": "G9"}, {"source": "G1", "target": "G1"}]}
    )

    assert len(reading.document.edges) == len(reading.document.nodes) == 2


_PIECES = (b'"', b"{", b"[", b"]", b",", b":", b"\\", b"null", b"1e999", b'"nodes": [],', b'"format": 2,', b"9" * 40)
_names = st.sampled_from([*NODE, "nodes", "edges", "source", "target", "metadata", "refs", "due", "profile", "format"])
_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["GOAL", "G1", "x"]) | hostile_text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_names | hostile_text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.binary(max_size=60) | damaged_files(WHOLE, _PIECES))
@tries(30)
def test_whatever_a_file_holds_it_is_read_or_refused(raw: bytes) -> None:
    _read_or_refuse(raw)


@given(st.fixed_dictionaries({"nodes": st.lists(st.just(NODE) | _values, max_size=2)}, optional={
    sort: st.lists(_values, max_size=2) for sort in ("edges", "assumptions", "indicators", "waivers", "metadata")
}))  # fmt: skip
@tries(20)
def test_whatever_values_stand_in_a_document_it_is_read_or_refused(document: dict[str, Any]) -> None:
    _read_or_refuse(json.dumps(document).encode())


def _read_or_refuse(raw: bytes) -> None:
    try:
        reading = read_file(FileFormat.JSON, raw)
    except Invalid:
        return
    assert reading.skipped == []
    assert read_native(msgspec.json.encode(reading.document)) == reading


def test_a_theory_of_many_nodes_is_read() -> None:
    many = make_published(theory(*(f"AC{n} -> OP{n}" for n in range(1, 1_001))))

    assert len(read_native(write_json(many).encode()).document.edges) == 1_000
