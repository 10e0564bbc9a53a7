"""Build the briefing of a task from all four slices.

What is read is bounded by the room: no list reads more entries than could be shown. The modules that read are imported
by the first briefing, because a program that builds none should not pay for them at its start.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from groundplan.kernel.errors import NextStep
from groundplan.kernel.store.transaction import Transaction

if TYPE_CHECKING:
    from groundplan.briefing.briefing import Briefing
    from groundplan.briefing.fill import CallsFor
    from groundplan.work.nodes import WorkNodeRow

FEW_CALLS_CHARS = 2_400  # a briefing with less room names one call for everything
PATHS_NAMED_MAX = 3
REST = "rest"  # the call for what has no call of its own


def build_briefing(tx: Transaction, n: int, *, chars: int, lean: bool) -> Briefing | None:
    """Return the briefing of a work node, in the given number of characters; None if there is no room for one."""
    from groundplan.briefing.collect import collect_parts
    from groundplan.briefing.fill import fill_briefing
    from groundplan.work.nodes import fetch_node

    if chars <= 0:
        return None
    node = fetch_node(tx, n)
    parts = collect_parts(tx, node, chars=chars, lean=lean)
    return fill_briefing(parts, chars, name_calls(tx, node, chars), lean=lean)


def name_calls(tx: Transaction, node: WorkNodeRow, chars: int) -> CallsFor:
    """Return the function that names the calls for what is left out of some lists, in the words of the caller."""
    project = tx.project.name
    named = {"node_id": node.id}
    paths = {"paths": node.links_value[:PATHS_NAMED_MAX]} if node.context_links != "[]" else {}
    steps = {
        "why": NextStep("purpose.open", "shows the whole purpose", {"project": project}),
        "missing": NextStep("context.view", "shows all facts", {"scopeId": project}),
        "knowledge": NextStep("knowledge.context", "shows all of it", {"projectId": project, **paths}),
        REST: NextStep("work.context", "with a larger budget has more", named),
        "decisions": NextStep("work.history", "shows what happened to it", named),
    }
    texts = {name: tx.describe(step) for name, step in steps.items()}
    same = {
        **dict.fromkeys(("marks", "assumptions"), "why"),
        **dict.fromkeys(("constraints", "facts"), "missing"),
        **dict.fromkeys(("before", "overlap"), REST),
    }
    if not paths:
        same["knowledge"] = REST

    def calls_for(left: Collection[str]) -> list[str]:
        if left and chars < FEW_CALLS_CHARS:
            return [texts[REST]]
        wanted = {same.get(name, name) for name in left}
        return [text for name, text in texts.items() if name in wanted]

    return calls_for
