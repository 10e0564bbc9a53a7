"""`groundplan next` and `take`: what to do next, and that I do it."""

from __future__ import annotations

from typing import Annotated, Any

from groundplan.surfaces.cli.command_line import option
from groundplan.surfaces.cli.invocation import CommandResult, Invocation
from groundplan.surfaces.cli.options import Limit, MaybeTask, Message, Under, Watch
from groundplan.surfaces.cli.short.offers import draw_offers
from groundplan.surfaces.cli.short.views import make_result


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
        from groundplan.surfaces.cli.short.finishing import draw_changed  # `next` does not need it

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
