"""The tags of a container are made exactly what is asked for, and the change is told."""

from __future__ import annotations

from groundplan.kernel.audit import Change, changed
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.tags.container_tags import set_tags
from groundplan.work.engine.row import fetch_node
from groundplan.work.events import WorkOp
from tests.engines import Engine
from tests.work.containers.tags.desk import Tags, everything


def test_the_rows_become_exactly_these_tags_and_the_change_is_given(engine: Engine, desk: Tags) -> None:
    desk.task("walk")
    desk.task("draw", "b")
    given: list[Change | None] = []

    def tag(tx: Transaction) -> None:
        for tags in (["b", "a"], ["b", "c"], ["c", "b"], []):
            given.append(set_tags(tx, fetch_node(tx, 2), tags))
        tx.record(WorkOp.TAGGED, desk.ids["walk"])

    desk.write(tag)

    assert given == [
        changed("tags", [], ["a", "b"]),
        changed("tags", ["a", "b"], ["b", "c"]),
        None,
        changed("tags", ["b", "c"], []),
    ]
    assert (desk.tags_of("walk"), desk.tags_of("draw")) == ([], ["b"])


def test_it_records_nothing_by_itself(engine: Engine, desk: Tags) -> None:
    desk.task("walk", "a")
    before = everything(engine)

    desk.write(lambda tx: set_tags(tx, fetch_node(tx, 2), ["b"]))  # a write that records nothing is taken back

    assert everything(engine) == before
