"""Answers are bounded however large the project is, and a change whose answer cannot fit is not made."""

from __future__ import annotations

import pytest
from msgspec import UNSET

from groundplan.kernel.answers import ANSWER_TOKENS_MAX, count_tokens, encode
from groundplan.kernel.preferences import Preferences
from groundplan.session import Session
from tests.errors import error_of
from tests.proof import scaled
from tests.work.client import WorkClient

LONG = "x" * 4000


@pytest.fixture
def capped_work(work: WorkClient) -> WorkClient:
    """Ada with the answer limit of MCP."""
    session = Session(
        work.session.store, work.session.actor, preferences=Preferences(answer_tokens_max=ANSWER_TOKENS_MAX)
    )
    return WorkClient(session, work.project, work.ids)


def test_a_root_with_many_long_links_can_still_be_opened(capped_work: WorkClient) -> None:
    capped_work.update("root", add_context_links=[f"{place} {LONG}" for place in range(50)])

    assert count_tokens(encode(capped_work.open())) <= ANSWER_TOKENS_MAX


def test_many_long_offers_fit_into_one_answer(capped_work: WorkClient) -> None:
    names = [f"n{place}" for place in range(50)]
    capped_work.plan("\n".join(names), each={name: {"summary": f"{name} {LONG}"} for name in names})

    answer = capped_work.call("work.next", project="atlas", count=50)

    assert answer.nodes
    assert answer.left_out == {"nodes": 50 - len(answer.nodes)}
    assert count_tokens(encode(answer)) <= ANSWER_TOKENS_MAX


def test_whoever_claims_is_told_of_everything_they_hold(capped_work: WorkClient) -> None:
    names = [f"n{place}" for place in range(50)]
    capped_work.plan("\n".join(names), each={name: {"summary": f"{name} {LONG}"} for name in names})

    answer = capped_work.call("work.next", project="atlas", count=50, claim=True)

    assert count_tokens(encode(answer)) <= ANSWER_TOKENS_MAX
    assert {one.node.id for one in answer.nodes} == {capped_work[name] for name in capped_work.query(claimed_by="ada")}


def test_an_offer_says_what_was_left_out(capped_work: WorkClient) -> None:
    capped_work.plan("a", each={"a": {"context_links": [f"{place} {LONG}" for place in range(40)]}})

    (offer,) = capped_work.offers()

    assert count_tokens(encode(offer)) <= ANSWER_TOKENS_MAX
    assert offer.left_out == {"node.context_links": 40}


def test_the_last_offers_give_up_their_context_first(capped_work: WorkClient) -> None:
    names = [f"n{place}" for place in range(8)]
    links = [f"{place} {LONG}" for place in range(2)]
    capped_work.plan("\n".join(names), each={name: {"context_links": links} for name in names})

    answer = capped_work.call("work.next", project="atlas", count=8)

    assert count_tokens(encode(answer)) <= ANSWER_TOKENS_MAX
    gone = [one.left_out is not UNSET for one in answer.nodes]
    assert len(gone) == 8
    assert any(gone)
    assert gone == sorted(gone)


def test_projects_that_do_not_fit_into_the_list_are_counted(work: WorkClient) -> None:
    for place in range(9):
        work.call("work.open", project=f"p{place}", goal="g" * 400)
    session = Session(work.session.store, work.session.actor, preferences=Preferences(answer_tokens_max=500))

    listed = session.call("work.open")

    assert count_tokens(encode(listed)) <= 500
    assert listed.left_out == {"projects": 10 - len(listed.projects)}


@pytest.mark.proof
def test_a_child_below_a_deep_and_resolved_chain_can_be_planned(capped_work: WorkClient) -> None:
    count = scaled(100, 500)
    long = "x" * (150_000 // count)  # together they exceed the limit
    names = [f"n{place}" for place in range(count)]
    outline = "\n".join(" " * depth + name for depth, name in enumerate(names))
    capped_work.plan(outline, each={name: {"summary": f"{name} {long}"} for name in names})
    capped_work.resolve(*reversed(names))

    answer = capped_work.plan("new", under=names[-1])

    assert count_tokens(encode(answer)) <= ANSWER_TOKENS_MAX
    assert capped_work.names(answer.reopened[:1]) == [names[-1]]
    assert capped_work.counts()[:2] == (count + 2, 0)


def test_a_plan_of_the_largest_size_is_taken_even_if_every_node_is_warned_about(capped_work: WorkClient) -> None:
    names = [f"node{place}" for place in range(1000)]

    answer = capped_work.plan("\n".join(names), each={name: {"properties": {"priority": "high"}} for name in names})

    assert len(answer.created) == 1000
    assert answer.warnings
    assert count_tokens(encode(answer)) <= ANSWER_TOKENS_MAX


def test_many_bad_edges_are_no_error(capped_work: WorkClient) -> None:
    capped_work.plan("\n".join(f"n{place}: n{place + 1}" for place in range(300)) + "\nn300")

    answer = capped_work.connect(*(f"n300: n{place}" for place in range(250)))

    assert answer.applied == 0
    assert {one.reason for one in answer.rejected} == {"cycle_detected"}
    assert count_tokens(encode(answer)) <= ANSWER_TOKENS_MAX


def test_a_plan_whose_ids_could_not_be_told_is_not_made(capped_work: WorkClient) -> None:
    refusal = error_of(lambda: capped_work.plan("\n".join(f"{'r' * 120}{place}" for place in range(1000))))

    assert refusal.code == "answer_too_large"
    assert capped_work.counts()[0] == 1
