"""The rules for a SQL statement that names a toc_* table."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator

from groundplan.purpose.compliance.code.content_changes import ContentChange, find_changes
from groundplan.purpose.compliance.code.finding import PARENT, USE_EDGES, Match, Severity
from groundplan.purpose.compliance.code.sql_statements import find_json_structures
from groundplan.purpose.compliance.code.units import blank
from groundplan.purpose.compliance.live_schema import ENDS
from groundplan.purpose.compliance.metadata_structure import PATH_NAMES, TREE_NAMES, fold_name, format_names
from groundplan.purpose.model import EdgeType, NodeType, RiskLevel, VersionStatus

_FLAGS = re.IGNORECASE | re.ASCII
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


def check_statement(text: str, *, created_triggers: Collection[TriggerKey] = ()) -> Iterator[Match]:
    """Yield the findings in a statement that names a toc_* table, with offsets in its text.

    `created_triggers` are those that the same file creates.
    """
    yield from _dropped_triggers(text, created_triggers)
    remaining = _DROPPED.sub(lambda found: " " * len(found[0]), text)  # what is dropped is not used any more
    structures = list(find_json_structures(remaining))
    for at, _, (links, trees) in structures:
        message = f"the JSON holds structure of the theory: {format_names([*links, *trees])}"
        yield Match(at, "block", "json_tree", 1, message, USE_EDGES)
    remaining = blank(remaining, 0, ((at, end) for at, end, _ in structures))
    for rule in _RULES:
        yield from rule(remaining)


def find_created_triggers(text: str) -> Iterator[TriggerKey]:
    """Yield the triggers on toc_* tables that a statement creates, by name and table, and by name alone."""
    for found in _CREATES_TRIGGER.finditer(_LITERAL.sub(lambda one: " " * len(one[0]), text)):
        name, table = found[1].lower(), found[2].lower()
        if table.startswith("toc_"):
            yield from ((name, table), (name, None))


def _dropped_triggers(text: str, created: Collection[TriggerKey]) -> Iterator[Match]:
    for found in _DROPS_TRIGGER.finditer(text):
        name, table = found[1].lower(), found[2] and found[2].lower()
        if table and not table.startswith("toc_"):
            continue
        if (name, table) in created:
            # Replaced by the file, or dropped when the migration is undone: the order is not known here.
            message = f"trigger {found[1]} is dropped and created in this file"
            action = "Make sure that it exists when the migration has run."
            yield Match(found.start(), "warn", "published_edited", 2, message, action)
        else:
            message = f"without trigger {found[1]} a published version can be changed"
            action = "Keep it, or create it again in the same file."
            yield Match(found.start(), "block", "published_edited", 2, message, action)


def _parent(text: str) -> Iterator[Match]:
    is_moved = _FILLS_EDGES.search(text) is not None
    for found in PARENT.finditer(text):
        if is_moved:
            message = f"{found[0]} is read to fill toc_edges"
            yield Match(found.start(), "warn", "parent_id", 1, message, "Drop the column in the same migration.")
            continue
        yield _adjacency(found.start(), f"column {found[0]} makes an adjacency list of the theory")


def _columns(text: str) -> Iterator[Match]:
    defined = _DEFINES.search(text)
    if defined is None:
        return
    table = defined[1].lower()
    for found in _COLUMN.finditer(text, defined.end()):
        name, kind, at = found[1].lower(), found[2].lower(), found.start(1)
        if name == "parent":
            yield _adjacency(at, f"column {found[1]} makes an adjacency list of the theory")
        elif fold_name(name) in PATH_NAMES or kind == "ltree":
            message = f"column {table}.{found[1]} is a materialised path, which cannot hold several parents"
            yield Match(at, "block", "materialised_path", 1, message, USE_EDGES)
        elif fold_name(name) in TREE_NAMES:
            yield Match(at, "block", "json_tree", 1, f"column {table}.{found[1]} holds a tree", USE_EDGES)
        elif kind in _TREE_TYPES and name != "metadata":
            message = f"column {table}.{found[1]} of type {found[2]} can hold a tree"
            yield Match(at, "warn", "json_tree", 1, message, f"Keep no structure of the theory in it. {USE_EDGES}")
    if table == "toc_nodes":
        for found in _REFERENCE.finditer(text, defined.end()):
            if found[1].lower() == "toc_nodes":
                yield _adjacency(found.start(), "toc_nodes references itself, so that a node has a single parent")
    if defined[0][:6].upper() == "CREATE":
        yield from _table(text, table, defined.start())


def _table(text: str, table: str, at: int) -> Iterator[Match]:
    if not _TENANT.search(text):
        message = f"{table} has no column tenant_id"
        yield Match(at, "warn", "no_tenant", 7, message, "Add tenant_id, and row level security on it.")
    if table == "toc_edges" and not any(_has_ends(found[1], 2) for found in _UNIQUE.finditer(text)):
        message = "toc_edges is not unique by source, target and type"
        yield Match(
            at, "warn", "edge_not_unique", 5, message, "Add UNIQUE (source_node_id, target_node_id, edge_type)."
        )


def _single_parent(text: str) -> Iterator[Match]:
    if "toc_edges" not in text.lower():
        return
    keys = [*_UNIQUE.finditer(text), *_UNIQUE_INDEX.finditer(text)] if _defines_edges(text) else []
    narrow = [found for found in keys if _has_ends(found[1], 1) and not re.search(r"(?<!\w)id\b", found[1])]
    for found in [*narrow, *(_UNIQUE_COLUMN.finditer(text) if _defines_edges(text) else ())]:
        message = "toc_edges is unique by one of its ends, so that a node has a single parent or a single child"
        action = "Make it unique by source_node_id, target_node_id and edge_type together."
        yield Match(found.start(), "block", "single_parent", 1, message, action)


def _defines_edges(text: str) -> bool:
    defined = _DEFINES.search(text)
    return _UNIQUE_INDEX.search(text) is not None or (defined is not None and defined[1].lower() == "toc_edges")


def _has_ends(columns: str, count: int) -> bool:
    return sum(end in columns.lower() for end in ENDS) == count


def _unknown_words(text: str) -> Iterator[Match]:
    for found in _WORDS.finditer(text):
        column = found[1].lower()
        unknown = [word for word in _LITERAL.findall(found[2]) if word not in _ALLOWED_WORDS[column]]
        if unknown:
            message = f"{column} {', '.join(unknown)} is none of the types of the model"
            action = f"Use {', '.join(_ALLOWED_WORDS[column])}."
            yield Match(found.start(), "block", "unknown_type", _SECTION_OF_WORD[column], message, action)


def _published(text: str) -> Iterator[Match]:
    for change in find_changes(text):
        at, verb, table, status, reach = change
        if table not in _SECTION_OF_TABLE:
            continue
        if table == "toc_versions" and status is not None:
            yield from _status_change(text, change)
        elif reach == "published":
            message = f"{verb} of {table} reaches PUBLISHED versions, which are final"
            yield Match(at, "block", "published_edited", 2, message, _NEXT_DRAFT)
        elif reach == "unknown":
            message = f"{verb} of {table} does not say that the version is a DRAFT"
            action = _ONLY_DRAFT if table == "toc_versions" else _ONLY_DRAFTS
            yield Match(at, "warn", "draft_not_checked", _SECTION_OF_TABLE[table], message, action)
    if _DISABLES_TRIGGERS.search(text):
        message = "without its triggers a published version can be changed"
        yield Match(0, "block", "published_edited", 2, message, "Leave the triggers on toc_* tables enabled.")


def _status_change(text: str, change: ContentChange) -> Iterator[Match]:
    """Check an UPDATE that sets the status: the only one that may is the one that publishes a draft."""
    at = change.at
    if change.status == VersionStatus.DRAFT:
        message = "a published version becomes a DRAFT again, so that it can be edited"
        yield Match(at, "block", "published_edited", 2, message, _NEXT_DRAFT)
        return
    if change.reach != "drafts":
        message = "a version is published without the plain condition that it is a DRAFT"
        action = "Add AND status = 'DRAFT' to the condition."
        yield Match(at, "block", "publish_unchecked", 3, message, action)
    if "published_at" not in text.lower():
        action = "Set published_at in the same statement."
        yield Match(at, "warn", "publish_unchecked", 3, "published_at is not set with the status", action)


def _isolation(text: str) -> Iterator[Match]:
    if found := _DISABLES_ROW_SECURITY.search(text):
        message = "row level security of a toc_* table is switched off"
        yield _isolated(found.start(), "block", "row_security_off", message, "Leave it enabled and forced.")
    if found := _OPEN_POLICY.search(text):
        message = "the policy lets every tenant see or write the rows"
        yield _isolated(found.start(), "block", "open_policy", message, "Compare tenant_id with that of the user.")
    if (found := _READS.search(text)) and not _DEFINES.search(text) and not _TENANT.search(text):
        message = "the statement does not filter by tenant_id"
        yield _isolated(found.start(), "warn", "no_tenant", message, "Add a condition on tenant_id.")


def _adjacency(at: int, message: str) -> Match:
    return Match(at, "block", "parent_id", 1, message, USE_EDGES)


def _isolated(at: int, severity: Severity, rule: str, message: str, action: str) -> Match:
    return Match(at, severity, rule, 7, message, action)


_RULES: tuple[Callable[[str], Iterator[Match]], ...] = (
    _parent,
    _columns,
    _single_parent,
    _unknown_words,
    _published,
    _isolation,
)
