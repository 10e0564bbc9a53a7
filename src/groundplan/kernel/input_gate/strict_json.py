"""One JSON document, or a refusal: the rules that hold for every value before anybody asks what it means.

`decode` takes bytes from a wire, `validate_value` takes values that a caller in this process built; both refuse the
same things. Text that passes can be stored by SQLite and PostgreSQL alike and comes back unchanged. The usual
request is cleared by a few scans over the raw bytes; values are walked only when a scan found something.
"""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import Any, NoReturn

from groundplan.kernel.errors import Invalid
from groundplan.kernel.wording import QUOTED_CHARS_MAX, ArgumentPath, format_argument_path, quote_text

BODY_BYTES_MAX = 1 << 20
DEPTH_MAX = 32
INTEGER_MAX = 1 << 53  # beyond it a float, so every JavaScript client, cannot tell neighbours apart


def decode(raw: bytes, *, levels_above: int = 0, bytes_max: int = BODY_BYTES_MAX) -> Any:
    """The value of one strict JSON document, which may itself stand some levels deep in another one.

    Raises:
        Invalid: it is too large, is not UTF-8 or JSON, is nested too deep, repeats a key, or holds a number
            or a character that cannot be kept.
    """
    if len(raw) > bytes_max:
        raise _too_large(len(raw), bytes_max)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Invalid(
            f"the request is not UTF-8 at byte {error.start}; send it as UTF-8",
            code="invalid_utf8",
            offset_bytes=error.start,
        ) from None
    if _may_hold_raw_control(raw) and (found := _CONTROL.search(text)):
        raise _control_character(found[0], **_locate(text, found.start()))
    # With each escaped backslash blanked, every backslash that is left begins an escape.
    plain = raw.replace(b"\\\\", b"__") if b"\\" in raw else raw
    if levels_above + _measure_depth(plain) > DEPTH_MAX:
        raise _too_deep()
    decoder = _CHECKING_DECODER if _may_hold_unsafe_number(raw) else _FAST_DECODER
    try:
        value = decoder.decode(text)
    except json.JSONDecodeError as error:
        raise Invalid(
            f"the request is not JSON at line {error.lineno}, column {error.colno}: {error.msg}; "
            "send exactly one JSON document",
            code="invalid_json",
            line=error.lineno,
            column=error.colno,
        ) from None
    if b"\\" in plain and _SUSPECT_ESCAPE.search(plain):
        _check_value(value, ())
    return value


def validate_value(value: Any) -> None:
    """Refuse a decoded value that `decode` would not have let through."""
    import msgspec  # not at import: a server's first answer needs `decode` alone, and waits for nothing else

    _check_value(value, ())
    size_bytes = len(msgspec.json.encode(value))
    if size_bytes > BODY_BYTES_MAX:
        raise _too_large(size_bytes)


_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_CONTROL_OR_SURROGATE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_ASCII_CONTROL = bytes({*range(0x20), 0x7F} - set(b"\t\n\r"))

# Escapes that stand for a control character or for half of a surrogate pair.
_SUSPECT_ESCAPE = re.compile(
    rb"""\\(?:[bf]
    |u00(?:0[0-8bcef]|1|7f|[89])
    |ud[89ab][0-9a-f]{2}(?!\\ud[c-f])
    |(?<!\\ud[89ab][0-9a-f]{2}\\)ud[c-f])""",
    re.VERBOSE | re.IGNORECASE,
)

# Every digit becomes 0 and both exponent letters become e.
_TO_DIGIT_RUNS = bytes.maketrans(b"123456789E", b"000000000e")
_DIGIT_RUN = b"0" * 16  # as many as 2^53 has

# Everything but brackets and quotes is dropped, and the two kinds of bracket become one.
_TO_SKELETON = bytes.maketrans(b"{}", b"[]")
_NOT_SKELETON = bytes(set(range(256)) - set(b'[]{}"'))
_SKELETON_TEXT = re.compile(rb'"[^"]*"')


def _may_hold_raw_control(raw: bytes) -> bool:
    # U+0080 to U+009F are the only control characters that UTF-8 spells with C2 in front.
    return b"\xc2" in raw or len(raw.translate(None, _ASCII_CONTROL)) != len(raw)


def _may_hold_unsafe_number(raw: bytes) -> bool:
    # An integer out of range is a run of digits; an infinite float is one too, or has an exponent.
    runs = raw.translate(_TO_DIGIT_RUNS)
    return b"0e" in runs or _DIGIT_RUN in runs


def _measure_depth(plain: bytes) -> int:
    """How deep the document nests; exact for JSON, never too low for anything else.

    Each round removes the innermost pairs, so the rounds are the depth. What cannot be paired (not JSON, or
    deeper than is allowed) counts in full.
    """
    if b"\\" in plain:
        plain = plain.replace(b'\\"', b"__")
    # Two quotes in a row go first: that changes for no bracket whether it stands inside a string.
    skeleton = plain.translate(_TO_SKELETON, _NOT_SKELETON).replace(b'""', b"")
    if b'"' in skeleton:
        skeleton = _SKELETON_TEXT.sub(b"", skeleton)
    for rounds in range(DEPTH_MAX):
        peeled = skeleton.replace(b"[]", b"")
        if len(peeled) == len(skeleton):
            return rounds + skeleton.count(b"[")
        skeleton = peeled
    return DEPTH_MAX + skeleton.count(b"[")


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _duplicate_key(key)
            seen.add(key)
    return found


