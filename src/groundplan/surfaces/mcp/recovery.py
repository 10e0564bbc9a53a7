"""Find the request in a refused line, so that the error can have its id.

The request is never executed: the id, the method and the name of the tool only address the error. Of a line above the
limit there is a head and a tail. The head has the members up to the cut; the tail has those after large parameters,
where some clients put the id.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple, TypeAlias

from groundplan.surfaces.mcp.lines import HEAD_BYTES, TAIL_BYTES, TruncatedLine
from groundplan.surfaces.mcp.protocol import Message, parse_id

INTEGER_CHARS_MAX = 20  # 64 bits and a sign; no client counts further

Pairs: TypeAlias = list[tuple[str, Any]]


class RecoveredRequest(NamedTuple):
    """A request that was refused before it was read. If `is_whole` is False, parameters may be missing."""

    message: Message
    is_whole: bool


def recover_request(line: bytes | TruncatedLine) -> RecoveredRequest | None:
    """Return the request in a refused line; None if the line is not a request or its id is ambiguous."""
    if isinstance(line, TruncatedLine):
        return _to_request(_parse_truncated(line), is_whole=False)
    try:
        pairs = _parse_whole(line)
    except RecursionError:
        rest = line[HEAD_BYTES:]
        return _to_request(_parse_truncated(TruncatedLine(line[:HEAD_BYTES], rest[-TAIL_BYTES:])), is_whole=False)
    except ValueError:
        return None
    return _to_request(pairs, is_whole=True)


def _to_request(pairs: Pairs, *, is_whole: bool) -> RecoveredRequest | None:
    message = dict(pairs)
    is_request = message.get("jsonrpc") == "2.0" and type(message.get("method")) is str
    # With two ids it is unknown which one the client waits for.
    has_one_id = [key for key, _ in pairs].count("id") == 1 and parse_id(message) is not None
    return RecoveredRequest(message, is_whole) if is_request and has_one_id else None


def _parse_whole(line: bytes) -> Pairs:
    """Return the members of a message; duplicates are included."""
    pairs: Pairs = []

    def keep_pairs(of_object: Pairs) -> Message:
        nonlocal pairs
        pairs = of_object  # the outermost object comes last
        return dict(of_object)

    decoder = json.JSONDecoder(object_pairs_hook=keep_pairs, parse_int=_parse_integer, strict=False)
    return pairs if type(decoder.decode(line.decode())) is dict else []


def _parse_integer(literal: str) -> int | float:
    # int() refuses thousands of digits. Infinity is not an id.
    return int(literal) if len(literal) <= INTEGER_CHARS_MAX else float("inf")


_LENIENT = json.JSONDecoder(parse_int=_parse_integer, strict=False)

_STRING = rb'"[^"\\]*(?:\\.[^"\\]*)*"'
_OPENING = re.compile(rb"\s*\{")
_CLOSING = re.compile(rb"\s*\}")
_KEY = re.compile(rb"\s*(%b)\s*:\s*" % _STRING, re.DOTALL)
_SCALAR = re.compile(rb'%b|[^\s,:"\[\]{}]+(?=[\s,}])' % _STRING, re.DOTALL)
_BRACKET = re.compile(rb'%b|["\[\]{}]' % _STRING, re.DOTALL)
_AFTER_VALUE = re.compile(rb"\s*([,}])")

# Inside a string each quote would have a backslash before it, so a comma and then "id" are always a member; and the
# members right before the last bracket belong to the message itself.
_MEMBER = rb',\s*"(?:id|jsonrpc|method)"\s*:\s*(?:%b|-?[0-9]+)\s*' % _STRING
_LAST_MEMBERS = re.compile(rb"((?:%b)+)\}\s*\Z" % _MEMBER, re.DOTALL)


def _parse_truncated(line: TruncatedLine) -> Pairs:
    """Return the members in the beginning and the end of a message."""
    opening = _OPENING.match(line.head)
    if opening is None:
        return []
    pairs, end = _parse_members(line.head, opening.end(), open_key="params")
    if end is None and (last := _LAST_MEMBERS.search(line.tail)):
        pairs += _parse_members(last[1] + b"}", 1)[0]
    return pairs


def _parse_members(head: bytes, offset: int, *, open_key: str | None = None) -> tuple[Pairs, int | None]:
    """Return the members after an offset and the end of their object; None if it is cut off or not JSON.

    A member counts only if it is complete, but the object under `open_key` may be cut off.
    """
    pairs: Pairs = []
    if closing := _CLOSING.match(head, offset):
        return pairs, closing.end()
    while match := _KEY.match(head, offset):
        key, end = _decode_value(match[1]), None
        if key == open_key and head.startswith(b"{", match.end()):
            inner, end = _parse_members(head, match.end() + 1)
            value: Any = dict(inner)
        elif end := _find_end_of_value(head, match.end()):
            value = _decode_value(head[match.end() : end])
        else:
            break
        if key is _UNREAD or value is _UNREAD:
            break
        pairs.append((key, value))
        after = None if end is None else _AFTER_VALUE.match(head, end)
        if after is None:
            break
        if after[1] == b"}":
            return pairs, after.end()
        offset = after.end()
    return pairs, None


_UNREAD = object()


def _decode_value(raw: bytes) -> Any:
    try:
        return _LENIENT.decode(raw.decode())
    except (ValueError, RecursionError):
        return _UNREAD


def _find_end_of_value(head: bytes, offset: int) -> int | None:
    if scalar := _SCALAR.match(head, offset):
        return scalar.end()
    depth = 0
    for bracket in _BRACKET.finditer(head, offset):
        mark = bracket[0]
        if mark == b'"':  # a string without its end
            return None
        if mark in b"[{":
            depth += 1
        elif mark in b"]}":
            depth -= 1
            if depth <= 0:
                return bracket.end()
    return None
