"""The quick decoder of compact documents and the strict one accept, refuse and return the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from groundplan.kernel.answers import encode
from groundplan.kernel.errors import Invalid
from groundplan.kernel.input_gate import compact_json, strict_json
from tests.kernel.input_gate.test_strict_json import ADMISSIBLE, ANY_TEXT, nested

FRAGMENTS = st.sampled_from(
    [
        '{"a":1',
        '"a":2',
        "}",
        "[",
        "]",
        ",",
        ":",
        " ",
        "\t",
        '"a"',
        '"\x7f"',
        '"\\u0000"',
        "-0",
        "0.10",
        "1e9",
        "NaN",
        "é",
    ]
)


def decode_or_refuse(decode: Callable[[bytes], Any], raw: bytes) -> str:
    """Return the value with its types, or the refusal, as text."""
    try:
        return repr(decode(raw))
    except Invalid as refusal:
        return json.dumps(refusal.to_dict())


def assert_both_agree(raw: bytes) -> None:
    assert decode_or_refuse(compact_json.decode, raw) == decode_or_refuse(strict_json.decode, raw)


@given(ADMISSIBLE)
def test_a_compact_document_has_the_same_value(value: Any) -> None:
    assert_both_agree(encode(value))
    assert_both_agree(json.dumps(value).encode())


@given(st.lists(FRAGMENTS | ANY_TEXT, max_size=12).map("".join))
@example('{"a":1,"a":1}')
@example('{"a":{"b":[{"c":1,"c":2}]}}')
@example("9007199254740993")
@example("1e400")
@example('"\x85"')
def test_what_is_no_strict_document_is_refused_alike(text: str) -> None:
    assert_both_agree(text.encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("levels", [strict_json.DEPTH_MAX, strict_json.DEPTH_MAX + 1, 2_000])
def test_a_deep_document_is_refused_alike(levels: int) -> None:
    assert_both_agree(nested(levels))


def test_a_long_document_is_refused_alike() -> None:
    assert_both_agree(b'"' + b"x" * strict_json.BODY_BYTES_MAX + b'"')
    assert_both_agree(b"[" + b",".join([b"[1]"] * 1_000) + b"]")


def test_a_compact_document_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strict_json, "decode", None)
    assert compact_json.decode(b'{"updates":[{"node_id":"abcdef","resolved":true}]}')["updates"][0]["resolved"] is True
