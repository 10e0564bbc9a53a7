"""`groundplan done` and `drop`: finish tasks, with what shows it, or drop them with the reason."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from groundplan.surfaces.cli.screen.control_chars import escape_control_chars
from groundplan.surfaces.cli.screen.output import Output
from groundplan.surfaces.cli.screen.parts import Part
from groundplan.surfaces.cli.short.session import WordSession
from groundplan.surfaces.cli.short.views import WordResult, draw_heading, draw_lines, draw_warnings
from groundplan.surfaces.cli.short.words.arguments import Line, usage_error
from groundplan.surfaces.cli.terminal import INDENT, to_one_line

if TYPE_CHECKING:
    from groundplan.work.answers import SideEffects
    from groundplan.work.graph.outline import OutlineNode

HASH_CHARS = range(6, 65)  # of a commit, from a short one to SHA-256
HEX_DIGITS = frozenset("0123456789abcdef")
TYPE_CHARS_MAX = 40


def finish(session: WordSession, line: Line) -> WordResult:
    """Finish tasks in one transaction, or open them again."""
    nodes = session.look_up(line.all("id"))
    evidence = [parse_evidence(text) for text in line.all("evidence")]
    if note := line.first("message"):
        evidence.append({"type": "note", "ref": note})
    update: dict[str, Any] = {"resolved": not line.has("off")}
    if evidence:
        update["add_evidence"] = evidence
    answer = session.run("work.update", updates=[{"node_id": node.id, **update} for node in nodes])
    if line.has("off"):
        nodes = session.look_up(node.id for node in nodes)  # as they are now: some may wait for others
    state = None if line.has("off") else "resolved"
    return WordResult(lambda output: draw_changed(nodes, state, answer, output), last=nodes[-1].id)


def drop(session: WordSession, line: Line) -> WordResult:
    """Drop tasks in one transaction."""
    reason = line.first("message")
    if reason is None:
        raise usage_error(line.word, 'a dropped task needs a reason: -m "why"')
    nodes = session.look_up(line.all("id"))
    operations = [{"op": "drop", "node_id": node.id, "reason": reason} for node in nodes]
    answer = session.run("work.restructure", operations=operations)
    return WordResult(lambda output: draw_changed(nodes, "dropped", answer, output), last=nodes[-1].id)


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
