"""Lists for people: the children of a node, and the columns of a board, each node with its state."""

from __future__ import annotations

from typing import Any

import pytest

from groundplan.kernel.errors import Invalid, NotFound
from groundplan.work.graph.outline import CACHE_KEY, CountedPages, Lane, PageKey
from tests.manual_clock import ManualClock
from tests.work.client import WorkClient

PLAN = """
    phase
      walk
      draw: walk
    rest
"""


def outline(work: WorkClient, **given: Any) -> Any:
    return work.call("work.outline", project=work.project, **given)


def states(work: WorkClient, **given: Any) -> dict[str, str]:
    return {work.name(node.id): str(node.state) for node in outline(work, **given).nodes}


def test_the_children_of_the_root_have_their_states_and_counts(work: WorkClient) -> None:
    work.plan(PLAN)
    listed = outline(work)

    assert states(work) == {"phase": "parent", "rest": "ready"}
    assert (listed.nodes[0].children, listed.nodes[0].open_children, listed.total) == (2, 2, 2)
    assert not listed.nodes[1].children


def test_the_children_of_a_node_are_listed_in_the_order_of_creation(work: WorkClient) -> None:
    work.plan(PLAN)

    assert states(work, parent=work["phase"]) == {"walk": "ready", "draw": "blocked"}


def test_each_column_of_the_board_has_the_nodes_in_that_state(work: WorkClient) -> None:
    work.plan(PLAN)
    builder = work.by("builder")
    builder.call("work.claim", node_id=work["rest"])
    columns = {lane.value: states(work, lane=lane.value) for lane in Lane}

    assert columns == {
        "blocked": {"draw": "blocked"},
        "ready": {"walk": "ready"},
        "claimed": {"rest": "claimed"},
        "resolved": {},
        "dropped": {},
    }
    claimed = outline(work, lane="claimed").nodes[0]
    assert (claimed.claimed_by, bool(claimed.claimed_until)) == ("builder", True)


def test_resolved_and_dropped_nodes_are_told_apart(work: WorkClient) -> None:
    work.plan(PLAN)
    work.resolve("walk")
    work.call("work.restructure", operations=[{"op": "drop", "node_id": work["rest"], "reason": "not needed"}])

    assert states(work, lane="resolved") == {"walk": "resolved"}
    assert states(work, lane="dropped") == {"rest": "dropped"}


def test_a_claim_that_ended_leaves_its_column(work: WorkClient, clock: ManualClock) -> None:
    work.plan(PLAN)
    work.by("builder").call("work.claim", node_id=work["rest"])
    clock.move(hours=2)

    assert states(work, lane="claimed") == {}
    assert states(work, lane="ready") == {"walk": "ready", "rest": "ready"}


@pytest.mark.parametrize("given", [{}, {"lane": "ready"}], ids=["children", "column"])
def test_pages_have_every_node_once_and_exact_totals(work: WorkClient, given: dict[str, str]) -> None:
    work.plan("\n".join(f"t{n}" for n in range(7)))
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = outline(work, limit=3, **given, **cursor)
        assert page.total == 7
        seen += work.names(page.nodes)
        if not page.next_cursor:
            break
        cursor = {"cursor": page.next_cursor}

    assert seen == [f"t{n}" for n in range(7)]


def test_an_unknown_node_and_two_choices_at_once_are_refused(work: WorkClient) -> None:
    with pytest.raises(NotFound):
        outline(work, parent="nowhere")
    with pytest.raises(Invalid):
        outline(work, parent=work["root"], lane="ready")


def test_progress_is_counted_once_for_each_revision(work: WorkClient) -> None:
    work.plan(PLAN)
    seen = []
    for step in (lambda: None, lambda: work.resolve("walk"), lambda: None, lambda: work.resolve("draw")):
        step()
        phase = outline(work).nodes[0]
        seen.append((phase.below, phase.open_below, len(work.session.store.cache[CACHE_KEY])))

    assert seen == [(2, 2, 1), (2, 1, 2), (2, 1, 2), (2, 0, 3)]


def test_only_the_pages_asked_for_last_are_kept() -> None:
    pages = CountedPages(pages_max=2)
    keys: list[PageKey] = [("o", "p", rev, "", (1,)) for rev in range(3)]
    for key in keys:
        pages.put(key, {})

    assert [pages.get(key) is None for key in keys] == [True, False, False]
    assert len(pages) == 2


def test_progress_counts_the_whole_tree_below_unless_it_is_large(
    work: WorkClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    work.plan("phase\n  walk\n    north\n    south\n  draw\nrest")
    work.resolve("north")
    phase, rest = outline(work).nodes

    assert (phase.below, phase.open_below, phase.children) == (4, 3, 2)
    assert not rest.below
    monkeypatch.setattr("groundplan.work.graph.outline.WALKED_MAX", 5)
    work.session.store.cache.clear()
    assert not outline(work).nodes[0].below


def test_one_node_is_shown_by_itself_with_its_place(work: WorkClient) -> None:
    work.plan(PLAN)
    work.call("work.update", updates=[{"node_id": work["walk"], "properties": {"priority": 2}}])
    (node,) = outline(work, node=work["walk"]).nodes

    assert (node.state, node.parent_summary, node.priority) == ("ready", "phase", 2)


def test_the_totals_of_the_columns_leave_out_what_is_claimed(work: WorkClient, clock: ManualClock) -> None:
    work.plan("a\nb\nc")
    work.by("builder").call("work.claim", node_id=work["b"])
    totals = {lane: outline(work, lane=lane, limit=1).total for lane in ("ready", "claimed")}
    clock.move(hours=2)

    assert totals == {"ready": 2, "claimed": 1}
    assert outline(work, lane="ready", limit=1).total == 3
