"""Every limit: the limit is accepted, one above is refused with the limit in the error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from msgspec import UNSET

from groundplan.kernel.errors import Invalid
from groundplan.kernel.preferences import Preferences
from groundplan.session import Session
from tests.errors import error_of
from tests.work.cases import try_each
from tests.work.client import WorkClient

PROPERTIES_AROUND = len('{"p":""}')  # the JSON around the one value


class Limit(NamedTuple):
    """A limit, the request that reaches it, and the error above it."""

    most: int
    code: str
    field: str
    send: Callable[[WorkClient, int], Any]

    def limit_in(self, refusal: Invalid) -> int:
        key = "limit_bytes" if self.code == "too_long" else "limit"
        limit: int = refusal.details[key]
        return limit


def nodes(**fields: Any) -> list[dict[str, Any]]:
    return [{"ref": "x", "summary": "x", **fields}]


def many(count: int) -> list[dict[str, Any]]:
    return [{"ref": f"r{place}", "summary": "x"} for place in range(count)]


def links(count: int) -> list[str]:
    return [f"file {place}" for place in range(count)]


def plan(work: WorkClient, given: list[dict[str, Any]]) -> Any:
    return work.call("work.plan", project="atlas", nodes=given)


def text(size: int) -> str:
    """Return text of `size` bytes, mostly multi-byte characters."""
    characters = "ü€🌍"
    whole = characters * (size // 9)
    return whole + "x" * (size - len(whole.encode()))


def evidence(count: int) -> list[dict[str, str]]:
    return [{"type": "note", "ref": "x"}] * count


LIMITS = {
    "plan": Limit(1000, "invalid_argument", "nodes", lambda work, size: plan(work, many(size))),
    "summary": Limit(4096, "too_long", "nodes[0].summary", lambda work, size: plan(work, nodes(summary=text(size)))),
    "summary in an update": Limit(
        4096, "too_long", "updates[0].summary", lambda work, size: work.update("a", summary=text(size))
    ),
    "properties": Limit(
        32_768,
        "too_long",
        "nodes[0].properties",
        lambda work, size: plan(work, nodes(properties={"p": text(size - PROPERTIES_AROUND)})),
    ),
    "properties in an update": Limit(
        32_768,
        "too_long",
        "updates[0].properties",
        lambda work, size: work.update("a", properties={"p": text(size - PROPERTIES_AROUND)}),
    ),
    "links": Limit(
        50,
        "invalid_argument",
        "nodes[0].context_links",
        lambda work, size: plan(work, nodes(context_links=links(size))),
    ),
    "links in an update": Limit(
        50,
        "invalid_argument",
        "updates[0].add_context_links",
        lambda w, size: w.update("a", add_context_links=links(size)),
    ),
    "reference of evidence": Limit(
        4096,
        "too_long",
        "updates[0].add_evidence[0].ref",
        lambda work, size: work.update("a", add_evidence=[{"type": "note", "ref": text(size)}]),
    ),
    "reason of a drop": Limit(
        4096, "too_long", "operations[0].reason", lambda work, size: work.drop(work.plan("d").created[0].id, text(size))
    ),
    "next": Limit(50, "invalid_argument", "count", lambda work, size: work.next(count=size)),
    "history": Limit(
        100, "invalid_argument", "limit", lambda w, size: w.call("work.history", node_id=w["a"], limit=size)
    ),
    "query": Limit(100, "invalid_argument", "limit", lambda w, size: w.call("work.query", project="atlas", limit=size)),
    "context": Limit(10, "invalid_argument", "depth", lambda work, size: work.context("a", depth=size)),
}


@pytest.fixture
def work_with_a(work: WorkClient) -> WorkClient:
    work.plan("a")
    return work


@pytest.mark.slow
@try_each("name", LIMITS)
def test_up_to_the_limit_everything_is_taken(work_with_a: WorkClient, name: str) -> None:
    limit = LIMITS[name]

    limit.send(work_with_a, limit.most - 1)
    limit.send(work_with_a, limit.most)


@try_each("name", LIMITS)
def test_what_is_above_a_limit_is_refused_and_the_limit_is_named(work_with_a: WorkClient, name: str) -> None:
    limit = LIMITS[name]

    refusal = error_of(lambda: limit.send(work_with_a, limit.most + 1))

    assert isinstance(refusal, Invalid)
    assert (refusal.code, refusal.details["field"], limit.limit_in(refusal)) == (limit.code, limit.field, limit.most)


SMALLEST: dict[str, Callable[[WorkClient], Any]] = {
    "no node in a plan": lambda work: plan(work, []),
    "no update": lambda work: work.updates(),
    "no edge": lambda work: work.connect(),
    "no operation": lambda work: work.restructure(),
    "an empty summary": lambda work: plan(work, nodes(summary="")),
    "an empty ref": lambda work: plan(work, nodes(ref="")),
    "an empty link": lambda work: plan(work, nodes(context_links=[""])),
    "an evidence without a type": lambda work: work.update("a", add_evidence=[{"type": "", "ref": "x"}]),
    "an edge without a type": lambda work: work.connect("a: root", type=""),
    "nothing to be offered": lambda work: work.next(count=0),
    "a negative depth": lambda work: work.context("a", depth=-1),
    "a page of nothing": lambda work: work.call("work.history", node_id=work["a"], limit=0),
}


@try_each("call", SMALLEST)
def test_what_is_below_a_limit_is_refused(work_with_a: WorkClient, call: str) -> None:
    refusal = error_of(lambda: SMALLEST[call](work_with_a))

    assert isinstance(refusal, Invalid)
    assert refusal.details["field"]


def test_links_are_counted_with_those_that_are_there(work_with_a: WorkClient) -> None:
    work_with_a.update("a", add_context_links=links(49))
    work_with_a.update("a", add_context_links=["one more"])

    refusal = error_of(lambda: work_with_a.update("a", add_context_links=["too many"]))

    assert (refusal.code, refusal.details["limit"]) == ("too_many", 50)
    work_with_a.update("a", add_context_links=["instead"], remove_context_links=["one more"])
    assert len(work_with_a.node("a").context_links) == 50


def test_properties_are_measured_as_they_are_after_the_merge(work_with_a: WorkClient) -> None:
    work_with_a.update("a", properties={"p": "x" * 20_000})

    assert error_of(lambda: work_with_a.update("a", properties={"q": "x" * 20_000})).code == "too_long"
    work_with_a.update("a", properties={"p": None, "q": "x" * 20_000})


def test_evidence_has_no_end(work_with_a: WorkClient) -> None:
    for _ in range(3):
        work_with_a.update("a", add_evidence=evidence(50))

    session = work_with_a.session
    capped_session = Session(session.store, session.actor, preferences=Preferences(answer_tokens_max=20_000))
    capped = WorkClient(capped_session, ids=work_with_a.ids)

    assert len(work_with_a.node("a").evidence) == 150  # nothing is left out where there is no cap
    assert work_with_a.node("a").evidence_total is UNSET
    assert len(work_with_a.offers()[0].node.evidence) == 150
    assert capped.node("a").evidence_total == 150
    assert 0 < len(capped.node("a").evidence) < 150
    assert error_of(lambda: work_with_a.update("a", add_evidence=evidence(51))).code == "invalid_argument"


def test_an_offer_counts_the_evidence_of_a_dependency_that_it_does_not_list(work_with_a: WorkClient) -> None:
    work_with_a.plan("b: a")
    for number in range(3):
        work_with_a.update("a", add_evidence=[{"type": "note", "ref": f"{number} " + "x" * 100}] * 50)
    work_with_a.resolve("a")

    session = work_with_a.session
    capped_session = Session(session.store, session.actor, preferences=Preferences(answer_tokens_max=20_000))
    capped = WorkClient(capped_session, ids=work_with_a.ids)
    for lean in (False, True):
        [dependency] = work_with_a.offers(lean=lean)[0].resolved_deps
        assert (len(dependency.evidence), dependency.evidence_total) == (150, UNSET)
        [offer] = capped.offers(lean=lean)
        [dependency] = offer.resolved_deps
        assert 10 < len(dependency.evidence) < 50
        assert (dependency.evidence_total, offer.left_out) == (150, {"resolved_deps.details": 1})
        assert {entry.ref[0] for entry in dependency.evidence} == {"2"}


@try_each("argument", ["3", 3, 3.0])
def test_a_number_may_come_as_text(work_with_a: WorkClient, argument: Any) -> None:
    work_with_a.plan("b\nc\nd")

    assert len(work_with_a.offers(count=argument)) == 3


@try_each("argument", [1.5, "many", True, [], -1])
def test_what_is_no_count_is_refused(work_with_a: WorkClient, argument: Any) -> None:
    assert isinstance(error_of(lambda: work_with_a.offers(count=argument)), Invalid)


@pytest.mark.parametrize("blank", ["", "   ", "\t", "\u2003"])
def test_a_blank_title_is_refused_in_both_dialects(work: WorkClient, blank: str) -> None:
    work.plan("a")
    task = {"containerType": "task", "id": work["a"], "version": work.node("a").rev}
    for call in (
        lambda: work.call("work.plan", project="atlas", nodes=[{"ref": "x", "summary": blank}]),
        lambda: work.update("a", summary=blank),
        lambda: work.call("container.create", containerType="task", projectId="atlas", title=blank),
        lambda: work.call("container.update", **task, title=blank),
    ):
        assert error_of(call).code == "invalid_argument"
    assert work.node("a").summary == "a"
