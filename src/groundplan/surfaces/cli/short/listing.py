"""`groundplan ls`: list tasks by state, tag, place, actor or text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from groundplan.kernel.wording import find_nearest, quote_text
from groundplan.surfaces.cli.screen.output import Output
from groundplan.surfaces.cli.screen.parts import GAP, Part
from groundplan.surfaces.cli.screen.styled_text import StyledText
from groundplan.surfaces.cli.short.planning import parse_count
from groundplan.surfaces.cli.short.session import WordSession
from groundplan.surfaces.cli.short.views import WordResult, describe_no_tasks, draw_task
from groundplan.surfaces.cli.short.words.arguments import Line, usage_error
from groundplan.surfaces.cli.short.words.table import STATES

if TYPE_CHECKING:
    from groundplan.work.graph.outline import Outline

DROPPED = "dropped"  # the type of the evidence that dropping leaves
FILTERS: dict[str, dict[str, Any]] = {
    "open": {"resolved": False},
    "ready": {"is_actionable": True, "claimed_by": None},
    "blocked": {"is_blocked": True},
    "done": {"resolved": True},
    "dropped": {"resolved": True, "has_evidence_type": DROPPED},
    "all": {},
}


def list_tasks(session: WordSession, line: Line) -> WordResult:
    """List tasks."""
    wanted = _build_request(session, line)

    def read() -> WordResult:
        answer = session.run("work.outline", **wanted)
        last = answer.nodes[0].id if len(answer.nodes) == 1 else None
        return WordResult(lambda output: draw_outline(answer, output), last=last, follow=read)

    return read()


def _build_request(session: WordSession, line: Line) -> dict[str, Any]:
    state = line.first("state") or "open"
    if state not in STATES:
        near = find_nearest(state, STATES)
        hint = f", did you mean {near}" if near else f"; the states are {', '.join(STATES)}"
        raise usage_error(line.word, f"no such state {quote_text(state)}{hint}", allowed=list(STATES))
    paging = {"limit": parse_count(line.first("limit"), "--limit"), "cursor": line.first("cursor")}
    filter_: dict[str, Any] = {}
    if tag := line.first("tag"):
        filter_["tag"] = tag
    if text := line.first("text"):
        filter_["text"] = text
    if under := session.look_up_one(line.first("under")):
        filter_["ancestor"] = under.id
    if by := line.first("by"):
        filter_["claimed_by"] = by
    if state == "taken" and not filter_ and line.first("sort") is None:
        return {"project": session.project, "lane": "claimed", **paging}
    if state == "mine":
        filter_["claimed_by"] = "" if session.actor is None else session.actor.id
        filter_["resolved"] = False
    elif state == "taken":
        if "claimed_by" not in filter_:
            raise usage_error(line.word, "taken is not combined with other filters; add --by NAME")
    else:
        filter_ = {**FILTERS[state], **filter_}
    return {"project": session.project, "filter": filter_, "sort": line.first("sort"), **paging}


def draw_outline(answer: Outline, output: Output) -> Iterator[Part]:
    """Yield a line for each task, and how many there are."""
    if not answer.nodes:
        yield describe_no_tasks()
        return
    for node in answer.nodes:
        yield draw_task(node, output, with_parent=output.is_terminal)
    if answer.next_cursor:
        yield GAP
        yield StyledText(f"{len(answer.nodes)} of {answer.total}. Next page: --cursor {answer.next_cursor}", "dim")
    elif output.is_terminal:
        yield GAP
        yield StyledText(f"{answer.total} {'task' if answer.total == 1 else 'tasks'}", "dim")
