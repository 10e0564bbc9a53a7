"""Split SQL and source code into units (a statement, a class or a model) by brackets and indentation.

A unit keeps the offsets of the file: comments, and parts that are units of their own, are replaced by spaces. The
tokens are found by expressions that take linear time and also match a string or comment that has no end.

In SQL only three kinds of literals are text: the values of an INSERT, what COMMENT ON says, and the message of a
RAISE. Any other literal may be SQL or a name when the statement runs, so it stays visible.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from operator import itemgetter
from typing import Literal, NamedTuple

from groundplan.kernel.errors import Invalid
from groundplan.kernel.input_gate.strict_json import decode
from groundplan.purpose.compliance.code_patterns import PARENT, TOC_NAME
from groundplan.purpose.metadata_structure import MetadataStructure, find_structure

DEPTH_MAX = 64  # deeper brackets belong to the unit around them, so that no text is copied more often than this
HEAD_CHARS_MAX = 400  # of the text before a brace, to see what it opens

Language = Literal["sql", "braces", "indented"]

_DOUBLE, _SINGLE, _TEMPLATE = (rf"{mark}[^{mark}\\{end}]*(?:\\.[^{mark}\\{end}]*)*{mark}?" for mark, end in (
    ('"', r"\n"),
    ("'", r"\n"),
    ("`", ""),
))  # fmt: skip
# A backslash escapes a quote in E'…' always, elsewhere in some dialects: there, if a word goes on.
_ESCAPING_LITERAL = r"\b[eE]'[^'\\]*(?:\\.[^'\\]*)*'?"
_LITERAL = r"'[^'\\]*(?:\\(?:'(?=\w))?[^'\\]*)*'?"
_QUOTED_NAME = r'(?P<name>"[^"\n]*"|`[^`\n]*`)'
_C_COMMENT = r"/\*[^*]*(?:\*(?!/)[^*]*)*(?:\*/)?"
_OTHER = r"(?P<open>[({\[])|(?P<close>[)}\]])|(?P<end>;)|(?P<line>\n)"
_TRIPLE = '"""[^"\\\\]*(?:(?:\\\\.|"(?!""))[^"\\\\]*)*(?:""")?'
_TOKENS: dict[Language, re.Pattern[str]] = {
    "sql": re.compile(
        rf"(?P<comment>--[^\n]*|{_C_COMMENT})|(?P<string>{_ESCAPING_LITERAL}|{_LITERAL})|{_QUOTED_NAME}|{_OTHER}",
        re.DOTALL,
    ),
    "braces": re.compile(
        rf"(?P<comment>//[^\n]*|{_C_COMMENT})|(?P<string>{_TRIPLE}|{_DOUBLE}|{_SINGLE}|{_TEMPLATE})|{_OTHER}", re.DOTALL
    ),
    "indented": re.compile(
        rf"""(?P<comment>\#[^\n]*)|(?P<string>{_TRIPLE}|{_TRIPLE.replace('"', "'")}|{_DOUBLE}|{_SINGLE})|{_OTHER}""",
        re.DOTALL,
    ),
}
_CLASS_HEAD = re.compile(r"\b(?:class|model|interface|struct|enum|entity|record|trait|type)\b", re.ASCII)
_BODY_HEAD = re.compile(r"(?:\)(?:\s*:\s*[\w<>\[\],.|]{1,200})?|=>|\b(?:else|try|do|finally|loop))\s*\Z")
_FUNCTION_HEAD = re.compile(r"\b(?:function|func|fn|fun|namespace|module)\b")
_TABLE_CALL = re.compile(r"\b(?:create|alter|change)_?table\b|\bSchema::(?:create|table)\b", re.IGNORECASE)
_TABLE_CALL_CHARS = 60  # between the name of such a call and the bracket around the function
_CONTINUES = re.compile(r"[ \t]*[.?:&|+,)\]}=]")
_UNFINISHED = tuple(",=+&|?:.(")
_BLOCK_LINE = re.compile(
    r"\s*(?:class\b(?!\s+(?:Meta|Config)\b)|(?:create|change)_table\b|with\b[^\n]*alter_table\b)", re.ASCII
)
_OWN_LINES = re.compile(r"\s*(?:async\s+def|def|class(?!\s+(?:Meta|Config)\b))\b", re.ASCII)


