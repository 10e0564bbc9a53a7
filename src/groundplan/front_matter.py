"""Front matter: fields between two lines of `---` at the top of a text file.

It is nearly YAML, but tools also write what YAML refuses: `globs: **/*.ts` is an alias there, `globs: "a", "b"` is more
than one value, and `assignee: [@name]` begins with a reserved sign. So this parser knows the forms that are in use and
reads the rest as plain text; only what stands in quotes or behind `|` and `>` is read by PyYAML:

    title: plain text   # a comment
      that may continue below
    title: 'single' or "double" quotes, with escapes
    title: >-
      folded text, or literal text after |
    labels: [one, "two"]
    labels:
      - one
      - "two"

It resolves no types, tags or aliases, and what is nested deeper has no content. Each character is read a bounded number
of times and no call recurses into the text, so the time grows with its length only.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

FENCE = "---"
FRONT_CHARS_MAX = 65_536
DEPTH_MAX = 8  # of brackets; a list in a field has depth one
NAME_CHARS_MAX = 128
BLANKS = " \t"
WHITESPACE = (*BLANKS, "\n")  # between the items of a list; to YAML all other blanks are text
DOCUMENT_END = "..."  # YAML writes it behind a last text whose empty lines count

_CLOSING = {"[": "]", "{": "}"}
_QUOTED = {"'": re.compile(r"'(?:[^']|'')*+'"), '"': re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)}
_BLOCK_SIGN = re.compile(r"[|>](?:[+-]?[1-9]?|[1-9][+-])")


class UnreadableFrontMatter(Exception):
    """The front matter cannot be read. The reason is a predicate that follows the name of the file."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


class MalformedValue(Exception):
    """The value of a field has no end, or is nested too deeply. The reason follows "has a value that"."""


@dataclass(frozen=True, slots=True)
class SplitText:
    """The front matter with both fences, or an empty text, and the rest of the file."""

    front: str
    body: str

    @property
    def body_line(self) -> int:
        """The line number at which the body begins."""
        return self.front.count("\n") + 1


def split_text(text: str) -> SplitText:
    """Split a text with LF as line breaks. Front matter, or the whole file, may be indented."""
    first, _, rest = text.partition("\n")
    if first.strip() != FENCE:
        return SplitText("", text)
    end = len(first) + 1
    for line in rest.split("\n"):
        end += len(line) + 1
        if line.strip() == FENCE:
            break
        if end > FRONT_CHARS_MAX:
            raise UnreadableFrontMatter(1, f"has front matter of more than {FRONT_CHARS_MAX} characters")
    else:
        raise UnreadableFrontMatter(1, f"opens with {FENCE}, but its front matter has no second {FENCE}")
    front, body = text[:end], text[end:]
    if first.startswith((" ", "\t")):
        return SplitText(textwrap.dedent(front), textwrap.dedent(body))
    return SplitText(front, body)


@dataclass(frozen=True, slots=True)
class FieldText:
    """A text. It is plain if it had no quotes; its tag (`!name`), if any, comes before it."""

    text: str
    is_plain: bool = True
    tag: str = ""


@dataclass(frozen=True, slots=True)
class Nested:
    """A value that is neither a text nor a list of texts."""


Value = FieldText | Nested | tuple[FieldText | Nested, ...]


@dataclass(frozen=True, slots=True)
class Field:
    """A field, its line in the file, and its value."""

    name: str
    line: int
    value: Value

    @property
    def text(self) -> str:
        """The value as one text: the items of a list are joined by commas, and a nested value is empty."""
        return ", ".join(self.texts)

    @property
    def texts(self) -> list[str]:
        """The value as a list of texts, without empty and nested items."""
        items = self.value if isinstance(self.value, tuple) else (self.value,)
        return [item.text for item in items if isinstance(item, FieldText) and item.text]


def parse_front(front: str) -> dict[str, Field]:
    """Return the fields of front matter that still has both fences."""
    return parse_fields("\n".join(front.rstrip("\n").split("\n")[1:-1]), first_line=2)


