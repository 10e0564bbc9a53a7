"""How much a claim and a resolve write to an SQLite file: a page for each table and index that must change, no more."""

from __future__ import annotations

import pytest

from groundplan.session import Session
from tests.engines import Engine, SqliteEngine

FRAME_BYTES = 4096 + 24  # a page in the write-ahead log, with its header
CYCLES = 3

# The project, the node, its place by change, by rank, as a task and among the claims, and the event in two orders.
CLAIM_PAGES_MAX = 8
# The project and its counts, the node, its place by change and among the claims, the evidence, the event in two orders.
RESOLVE_PAGES_MAX = 8


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_a_claim_and_a_resolve_write_one_page_of_each_index_that_must_change(engine: Engine) -> None:
    ada = engine.session("ada")
    ada.call("project.create", name="atlas")
    ada.call("work.plan", project="atlas", nodes=[{"ref": str(at), "summary": f"step {at}"} for at in range(9)])
    claims, resolves = zip(*(claim_and_resolve(engine, ada) for _ in range(CYCLES)), strict=True)
    # The least of several: now and then a page is full and has to be split.
    assert min(claims) <= CLAIM_PAGES_MAX
    assert min(resolves) <= RESOLVE_PAGES_MAX


def claim_and_resolve(engine: Engine, ada: Session) -> tuple[int, int]:
    """How many pages each of the two wrote."""
    first = pages_written(engine)
    (offer,) = ada.call("work.claim", project="atlas", claim=True).nodes
    second = pages_written(engine)
    evidence = [{"type": "note", "ref": "done"}]
    ada.call("work.update", updates=[{"node_id": offer.node.id, "resolved": True, "add_evidence": evidence}])
    return second - first, pages_written(engine) - second


def pages_written(engine: Engine) -> int:
    assert isinstance(engine, SqliteEngine)
    return engine.path.with_name(f"{engine.path.name}-wal").stat().st_size // FRAME_BYTES
