"""What stands on the cards and arrows of a canvas, both ways.

    **OC1** Families drink clean water          a node: its key and title, then its description

    **AS3** *Assumption, high risk*             an assumption: its key and risk, then its text

    CAUSES: fewer germs                         an arrow: what it is, unless it is a contribution, and its mechanism

Cards are Markdown. Our texts are not, so every mark in them is escaped: they read as they were written, link to
nothing, load nothing, and come back exactly. A card of ours is told by the key it begins with, whatever its id is: who
copies a card in Obsidian gets one with another id. What people wrote on theirs is taken as they see it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from groundplan.purpose.limits import TITLE_CHARS_MAX
from groundplan.purpose.model import (
    ASSUMPTION_PREFIX,
    PREFIXES,
    Assumption,
    EdgeType,
    PurposeEdge,
    PurposeNode,
    RiskLevel,
)


class NodeCard(NamedTuple):
    """A node as its card says it."""

    title: str
    description: str


class AssumptionCard(NamedTuple):
    """An assumption as its card says it."""

    text: str
    risk_level: RiskLevel | None


class Label(NamedTuple):
    """What an arrow says."""

    edge_type: EdgeType | None
    mechanism: str | None


# Marks of Markdown and of what Obsidian adds to it: math, tags, highlights, comments.
_MARKS = re.compile(
    r"[\\`*\[\]<|$] | (?<!\w)_ | _(?!\w) | (?<!\S)\# | &(?=\#?\w+;)"
    r"| (?<==)= | =(?==) | (?<=~)~ | ~(?=~) | (?<=%)% | %(?=%)",
    re.VERBOSE,
)
_BLOCK_MARKERS = re.compile(r"((?:^|[\r\n])[ \t]*)(?:([>+=-])|([0-9]+)(?=[.)]))")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")

_OWN_KEY = re.compile(rf"\*\*(?:{'|'.join((*PREFIXES.values(), ASSUMPTION_PREFIX))})[1-9][0-9]*\*\*(?=[ \r\n]|\Z)")
_ASSUMPTION_HEAD = re.compile(r" \*Assumption(?:, (low|medium|high) risk)?\*", re.IGNORECASE)
_ASSUMPTION_LABEL = re.compile(r"assumption\s*:\s*", re.IGNORECASE)
_TYPED_LABEL = re.compile(r"(contributes[ _]to|causes|depends[ _]on|feedback)(?:: (.*))?", re.IGNORECASE | re.DOTALL)

# What is taken off a title. No pattern looks past the next mark of its sort, so a line costs no more than its length.
_LEADING_MARKS = re.compile(r"(?:(?:#{1,6}|[>*+-]|\[[ xX]\])\s+)*+")
_WIKI_LINK = re.compile(r"!?\[\[(?:[^\[\]|]*+\|)?([^\[\]|]*+)\]\]")
_LINK = re.compile(r"!?\[([^\[\]]*+)\]\([^()\s]*+\)")
_EMPHASES = (
    re.compile(r"(?<![\\*])(\*{1,3})(?=[^\s*])([^*]*[^\s*])\1"),
    re.compile(r"(?<![\\\w])(_{1,3})(?=[^\s_])([^_]*[^\s_])\1(?!\w)"),
    re.compile(r"(?<![\\=])(==)(?=[^\s=])([^=]*[^\s=])\1"),
    re.compile(r"(?<![\\~])(~~)(?=[^\s~])([^~]*[^\s~])\1"),
    re.compile(r"(?<![\\`])(`{1,3})(?=[^\s`])([^`]*[^\s`])\1"),
)
_EMPHASIS_DEPTH_MAX = 2  # emphasis inside of emphasis
_PLAIN_CHARS_MAX = 2 * TITLE_CHARS_MAX  # a longer line is a text, which may keep its marks


def node_text(node: PurposeNode) -> str:
    """The text on the card of a node."""
    head = f"**{node.key}** {_MARKS.sub(_escape_match, node.title)}"
    return f"{head}\n\n{_escape_text(node.description)}" if node.description else head


def assumption_text(one: Assumption) -> str:
    """The text on the card of an assumption."""
    risk = "" if one.risk_level is None else f", {one.risk_level.lower()} risk"
    return f"**{one.key}** *Assumption{risk}*\n\n{_escape_text(one.assumption_text)}"


def edge_label(edge: PurposeEdge) -> str | None:
    """What is written on an arrow."""
    said = edge.mechanism
    if edge.edge_type is EdgeType.CONTRIBUTES_TO and (not said or read_label(said).edge_type is None):
        return said or None
    return f"{edge.edge_type}: {said}" if said else str(edge.edge_type)


def read_card(text: str) -> NodeCard | AssumptionCard:
    """What a card says: one of ours exactly, one of somebody else by its first line and the rest."""
    ours = _OWN_KEY.match(text)
    if ours is not None:
        head, _, rest = text[ours.end() :].partition("\n")
        body = _unescape(rest.removeprefix("\n"))
        assumed = _ASSUMPTION_HEAD.fullmatch(head.rstrip())
        if assumed is None:
            return NodeCard(_unescape(head.removeprefix(" ")), body)
        return AssumptionCard(body, RiskLevel(assumed[1].upper()) if assumed[1] else None)
    first, _, rest = text.strip().partition("\n")
    title = _strip_markdown(first)
    by_hand = _ASSUMPTION_LABEL.match(title)
    if by_hand is None:
        return NodeCard(title, rest.strip())
    return AssumptionCard(f"{title[by_hand.end() :]}\n{rest}".strip(), None)


def read_label(label: str) -> Label:
    """What an arrow says: a type by its name, in any case, and behind a colon the mechanism."""
    found = _TYPED_LABEL.fullmatch(label)
    if found is None:
        return Label(None, label or None)
    return Label(EdgeType(found[1].upper().replace(" ", "_")), found[2] or None)


def _escape_text(text: str) -> str:
    """A text of any number of lines in which nothing is a mark."""
    # A number is no mark; what makes a list of it is the sign behind.
    return _BLOCK_MARKERS.sub(
        lambda found: f"{found[1]}\\{found[2]}" if found[2] else f"{found[1]}{found[3]}\\",
        _MARKS.sub(_escape_match, text),
    )


def _escape_match(found: re.Match[str]) -> str:
    return f"\\{found[0]}"


def _unescape(text: str) -> str:
    return "".join(_ESCAPED.split(text))  # what is split at is kept, but for the mark in front of it


def _strip_markdown(line: str) -> str:
    """A line of Markdown without its marks; itself, if it is made of nothing else, or no title by its length."""
    if len(line) > _PLAIN_CHARS_MAX:
        return line.strip()
    said = _LEADING_MARKS.sub("", line.strip(), count=1)
    said = _LINK.sub(r"\1", _WIKI_LINK.sub(r"\1", said))
    for _ in range(_EMPHASIS_DEPTH_MAX):
        for emphasis in _EMPHASES:
            said = emphasis.sub(r"\2", said)
    return _unescape(said).strip() or line.strip()
