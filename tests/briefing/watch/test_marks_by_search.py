"""Marks are compared with a search of everything."""

from __future__ import annotations

from random import Random

import pytest

from groundplan.briefing import watch
from groundplan.kernel.links import Link
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.observing.records import Observations
from groundplan.work import links
from tests.briefing.watch.watch_project import Watch
from tests.linking import unlink
from tests.purpose.client import add_edge, add_node, op


def test_marks_are_what_a_search_of_everything_finds(atlas: Watch) -> None:
    compare_with_search(atlas)


@pytest.mark.teeth
@pytest.mark.parametrize("fault", ["own links do not replace inherited ones", "decisions do not clear", "edges lost"])
def test_a_fault_in_the_watch_is_noticed(atlas: Watch, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if fault == "own links do not replace inherited ones":
        whole = links.find_open_inheriting

        def without_stops(tx: Transaction, sources: set[int], links: list[Link]) -> dict[int, list[int]]:
            return whole(tx, sources, [link for link in links if link.node_n in sources])

        monkeypatch.setattr(watch, "find_open_inheriting", without_stops)
    elif fault == "decisions do not clear":
        monkeypatch.setattr(Observations, "get_decided_revs", lambda _: {})
    else:
        monkeypatch.setattr(watch, "parse_edge_name", lambda _: None)

    with pytest.raises(AssertionError):
        compare_with_search(atlas)


def compare_with_search(atlas: Watch) -> None:
    """Compare random trees, links and reviews with the definition, written down once more without any shortcut."""
    rng = Random(7)  # noqa: S311 - the same cases each time
    keys = ["OC1", "OC2", "OP1", "OP2", "AC1"]
    atlas.purpose.edit(
        add_node("ACTIVITY", "second", ref="s"),
        add_edge("s", "OP2"),
        add_edge("AC1", "OP2"),
        op("add_assumption", node="OC2", assumption_text="b"),
        op("add_assumption", source="AC1", target="OP2", assumption_text="c"),
    )
    edges = {
        ("AC1", "OP1"),
        ("OP1", "OC1"),
        ("OC1", "G1"),
        ("OP2", "OC2"),
        ("OC2", "G1"),
        ("AC2", "OP2"),
        ("AC1", "OP2"),
    }
    places = {"AS1": ("OP1", "OC1"), "AS2": ("OC2", "OC2"), "AS3": ("AC1", "OP2")}  # (behind, on)
    ids: list[str] = []
    parents: dict[str, str | None] = {}
    serves: dict[str, set[str]] = {}
    resolved: set[str] = set()
    doubts: dict[str, str] = {}

    def closure(start: str, pairs: set[tuple[str, str]]) -> set[str]:
        seen = {start}
        while more := {b for a, b in pairs if a in seen} - seen:
            seen |= more
        return seen

    def served_by(node: str | None) -> set[str]:
        while node is not None:
            if serves.get(node):
                return serves[node]
            node = parents[node]
        return set()

    for _ in range(120):
        match rng.choice(("plan", "plan", "link", "link", "unlink", "resolve", "review", "decide")):
            case "plan":
                above = rng.choice([None, *[one for one in ids if one not in resolved]])
                row = {"ref": "x", "summary": "x", **({"parent_ref": above} if above else {})}
                (made,) = atlas.session.call("work.plan", project="atlas", nodes=[row]).created
                ids.append(made.id)
                parents[made.id] = above
            case "link" if ids:
                node, key = rng.choice(ids), rng.choice([*keys, "AC2"])
                if key not in serves.setdefault(node, set()):
                    atlas.link(node, "serves", key)
                    serves[node].add(key)
            case "unlink" if any(serves.values()):
                node = rng.choice([one for one in ids if serves.get(one)])
                key = rng.choice(sorted(serves[node]))
                unlink(atlas.session, node, "serves", key)
                serves[node].remove(key)
            case "resolve" if ids:
                leaves = [one for one in ids if one not in parents.values() and one not in resolved]
                if leaves:
                    node = rng.choice(leaves)
                    atlas.session.call("work.update", updates=[{"node_id": node, "resolved": True}])
                    resolved.add(node)
            case "review":
                key, status = rng.choice(sorted(places)), rng.choice(("holding", "at_risk", "refuted"))
                atlas.review(status, key)
                doubts.pop(key, None)
                if status != "holding":
                    doubts[key] = status
            case "decide":
                key = rng.choice(sorted(places))
                atlas.decide(key)
                doubts.pop(key, None)
        found = {mark.ref: mark for mark in atlas.marks()}
        assert {ref: mark.status for ref, mark in found.items()} == doubts
        for ref, mark in found.items():
            behind, on = places[ref]
            after = closure(on, edges)
            connected = after | closure(behind, {(b, a) for a, b in edges})
            work = {one for one in ids if one not in resolved and served_by(one) & connected}
            assert set(mark.purpose) == after
            assert {*mark.edges} == {f"{a}->{b}" for a, b in edges if a in after or (a, b) == (behind, on)}
            assert mark.work_total == len(work)
            assert set(mark.work) == work if len(work) <= 20 else set(mark.work) < work
