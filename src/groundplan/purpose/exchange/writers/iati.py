"""Write the indicators of a theory as results of the International Aid Transparency Initiative, version 2.03.

A theory has only a part of what a publisher must provide for an activity: not the reporting and participating
organizations, not its dates and status, not its language. These are left out, and comments mark their places; until
they are added, the file is not valid.

The standard requires a year for a baseline and a period for a target, which a theory does not have. A comment before
each asks for the missing value. The latest measurement has its date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from groundplan.purpose.dates import get_day
from groundplan.purpose.exchange.document import FORMAT
from groundplan.purpose.exchange.theory import Theory, describe_version
from groundplan.purpose.markup import escape_xml
from groundplan.purpose.model import Indicator, IndicatorDirection, NodeType, PurposeNode, normalize_numbers, sort_keys
from groundplan.purpose.observing.records import Measurement
from groundplan.purpose.picture.tokens import BAND_NAMES

VERSION = "2.03"
NAMESPACE = "urn:groundplan:iati"

# Codes of the standard's lists.
RESULT_TYPES = {NodeType.OUTPUT: "1", NodeType.OUTCOME: "2", NodeType.GOAL: "3", NodeType.ACTIVITY: "9"}
UNITS, PERCENTAGE = "1", "2"
PERCENT_WORDS = ("%", "percent", "per cent", "percentage")

PUBLISHER_ADDS_FIRST = (
    "The publisher adds: xml:lang to iati-activity, its own identifier for XX, and here its reporting-org."
)
PUBLISHER_ADDS_NEXT = (
    "The publisher adds here: participating-org, activity-status, activity-date, and by the rules of the standard"
    " a recipient-country or recipient-region and a sector."
)
PUBLISHER_ADDS_YEAR = "The publisher adds the year of this baseline."
PUBLISHER_ADDS_PERIOD = "The publisher adds here: period-start, period-end; the target is of no certain day."

_VERIFIED_REMARKS = {None: "", True: "verified", False: "not verified"}
_NON_ALPHANUMERIC = re.compile(r"[^A-Z0-9]+")


def write_iati(theory: Theory) -> str:
    """Write the nodes that have indicators as results."""
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<iati-activities version="{VERSION}" xmlns:groundplan="{NAMESPACE}" groundplan:format="{FORMAT}">',
        "  <iati-activity>",
        f"    <iati-identifier>{build_identifier(theory.project)}</iati-identifier>",
        f"    <!-- {PUBLISHER_ADDS_FIRST} -->",
        *_format_narrative("title", theory.project, "    "),
        *_format_narrative("description", f"Theory of change of {describe_version(theory)}", "    "),
        f"    <!-- {PUBLISHER_ADDS_NEXT} -->",
        *_format_results(theory),
        "  </iati-activity>",
        "</iati-activities>",
    ]
    return "\n".join(lines) + "\n"


def find_left_out(theory: Theory) -> list[str]:
    """Return the keys of the nodes without indicators, which are not in the file."""
    indicators = theory.group_indicators_by_node()
    return sort_keys(key for key in theory.content.nodes if key not in indicators)


def build_identifier(project: str) -> str:
    """Return an activity identifier, with a placeholder for the identifier of the publisher."""
    return f"XX-{_NON_ALPHANUMERIC.sub('-', project.upper()).strip('-') or 'PROJECT'}"


def _format_results(theory: Theory) -> Iterator[str]:
    indicators = theory.group_indicators_by_node()
    for node_type in reversed(BAND_NAMES):
        for node in theory.content.list_nodes_of_type(node_type):
            if node.key in indicators:
                yield from _format_result(theory, node, indicators[node.key])


def _format_result(theory: Theory, node: PurposeNode, indicators: list[Indicator]) -> Iterator[str]:
    yield f'    <result type="{RESULT_TYPES[node.node_type]}" groundplan:key="{node.key}">'
    yield from _format_narrative("title", node.title, "      ")
    yield from _format_narrative("description", node.description, "      ")
    for indicator in indicators:
        yield from _format_indicator(indicator, theory.latest.get(indicator.key))
    yield "    </result>"


def _format_indicator(indicator: Indicator, latest: Measurement | None) -> Iterator[str]:
    fields = {"measure": PERCENTAGE if (indicator.unit or "").casefold() in PERCENT_WORDS else UNITS}
    if indicator.direction is not None:
        fields["ascending"] = "1" if indicator.direction is IndicatorDirection.INCREASE else "0"
    fields["groundplan:key"] = indicator.key
    yield "      <indicator" + "".join(f' {name}="{value}"' for name, value in fields.items()) + ">"
    yield from _format_narrative("title", indicator.name, "        ")
    yield from _format_narrative("description", "\n".join(_describe_indicator(indicator)), "        ")
    if indicator.baseline is not None:
        yield f"        <!-- {PUBLISHER_ADDS_YEAR} -->"
        yield from _format_value(
            "baseline", indicator.baseline, _VERIFIED_REMARKS[indicator.baseline_verified], "        "
        )
    if latest is not None:
        yield from _format_latest(latest)
    if indicator.target is not None:
        yield "        <period>"
        yield f"          <!-- {PUBLISHER_ADDS_PERIOD} -->"
        yield from _format_value("target", indicator.target, "", "          ")
        yield "        </period>"
    yield "      </indicator>"


def _describe_indicator(indicator: Indicator) -> Iterator[str]:
    """Yield the fields that the standard lacks, one per line."""
    if indicator.unit is not None:
        yield f"Unit: {indicator.unit}"
    for name, text in (("Method", indicator.method), ("Frequency", indicator.frequency), ("Owner", indicator.owner)):
        if text is not None:
            yield f"{name}: {text}"


def _format_latest(latest: Measurement) -> Iterator[str]:
    """Return the latest measurement with its date."""
    day = get_day(latest.as_of)
    yield "        <period>"
    yield f'          <period-start iso-date="{day}"/>'
    yield f'          <period-end iso-date="{day}"/>'
    remark = "\n".join(text for text in (latest.source, latest.note) if text)
    yield from _format_value("actual", latest.value, remark, "          ")
    yield "        </period>"


def _format_value(tag: str, value: float, remark: str, indent: str) -> Iterator[str]:
    yield f'{indent}<{tag} value="{_format_number(value)}">'
    yield from _format_narrative("comment", remark, f"{indent}  ")
    yield f"{indent}</{tag}>"


def _format_narrative(tag: str, text: str | None, indent: str) -> Iterator[str]:
    """Return an element with the text, if it is not blank."""
    if text and text.strip():
        yield f"{indent}<{tag}>"
        yield f"{indent}  <narrative>{escape_xml(text)}</narrative>"
        yield f"{indent}</{tag}>"


def _format_number(value: float) -> str:
    """Return a number without an exponent, because some readers do not accept one."""
    return f"{Decimal(repr(normalize_numbers(value))):f}"
