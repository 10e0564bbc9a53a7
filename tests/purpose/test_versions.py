"""Versions: one draft, published once and through its gates, final from then on, and cloned whole."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from groundplan import providers
from groundplan.catalog import OPERATIONS
from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.errors import Conflict, Forbidden, GroundplanError, Invalid, NotFound
from groundplan.kernel.optimistic_locking import StaleRevision
from groundplan.kernel.output_gate import count_tokens, encode
from groundplan.kernel.ports import Provider
from groundplan.kernel.preferences import Preferences
from groundplan.purpose.content import ContentAltered
from groundplan.purpose.version import NoDraft
from groundplan.purpose.versions.draft import DraftExists
from groundplan.purpose.versions.publish import GateFailed, NothingChanged
from groundplan.purpose.versions.required_profile import ProfileTooLight
from groundplan.session import Session
from groundplan.surfaces.vocabularies import McpVocabulary
from tests.context.desk import Facts
from tests.engines import Engine, person
from tests.kernel.store.attacks import guards_dropped
from tests.purpose.desk import Purpose, add_edge, add_node, failing, op
from tests.work.desk import ManualClock

WELL = "dig -> well -> water -> health"


@pytest.fixture
def facts(desk: Purpose) -> Facts:
    """The facts of the same project."""
    return Facts(desk.session, desk.project)


def test_the_first_draft_is_empty_and_the_next_begins_as_the_version_published_last(desk: Purpose) -> None:
    assert (desk.open().counts.goal, desk.versions()[0].status, desk.versions()[0].label) == (0, "DRAFT", "draft")
    desk.draw(WELL)
    desk.publish()

    begun = desk.draft()

    assert (begun.version.number, begun.version.source, begun.version.status) == (2, 1, "DRAFT")
    assert [node.title for node in desk.nodes().values()] == ["health", "water", "well", "dig"]


def test_a_draft_begins_from_any_published_version(drawn: Purpose) -> None:
    drawn.publish()
    drawn.draft()
    drawn.edit(op("update_node", node="G1", title="welfare"))
    drawn.publish()

    for source, title in ((1, "health"), (2, "welfare"), ("published", "welfare"), (None, "welfare")):
        drawn.draft(**({} if source is None else {"from": source}))
        assert drawn.nodes()["G1"].title == title
        drawn.discard()


def test_a_draft_begins_from_nothing_else(drawn: Purpose, subtests: pytest.Subtests) -> None:
    drawn.publish()
    others: list[tuple[Any, type[GroundplanError]]] = [
        (9, NotFound),
        (0, NotFound),
        ("draft", Invalid),
        (3, NotFound),
    ]

    for source, error in others:
        with subtests.test(f"from {source}"):
            with pytest.raises(error):
                drawn.draft(**{"from": source})
            assert [one.status for one in drawn.versions()] == ["PUBLISHED"]


def test_there_is_one_draft_at_a_time(desk: Purpose) -> None:
    with pytest.raises(DraftExists) as error:
        desk.draft()

    assert error.value.details["number"] == 1


def test_a_draft_has_the_profile_it_is_given_else_that_of_its_source(desk: Purpose) -> None:
    desk.discard()
    assert desk.draft(profile="light").version.profile == "light"
    desk.edit(add_node("GOAL", "x"))
    desk.publish()
    assert desk.draft().version.profile == "light"
    desk.discard()
    assert desk.draft(profile="strict").version.profile == "strict"


def test_publishing_says_when_by_whom_under_which_label_and_hash(drawn: Purpose, clock: ManualClock) -> None:
    clock.move(hours=1)

    published = drawn.publish(expected_rev=drawn.open().rev)

    version = published.version
    assert (version.number, version.status, version.label, version.published_by) == (1, "PUBLISHED", "v1", "ada")
    assert version.published_at == "2026-03-01T10:00:00.000Z"
    (gate,) = published.gates
    assert (gate.passed, gate.content_hash, published.rev) == (True, version.content_hash, 3)
    assert drawn.open(version=1).version == version


def test_a_label_can_be_given_and_is_never_that_of_a_draft_or_of_another_version(drawn: Purpose) -> None:
    for label in ("draft", "v2", "v01"):
        with pytest.raises(Invalid):
            drawn.publish(label=label)

    assert drawn.publish(label=" Spring plan ").version.label == "Spring plan"


def test_publishing_stops_at_a_gate_and_says_which_rules_and_which_nodes(drawn: Purpose) -> None:
    drawn.edit(add_node("OUTPUT", "lost"))

    with pytest.raises(GateFailed) as error:
        drawn.publish()

    (gate,) = error.value.details["gates"]
    assert (gate["gate"], gate["passed"]) == ("A", False)
    blocking = [check for check in gate["checks"] if (check["severity"], check["result"]) == ("block", "failed")]
    assert {check["code"]: check["refs"] for check in blocking} == {"GA_ORPHANS": ["OP2"]}
    assert drawn.versions()[0].status == "DRAFT"


def test_gate_b_is_passed_too_where_the_project_wants_it(drawn: Purpose) -> None:
    drawn.edit(op("add_indicator", node="OC1", name="litres"))
    drawn.session.call("work.open", project="atlas", policies={"publish_gates": "AB"})

    with pytest.raises(GateFailed) as error:
        drawn.publish()
    assert [gate["gate"] for gate in error.value.details["gates"]] == ["A", "B"]

    drawn.edit(op("update_indicator", indicator="IN1", baseline=1, target=2, method="m", frequency="f", owner="o"))
    facts = Facts(drawn.session, drawn.project)
    facts.draft()
    facts.commit()
    assert [gate.gate for gate in drawn.publish().gates] == ["A", "B"]


def test_a_version_is_published_strictly_once_nothing_is_missing(desk: Purpose, facts: Facts) -> None:
    desk.discard()
    desk.draft(profile="strict")
    desk.draw(WELL)
    with pytest.raises(GateFailed):
        desk.publish()
    facts.draft()
    facts.commit()
    for source, target in (("AC1", "OP1"), ("OP1", "OC1"), ("OC1", "G1")):
        desk.edit(op("update_edge", source=source, target=target, mechanism="m", confidence="low"))
        desk.edit(op("add_assumption", source=source, target=target, assumption_text="a"))
    desk.edit(op("add_indicator", node="OC1", name="litres"))
    desk.edit(op("update_assumption", assumption="AS2", risk_level="HIGH", owner="ben", review_by="2027-01-01"))

    (gate,) = desk.publish(detail="full").gates

    assert (gate.profile, gate.passed, failing(gate)) == ("strict", True, {})
    assert desk.check(version=1) == gate


def test_publishing_takes_300_tokens_where_every_check_passes_and_lists_them_all_on_request(desk: Purpose) -> None:
    desk.session.call("work.open", project="atlas", policies={"publish_gates": "AB"})
    facts = Facts(desk.session, desk.project)
    facts.draft()
    facts.commit()
    desk.draw(WELL)
    for source, target in (("AC1", "OP1"), ("OP1", "OC1"), ("OC1", "G1")):
        desk.edit(op("update_edge", source=source, target=target, mechanism="m"))
        desk.edit(op("add_assumption", source=source, target=target, assumption_text="a"))
    measured = {"baseline": 1, "target": 2, "method": "m", "frequency": "f", "owner": "o"}
    desk.edit(op("add_indicator", node="OC1", name="litres", **measured))

    published = desk.publish()

    assert count_tokens(encode(published)) <= 300
    assert [(one.gate, one.passed, one.checks, one.counts.failed) for one in published.gates] == [
        ("A", True, [], 0),
        ("B", True, [], 0),
    ]
    desk.draft()
    desk.edit(op("update_node", node="G1", title="welfare"))
    full = desk.publish(detail="full").gates
    assert [len(one.checks) for one in full] == [sum(msgspec.structs.astuple(one.counts)) for one in full]
    assert [one.counts for one in full] == [one.counts for one in published.gates]


def test_a_draft_lighter_than_the_project_allows_is_neither_begun_nor_published(desk: Purpose) -> None:
    desk.discard()
    desk.draft(profile="light")
    desk.edit(add_node("GOAL", "x"))
    desk.session.call("work.open", project="atlas", policies={"profile_min": "standard"})

    with pytest.raises(ProfileTooLight) as error:
        desk.publish()
    assert (error.value.details["profile"], error.value.details["profile_min"]) == ("light", "standard")
    desk.discard()
    with pytest.raises(ProfileTooLight):
        desk.draft(profile="light")
    with pytest.raises(ProfileTooLight):
        desk.call("purpose.import", document={"format": 1, "profile": "light", "nodes": []})

    assert desk.draft(profile="strict").version.profile == "strict"


def test_a_draft_begins_with_the_least_strict_profile_allowed_where_its_source_is_lighter(desk: Purpose) -> None:
    desk.discard()
    desk.draft(profile="light")
    desk.edit(add_node("GOAL", "x"))
    desk.publish()
    desk.session.call("work.open", project="atlas", policies={"profile_min": "strict"})

    assert desk.draft().version.profile == "strict"


def test_only_an_owner_sets_the_least_strict_profile(desk: Purpose) -> None:
    desk.session.call("member.add", scopeId="atlas", userId="ben", role="editor")

    with pytest.raises(Forbidden):
        desk.by(person("ben")).session.call("work.open", project="atlas", policies={"profile_min": "strict"})


def test_the_same_content_on_the_same_facts_is_not_published_twice(drawn: Purpose, clock: ManualClock) -> None:
    drawn.publish()
    clock.move(days=1)
    drawn.draft(profile="light")

    with pytest.raises(NothingChanged) as error:
        drawn.publish(label="again")
    assert error.value.details["version"] == 1
    drawn.edit(op("update_node", node="G1", title="welfare"))
    drawn.edit(op("update_node", node="G1", title="health"))
    with pytest.raises(NothingChanged):
        drawn.publish()
    facts = Facts(drawn.session, drawn.project)
    facts.draft()
    facts.commit()

    assert drawn.publish().version.number == 2


def test_a_waiver_of_an_owner_lets_a_version_pass_and_shows_as_waived(drawn: Purpose) -> None:
    drawn.edit(add_node("OUTPUT", "lost"), add_node("OUTPUT", "lost too"))
    waiver = {"code": "GA_ORPHANS", "reason": "next year", "owner": "ada", "due": "2026-12-31"}
    drawn.record(waivers=[{**waiver, "refs": ["OP2"]}])
    assert failing(drawn.check())["GA_ORPHANS"] == ["OP3"]

    drawn.record(waivers=[{**waiver, "refs": ["OP3"]}])
    (gate,) = drawn.publish().gates

    assert {check.code: check.result for check in gate.checks}["GA_ORPHANS"] == "waived"
    assert (gate.passed, [one.code for one in drawn.open().waivers or ()]) == (True, ["GA_ORPHANS", "GA_ORPHANS"])


def test_a_waiver_counts_through_its_due_day_and_no_longer(drawn: Purpose, clock: ManualClock) -> None:
    drawn.edit(add_node("OUTPUT", "lost"))
    drawn.record(waivers=[{"code": "GA_ORPHANS", "refs": [], "reason": "r", "owner": "ada", "due": "2026-03-02"}])

    clock.move(days=1)
    assert "GA_ORPHANS" not in failing(drawn.check())
    clock.move(days=1)
    assert "GA_ORPHANS" in failing(drawn.check())


def test_discarding_removes_the_draft_and_its_number_is_the_next_one(drawn: Purpose) -> None:
    drawn.publish()
    drawn.draft()
    drawn.draw("a -> b -> c -> d")

    gone = drawn.discard()

    assert (gone.discarded, gone.rev) == (2, drawn.open().rev)
    assert [one.number for one in drawn.versions()] == [1]
    assert drawn.draft().version.number == 2
    assert drawn.open().counts.goal == 1


def test_without_a_draft_nothing_is_published_or_discarded(desk: Purpose) -> None:
    desk.discard()

    for act in (desk.publish, desk.discard):
        with pytest.raises(NoDraft):
            act()


def test_publishing_and_discarding_can_expect_a_revision(drawn: Purpose) -> None:
    for act in (drawn.publish, drawn.discard):
        with pytest.raises(StaleRevision):
            act(expected_rev=1)


def test_who_expects_a_revision_never_means_another_draft(drawn: Purpose) -> None:
    seen = drawn.open().rev
    drawn.discard()
    revs = [drawn.draft().rev, drawn.edit(add_node("GOAL", "x")).rev]
    drawn.discard()
    revs += [drawn.draft().rev]
    drawn.draw(WELL)
    revs += [drawn.publish().rev, drawn.draft().rev]

    assert [seen, *revs] == sorted({seen, *revs})
    with pytest.raises(StaleRevision):
        drawn.edit(add_node("GOAL", "x"), expected_rev=seen)


def test_a_published_version_is_as_it_was_whatever_becomes_of_the_draft(drawn: Purpose) -> None:
    drawn.edit(op("add_assumption", node="OC1", assumption_text="a"), op("add_indicator", node="OC1", name="i"))
    drawn.publish()
    before = drawn.open(version=1, detail="full")
    drawn.draft()
    drawn.edit(op("update_node", node="OC1", title="x"), op("remove_node", node="AC1"), add_edge("OP1", "G1"))
    drawn.publish()

    after = drawn.open(version=1, detail="full")

    assert (after.nodes, after.edges, after.indicators, after.version) == (
        before.nodes,
        before.edges,
        before.indicators,
        before.version,
    )


def test_publishing_binds_the_facts_in_force_and_those_cannot_be_deleted(desk: Purpose, facts: Facts) -> None:
    facts.draft()
    facts.write("/site/size", 5000)
    run = facts.commit().run.id
    desk.draw(WELL)

    assert desk.publish().version.context_run == run
    with pytest.raises(GroundplanError) as error:
        desk.session.call("context.delete", runId=run)
    assert (error.value.code, error.value.details["versions"]) == ("run_bound", [1])

    facts.draft()
    later = facts.commit().run.id
    assert desk.session.call("context.delete", runId=later).deleted == later


def test_without_facts_none_are_bound(desk: Purpose) -> None:
    desk.draw(WELL)

    assert desk.publish().version.context_run is UNSET
    assert failing(desk.check(version=1))["GA_CONTEXT"] == []


def test_gates_of_a_published_version_say_for_ever_what_they_said(
    desk: Purpose, facts: Facts, engine: Engine, clock: ManualClock
) -> None:
    desk.draw(WELL)
    desk.edit(op("add_assumption", node="OC1", assumption_text="a"), add_node("OUTPUT", "lost"))
    desk.record(waivers=[{"code": "GA_ORPHANS", "refs": ["OP2"], "reason": "r", "owner": "ada", "due": "2026-03-01"}])
    (said,) = desk.publish(detail="full").gates
    clock.move(days=400)
    desk.record(reviews=[{"assumption": "AS1", "status": "refuted", "reason": "r"}])
    facts.draft()
    facts.commit()

    assert desk.check(version=1) == said
    # As of today it would not be published any more.
    assert set(failing(desk.check(version=1, as_of="2027-04-05"))) >= {"GA_ORPHANS", "GA_REFUTED"}
    ((kept,),) = engine.as_owner("SELECT gates FROM toc_versions")
    assert encode([desk.check(version=1)]).decode() == kept


def test_what_a_gate_said_is_kept_in_the_words_of_no_surface(drawn: Purpose, engine: Engine) -> None:
    preferences = Preferences(vocabulary=McpVocabulary(OPERATIONS))
    agent = Purpose(Session(drawn.session.store, drawn.session.actor, preferences=preferences))

    (gate,) = agent.publish().gates

    assert "toc_edit with add_indicator on OC1" in [check.fix for check in gate.checks]
    ((kept,),) = engine.as_owner("SELECT gates FROM toc_versions")
    assert encode([drawn.check(version=1)]).decode() == kept
    assert "purpose.edit with add_indicator on OC1" in kept


def test_a_published_version_that_somebody_altered_is_not_taken_for_what_was_published(
    drawn: Purpose, engine: Engine
) -> None:
    drawn.publish()
    with engine.owned() as run:
        for statement in guards_dropped(engine, ["toc_nodes"]):
            run(statement)
        run("UPDATE toc_nodes SET title = 'wealth' WHERE key = 'G1'")
        run("COMMIT")

    with pytest.raises(ContentAltered):
        drawn.check(version=1)
    with pytest.raises(ContentAltered):
        drawn.draft()


def test_an_editor_publishes_only_where_the_project_lets_editors(desk: Purpose) -> None:
    session = desk.session
    session.call("member.add", scopeId="atlas", userId="ben", role="editor")
    desk.draw(WELL)
    ben = desk.by(person("ben"))

    with pytest.raises(Forbidden):
        ben.publish()
    session.call("work.open", project="atlas", policies={"publish_role": "editor"})

    assert ben.publish().version.published_by == "ben"


def test_only_an_owner_waives_or_discards(desk: Purpose) -> None:
    desk.session.call("member.add", scopeId="atlas", userId="ben", role="editor")
    ben = desk.by(person("ben"))
    desk.draw(WELL)
    waiver = {"code": "GA_ORPHANS", "refs": [], "reason": "r", "owner": "ben", "due": "2027-01-01"}

    with pytest.raises(Forbidden):
        ben.record(waivers=[waiver])
    with pytest.raises(Forbidden):
        ben.discard()
    ben.record(decisions=[{"text": "t", "rationale": "r"}])
    ben.edit(add_node("GOAL", "g"))


def test_work_that_serves_activities_is_asked_for_where_somebody_knows(
    drawn: Purpose, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks = {check.code: check for check in drawn.check("B").checks}
    assert checks["GB_WORK"].result == "not_applicable"

    serving: Provider[list[str], dict[str, list[str]]] = Provider()
    serving.connect(lambda _tx, keys: {key: ["w1", "w2"] for key in keys if key == "AC1"})
    monkeypatch.setattr(providers, "find_work_serving", serving)

    assert {check.code: check.result for check in drawn.check("B").checks}["GB_WORK"] == "passed"
    drawn.edit(add_node("ACTIVITY", "idle", ref="i"), add_edge("i", "OP1"))
    assert failing(drawn.check("B"))["GB_WORK"] == ["AC2"]
    drawn.edit(op("add_assumption", node="OP1", assumption_text="a"))
    affected = drawn.record(reviews=[{"assumption": "AS1", "status": "refuted", "reason": "r"}]).affected
    assert affected[0].work == ["w1", "w2"]


def test_an_agent_edits_and_publishes_as_its_role_lets_it(desk: Purpose) -> None:
    agent = desk.by(local_actor("claude", kind=ActorKind.AGENT))
    agent.draw(WELL)

    assert agent.publish().version.published_by == "claude"


def test_a_project_with_a_published_version_can_be_archived_and_read(drawn: Purpose) -> None:
    drawn.publish()
    drawn.session.call("project.archive", project="atlas")

    assert drawn.open().counts.goal == 1
    with pytest.raises(Conflict):
        drawn.draft()
