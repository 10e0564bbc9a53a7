"""`groundplan show`, `find`, `log`, `why`, `undo` and `inbox`: the views of their operations, with short arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

from groundplan.surfaces.cli.command_line import argument, option
from groundplan.surfaces.cli.drawing import View, note_left_out
from groundplan.surfaces.cli.everyday.drawing import (
    MARKS,
    draw_fields,
    draw_heading,
    draw_lines,
    draw_text,
    get_title_style,
    make_result,
    mark_state,
)
from groundplan.surfaces.cli.invocation import CommandResult, Invocation
from groundplan.surfaces.cli.options import Cursor, Limit, MaybeTask, Task, Tasks, Watch
from groundplan.surfaces.cli.renderers import find_view
from groundplan.surfaces.cli.screen.output import GAP, Output, Part
from groundplan.surfaces.cli.screen.text import StyledText, escape_control_chars
from groundplan.surfaces.cli.terminal import INDENT, format_signed_evidence, format_time, format_value, to_one_line
from groundplan.work.kinds import DROPPED

if TYPE_CHECKING:
    from groundplan.work.graph.context import NodeContext
    from groundplan.work.graph.outline import OutlineNode
    from groundplan.work.graph.subtree import NodeTree


TEXTS = ("description", "summary")  # properties that are shown as texts


def show(
    invocation: Invocation,
    tasks: Tasks,
    depth: Annotated[int | None, option("--depth", value="N", text="How many levels below it.", low=0)] = None,
) -> CommandResult:
    """Show tasks."""
    nodes = invocation.look_up(tasks)
    shown = [(node, invocation.run("work.context", node_id=node.id, depth=depth)) for node in nodes]

    def draw(output: Output) -> Iterator[Part]:
        for node, answer in shown:
            yield GAP
            yield from _draw_task(node, answer, output)
            if answer.next_cursor:
                yield from note_left_out(answer)
                at = "" if depth is None else f" --depth {depth}"
                yield StyledText(f"groundplan work context {node.id}{at} --cursor {answer.next_cursor}", "dim")

    return make_result(draw, last=nodes[-1].id)


def _draw_task(node: OutlineNode, answer: NodeContext, output: Output) -> Iterator[Part]:
    state = str(node.state)
    yield from draw_heading(node.id, node.summary, state, output, style=get_title_style(state) or "bold")
    properties = dict(answer.node.properties or {})
    texts = [str(properties.pop(name)) for name in TEXTS if properties.get(name)]
    above = [to_one_line(one.summary) for one in answer.ancestors or ()][1:]
    yield from draw_fields(
        [
            ("state", MARKS[state].word + (f", on hold: {node.held_reason}" if node.held_reason else "")),
            ("in", " > ".join(above)),
            ("taken by", _format_claim(node)),
            ("tags", ", ".join(node.tags or ())),
            *(
                (name.replace("_", " "), format_value(value))
                for name, value in properties.items()
                if not name.startswith("_")
            ),
            ("links", ", ".join(answer.node.context_links or ())),
            *(
                (type_.replace("_", " "), f"{link.to} {link.title or ''}".strip())
                for type_ in ("serves", "rests_on", "supports", "refutes")
                for link in getattr(answer.node, type_) or ()
            ),
            *(("evidence", format_signed_evidence(one)) for one in answer.node.evidence or ()),
            *(("merged", f"{one.id} {to_one_line(one.summary)}") for one in answer.node.merged or ()),
            ("changed", format_time(answer.node.updated_at) if answer.node.updated_at else ""),
        ]
    )
    for text in texts:
        yield GAP
        yield from draw_text(text, output)
    yield from draw_lines("Waits for:", (_draw_other(one.node, output) for one in answer.depends_on or ()))
    yield from draw_lines("Holds up:", (_draw_other(one.node, output) for one in answer.depended_by or ()))
    yield from draw_lines(
        "Related:", (f"{INDENT}{one.type} {one.id}  {to_one_line(one.summary)}" for one in answer.related or ())
    )
    yield from draw_lines("Below:", _draw_below(answer.children or None, output, INDENT))


def _format_claim(node: OutlineNode) -> str:
    if not node.claimed_by:
        return ""
    return node.claimed_by + (f" until {format_time(node.claimed_until)}" if node.claimed_until else "")


def _draw_other(node: Any, output: Output, indent: str = INDENT) -> Part:
    """Return the line of a task of which only whether it is over is known."""
    title = escape_control_chars(to_one_line(node.summary))
    state = "dropped" if node.outcome == DROPPED else "resolved" if node.resolved else "ready"
    mark = mark_state(state, output) if node.resolved else StyledText("·")
    return StyledText(indent).append_text(mark).append(f" {node.id}  ", "bold").append(title, get_title_style(state))


def _draw_below(tree: NodeTree | None, output: Output, indent: str) -> Iterator[Part]:
    if tree is None:
        return
    children = tree.children or ()
    for child in children:
        yield _draw_other(child, output, indent)
        yield from _draw_below(child, output, indent + INDENT)
    if tree.child_count:
        yield StyledText(f"{indent}… {tree.child_count - len(children)} more", "dim")


# --- Views of operations --------------------------------------------------------------------------------------------


def find(
    invocation: Invocation,
    words: Annotated[str, argument("WORDS", "All of them, in any order.", joined=True, fields=("text",))],
    limit: Limit = None,
) -> CommandResult:
    """Find words everywhere in the project."""
    answer = invocation.run("briefing.search", text=words, project=invocation.project, limit=limit)
    nodes = [hit.ref for hit in answer.hits if hit.slice == "work"]
    return _present("briefing.search", answer, invocation, last=nodes[0] if len(nodes) == 1 else None)


def show_log(
    invocation: Invocation, task: MaybeTask = None, limit: Limit = None, cursor: Cursor = None
) -> CommandResult:
    """Show the history of a task, or of the project."""
    paging = {"limit": limit, "cursor": cursor}
    node = invocation.look_up_one(task)
    if node is None:
        answer = invocation.run("event.list", project=invocation.project, **paging)
        return _present("event.list", answer, invocation)
    answer = invocation.run("work.history", node_id=node.id, **paging)
    return _present("work.history", answer, invocation, last=node.id)


def show_why(invocation: Invocation, task: Task) -> CommandResult:
    """Show the line from a task to the goals."""
    (node,) = invocation.look_up([task])
    start = node.id
    answer = invocation.run("briefing.throughline", **{"project": invocation.project, "from": start})
    return _present("briefing.throughline", answer, invocation, last=start)


def undo(
    invocation: Invocation,
    event: Annotated[
        str | None, argument("EVENT", "The event, such as 12.0. Default: your last change.", fields=("event",))
    ] = None,
    redo: Annotated[bool, option("--redo", text="Do again what your last undo took back.")] = False,
    dry_run: Annotated[bool, option("--dry-run", text="Only say what it would do.")] = False,
    op_id: Annotated[
        str | None, option("--op-id", value="TEXT", text="With the same id, the request has one effect.")
    ] = None,
) -> CommandResult:
    """Undo a change, or do again what the last undo took back."""
    answer = invocation.run(
        "briefing.undo",
        project=invocation.project,
        event=event,
        redo=redo or None,
        dry_run=dry_run or None,
        op_id=op_id,
    )
    return _present("briefing.undo", answer, invocation)


def show_inbox(
    invocation: Invocation, limit: Limit = None, cursor: Cursor = None, watch: Watch = False
) -> CommandResult:
    """Show what waits, in the named project or in all."""
    wanted = {"limit": limit, "cursor": cursor}

    def read() -> CommandResult:
        answer = invocation.run("briefing.inbox", project=invocation.named_project, **wanted)
        return _present("briefing.inbox", answer, invocation, follow=read)

    return read()


def _present(
    operation: str,
    answer: Any,
    invocation: Invocation,
    *,
    last: str | None = None,
    follow: Callable[[], CommandResult] | None = None,
) -> CommandResult:
    def draw(_output: Output) -> Iterable[Part]:
        view = find_view(operation)
        assert isinstance(view, View)  # noqa: S101 - for the type checker
        return view.list_parts(answer, invocation.named_project or "")

    return make_result(draw, last=last, follow=follow)
