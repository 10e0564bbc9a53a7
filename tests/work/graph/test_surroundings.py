"""The surroundings of an offered node: its ancestors with their links, and the resolved nodes that it depends on."""

from __future__ import annotations

import pytest

from tests.statements import record_statements
from tests.work.client import WorkClient

DEPTH = 8


def plan_stairs(work: WorkClient) -> None:
    """Plan a task at each depth, of which every second one depends on two resolved nodes and an open one."""
    work.plan("first\nsecond\nopen")
    outline = [
        line
        for depth in range(DEPTH)
        for line in (
            f"{'  ' * depth}task {depth}{': first, second' if depth % 2 else ''}",
            f"{'  ' * depth}step {depth}",
        )
    ]
    work.plan("\n".join(outline), each={"step 0": {"context_links": ["a"]}, "step 3": {"context_links": ["b", "c"]}})
    work.plan("waits: open")
    for name in ("first", "second"):
        work.update(name, resolved=True, add_evidence=[{"type": "note", "ref": f"{name} is done"}])


def test_an_offer_has_its_ancestors_and_its_resolved_dependencies(work: WorkClient) -> None:
    plan_stairs(work)

    offers = work.offers(count=50)

    assert {len(offer.ancestors) for offer in offers} == set(range(1, DEPTH + 1))
    assert {len(offer.resolved_deps) for offer in offers} == {0, 2}
    assert {len(offer.context_links.inherited) for offer in offers} == {0, 1, 2}


def test_the_surroundings_are_read_by_one_statement(work: WorkClient, monkeypatch: pytest.MonkeyPatch) -> None:
    plan_stairs(work)
    ran = record_statements(monkeypatch)

    work.offers(node_id=work["task 1"])

    assert ran.count("surroundings") == 1