class Unit(NamedTuple):
    """A statement, class or model, and its offset in the file."""

    start: int
    text: str


class CodeToken(NamedTuple):
    """A string, quoted name, bracket, semicolon or line break."""

    kind: str
    start: int
    end: int


@dataclass(slots=True)
class CodeSource:
    """A file without its comments, and its tokens."""

    text: str
    tokens: list[CodeToken]

    def strings(self) -> Iterator[CodeToken]:
        """Yield the string literals."""
        return (token for token in self.tokens if token.kind == "string")


def read_source(text: str, language: Language) -> CodeSource:
    """Replace comments by spaces, and find the tokens."""
    tokens: list[CodeToken] = []
    comments: list[CodeToken] = []
    for match in _TOKENS[language].finditer(text):
        kind = match.lastgroup or ""
        (comments if kind == "comment" else tokens).append(CodeToken(kind, match.start(), match.end()))
    return CodeSource(blank_spans(text, 0, ((comment.start, comment.end) for comment in comments)), tokens)


def blank_spans(text: str, start: int, spans: Iterable[tuple[int, int]]) -> str:
    """Return the text from `start`, with spaces in place of the given spans of the file; line breaks are kept."""
    parts, done = [], start
    for first, end in sorted(spans):
        if end > done:
            hidden = text[max(first, done) - start : end - start]
            parts += [text[done - start : first - start], re.sub(r"[^\n]", " ", hidden)]
            done = end
    return "".join((*parts, text[done - start :]))


def split_units(source: CodeSource, language: Language) -> Iterator[Unit]:
    """Yield the units of source code."""
    return _split_lines(source) if language == "indented" else _split_braces(source)


# --- Languages with braces ------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Bracket:
    """An open bracket. A `body` holds statements, a `class` is one unit, and a `join` continues the unit around it."""

    kind: Literal["body", "class", "join"]
    opened: int
    first: int  # where the current statement begins, or the head of the class
    excluded: list[tuple[int, int]] = field(default_factory=list)


def _split_braces(source: CodeSource) -> Iterator[Unit]:
    text = source.text
    stack = [_Bracket("body", 0, 0)]
    skipped = 0  # open brackets beyond the maximal depth
    for token in source.tokens:
        top = stack[-1]
        if token.kind == "open":
            if len(stack) >= DEPTH_MAX:
                skipped += 1
                continue
            kind = _classify_brace(text, stack, token.start) if text[token.start] == "{" else "join"
            first = token.end if kind == "body" else _find_head_start(stack, token.start)
            stack.append(_Bracket(kind, token.start, first))
        elif token.kind == "close" and skipped:
            skipped -= 1
        elif token.kind == "close" and len(stack) > 1:
            yield from _close_bracket(text, stack, token)
        elif top.kind == "body" and (
            token.kind == "end" or (token.kind == "line" and _ends_statement(text, top, token))
        ):
            yield from _cut_unit(text, top, token.start)
            top.first = token.end
    for container in stack:
        yield from _cut_unit(text, container, len(text))


def _classify_brace(text: str, stack: list[_Bracket], brace: int) -> Literal["body", "class", "join"]:
    top = stack[-1]
    head = text[max(_find_head_start(stack, brace), brace - HEAD_CHARS_MAX) : brace]
    if top.kind == "join" and _TABLE_CALL.search(text, max(0, top.opened - _TABLE_CALL_CHARS), top.opened):
        return "join"  # the columns of the table are statements of this function
    if _BODY_HEAD.search(head) or _FUNCTION_HEAD.search(head, max(map(head.rfind, "{}=")) + 1):
        return "body"
    return "class" if top.kind != "join" and _CLASS_HEAD.search(head) else "join"


def _find_head_start(stack: list[_Bracket], brace: int) -> int:
    """Return the start of the text before a brace: of a statement, or of the last member of a class."""
    top = stack[-1]
    if top.kind == "body":
        return top.first
    closed = top.excluded[-1][1] if top.excluded else top.opened + 1
    return max(closed, brace - HEAD_CHARS_MAX)


def _close_bracket(text: str, stack: list[_Bracket], token: CodeToken) -> Iterator[Unit]:
    closed = stack.pop()
    parent = stack[-1]
    if closed.kind == "join":
        parent.excluded += closed.excluded
        return
    yield from _cut_unit(text, closed, token.start)
    parent.excluded.append((closed.opened if closed.kind == "body" else closed.first, token.end))
    if parent.kind == "body":
        if closed.kind == "body":
            yield from _cut_unit(text, parent, token.end)
        parent.first, parent.excluded = token.end, []


