"""The rules for a SQL statement that uses a toc_* table.

A change reaches only drafts if its own WHERE says so plainly: status = 'DRAFT', or the ids of such versions, joined to
the other conditions by AND. Any other condition is not understood, and gets a warning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from typing import Literal, NamedTuple

from groundplan.purpose.compliance.code_patterns import PARENT, USE_EDGES, RuleMatch, Severity
from groundplan.purpose.compliance.code_units import blank_spans, find_json_structures
from groundplan.purpose.compliance.live_schema import ENDS
from groundplan.purpose.metadata_structure import PATH_NAMES, TREE_NAMES, fold_name, format_names
from groundplan.purpose.model import EdgeType, NodeType, RiskLevel, VersionStatus

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
    """An UPDATE, DELETE, TRUNCATE or upsert of a toc_* table, with the status it sets and the versions it reaches."""

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
    matches = [match for match in _CHANGES.finditer(text) if is_upsert or not match[1].upper().endswith("INTO")]
    ends = [*(match.start() for match in matches[1:]), len(text)]
    clauses = [_read_clauses(text, match, end) for match, end in zip(matches, ends, strict=False)]
    around = blank_spans(text, 0, [span for pair in clauses for span in pair if span])
    is_published_around = _reaches_published_around(around)
    for match, (assignments, where) in zip(matches, clauses, strict=True):
        status = _ASSIGNED_STATUS.search(text[slice(*assignments)]) if assignments else None
        reach = _classify_reach(text[slice(*where)] if where else "")
        if reach == "unknown" and is_published_around:
            reach = "published"
        verb, table = match[1].split()[0].upper(), match[2].lower()
        yield ContentChange(match.start(), verb, table, status[1].upper() if status else None, reach)


def _read_clauses(text: str, change: re.Match[str], end: int) -> _Clauses:
    """Return the spans of the assignments and of the conditions of a change, without those of subqueries."""
    depth = 0
    is_delete = change[1].upper().startswith("DELETE")
    set_end = where_end = last = None
    where_start = end
    for token in _TOKEN.finditer(text, change.end(), end):
        depth += bool(token["open"]) - bool(token["close"])
        if depth < 0 or (token["after"] and not depth and where_end is not None):
            last = token.start()
            break
        if depth:
            continue
        if token["set"] and set_end is None:
            set_end = token.end()
        elif token["where"] and where_end is None and (is_delete or set_end is not None):
            where_start, where_end = token.start(), token.end()
    last = end if last is None else last
    return _Clauses(
        (set_end, min(where_start, last)) if set_end is not None else None,
        (where_end, last) if where_end is not None else None,
    )


def _reaches_published_around(text: str) -> bool:
    """Return True if a query or join of the statement selects published versions, or all but drafts."""
    rest = _NOT_PUBLISHED.sub("", text)
    return _PUBLISHED.search(rest) is not None or _NOT_DRAFT.search(rest) is not None


def _classify_reach(where: str) -> Reach:
    parts, is_conjunction = _split_condition(where)
    if is_conjunction and any(_is_only_drafts(part, NESTING_MAX) for part in parts):
        return "drafts"
    return "published" if any(map(_reaches_published, parts)) else "unknown"


def _split_condition(text: str) -> tuple[list[str], bool]:
    """Return the parts of a condition, and True if they are only joined by AND."""
    depth = first = 0
    parts: list[str] = []
    is_conjunction = True
    for token in _TOKEN.finditer(text):
        depth += bool(token["open"]) - bool(token["close"])
        if not depth and (token["and"] or token["other"] or token["bars"]):
            is_conjunction = is_conjunction and token["and"] is not None
            parts.append(text[first : token.start()].strip())
            first = token.end()
    return [*parts, text[first:].strip()], is_conjunction


def _is_only_drafts(part: str, nesting_max: int, *, is_of_version: bool = True) -> bool:
    """Return True if a condition admits only drafts."""
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
    return any(_is_only_drafts(inner_part, nesting_max - 1, is_of_version=is_of_version) for inner_part in parts)


def _find_closing(text: str, start: int) -> int:
    """Return the position of the closing bracket for the bracket before `start`, or -1."""
    depth = 1
    for token in _TOKEN.finditer(text, start):
        depth += bool(token["open"]) - bool(token["close"])
        if not depth:
            return token.start()
    return -1


def _split_query(text: str) -> tuple[str, str]:
    """Return the text before and after the WHERE of a query; nothing if there are several queries."""
    depth = 0
    for token in _TOKEN.finditer(text) if _SELECT.match(text) else ():
        depth += bool(token["open"]) - bool(token["close"])
        if not depth and token["other"]:
            break
        if not depth and token["where"]:
            return text[: token.start()], text[token.end() :]
    return "", ""


def _reaches_published(part: str) -> bool:
    """Return True if a condition selects published versions, or negates that a version is a draft."""
    plain = _NOT_NULL.sub("", part)
    negations = len(_NEGATION.findall(plain))
    if _DRAFT.search(plain) and (negations or _NOT_DRAFT.search(plain)):
        return True
    if negations == 1 and (_NOT_PUBLISHED.search(plain) or _EXCLUDES.fullmatch(plain)):
        return False  # all but the published ones
    return _PUBLISHED.search(part) is not None


_DEFINES = re.compile(
    r"\b(?:CREATE|ALTER)\s+(?:\w+\s+){0,3}TABLE\b(?:\s+IF\s+(?:NOT\s+)?EXISTS)?\s+\S*?(toc_\w+)", _FLAGS
)
_COLUMN = re.compile(
    r"(?:[(,]|\bADD(?:\s+COLUMN)?(?:\s+IF\s+NOT\s+EXISTS)?)\s*[\"`]?(\w+)[\"`]?\s+([a-z_]\w*|\{\w+\})", _FLAGS
)
_REFERENCE = re.compile(r"\bREFERENCES\s+[\"`\w.]*\b(toc_\w+)", _FLAGS)
_UNIQUE = re.compile(r"\b(?:UNIQUE|PRIMARY\s+KEY)\s*\(([^()]*)\)", _FLAGS)
# No part of these runs over the word with which it begins, so that no text is read more than a few times.
_SCHEMA = r"[\"`\w.]{0,130}"  # before the name of a table; two names of the greatest length
_UNIQUE_INDEX = re.compile(
    r"\bCREATE\s+UNIQUE\s+INDEX\b(?:(?!\bCREATE\b)[^()])*?\bON\s+(?:ONLY\s+)?"
    rf"{_SCHEMA}\btoc_edges\b(?:(?!\b(?:ON|CREATE)\b)[^()])*\(([^()]*)\)",
    _FLAGS,
)
_UNIQUE_COLUMN = re.compile(
    rf"\b(?:{'|'.join(ENDS)})\b(?:(?!\b(?:{'|'.join(ENDS)})\b)[^,()])*?\bUNIQUE\b",
    _FLAGS,
)
_WORDS = re.compile(r"\b(node_type|edge_type|risk_level)[\"`]?\s+IN\s*\(([^()]*)\)", _FLAGS)
_LITERAL = re.compile(r"'([^']*)'")
_READS = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE)\s+(?:ONLY\s+)?[\"`\w.]*\btoc_\w+", _FLAGS)
_DISABLES_TRIGGERS = re.compile(r"\bDISABLE\s+TRIGGER\b", _FLAGS)
_NAME = r"(?:[\"`\[]?\w+[\"`\]]?\.)?[\"`\[]?(\w+)[\"`\]]?"  # possibly with its schema
_TRIGGER = rf"TRIGGER\s+(?:IF\s+(?:NOT\s+)?EXISTS\s+)?{_NAME}"
_DROPS_TRIGGER = re.compile(rf"\bDROP\s+{_TRIGGER}(?:\s+ON\s+{_NAME})?", _FLAGS)
_CREATES_TRIGGER = re.compile(
    rf"\bCREATE\s+(?:\w+\s+){{0,3}}{_TRIGGER}(?:(?!\bTRIGGER\b)[^;()])*?\bON\s+{_NAME}", _FLAGS
)
_DISABLES_ROW_SECURITY = re.compile(r"\b(?:DISABLE|NO\s+FORCE)\s+ROW\s+LEVEL\s+SECURITY\b", _FLAGS)
_OPEN_POLICY = re.compile(
    r"\bCREATE\s+POLICY\b(?:(?!\bCREATE\b)[^;()])*?\bON\s+"
    rf"{_SCHEMA}\btoc_(?:(?!\b(?:ON|CREATE)\b)[^;()])*?\b(?:USING|CHECK)\s*\(\s*true\s*\)",
    _FLAGS,
)
_DROPPED = re.compile(r"\bDROP\s+(?:COLUMN\s+)?(?:IF\s+EXISTS\s+)?[\"`]?\w+", _FLAGS)
_FILLS_EDGES = re.compile(r"\bINSERT\s+INTO\s+[\"`\w.]*\btoc_edges\b", _FLAGS)
_TENANT = re.compile(r"\btenant_id\b|\bgp_tenant\b", _FLAGS)

TriggerKey = tuple[str, str | None]  # its name and its table, in lower case; SQLite drops one without naming the table

_TREE_TYPES = {"json", "jsonb"}
_ALLOWED_WORDS: dict[str, list[str]] = {"node_type": [*NodeType], "edge_type": [*EdgeType], "risk_level": [*RiskLevel]}
_SECTION_OF_WORD = {"node_type": 4, "edge_type": 5, "risk_level": 6}
_SECTION_OF_TABLE = {  # the content of a version; observations may be recorded after it is published
    **{"toc_versions": 2, "toc_nodes": 4, "toc_indicators": 4},
    **{"toc_edges": 5, "toc_assumptions": 6, "toc_edge_assumptions": 6},
}

_ONLY_DRAFTS = (
    "Add toc_version_id IN (SELECT id FROM toc_versions WHERE status = 'DRAFT'), or let a trigger refuse the change."
)
_ONLY_DRAFT = "Add AND status = 'DRAFT' to the condition, or let a trigger refuse the change."
_NEXT_DRAFT = "Create a draft from the published version and change that."


def check_statement(text: str, *, created_triggers: Collection[TriggerKey] = ()) -> Iterator[RuleMatch]:
    """Yield the findings in a statement that uses a toc_* table, with offsets in its text.

    `created_triggers` are those that the same file creates.
    """
    yield from _match_dropped_triggers(text, created_triggers)
    remaining = _DROPPED.sub(lambda match: " " * len(match[0]), text)  # what is dropped is not used any more
    structures = list(find_json_structures(remaining))
    for at, _, (links, trees) in structures:
        message = f"the JSON holds structure of the theory: {format_names([*links, *trees])}"
        yield RuleMatch(at, "block", "json_tree", 1, message, USE_EDGES)
    remaining = blank_spans(remaining, 0, ((at, end) for at, end, _ in structures))
    for rule in _RULES:
        yield from rule(remaining)


def find_created_triggers(text: str) -> Iterator[TriggerKey]:
    """Yield the triggers on toc_* tables that a statement creates, both by name with table and by name alone."""
    for match in _CREATES_TRIGGER.finditer(_LITERAL.sub(lambda literal: " " * len(literal[0]), text)):
        name, table = match[1].lower(), match[2].lower()
        if table.startswith("toc_"):
            yield from ((name, table), (name, None))


def _match_dropped_triggers(text: str, created: Collection[TriggerKey]) -> Iterator[RuleMatch]:
    for match in _DROPS_TRIGGER.finditer(text):
        name, table = match[1].lower(), match[2] and match[2].lower()
        if table and not table.startswith("toc_"):
            continue
        if (name, table) in created:
            # Replaced by the file, or dropped when the migration is undone: the order is not known here.
            message = f"trigger {match[1]} is dropped and created in this file"
            action = "Make sure that it exists when the migration has run."
            yield RuleMatch(match.start(), "warn", "published_edited", 2, message, action)
        else:
            message = f"without trigger {match[1]} a published version can be changed"
            action = "Keep it, or create it again in the same file."
            yield RuleMatch(match.start(), "block", "published_edited", 2, message, action)


def _match_parents(text: str) -> Iterator[RuleMatch]:
    is_moved = _FILLS_EDGES.search(text) is not None
    for match in PARENT.finditer(text):
        if is_moved:
            message = f"{match[0]} is read to fill toc_edges"
            yield RuleMatch(match.start(), "warn", "parent_id", 1, message, "Drop the column in the same migration.")
            continue
        yield _make_adjacency_match(match.start(), f"column {match[0]} makes an adjacency list of the theory")


def _match_columns(text: str) -> Iterator[RuleMatch]:
    defined = _DEFINES.search(text)
    if defined is None:
        return
    table = defined[1].lower()
    for match in _COLUMN.finditer(text, defined.end()):
        name, kind, at = match[1].lower(), match[2].lower(), match.start(1)
        if name == "parent":
            yield _make_adjacency_match(at, f"column {match[1]} makes an adjacency list of the theory")
        elif fold_name(name) in PATH_NAMES or kind == "ltree":
            message = f"column {table}.{match[1]} is a materialised path, which cannot hold several parents"
            yield RuleMatch(at, "block", "materialised_path", 1, message, USE_EDGES)
        elif fold_name(name) in TREE_NAMES:
            yield RuleMatch(at, "block", "json_tree", 1, f"column {table}.{match[1]} holds a tree", USE_EDGES)
        elif kind in _TREE_TYPES and name != "metadata":
            message = f"column {table}.{match[1]} of type {match[2]} can hold a tree"
            yield RuleMatch(at, "warn", "json_tree", 1, message, f"Keep no structure of the theory in it. {USE_EDGES}")
    if table == "toc_nodes":
        for match in _REFERENCE.finditer(text, defined.end()):
            if match[1].lower() == "toc_nodes":
                yield _make_adjacency_match(
                    match.start(), "toc_nodes references itself, so that a node has a single parent"
                )
    if defined[0][:6].upper() == "CREATE":
        yield from _match_missing_parts(text, table, defined.start())


def _match_missing_parts(text: str, table: str, at: int) -> Iterator[RuleMatch]:
    if not _TENANT.search(text):
        message = f"{table} has no column tenant_id"
        yield RuleMatch(at, "warn", "no_tenant", 7, message, "Add tenant_id, and row level security on it.")
    if table == "toc_edges" and not any(_has_ends(match[1], 2) for match in _UNIQUE.finditer(text)):
        message = "toc_edges is not unique by source, target and type"
        yield RuleMatch(
            at, "warn", "edge_not_unique", 5, message, "Add UNIQUE (source_node_id, target_node_id, edge_type)."
        )


def _match_single_parents(text: str) -> Iterator[RuleMatch]:
    if "toc_edges" not in text.lower():
        return
    keys = [*_UNIQUE.finditer(text), *_UNIQUE_INDEX.finditer(text)] if _defines_edges(text) else []
    narrow = [match for match in keys if _has_ends(match[1], 1) and not re.search(r"(?<!\w)id\b", match[1])]
    for match in [*narrow, *(_UNIQUE_COLUMN.finditer(text) if _defines_edges(text) else ())]:
        message = "toc_edges is unique by one of its ends, so that a node has a single parent or a single child"
        action = "Make it unique by source_node_id, target_node_id and edge_type together."
        yield RuleMatch(match.start(), "block", "single_parent", 1, message, action)


def _defines_edges(text: str) -> bool:
    defined = _DEFINES.search(text)
    return _UNIQUE_INDEX.search(text) is not None or (defined is not None and defined[1].lower() == "toc_edges")


def _has_ends(columns: str, count: int) -> bool:
    return sum(end in columns.lower() for end in ENDS) == count


def _match_unknown_types(text: str) -> Iterator[RuleMatch]:
    for match in _WORDS.finditer(text):
        column = match[1].lower()
        unknown = [word for word in _LITERAL.findall(match[2]) if word not in _ALLOWED_WORDS[column]]
        if unknown:
            message = f"{column} {', '.join(unknown)} is none of the types of the model"
            action = f"Use {', '.join(_ALLOWED_WORDS[column])}."
            yield RuleMatch(match.start(), "block", "unknown_type", _SECTION_OF_WORD[column], message, action)


def _match_published_edits(text: str) -> Iterator[RuleMatch]:
    for change in find_changes(text):
        at, verb, table, status, reach = change
        if table not in _SECTION_OF_TABLE:
            continue
        if table == "toc_versions" and status is not None:
            yield from _match_status_change(text, change)
        elif reach == "published":
            message = f"{verb} of {table} reaches PUBLISHED versions, which are final"
            yield RuleMatch(at, "block", "published_edited", 2, message, _NEXT_DRAFT)
        elif reach == "unknown":
            message = f"{verb} of {table} does not say that the version is a DRAFT"
            action = _ONLY_DRAFT if table == "toc_versions" else _ONLY_DRAFTS
            yield RuleMatch(at, "warn", "draft_not_checked", _SECTION_OF_TABLE[table], message, action)
    if _DISABLES_TRIGGERS.search(text):
        message = "without its triggers a published version can be changed"
        yield RuleMatch(0, "block", "published_edited", 2, message, "Leave the triggers on toc_* tables enabled.")


def _match_status_change(text: str, change: ContentChange) -> Iterator[RuleMatch]:
    """Check an UPDATE of the status. The only allowed one publishes a draft."""
    at = change.at
    if change.status == VersionStatus.DRAFT:
        message = "a published version becomes a DRAFT again, so that it can be edited"
        yield RuleMatch(at, "block", "published_edited", 2, message, _NEXT_DRAFT)
        return
    if change.reach != "drafts":
        message = "a version is published without the plain condition that it is a DRAFT"
        action = "Add AND status = 'DRAFT' to the condition."
        yield RuleMatch(at, "block", "publish_unchecked", 3, message, action)
    if "published_at" not in text.lower():
        action = "Set published_at in the same statement."
        yield RuleMatch(at, "warn", "publish_unchecked", 3, "published_at is not set with the status", action)


def _match_open_isolation(text: str) -> Iterator[RuleMatch]:
    if match := _DISABLES_ROW_SECURITY.search(text):
        message = "row level security of a toc_* table is switched off"
        yield _make_isolation_match(match.start(), "block", "row_security_off", message, "Leave it enabled and forced.")
    if match := _OPEN_POLICY.search(text):
        message = "the policy lets every tenant see or write the rows"
        yield _make_isolation_match(
            match.start(), "block", "open_policy", message, "Compare tenant_id with that of the user."
        )
    if (match := _READS.search(text)) and not _DEFINES.search(text) and not _TENANT.search(text):
        message = "the statement does not filter by tenant_id"
        yield _make_isolation_match(match.start(), "warn", "no_tenant", message, "Add a condition on tenant_id.")


def _make_adjacency_match(at: int, message: str) -> RuleMatch:
    return RuleMatch(at, "block", "parent_id", 1, message, USE_EDGES)


def _make_isolation_match(at: int, severity: Severity, rule: str, message: str, action: str) -> RuleMatch:
    return RuleMatch(at, severity, rule, 7, message, action)


_RULES: tuple[Callable[[str], Iterator[RuleMatch]], ...] = (
    _match_parents,
    _match_columns,
    _match_single_parents,
    _match_unknown_types,
    _match_published_edits,
    _match_open_isolation,
)
