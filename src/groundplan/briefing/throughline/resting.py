"""The facts that the steps of a line rest on."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import UNSET

from groundplan import providers
from groundplan.briefing.throughline.chain import ChainFact, ChainStep
from groundplan.kernel.links import LinkType, list_links_from
from groundplan.kernel.store.transaction import Transaction


def add_facts_to_steps(tx: Transaction, steps: Iterable[ChainStep]) -> None:
    """Add to each step the facts that it has a link to."""
    by_ref = {step.ref: step for step in steps}
    links = [link for link in list_links_from(tx, by_ref) if link.type is LinkType.RESTS_ON]
    if not links:
        return
    found = providers.find_fact_targets(tx, sorted({link.target for link in links})).found
    for link in links:
        step = by_ref[link.source]
        known = found.get(link.target)
        fact = ChainFact(link.target, UNSET if known is None else known.title)
        step.facts = [*(step.facts or ()), fact]
