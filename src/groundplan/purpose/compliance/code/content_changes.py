"""Find the changes of content in a SQL statement, and which versions each of them reaches.

A change reaches only drafts if its own WHERE says so plainly: status = 'DRAFT', or the ids of such versions, joined to
the other conditions by AND. Whatever else a condition says is not understood, and a warning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

NESTING_MAX = 8  # brackets around a plain condition; deeper ones are not read

Reach = Literal["drafts", "published", "unknown"]
Span = tuple[int, int]

_FLAGS = re.IGNORECASE | re.ASCII
_CHANGES = re.compile(
    r"\b(UPDATE(?:\s+OR\s+\w+)?|DELETE\s+FROM|TRUNCATE(?:\s+TABLE)?|(?:INSERT(?:\s+OR\s+\w+)?|REPLACE|MERGE)\s+INTO)"
    r"\s+(?:ONLY\s+)?[\"`\[\w.]*\b(toc_\w+)",
    _FLAGS,
)
_UPSERTS = re.compile(
    r"\bDO\s+UPDATE\b|\bON\s+DUPLICATE\s+KEY\s+UPDATE\b|\bTHEN\s+(?:UPDATE|DELETE)\b|\bREPLACE\s+INTO\b", _FLAGS
)
_TOKEN = re.compile(
    r"'[^']*'?|(?P<open>\()|(?P<close>\))|\b(?:(?P<set>SET)|(?P<where>WHERE)|(?P<after>RETURNING|ORDER|LIMIT)"
    r"|(?P<and>AND)|(?P<other>OR|XOR|CASE|BETWEEN|UNION|INTERSECT|EXCEPT))\b|(?P<bars>\|\|)",
    _FLAGS,
)
_ASSIGNED_STATUS = re.compile(r"(?:\A|,)\s*(?:[\w\"`]+\.)?[\"`]?status[\"`]?\s*=\s*'(DRAFT|PUBLISHED)'", _FLAGS)

_CAST = r"(?:\s*::\s*[\w.\"]+)?"
_STATUS = rf"(?:[\w\"`]+\.){{0,3}}[\"`\[]?status[\"`\]]?{_CAST}"
_IS_DRAFT = re.compile(
    rf"{_STATUS}\s*(?:==?\s*N?'DRAFT'|IN\s*\(\s*'DRAFT'\s*\)){_CAST}|N?'DRAFT'{_CAST}\s*==?\s*{_STATUS}", _FLAGS
)
_NESTED = re.compile(r"(?:(?P<in>[\w.\"`]+\s+IN)|(?P<exists>EXISTS))?\s*\(", _FLAGS)
_SELECT = re.compile(r"\s*SELECT\b", _FLAGS)
_VERSIONS = re.compile(r"\b(?:FROM|JOIN)\s+[\w.\"`]{0,130}\btoc_versions\b", _FLAGS)
_SAME_COLUMN = re.compile(r"[\w.\"`]+\s*=\s*[\w.\"`]+", re.ASCII)  # ties the rows of EXISTS to the changed one

_DRAFT = re.compile(r"'DRAFT'", _FLAGS)
_PUBLISHED = re.compile(r"['$]PUBLISHED['$]|\bpublished_at[\"`]?\s+IS\s+NOT\s+NULL\b", _FLAGS)
_NOT_PUBLISHED = re.compile(r"(?:<>|!=)\s*'PUBLISHED'", _FLAGS)
_NOT_NULL = re.compile(r"\bIS\s+NOT\s+NULL\b", _FLAGS)
_NEGATION = re.compile(r"\bNOT\b|<>|!=|\bFALSE\b|\bIS\s+DISTINCT\b|\bEXCEPT\b", _FLAGS)
_NOT_DRAFT = re.compile(r"(?:<>|!=|[<>])\s*'DRAFT'|\bNOT\s+IN\s*\(\s*'DRAFT'|\bDISTINCT\s+FROM\s+'DRAFT'", _FLAGS)
_EXCLUDES = re.compile(r"(?:[\w.\"`]+\s+)?NOT\b[^<>!]*\)", _FLAGS)


class ContentChange(NamedTuple):
    """An UPDATE, DELETE, TRUNCATE or upsert of a toc_* table, the status that it sets, and the versions it reaches."""

    at: int
    verb: str
    table: str
    status: str | None
    reach: Reach


class _Clauses(NamedTuple):
    assignments: Span | None
    where: Span | None


def find_changes(text: str) -> Iterator[ContentChange]:
    """Yield the changes of content in a statement."""
    is_upsert = _UPSERTS.search(text) is not None
    found = [one for one in _CHANGES.finditer(text) if is_upsert or not one[1].upper().endswith("INTO")]
    ends = [*(one.start() for one in found[1:]), len(text)]
    clauses = [_read_clauses(text, one, end) for one, end in zip(found, ends, strict=False)]
    around = _blank_spans(text, [span for one in clauses for span in one if span])
    is_published_around = _reaches_published_around(around)
    for one, (assignments, where) in zip(found, clauses, strict=True):
        status = _ASSIGNED_STATUS.search(text[slice(*assignments)]) if assignments else None
        reach = _read_reach(text[slice(*where)] if where else "")
        if reach == "unknown" and is_published_around:
            reach = "published"
        verb, table = one[1].split()[0].upper(), one[2].lower()
        yield ContentChange(one.start(), verb, table, status[1].upper() if status else None, reach)


def _read_clauses(text: str, change: re.Match[str], end: int) -> _Clauses:
    """Return where the assignments and the conditions of a change stand: of this change, not of a query in it."""
    depth = 0
    is_delete = change[1].upper().startswith("DELETE")
    set_end = where_end = last = None
    where_start = end
    for found in _TOKEN.finditer(text, change.end(), end):
        depth += bool(found["open"]) - bool(found["close"])
        if depth < 0 or (found["after"] and not depth and where_end is not None):
            last = found.start()
            break
        if depth:
            continue
        if found["set"] and set_end is None:
            set_end = found.end()
        elif found["where"] and where_end is None and (is_delete or set_end is not None):
            where_start, where_end = found.start(), found.end()
    last = end if last is None else last
    return _Clauses(
        (set_end, min(where_start, last)) if set_end is not None else None,
        (where_end, last) if where_end is not None else None,
    )


def _blank_spans(text: str, spans: list[Span]) -> str:
    parts, done = [], 0
    for first, end in spans:
        parts.append(text[done:first])
        done = max(done, end)
    return " ".join((*parts, text[done:]))


def _reaches_published_around(text: str) -> bool:
    """Return whether a query or join of the statement names published versions, or all but drafts."""
    rest = _NOT_PUBLISHED.sub("", text)
    return _PUBLISHED.search(rest) is not None or _NOT_DRAFT.search(rest) is not None


def _read_reach(where: str) -> Reach:
    parts, is_conjunction = _split_condition(where)
    if is_conjunction and any(_is_only_drafts(part, NESTING_MAX) for part in parts):
        return "drafts"
    return "published" if any(map(_reaches_published, parts)) else "unknown"


def _split_condition(text: str) -> tuple[list[str], bool]:
    """Return the parts of a condition, and whether nothing but AND joins them."""
    depth = first = 0
    parts: list[str] = []
    is_conjunction = True
    for found in _TOKEN.finditer(text):
        depth += bool(found["open"]) - bool(found["close"])
        if not depth and (found["and"] or found["other"] or found["bars"]):
            is_conjunction = is_conjunction and found["and"] is not None
            parts.append(text[first : found.start()].strip())
            first = found.end()
    return [*parts, text[first:].strip()], is_conjunction


def _is_only_drafts(part: str, nesting_max: int, *, is_of_version: bool = True) -> bool:
    """Return whether a condition by itself admits only drafts."""
    if _IS_DRAFT.fullmatch(part):
        return is_of_version
    nested = _NESTED.match(part)
    if nested is None or not nesting_max or _find_closing(part, nested.end()) != len(part) - 1:
        return False
    inner = part[nested.end() : -1]
    if nested["in"] or nested["exists"]:
        head, inner = _split_query(inner)
        is_of_version = _VERSIONS.search(head) is not None
    parts, is_conjunction = _split_condition(inner)
    if not is_conjunction or (nested["exists"] and not any(map(_SAME_COLUMN.fullmatch, parts))):
        return False
    return any(_is_only_drafts(one, nesting_max - 1, is_of_version=is_of_version) for one in parts)


def _find_closing(text: str, start: int) -> int:
    """Return where the bracket that was opened before `start` is closed, or -1."""
    depth = 1
    for found in _TOKEN.finditer(text, start):
        depth += bool(found["open"]) - bool(found["close"])
        if not depth:
            return found.start()
    return -1


def _split_query(text: str) -> tuple[str, str]:
    """Return what stands before the WHERE of a query and after it; nothing if there are several queries in it."""
    depth = 0
    for found in _TOKEN.finditer(text) if _SELECT.match(text) else ():
        depth += bool(found["open"]) - bool(found["close"])
        if not depth and found["other"]:
            break
        if not depth and found["where"]:
            return text[: found.start()], text[found.end() :]
    return "", ""


def _reaches_published(part: str) -> bool:
    """Return whether a condition names published versions, or negates that a version is a draft."""
    plain = _NOT_NULL.sub("", part)
    negations = len(_NEGATION.findall(plain))
    if _DRAFT.search(plain) and (negations or _NOT_DRAFT.search(plain)):
        return True
    if negations == 1 and (_NOT_PUBLISHED.search(plain) or _EXCLUDES.fullmatch(plain)):
        return False  # all but the published ones
    return _PUBLISHED.search(part) is not None
