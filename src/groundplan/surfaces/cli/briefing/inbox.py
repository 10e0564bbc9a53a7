"""The view of what waits for a person: each item with the command that settles it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from typing import Any

from groundplan.briefing.inbox.inbox import Inbox
from groundplan.briefing.inbox.item import InboxItem, InboxKind
from groundplan.surfaces.cli.drawing import GAP, Part, View
from groundplan.surfaces.cli.terminal import INDENT, format_time


def _draw_items(answer: Inbox) -> Iterator[Part]:
    if not answer.items:
        yield "Nothing waits for you."
    for item in answer.items:
        where = f"  in {item.project}" if item.project else ""
        yield from (GAP, f"{item.kind}  {item.ref}{where}  since {format_time(item.since)}")
        yield f"{INDENT}{item.text}"
        yield f"{INDENT}{_format_command(item)}"


def _format_command(item: InboxItem) -> str:
    """Return the command line; what a person adds is in capitals."""
    arguments = item.action.arguments
    quote = shlex.quote
    if item.kind is InboxKind.REVIEW_DUE:
        (review,) = arguments["reviews"]
        project = quote(arguments["project"])
        return f"groundplan purpose review {quote(review['assumption'])} STATUS --project {project} --reason TEXT"
    if item.kind is InboxKind.WAIVER_ENDING:
        (waiver,) = arguments["waivers"]
        words = " ".join(map(quote, (waiver["code"], *waiver["refs"])))
        named = f"--project {quote(arguments['project'])} --owner {quote(waiver['owner'])}"
        return f"groundplan purpose waive {words} {named} --reason TEXT --due DATE"
    return item.action.call or item.action.operation


RENDERERS: dict[str, Callable[[Any], None]] = {"briefing.inbox": View(_draw_items)}