def _ends_statement(text: str, container: _Bracket, line: CodeToken) -> bool:
    """Return True if a line break ends the statement."""
    before = text[max(container.first, line.start - HEAD_CHARS_MAX) : line.start].strip()
    if before.startswith("@"):
        return False  # what it decorates is on the next line
    return not before or not (before.endswith(_UNFINISHED) or _CONTINUES.match(text, line.end))


def _cut_unit(text: str, container: _Bracket, end: int) -> Iterator[Unit]:
    part = text[container.first : end]
    if part.strip():
        yield Unit(container.first, blank_spans(part, container.first, container.excluded))
    container.excluded = []


# --- Languages with indentation -------------------------------------------------------------------------------------


def _split_lines(source: CodeSource) -> Iterator[Unit]:
    """Yield logical lines, and each class or table of a migration as one unit without its methods."""
    lines = list(_join_lines(source))
    depths = [_measure_indent(line.text) for line in lines]
    blocks: list[tuple[int, int]] = []  # the indentation and the index of each open block
    parts: dict[int, list[int]] = {}
    masked: list[int] = []  # the indentations of open methods and nested classes
    for index, (line, depth) in enumerate(zip(lines, depths, strict=True)):
        blocks = [block for block in blocks if block[0] < depth][:DEPTH_MAX]
        masked = [indent for indent in masked if indent < depth][:DEPTH_MAX]
        inside = blocks and (not masked or masked[-1] <= blocks[-1][0])
        if _BLOCK_LINE.match(line.text):
            blocks.append((depth, index))
            parts[index] = [index]
        elif inside:
            parts[blocks[-1][1]].append(index)
        else:
            yield line
        if _OWN_LINES.match(line.text):
            masked.append(depth)
    for members in parts.values():
        first, last = lines[members[0]], lines[members[-1]]
        end = last.start + len(last.text)
        own = set(members)
        others = range(members[0], members[-1] + 1)
        spans = [(lines[at].start, lines[at].start + len(lines[at].text)) for at in others if at not in own]
        yield Unit(first.start, blank_spans(source.text[first.start : end], first.start, spans))


def _join_lines(source: CodeSource) -> Iterator[Unit]:
    first = depth = 0
    for token in source.tokens:
        if token.kind in ("open", "close"):
            depth = max(0, depth + (1 if token.kind == "open" else -1))
        elif token.kind == "line" and not depth:
            if source.text[first : token.start].strip():
                yield Unit(first, source.text[first : token.start])
            first = token.end
    if source.text[first:].strip():
        yield Unit(first, source.text[first:])


def _measure_indent(line: str) -> int:
    return len(line) - len(line.lstrip())


_FLAGS = re.IGNORECASE | re.ASCII
_SQL = re.compile(
    r"\A[\s\"'`]*(?:SELECT\b(?=.*\bFROM\b)|WITH\s+(?:RECURSIVE\s+)?[\"`\w]+\s*(?:\([^()]*\)\s*)?AS\b)"
    r"|\b(?:CREATE\s+(?:TABLE|UNIQUE|INDEX|POLICY|OR|VIEW|TRIGGER|FUNCTION)|ALTER\s+TABLE|INSERT\s+INTO"
    r"|UPDATE\s+(?:ONLY\s+)?\S+(?:\s+(?:AS\s+)?\w+)?\s+SET|DELETE\s+FROM|DROP\s+TRIGGER)\b",
    re.IGNORECASE | re.DOTALL,
)
_EVENT = re.compile(r"(?P<bracket>[()])|(?P<end>;)|(?P<into>\bINSERT\s+INTO\b)|(?P<raise>\bRAISE\b\s*\(?)|\w+", _FLAGS)
_DOUBLED = re.compile(r"''([^']*)''")  # a literal inside a literal
_JSON_LINK = re.compile(rf'"(?:{PARENT.pattern})"\s*:', _FLAGS)  # also in JSON that is put together from parts
_JSON = re.compile(r"'(\s*[{\[](?:[^']|'')*)'")


def is_sql(text: str) -> bool:
    """Return True if a string of source code, or a literal, contains a statement."""
    return _SQL.search(text) is not None


