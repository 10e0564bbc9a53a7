"""`groundplan next` and `take`: what to do next, and that I do it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from groundplan.surfaces.cli.drawing import GAP, Part
from groundplan.surfaces.cli.failures import escape_control_chars
from groundplan.surfaces.cli.screen.output import Output
from groundplan.surfaces.cli.short.planning import parse_count
from groundplan.surfaces.cli.short.session import WordSession
from groundplan.surfaces.cli.short.views import WordResult, draw_fields, draw_heading, draw_text, draw_warnings
from groundplan.surfaces.cli.short.words.arguments import Line
from groundplan.surfaces.cli.terminal import format_time, format_value, to_one_line

if TYPE_CHECKING:
    from groundplan.work.graph.next import Offer, Offers

TITLED = ("description", "summary")  # properties that are texts


def show_next(session: WordSession, line: Line) -> WordResult:
    """Show the best tasks."""
    scope = session.look_up_one(line.first("under"))
    wanted: dict[str, Any] = {
        "project": session.project,
        "scope": scope and scope.id,
        "count": parse_count(line.first("limit"), "--limit"),
    }

    def read() -> WordResult:
        answer = session.run("work.next", **wanted)
        last = answer.nodes[0].node.id if answer.nodes else None
        return WordResult(lambda output: draw_offers(answer, output, "ready"), last=last, follow=read)

    return read()


def take(session: WordSession, line: Line) -> WordResult:
    """Take the named task, or the best one; or give it back."""
    node = session.look_up_one(line.first("id"))
    decision = line.first("message")
    if line.has("off"):
        node = node or session.look_up(["-"])[0]
        answer = session.run("work.update", updates=[{"node_id": node.id, "release": True}], decision=decision)
        (node,) = session.look_up([node.id])
        from groundplan.surfaces.cli.short.finishing import draw_changed  # `next` does not need it

        return WordResult(lambda output: draw_changed([node], None, answer, output), last=node.id)
    scope = session.look_up_one(line.first("under"))
    answer = session.run(
        "work.claim",
        project=None if node else session.project,
        node_id=node and node.id,
        scope=scope and scope.id,
        decision=decision,
    )
    last = answer.nodes[0].node.id if answer.nodes else None
    return WordResult(lambda output: draw_offers(answer, output, "claimed"), last=last)


def draw_offers(answer: Offers, output: Output, state: str) -> Iterator[Part]:
    """Yield the offered tasks, or why there are none."""
    if not answer.nodes:
        yield f"Nothing to start: {answer.reason}."
    for offer in answer.nodes:
        yield GAP
        yield from _draw_offer(offer, output, state)
    yield from draw_warnings(answer)


def _draw_offer(offer: Offer, output: Output, state: str) -> Iterator[Part]:
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
    evidence = "; ".join(f"{entry.type}: {to_one_line(entry.ref)}" for entry in one.evidence or ())
    return f"{one.id} {to_one_line(one.summary)}" + (f" ({evidence})" if evidence else "")
