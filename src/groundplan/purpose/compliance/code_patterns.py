"""Names of the theory's tables in source code, and the rules for a class, model or call that uses one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

# A table by its name, or a trigger, class or variable that is named after one.
TOC_NAME = re.compile(
    r"(?<![a-zA-Z0-9])(?i:toc_)[a-zA-Z]\w*"
    r"|\b[tT]oc(?:Node|Edge|Version|Assumption|EdgeAssumption|Indicator)s?(?![a-z])",
    re.ASCII,
)
PARENT = re.compile(r"\bparent_?(?:node_?|toc_?)?id\b|\bparent_(?:node|key|ref)\b", re.IGNORECASE | re.ASCII)
USE_EDGES = "Connect nodes by rows of toc_edges: a node can have several parents."

Severity = Literal["block", "warn"]


class RuleMatch(NamedTuple):
    """A match of a rule, by its offset in the text."""

    at: int
    severity: Severity
    rule: str
    section: int
    message: str
    action: str


_SELF = re.compile(
    r"\b(?:ForeignKey|OneToOneField|TreeForeignKey)\(\s*[\"']self[\"']|\b(?:references|belongs_to)\s+:parent\b",
    re.ASCII,
)
_OWN_TABLE = re.compile(r"\b__tablename__\s*=\s*[\"']toc_nodes[\"']", re.ASCII)
_TO_OWN_TABLE = re.compile(r"\bForeignKey\(\s*[\"']toc_nodes\.", re.ASCII)
_TREE_LIBRARY = re.compile(
    r"\b(?:MPTTModel|MP_Node|NS_Node|AL_Node|acts_as_tree|acts_as_nested_set|has_ancestry|has_closure_tree)\b|@Tree\(",
    re.ASCII,
)
_TREE_WORDS, _PATH_WORDS = r"(children|subtree|tree|nested)", r"(path|ancestors|lineage)"
_ANY = r"[^\n;,]{0,40}?"  # between the name of a column and its type, on the same line
_TREE = re.compile(
    rf"\b{_TREE_WORDS}[\"']?\??(?:\s*[:=(,]|\s){_ANY}\bjson|\bjsonb?[\s(]+[:\"']{_TREE_WORDS}\b",
    re.IGNORECASE | re.ASCII,
)
_PATH = re.compile(
    rf"\b{_PATH_WORDS}[\"']?\??(?:\s*[:=(,]|\s){_ANY}(?:column\(|\b(?:char|text)field\b|\bvarchar|\bltree)"
    rf"|\b{_PATH_WORDS}[ \t]+String\b|\b(?:string|text|varchar|ltree)[\s(]+[:\"']{_PATH_WORDS}\b"
    rf"|\bcolumn\(\s*[\"']{_PATH_WORDS}\b",
    re.IGNORECASE | re.ASCII,
)
_CHANGES = re.compile(r"\.\s*(update|delete|destroy|update_all|delete_all|set)\s*\(", re.ASCII)
_PUBLISHED = re.compile(
    r"\.(?:eq|where|filter|match)\(\s*[\"']status[\"']\s*,\s*[\"']PUBLISHED[\"']"
    r"|(?<![a-zA-Z])status[\"']?\s*(?:={1,3}|:)\s*[\"']PUBLISHED[\"']",
    re.ASCII,
)
_EXCLUDES = re.compile(r"\bexclude\(", re.ASCII)
_DRAFT = re.compile(r"[\"']DRAFT[\"']|\bDRAFT\b", re.ASCII)
_SETS = re.compile(
    r"\.\s*(?:update|set|update_all)\s*\((?:\s*\{)?[^{}]{0,400}?\bstatus[\"']?\s*(?::|=>|=)\s*[\"'](DRAFT|PUBLISHED)[\"']"
)
_VERSIONS = re.compile(r"\btoc_versions\b|\b[tT]ocVersions?\b", re.ASCII)


def check_unit(text: str) -> Iterator[RuleMatch]:
    """Yield the findings in a unit that uses a toc_* table, with offsets in its text."""
    own = _TO_OWN_TABLE.finditer(text) if _OWN_TABLE.search(text) else ()
    for match in [*PARENT.finditer(text), *_SELF.finditer(text), *own]:
        message = f"{match[0]} makes an adjacency list of the theory"
        yield RuleMatch(match.start(), "block", "parent_id", 1, message, USE_EDGES)
    for match in _TREE_LIBRARY.finditer(text):
        yield RuleMatch(match.start(), "block", "single_parent", 1, f"{match[0]} stores a tree", USE_EDGES)
    for match in _TREE.finditer(text):
        yield RuleMatch(match.start(), "block", "json_tree", 1, f"{_get_first_group(match)} holds a tree", USE_EDGES)
    for match in _PATH.finditer(text):
        message = f"{_get_first_group(match)} is a materialised path, which cannot hold several parents"
        yield RuleMatch(match.start(), "block", "materialised_path", 1, message, USE_EDGES)
    yield from _match_published_edits(text)


def _match_published_edits(text: str) -> Iterator[RuleMatch]:
    changes = _CHANGES.search(text)
    if changes is None:
        return
    sets = _SETS.search(text)
    if sets is not None and _VERSIONS.search(text):
        if sets[1] == "DRAFT":
            message = "a published version becomes a DRAFT again, so that it can be edited"
            action = "Create a draft from the published version and change that."
            yield RuleMatch(sets.start(), "block", "published_edited", 2, message, action)
        elif not _DRAFT.search(text):
            action = "Add a condition that its status is DRAFT."
            message = "a version is published whatever its status is"
            yield RuleMatch(sets.start(), "block", "publish_unchecked", 3, message, action)
    elif _PUBLISHED.search(text) and not _EXCLUDES.search(text):
        message = f"{changes[1]} reaches PUBLISHED versions, which are final"
        action = "Create a draft from the published version and change that."
        yield RuleMatch(changes.start(), "block", "published_edited", 2, message, action)


def _get_first_group(match: re.Match[str]) -> str:
    return next(group for group in match.groups() if group)
