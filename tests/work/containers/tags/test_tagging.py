"""Setting the tags of a container replaces them and records the change."""

from __future__ import annotations

from groundplan.kernel.audit import Change, changed
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.events import WorkOp
from groundplan.work.nodes import set_tags
from tests.engines import Engine
from tests.work.containers.tags.client import TagsClient, all_rows


def test_the_rows_become_exactly_these_tags_and_the_change_is_given(engine: Engine, client: TagsClient) -> None:
    client.task("walk")
    client.task("draw", "b")
    given: list[Change | None] = []

    def tag(tx: Transaction) -> None:
        for tags in (["b", "a"], ["b", "c"], ["c", "b"], []):
            given.append(set_tags(tx, 2, tags))
        tx.record(WorkOp.TAGGED, client.ids["walk"])

    client.write(tag)

    assert given == [
        changed("tags", [], ["a", "b"]),
        changed("tags", ["a", "b"], ["b", "c"]),
        None,
        changed("tags", ["b", "c"], []),
    ]
    assert (client.tags_of("walk"), client.tags_of("draw")) == ([], ["b"])


def test_it_records_nothing_by_itself(engine: Engine, client: TagsClient) -> None:
    client.task("walk", "a")
    before = all_rows(engine)

    client.write(lambda tx: set_tags(tx, 2, ["b"]))  # a write that records nothing is rolled back

    assert all_rows(engine) == before
