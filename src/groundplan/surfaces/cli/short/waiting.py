"""`groundplan block` and `hold`: let tasks wait for others, or put them on hold with a reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from groundplan.kernel.errors import Conflict, RuleViolated
from groundplan.surfaces.cli.screen.control_chars import escape_control_chars
from groundplan.surfaces.cli.screen.output import Output
from groundplan.surfaces.cli.screen.parts import Part
from groundplan.surfaces.cli.screen.styled_text import StyledText
from groundplan.surfaces.cli.short.finishing import draw_changed
from groundplan.surfaces.cli.short.session import WordSession
from groundplan.surfaces.cli.short.views import WordResult, draw_heading, draw_task, draw_warnings
from groundplan.surfaces.cli.short.words.arguments import Line, usage_error
from groundplan.surfaces.cli.terminal import INDENT, to_one_line

if TYPE_CHECKING:
    from groundplan.work.graph.connect import RejectedEdge
    from groundplan.work.graph.outline import OutlineNode

HOLD = "NO_OP"  # how the container dialect writes a hold
TASK = "task"
ALREADY = ("already_connected", "not_connected")  # what was to be is so already
OVER = ("resolved", "dropped")
ATTEMPTS_MAX = 5  # at a task that others keep changing


def block(session: WordSession, line: Line) -> WordResult:
    """Let a task wait for others, in one transaction; or no longer."""
    others = [*line.all("on"), *line.all("on_ids")]
    if not others:
        raise usage_error(line.word, "block needs the task to wait for: --on ID")
    node, *targets = session.look_up([line.all("id")[0], *others])
    if not targets:
        raise usage_error(line.word, "a task cannot wait for itself")
    edges = [{"from": node.id, "to": one.id, "type": "depends_on", "remove": line.has("off")} for one in targets]
    answer = session.run("work.connect", project=session.project, edges=edges, decision=line.first("message"))
    # To wait twice for the same task is no mistake of a person.
    rejected = [edge for edge in answer.rejected or () if edge.reason not in ALREADY]
    is_done = answer.applied or len(rejected) < len(targets)

    def draw(output: Output) -> Iterator[Part]:
        if is_done and line.has("off"):
            yield from draw_changed(session.look_up([node.id]), None, answer, output)
        elif is_done:
            yield from _draw_waiting(node, targets, output)
            yield from draw_warnings(answer)
        yield from _draw_rejected(rejected)

    return WordResult(draw, last=node.id, exit_code=RuleViolated.exit_code if rejected else 0)


def _draw_waiting(node: OutlineNode, targets: Sequence[OutlineNode], output: Output) -> Iterator[Part]:
    is_waiting = str(node.state) not in OVER and any(str(one.state) not in OVER for one in targets)
    yield from draw_heading(node.id, node.summary, "blocked" if is_waiting else str(node.state), output)
    yield StyledText(f"{INDENT}{'waits for' if is_waiting else 'comes after'}", "dim")
    for one in targets:
        yield draw_task(one, output, indent=INDENT)


def _draw_rejected(rejected: Sequence[RejectedEdge]) -> Iterator[Part]:
    for edge in rejected:
        reason = edge.reason.replace("_", " ") + (f": {' -> '.join(edge.path)}" if edge.path else "")
        yield StyledText(f"not done: {edge.from_} cannot wait for {edge.to}, {reason}", "red")


def hold(session: WordSession, line: Line) -> WordResult:
    """Put tasks on hold, or end their holds, one after the other."""
    reason = line.first("message")
    if reason is None and not line.has("off"):
        raise usage_error(line.word, 'a hold needs a reason: -m "why"')
    nodes = session.look_up(line.all("id"))
    for node in nodes:
        if line.has("off"):
            swap_version(session, node, "container.unblock", blockedBy=HOLD)
        else:
            swap_version(session, node, "container.block", blockedBy=HOLD, blockedReason=reason)
    nodes = session.look_up(node.id for node in nodes)  # as they are now: some may wait for others, too

    def draw(output: Output) -> Iterator[Part]:
        for node in nodes:
            yield draw_task(node, output)
        if reason is not None:
            yield StyledText(f"{INDENT}on hold: {escape_control_chars(to_one_line(reason))}", "dim")

    return WordResult(draw, last=nodes[-1].id)


def read_container(session: WordSession, node: OutlineNode) -> Any:
    """Return a task, feature or project with its version and everything that `edit` and `show` need."""
    kind = node.kind or TASK
    return getattr(session.read("container.get", containerType=kind, id=node.id), kind)


def swap_version(session: WordSession, node: OutlineNode, operation: str, **arguments: Any) -> Any:
    """Run an operation at the version that is read just before; if others are faster, read again."""
    for attempt in range(ATTEMPTS_MAX):
        version = read_container(session, node).version
        try:
            return session.run(operation, containerType=node.kind or TASK, id=node.id, version=version, **arguments)
        except Conflict as error:
            if "currentVersion" not in error.details or attempt == ATTEMPTS_MAX - 1:
                raise
    raise AssertionError("the last attempt returns or raises")
