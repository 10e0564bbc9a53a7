"""Follow the line from work to the goals, or from a purpose node down to work, evidence and measurements."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated, Literal, NamedTuple

from msgspec import Meta, Struct

from groundplan.briefing.chain import Direction, Throughline, ThroughlinePicture, ThroughlineText
from groundplan.briefing.trace import (
    add_facts_to_steps,
    build_purpose_graph,
    trace_purpose_down,
    trace_purpose_up,
    trace_work_down,
    trace_work_up,
)
from groundplan.kernel.access import Permission
from groundplan.kernel.answers import CHARS_PER_TOKEN
from groundplan.kernel.errors import NextStep, NotFound
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Effect, Group, Route, Tool, declare
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.in_force import read_purpose_in_force
from groundplan.purpose.model import Content
from groundplan.work.refs import find_node_or_none, missing_node, node_elsewhere

NEAR_MAX = 3

LineFormat = Literal["data", "markdown", "svg"]


class FollowLine(Struct, rename={"start": "from"}, forbid_unknown_fields=True):
    """The work node or purpose node to start from. By default the line leads up from work and down from purpose."""

    project: Name
    start: Annotated[str, Meta(min_length=1, max_length=255)]
    direction: Direction | None = None
    format: LineFormat = "data"


class TracedLine(NamedTuple):
    """A traced line, and the format and length of its answer; a length of 0 means no limit."""

    line: Throughline
    format: LineFormat
    title: str
    chars_max: int


def follow_line(tx: Transaction, request: FollowLine) -> TracedLine:
    """Trace the line from a work node or a purpose node.

    Raises:
        NotFound: there is no such node or key.
        AmbiguousNode: several node ids begin with the given text.
        ContentAltered: the content of the published version does not match its hash.
    """
    # Ids of work nodes have small letters and keys have capitals, so only one kind can match.
    node = find_node_or_none(tx, request.start)
    if node is not None:
        if node.project_id != tx.project.id:
            raise node_elsewhere(node, tx.project.id, beside=None)
        trace_work = trace_work_down if request.direction == "down" else trace_work_up
        line = trace_work(tx, node.n)
    else:
        purpose = read_purpose_in_force(tx, [request.start])
        if purpose is None or request.start not in purpose.content.nodes:
            raise _missing_start(tx, request.start, None if purpose is None else purpose.content)
        trace_purpose = trace_purpose_up if request.direction == "up" else trace_purpose_down
        line = trace_purpose(tx, build_purpose_graph(purpose), request.start)
    add_facts_to_steps(tx, line.chain)
    chars_max = tx.preferences.answer_tokens_max * CHARS_PER_TOKEN
    return TracedLine(line, request.format, tx.project.name, chars_max)


def present_line(traced: TracedLine) -> Throughline | ThroughlineText | ThroughlinePicture:
    """Return the line in the requested format. It runs outside the transaction, because a picture takes long."""
    if traced.format == "data":
        return traced.line
    # The renderer of pictures, which takes 30 ms to load, is not needed for data.
    from groundplan.briefing.outline import draw_line, write_outline

    if traced.format == "markdown":
        return write_outline(traced.line, chars_max=traced.chars_max)
    return draw_line(traced.line, traced.title, chars_max=traced.chars_max)


def _missing_start(tx: Transaction, ref: str, content: Content | None) -> NotFound:
    """Return the error for an unknown id or key, with similar ones."""
    near: list[str] = []
    if content is not None:
        key = ref.upper()
        subjects = {
            assumption.key: assumption.node or (assumption.edge.source if assumption.edge else None)
            for assumption in content.assumptions.values()
        }
        subjects |= {indicator.key: indicator.node for indicator in content.indicators.values()}
        if key in content.nodes:
            near = [key]
        elif subject := subjects.get(key):
            near = [subject]  # an assumption or an indicator is no node, but it is on one
        else:
            near = get_close_matches(key[:32], content.nodes, n=NEAR_MAX)
    similar = missing_node(tx, ref)
    near = [*near, *similar.details.get("near", ())][:NEAR_MAX]
    steps = (
        NextStep("work.query", "finds work nodes by text"),
        NextStep("purpose.open", "shows the keys of the purpose", {"project": tx.project.name}),
    )
    return NotFound("work node or purpose node", ref, near=near, next_steps=steps, hint=similar.hint, field="from")


OPERATION = declare(
    follow_line,
    name="briefing.throughline",
    summary="The line from work up to the goals, or from a purpose node down to work, evidence and measurements.",
    permission=Permission.PURPOSE_READ,
    effect=Effect.READ,
    finish=present_line,
    tool=Tool("throughline", Group.BRIEFING),
    http=Route("GET", "/projects/{project}/throughline/{from}"),
)
