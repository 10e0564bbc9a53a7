"""Edit JSON as text: add or remove one member without changing any other character.

Editors allow comments and trailing commas in their settings, so both are read here. Settings belong to people: a file
that was parsed and written again would lose its comments and its layout.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from json.decoder import scanstring  # type: ignore[attr-defined] # missing in the type stubs only
from typing import Any, NoReturn

from groundplan.repository.rules.rule import detect_line_breaks

DEPTH_MAX = 100
INDENT_DEFAULT = "  "
BYTE_ORDER_MARK = "\ufeff"

_IGNORED = re.compile(r"(?:[ \t\r\n]|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_REST_OF_LINE = re.compile(r"(?:[ \t]|/\*[^\n]*?\*/)*(?://[^\r\n]*)?(?=\r?\n)")
_SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")


class BrokenJson(ValueError):
    """The text is not JSON. The reason is a predicate that follows the name of the file."""

    def __init__(self, text: str, at: int, reason: str) -> None:
        line = text.count("\n", 0, at) + 1
        column = at - text.rfind("\n", 0, at)
        self.reason = f"is not valid JSON at line {line}, column {column}: {reason}"
        super().__init__(self.reason)


@dataclass(slots=True)
class JsonMember:
    """A member of an object: the start of its name, the end of its value, and the value."""

    start: int
    end: int
    value: Any


@dataclass(slots=True)
class JsonObject:
    """An object in a text, with the positions of its braces and its members."""

    start: int
    end: int = 0
    members: dict[str, JsonMember] = field(default_factory=dict)

    def decode(self) -> dict[str, Any]:
        """Return the object as a dictionary."""
        return {name: _decode(member.value) for name, member in self.members.items()}


def parse(text: str) -> JsonObject:
    """Return the object in a text."""
    reader = _Reader(text)
    value = reader.read_value(0)
    reader.skip()
    if reader.at < len(text):
        reader.refuse("there is more text after the value")
    if not isinstance(value, JsonObject):
        raise BrokenJson(text, 0, "the value is not an object")
    return value


def read_member(text: str, names: Sequence[str]) -> Any:
    """Return the decoded value at a path of names, or None if there is none."""
    value: Any = parse(text).decode()
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def add_member(text: str, names: Sequence[str], value: Any) -> str:
    """Return the text with a new member at a path of names. Missing objects on the path are added, too."""
    parent = parse(text)
    missing = list(names)
    while len(missing) > 1 and missing[0] in parent.members:
        member = parent.members[missing.pop(0)]
        if not isinstance(member.value, JsonObject):
            raise BrokenJson(text, member.start, "an object was expected here")
        parent = member.value
    for name in reversed(missing[1:]):
        value = {name: value}
    return _insert_first(text, parent, missing[0], value)


def remove_member(text: str, names: Sequence[str]) -> str:
    """Return the text without the member at a path of names. The member must exist."""
    parent = parse(text)
    for name in names[:-1]:
        parent = parent.members[name].value
    member = parent.members[names[-1]]
    end, has_comma = _skip_comma(text, member.end)
    before = max((sibling.end for sibling in parent.members.values() if sibling.end < member.start), default=None)
    text = _cut_line(text, member.start, end)
    if before is None or has_comma:
        return text
    after_comma, _ = _skip_comma(text, before)  # the last one: the comma before it goes too
    return text[: after_comma - 1] + text[after_comma:]


def format_member(name: str, value: Any, indent: str, unit: str) -> str:
    """Return a member on several lines. Lists are on one line."""
    return f"{_dump(name)}: {_format_value(value, indent, unit)}"


def _insert_first(text: str, parent: JsonObject, name: str, value: Any) -> str:
    """Insert a member before all others, so that no other comma changes."""
    inside = parent.start + 1
    first = min((member.start for member in parent.members.values()), default=None)
    outer = _get_indent(text, parent.start)
    if first is not None and "\n" not in text[inside:first]:
        return f"{text[:first]}{_dump(name)}: {_dump(value)}, {text[first:]}"
    unit = _detect_indent(text)
    breaks = detect_line_breaks(text)
    indent = outer + unit if first is None else _get_indent(text, first)
    added = f"\n{indent}{format_member(name, value, indent, unit)}{'' if first is None else ','}"
    rest = _REST_OF_LINE.match(text, inside)
    if rest is None:  # an empty object on one line
        added += f"\n{outer}"
    at = inside if rest is None else rest.end()
    return text[:at] + added.replace("\n", breaks) + text[at:]


def _cut_line(text: str, start: int, end: int) -> str:
    """Remove a part with the line break before it if it begins a line, else with the blanks after it."""
    indent = _get_indent(text, start)
    begin = start - len(indent)
    if begin and text[begin - 1] == "\n" and text[begin:start] == indent:
        begin -= 2 if text[begin - 2 : begin] == "\r\n" else 1
        return text[:begin] + text[end:]
    return text[:start] + text[end:].removeprefix(" ")


def _skip_comma(text: str, end: int) -> tuple[int, bool]:
    """Return the end of a member with its comma, and True if there is a comma."""
    match = _IGNORED.match(text, end)
    at = match.end() if match else end
    return (at + 1, True) if text[at : at + 1] == "," else (end, False)


def _get_indent(text: str, at: int) -> str:
    """Return the blanks at the beginning of the line at a position."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _detect_indent(text: str) -> str:
    match = re.search(r"\{[^\S\n]*\n([ \t]+)\"", text)
    return match[1] if match else INDENT_DEFAULT


