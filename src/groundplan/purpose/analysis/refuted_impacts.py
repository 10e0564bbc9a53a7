"""What falls with assumptions that do not hold."""

from __future__ import annotations

from msgspec import Struct

from groundplan import providers
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.content import read_content
from groundplan.purpose.model import Content
from groundplan.purpose.version import read_versions


class RefutedImpact(Struct):
    """What an assumption that does not hold touches: everything that follows from it, and the work for it."""

    assumption: str
    edges: list[str]
    nodes: list[str]
    work: list[str]


def find_refuted_impacts(tx: Transaction, refuted: list[str]) -> list[RefutedImpact]:
    """What refuted assumptions touch: in the version published last where it has them, else in the draft.

    What only older versions assumed touches nothing any more.
    """
    found: dict[str, RefutedImpact] = {}
    rows = read_versions(tx) if refuted else []
    for row in (*[row for row in rows if not row.is_draft][-1:], *[row for row in rows if row.is_draft]):
        missing = [key for key in refuted if key not in found]
        if missing:
            found |= _find_impacts_in_version(tx, read_content(tx, row.id), missing)
    return [found[key] for key in dict.fromkeys(refuted) if key in found]


def _find_impacts_in_version(tx: Transaction, content: Content, keys: list[str]) -> dict[str, RefutedImpact]:
    from groundplan.purpose.analysis.analyse import trace_impacts  # only where an assumption does not hold

    several = trace_impacts(content, [key for key in keys if key in content.assumptions])
    serving: dict[str, list[str]] = {}
    if several and providers.find_work_serving.is_connected:
        named = {key for one in several for key in (*one.nodes, *one.activities)}
        serving = providers.find_work_serving(tx, sorted(named))
    return {
        one.assumption: RefutedImpact(
            one.assumption,
            one.edges,
            one.nodes,
            sorted({id_ for key in (*one.nodes, *one.activities) for id_ in serving.get(key, ())}),
        )
        for one in several
    }
