"""An offered node comes with its ancestors, their links, and the resolved nodes that it depends on."""

from __future__ import annotations

import pytest

from tests.statements import record_statements
from tests.work.client import WorkClient

DEPTH = 8


def plan_stairs(work: WorkClient) -> None:
    """Plan a task at each depth, of which every second one depends on two resolved nodes."""
    work.plan("first\nsecond")
    outline = [
        line
        for depth in range(DEPTH)
        for line in (
            f"{'  ' * depth}task {depth}{': first, second' if depth % 2 else ''}",
            f"{'  ' * depth}step {depth}",
        )
    ]
    work.plan("\n".join(outline), each={"step 0": {"context_links": ["a"]}, "step 3": {"context_links": ["b", "c"]}})
    for name in ("first", "second"):
        work.update(name, resolved=True, add_evidence=[{"type": "note", "ref": f"{name} is done"}])


def test_an_offer_has_the_ancestors_of_its_node_with_links_and_dependencies(work: WorkClient) -> None:
    plan_stairs(work)
    links = {f"step {depth}": links for depth, links in ((0, ["a"]), (3, ["b", "c"]))}

    for depth in range(DEPTH):
        [offer] = work.offers(node_id=work[f"task {depth}"])
        above = [f"step {number}" for number in range(depth)]
        assert [ancestor.summary for ancestor in offer.ancestors][1:] == above
        inherited = [(node.node_id, node.links) for node in offer.context_links.inherited]
        assert inherited == [(work[name], links[name]) for name in above if name in links]
        evidence = {dep.summary: [item.ref for item in dep.evidence] for dep in offer.resolved_deps}
        done = {"first": ["first is done"], "second": ["second is done"]} if depth % 2 else {}
        assert evidence == done


def test_the_surroundings_take_one_statement(work: WorkClient, monkeypatch: pytest.MonkeyPatch) -> None:
    plan_stairs(work)
    ran = record_statements(monkeypatch)

    work.offers(node_id=work[f"task {DEPTH - 1}"])

    assert [name for name in ran if name in ("surroundings", "root_with_links")] == ["surroundings"]