def _duplicate_key(twice: str) -> Invalid:
    return Invalid(
        f"the key {quote_text(twice)} stands twice in one object; send it once",
        code="duplicate_key",
        field=format_argument_path((twice,)),
    )


def _parse_integer(literal: str) -> int:
    # 2^53 has 16 digits and there may be a sign. A longer literal is refused unread: int() would answer
    # thousands of digits with an error of its own.
    if len(literal) > 17 or abs(number := int(literal)) > INTEGER_MAX:
        raise _invalid_number(literal)
    return number


def _parse_float(literal: str) -> float:
    number = float(literal)
    if not isfinite(number):
        raise _invalid_number(literal)
    return number


def _reject_constant(literal: str) -> NoReturn:
    raise _invalid_number(literal)


_FAST_DECODER = json.JSONDecoder(object_pairs_hook=_build_object, parse_constant=_reject_constant)
_CHECKING_DECODER = json.JSONDecoder(
    object_pairs_hook=_build_object, parse_int=_parse_integer, parse_float=_parse_float, parse_constant=_reject_constant
)


def _check_value(value: Any, path: ArgumentPath) -> None:
    if isinstance(value, str):
        _check_text(value, path)
    elif isinstance(value, dict):
        if len(path) >= DEPTH_MAX:
            raise _too_deep(path)
        for key, item in value.items():
            if not isinstance(key, str):
                raise _not_json(key, path)
            place = (*path, key)
            _check_text(key, place)
            _check_value(item, place)
    elif isinstance(value, list | tuple):
        if len(path) >= DEPTH_MAX:
            raise _too_deep(path)
        for index, item in enumerate(value):
            _check_value(item, (*path, index))
    elif isinstance(value, int):
        if abs(value) > INTEGER_MAX:
            raise _invalid_number(f"an integer of {value.bit_length()} bits", path)
    elif isinstance(value, float):
        if not isfinite(value):
            raise _invalid_number(repr(value), path)
    elif value is not None:
        raise _not_json(value, path)


def _check_text(text: str, path: ArgumentPath) -> None:
    if text.isprintable():
        return
    found = _CONTROL_OR_SURROGATE.search(text)
    if found is None:
        return
    if found[0] >= "\ud800":
        raise Invalid(
            f"{format_argument_path(path)} holds half of a surrogate pair, which is no character; "
            "send whole characters",
            code="invalid_text",
            field=format_argument_path(path),
        )
    raise _control_character(found[0], field=format_argument_path(path))


def _control_character(character: str, **details: Any) -> Invalid:
    where = details.get("field") or f"line {details['line']}, column {details['column']}"
    return Invalid(
        f"{where} holds the control character U+{ord(character):04X}; "
        "remove it, only tab, line feed and carriage return are allowed",
        code="control_character",
        **details,
    )


def _locate(text: str, offset: int) -> dict[str, int]:
    return {"line": text.count("\n", 0, offset) + 1, "column": offset - text.rfind("\n", 0, offset)}


def _too_large(size_bytes: int, limit_bytes: int = BODY_BYTES_MAX) -> Invalid:
    return Invalid(
        f"the request has {size_bytes} bytes, the limit is {limit_bytes}; send it in smaller batches",
        code="too_large",
        limit_bytes=limit_bytes,
        actual_bytes=size_bytes,
    )


def _too_deep(path: ArgumentPath = ()) -> Invalid:
    place: dict[str, Any] = {"field": format_argument_path(path)} if path else {}
    return Invalid(
        f"arrays and objects are nested more than {DEPTH_MAX} levels deep; send a flatter structure",
        code="too_deep",
        limit=DEPTH_MAX,
        **place,
    )


def _invalid_number(shown: str, path: ArgumentPath = ()) -> Invalid:
    place: dict[str, Any] = {"field": format_argument_path(path)} if path else {}
    if len(shown) > QUOTED_CHARS_MAX:
        shown = f"{shown[:QUOTED_CHARS_MAX]}…"
    return Invalid(
        f"{shown} is not a number that can be kept: numbers are finite and integers lie within ±2^53; "
        "send such a value as a string",
        code="invalid_number",
        limit=INTEGER_MAX,
        **place,
    )


def _not_json(value: Any, path: ArgumentPath) -> Invalid:
    return Invalid(
        f"{format_argument_path(path)} holds a {type(value).__name__}, which is not JSON; "
        "use objects with string keys, arrays, strings, numbers, booleans and null",
        code="invalid_value",
        field=format_argument_path(path),
    )
