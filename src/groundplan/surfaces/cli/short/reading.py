"""`groundplan show`, `find`, `log`, `why`, `undo` and `inbox`: the views of their operations, with short arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from groundplan.surfaces.cli.drawing import View
from groundplan.surfaces.cli.screen.control_chars import escape_control_chars
from groundplan.surfaces.cli.screen.output import Output
from groundplan.surfaces.cli.screen.parts import GAP, Part
from groundplan.surfaces.cli.screen.styled_text import StyledText
from groundplan.surfaces.cli.short.planning import parse_count
from groundplan.surfaces.cli.short.session import WordSession
from groundplan.surfaces.cli.short.views import (
    MARKS,
    WordResult,
    draw_fields,
    draw_heading,
    draw_lines,
    draw_text,
    get_title_style,
    mark_state,
)
from groundplan.surfaces.cli.short.words.arguments import Line
from groundplan.surfaces.cli.terminal import INDENT, format_time, format_value, to_one_line
from groundplan.work.evidence_check import format_marks

if TYPE_CHECKING:
    from groundplan.work.graph.context import NodeContext, NodeTree
    from groundplan.work.graph.outline import OutlineNode

TEXTS = ("description", "summary")  # properties that are shown as texts
LOG_LIMIT = 20


def show(session: WordSession, line: Line) -> WordResult:
    """Show tasks."""
    depth = parse_count(line.first("depth"), "--depth")
    nodes = session.look_up(line.all("id"))
    shown = [(node, session.run("work.context", node_id=node.id, depth=depth)) for node in nodes]

    def draw(output: Output) -> Iterator[Part]:
        for node, answer in shown:
            yield GAP
            yield from _draw_task(node, answer, output)

    return WordResult(draw, last=nodes[-1].id)


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
            *(("evidence", _format_evidence(one)) for one in answer.node.evidence or ()),
            ("changed", format_time(answer.node.updated_at) if answer.node.updated_at else ""),
        ],
        output,
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


def _format_evidence(one: Any) -> str:
    by = f"({one.agent}, {format_time(one.timestamp)})" if one.agent and one.timestamp else ""
    return " ".join(filter(None, (f"{one.type}: {to_one_line(one.ref)}", format_marks(one), by)))


def _draw_other(node: Any, output: Output, indent: str = INDENT) -> Part:
    """Return the line of a task of which only whether it is over is known."""
    title = escape_control_chars(to_one_line(node.summary))
    state = "resolved" if node.resolved else "ready"
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


def find(session: WordSession, line: Line) -> WordResult:
    """Find words everywhere in the project."""
    from groundplan.surfaces.cli.briefing.search import RENDERERS

    limit = parse_count(line.first("limit"), "--limit")
    answer = session.run("briefing.search", text=line.first("words"), project=session.project, limit=limit)
    nodes = [hit.ref for hit in answer.hits if hit.slice == "work"]
    return _present(RENDERERS["briefing.search"], answer, session, last=nodes[0] if len(nodes) == 1 else None)


def show_log(session: WordSession, line: Line) -> WordResult:
    """Show the history of a task, or of the project."""
    paging = {"limit": parse_count(line.first("limit"), "--limit"), "cursor": line.first("cursor")}
    node = session.look_up_one(line.first("id"))
    if node is None:
        from groundplan.surfaces.cli.briefing.events import RENDERERS as OF_PROJECT

        answer = session.run("event.list", project=session.project, **paging)
        return _present(OF_PROJECT["event.list"], answer, session)
    from groundplan.surfaces.cli.work.history import RENDERERS as OF_TASK

    answer = session.run("work.history", node_id=node.id, **paging)
    return _present(OF_TASK["work.history"], answer, session, last=node.id)


def show_why(session: WordSession, line: Line) -> WordResult:
    """Show the line from a task to the goals."""
    from groundplan.surfaces.cli.briefing.throughline import RENDERERS

    node = session.look_up_one(line.first("id"))
    start = node.id if node else ""
    answer = session.run("briefing.throughline", **{"project": session.project, "from": start})
    return _present(RENDERERS["briefing.throughline"], answer, session, last=start)


def undo(session: WordSession, line: Line) -> WordResult:
    """Undo a change, or do again what the last undo took back."""
    from groundplan.surfaces.cli.briefing.undo import RENDERERS

    answer = session.run(
        "briefing.undo",
        project=session.project,
        event=line.first("event"),
        redo=line.has("redo") or None,
        dry_run=line.has("dry_run") or None,
        op_id=line.first("op_id"),
    )
    return _present(RENDERERS["briefing.undo"], answer, session)


def show_inbox(session: WordSession, line: Line) -> WordResult:
    """Show what waits, in the named project or in all."""
    from groundplan.surfaces.cli.briefing.inbox import RENDERERS

    wanted = {"limit": parse_count(line.first("limit"), "--limit"), "cursor": line.first("cursor")}

    def read() -> WordResult:
        answer = session.run("briefing.inbox", project=line.first("project"), **wanted)
        return _present(RENDERERS["briefing.inbox"], answer, session, follow=read)

    return read()


def _present(
    view: Any,
    answer: Any,
    session: WordSession,
    *,
    last: str | None = None,
    follow: Callable[[], WordResult] | None = None,
) -> WordResult:
    def draw(_output: Output) -> Iterable[Part]:
        assert isinstance(view, View)  # noqa: S101 - for the type checker
        return view.list_parts(answer, session.named_project or "")

    return WordResult(draw, last=last, follow=follow)
