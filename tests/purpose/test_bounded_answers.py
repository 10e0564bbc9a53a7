"""Answers about a large theory are bounded, and no change is refused for the size of its answer."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import UNSET

from groundplan.kernel.answers import count_tokens, encode
from groundplan.kernel.errors import StaleRevision
from groundplan.purpose.versions.publish import GateFailed
from groundplan.session import Session
from tests.engines import Engine, fill_once
from tests.manual_clock import ManualClock
from tests.purpose.client import PurposeClient, add_edge, add_node, op
from tests.purpose.conftest import ADA, begin_draft
from tests.purpose.test_open import with_cap

CAP = 2_000
MANY = 200


def draw_much(engine: Engine) -> None:
    """Add many outcomes of one goal, with edges that all lack a mechanism."""
    begin_draft(engine)
    desk = PurposeClient(Session(engine.store_with_clock(ManualClock()), ADA))
    desk.draw("dig -> well -> water -> health")
    batch: list[Any] = []
    for number in range(MANY):
        batch += [add_node("OUTCOME", f"Outcome {number}", ref=f"o{number}"), add_edge(f"o{number}", "G1")]
    desk.edit(*batch)


@pytest.fixture
def large_theory(engine: Engine, clock: ManualClock) -> PurposeClient:
    """Ada at a theory with many outcomes."""
    fill_once(engine, draw_much)
    return PurposeClient(Session(engine.store_with_clock(clock), ADA))


@pytest.fixture
def capped_theory(large_theory: PurposeClient) -> PurposeClient:
    """The same with a limit on the size of answers."""
    return with_cap(large_theory, CAP)


def test_a_gate_keeps_all_its_checks_and_says_how_many_refs_it_left_out(
    large_theory: PurposeClient, capped_theory: PurposeClient
) -> None:
    short, whole = capped_theory.check(), large_theory.check()

    assert count_tokens(encode(short)) <= CAP < count_tokens(encode(whole))
    assert [(one.code, one.result, one.message) for one in short.checks] == [
        (one.code, one.result, one.message) for one in whole.checks
    ]
    for cut, full in zip(short.checks, whole.checks, strict=True):
        assert len(cut.refs) + (cut.left_out or {}).get("refs", 0) == len(full.refs)
    assert (short.score, short.content_hash) == (whole.score, whole.content_hash)


def test_a_large_version_is_published_and_its_gate_is_kept_whole(
    large_theory: PurposeClient, capped_theory: PurposeClient
) -> None:
    whole = large_theory.check()

    published = capped_theory.publish()

    assert count_tokens(encode(published)) <= CAP
    assert large_theory.check(version=1) == whole


def test_a_gate_that_fails_by_much_says_so_in_bounds(capped_theory: PurposeClient) -> None:
    capped_theory.edit(*(add_node("OUTPUT", f"Lost {number}") for number in range(MANY)))

    with pytest.raises(GateFailed) as error:
        capped_theory.publish()

    assert count_tokens(encode(error.value.to_dict())) <= CAP
    (gate,) = error.value.details["gates"]
    assert {one["code"]: one["left_out"]["refs"] > 0 for one in gate["checks"] if "left_out" in one}["GA_ORPHANS"]
    whole = {"operation": "purpose.check", "arguments": {"project": capped_theory.project, "gate": "A"}}
    assert whole in error.value.to_dict()["details"]["next"]


@pytest.mark.slow
def test_a_large_comparison_leaves_its_text_out_and_comes_in_pages(
    large_theory: PurposeClient, capped_theory: PurposeClient
) -> None:
    capped_theory.publish()
    capped_theory.draft()
    capped_theory.edit(*(op("update_node", node=f"OC{number + 2}", title=f"Other {number}") for number in range(50)))
    assert with_cap(large_theory, 1_500).diff(1, 2).markdown is UNSET
    assert large_theory.diff(1, 2).markdown is not UNSET
    rest = [op("update_node", node=f"OC{number + 2}", title="Another") for number in range(50, MANY)]
    capped_theory.edit(*rest, *(op("remove_edge", source=f"OC{number + 2}", target="G1") for number in range(100)))
    capped_theory.edit(op("update_node", node="G1", narrative="ä" * 8_000, description="ö" * 8_000))
    whole = large_theory.diff(1, 2)

    pages = [capped_theory.diff(1, 2)]
    while pages[-1].next_cursor is not UNSET:
        pages.append(capped_theory.call("purpose.diff", **{"from": 1, "to": 2}, cursor=pages[-1].next_cursor))

    assert all(count_tokens(encode(page)) <= CAP for page in pages)
    changed = [one for page in pages for one in page.nodes.changed]
    assert [one.key for one in changed] == [one.key for one in whole.nodes.changed]
    assert (changed[1:], [change.field for change in changed[0].fields]) == (
        whole.nodes.changed[1:],
        ["description", "narrative"],
    )
    assert [one for page in pages for one in page.edges.removed] == whole.edges.removed
    assert [one for page in pages for one in page.rewired] == whole.rewired
    assert pages[0].left_out["edges.removed"] == 100


def test_a_page_of_a_comparison_is_of_the_draft_as_it_was(capped_theory: PurposeClient) -> None:
    capped_theory.publish()
    capped_theory.draft()
    capped_theory.edit(*(op("update_node", node=f"OC{number + 2}", title="Another") for number in range(MANY)))
    first = capped_theory.diff(1, 2)
    capped_theory.edit(op("update_node", node="G1", title="Welfare"))

    with pytest.raises(StaleRevision):
        capped_theory.call("purpose.diff", **{"from": 1, "to": 2}, cursor=first.next_cursor)


def test_an_analysis_and_health_keep_their_cap(large_theory: PurposeClient, capped_theory: PurposeClient) -> None:
    large_theory.edit(*(add_node("OUTPUT", f"Lost {number}") for number in range(400)))
    large_theory.edit(*(add_node("GOAL", f"Goal {number}") for number in range(150)))

    for gate, lists in (("analysis", ("orphans", "dead_ends", "goals")), ("health", ("goals",))):
        short, whole = capped_theory.check(gate), large_theory.check(gate)
        assert count_tokens(encode(short)) <= CAP < count_tokens(encode(whole))
        for name in lists:
            assert len(getattr(short, name)) + short.left_out.get(name, 0) == len(getattr(whole, name))


def test_a_row_that_is_too_large_for_a_page_says_what_it_left_out(
    large_theory: PurposeClient, capped_theory: PurposeClient
) -> None:
    large_theory.edit(*(op("add_assumption", node="AC1", assumption_text="ä" * 2_000) for _ in range(5)))

    pages = [capped_theory.open(detail="full")]
    while pages[-1].next_cursor is not UNSET:
        pages.append(capped_theory.open(detail="full", cursor=pages[-1].next_cursor))

    assert all(count_tokens(encode(page)) <= CAP for page in pages)
    (activity,) = (node for page in pages for node in page.nodes or () if node.key == "AC1")
    left_out = [page.left_out.get("nodes.assumptions", 0) for page in pages if page.left_out]
    assert 1 <= len(activity.assumptions or ()) == 5 - sum(left_out)


def test_many_versions_and_many_waivers_leave_room_for_the_theory(chain_client: PurposeClient) -> None:
    for number in range(15):
        chain_client.edit(op("update_node", node="G1", title=f"Health {number}"))
        chain_client.publish()
        chain_client.draft()
    for number in range(10):
        waiver = {"code": "GA_TITLE", "reason": "ä" * 2_000, "owner": "ada", "due": "2030-01-01"}
        chain_client.record(waivers=[{**waiver, "refs": ["OC1"] if number % 2 else ["OP1"]}])
    short = with_cap(chain_client, CAP)

    assert count_tokens(encode(short.open(detail="summary"))) <= CAP
    assert len(with_cap(chain_client, 500).versions()) < 16 == len(chain_client.versions())
    pages = [short.open()]
    while pages[-1].next_cursor is not UNSET:
        pages.append(short.open(cursor=pages[-1].next_cursor))
    assert len([node for page in pages for node in page.nodes or ()]) == 4
    assert len([one for page in pages for one in page.waivers or ()]) == 2
    assert pages[0].left_out
    assert pages[0].left_out["versions"] == 6


def test_what_a_refuted_assumption_touches_never_keeps_it_from_being_recorded(
    large_theory: PurposeClient, capped_theory: PurposeClient
) -> None:
    edges = [add_edge("OP1", f"OC{number + 2}") for number in range(MANY)]
    large_theory.edit(*edges, *(op("add_assumption", node="AC1", assumption_text=str(number)) for number in range(3)))

    recorded = capped_theory.record(
        reviews=[{"assumption": f"AS{number + 1}", "status": "refuted", "reason": "r"} for number in range(3)]
    )

    assert (recorded.recorded, [one.assumption for one in recorded.affected]) == (3, ["AS1", "AS2", "AS3"])
    assert sum(len(one.nodes) for one in recorded.affected) + recorded.left_out["affected.nodes"] == 3 * (MANY + 4)
    assert count_tokens(encode(recorded)) <= CAP


def test_a_batch_of_a_thousand_is_answered_in_bounds(capped_theory: PurposeClient) -> None:
    edited = capped_theory.edit(*(add_node("OUTPUT", "x") for _ in range(1_000)))

    assert count_tokens(encode(edited)) <= CAP
    assert len(edited.created) + edited.left_out["created"] == edited.applied == 1_000