def split_statements(text: str, start: int = 0) -> Iterator[Unit]:
    """Yield the statements of SQL, including those in the body of a function and those in a literal."""
    source = read_source(text, "sql")
    literals = list(_find_literals(source))
    texts = _find_texts(source, [first for first, _, _ in literals])
    hidden: list[tuple[int, int]] = []
    for first, end, is_closed in literals:
        content = source.text[first:end]
        if is_closed and first in texts:
            if not (_JSON_LINK.search(content) or _has_structure(content)):
                hidden.append((first, end))
        elif not is_closed or (is_sql(content) and TOC_NAME.search(content)):
            yield from _split_at_statement_ends(read_source(_DOUBLED.sub(r" '\1' ", content), "sql"), start + first)
            hidden += _find_gaps(content, first)
    yield from _split_at_statement_ends(CodeSource(blank_spans(source.text, 0, hidden), source.tokens), start)


def find_json_structures(text: str) -> Iterator[tuple[int, int, MetadataStructure]]:
    """Yield the JSON literals of a statement that hold a structure: the offset of each, and the structure."""
    for match in _JSON.finditer(text):
        structure = _read_structure(match[1])
        if structure.links or structure.trees:
            yield match.start(), match.end(), structure


def _split_at_statement_ends(source: CodeSource, start: int) -> Iterator[Unit]:
    text, first = source.text, 0
    for end in [*(token.start for token in source.tokens if token.kind == "end"), len(text)]:
        if first < end and not text[first:end].isspace():
            yield Unit(start + first, text[first:end])
        first = end + 1


def _find_literals(source: CodeSource) -> Iterator[tuple[int, int, bool]]:
    """Yield the start and end of the content of each literal, and False if it is not closed.

    Two strings without anything between them are one literal with a quote in it.
    """
    strings = [(source.text.index("'", token.start), token.end) for token in source.strings()]
    first: int | None = None
    for (start, end), following in zip_longest(strings, strings[1:]):
        first = start if first is None else first
        if following is None or following[0] != end:
            is_closed = end - start > 1 and source.text[end - 1] == "'"
            yield first + 1, end - is_closed, is_closed
            first = None


def _find_texts(source: CodeSource, literals: list[int]) -> set[int]:
    """Return the offsets of the literals that are plain text and are never run."""
    quoted = ((token.start, token.end) for token in source.tokens if token.kind in ("string", "name"))
    events: list[tuple[int, re.Match[str] | None]] = [(first, None) for first in literals]
    events += ((event.start(), event) for event in _EVENT.finditer(blank_spans(source.text, 0, quoted)))
    texts: set[int] = set()
    depth = base = 0
    statement = ""  # INSERT, COMMENT or RAISE, at the depth `base`
    text_depth: int | None = None  # of the brackets in which literals are text
    for at, event in sorted(events, key=itemgetter(0)):
        if event is None:
            texts |= {at} if depth == text_depth else set()
            continue
        word = event[0].upper()
        if event["bracket"]:
            depth += 1 if word == "(" else -1
        if event["end"] or depth < base:
            depth, base, statement, text_depth = (0 if event["end"] else depth), 0, "", None
        elif event["into"] or word == "COMMENT":
            base, statement, text_depth = depth, "INSERT" if event["into"] else word, None
        elif event["raise"]:
            base, statement = depth, "RAISE"
            depth += word.endswith("(")
            text_depth = depth
        elif depth == base and not event["bracket"]:
            if statement == "INSERT":  # another word ends the list of values
                text_depth = depth + 1 if word == "VALUES" else None
            elif statement == "COMMENT" and word == "IS":
                text_depth = depth
    return texts


def _find_gaps(content: str, start: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a literal between its toc_* names. The statement around it keeps these names."""
    first = 0
    for name in TOC_NAME.finditer(content):
        yield start + first, start + name.start()
        first = name.end()
    yield start + first, start + len(content)


def _has_structure(content: str) -> bool:
    return content.lstrip()[:1] in ("{", "[") and any(_read_structure(content))


def _read_structure(content: str) -> MetadataStructure:
    try:
        return find_structure(decode(content.replace("''", "'").encode()))
    except (Invalid, UnicodeEncodeError):  # not JSON: an array, or a text in brackets
        return MetadataStructure([], [])
