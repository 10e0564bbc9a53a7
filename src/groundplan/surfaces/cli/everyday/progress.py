"""`groundplan next`, `take`, `done`, `drop`, `block` and `hold`: what is next, who does it, and how it ends."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import UNSET

from groundplan.kernel.actors import ActorKind
from groundplan.kernel.errors import Conflict, Forbidden, NextStep, RuleViolated
from groundplan.kernel.wording import quote_text
from groundplan.surfaces.cli.command_line import Kind, argument, option, usage_error
from groundplan.surfaces.cli.everyday.drawing import (
    draw_fields,
    draw_heading,
    draw_lines,
    draw_task,
    draw_text,
    draw_warnings,
    make_result,
)
from groundplan.surfaces.cli.invocation import CommandResult, Invocation
from groundplan.surfaces.cli.options import Limit, MaybeTask, Message, Task, Tasks, Under, Watch
from groundplan.surfaces.cli.screen.output import GAP, Output, Part
from groundplan.surfaces.cli.screen.text import StyledText, escape_control_chars
from groundplan.surfaces.cli.terminal import (
    INDENT,
    describe_lost,
    format_claim_end,
    format_evidence,
    format_time,
    format_value,
    to_one_line,
)
from groundplan.work.kinds import DROPPED

if TYPE_CHECKING:
    from groundplan.work.answers import SideEffects
    from groundplan.work.graph.connect import RejectedEdge
    from groundplan.work.graph.next import Offer, Offers
    from groundplan.work.graph.outline import OutlineNode


def show_next(invocation: Invocation, limit: Limit = None, under: Under = None, watch: Watch = False) -> CommandResult:
    """Show the best tasks."""
    scope = invocation.look_up_one(under)
    wanted: dict[str, Any] = {
        "project": invocation.project,
        "scope": scope and scope.id,
        "count": limit,
    }

    def read() -> CommandResult:
        answer = invocation.run("work.next", **wanted)
        last = answer.nodes[0].node.id if answer.nodes else None
        return make_result(lambda output: draw_offers(answer, output, "ready"), last=last, follow=read)

    return read()


def take(
    invocation: Invocation,
    task: MaybeTask = None,
    under: Under = None,
    off: Annotated[bool, option("--off", text="Give it back.")] = False,
    message: Message = None,
) -> CommandResult:
    """Take the named task, or the best one; or give it back."""
    node = invocation.look_up_one(task)
    if off:
        node = node or invocation.look_up(["-"])[0]
        answer = invocation.run("work.update", updates=[{"node_id": node.id, "release": True}], decision=message)
        (node,) = invocation.look_up([node.id])

        return make_result(lambda output: draw_changed([node], None, answer, output), last=node.id)
    scope = invocation.look_up_one(under)
    answer = invocation.run(
        "work.claim",
        project=None if node else invocation.project,
        node_id=node and node.id,
        scope=scope and scope.id,
        decision=message,
    )
    last = answer.nodes[0].node.id if answer.nodes else None
    return make_result(lambda output: draw_offers(answer, output, "claimed"), last=last)


TITLED = ("description", "summary")  # properties that are texts


def draw_offers(answer: Offers, output: Output, state: str) -> Iterator[Part]:
    """Yield the offered tasks, or why there are none."""
    if not answer.nodes:
        yield f"Nothing to start: {answer.reason}."
    for offer in answer.nodes:
        yield GAP
        yield from draw_offer(offer, output, state)
    yield from draw_warnings(answer)


def draw_offer(offer: Offer, output: Output, state: str) -> Iterator[Part]:
    """Yield an offered task: its title, what is above it, its properties and links, what came before, its texts."""
    node = offer.node
    yield from draw_heading(node.id, node.summary, state, output, style="bold")
    above = [to_one_line(one.summary) for one in offer.ancestors or ()][1:]
    properties = dict(node.properties or {})
    texts = [str(properties.pop(name)) for name in TITLED if name in properties]
    if offer.until is not UNSET:
        properties.pop("_held", None)  # the end of the claim says it
    yield from draw_fields(
        [
            ("in", " > ".join(above)),
            *((_name_property(name), _format_property(name, value)) for name, value in properties.items()),
            ("until", "" if offer.until is UNSET else format_claim_end(offer.until)),
            ("links", ", ".join(node.context_links or ())),
            *(("after", _format_dependency(one)) for one in offer.resolved_deps or ()),
            *(("evidence", format_evidence(one)) for one in node.evidence or ()),
        ]
    )
    for text in texts:
        yield from draw_text(text, output)


def _name_property(name: str) -> str:
    return {"_claimed_by": "taken by", "_claimed_at": "taken at", "_claimed_until": "taken until"}.get(
        name, escape_control_chars(name.removeprefix("_").replace("_", " "))
    )


def _format_property(name: str, value: Any) -> str:
    return format_time(value) if name in ("_claimed_at", "_claimed_until") else format_value(value)


def _format_dependency(one: Any) -> str:
    evidence = "; ".join(map(format_evidence, one.evidence or ()))
    dropped = " (dropped)" if one.outcome == DROPPED else ""
    return f"{one.id} {to_one_line(one.summary)}{dropped}" + (f" ({evidence})" if evidence else "")


HASH_CHARS = range(6, 65)  # of a commit, from a short one to SHA-256
HEX_DIGITS = frozenset("0123456789abcdef")
TYPE_CHARS_MAX = 40
NOTE = "note"
EVIDENCE = ("updates[].add_evidence[].ref", "updates[].add_evidence")  # of requests


def finish(
    invocation: Invocation,
    tasks: Tasks,
    evidence: Annotated[
        list[str] | None,
        option(
            "--evidence",
            "-e",
            value="TYPE:REF",
            text="What shows it, such as commit:9f2ab1; repeatable.",
            fields=EVIDENCE,
        ),
    ] = None,
    message: Annotated[
        str | None, option("--message", "-m", value="TEXT", text="A note, kept as evidence.", fields=EVIDENCE)
    ] = None,
    off: Annotated[bool, option("--off", text="Open them again.")] = False,
    force: Annotated[
        bool, option("--force", text="Although they are blocked; for people. -m says why, and the history keeps it.")
    ] = False,
) -> CommandResult:
    """Finish tasks in one transaction, or open them again."""
    nodes = invocation.look_up(tasks)
    entries = [parse_evidence(text) for text in evidence or ()]
    if force:
        _check_force(invocation, message, off=off)
    elif not off:
        _refuse_blocked(invocation, nodes)
    if message and not force:
        entries.append({"type": NOTE, "ref": message})
    update: dict[str, Any] = {"resolved": not off}
    if entries:
        update["add_evidence"] = entries
    updates = [{"node_id": node.id, **update} for node in nodes]
    answer = invocation.run("work.update", updates=updates, decision=message if force else None)
    if off:
        nodes = invocation.look_up(node.id for node in nodes)  # as they are now: some may wait for others
    state = None if off else "resolved"
    notes = [
        one["ref"] for one, text in zip(entries, evidence or (), strict=False) if one == {"type": NOTE, "ref": text}
    ]

    def draw(output: Output) -> Iterator[Part]:
        yield from draw_changed(nodes, state, answer, output)
        yield from draw_lines("Kept as a note, having no type:", (f"{INDENT}{to_one_line(text)}" for text in notes))

    return make_result(draw, last=nodes[-1].id)


class ForceRequiresPerson(Forbidden):
    """Only a person finishes a blocked task on the command line."""

    code = "force_needs_person"

    def __init__(self) -> None:
        super().__init__("only a person may finish a blocked task with --force; finish what it waits for, or ask one")


def _check_force(invocation: Invocation, reason: str | None, *, off: bool) -> None:
    if off or not (reason or "").strip():
        raise usage_error(("done",), '--force needs a reason, and no --off: -m "why"')
    if invocation.actor is not None and invocation.actor.kind is not ActorKind.PERSON:
        raise ForceRequiresPerson


def _refuse_blocked(invocation: Invocation, nodes: Sequence[OutlineNode]) -> None:
    """Refuse to finish a blocked task as `take` does, unless it waits only for tasks that are finished with it."""
    finished = {node.id for node in nodes}
    for node in nodes:
        if str(node.state) != "blocked":
            continue
        try:
            invocation.read("work.next", node_id=node.id)
        except Conflict as error:
            above = error.details.get("held_by", ())
            waiting_for = {*error.details.get("waiting_for", ())}
            waiting_for.update(awaited["id"] for ancestor in above for awaited in ancestor["waiting_for"])
            is_on_hold = bool(node.held_reason) or any("on_hold" in ancestor for ancestor in above)
            if is_on_hold or not waiting_for <= finished:
                updates = [{"node_id": node.id, "resolved": True}]
                step = NextStep("work.update", "finishes it all the same", {"updates": updates})
                error.next_steps = (*error.next_steps, step)
                raise


def drop(
    invocation: Invocation,
    tasks: Tasks,
    reason: Annotated[
        str | None, option("--message", "-m", value="TEXT", text="Why; needed.", fields=("operations[].reason",))
    ] = None,
) -> CommandResult:
    """Drop tasks in one transaction."""
    if reason is None:
        raise usage_error(("drop",), 'a dropped task needs a reason: -m "why"')
    nodes = invocation.look_up(tasks)
    operations = [{"op": "drop", "node_id": node.id, "reason": reason} for node in nodes]
    answer = invocation.run("work.restructure", operations=operations)
    nodes = invocation.look_up(node.id for node in nodes)  # as they are now: some may have been done
    return make_result(lambda output: draw_changed(nodes, None, answer, output), last=nodes[-1].id)


def parse_evidence(text: str) -> dict[str, str]:
    """Return evidence from `TYPE:REF`. Without a type, a hash is a commit, an existing path a file, the rest a note."""
    type_, colon, ref = text.partition(":")
    has_type = 0 < len(type_) <= TYPE_CHARS_MAX and type_.replace("_", "").replace("-", "").isalnum()
    if colon and ((has_type and not ref) or not type_):
        lack = "a reference after" if has_type else "a type before"
        raise usage_error(("done",), f"--evidence {quote_text(text)} lacks {lack} the colon, as in commit:9f2ab1")
    if colon and has_type:
        return {"type": type_, "ref": text if ref.startswith("//") else ref}
    if len(text) in HASH_CHARS and set(text) <= HEX_DIGITS:
        return {"type": "commit", "ref": text}
    if "\0" not in text and os.path.lexists(text):
        return {"type": "file", "ref": text}
    return {"type": NOTE, "ref": text}


def draw_changed(
    nodes: Sequence[OutlineNode], state: str | None, answer: SideEffects, output: Output
) -> Iterator[Part]:
    """Yield the tasks in their new state, by default the one that they have, and what that changed for others."""
    for node in nodes:
        yield from draw_heading(node.id, node.summary, state or str(node.state), output)
    ready = answer.newly_actionable or ()
    shown = (part for one in ready for part in draw_heading(one.id, one.summary + describe_lost(one), "ready", output))
    yield from draw_lines("Now ready:", shown)
    others = [*(f"{one} resolved with its last part" for one in answer.auto_resolved or ())]
    others += [f"{one.id} {to_one_line(one.summary)} reopened" for one in answer.reopened or ()]
    yield from draw_lines("Also:", (f"{INDENT}{escape_control_chars(line)}" for line in others))
    yield from draw_warnings(answer)


HOLD = "NO_OP"  # how the container dialect writes a hold
TASK = "task"
ALREADY = ("already_connected", "not_connected")  # what was to be is so already
OVER = ("resolved", "dropped")
ATTEMPTS_MAX = 5  # at a task that others keep changing


def block(
    invocation: Invocation,
    task: Task,
    on_ids: Annotated[list[str] | None, argument("ON_IDS", "The tasks that it waits for.", Kind.NODE)] = None,
    on: Annotated[
        list[str] | None,
        option("--on", "-o", value="ID", text="The task that it waits for; repeatable.", kind=Kind.NODE),
    ] = None,
    off: Annotated[bool, option("--off", text="It waits for them no more.")] = False,
    message: Message = None,
) -> CommandResult:
    """Let a task wait for others, in one transaction; or no longer."""
    others = [*(on or ()), *(on_ids or ())]
    if not others:
        raise usage_error(("block",), "block needs the task to wait for: --on ID")
    node, *targets = invocation.look_up([task, *others])
    if not targets:
        raise usage_error(("block",), "a task cannot wait for itself")
    edges = [{"from": node.id, "to": one.id, "type": "depends_on", "remove": off} for one in targets]
    answer = invocation.run("work.connect", project=invocation.project, edges=edges, decision=message)
    # To wait twice for the same task is no mistake of a person.
    rejected = [edge for edge in answer.rejected or () if edge.reason not in ALREADY]
    unchanged = {edge.to for edge in answer.rejected or ()} - {edge.to for edge in rejected}
    is_done = answer.applied or len(rejected) < len(targets)

    def draw(output: Output) -> Iterator[Part]:
        if is_done and off:
            yield from draw_changed(invocation.look_up([node.id]), None, answer, output)
        elif is_done:
            yield from _draw_waiting(node, targets, output)
            yield from draw_warnings(answer)
        for one in (one for one in targets if one.id in unchanged):
            already = "did not wait for" if off else "already waited for"
            yield StyledText(f"{INDENT}{already} {one.id} {escape_control_chars(to_one_line(one.summary))}", "dim")
        yield from _draw_rejected(rejected)

    return make_result(draw, last=node.id, exit_code=RuleViolated.exit_code if rejected else 0)


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


def hold(
    invocation: Invocation,
    tasks: Tasks,
    reason: Annotated[
        str | None, option("--message", "-m", value="TEXT", text="Why; needed.", fields=("blockedReason",))
    ] = None,
    off: Annotated[bool, option("--off", text="End the hold.")] = False,
) -> CommandResult:
    """Put tasks on hold, or end their holds, one after the other."""
    if reason is None and not off:
        raise usage_error(("hold",), 'a hold needs a reason: -m "why"')
    nodes = invocation.look_up(tasks)
    for node in nodes:
        if off:
            swap_version(invocation, node, "container.unblock", blockedBy=HOLD)
        else:
            swap_version(invocation, node, "container.block", blockedBy=HOLD, blockedReason=reason)
    nodes = invocation.look_up(node.id for node in nodes)  # as they are now: some may wait for others, too

    def draw(output: Output) -> Iterator[Part]:
        for node in nodes:
            yield draw_task(node, output)
        if reason is not None:
            yield StyledText(f"{INDENT}on hold: {escape_control_chars(to_one_line(reason))}", "dim")

    return make_result(draw, last=nodes[-1].id)


def read_container(invocation: Invocation, node: OutlineNode) -> Any:
    """Return a task, feature or project with its version and everything that `edit` and `show` need."""
    kind = node.kind or TASK
    return getattr(invocation.read("container.get", containerType=kind, id=node.id), kind)


def swap_version(invocation: Invocation, node: OutlineNode, operation: str, **arguments: Any) -> Any:
    """Run an operation at the version that is read just before; if others are faster, read again."""
    for attempt in range(ATTEMPTS_MAX):
        version = read_container(invocation, node).version
        try:
            return invocation.run(operation, containerType=node.kind or TASK, id=node.id, version=version, **arguments)
        except Conflict as error:
            if "currentVersion" not in error.details or attempt == ATTEMPTS_MAX - 1:
                raise
    raise AssertionError("the last attempt returns or raises")