def parse_fields(text: str, *, first_line: int = 1) -> dict[str, Field]:
    """Return the fields of a text without fences, as in a configuration file."""
    lines = textwrap.dedent(text.replace("\r", "")).split("\n")
    fields: dict[str, Field] = {}
    position = 0
    while position < len(lines):
        begin = position
        position += 1
        if _is_empty(lines[begin]):
            continue
        if lines[begin].rstrip(BLANKS) == DOCUMENT_END and all(map(_is_empty, lines[position:])):
            break
        name, rest = _split_name(lines[begin], first_line + begin)
        if name in fields:
            raise UnreadableFrontMatter(first_line + begin, f"has the field {name} twice in its front matter; keep one")
        while position < len(lines) and _continues(lines[position]):
            position += 1
        try:
            value = _parse_value(rest, lines[begin + 1 : position])
        except MalformedValue as error:
            raise UnreadableFrontMatter(first_line + begin, f"has a field {name} that {error}") from None
        fields[name] = Field(name, first_line + begin, value)
    return fields


def _is_empty(line: str) -> bool:
    stripped = line.strip(BLANKS)
    return not stripped or stripped.startswith("#")


def _continues(line: str) -> bool:
    """Return True if a line continues the field above it."""
    return not line or line[0] in " \t]}#" or _is_item(line)


def _is_item(line: str) -> bool:
    return line == "-" or line.startswith(("- ", "-\t"))


def _split_name(line: str, number: int) -> tuple[str, str]:
    """Return the name of a field, and the text after its colon."""
    name, rest = "", ""
    if line[0] in "\"'":
        try:
            name, end = parse_quoted(line)
        except MalformedValue:
            end = 0
        name, rest = (name, line[end + 1 :]) if line[end : end + 1] == ":" else ("", "")
    elif line[0] not in " \t-?[]{}|>":
        end = _find_colon(line)
        name, rest = line[:end].rstrip(BLANKS), line[end + 1 :]
    if not name or len(name) > NAME_CHARS_MAX:
        raise UnreadableFrontMatter(number, f"has front matter whose line {number} is not a field (name: value)")
    return name, rest


def _find_colon(line: str) -> int:
    """Return the index of the first colon that a blank or the end of the line follows, or 0."""
    if line.endswith(":") and ": " not in line and ":\t" not in line:
        return len(line) - 1
    return min((end for sign in (": ", ":\t") if (end := line.find(sign)) > 0), default=0)


def _parse_value(rest: str, below: Sequence[str]) -> Value:
    """Parse the value of a field from the text after its colon and the lines below."""
    rest, tag = _split_tag(rest)
    if rest and not rest.startswith("#"):
        return _parse_content(rest, below, tag, indent=0)
    content = next((index for index, line in enumerate(below) if not _is_empty(line)), None)
    if content is None:
        return FieldText("", tag=tag)
    first = below[content].strip(BLANKS)
    if _is_item(first):
        return _parse_items(below[content:])
    if _find_colon(strip_comment(first)) and first[0] not in "\"'":
        return Nested()
    return _parse_content(first, below[content + 1 :], tag, indent=0)


def _split_tag(rest: str) -> tuple[str, str]:
    """Return a value without its tag, and the tag."""
    rest = rest.strip(BLANKS)
    if not rest.startswith("!"):
        return rest, ""
    tag, *value = rest.split(None, 1)
    return "".join(value), tag


def _parse_content(rest: str, below: Sequence[str], tag: str, *, indent: int) -> Value:
    """Parse a value that begins in `rest`. `indent` is the indentation of its field or item."""
    if (block := parse_block(rest, below, indent)) is not None:
        return FieldText(block, is_plain=False, tag=tag)
    if rest[0] in "\"'":
        lines = "\n".join((rest, *below))
        quoted, end = parse_quoted(lines)
        if _is_end(lines[end:]):
            return FieldText(quoted, is_plain=False, tag=tag)
    elif rest[0] == "[":
        lines = "\n".join((rest, *below))
        items, end = _parse_list(lines)
        if _is_end(lines[end:]):
            return Nested() if tag else items
    plain = fold_lines([strip_comment(line) for line in (rest, *below)])
    return Nested() if _is_mapping(plain) else FieldText(plain, tag=tag)


def _is_end(rest: str) -> bool:
    """Return True if only comments and blanks follow a value."""
    first, *others = rest.split("\n")
    return not strip_comment(f" {first}") and all(_is_empty(line) for line in others)


def _is_mapping(text: str) -> bool:
    return text.startswith("{") and text.endswith("}") and (":" in text or not text[1:-1].strip())


