"""Write a theory as a logical framework in Markdown: a table per level, from the goals down.

    | Objective | Indicators | Means of verification | Assumptions |

An assumption on an edge is in the row of the cause, as usual in logical frameworks. Below the tables are the edges and
the waivers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from groundplan.purpose.dates import get_day
from groundplan.purpose.exchange.document import FORMAT
from groundplan.purpose.exchange.theory import Theory, describe_edge, describe_version, describe_waiver, name_relation
from groundplan.purpose.markup import escape_inline
from groundplan.purpose.model import (
    TEXT_BYTES_MAX,
    Assumption,
    EdgeName,
    Indicator,
    PurposeEdge,
    PurposeNode,
    normalize_numbers,
)
from groundplan.purpose.picture.tokens import BAND_NAMES, STATUS_NAMES

COLUMNS = ("Objective", "Indicators", "Means of verification", "Assumptions")
EMPTY_CELL = "—"
NEW_LINE = "<br>"  # the only line break possible in a cell

_VERIFIED_SUFFIXES = {None: "", True: " (verified)", False: " (not verified)"}
# A waiver is the longest single text: its code, a hundred refs, a reason.
_UNCUT_CHARS_MAX = 16 * TEXT_BYTES_MAX


def write_logframe(theory: Theory) -> str:
    """Write a theory as a logical framework in Markdown."""
    blocks = [f"# Logical framework: {_format_text(describe_version(theory))}", _describe_node(theory)]
    for node_type, name in reversed(BAND_NAMES.items()):
        nodes = theory.content.list_nodes_of_type(node_type)
        if nodes:
            blocks.append(f"## {name}")
            blocks.append("\n".join(_format_table(theory, nodes)))
    for title, lines in (
        ("What leads to what", [_format_edge(theory, edge) for edge in theory.content.edges]),
        ("Waivers", [_format_text(describe_waiver(waiver)) for waiver in theory.waivers]),
    ):
        if lines:
            blocks.append(f"## {title}")
            blocks.append("\n".join(f"- {line}" for line in lines))
    return "\n\n".join(blocks) + "\n"


def _describe_node(theory: Theory) -> str:
    published = "" if theory.published_at is None else f" Published on {get_day(theory.published_at)}."
    empty = "" if theory.content.nodes else " There is nothing in this version yet."
    return f"Groundplan, format: {FORMAT}.{published}{empty}"


def _format_table(theory: Theory, nodes: list[PurposeNode]) -> Iterator[str]:
    assumed, indicators = _group_assumptions(theory), theory.group_indicators_by_node()
    yield _format_row(COLUMNS)
    yield _format_row("---" for _ in COLUMNS)
    for node in nodes:
        node_indicators = indicators.get(node.key, [])
        yield _format_row(
            (
                _format_cell(_format_objective(node)),
                _format_cell(_format_indicator(theory, indicator) for indicator in node_indicators),
                _format_cell(_format_verification(theory, indicator) for indicator in node_indicators),
                _format_cell(_format_assumption(theory, assumption) for assumption in assumed.get(node.key, ())),
            )
        )


def _group_assumptions(theory: Theory) -> dict[str, list[Assumption]]:
    """Return the assumptions by row: the row of their node, or of the cause of their edge."""
    by_row: dict[str, list[Assumption]] = {}
    for assumption in theory.content.assumptions.values():
        row = assumption.node if assumption.edge is None else theory.content.orient(assumption.edge).source
        if row is not None:
            by_row.setdefault(row, []).append(assumption)
    return by_row


def _format_objective(node: PurposeNode) -> Iterator[str]:
    yield f"**{node.key}** {_format_text(node.title)}"
    if node.description and node.description.strip():
        yield _format_text(node.description)
    if node.owner is not None:
        yield f"Owner: {_format_text(node.owner)}"


def _format_indicator(theory: Theory, indicator: Indicator) -> str:
    unit = "" if indicator.unit is None else f" {_format_text(indicator.unit)}"
    baseline = _format_number(indicator.baseline) + _VERIFIED_SUFFIXES[indicator.baseline_verified]
    latest = theory.latest.get(indicator.key)
    now = "not measured yet" if latest is None else f"latest {_format_number(latest.value)} on {get_day(latest.as_of)}"
    way = "" if indicator.direction is None else f", should {indicator.direction}"
    numbers = f"{baseline} → {_format_number(indicator.target)}{unit}"
    return f"**{indicator.key}** {_format_text(indicator.name)}: {numbers}{way}; {now}"


def _format_verification(theory: Theory, indicator: Indicator) -> str:
    parts = [
        _format_text(text) for text in (indicator.method, indicator.frequency, indicator.owner) if text is not None
    ]
    latest = theory.latest.get(indicator.key)
    if latest is not None and latest.source is not None:
        parts.append(f"latest from {_format_text(latest.source)}")
    if latest is not None and latest.note is not None:
        parts.append(f"note: {_format_text(latest.note)}")
    return f"**{indicator.key}** {', '.join(parts) or EMPTY_CELL}"


def _format_assumption(theory: Theory, assumption: Assumption) -> str:
    risk = "risk not said" if assumption.risk_level is None else f"risk {assumption.risk_level}"
    parts = [_format_edge_name(theory, assumption.edge), risk, STATUS_NAMES[theory.get_status(assumption.key)]]
    if assumption.owner is not None:
        parts.append(f"owner {_format_text(assumption.owner)}")
    if assumption.review_by is not None:
        parts.append(f"review by {assumption.review_by}")
    return (
        f"**{assumption.key}** {_format_text(assumption.assumption_text)} ({', '.join(part for part in parts if part)})"
    )


def _format_edge_name(theory: Theory, name: EdgeName | None) -> str:
    if name is None:
        return ""
    cause, effect, edge_type = theory.content.orient(name)
    # Two nodes may have edges of several types.
    return f"for {cause} → {effect} {name_relation(edge_type)}".rstrip()


def _format_edge(theory: Theory, edge: PurposeEdge) -> str:
    ends = " → ".join(
        f"**{key}** {_format_text(theory.content.nodes[key].title)}" for key in theory.content.orient(edge.name)[:2]
    )
    parts = describe_edge(edge)
    how = "" if edge.mechanism is None else f": {_format_text(edge.mechanism)}"
    note = f" ({', '.join(parts)})" if parts else ""
    return f"{ends}{note}{how}"


def _format_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _format_cell(lines: Iterable[str]) -> str:
    return NEW_LINE.join(lines) or EMPTY_CELL


def _format_text(text: str) -> str:
    return escape_inline(text, chars_max=_UNCUT_CHARS_MAX)


def _format_number(value: float | None) -> str:
    return EMPTY_CELL if value is None else msgspec.json.encode(normalize_numbers(value)).decode()
