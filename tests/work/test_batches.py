"""A batch is settled once: later items see earlier ones, and what is below a node is updated at the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import UNSET

from groundplan.kernel.errors import Unavailable
from groundplan.kernel.store.migrations import Dialect
from groundplan.kernel.store.transaction import Transaction
from groundplan.work import restructuring
from groundplan.work.nodes import WorkNodeRow
from groundplan.work.readiness import Readiness
from groundplan.work.restructuring import move as move_node
from tests.engines import Engine
from tests.errors import error_of
from tests.work.client import WorkClient

SIZE = 200  # nodes of the subtree
ITEMS = 100  # of a batch
ROWS_OF_AN_ITEM = 4  # nodes that an item may update besides the subtree: itself, two parents, one dependent

COUNTED = {
    Dialect.SQLITE: (
        "CREATE TABLE updated_rows (n INTEGER)",
        "CREATE TRIGGER count_updates AFTER UPDATE ON work_nodes BEGIN INSERT INTO updated_rows VALUES (NEW.n); END",
    ),
    Dialect.POSTGRES: (
        "CREATE TABLE updated_rows (n bigint)",
        "CREATE FUNCTION count_update() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS "
        "$$ BEGIN INSERT INTO groundplan.updated_rows VALUES (NEW.n); RETURN NULL; END $$",
        "CREATE TRIGGER count_updates AFTER UPDATE ON work_nodes FOR EACH ROW EXECUTE FUNCTION count_update()",
    ),
}

Move = dict[str, str]


@pytest.fixture
def count_updates(work: WorkClient, engine: Engine) -> Callable[[Callable[[], Any]], int]:
    """Return a function that runs a change and returns how many nodes it updated, each time counted."""
    engine.as_owner(*COUNTED[engine.dialect])

    def count(change: Callable[[], Any]) -> int:
        engine.as_owner("DELETE FROM updated_rows")
        change()
        ((found,),) = engine.as_owner("SELECT count(*) FROM updated_rows")
        return int(found)

    return count


def move(name: str, under: str) -> Move:
    return {"op": "move", "node_id": name, "new_parent": under}


def plan_subtree(work: WorkClient) -> None:
    """Plan a node with a subtree, and two places for it at different depths."""
    steps = "".join(f"\n  step {n}" for n in range(SIZE - 1))
    work.plan(f"near\n  b\n    far\nblocker\nphase{steps}")


def test_a_hundred_moves_of_one_subtree_update_it_once(
    work: WorkClient, count_updates: Callable[[Callable[[], Any]], int]
) -> None:
    plan_subtree(work)
    moves = [move("phase", "near" if turn % 2 else "far") for turn in range(ITEMS)]

    one = count_updates(lambda: work.move("phase", "far"))
    work.move("phase", "root")
    hundred = count_updates(lambda: work.restructure(*moves))

    assert one >= SIZE
    assert hundred <= one + ROWS_OF_AN_ITEM * ITEMS


@pytest.mark.teeth
def test_a_batch_that_settles_each_move_is_noticed(
    work: WorkClient, count_updates: Callable[[Callable[[], Any]], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def settle_each_move(tx: Transaction, readiness: Readiness, *moved: WorkNodeRow, decision: str | None) -> str:
        told = move_node(tx, readiness, *moved, decision=decision)
        readiness.settle_positions()
        return told

    monkeypatch.setattr(restructuring, "move", settle_each_move)

    with pytest.raises((AssertionError, Unavailable)):  # or it meets the limit of a write
        test_a_hundred_moves_of_one_subtree_update_it_once(work, count_updates)


def test_a_blocker_that_is_toggled_a_hundred_times_holds_back_at_most_once(
    work: WorkClient, count_updates: Callable[[Callable[[], Any]], int]
) -> None:
    work.open(policies={"inherit_dependencies": True})
    plan_subtree(work)
    work.connect("phase: blocker")
    toggles = [{"node_id": "blocker", "resolved": turn % 2 == 0} for turn in range(ITEMS)]

    there_and_back = count_updates(lambda: work.updates(*toggles))
    once_more = count_updates(lambda: work.updates(*toggles, {"node_id": "blocker", "resolved": True}))

    assert there_and_back == ITEMS  # the blocker itself, and nothing around it
    assert once_more <= SIZE + ITEMS + ROWS_OF_AN_ITEM


def test_a_later_update_sees_the_counts_that_an_earlier_one_changed(work: WorkClient) -> None:
    work.plan("phase\n  a\n  b\nnext: phase")

    work.updates(*({"node_id": name, "resolved": True} for name in ("a", "b", "phase", "next")))
    assert work.query(resolved=False) == ["root"]

    back = work.updates({"node_id": "a", "resolved": False}, {"node_id": "next", "resolved": False})
    assert work.names(back.reopened) == ["phase"]
    refusal = error_of(
        lambda: work.updates({"node_id": "b", "resolved": False}, {"node_id": "phase", "resolved": True})
    )
    assert (refusal.code, refusal.details["open_children"]) == ("unresolved_children", 2)
    assert work.query(is_blocked=True) == ["next"]


def test_a_toggled_blocker_makes_nothing_actionable_that_was_not_released(work: WorkClient) -> None:
    work.open(policies={"inherit_dependencies": True})
    work.plan("blocker\nphase: blocker\n  a")
    items = [{"node_id": "blocker", "resolved": resolved} for resolved in (True, False, True)]

    assert work.updates(*items[:2]).newly_actionable is UNSET
    assert work.names(work.updates(*items).newly_actionable) == ["a"]


def test_a_later_move_sees_the_ancestors_that_an_earlier_one_made(work: WorkClient) -> None:
    work.plan("deep\n  a\n    b\n      c\nx\n  y")

    refusal = error_of(lambda: work.restructure(move("x", "c"), move("deep", "y")))

    assert refusal.code == "cycle_detected"
    assert work.restructure(move("x", "c"), move("b", "root"), move("deep", "y")).applied == 3


def test_a_later_merge_sees_the_ancestors_that_an_earlier_move_made(work: WorkClient) -> None:
    work.plan("a\n  b\nc\n  d\n    e")

    operations = (move("a", "e"), {"op": "merge", "source": "b", "target": "c"})

    assert error_of(lambda: work.restructure(*operations)).code == "cannot_merge"


def test_a_subtree_that_was_moved_below_what_waits_is_not_resolved_with_its_last_child(work: WorkClient) -> None:
    work.open(policies={"inherit_dependencies": True, "auto_resolve_parents": True})
    work.plan("blocker\nwaiting: blocker\nphase\n  a\n  b")

    work.restructure(move("phase", "waiting"), {"op": "drop", "node_id": "a", "reason": "r"}, move("b", "root"))

    assert not work.node("phase").resolved
    assert "phase" in work.query(is_blocked=True)


def test_a_subtree_that_was_moved_and_merged_away_in_one_batch_leaves_exact_positions(work: WorkClient) -> None:
    work.open(policies={"inherit_dependencies": True})
    work.plan("blocker\nwaiting: blocker\nphase\n  a\n    b\n  c\nother\n  d")

    answer = work.restructure(
        move("phase", "waiting"),
        move("a", "d"),
        {"op": "merge", "source": "phase", "target": "other"},
        move("other", "waiting"),
        move("b", "root"),
    )

    assert answer.applied == 5  # the fixture compares the stored positions with recomputed ones
    assert set(work.query(is_blocked=True)) == {"waiting", "other", "d", "a", "c"}
