"""The surroundings of an offered node are the same however they are read."""

from __future__ import annotations

import pytest

from groundplan.kernel.answers import encode
from groundplan.work.graph import surroundings
from groundplan.work.graph.surroundings import CHAIN_MAX
from tests.statements import record_statements
from tests.work.client import WorkClient

DEPTH = CHAIN_MAX + 2


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


def test_an_offer_says_the_same_whether_its_ancestors_are_joined_or_walked(
    work: WorkClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan_stairs(work)

    joined = work.offers(count=50)
    monkeypatch.setattr(surroundings, "CHAIN_MAX", 0)
    walked = work.offers(count=50)

    assert encode(joined) == encode(walked)
    assert {len(offer.ancestors) for offer in joined} == set(range(1, DEPTH + 1))
    assert {len(offer.resolved_deps) for offer in joined} == {0, 2}
    assert {len(offer.context_links.inherited) for offer in joined} == {0, 1, 2}


@pytest.mark.parametrize(
    ("task", "on_file"),
    [
        ("task 0", ["chain_above"]),
        ("task 1", ["chain_above", "resolved_dependencies"]),
        (f"task {CHAIN_MAX}", ["surroundings"]),
    ],
)
def test_a_file_joins_near_ancestors_and_a_server_answers_in_one_round_trip(
    work: WorkClient, monkeypatch: pytest.MonkeyPatch, task: str, on_file: list[str]
) -> None:
    plan_stairs(work)
    ran = record_statements(monkeypatch)

    work.offers(node_id=work[task])

    statements = [name for name in ran if name in ("chain_above", "resolved_dependencies", "surroundings")]
    assert statements == (on_file if work.session.store.runs_in_process else ["surroundings"])
