"""`groundplan ls`: list tasks by state, tag, place, actor or text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

from groundplan.surfaces.cli.command_line import Kind, argument, option, usage_error
from groundplan.surfaces.cli.invocation import CommandResult, Invocation
from groundplan.surfaces.cli.options import Cursor, Limit, Watch
from groundplan.surfaces.cli.screen.output import Output
from groundplan.surfaces.cli.screen.parts import GAP, Part
from groundplan.surfaces.cli.screen.styled_text import StyledText
from groundplan.surfaces.cli.short.views import describe_no_tasks, draw_task, make_result

if TYPE_CHECKING:
    from groundplan.work.graph.outline import Outline

STATES = ("open", "ready", "blocked", "taken", "mine", "done", "dropped", "all")
DROPPED = "dropped"  # the type of the evidence that dropping leaves
FILTERS: dict[str, dict[str, Any]] = {
    "open": {"resolved": False},
    "ready": {"is_actionable": True, "claimed_by": None},
    "blocked": {"is_blocked": True},
    "done": {"resolved": True},
    "dropped": {"resolved": True, "has_evidence_type": DROPPED},
    "all": {},
}


def list_tasks(
    invocation: Invocation,
    state: Annotated[str, argument("STATE", f"Which: {', '.join(STATES)}. Default: open.", choices=STATES)] = "open",
    tag: Annotated[
        str | None, option("--tag", "-t", value="TAG", text="Only those with this tag.", kind=Kind.TAG)
    ] = None,
    under: Annotated[
        str | None, option("--under", "-u", value="ID", text="Only those below this task.", kind=Kind.NODE)
    ] = None,
    by: Annotated[str | None, option("--by", value="NAME", text="Only those that this actor has taken.")] = None,
    text: Annotated[str | None, option("--text", value="TEXT", text="Only those with this text in the title.")] = None,
    sort: Annotated[
        str | None, option("--sort", value="ORDER", text="readiness (the default), recent, created or depth.")
    ] = None,
    limit: Limit = None,
    cursor: Cursor = None,
    watch: Watch = False,
) -> CommandResult:
    """List tasks."""
    filter_: dict[str, Any] = {"tag": tag, "text": text, "claimed_by": by}
    filter_ = {name: value for name, value in filter_.items() if value}
    if top := invocation.look_up_one(under):
        filter_["ancestor"] = top.id
    wanted = _build_request(invocation, state, filter_, sort) | {"limit": limit, "cursor": cursor}

    def read() -> CommandResult:
        answer = invocation.run("work.outline", **wanted)
        last = answer.nodes[0].id if len(answer.nodes) == 1 else None
        return make_result(lambda output: draw_outline(answer, output), last=last, follow=read)

    return read()


def _build_request(invocation: Invocation, state: str, filter_: dict[str, Any], sort: str | None) -> dict[str, Any]:
    """Return the tasks in a state, of those that pass a filter, as arguments of `work.outline`."""
    if state == "taken" and not filter_ and sort is None:
        return {"project": invocation.project, "lane": "claimed"}
    if state == "mine":
        mine = "" if invocation.actor is None else invocation.actor.id
        filter_ = {**filter_, "claimed_by": mine, "resolved": False}
    elif state == "taken":
        if "claimed_by" not in filter_:
            raise usage_error(("ls",), "taken is not combined with other filters; add --by NAME")
    else:
        filter_ = {**FILTERS[state], **filter_}
    return {"project": invocation.project, "filter": filter_, "sort": sort}


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
