"""`groundplan ls`, `board` and `tree`: tasks below each other, side by side by state, and in their tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Annotated, Any

from groundplan.surfaces.cli.command_line import Kind, argument, option, usage_error
from groundplan.surfaces.cli.everyday.drawing import (
    MARKS,
    describe_no_tasks,
    draw_task,
    get_title_style,
    make_result,
    mark_state,
)
from groundplan.surfaces.cli.invocation import CommandResult, Invocation
from groundplan.surfaces.cli.options import Cursor, Limit, MaybeTask, Watch
from groundplan.surfaces.cli.program_name import get_program_name
from groundplan.surfaces.cli.screen.output import GAP, GAP_COLUMNS, Output, Part, join_columns
from groundplan.surfaces.cli.screen.text import StyledText, cut, escape_control_chars
from groundplan.surfaces.cli.terminal import to_one_line

if TYPE_CHECKING:
    from groundplan.work.graph.outline import Outline, OutlineNode


STATES = ("open", "ready", "blocked", "taken", "mine", "done", "dropped", "all")
FILTERS: dict[str, dict[str, Any]] = {
    "open": {"resolved": False},
    "ready": {"is_actionable": True, "claimed_by": None},
    "blocked": {"is_blocked": True},
    "done": {"outcome": "done"},
    "dropped": {"outcome": "dropped"},
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
    text: Annotated[
        str | None,
        option("--text", value="TEXT", text="Only those with this text in the title.", fields=("filter.text",)),
    ] = None,
    sort: Annotated[
        str | None,
        option("--sort", value="ORDER", text="readiness (the default), recent, created or depth.", fields=("sort",)),
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

    is_filtered = bool(filter_) or state not in ("open", "all")

    def read() -> CommandResult:
        answer = invocation.run("work.outline", **wanted)
        last = answer.nodes[0].id if len(answer.nodes) == 1 else None
        return make_result(lambda output: draw_outline(answer, output, is_filtered=is_filtered), last=last, follow=read)

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


def draw_outline(answer: Outline, output: Output, *, is_filtered: bool = False) -> Iterator[Part]:
    """Yield a line for each task, and how many there are."""
    if not answer.nodes:
        yield f"No such tasks. All: {get_program_name()} ls all" if is_filtered else describe_no_tasks()
        return
    for node in answer.nodes:
        yield draw_task(node, output, with_parent=output.is_terminal)
    if answer.next_cursor:
        yield GAP
        yield StyledText(f"{len(answer.nodes)} of {answer.total}. Next page: --cursor {answer.next_cursor}", "dim")
    elif output.is_terminal:
        yield GAP
        yield StyledText(f"{answer.total} {'task' if answer.total == 1 else 'tasks'}", "dim")


LANES = ("blocked", "ready", "claimed", "resolved", "dropped")
CARDS = 8  # in each column
CARD_LINES = 2  # of a title
BOARD_COLUMNS_MIN = 60  # a narrower terminal gets the columns one below the other
DEPTH = 3
TREE_NODES_MAX = 200  # the most that one request lists


def show_board(invocation: Invocation, limit: Limit = None, watch: Watch = False) -> CommandResult:
    """Show the columns of the board."""
    cards = CARDS if limit is None else limit

    def read() -> CommandResult:
        lanes = [
            (lane, invocation.run("work.outline", project=invocation.project, lane=lane, limit=cards)) for lane in LANES
        ]
        return make_result(lambda output: _draw_board(lanes, output), follow=read)

    return read()


def _draw_board(lanes: Sequence[tuple[str, Outline]], output: Output) -> Iterator[Part]:
    if not output.is_terminal or output.columns < BOARD_COLUMNS_MIN:
        for lane, answer in lanes:
            yield GAP
            yield _draw_heading(lane, answer)
            yield from (draw_task(node, output, indent="  ") for node in answer.nodes)
        return
    width = (output.columns - GAP_COLUMNS * (len(lanes) - 1)) // len(lanes)
    columns = [[_draw_heading(lane, answer), *_draw_cards(answer, width, output)] for lane, answer in lanes]
    for row in zip_longest(*columns, fillvalue=StyledText()):
        yield join_columns(row, [width] * len(row))


def _draw_heading(lane: str, answer: Outline) -> StyledText:
    mark = MARKS[lane]
    return StyledText(f"{mark.word.capitalize()} ", f"bold {mark.style}").append(str(answer.total), "dim")


def _draw_cards(answer: Outline, width: int, output: Output) -> Iterator[StyledText]:
    for node in answer.nodes:
        state = str(node.state)
        head = mark_state(state, output).append(f" {node.id}", "bold")
        if node.claimed_by:
            head.append(cut(f" @{escape_control_chars(node.claimed_by)}", max(width - head.cell_len, 0)), "dim")
        yield StyledText()
        yield head
        lines = StyledText(escape_control_chars(to_one_line(node.summary))).wrap(width)
        if len(lines) > CARD_LINES:
            lines[CARD_LINES - 1] = StyledText(cut(f"{lines[CARD_LINES - 1].plain} {lines[CARD_LINES].plain}", width))
        yield from (StyledText(part.plain, get_title_style(state)) for part in lines[:CARD_LINES])
    more = answer.total - len(answer.nodes)
    if more > 0:
        yield StyledText()
        yield StyledText(f"… {more} more", "dim")


# --- The tree -------------------------------------------------------------------------------------------------------


def show_tree(
    invocation: Invocation,
    task: MaybeTask = None,
    depth: Annotated[int, option("--depth", value="N", text="How many levels. Default: 3.", low=1)] = DEPTH,
    watch: Watch = False,
) -> CommandResult:
    """Show what is below a task, or everything."""
    top = invocation.look_up_one(task)
    wanted: dict[str, Any] = {"filter": {} if top is None else {"ancestor": top.id}, "sort": "depth"}

    def read() -> CommandResult:
        answer = invocation.run("work.outline", project=invocation.project, limit=TREE_NODES_MAX, **wanted)
        last = None if top is None else top.id
        return make_result(lambda output: _draw_tree(answer, top, depth, output), last=last, follow=read)

    return read()


def _draw_tree(answer: Outline, top: OutlineNode | None, depth: int, output: Output) -> Iterator[Part]:
    known = {node.id for node in answer.nodes}
    children: dict[str, list[OutlineNode]] = {}
    for node in answer.nodes:
        children.setdefault(str(node.parent) if node.parent in known else "", []).append(node)
    if top is not None:
        yield draw_task(top, output)
    yield from _draw_branches(children, "", output, depth, "")
    if not answer.nodes:
        yield "Nothing below it." if top else describe_no_tasks()
    if answer.total > len(answer.nodes):
        hint = f"{get_program_name()} tree ID shows a part of them"
        yield StyledText(f"… {answer.total - len(answer.nodes)} more; {hint}", "dim")


def _draw_branches(
    children: dict[str, list[OutlineNode]], parent: str, output: Output, depth: int, indent: str
) -> Iterator[Part]:
    own = children.get(parent, [])
    tee, corner, bar = ("├─ ", "└─ ", "│  ") if output.takes_unicode else ("|- ", "`- ", "|  ")
    for node in own:
        is_last = node is own[-1]
        yield draw_task(node, output, indent=indent + (corner if is_last else tee))
        if depth > 1:
            below = indent + ("   " if is_last else bar)
            yield from _draw_branches(children, node.id, output, depth - 1, below)
