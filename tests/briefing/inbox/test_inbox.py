"""inbox: what waits for a person, ranked, with the operation that settles each item."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import UNSET

from groundplan.briefing import inbox as inbox_module
from groundplan.briefing.inbox import RANKS, InboxItem, InboxKind, SuggestedChange
from groundplan.catalog import OPERATIONS
from groundplan.context.schemas import Provenance
from groundplan.kernel.actors import Actor, ActorKind, local_actor
from groundplan.kernel.answers import count_tokens, encode
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.input_gate.request import parse_request
from groundplan.kernel.preferences import Preferences
from groundplan.session import Session
from groundplan.surfaces.vocabularies import CliVocabulary, McpVocabulary
from tests.context.client import ContextClient
from tests.engines import Engine, person
from tests.manual_clock import ManualClock
from tests.purpose.client import PurposeClient, op

ADA = local_actor("ada", kind=ActorKind.PERSON)
ADDED = {
    "decisions[0].text": "we go on",
    "decisions[0].rationale": "it is worth it",
    "reviews[0].status": "holding",
    "reviews[0].reason": "it rained",
    "waivers[0].reason": "not yet",
    "waivers[0].due": "2026-12-01",
    "inputs[0].value": "blue",
}
WAIVER: dict[str, Any] = {"code": "GA_ORPHANS", "refs": [], "reason": "r", "owner": "ada", "due": "2026-03-20"}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def session_of(engine: Engine, clock: ManualClock) -> Callable[..., Session]:
    """Return sessions on one store whose clock the test moves."""
    store = engine.store_with_clock(clock)

    def make(actor: Actor | str = ADA, **preferences: Any) -> Session:
        who = local_actor(actor, kind=ActorKind.AGENT) if isinstance(actor, str) else actor
        return Session(store, who, preferences=Preferences(**preferences))

    return make


@pytest.fixture
def ada(session_of: Callable[..., Session]) -> Session:
    session = session_of()
    session.call("project.create", name="atlas")
    return session


def suggest(ada: Session, project: str, *pointers: str) -> ContextClient:
    """Let an agent suggest other values for facts that Ada entered."""
    client = ContextClient(ada, project)
    client.draft()
    client.edit(inputs=[{"pointer": one, "label": one, "value": 1} for one in pointers])
    client.agent.edit(inputs=[{"pointer": one, "value": 2, "provenance": "model-inferred"} for one in pointers])
    return client


def draw(ada: Session, project: str = "atlas") -> PurposeClient:
    """Draft a theory that fails some checks, with an assumption that is to be reviewed."""
    purpose = PurposeClient(ada, project)
    purpose.draft()
    purpose.draw("dig -> well -> water -> health")
    purpose.edit(op("add_assumption", node="OC1", assumption_text="It rains", owner="ben", review_by="2026-03-10"))
    return purpose


def fill(ada: Session, clock: ManualClock) -> None:
    """Create something of each kind that waits, in the project atlas."""
    ada.call("work.open", project="atlas", policies={"publish_gates": "AB", "claim_minutes_people": 60})
    purpose = draw(ada)
    purpose.edit(op("add_assumption", node="OP1", assumption_text="The soil is soft"))
    purpose.record(
        waivers=[{**WAIVER, "refs": ["G1"]}, WAIVER],
        reviews=[{"assumption": "AS2", "status": "at_risk", "reason": "stones"}],
        requests=[{"question": "Do we dig by hand?", "to": "ada"}],
    )
    clock.move(days=10)
    facts = suggest(ada, "atlas", "/size", "/depth")
    facts.write("/colour", label="Colour", required=True, valueKind="string")
    ada.call("work.plan", project="atlas", nodes=[{"ref": "a", "summary": "dig"}])
    ada.call("work.next", project="atlas", claim=True)
    clock.move(hours=2)


def read(session: Session, **arguments: Any) -> list[InboxItem]:
    """Return the items of all pages."""
    pages = [session.call("briefing.inbox", **arguments)]
    while pages[-1].next_cursor is not UNSET:
        pages.append(session.call("briefing.inbox", cursor=pages[-1].next_cursor, **arguments))
    return [item for page in pages for item in page.items]


def kinds(items: list[InboxItem]) -> set[str]:
    return {item.kind.value for item in items}


def of_kind(session: Session, kind: str, **arguments: Any) -> list[InboxItem]:
    return [item for item in read(session, **arguments) if item.kind == kind]


def complete(item: InboxItem) -> dict[str, Any]:
    """Return the arguments of an action with what a person adds."""
    arguments: dict[str, Any] = {**item.action.arguments}
    for path in item.action.needs or ():
        part, field = path.split("[0].")
        arguments[part] = [{**arguments[part][0], field: ADDED[path]}]
    return arguments


def test_a_new_project_has_an_empty_inbox_and_no_project_has_one_too(session_of: Callable[..., Session]) -> None:
    ada = session_of()
    assert read(ada) == []
    ada.call("project.create", name="atlas")
    assert read(ada, project="atlas") == read(ada) == []


def test_the_list_has_every_kind_in_the_order_of_the_ranks_and_then_the_oldest_first(
    ada: Session, clock: ManualClock
) -> None:
    fill(ada, clock)

    items = read(ada, project="atlas")

    assert kinds(items) == {kind.value for kind in InboxKind} - {InboxKind.NO_OWNER}
    order = [(RANKS[item.kind], item.since) for item in items]
    assert order == sorted(order)
    assert all(item.text and item.ref and item.project is UNSET for item in items)


def test_every_action_works_when_a_person_sends_it_and_settles_its_item(ada: Session, clock: ManualClock) -> None:
    fill(ada, clock)

    for item in read(ada, project="atlas"):
        parse_request(complete(item), OPERATIONS[item.action.operation].input)
        ada.call(item.action.operation, **complete(item))

    assert kinds(read(ada, project="atlas")) == {"gate_blocks"}  # to look at a check corrects nothing


def test_an_action_also_has_the_name_of_its_operation_on_the_surface_of_the_caller(
    session_of: Callable[..., Session], ada: Session, clock: ManualClock
) -> None:
    fill(ada, clock)

    for surface in (CliVocabulary(OPERATIONS), McpVocabulary(OPERATIONS)):
        for item in read(session_of(ADA, vocabulary=surface), project="atlas"):
            assert item.action.call == surface.spell(item.action.operation, item.action.arguments)
    assert all(item.action.call is UNSET for item in read(ada, project="atlas"))


def test_a_page_boundary_neither_repeats_nor_loses_an_item(ada: Session, clock: ManualClock) -> None:
    fill(ada, clock)
    suggest(ada, "atlas", *(f"/same/{number}" for number in range(30)))  # all of them at the same time
    whole = [encode(item) for item in read(ada, project="atlas", limit=100)]
    assert len(set(whole)) == len(whole) > 35

    for limit in (1, 2, 7):
        assert [encode(item) for item in read(ada, project="atlas", limit=limit)] == whole
    ada.call("project.create", name="borealis")
    assert len(read(ada, limit=3)) == len(whole)


def test_an_item_that_is_settled_between_two_pages_takes_no_other_with_it(ada: Session) -> None:
    client = suggest(ada, "atlas", *(f"/same/{number}" for number in range(9)))
    first = ada.call("briefing.inbox", project="atlas", limit=4)
    client.edit(accept=[item.action.arguments["accept"][0] for item in first.items])

    rest = ada.call("briefing.inbox", project="atlas", limit=100, cursor=first.next_cursor)

    assert {item.ref for item in (*first.items, *rest.items)} == {f"/same/{number}" for number in range(9)}
    assert len(rest.items) == 5


def test_a_cursor_is_of_one_caller_and_one_list(session_of: Callable[..., Session], ada: Session) -> None:
    suggest(ada, "atlas", "/a", "/b")
    cursor = ada.call("briefing.inbox", project="atlas", limit=1).next_cursor

    for session, arguments in ((ada, {}), (session_of("scout"), {"project": "atlas"})):
        with pytest.raises(GroundplanError) as refused:
            session.call("briefing.inbox", limit=1, cursor=cursor, **arguments)
        assert refused.value.code == "invalid_cursor"


def test_without_a_project_it_covers_those_that_the_caller_sees_and_names_them(
    session_of: Callable[..., Session], ada: Session
) -> None:
    ada.call("project.create", name="borealis")
    ada.call("member.add", scopeId="borealis", userId="cleo", role="viewer", kind="person")
    for name in ("atlas", "borealis"):
        suggest(ada, name, "/size")
    cleo, mallory = session_of(person("cleo")), session_of(person("mallory"))

    assert {item.project for item in read(ada)} == {"atlas", "borealis"}
    assert {item.project for item in read(cleo)} == {"borealis"}
    assert kinds(read(cleo, project="borealis")) == {"suggestion"}
    for arguments in ({"project": "atlas"}, {}):
        with pytest.raises(GroundplanError) as hidden:
            mallory.call("briefing.inbox", **arguments)
        assert hidden.value.code == "not_found"


def test_a_viewer_sees_what_waits_and_the_refusal_says_who_may_settle_it(
    session_of: Callable[..., Session], ada: Session
) -> None:
    ada.call("member.add", scopeId="atlas", userId="cleo", role="viewer", kind="person")
    suggest(ada, "atlas", "/size")
    cleo = session_of(person("cleo"))

    (item,) = read(cleo, project="atlas")

    with pytest.raises(GroundplanError) as refused:
        cleo.call(item.action.operation, **item.action.arguments)
    assert refused.value.code == "forbidden"


def test_an_agent_sees_the_same_list(session_of: Callable[..., Session], ada: Session, clock: ManualClock) -> None:
    fill(ada, clock)
    seen = [(item.kind, item.ref, item.since) for item in read(session_of("scout"), project="atlas")]
    assert seen == [(item.kind, item.ref, item.since) for item in read(ada, project="atlas")]


def test_in_an_archived_project_nothing_waits(ada: Session) -> None:
    suggest(ada, "atlas", "/size")
    ada.call("project.archive", project="atlas")
    assert read(ada, project="atlas") == read(ada) == []


def test_a_suggestion_shows_both_values_and_how_to_accept_and_to_reject_it(ada: Session) -> None:
    suggest(ada, "atlas", "/a", "/b", "/c")
    first, second, third = read(ada, project="atlas")

    assert first.text == "claude (agent) suggests 2 (model-inferred) for /a, now 1 (user-entered): accept or reject"
    assert first.change == SuggestedChange(1, Provenance.USER_ENTERED, 2, Provenance.MODEL_INFERRED)
    assert second.alternative
    ada.call(first.action.operation, **first.action.arguments)
    ada.call(second.alternative.operation, **second.alternative.arguments)

    assert read(ada, project="atlas") == [third]


@pytest.mark.parametrize("actor", ["person", "agent"])
def test_a_suggestion_in_a_run_that_was_committed_waits_until_it_is_decided_in_a_draft(
    ada: Session, clock: ManualClock, actor: str
) -> None:
    client = suggest(ada, "atlas", "/a")
    (client if actor == "person" else client.agent).commit()
    clock.move(minutes=1)

    (item,) = read(ada, project="atlas")
    ada.call(item.action.operation, **item.action.arguments)
    (copied,) = read(ada, project="atlas")
    ada.call(copied.action.operation, **copied.action.arguments)

    assert (item.action.operation, copied.action.operation) == ("context.create_draft", "context.edit")
    assert read(ada, project="atlas") == []


def test_a_suggestion_in_a_partial_run_is_decided_at_once_in_a_draft_of_it(ada: Session, clock: ManualClock) -> None:
    client = suggest(ada, "atlas", "/a")
    client.write("/colour", label="Colour", valueKind="string")
    client.commit(allowPartial=True)
    clock.move(minutes=1)
    [item] = of_kind(ada, "suggestion", project="atlas")

    draft = ada.call(item.action.operation, **item.action.arguments).draft

    assert of_kind(ada, "suggestion", project="atlas") == []
    assert client.view(runId=draft).inputs_by_pointer["/a"].value_number == 2


@pytest.mark.parametrize("decision", ["accept", "reject"])
def test_a_suggestion_that_was_decided_in_force_waits_in_no_older_copy(
    ada: Session, clock: ManualClock, decision: str
) -> None:
    client = suggest(ada, "atlas", "/a", "/b")
    client.commit()
    clock.move(minutes=1)
    client.draft()
    older = client.run
    for _ in range(2):  # also not after another commit
        clock.move(minutes=1)
        client.draft()
        waiting = [one.id for one in client.suggestions() if one.pointer == "/a"]
        if waiting:
            client.edit(**{decision: waiting})
        client.commit()

    assert [(item.ref, item.action.arguments["runId"]) for item in read(ada, project="atlas")] == [("/b", older)]
    client.call("context.commit", runId=older)
    assert [item.ref for item in read(ada, project="atlas")] == ["/b"]


def test_a_long_value_is_shortened(ada: Session) -> None:
    client = suggest(ada, "atlas", "/a")
    client.write("/long", "x" * 20_000)
    client.agent.write("/long", "y" * 20_000)

    change = read(ada, project="atlas")[1].change

    assert change
    assert len(change.current) <= 1_000
    assert change.suggested.startswith('"yyy')


def test_a_review_is_due_after_its_day_until_somebody_reviews_or_another_day_is_set(
    ada: Session, clock: ManualClock
) -> None:
    purpose = draw(ada)
    review = {"assumption": "AS1", "status": "holding", "reason": "it rained"}
    purpose.record(reviews=[review])  # before its day
    clock.move(days=9)  # the day itself
    assert of_kind(ada, "review_due", project="atlas") == []
    clock.move(days=1)
    (item,) = of_kind(ada, "review_due", project="atlas")
    assert (item.ref, item.since) == ("AS1", "2026-03-10")
    purpose.edit(op("update_assumption", assumption="AS1", review_by="2026-04-01"))
    assert of_kind(ada, "review_due", project="atlas") == []
    clock.move(days=30)
    assert of_kind(ada, "review_due", project="atlas")
    purpose.record(reviews=[review])
    assert of_kind(ada, "review_due", project="atlas") == []


def test_a_waiver_waits_in_its_last_two_weeks_and_a_later_one_replaces_it(ada: Session, clock: ManualClock) -> None:
    purpose = draw(ada)
    purpose.record(waivers=[WAIVER])
    clock.move(days=4)
    assert of_kind(ada, "waiver_ending", project="atlas") == []
    clock.move(days=1)
    (item,) = of_kind(ada, "waiver_ending", project="atlas")
    assert (item.ref, item.since) == ("GA_ORPHANS", "2026-03-06")
    clock.move(days=14)
    assert of_kind(ada, "waiver_ending", project="atlas")
    clock.move(days=1)  # it has ended; the gate says so now
    assert of_kind(ada, "waiver_ending", project="atlas") == []
    purpose.record(waivers=[{**WAIVER, "due": "2026-09-01"}])
    assert of_kind(ada, "waiver_ending", project="atlas") == []


@pytest.mark.parametrize("gates", ["A", "AB"])
def test_a_check_blocks_while_it_fails_in_a_draft_that_must_pass_its_gate(ada: Session, gates: str) -> None:
    purpose = draw(ada)
    ada.call("work.open", project="atlas", policies={"publish_gates": gates})
    purpose.edit({"op": "add_node", "node_type": "OUTPUT", "title": "Alone"})
    blocking = {check.code for gate in gates for check in purpose.check(gate).checks if check.is_blocking}

    assert blocking
    assert {item.ref for item in of_kind(ada, "gate_blocks", project="atlas")} == blocking
    purpose.discard()
    assert of_kind(ada, "gate_blocks", project="atlas") == []


def test_a_question_waits_until_a_decision_answers_it(ada: Session) -> None:
    purpose = draw(ada)
    purpose.record(requests=[{"question": "By hand?", "to": "ben"}, {"question": "Where?"}])
    first, second = of_kind(ada, "request", project="atlas")
    assert (first.text, second.text) == ("ada asks ben: By hand?", "ada asks: Where?")
    purpose.record(decisions=[{"text": "yes", "rationale": "cheap", "answers": first.ref}])
    assert of_kind(ada, "request", project="atlas") == [second]


def test_a_refuted_assumption_waits_until_a_decision_about_it_is_recorded(ada: Session) -> None:
    purpose = draw(ada)
    purpose.record(reviews=[{"assumption": "AS1", "status": "refuted", "reason": "dry"}])
    (item,) = of_kind(ada, "at_risk", project="atlas")
    assert item.ref == "AS1"
    assert "is refuted" in item.text
    purpose.record(decisions=[{"text": "dig deeper", "rationale": "water is there", "about": ["AS1"]}])
    assert of_kind(ada, "at_risk", project="atlas") == []


def test_a_claim_waits_in_its_last_quarter_after_its_end_and_when_it_is_held_for_long(
    session_of: Callable[..., Session], ada: Session, clock: ManualClock
) -> None:
    ada.call("work.open", project="atlas", policies={"claim_minutes_people": 60})
    ada.call("work.plan", project="atlas", nodes=[{"ref": "a", "summary": "dig"}])
    (offer,) = ada.call("work.next", project="atlas", claim=True).nodes
    ben = session_of(local_actor("ben", kind=ActorKind.PERSON))

    def action_of(session: Session) -> str | None:
        found = of_kind(session, "claim_lapsing", project="atlas")
        return found[0].action.operation if found else None

    clock.move(minutes=44)
    assert action_of(ada) is action_of(ben) is None
    clock.move(minutes=2)
    assert (action_of(ada), action_of(ben)) == ("work.update", "work.history")
    clock.move(minutes=15)
    assert (action_of(ada), action_of(ben)) == ("work.update", "work.next")
    ada.call("work.update", updates=[{"node_id": offer.node.id, "hold": True}])
    assert action_of(ada) is None
    clock.move(days=7)
    (held,) = of_kind(ada, "claim_lapsing", project="atlas")
    assert held.action.arguments == {"updates": [{"node_id": offer.node.id, "release": True}]}
    assert action_of(ben) == "work.history"
    ada.call(held.action.operation, **held.action.arguments)
    assert action_of(ada) is None


def test_a_lapsed_claim_can_be_taken_over_by_the_action(
    session_of: Callable[..., Session], ada: Session, clock: ManualClock
) -> None:
    ada.call("work.open", project="atlas", policies={"claim_minutes_people": 60})
    ada.call("work.plan", project="atlas", nodes=[{"ref": "a", "summary": "dig"}])
    ada.call("work.next", project="atlas", claim=True)
    clock.move(hours=2)
    ben = session_of(local_actor("ben", kind=ActorKind.PERSON))
    (item,) = of_kind(ben, "claim_lapsing", project="atlas")

    ben.call(item.action.operation, **item.action.arguments)

    assert read(ben, project="atlas") == []


def test_an_answer_stays_within_its_cap_and_the_next_page_goes_on(
    session_of: Callable[..., Session], ada: Session
) -> None:
    suggest(ada, "atlas", *(f"/{'x' * 200}/{number}" for number in range(20)))
    capped = session_of(ADA, answer_tokens_max=600)

    page = capped.call("briefing.inbox", project="atlas", limit=100)

    assert count_tokens(encode(page)) <= 600
    assert 1 <= len(page.items) < 20
    assert len(read(capped, project="atlas", limit=100)) == 20


def test_projects_beyond_the_limit_are_counted(ada: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inbox_module, "PROJECTS_MAX", 2)
    for name in ("borealis", "cetus"):
        ada.call("project.create", name=name)
    assert ada.call("briefing.inbox").left_out == {"projects": 1}
    assert ada.call("briefing.inbox", project="atlas").left_out is UNSET


def test_a_required_fact_without_a_value_waits_at_once_and_until_it_has_one(ada: Session, clock: ManualClock) -> None:
    facts = ContextClient(ada)
    facts.draft()
    facts.write("/colour", label="Colour", required=True, valueKind="string")
    facts.write("/size", 3, required=True)
    facts.write("/note", valueKind="string")

    (item,) = read(ada, project="atlas")
    clock.move(days=1)
    facts.commit(allowPartial=True)
    (in_force,) = read(ada, project="atlas")
    clock.move(days=1)
    facts.draft(copyFrom="latest")
    (in_draft,) = read(ada, project="atlas")
    ada.call(in_draft.action.operation, **complete(in_draft))

    assert [one.ref for one in (item, in_force, in_draft)] == ["/colour"] * 3
    assert (item.kind, item.since) == (InboxKind.FACT_MISSING, in_force.since)
    assert in_force.action.arguments["runId"] == item.action.arguments["runId"]
    assert in_draft.action.arguments["runId"] == facts.run != item.action.arguments["runId"]
    assert read(ada, project="atlas") == []


def test_a_fact_that_was_set_in_force_since_a_draft_copied_it_waits_no_more_unless_the_draft_cleared_it(
    ada: Session, clock: ManualClock
) -> None:
    facts = ContextClient(ada)
    facts.draft()
    facts.write("/colour", label="Colour", required=True, valueKind="string")
    facts.write("/size", 3, required=True)
    facts.commit(allowPartial=True)
    clock.move(minutes=1)
    older, newer = facts.draft(), facts.draft()
    facts.edit(inputs=[{"pointer": "/colour", "value": "red"}])
    facts.commit()

    assert read(ada, project="atlas") == []
    facts.edit(runId=older, inputs=[{"pointer": "/size", "value": None}])
    (cleared,) = read(ada, project="atlas")
    assert (cleared.ref, cleared.action.arguments["runId"]) == ("/size", older)
    assert facts.view_in_force().run.id == newer


def test_missing_facts_come_in_pages_without_a_repetition(ada: Session, clock: ManualClock) -> None:
    facts = ContextClient(ada)
    for _ in range(2):
        facts.draft()
        for number in range(7):
            clock.move(seconds=1)
            facts.write(f"/f{number}", label="Fact", required=True, valueKind="number")
        facts.commit(allowPartial=True)

    refs = [item.ref for item in read(ada, project="atlas", limit=3)]

    assert sorted(refs) == [f"/f{number}" for number in range(7)]


def test_a_missing_fact_in_force_is_filled_in_by_the_draft_that_its_action_opens(ada: Session) -> None:
    facts = ContextClient(ada)
    facts.draft()
    facts.write("/colour", label="Colour", required=True, valueKind="string")
    facts.commit(allowPartial=True)
    (item,) = read(ada, project="atlas")

    edited = ada.call(item.action.operation, **complete(item))

    assert edited.draft != facts.run
    assert read(ada, project="atlas") == []
