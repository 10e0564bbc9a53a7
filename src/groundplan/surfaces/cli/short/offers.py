"""How `groundplan next` and `take` show the tasks that they offer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from groundplan.surfaces.cli.screen.control_chars import escape_control_chars
from groundplan.surfaces.cli.screen.output import Output
from groundplan.surfaces.cli.screen.parts import GAP, Part
from groundplan.surfaces.cli.short.views import draw_fields, draw_heading, draw_text, draw_warnings
from groundplan.surfaces.cli.terminal import format_time, format_value, to_one_line
from groundplan.work.evidence_check import format_marks

if TYPE_CHECKING:
    from groundplan.work.graph.next import Offer, Offers

TITLED = ("description", "summary")  # properties that are texts


def draw_offers(answer: Offers, output: Output, state: str) -> Iterator[Part]:
    """Yield the offered tasks, or why there are none."""
    if not answer.nodes:
        yield f"Nothing to start: {answer.reason}."
    for offer in answer.nodes:
        yield GAP
        yield from draw_offer(offer, output, state)
    yield from draw_warnings(answer)


def draw_offer(offer: Offer, output: Output, state: str) -> Iterator[Part]:
    """Yield an offered task: its title, what is above it, its properties and links, what came before, its texts."""
    node = offer.node
    yield from draw_heading(node.id, node.summary, state, output, style="bold")
    above = [to_one_line(one.summary) for one in offer.ancestors or ()][1:]
    properties = dict(node.properties or {})
    texts = [str(properties.pop(name)) for name in TITLED if name in properties]
    yield from draw_fields(
        [
            ("in", " > ".join(above)),
            *((_name_property(name), _format_property(name, value)) for name, value in properties.items()),
            ("links", ", ".join(node.context_links or ())),
            *(("after", _format_dependency(one)) for one in offer.resolved_deps or ()),
            *(("evidence", f"{one.type}: {to_one_line(one.ref)}") for one in node.evidence or ()),
        ],
        output,
    )
    for text in texts:
        yield from draw_text(text, output)


def _name_property(name: str) -> str:
    return {"_claimed_by": "taken by", "_claimed_at": "taken at", "_claimed_until": "taken until"}.get(
        name, escape_control_chars(name.removeprefix("_").replace("_", " "))
    )


def _format_property(name: str, value: Any) -> str:
    return format_time(value) if name in ("_claimed_at", "_claimed_until") else format_value(value)


def _format_dependency(one: Any) -> str:
    evidence = "; ".join(
        f"{entry.type}: {to_one_line(entry.ref)} {format_marks(entry)}".rstrip() for entry in one.evidence or ()
    )
    return f"{one.id} {to_one_line(one.summary)}" + (f" ({evidence})" if evidence else "")
