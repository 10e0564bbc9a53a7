"""Write and parse the texts on the cards and arrows of a canvas.

    **OC1** Families drink clean water          a node: its key and title, then its description

    **AS3** *Assumption, high risk*             an assumption: its key and risk, then its text

    CAUSES: fewer germs                         an arrow: its type, unless CONTRIBUTES_TO, and its mechanism

    NEEDED_BY: clean wells                      an arrow from what something depends on to what depends on it

Cards are Markdown. Our texts are plain, so all Markdown in them is escaped: they render literally, link to nothing,
load nothing, and are read back exactly. An exported card is recognized by its leading key, not by its id: a card
copied in Obsidian gets another id. Texts of other cards are read as rendered.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from groundplan.purpose.model import (
    ASSUMPTION_PREFIX,
    NEEDED_BY,
    PREFIXES,
    TITLE_CHARS_MAX,
    Assumption,
    EdgeType,
    PurposeEdge,
    PurposeNode,
    RiskLevel,
)


class NodeCard(NamedTuple):
    """The node on a card."""

    title: str
    description: str


class AssumptionCard(NamedTuple):
    """The assumption on a card."""

    text: str
    risk_level: RiskLevel | None


class Label(NamedTuple):
    """The type and mechanism on an arrow."""

    edge_type: EdgeType | None
    mechanism: str | None
    is_turned: bool = False  # the arrow leads from the target of the edge to its source


# Syntax of Markdown and of the Obsidian extensions: math, tags, highlights, comments.
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
_TYPED_LABEL = re.compile(
    rf"(contributes[ _]to|causes|depends[ _]on|(?:is[ _])?{NEEDED_BY.replace('_', '[ _]')}|feedback)(?:: (.*))?",
    re.IGNORECASE | re.DOTALL,
)

# Markup removed from a title. No pattern looks past the next mark of its kind, so the cost is linear.
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
_EMPHASIS_DEPTH_MAX = 2  # nested emphasis
_PLAIN_CHARS_MAX = 2 * TITLE_CHARS_MAX  # a longer line is not a title and keeps its markup


def format_node(node: PurposeNode) -> str:
    """Return the text on the card of a node."""
    head = f"**{node.key}** {_MARKS.sub(_escape_match, node.title)}"
    return f"{head}\n\n{_escape_text(node.description)}" if node.description else head


def format_assumption(assumption: Assumption) -> str:
    """Return the text on the card of an assumption."""
    risk = "" if assumption.risk_level is None else f", {assumption.risk_level.lower()} risk"
    return f"**{assumption.key}** *Assumption{risk}*\n\n{_escape_text(assumption.assumption_text)}"


def format_edge_label(edge: PurposeEdge, *, is_turned: bool = False) -> str | None:
    """Return the label of an arrow."""
    text = edge.mechanism
    if edge.edge_type is EdgeType.CONTRIBUTES_TO and (not text or parse_label(text).edge_type is None):
        return text or None
    relation = NEEDED_BY if is_turned else edge.edge_type
    return f"{relation}: {text}" if text else relation


def parse_card(text: str) -> NodeCard | AssumptionCard:
    """Parse a card: an exported card exactly, and any other by its first line and the rest."""
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


def parse_label(label: str) -> Label:
    """Parse the label of an arrow: a type in any case, and the mechanism after a colon."""
    match = _TYPED_LABEL.fullmatch(label)
    if match is None:
        return Label(None, label or None)
    word = match[1].upper().replace(" ", "_")
    if word.endswith(NEEDED_BY):
        return Label(EdgeType.DEPENDS_ON, match[2] or None, is_turned=True)
    return Label(EdgeType(word), match[2] or None)


def _escape_text(text: str) -> str:
    """Escape all Markdown in a text of several lines."""
    # After a number it is the following sign that starts a list, so escape that.
    return _BLOCK_MARKERS.sub(
        lambda match: f"{match[1]}\\{match[2]}" if match[2] else f"{match[1]}{match[3]}\\",
        _MARKS.sub(_escape_match, text),
    )


def _escape_match(match: re.Match[str]) -> str:
    return f"\\{match[0]}"


def _unescape(text: str) -> str:
    return "".join(_ESCAPED.split(text))  # the separators are kept without their backslash


def _strip_markdown(line: str) -> str:
    """Return a line without markup, or unchanged if nothing would remain or if it is too long for a title."""
    if len(line) > _PLAIN_CHARS_MAX:
        return line.strip()
    plain = _LEADING_MARKS.sub("", line.strip(), count=1)
    plain = _LINK.sub(r"\1", _WIKI_LINK.sub(r"\1", plain))
    for _ in range(_EMPHASIS_DEPTH_MAX):
        for emphasis in _EMPHASES:
            plain = emphasis.sub(r"\2", plain)
    return _unescape(plain).strip() or line.strip()
