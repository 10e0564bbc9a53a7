"""Search one file for patterns that the checklist forbids: in SQL, in SQL inside of strings, and in source code."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise

from msgspec import Struct

from groundplan.purpose.compliance.checklist import SECTION_TITLES
from groundplan.purpose.compliance.code_patterns import TOC_NAME, USE_EDGES, RuleMatch, Severity, check_unit
from groundplan.purpose.compliance.code_sql import check_statement, find_created_triggers
from groundplan.purpose.compliance.code_units import (
    CodeSource,
    CodeToken,
    Language,
    Unit,
    blank_spans,
    is_sql,
    read_source,
    split_statements,
    split_units,
)

SUFFIXES: dict[str, Language] = {
    **dict.fromkeys((".sql", ".psql", ".pgsql", ".ddl"), "sql"),
    **dict.fromkeys((".py", ".pyi", ".rb"), "indented"),
    **dict.fromkeys((".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".prisma"), "braces"),
    **dict.fromkeys((".java", ".kt", ".kts", ".scala", ".go", ".rs", ".cs", ".php", ".swift", ".dart"), "braces"),
}

_STATEMENT_LINE = re.compile(r"^[ \t]*(?:CREATE|ALTER|INSERT|UPDATE|DELETE|SELECT)\s", re.IGNORECASE | re.MULTILINE)
_PARENT_ID = re.compile(r"\bparent_id\b|\bparentId\b", re.ASCII)
_NAME = re.compile(r"[\"'`]+[\w.:-]*[\"'`]+", re.ASCII)  # of a table or column; any other text is not code
_ESCAPED = re.compile(r"\\(['\"])([^'\"\\]*)\\\1")  # a literal inside a string with the same quotes
_TRIPLE_QUOTES = ('"""', "'''")
_JOINT = re.compile(r"[\s+\\]{0,200}[a-zA-Z]?")  # with the prefix of a string, such as f

Rules = Callable[[str], Iterator[RuleMatch]]


class CodeFinding(Struct, frozen=True):
    """A forbidden or doubtful pattern: its place, its section of the checklist, and the remedy."""

    file: str
    line: int
    severity: Severity
    rule: str
    section: int
    title: str
    message: str
    action: str


def scan_text(file: str, text: str, language: Language | None = None) -> list[CodeFinding]:
    """Return the findings in the text of a file, by line.

    A parent_id outside of statements, classes and models that name toc_* may be of something else: the file gets one
    warning for all of them.
    """
    if not (TOC_NAME.search(text) or _PARENT_ID.search(text)):
        return []
    # A carriage return ends a line too, and with it a comment. The offsets stay the same.
    text = text.replace("\r\n", " \n").replace("\r", "\n")
    lines = [line_end.start() for line_end in re.finditer("\n", text)]
    matches, elsewhere = _find_matches(text, language or ("sql" if _STATEMENT_LINE.search(text) else "braces"))
    if elsewhere:
        more = f" and {len(elsewhere) - 1} more" if len(elsewhere) > 1 else ""
        message = f"parent_id{more}, not in a statement or class that names toc_*"
        action = f"If it is about a theory of change: {USE_EDGES[0].lower()}{USE_EDGES[1:]}"
        matches.append(RuleMatch(elsewhere[0], "warn", "parent_id_elsewhere", 1, message, action))
    findings = {
        CodeFinding(
            file,
            bisect_right(lines, match.at - 1) + 1,
            match.severity,
            match.rule,
            match.section,
            SECTION_TITLES[match.section],
            match.message,
            match.action,
        )
        for match in matches
    }
    return sorted(findings, key=lambda finding: (finding.line, finding.section, finding.rule, finding.message))


def _find_matches(text: str, language: Language) -> tuple[list[RuleMatch], list[int]]:
    """Return the matches of the rules, and the offsets of parent_id elsewhere."""
    matches: list[RuleMatch] = []
    elsewhere: list[int] = []
    for unit, check in _list_units(text, language):
        if TOC_NAME.search(unit.text):
            start = unit.start + len(unit.text) - len(unit.text.lstrip())
            matches += [match._replace(at=max(start, unit.start + match.at)) for match in check(unit.text)]
        else:
            elsewhere += [unit.start + match.start() for match in _PARENT_ID.finditer(unit.text)]
    return matches, sorted(elsewhere)


def _list_units(text: str, language: Language) -> Iterator[tuple[Unit, Rules]]:
    """Yield the units of a file with their rules. In code, a string is a unit only if it is SQL or a name."""
    statements: list[Unit] = []
    if language == "sql":
        statements += split_statements(text)
    else:
        source = read_source(text, language)
        hidden: list[tuple[int, int]] = []
        for strings in _group_strings(source):
            start, end = strings[0].start, strings[-1].end
            content = _join_strings(source, strings)
            if is_sql(content):
                statements += split_statements(content, start)
                hidden.append((start, end))
            hidden += (
                (string.start, string.end)
                for string in strings
                if not _NAME.fullmatch(source.text, string.start, string.end)
            )
        code = CodeSource(blank_spans(source.text, 0, hidden), source.tokens)
        yield from ((unit, check_unit) for unit in split_units(code, language))
    created = frozenset(name for unit in statements for name in find_created_triggers(unit.text))
    check = partial(check_statement, created_triggers=created)
    yield from ((unit, check) for unit in statements)


def _join_strings(source: CodeSource, strings: list[CodeToken]) -> str:
    """Return the content of some strings, with spaces in place of quotes and of the code between the strings."""
    first, last = strings[0].start, strings[-1].end
    inner = [_find_content(source.text, string) for string in strings]
    gaps = [(before[1], after[0]) for before, after in pairwise(inner)]
    content = blank_spans(source.text[first:last], first, [(first, inner[0][0]), *gaps, (inner[-1][1], last)])
    return _ESCAPED.sub(r" \1\2\1 ", content)


def _find_content(text: str, string: CodeToken) -> tuple[int, int]:
    """Return the start and end of the content of a string, inside of one or three quotes."""
    mark = text[string.start : string.start + 3]
    is_triple = mark in _TRIPLE_QUOTES and string.end - string.start >= 6 and text.endswith(mark, 0, string.end)
    quotes = 3 if is_triple else 1
    return string.start + quotes, string.end - quotes


def _group_strings(source: CodeSource) -> Iterator[list[CodeToken]]:
    """Yield groups of adjacent strings, which only a plus or blanks separate."""
    group: list[CodeToken] = []
    for string in source.strings():
        if group and not _JOINT.fullmatch(source.text, group[-1].end, string.start):
            yield group
            group = []
        group.append(string)
    if group:
        yield group
