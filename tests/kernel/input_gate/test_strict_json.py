"""Which JSON documents are accepted, before their meaning is looked at."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.kernel.answers import encode
from groundplan.kernel.errors import Invalid
from groundplan.kernel.input_gate.strict_json import BODY_BYTES_MAX, DEPTH_MAX, INTEGER_MAX, decode, validate_value

# Half of the generated text is error-prone: quotes, backslashes, brackets and letters of escapes.
ADMISSIBLE_TEXT = st.text(
    st.characters(exclude_categories=("Cs", "Cc"))
    | st.sampled_from('\t\n\r"\\/bfu0189dDcC[]{}:,\u2028\u2029\U0001f600')
)
ADMISSIBLE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-INTEGER_MAX, INTEGER_MAX)
    | st.floats(allow_nan=False, allow_infinity=False)
    | ADMISSIBLE_TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(ADMISSIBLE_TEXT, inner),
    max_leaves=20,
)
ANY_TEXT = st.text(
    st.characters(exclude_categories=()) | st.sampled_from("\x00\x08\x0c\x7f\x85\ud83d\ude00\\ubd8c"),
    max_size=12,
)


def error_of(raw: bytes) -> Invalid:
    with pytest.raises(Invalid) as caught:
        decode(raw)
    return caught.value


def value_error(value: Any) -> Invalid:
    with pytest.raises(Invalid) as caught:
        validate_value(value)
    return caught.value


def outcome(gate: Callable[[Any], Any], value: Any) -> str:
    """Return the code with which a gate refuses a value."""
    try:
        gate(value)
    except Invalid as refusal:
        return refusal.code
    return "accepted"


def nested(levels: int) -> bytes:
    return b"[" * levels + b"]" * levels


def nested_value(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@given(ADMISSIBLE)
def test_whatever_may_be_kept_comes_back_equal_after_encoding_and_decoding(value: Any) -> None:
    validate_value(value)

    assert decode(encode(value)) == value


@given(ADMISSIBLE)
def test_escaping_every_character_changes_nothing(value: Any) -> None:
    assert decode(json.dumps(value, ensure_ascii=True).encode()) == value


@given(st.binary() | ANY_TEXT.map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_arbitrary_bytes_are_decoded_or_refused_and_nothing_else(raw: bytes) -> None:
    try:
        decode(raw)
    except Invalid as refusal:
        encode(refusal.to_dict())


@given(st.text(st.sampled_from('[]{}"\\:,1eE+-.Nabu0 \n'), max_size=40))
def test_scraps_of_json_are_decoded_like_the_standard_parser_does_or_refused(scrap: str) -> None:
    try:
        value = decode(scrap.encode())
    except Invalid:
        return
    assert value == json.loads(scrap)


@given(st.lists(ANY_TEXT, max_size=4))
def test_both_doors_refuse_the_same_text(texts: list[str]) -> None:
    raw = json.dumps(texts, ensure_ascii=True).encode()

    assert outcome(decode, raw) == outcome(validate_value, json.loads(raw))


@pytest.mark.parametrize("raw", [b'"\xff"', b'"\xc3"', b'"\xed\xa0\x80"', b'"\xc0\x80"'])
def test_bytes_that_are_not_utf8_are_refused(raw: bytes) -> None:
    assert error_of(raw).code == "invalid_utf8"


@pytest.mark.parametrize(
    "raw",
    [b"", b" ", b"{", b"[1,]", b"{'a': 1}", b"1 2", b"tru", b'"a\nb"', b'"\\x"', b"\xef\xbb\xbf1", b"01"],
)
def test_what_is_not_exactly_one_json_document_is_refused(raw: bytes) -> None:
    assert error_of(raw).code == "invalid_json"


def test_malformed_json_is_located_by_line_and_column() -> None:
    assert error_of(b'{\n  "a": nope}').details == {"line": 2, "column": 8}


@pytest.mark.parametrize("character", ["a", "ä", "\u20ac", "\U0001f600"])
def test_a_body_is_measured_in_bytes_and_may_have_exactly_one_mebibyte(character: str) -> None:
    def body(size_bytes: int) -> bytes:
        filling, rest = divmod(size_bytes - 2, len(character.encode()))
        return ('"' + character * filling + "x" * rest + '"').encode()

    assert len(decode(body(BODY_BYTES_MAX - 1)))
    assert len(decode(body(BODY_BYTES_MAX)))
    too_large = error_of(body(BODY_BYTES_MAX + 1))

    assert too_large.code == "too_large"
    assert too_large.details == {"limit_bytes": BODY_BYTES_MAX, "actual_bytes": BODY_BYTES_MAX + 1}


def test_a_value_that_was_never_bytes_has_the_same_size_limit() -> None:
    validate_value("ä" * (BODY_BYTES_MAX // 2 - 1))

    assert value_error("ä" * (BODY_BYTES_MAX // 2)).code == "too_large"


def test_nesting_may_have_exactly_32_levels() -> None:
    for levels in (DEPTH_MAX - 1, DEPTH_MAX):
        decode(nested(levels))
        validate_value(nested_value(levels))

    assert error_of(nested(DEPTH_MAX + 1)).code == "too_deep"
    assert value_error(nested_value(DEPTH_MAX + 1)).code == "too_deep"


def test_objects_and_arrays_count_alike_towards_the_depth() -> None:
    half = DEPTH_MAX // 2

    assert decode(b'[{"a":' * half + b"1" + b"}]" * half)
    assert error_of(b'[{"a":' * half + b"[]" + b"}]" * half).code == "too_deep"


def test_width_is_not_depth() -> None:
    assert len(decode(b"[" + b'{"a":[{}]},' * 5000 + b"0]")) == 5001


def test_brackets_inside_strings_are_not_depth() -> None:
    texts = ["[" * 100, '"' + "{" * 100, "\\" + "[" * 100, '\\"[', "]" * 3, '["', '"[', "\\", "[" * 100]

    assert decode(json.dumps(texts * 40).encode()) == texts * 40


@pytest.mark.parametrize(
    "bomb",
    [
        b"[" * 500_000,
        b'{"a":' * 100_000,
        nested(500_000),
        b'["",' * 100_000,
        b'["\\"",' * 100_000,
        b"[[]," * 200_000,
    ],
    ids=["open", "objects", "closed", "with strings", "with quotes", "with pairs"],
)
def test_a_bracket_bomb_is_refused_as_too_deep(bomb: bytes) -> None:
    assert error_of(bomb).code == "too_deep"


def test_a_value_that_contains_itself_is_refused_as_too_deep() -> None:
    snake: list[Any] = []
    snake.append(snake)

    assert value_error(snake).code == "too_deep"


@pytest.mark.parametrize("literal", ["NaN", "Infinity", "-Infinity", "1e999", "-1E+999", "1.0e400", "9" * 400 + ".0"])
def test_a_number_that_is_not_finite_is_refused(literal: str) -> None:
    assert error_of(f'{{"a": [{literal}]}}'.encode()).code == "invalid_number"


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_value_that_is_not_finite_is_refused_by_its_path(number: float) -> None:
    refusal = value_error({"a": [1.5, number]})

    assert (refusal.code, refusal.details["field"]) == ("invalid_number", "a[1]")


@pytest.mark.parametrize("sign", [1, -1])
def test_integers_reach_exactly_to_two_to_the_53(sign: int) -> None:
    for number in (sign * (INTEGER_MAX - 1), sign * INTEGER_MAX):
        assert decode(str(number).encode()) == number
        validate_value(number)

    beyond = sign * (INTEGER_MAX + 1)
    assert error_of(str(beyond).encode()).code == "invalid_number"
    assert value_error([beyond]).code == "invalid_number"


def test_a_literal_of_five_thousand_digits_is_refused_not_computed() -> None:
    refusal = error_of(b"[" + b"7" * 5000 + b"]")

    assert refusal.code == "invalid_number"
    assert len(refusal.message) < 250
    assert value_error(10**5000).code == "invalid_number"


def test_ordinary_numbers_keep_their_type() -> None:
    assert (
        repr(decode(b"[-0, 0, 7, 1e3, 1.5, -2.25, 123456789012345]"))
        == "[0, 0, 7, 1000.0, 1.5, -2.25, 123456789012345]"
    )


@pytest.mark.parametrize("raw", [b'{"a":1,"a":2}', b'[{"b":{"a":1,"x":0,"a":1}}]', b'{"\\u0061":1,"a":2}'])
def test_a_key_that_stands_twice_is_refused_by_name(raw: bytes) -> None:
    refusal = error_of(raw)

    assert (refusal.code, refusal.details) == ("duplicate_key", {"field": "a"})


def test_the_same_key_in_different_objects_is_fine() -> None:
    assert decode(b'[{"a":1},{"a":{"a":2}}]') == [{"a": 1}, {"a": {"a": 2}}]


CONTROLS = [*map(chr, {*range(0x20)} - {9, 10, 13}), *map(chr, range(0x7F, 0xA0))]


@pytest.mark.parametrize("control", CONTROLS, ids=lambda c: f"U+{ord(c):04X}")
def test_a_control_character_is_refused_raw_and_escaped_in_keys_and_in_values(control: str) -> None:
    escaped = f"\\u{ord(control):04x}"
    for spelled in (control, escaped, escaped.upper().replace("U", "u")):
        assert error_of(f'{{"a": "x{spelled}"}}'.encode()).code == "control_character"
        assert error_of(f'{{"x{spelled}": 1}}'.encode()).code == "control_character"
    assert value_error({"a": ["", control]}).details["field"] == "a[1]"
    assert value_error({control: 1}).code == "control_character"


@pytest.mark.parametrize("raw", [b'"\\b"', b'"\\f"', b'"\\\\\\b"'])
def test_the_short_escapes_of_control_characters_are_refused_too(raw: bytes) -> None:
    assert error_of(raw).code == "control_character"


def test_a_refused_control_character_is_located() -> None:
    assert error_of(b'{"a":\n "\x00"}').details == {"line": 2, "column": 3}
    assert error_of(b'{"nodes": [{}, {"summary": "\\u0000"}]}').details == {"field": "nodes[1].summary"}


def test_tab_line_feed_and_carriage_return_are_text() -> None:
    assert decode(b'{"a\\t": "\\u000a\\r\\n\\t"}') == {"a\t": "\n\r\n\t"}
    validate_value("\t\n\r")


def test_an_escaped_backslash_before_a_letter_is_no_escape() -> None:
    assert decode(rb'["C:\\bin\\u0000\\ud800", "\\\\f"]') == [r"C:\bin\u0000\ud800", r"\\f"]


@pytest.mark.parametrize(
    "raw",
    [
        rb'"\ud800"',
        rb'"\uDFFF"',
        rb'"\ud83d x \ude00"',
        rb'"\ude00\ud83d"',
        rb'"\ud83d\ud83d\ude00"',
        rb'"\ud83d\ude00\ude00"',
        rb'"\ud83d\\ude00"',
        rb'{"\ud83d": 1}',
    ],
)
def test_half_of_a_surrogate_pair_is_refused(raw: bytes) -> None:
    assert error_of(raw).code == "invalid_text"
    assert value_error(json.loads(raw)).code == "invalid_text"


def test_a_whole_surrogate_pair_is_one_character() -> None:
    assert decode(rb'"\ud83d\ude00\uD83D\uDE00"') == "\U0001f600\U0001f600"


@pytest.mark.parametrize("value", [{1: 2}, {"a": b"x"}, [dt.date(2030, 1, 1)], {1, 2}, object()])
def test_a_value_that_json_cannot_say_is_refused(value: Any) -> None:
    assert value_error(value).code == "invalid_value"


def test_a_refusal_can_always_be_sent_back() -> None:
    for value in ({"\ud800" * 100: "\x00"}, {"a\u2028\n": float("nan")}, ["\ud800"]):
        body = json.dumps(value_error(value).to_dict(), ensure_ascii=False)
        assert len(body.encode("utf-8").splitlines()) == 1
