"""The front matter of a rule file: the fields with patterns, and their syntax.

Cursor writes patterns unquoted and joined by commas (`globs: **/*.ts,src/**`), each in quotes (`globs: "a", "b"`), or
as a list. Patterns must be texts; what YAML reads as a number, a tag or a mapping is refused there.
"""

from __future__ import annotations

from typing import Any

from groundplan.front_matter import FENCE, Field, FieldText, Nested, UnreadableFrontMatter, parse_front, split_text

Fields = dict[str, str | list[str]]

PATTERN_FIELDS = ("paths", "globs", "applyTo")
_NULL_WORDS = ("", "~", "null", "Null", "NULL")
_TEXT_TAG = "tag:yaml.org,2002:str"


class UnreadableRule(Exception):
    """The file is not a readable rule. The reason is a predicate that follows the name of the file."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def split(text: str) -> tuple[str, str]:
    """Return the front matter of a text with both fences, or an empty text, and the rest of the text."""
    try:
        parts = split_text(text)
    except UnreadableFrontMatter as error:
        raise UnreadableRule(error.reason) from None
    return parts.front, parts.body


def parse_fields(front: str) -> Fields:
    """Return the fields of front matter. Fields without a value are left out."""
    for number, line in enumerate(front.split("\n"), 1):
        if any(not char.isprintable() and char < " " and char not in "\t\r" for char in line):
            raise UnreadableRule(f"has a control character in line {number}")
    try:
        fields = parse_front(front)
    except UnreadableFrontMatter as error:
        raise UnreadableRule(error.reason) from None
    read = {name: _convert(field) for name, field in fields.items()}
    return {name: value for name, value in read.items() if value != ""}


def is_true(value: str | list[str] | None) -> bool:
    """Return whether the value of a field is true."""
    return isinstance(value, str) and value.lower() == "true"


def parse_patterns(value: str | list[str]) -> tuple[str, ...]:
    """Return the patterns of a field: the items of a list, or of a text separated by commas."""
    patterns = tuple(value) if isinstance(value, list) else tuple(_split_at_commas(value))
    if not patterns:
        raise UnreadableRule("has a list of patterns with no pattern in it")
    return patterns


def find_patterns(fields: Fields, expected: str) -> str | list[str] | None:
    """Return the patterns in the tool's own field, else in another tool's field; None if there are none."""
    return next((fields[name] for name in (expected, *PATTERN_FIELDS) if fields.get(name)), None)


def quote(text: str) -> str:
    """Return a text in double quotes in the syntax of YAML."""
    return f'"{"".join(_escape(char) for char in text)}"'


def quote_if_needed(text: str) -> str:
    """Return a text without quotes if YAML reads it back unchanged, else in quotes."""
    import yaml

    line = f"description: {text}"
    expected = {"description": text}
    try:
        is_plain = parse_fields(f"{FENCE}\n{line}\n{FENCE}\n") == expected == yaml.safe_load(line)
    except (UnreadableRule, yaml.YAMLError, ValueError):
        is_plain = False
    return text if is_plain else quote(text)


def _escape(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    if char.isprintable():
        return char
    return f"\\u{ord(char):04x}" if ord(char) <= 0xFFFF else f"\\U{ord(char):08x}"


def _split_at_commas(text: str) -> list[str]:
    """Split a text at commas, except inside quotes, braces or brackets and after a backslash."""
    parts = [""]
    closing: list[str] = []
    is_escaped = False
    for char in text:
        if char == "," and not closing and not is_escaped:
            parts.append("")
            continue
        is_first = not parts[-1].strip()
        parts[-1] += char
        if is_escaped:
            is_escaped = False
        elif char == "\\":
            is_escaped = True
        elif closing and char == closing[-1]:
            closing.pop()
        elif char in "\"'" and is_first:
            closing.append(char)
        elif char == "{" and closing[-1:] in ([], ["}"]):
            closing.append("}")
        elif char == "[" and closing[-1:] in ([], ["}"]):
            closing.append("]")
    return [bare for part in parts if (bare := _unquote(part.strip()))]


def _unquote(part: str) -> str:
    """Return one of the patterns without the quotes around it."""
    is_quoted = len(part) > 1 and part[0] == part[-1] and part[0] in "\"'"
    return part[1:-1].strip() if is_quoted else part


def _convert(field: Field) -> str | list[str]:
    """Return the value of a field as a text or a list of texts."""
    if field.name in PATTERN_FIELDS:
        _check_patterns(field)
    if isinstance(field.value, tuple):
        return [] if Nested() in field.value else [text.text for text in field.value if isinstance(text, FieldText)]
    if isinstance(field.value, Nested):
        return []  # a field of another tool, which is ignored
    return "" if field.value.is_plain and field.value.text in _NULL_WORDS else field.value.text.rstrip("\n")


def _check_patterns(field: Field) -> None:
    """Refuse patterns that YAML does not read as text."""
    import yaml  # takes 30 ms, and only rule files need it

    loader: Any = yaml.SafeLoader("")
    is_list = isinstance(field.value, tuple)
    for item in field.value if isinstance(field.value, tuple) else (field.value,):
        if isinstance(item, FieldText) and not item.tag:
            if not item.is_plain or (item.text in _NULL_WORDS and not is_list):
                continue
            if loader.resolve(yaml.ScalarNode, item.text, (True, False)) == _TEXT_TAG:
                continue
        raise UnreadableRule(
            f"has {field.name} that are neither a text nor a list of texts; put the patterns into quotes"
        )
