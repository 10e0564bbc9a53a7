"""Foreign and damaged files: how they are made, and what readers may return for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import strategies as st

from groundplan.kernel.input_gate.request import parse_request
from groundplan.kernel.input_gate.strict_json import BODY_BYTES_MAX, validate_value
from groundplan.purpose.exchange.document import TheoryDocument, build_document
from groundplan.purpose.exchange.readers.builder import ReadDocument, UnreadableFile, normalize_line
from groundplan.purpose.exchange.theory import Theory

Reader = Callable[[bytes], ReadDocument]

_WORDS = ("title", "name", "owner", "unit", "frequency")
_SORTS = ("nodes", "edges", "assumptions", "indicators")


def read_or_none(read: Reader, raw: bytes) -> ReadDocument | None:
    """Return what a reader reads, or None if it refuses the file; fail on any other outcome."""
    try:
        reading = read(raw)
    except UnreadableFile:
        return None
    assert_within_limits(reading)
    return reading


def assert_within_limits(reading: ReadDocument) -> None:
    """Assert that the document is a valid request and refers only to its own parts."""
    plain = msgspec.to_builtins(reading.document)
    if len(msgspec.json.encode(plain)) <= BODY_BYTES_MAX:
        validate_value(plain)
    assert parse_request(plain, TheoryDocument) == reading.document, "admitting it changed it"
    nodes = {one.key for one in reading.document.nodes}
    edges = {(one.source, one.target, one.edge_type) for one in reading.document.edges}
    assert len(nodes) == len(reading.document.nodes)
    assert len(edges) == len(reading.document.edges)
    assert all({source, target} <= nodes and source != target for source, target, _ in edges)
    for one in reading.document.assumptions:
        assert (one.node in nodes) != ((one.source, one.target, one.edge_type) in edges)
    assert all(one.node in nodes for one in reading.document.indicators)


def error_of(read: Reader, raw: bytes) -> str:
    """Return why a file is refused."""
    with pytest.raises(UnreadableFile) as refused:
        read(raw)
    return refused.value.message


def count_skipped(reading: ReadDocument) -> dict[tuple[str, str], int]:
    """Return how many things were skipped, by kind and reason."""
    return {(one.what, one.why): one.count for one in reading.skipped}


def expected_fields(theory: Theory) -> dict[str, Any]:
    """Return every field of a theory's nodes, edges, assumptions and indicators, without blank texts."""
    plain: dict[str, Any] = msgspec.to_builtins(build_document(theory))
    for one in (one for sort in _SORTS for one in plain[sort]):
        for field, value in [*one.items()]:
            if field in _WORDS:
                one[field] = normalize_line(value)
            elif isinstance(value, str) and not value.strip():
                del one[field]
    return {sort: plain[sort] for sort in _SORTS}


def fields_of(reading: ReadDocument) -> dict[str, Any]:
    """Return the same fields of a document that was read."""
    plain: dict[str, Any] = msgspec.to_builtins(reading.document)
    return {sort: plain[sort] for sort in _SORTS}


@st.composite
def damaged_files(draw: st.DrawFn, whole: bytes, pieces: tuple[bytes, ...]) -> bytes:
    """Draw a file with lost, doubled or overwritten parts, or with a wrong encoding."""
    raw = whole
    for _ in range(draw(st.integers(1, 4))):
        at, until = sorted(draw(st.tuples(st.integers(0, len(raw)), st.integers(0, len(raw)))))
        other = draw(st.sampled_from(pieces) | st.binary(max_size=4))
        match draw(st.sampled_from(["insert", "replace", "lose", "double", "cut"])):
            case "insert":
                raw = raw[:at] + other + raw[at:]
            case "replace":
                raw = raw[:at] + other + raw[at + len(other) :]
            case "lose":
                raw = raw[:at] + raw[min(until, at + 40) :]
            case "double":
                raw = raw[:at] + raw[at:until] + raw[at:]
            case "cut":
                raw = raw[:until]
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return raw
    return draw(st.sampled_from([raw, text.encode("utf-16"), b"\xef\xbb\xbf" + raw, text.encode("utf-16-le")]))
