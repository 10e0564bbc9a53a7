"""What falls with assumptions that do not hold."""

from __future__ import annotations

from msgspec import Struct

from groundplan import questions
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.content import read_content
from groundplan.purpose.model import Content
from groundplan.purpose.version import versions_of


class Affected(Struct):
    """What an assumption that does not hold touches: everything that follows from it, and the work for it."""

    assumption: str
    edges: list[str]
    nodes: list[str]
    work: list[str]


def affected_by(tx: Transaction, refuted: list[str]) -> list[Affected]:
    """What refuted assumptions touch: in the version published last where it has them, else in the draft.

    What only older versions assumed touches nothing any more.
    """
    found: dict[str, Affected] = {}
    rows = versions_of(tx) if refuted else []
    for row in (*[row for row in rows if not row.is_draft][-1:], *[row for row in rows if row.is_draft]):
        missing = [key for key in refuted if key not in found]
        if missing:
            found |= _touched(tx, read_content(tx, row.id), missing)
    return [found[key] for key in dict.fromkeys(refuted) if key in found]


def _touched(tx: Transaction, content: Content, keys: list[str]) -> dict[str, Affected]:
    from groundplan.purpose.analysis.analyse import touched_by  # only where an assumption does not hold

    several = touched_by(content, [key for key in keys if key in content.assumptions])
    serving: dict[str, list[str]] = {}
    if several and questions.work_serving.can_be_answered:
        named = {key for one in several for key in (*one.nodes, *one.activities)}
        serving = questions.work_serving(tx, sorted(named))
    return {
        one.assumption: Affected(
            one.assumption,
            one.edges,
            one.nodes,
            sorted({id_ for key in (*one.nodes, *one.activities) for id_ in serving.get(key, ())}),
        )
        for one in several
    }
