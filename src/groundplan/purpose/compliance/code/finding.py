"""What the search found, and where."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from msgspec import Struct

# A table by its name, or a trigger, class or variable that is named after one.
TOC_NAME = re.compile(
    r"(?<![a-zA-Z0-9])(?i:toc_)[a-zA-Z]\w*"
    r"|\b[tT]oc(?:Node|Edge|Version|Assumption|EdgeAssumption|Indicator)s?(?![a-z])",
    re.ASCII,
)
PARENT = re.compile(r"\bparent_?(?:node_?|toc_?)?id\b|\bparent_(?:node|key|ref)\b", re.IGNORECASE | re.ASCII)
USE_EDGES = "Connect nodes by rows of toc_edges: a node can have several parents."

Severity = Literal["block", "warn"]


class CodeFinding(Struct, frozen=True):
    """A forbidden or doubtful pattern: where it is, which section of the checklist it is about, what to do instead."""

    file: str
    line: int
    severity: Severity
    rule: str
    section: int
    title: str
    message: str
    action: str


class Match(NamedTuple):
    """A match of a rule, by its offset in the text."""

    at: int
    severity: Severity
    rule: str
    section: int
    message: str
    action: str
