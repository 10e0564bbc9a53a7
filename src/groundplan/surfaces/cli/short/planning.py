"""`groundplan add`: plan a task."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from groundplan.surfaces.cli.command_line import Kind, argument, option
from groundplan.surfaces.cli.invocation import CommandResult, Invocation
from groundplan.surfaces.cli.options import Message, Under
from groundplan.surfaces.cli.screen.output import Output
from groundplan.surfaces.cli.screen.parts import Part
from groundplan.surfaces.cli.screen.styled_text import StyledText
from groundplan.surfaces.cli.short.views import draw_heading, draw_warnings, make_result

REF = "task"  # the name of the new node in the request


def add(
    invocation: Invocation,
    title: Annotated[str, argument("TITLE", "What is to be done.", joined=True)],
    under: Under = None,
    after: Annotated[
        list[str] | None,
        option("--after", "-a", value="ID", text="It waits for this task; repeatable.", kind=Kind.NODE),
    ] = None,
    priority: Annotated[
        float | None, option("--priority", "-p", value="N", text="A number; a higher one comes first.")
    ] = None,
    tag: Annotated[
        list[str] | None, option("--tag", "-t", value="TAG", text="A tag; repeatable.", kind=Kind.TAG)
    ] = None,
    serves: Annotated[
        list[str] | None, option("--serves", value="KEY", text="What it is for, such as OC1; repeatable.")
    ] = None,
    message: Message = None,
) -> CommandResult:
    """Add one task."""
    above = invocation.look_up_one(under)
    targets = invocation.look_up(after or ())
    node: dict[str, Any] = {"ref": REF, "summary": title}
    if above is not None:
        node["parent_ref"] = above.id
    if targets:
        node["depends_on"] = [one.id for one in targets]
    if priority is not None:
        node["properties"] = {"priority": int(priority) if priority.is_integer() else priority}
    if tag:
        node["tags"] = tag
    if serves:
        node["serves"] = serves
    answer = invocation.run("work.add", project=invocation.project, nodes=[node], decision=message)
    node_id = answer.created[0].id
    waits = any(str(one.state) not in ("resolved", "dropped") for one in targets)

    def draw(output: Output) -> Iterator[Part]:
        yield from draw_heading(node_id, title, "blocked" if waits else "ready", output)
        if answer.reopened:
            yield StyledText(f"  reopened: {', '.join(one.id for one in answer.reopened)}", "dim")
        yield from draw_warnings(answer)

    return make_result(draw, last=node_id)
