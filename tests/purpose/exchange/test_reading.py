"""What all readers of files share: limits, names and strict JSON."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from groundplan.purpose.exchange.readers.builder import (
    EXAMPLES_MAX,
    DocumentBuilder,
    UnreadableFile,
    decode_json,
)
from groundplan.purpose.model import EdgeType, NodeType
from tests.purpose.exchange.foreign_files import count_skipped


def make_builder() -> DocumentBuilder:
    one = DocumentBuilder()
    for ref in ("a", "b", "c"):
        one.add_node(ref, NodeType.GOAL, ref)
    return one


@pytest.mark.parametrize(
    ("add", "why"),
    [
        (lambda one, n: one.add_node(f"n{n}", NodeType.GOAL, "x"), "more than 5 nodes"),
        (lambda one, n: one.add_edge("a", "bc"[n % 2], [*EdgeType][n // 2]), "more than 5 edges"),
        (lambda one, n: one.add_assumption(f"s{n}", "so", node="a"), "more than 5 assumptions"),
        (lambda one, n: one.add_indicator(f"i{n}", "a", "how many"), "more than 5 indicators"),
    ],
)
def test_the_first_thing_of_a_sort_that_is_too_many_refuses_the_file(
    monkeypatch: pytest.MonkeyPatch, add: Callable[[DocumentBuilder, int], None], why: str
) -> None:
    one = make_builder()
    monkeypatch.setattr("groundplan.purpose.exchange.readers.builder.ITEMS_MAX", 5)
    room = 2 if "nodes" in why else 5
    for n in range(room):
        add(one, n)
    assert one.build().document.nodes

    with pytest.raises(UnreadableFile, match=why):
        add(one, room)


def test_what_is_not_worth_going_on_for_refuses_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundplan.purpose.exchange.readers.builder.SKIPPED_MAX", 8)
    one = make_builder()
    for _ in range(8):
        one.add_edge("a", "nowhere")
    reading = one.build()

    assert count_skipped(reading) == {("edge", "its source or target is not among the nodes"): 8}
    assert len(reading.skipped[0].examples) == EXAMPLES_MAX
    with pytest.raises(UnreadableFile, match="more than 8 items that cannot be imported"):
        one.add_edge("a", "a")


@pytest.mark.parametrize("ref", ["", "a" * 129, "a\x00", "a\ud800", "a"])
def test_a_name_that_is_none_or_that_another_has_refuses_the_file(ref: str) -> None:
    with pytest.raises(UnreadableFile):
        make_builder().add_node(ref, NodeType.GOAL, "x")


@pytest.mark.parametrize(
    "text", [b"[1, 2, [3], {}]", "[1, 2, [3], {}]".encode("utf-16"), b"\xef\xbb\xbf[1, 2, [3], {}]"]
)
def test_json_is_read_in_any_encoding_that_a_file_says(text: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    assert decode_json(text) == [1, 2, [3], {}]
    monkeypatch.setattr("groundplan.purpose.exchange.readers.builder.PIECES_MAX", 8)
    with pytest.raises(UnreadableFile, match="more than 8 commas and brackets"):
        decode_json(text)


def test_json_that_grows_beyond_the_limit_when_it_is_decoded_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundplan.purpose.exchange.readers.builder.FILE_BYTES_MAX", 30)

    with pytest.raises(UnreadableFile, match="it has 38 bytes, the limit is 30"):
        decode_json(('"' + "漢" * 12 + '"').encode("utf-16"))
