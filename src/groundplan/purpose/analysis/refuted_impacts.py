"""The impact of refuted assumptions."""

from __future__ import annotations

from msgspec import Struct

from groundplan import providers
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.content import read_content
from groundplan.purpose.model import Content
from groundplan.purpose.versions.versions import read_versions


class RefutedImpact(Struct):
    """The impact of a refuted assumption: the edges and nodes that depend on it, and the work for them."""

    assumption: str
    edges: list[str]
    nodes: list[str]
    work: list[str]


def find_refuted_impacts(tx: Transaction, refuted: list[str]) -> list[RefutedImpact]:
    """Return the impact of refuted assumptions in the latest published version, else in the draft.

    Assumptions that only older versions have are ignored.
    """
    found: dict[str, RefutedImpact] = {}
    rows = read_versions(tx) if refuted else []
    for row in (*[row for row in rows if not row.is_draft][-1:], *[row for row in rows if row.is_draft]):
        missing = [key for key in refuted if key not in found]
        if missing:
            found |= _find_impacts_in_version(tx, read_content(tx, row.id), missing)
    return [found[key] for key in dict.fromkeys(refuted) if key in found]


def _find_impacts_in_version(tx: Transaction, content: Content, keys: list[str]) -> dict[str, RefutedImpact]:
    from groundplan.purpose.analysis.analyse import trace_impacts  # loaded only for refuted assumptions

    several = trace_impacts(content, [key for key in keys if key in content.assumptions])
    serving: dict[str, list[str]] = {}
    if several:
        touched = {key for one in several for key in (*one.nodes, *one.activities)}
        serving = providers.find_work_serving(tx, sorted(touched))
    return {
        one.assumption: RefutedImpact(
            one.assumption,
            one.edges,
            one.nodes,
            sorted({id_ for key in (*one.nodes, *one.activities) for id_ in serving.get(key, ())}),
        )
        for one in several
    }