def _parse_items(lines: Sequence[str]) -> tuple[FieldText | Nested, ...]:
    """Parse a list that has one item per line."""
    indent = _count_indent(lines[0])
    begins = [index for index, line in enumerate(lines) if _count_indent(line) == indent and _is_item(line[indent:])]
    if any(not _is_empty(line) and _count_indent(line) <= indent and not _is_item(line[indent:]) for line in lines):
        raise MalformedValue("has items that are not below each other")
    items: list[FieldText | Nested] = []
    for begin, end in zip(begins, (*begins[1:], len(lines)), strict=True):
        below = lines[begin + 1 : end]
        rest, tag = _split_tag(lines[begin][indent + 1 :])
        if not strip_comment(rest):
            items.append(FieldText("", tag=tag) if all(_is_empty(line) for line in below) else Nested())
            continue
        value = Nested() if _is_item(rest) else _parse_content(rest, below, tag, indent=indent)
        items.append(Nested() if isinstance(value, tuple) else value)
    return tuple(items)


def _count_indent(line: str) -> int:
    return len(line) - len(line.lstrip(BLANKS))


def _parse_list(text: str) -> tuple[tuple[FieldText | Nested, ...], int]:
    """Parse a list in brackets. Return its items, and the index after it."""
    items: list[FieldText | Nested] = []
    position = 1
    while True:
        while text.startswith(WHITESPACE, position):
            position += 1
        if text[position : position + 1] == "]":
            return tuple(items), position + 1
        begin = position
        quoted = None
        if text[begin : begin + 1] in ("'", '"'):
            quoted, position = parse_quoted(text, begin)
        end = _find_item_end(text, position)
        plain = fold_lines([strip_comment(line) for line in text[begin:end].split("\n")])
        if quoted is not None and not text[position:end].strip("".join(WHITESPACE)):
            items.append(FieldText(quoted, is_plain=False))
        elif plain:
            bare, tag = _split_tag(plain)
            is_list = bare.startswith("[") and bare.endswith("]")
            items.append(Nested() if is_list or _is_mapping(bare) else FieldText(bare, tag=tag))
        position = end + (text[end] == ",")


def _find_item_end(text: str, position: int) -> int:
    """Return the index of the comma or bracket that ends an item, ignoring nested brackets."""
    closing: list[str] = []
    for index in range(position, len(text)):
        char = text[index]
        if not closing and char in ",]":
            return index
        if closing and char == closing[-1]:
            closing.pop()
        elif char in _CLOSING:
            closing.append(_CLOSING[char])
            if len(closing) >= DEPTH_MAX:
                raise MalformedValue("is nested too deeply")
    raise MalformedValue("has no closing bracket ]")


def strip_comment(line: str) -> str:
    """Return a line of plain text without its comment and surrounding blanks."""
    line = line.strip(BLANKS)
    if line.startswith("#"):
        return ""
    begin = min((end for sign in (" #", "\t#") if (end := line.find(sign)) >= 0), default=len(line))
    return line[:begin].rstrip(BLANKS)


def fold_lines(lines: Sequence[str]) -> str:
    """Join lines by blanks; n empty lines between two others become n line breaks."""
    text = "\n".join(lines).strip("\n")
    return re.sub(r"\n+", lambda breaks: "\n" * (len(breaks[0]) - 1) or " ", text)


def parse_quoted(text: str, begin: int = 0) -> tuple[str, int]:
    """Return the text in the quotes that begin at an index, and the index after the closing quote."""
    match = _QUOTED[text[begin]].match(text, begin)
    if match is None:
        raise MalformedValue(f"has no closing quote {text[begin]}")
    return _parse_yaml(re.sub(r"\n[ \t]*", "\n ", match[0])), match.end()


def parse_block(sign: str, lines: Sequence[str], indent: int) -> str | None:
    """Return the text on the lines below a sign such as `|` or `>-`; None if the text is not such a sign.

    `indent` is that of the field or item.
    """
    sign = strip_comment(sign)
    if not _BLOCK_SIGN.fullmatch(sign):
        return None
    inner = (line[indent:] if line[:indent].isspace() or not indent else line.lstrip(BLANKS) for line in lines)
    return _parse_yaml("\n".join((f"- {sign}", *inner, "")))


def _parse_yaml(text: str) -> str:
    import yaml  # takes 30 ms, and most values have neither quotes nor blocks

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # some builds lack the part in C
    try:
        value = yaml.load(text, Loader=loader)  # noqa: S506 - it makes nothing but texts and lists
    except (yaml.YAMLError, ValueError, OverflowError) as error:  # the last two for an escape beyond Unicode
        problem = getattr(error, "problem", None) or "cannot be read"
        raise MalformedValue(f"has a text in which YAML {problem}") from None
    return str(value[0] if isinstance(value, list) else value)