def _format_value(value: Any, indent: str, unit: str) -> str:
    if not isinstance(value, dict):
        return _dump(value)
    inner = indent + unit
    lines = ",\n".join(f"{inner}{format_member(name, item, inner, unit)}" for name, item in value.items())
    return f"{{\n{lines}\n{indent}}}"


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _decode(value: Any) -> Any:
    if isinstance(value, JsonObject):
        return value.decode()
    return [_decode(item) for item in value] if isinstance(value, list) else value


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0

    def skip(self) -> str:
        """Skip blanks and comments. Return the next character; empty at the end."""
        match = _IGNORED.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return self.text[self.at : self.at + 1]

    def refuse(self, reason: str) -> NoReturn:
        raise BrokenJson(self.text, self.at, reason)

    def read_value(self, depth: int) -> Any:
        if depth > DEPTH_MAX:
            self.refuse("it is nested too deeply")
        match self.skip():
            case "{":
                return self._read_object(depth)
            case "[":
                return self._read_list(depth)
            case '"':
                return self._read_string()
            case "":
                self.refuse("the text ends too early")
        match = _SCALAR.match(self.text, self.at)
        if match is None:
            self.refuse("a value was expected")
        self.at = match.end()
        return json.loads(match[0])

    def _read_object(self, depth: int) -> JsonObject:
        made = JsonObject(self.at)
        self.at += 1
        while self.skip() != "}":
            if self.text[self.at : self.at + 1] != '"':
                self.refuse("a name in quotes was expected")
            start = self.at
            name = self._read_string()
            if name in made.members:
                self.at = start
                self.refuse(f"the name {name!r} appears twice")
            if self.skip() != ":":
                self.refuse("a colon was expected")
            self.at += 1
            value = self.read_value(depth + 1)
            made.members[name] = JsonMember(start, self.at, value)
            self._read_separator("}")
        self.at += 1
        made.end = self.at
        return made

    def _read_list(self, depth: int) -> list[Any]:
        made: list[Any] = []
        self.at += 1
        while self.skip() != "]":
            made.append(self.read_value(depth + 1))
            self._read_separator("]")
        self.at += 1
        return made

    def _read_separator(self, closing: str) -> None:
        following = self.skip()
        if following == ",":
            self.at += 1
        elif following != closing:
            self.refuse(f"a comma or {closing} was expected")

    def _read_string(self) -> str:
        try:
            value, self.at = scanstring(self.text, self.at + 1, True)
        except ValueError:
            self.refuse("the text in quotes is not valid")
        return str(value)
