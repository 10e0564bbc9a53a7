"""Strict JSON: the rules for every value, independent of its type.

`decode` parses bytes, `validate_value` checks Python values; both reject the same things. SQLite and PostgreSQL can
store accepted text and return it unchanged. A few scans of the raw bytes accept most requests; values are checked
one by one only if a scan finds something suspect.
"""

from __future__ import annotations

import re
from functools import cache
from json import JSONDecodeError, JSONDecoder
from math import isfinite
from typing import Any, NoReturn

from groundplan.kernel.errors import Invalid
from groundplan.kernel.wording import QUOTED_CHARS_MAX, ArgumentPath, format_argument_path, quote_text

BODY_BYTES_MAX = 1 << 20
DEPTH_MAX = 32
INTEGER_MAX = 1 << 53  # above it, a float (every number in JavaScript) cannot represent every integer


def decode(raw: bytes, *, levels_above: int = 0, bytes_max: int = BODY_BYTES_MAX) -> Any:
    """Return the value of one strict JSON document; `levels_above` is its depth in an outer document."""
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
    if may_hold_raw_control(raw) and (control := re.search(_CONTROL, text)):
        raise _control_character(control[0], **_locate(text, control.start()))
    # Without the escaped backslashes, every backslash that is left starts an escape.
    plain = raw.replace(b"\\\\", b"__") if b"\\" in raw else raw
    if is_too_deep(raw, plain, levels_above):
        raise _too_deep()
    decoder = _get_checking_decoder() if may_hold_unsafe_number(raw) else _get_fast_decoder()
    try:
        value = decoder.decode(text)
    except ValueError as error:
        if not isinstance(error, JSONDecodeError):
            raise
        raise Invalid(
            f"the request is not JSON at line {error.lineno}, column {error.colno}: {error.msg}; "
            "send exactly one JSON document",
            code="invalid_json",
            line=error.lineno,
            column=error.colno,
        ) from None
    if b"\\" in plain and re.search(_SUSPECT_ESCAPE, plain):
        _check_value(value, ())
    return value


def validate_value(value: Any) -> None:
    """Raise Invalid for a value that `decode` would reject."""
    import msgspec  # not at module level: the first answer of a server needs only `decode`

    _check_value(value, ())
    size_bytes = len(msgspec.json.encode(value))
    if size_bytes > BODY_BYTES_MAX:
        raise _too_large(size_bytes)


# These patterns are compiled by the first text that needs one; most processes have none.
_CONTROL = "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
_CONTROL_OR_SURROGATE = "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]"
_ASCII_CONTROL = bytes({*range(0x20), 0x7F} - set(b"\t\n\r"))

# Escapes of a control character or of an unpaired surrogate.
_SUSPECT_ESCAPE = rb"""(?xi)\\(?:[bf]
    |u00(?:0[0-8bcef]|1|7f|[89])
    |ud[89ab][0-9a-f]{2}(?!\\ud[c-f])
    |(?<!\\ud[89ab][0-9a-f]{2}\\)ud[c-f])"""

# Every digit becomes 0 and both exponent letters become e.
_TO_DIGIT_RUNS = bytes.maketrans(b"123456789E", b"000000000e")
_DIGIT_RUN = b"0" * 16  # 2^53 has 16 digits

# Keeps only brackets and quotes, and turns braces into square brackets.
_TO_SKELETON = bytes.maketrans(b"{}", b"[]")
_NOT_SKELETON = bytes(set(range(256)) - set(b'[]{}"'))
_SKELETON_TEXT = rb'"[^"]*"'


def may_hold_raw_control(raw: bytes) -> bool:
    """Return False if a document has no raw control character except tab, line feed and carriage return."""
    # In UTF-8, only the control characters U+0080 to U+009F start with C2.
    return b"\xc2" in raw or len(raw.translate(None, _ASCII_CONTROL)) != len(raw)


def may_hold_unsafe_number(raw: bytes) -> bool:
    """Return False if all numbers of a document are finite and all integers are within the limit."""
    # An integer out of range has many digits; an infinite float has many digits or an exponent.
    runs = raw.translate(_TO_DIGIT_RUNS)
    return b"0e" in runs or _DIGIT_RUN in runs


