"""The view of what waits for a person: each item with the command that settles it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from typing import Any

from groundplan.briefing.inbox import Inbox, InboxItem, InboxKind
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
        if item.alternative:
            yield f"{INDENT}or {item.alternative.call or item.alternative.operation}"


def _format_command(item: InboxItem) -> str:
    """Return the command line; what a person adds is in capitals."""
    given = item.action.arguments
    match item.kind:
        case InboxKind.FACT_MISSING:
            return f"groundplan context set {shlex.join([given['runId'], item.ref])} VALUE"
        case InboxKind.REVIEW_DUE:
            words = shlex.join([given["reviews"][0]["assumption"], "STATUS", "--project", given["project"]])
            return f"groundplan purpose review {words} --reason TEXT"
        case InboxKind.WAIVER_ENDING:
            waiver = given["waivers"][0]
            options = ["--project", given["project"], "--owner", waiver["owner"]]
            words = shlex.join([waiver["code"], *waiver["refs"], *options])
            return f"groundplan purpose waive {words} --reason TEXT --due DATE"
        case InboxKind.AT_RISK:
            words = shlex.join(["--project", given["project"], "--about", *given["decisions"][0]["about"]])
            return f"groundplan purpose decide TEXT {words} --rationale TEXT"
        case InboxKind.REQUEST:
            words = shlex.join(["--project", given["project"], "--answers", given["decisions"][0]["answers"]])
            return f"groundplan purpose decide TEXT {words} --rationale TEXT"
    return item.action.call or item.action.operation


RENDERERS: dict[str, Callable[[Any], None]] = {"briefing.inbox": View(_draw_items)}
