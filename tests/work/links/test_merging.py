"""Links of nodes that are merged or deleted."""

from __future__ import annotations

from groundplan.kernel.links import LINKS_MAX, LinkSource, LinkType, add_links
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.events import WorkOp
from tests.engines import Engine
from tests.errors import error_of
from tests.work.client import WorkClient
from tests.work.links.conftest import OWNER, SIZE
from tests.work.links.shown import last_changes, links


def test_the_target_of_a_merge_takes_over_the_links_of_the_source(engine: Engine, work: WorkClient) -> None:
    work.update("a", serves=["OC1", "OP1"], rests_on=[SIZE])
    work.update("b", serves=["OC1", "G1"])
    work.connect("a: AS1", type="supports")

    work.merge("a", "b")

    assert links(work, "b") == {"serves": ["G1", "OC1", "OP1"], "rests_on": [SIZE], "supports": ["AS1"]}
    assert {field: (before, after) for field, before, after in last_changes(work, "b") if field != "merged_from"} == {
        "serves": (["G1", "OC1"], ["G1", "OC1", "OP1"]),
        "rests_on": ([], [SIZE]),
        "supports": ([], ["AS1"]),
    }
    assert engine.as_owner("SELECT DISTINCT source FROM links") == [(work["b"],)]


def test_a_link_that_is_taken_over_is_as_old_as_it_was(engine: Engine, work: WorkClient) -> None:
    work.update("a", rests_on=[SIZE])
    before = engine.as_owner("SELECT rev, created_at, created_by FROM links")

    work.by("ben").merge("a", "b")

    assert engine.as_owner("SELECT rev, created_at, created_by FROM links") == before


def test_a_merge_of_two_nodes_that_serve_the_same_changes_no_link(work: WorkClient) -> None:
    work.updates({"node_id": "a", "serves": ["OC1"]}, {"node_id": "b", "serves": ["OC1"]})

    work.merge("a", "b")

    assert links(work, "b") == {"serves": ["OC1"]}
    assert [field for field, _, _ in last_changes(work, "b")] == ["merged_from"]


def test_a_merge_that_would_give_a_node_too_many_links_is_refused_whole(engine: Engine, work: WorkClient) -> None:
    numbers: dict[str, int] = dict(engine.as_owner("SELECT id, n FROM work_nodes"))
    for name, first in (("a", 0), ("b", LINKS_MAX)):
        source = LinkSource(work[name], numbers[work[name]])
        keys = [f"OC{n + 1}" for n in range(first, first + LINKS_MAX)]

        def link(tx: Transaction, source: LinkSource = source, keys: list[str] = keys) -> None:
            add_links(tx, [(source, LinkType.SERVES, key) for key in keys])
            tx.record(WorkOp.UPDATED, source.ref)

        engine.store.write(work.session.actor, "atlas", link)

    error = error_of(lambda: work.merge("a", "b"))

    assert (error.code, error.details["limit"]) == ("too_much_together", LINKS_MAX)
    assert (len(links(work, "a")["serves"]), len(links(work, "b")["serves"])) == (LINKS_MAX, LINKS_MAX)


def test_a_deleted_task_takes_its_links_along_and_its_event_says_which(engine: Engine, work: WorkClient) -> None:
    work.update("phase", rests_on=[OWNER])
    work.update("a", serves=["OC1", "G1"])
    work.update("c", serves=["G1"])
    version = work.node("phase").rev

    work.call("container.delete", containerType="task", id=work["phase"], version=version, cascade=True)

    assert engine.as_owner("SELECT source, target FROM links") == [(work["c"], "G1")]
    (changes,) = engine.as_owner(f"SELECT changes FROM events WHERE subject = '{work['a']}' AND op = 'work.deleted'")
    assert '"field":"serves","before":["G1","OC1"],"after":[]' in changes[0]