def is_too_deep(raw: bytes, plain: bytes, levels_above: int = 0) -> bool:
    """Return True if a document is nested too deeply. `plain` is the document without escaped backslashes."""
    # So few brackets cannot be nested too deep, whatever their order.
    may_be_too_deep = levels_above + raw.count(b"{") + raw.count(b"[") > DEPTH_MAX
    return may_be_too_deep and levels_above + _measure_depth(plain) > DEPTH_MAX


def _measure_depth(plain: bytes) -> int:
    """Return the nesting depth: exact for JSON, and never too low for other text.

    Each round removes the innermost pairs of brackets, so the number of rounds is the depth. Brackets without a partner
    (not JSON, or too deep) are all counted.
    """
    if b"\\" in plain:
        plain = plain.replace(b'\\"', b"__")
    # Adjacent quotes are removed first; this does not change which brackets are inside strings.
    skeleton = plain.translate(_TO_SKELETON, _NOT_SKELETON).replace(b'""', b"")
    if b'"' in skeleton:
        skeleton = re.sub(_SKELETON_TEXT, b"", skeleton)
    for rounds in range(DEPTH_MAX):
        peeled = skeleton.replace(b"[]", b"")
        if len(peeled) == len(skeleton):
            return rounds + skeleton.count(b"[")
        skeleton = peeled
    return DEPTH_MAX + skeleton.count(b"[")


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        names: set[str] = set()
        for key, _ in pairs:
            if key in names:
                raise _duplicate_key(key)
            names.add(key)
    return members


def _duplicate_key(key: str) -> Invalid:
    return Invalid(
        f"the key {quote_text(key)} appears twice in one object; send it once",
        code="duplicate_key",
        field=format_argument_path((key,)),
    )


def _parse_integer(literal: str) -> int:
    # 2^53 has 16 digits, plus a sign. A longer literal is rejected before int(), which raises its own error for
    # thousands of digits.
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


@cache
def _get_fast_decoder() -> JSONDecoder:
    return JSONDecoder(object_pairs_hook=_build_object, parse_constant=_reject_constant)


@cache
def _get_checking_decoder() -> JSONDecoder:
    return JSONDecoder(
        object_pairs_hook=_build_object,
        parse_int=_parse_integer,
        parse_float=_parse_float,
        parse_constant=_reject_constant,
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
            item_path = (*path, key)
            _check_text(key, item_path)
            _check_value(item, item_path)
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
    match = re.search(_CONTROL_OR_SURROGATE, text)
    if match is None:
        return
    if match[0] >= "\ud800":
        raise Invalid(
            f"{format_argument_path(path)} is not UTF-8 or has half of a surrogate pair; send complete characters",
            code="invalid_text",
            field=format_argument_path(path),
        )
    raise _control_character(match[0], field=format_argument_path(path))


def _control_character(character: str, **details: Any) -> Invalid:
    where = details.get("field") or f"line {details['line']}, column {details['column']}"
    return Invalid(
        f"{where} contains the control character U+{ord(character):04X}; "
        "remove it; only tab, line feed and carriage return are allowed",
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
    location: dict[str, Any] = {"field": format_argument_path(path)} if path else {}
    return Invalid(
        f"arrays and objects are nested more than {DEPTH_MAX} levels deep; send a flatter structure",
        code="too_deep",
        limit=DEPTH_MAX,
        **location,
    )


def _invalid_number(number: str, path: ArgumentPath = ()) -> Invalid:
    location: dict[str, Any] = {"field": format_argument_path(path)} if path else {}
    if len(number) > QUOTED_CHARS_MAX:
        number = f"{number[:QUOTED_CHARS_MAX]}…"
    return Invalid(
        f"{number} is not a number that can be stored: numbers must be finite and integers within ±2^53; "
        "send such a value as a string",
        code="invalid_number",
        limit=INTEGER_MAX,
        **location,
    )


def _not_json(value: Any, path: ArgumentPath) -> Invalid:
    return Invalid(
        f"{format_argument_path(path)} contains a {type(value).__name__}, which is not JSON; "
        "use objects with string keys, arrays, strings, numbers, booleans and null",
        code="invalid_value",
        field=format_argument_path(path),
    )
