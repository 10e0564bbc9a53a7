"""`groundplan next` and `take`: what to do next, and that I do it."""

from __future__ import annotations

from typing import Any

from groundplan.surfaces.cli.short.offers import draw_offers
from groundplan.surfaces.cli.short.planning import parse_count
from groundplan.surfaces.cli.short.session import WordSession
from groundplan.surfaces.cli.short.views import WordResult
from groundplan.surfaces.cli.short.words.arguments import Line


def show_next(session: WordSession, line: Line) -> WordResult:
    """Show the best tasks."""
    scope = session.look_up_one(line.first("under"))
    wanted: dict[str, Any] = {
        "project": session.project,
        "scope": scope and scope.id,
        "count": parse_count(line.first("limit"), "--limit"),
    }

    def read() -> WordResult:
        answer = session.run("work.next", **wanted)
        last = answer.nodes[0].node.id if answer.nodes else None
        return WordResult(lambda output: draw_offers(answer, output, "ready"), last=last, follow=read)

    return read()


def take(session: WordSession, line: Line) -> WordResult:
    """Take the named task, or the best one; or give it back."""
    node = session.look_up_one(line.first("id"))
    decision = line.first("message")
    if line.has("off"):
        node = node or session.look_up(["-"])[0]
        answer = session.run("work.update", updates=[{"node_id": node.id, "release": True}], decision=decision)
        (node,) = session.look_up([node.id])
        from groundplan.surfaces.cli.short.finishing import draw_changed  # `next` does not need it

        return WordResult(lambda output: draw_changed([node], None, answer, output), last=node.id)
    scope = session.look_up_one(line.first("under"))
    answer = session.run(
        "work.claim",
        project=None if node else session.project,
        node_id=node and node.id,
        scope=scope and scope.id,
        decision=decision,
    )
    last = answer.nodes[0].node.id if answer.nodes else None
    return WordResult(lambda output: draw_offers(answer, output, "claimed"), last=last)
