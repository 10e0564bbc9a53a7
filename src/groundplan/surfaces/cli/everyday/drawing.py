"""How the words of every day show tasks: a sign and a colour for each state, a line for each task, wrapped texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from groundplan.surfaces.cli.invocation import CommandResult
from groundplan.surfaces.cli.program_name import get_program_name
from groundplan.surfaces.cli.screen.output import GAP, Output, Part, TextTable, print_parts
from groundplan.surfaces.cli.screen.text import StyledText, cut, escape_control_chars, measure
from groundplan.surfaces.cli.terminal import INDENT, to_one_line

if TYPE_CHECKING:
    from groundplan.work.graph.outline import OutlineNode


TITLE_COLUMNS_MIN = 16
TEXT_COLUMNS_MAX = 100  # longer lines are hard to read


class StateMark:
    """The sign of a state: on a terminal, in plain ASCII, its colour, and its word."""

    __slots__ = ("ascii", "sign", "style", "word")

    def __init__(self, sign: str, ascii_sign: str, style: str, word: str) -> None:
        self.sign, self.ascii, self.style, self.word = sign, ascii_sign, style, word


# Every state has a sign of its own, so that no state is told by colour alone.
MARKS: Mapping[str, StateMark] = {
    "ready": StateMark("○", "[ ]", "green", "ready"),
    "claimed": StateMark("◐", "[>]", "yellow", "taken"),
    "blocked": StateMark("■", "[!]", "red", "blocked"),
    "parent": StateMark("▷", "[+]", "cyan", "open below"),
    "resolved": StateMark("✓", "[x]", "dim", "done"),
    "dropped": StateMark("✗", "[-]", "dim strike", "dropped"),
}


def make_result(
    draw: Callable[[Output], Iterable[Part]],
    *,
    last: str | None = None,
    exit_code: int = 0,
    follow: Callable[[], CommandResult] | None = None,
) -> CommandResult:
    """Return the result of a word, which prints parts; its data are the answers of its calls."""
    return CommandResult(None, lambda: print_parts(draw(Output())), exit_code, last=last, follow=follow)


def mark_state(state: str, output: Output) -> StyledText:
    """Return the sign of a state."""
    mark = MARKS[state]
    return StyledText(mark.sign if output.takes_unicode else mark.ascii, mark.style.removesuffix(" strike"))


def draw_heading(node_id: str, title: str, state: str, output: Output, *, style: str = "") -> Iterator[Part]:
    """Yield the whole title of a task after its sign and id; on a terminal, a long one is wrapped."""
    head = mark_state(state, output).append(f" {node_id}  ", "bold")
    text = StyledText(escape_control_chars(to_one_line(title)), style or get_title_style(state))
    room = output.columns - head.cell_len
    is_narrow = room < TITLE_COLUMNS_MIN
    indent = INDENT if is_narrow else " " * head.cell_len
    first, *others = [head, *text.wrap(output.columns - len(INDENT))] if is_narrow else text.wrap(room)
    yield first if is_narrow else head.append_text(first)
    yield from (StyledText.assemble(indent, other) for other in others)


def draw_task(node: OutlineNode, output: Output, *, indent: str = "", with_parent: bool = False) -> StyledText:
    """Return the line of a task, which fits into the width of a terminal: sign, id, title, and who has it."""
    state = str(node.state)
    line = StyledText(indent).append_text(mark_state(state, output)).append(f" {node.id}  ", "bold")
    notes = _list_notes(node, with_parent=with_parent)
    room = output.columns - line.cell_len
    title = escape_control_chars(to_one_line(node.summary))
    while notes and room - sum(measure(note) + 2 for note in notes) < min(measure(title), TITLE_COLUMNS_MIN):
        notes.pop()
    line.append(cut(title, room - sum(measure(note) + 2 for note in notes)), get_title_style(state))
    for note in notes:
        line.append(f"  {note}", "dim")
    return line


def _list_notes(node: OutlineNode, *, with_parent: bool) -> list[str]:
    """Return what follows the title, the most important first."""
    notes = []
    if node.claimed_by:
        notes.append(f"@{escape_control_chars(node.claimed_by)}")
    wanted = (node.children or 0) - (node.dropped_children or 0)
    if wanted:
        notes.append(f"{wanted - (node.open_children or 0)}/{wanted}")
    if node.priority:
        notes.append(f"p{node.priority:g}")
    if with_parent and node.parent_summary:
        notes.append(f"in {escape_control_chars(cut(to_one_line(node.parent_summary), TITLE_COLUMNS_MIN * 2))}")
    return notes


def get_title_style(state: str) -> str:
    """Return the style of the title of a task in a state: what is over is less visible."""
    return MARKS[state].style if state in ("resolved", "dropped") else ""


def draw_text(text: str, output: Output, *, indent: str = INDENT) -> Iterator[Part]:
    """Yield a text, wrapped on a terminal."""
    columns = min(output.columns - len(indent), TEXT_COLUMNS_MAX) if output.is_terminal else output.columns
    for line in text.splitlines():
        for part in StyledText(escape_control_chars(line)).wrap(columns):
            yield StyledText.assemble(indent, part)


def draw_fields(pairs: Iterable[tuple[str, str]]) -> Iterator[Part]:
    """Yield names and values side by side; a long value is wrapped below its beginning."""
    shown = [(name, value) for name, value in pairs if value]
    rows = [[StyledText(f"{INDENT}{name}", "dim"), StyledText(escape_control_chars(value))] for name, value in shown]
    if rows:
        yield TextTable(rows, whole=(0,))


def draw_lines(title: str, lines: Iterable[Part]) -> Iterator[Part]:
    """Yield lines below a title; nothing if there are none."""
    shown = list(lines)
    if shown:
        yield GAP
        yield StyledText(title, "bold")
        yield from shown


def draw_warnings(answer: object) -> Iterator[Part]:
    """Yield the warnings of an answer."""
    warnings = getattr(answer, "warnings", None) or ()
    yield from draw_lines("Warnings:", (f"{INDENT}{escape_control_chars(line)}" for line in warnings))


def describe_no_tasks() -> str:
    """Return the line of an empty list."""
    return f'No tasks here. Next: {get_program_name()} add "what is to be done"'
