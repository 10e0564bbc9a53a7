"""`groundplan done` and `drop`: finish tasks, with what shows it, or drop them with the reason."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from groundplan.surfaces.cli.command_line import option, usage_error
from groundplan.surfaces.cli.invocation import CommandResult, Invocation
from groundplan.surfaces.cli.options import Tasks
from groundplan.surfaces.cli.screen.control_chars import escape_control_chars
from groundplan.surfaces.cli.screen.output import Output
from groundplan.surfaces.cli.screen.parts import Part
from groundplan.surfaces.cli.short.views import draw_heading, draw_lines, draw_warnings, make_result
from groundplan.surfaces.cli.terminal import INDENT, to_one_line

if TYPE_CHECKING:
    from groundplan.work.answers import SideEffects
    from groundplan.work.graph.outline import OutlineNode

HASH_CHARS = range(6, 65)  # of a commit, from a short one to SHA-256
HEX_DIGITS = frozenset("0123456789abcdef")
TYPE_CHARS_MAX = 40


def finish(
    invocation: Invocation,
    tasks: Tasks,
    evidence: Annotated[
        list[str] | None,
        option("--evidence", "-e", value="TYPE:REF", text="What shows it, such as commit:9f2ab1; repeatable."),
    ] = None,
    message: Annotated[str | None, option("--message", "-m", value="TEXT", text="A note, kept as evidence.")] = None,
    off: Annotated[bool, option("--off", text="Open them again.")] = False,
) -> CommandResult:
    """Finish tasks in one transaction, or open them again."""
    nodes = invocation.look_up(tasks)
    entries = [parse_evidence(text) for text in evidence or ()]
    if message:
        entries.append({"type": "note", "ref": message})
    update: dict[str, Any] = {"resolved": not off}
    if entries:
        update["add_evidence"] = entries
    answer = invocation.run("work.update", updates=[{"node_id": node.id, **update} for node in nodes])
    if off:
        nodes = invocation.look_up(node.id for node in nodes)  # as they are now: some may wait for others
    state = None if off else "resolved"
    return make_result(lambda output: draw_changed(nodes, state, answer, output), last=nodes[-1].id)


def drop(
    invocation: Invocation,
    tasks: Tasks,
    reason: Annotated[str | None, option("--message", "-m", value="TEXT", text="Why; needed.")] = None,
) -> CommandResult:
    """Drop tasks in one transaction."""
    if reason is None:
        raise usage_error(("drop",), 'a dropped task needs a reason: -m "why"')
    nodes = invocation.look_up(tasks)
    operations = [{"op": "drop", "node_id": node.id, "reason": reason} for node in nodes]
    answer = invocation.run("work.restructure", operations=operations)
    return make_result(lambda output: draw_changed(nodes, "dropped", answer, output), last=nodes[-1].id)


def parse_evidence(text: str) -> dict[str, str]:
    """Return evidence from `TYPE:REF`. Without a type, a hash is a commit, an existing path a file, the rest a note."""
    type_, colon, ref = text.partition(":")
    if colon and ref and 0 < len(type_) <= TYPE_CHARS_MAX and type_.replace("_", "").replace("-", "").isalnum():
        return {"type": type_, "ref": text if ref.startswith("//") else ref}
    if len(text) in HASH_CHARS and set(text) <= HEX_DIGITS:
        return {"type": "commit", "ref": text}
    if "\0" not in text and os.path.lexists(text):
        return {"type": "file", "ref": text}
    return {"type": "note", "ref": text}


def draw_changed(
    nodes: Sequence[OutlineNode], state: str | None, answer: SideEffects, output: Output
) -> Iterator[Part]:
    """Yield the tasks in their new state, by default the one that they have, and what that changed for others."""
    for node in nodes:
        yield from draw_heading(node.id, node.summary, state or str(node.state), output)
    ready = answer.newly_actionable or ()
    shown = (part for one in ready for part in draw_heading(one.id, one.summary, "ready", output))
    yield from draw_lines("Now ready:", shown)
    others = [*(f"{one} resolved with its last part" for one in answer.auto_resolved or ())]
    others += [f"{one.id} {to_one_line(one.summary)} reopened" for one in answer.reopened or ()]
    yield from draw_lines("Also:", (f"{INDENT}{escape_control_chars(line)}" for line in others))
    yield from draw_warnings(answer)
