"""Versions: one draft, published once through its gates, final afterwards, and cloned completely."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from groundplan.catalog import OPERATIONS
from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.answers import count_tokens, encode
from groundplan.kernel.errors import Conflict, Forbidden, GroundplanError, Invalid, NotFound, StaleRevision
from groundplan.kernel.preferences import Preferences
from groundplan.kernel.store.migrations import Dialect, load_migrations
from groundplan.policies import Policies
from groundplan.purpose.content import ContentAltered
from groundplan.purpose.versions.drafts import DraftExists, ProfileTooLight
from groundplan.purpose.versions.publish import GateFailed, NothingChanged
from groundplan.purpose.versions.versions import NoDraft
from groundplan.session import Session
from groundplan.surfaces.vocabularies import McpVocabulary
from tests.context.client import ContextClient
from tests.engines import Engine, person
from tests.kernel.store.attacks import sql_drop_guards
from tests.linking import link, unlink
from tests.manual_clock import ManualClock
from tests.purpose.client import PurposeClient, add_edge, add_node, failing, op

WELL = "dig -> well -> water -> health"


@pytest.fixture
def facts(client: PurposeClient) -> ContextClient:
    """A client of the facts of the same project."""
    return ContextClient(client.session, client.project)


def test_the_first_draft_is_empty_and_the_next_begins_as_the_version_published_last(client: PurposeClient) -> None:
    assert (client.open().counts.goal, client.versions()[0].status, client.versions()[0].label) == (0, "DRAFT", "draft")
    client.draw(WELL)
    client.publish()

    begun = client.draft()

    assert (begun.version.number, begun.version.source, begun.version.status) == (2, 1, "DRAFT")
    assert [node.title for node in client.nodes().values()] == ["health", "water", "well", "dig"]


def test_a_draft_begins_from_any_published_version(chain_client: PurposeClient) -> None:
    chain_client.publish()
    chain_client.draft()
    chain_client.edit(op("update_node", node="G1", title="welfare"))
    chain_client.publish()

    for source, title in ((1, "health"), (2, "welfare"), ("published", "welfare"), (None, "welfare")):
        chain_client.draft(**({} if source is None else {"from": source}))
        assert chain_client.nodes()["G1"].title == title
        chain_client.discard()


def test_a_draft_begins_from_nothing_else(chain_client: PurposeClient, subtests: pytest.Subtests) -> None:
    chain_client.publish()
    others: list[tuple[Any, type[GroundplanError]]] = [
        (9, NotFound),
        (0, NotFound),
        ("draft", Invalid),
        (3, NotFound),
    ]

    for source, error in others:
        with subtests.test(f"from {source}"):
            with pytest.raises(error):
                chain_client.draft(**{"from": source})
            assert [one.status for one in chain_client.versions()] == ["PUBLISHED"]


def test_there_is_one_draft_at_a_time(client: PurposeClient) -> None:
    with pytest.raises(DraftExists) as error:
        client.draft()

    assert error.value.details["number"] == 1


def test_a_draft_has_the_profile_it_is_given_else_that_of_its_source(client: PurposeClient) -> None:
    client.discard()
    client.allow("light")
    assert client.draft(profile="light").version.profile == "light"
    client.edit(add_node("GOAL", "x"))
    client.publish()
    assert client.draft().version.profile == "light"
    client.discard()
    assert client.draft(profile="strict").version.profile == "strict"


def test_publishing_says_when_by_whom_under_which_label_and_hash(
    chain_client: PurposeClient, clock: ManualClock
) -> None:
    clock.move(hours=1)

    published = chain_client.publish(expected_rev=chain_client.open().rev)

    version = published.version
    assert (version.number, version.status, version.label, version.published_by) == (1, "PUBLISHED", "v1", "ada")
    assert version.published_at == "2026-03-01T10:00:00.000Z"
    (gate,) = published.gates
    assert (gate.passed, gate.content_hash, published.rev) == (True, version.content_hash, 3)
    assert chain_client.open(version=1).version == version


def test_a_label_can_be_given_and_is_never_that_of_a_draft_or_of_another_version(chain_client: PurposeClient) -> None:
    for label in ("draft", "v2", "v01"):
        with pytest.raises(Invalid):
            chain_client.publish(label=label)

    assert chain_client.publish(label=" Spring plan ").version.label == "Spring plan"


def test_publishing_stops_at_a_gate_and_says_which_rules_and_which_nodes(chain_client: PurposeClient) -> None:
    chain_client.edit(add_node("OUTPUT", "lost"))

    with pytest.raises(GateFailed) as error:
        chain_client.publish()

    (gate,) = error.value.details["gates"]
    assert (gate["gate"], gate["passed"]) == ("A", False)
    blocking = [check for check in gate["checks"] if (check["severity"], check["result"]) == ("block", "failed")]
    assert {check["code"]: check["refs"] for check in blocking} == {"GA_ORPHANS": ["OP2"]}
    assert chain_client.versions()[0].status == "DRAFT"


def test_gate_b_is_passed_too_where_the_project_wants_it(chain_client: PurposeClient) -> None:
    chain_client.edit(op("add_indicator", node="OC1", name="litres"))
    chain_client.session.call("work.open", project="atlas", policies={"publish_gates": "AB"})

    with pytest.raises(GateFailed) as error:
        chain_client.publish()
    assert [gate["gate"] for gate in error.value.details["gates"]] == ["A", "B"]

    chain_client.edit(
        op("update_indicator", indicator="IN1", baseline=1, target=2, method="m", frequency="f", owner="o")
    )
    facts = ContextClient(chain_client.session, chain_client.project)
    facts.draft()
    facts.commit()
    serve(chain_client, "AC1")
    assert [gate.gate for gate in chain_client.publish().gates] == ["A", "B"]


def test_a_version_is_published_strictly_once_nothing_is_missing(client: PurposeClient, facts: ContextClient) -> None:
    client.discard()
    client.draft(profile="strict")
    client.draw(WELL)
    with pytest.raises(GateFailed):
        client.publish()
    facts.draft()
    facts.commit()
    for source, target in (("AC1", "OP1"), ("OP1", "OC1"), ("OC1", "G1")):
        client.edit(op("update_edge", source=source, target=target, mechanism="m", confidence="low"))
        client.edit(op("add_assumption", source=source, target=target, assumption_text="a"))
    client.edit(op("add_indicator", node="OC1", name="litres"))
    client.edit(op("update_assumption", assumption="AS2", risk_level="HIGH", owner="ben", review_by="2027-01-01"))

    (gate,) = client.publish(detail="full").gates

    assert (gate.profile, gate.passed, failing(gate)) == ("strict", True, {})
    assert client.check(version=1) == gate


def test_publishing_takes_300_tokens_where_every_check_passes_and_lists_them_all_on_request(
    client: PurposeClient,
) -> None:
    client.session.call("work.open", project="atlas", policies={"publish_gates": "AB"})
    facts = ContextClient(client.session, client.project)
    facts.draft()
    facts.commit()
    client.draw(WELL)
    for source, target in (("AC1", "OP1"), ("OP1", "OC1"), ("OC1", "G1")):
        client.edit(op("update_edge", source=source, target=target, mechanism="m"))
        client.edit(op("add_assumption", source=source, target=target, assumption_text="a"))
    measured = {"baseline": 1, "target": 2, "method": "m", "frequency": "f", "owner": "o"}
    client.edit(op("add_indicator", node="OC1", name="litres", **measured))
    serve(client, "AC1")

    published = client.publish()

    assert count_tokens(encode(published)) <= 300
    assert [(one.gate, one.passed, one.checks, one.counts.failed) for one in published.gates] == [
        ("A", True, [], 0),
        ("B", True, [], 0),
    ]
    client.draft()
    client.edit(op("update_node", node="G1", title="welfare"))
    full = client.publish(detail="full").gates
    assert [len(one.checks) for one in full] == [sum(msgspec.structs.astuple(one.counts)) for one in full]
    assert [one.counts for one in full] == [one.counts for one in published.gates]


def test_a_draft_lighter_than_the_project_allows_is_neither_begun_nor_published(client: PurposeClient) -> None:
    client.discard()
    with pytest.raises(ProfileTooLight):  # a new project begins with standard
        client.draft(profile="light")
    client.allow("light")
    client.draft(profile="light")
    client.edit(add_node("GOAL", "x"))
    client.allow("standard")

    with pytest.raises(ProfileTooLight) as error:
        client.publish()
    assert (error.value.details["profile"], error.value.details["profile_min"]) == ("light", "standard")
    first, second, *_ = error.value.next_steps
    assert (first.operation, second.operation) == ("purpose.discard", "purpose.draft")
    for step in (first, second, first):
        client.session.call(step.operation, **step.arguments)
    with pytest.raises(ProfileTooLight) as error:
        client.draft(profile="light")
    assert "purpose.discard" not in [step.operation for step in error.value.next_steps]
    with pytest.raises(ProfileTooLight):
        client.call("purpose.import", document={"format": 1, "profile": "light", "nodes": []})

    assert client.draft(profile="strict").version.profile == "strict"


def test_a_project_from_before_the_default_was_standard_goes_on_allowing_light(
    client: PurposeClient, engine: Engine
) -> None:
    (step,) = (step for step in load_migrations(engine.dialect) if step.name == "least_profile")
    past_guards = ["ALTER TABLE projects DISABLE TRIGGER USER"] if engine.dialect is Dialect.POSTGRES else []
    engine.as_owner(*past_guards, """UPDATE projects SET policies = '{"evidence":"require"}'""", step.text)
    client.discard()

    assert client.draft(profile="light").version.profile == "light"
    assert client.call("work.open").policies == Policies(evidence="require", profile_min="light")


def test_a_draft_begins_with_the_least_strict_profile_allowed_where_its_source_is_lighter(
    client: PurposeClient,
) -> None:
    client.discard()
    client.allow("light")
    client.draft(profile="light")
    client.edit(add_node("GOAL", "x"))
    client.publish()
    client.allow("strict")

    assert client.draft().version.profile == "strict"


def test_only_an_owner_sets_the_least_strict_profile(client: PurposeClient) -> None:
    client.session.call("member.add", scopeId="atlas", userId="ben", role="editor")

    with pytest.raises(Forbidden):
        client.by(person("ben")).session.call("work.open", project="atlas", policies={"profile_min": "strict"})


def test_the_same_content_on_the_same_facts_is_not_published_twice(
    chain_client: PurposeClient, clock: ManualClock
) -> None:
    chain_client.publish()
    clock.move(days=1)
    chain_client.allow("light")
    chain_client.draft(profile="light")

    with pytest.raises(NothingChanged) as error:
        chain_client.publish(label="again")
    assert error.value.details["version"] == 1
    chain_client.edit(op("update_node", node="G1", title="welfare"))
    chain_client.edit(op("update_node", node="G1", title="health"))
    with pytest.raises(NothingChanged):
        chain_client.publish()
    facts = ContextClient(chain_client.session, chain_client.project)
    facts.draft()
    facts.commit()

    assert chain_client.publish().version.number == 2


def test_a_waiver_of_an_owner_lets_a_version_pass_and_shows_as_waived(chain_client: PurposeClient) -> None:
    chain_client.edit(add_node("OUTPUT", "lost"), add_node("OUTPUT", "lost too"))
    waiver = {"code": "GA_ORPHANS", "reason": "next year", "owner": "ada", "due": "2026-12-31"}
    chain_client.record(waivers=[{**waiver, "refs": ["OP2"]}])
    assert failing(chain_client.check())["GA_ORPHANS"] == ["OP3"]

    chain_client.record(waivers=[{**waiver, "refs": ["OP3"]}])
    (gate,) = chain_client.publish().gates

    assert {check.code: check.result for check in gate.checks}["GA_ORPHANS"] == "waived"
    assert (gate.passed, [one.code for one in chain_client.open().waivers or ()]) == (
        True,
        ["GA_ORPHANS", "GA_ORPHANS"],
    )


def test_a_waiver_counts_through_its_due_day_and_no_longer(chain_client: PurposeClient, clock: ManualClock) -> None:
    chain_client.edit(add_node("OUTPUT", "lost"))
    chain_client.record(
        waivers=[{"code": "GA_ORPHANS", "refs": [], "reason": "r", "owner": "ada", "due": "2026-03-02"}]
    )

    clock.move(days=1)
    assert "GA_ORPHANS" not in failing(chain_client.check())
    clock.move(days=1)
    assert "GA_ORPHANS" in failing(chain_client.check())


def test_discarding_removes_the_draft_and_its_number_is_the_next_one(chain_client: PurposeClient) -> None:
    chain_client.publish()
    chain_client.draft()
    chain_client.draw("a -> b -> c -> d")

    gone = chain_client.discard()

    assert (gone.discarded, gone.rev) == (2, chain_client.open().rev)
    assert [one.number for one in chain_client.versions()] == [1]
    assert chain_client.draft().version.number == 2
    assert chain_client.open().counts.goal == 1


def test_without_a_draft_nothing_is_published_or_discarded(client: PurposeClient) -> None:
    client.discard()

    for act in (client.publish, client.discard):
        with pytest.raises(NoDraft):
            act()


def test_publishing_and_discarding_can_expect_a_revision(chain_client: PurposeClient) -> None:
    for act in (chain_client.publish, chain_client.discard):
        with pytest.raises(StaleRevision):
            act(expected_rev=1)


def test_who_expects_a_revision_never_means_another_draft(chain_client: PurposeClient) -> None:
    seen = chain_client.open().rev
    chain_client.discard()
    revs = [chain_client.draft().rev, chain_client.edit(add_node("GOAL", "x")).rev]
    chain_client.discard()
    revs += [chain_client.draft().rev]
    chain_client.draw(WELL)
    revs += [chain_client.publish().rev, chain_client.draft().rev]

    assert [seen, *revs] == sorted({seen, *revs})
    with pytest.raises(StaleRevision):
        chain_client.edit(add_node("GOAL", "x"), expected_rev=seen)


def test_a_published_version_is_as_it_was_whatever_becomes_of_the_draft(chain_client: PurposeClient) -> None:
    chain_client.edit(op("add_assumption", node="OC1", assumption_text="a"), op("add_indicator", node="OC1", name="i"))
    chain_client.publish()
    before = chain_client.open(version=1, detail="full")
    chain_client.draft()
    chain_client.edit(op("update_node", node="OC1", title="x"), op("remove_node", node="AC1"), add_edge("OP1", "G1"))
    chain_client.publish()

    after = chain_client.open(version=1, detail="full")

    assert (after.nodes, after.edges, after.indicators, after.version) == (
        before.nodes,
        before.edges,
        before.indicators,
        before.version,
    )


def test_publishing_binds_the_facts_in_force_and_those_cannot_be_deleted(
    client: PurposeClient, facts: ContextClient
) -> None:
    facts.draft()
    facts.write("/site/size", 5000)
    run = facts.commit().run.id
    client.draw(WELL)

    assert client.publish().version.context_run == run
    with pytest.raises(GroundplanError) as error:
        client.session.call("context.delete", runId=run)
    assert (error.value.code, error.value.details["versions"]) == ("run_bound", [1])

    facts.draft()
    later = facts.commit().run.id
    assert client.session.call("context.delete", runId=later).deleted == later


def test_without_facts_none_are_bound(client: PurposeClient) -> None:
    client.draw(WELL)

    assert client.publish().version.context_run is UNSET
    assert failing(client.check(version=1))["GA_CONTEXT"] == []


def test_gates_of_a_published_version_say_for_ever_what_they_said(
    client: PurposeClient, facts: ContextClient, engine: Engine, clock: ManualClock
) -> None:
    client.draw(WELL)
    client.edit(op("add_assumption", node="OC1", assumption_text="a"), add_node("OUTPUT", "lost"))
    client.record(waivers=[{"code": "GA_ORPHANS", "refs": ["OP2"], "reason": "r", "owner": "ada", "due": "2026-03-01"}])
    (said,) = client.publish(detail="full").gates
    clock.move(days=400)
    client.record(reviews=[{"assumption": "AS1", "status": "refuted", "reason": "r"}])
    facts.draft()
    facts.commit()

    assert client.check(version=1) == said
    # As of today it would fail its gate.
    assert set(failing(client.check(version=1, as_of="2027-04-05"))) >= {"GA_ORPHANS", "GA_REFUTED"}
    ((kept,),) = engine.as_owner("SELECT gates FROM toc_versions")
    assert encode([client.check(version=1)]).decode() == kept


def test_what_a_gate_said_is_kept_in_the_words_of_no_surface(chain_client: PurposeClient, engine: Engine) -> None:
    preferences = Preferences(vocabulary=McpVocabulary(OPERATIONS))
    agent = PurposeClient(Session(chain_client.session.store, chain_client.session.actor, preferences=preferences))

    (gate,) = agent.publish().gates

    assert "toc_edit with add_indicator on OC1" in [check.fix for check in gate.checks]
    ((kept,),) = engine.as_owner("SELECT gates FROM toc_versions")
    assert encode([chain_client.check(version=1)]).decode() == kept
    assert "purpose.edit with add_indicator on OC1" in kept


def test_a_published_version_that_somebody_altered_is_not_taken_for_what_was_published(
    chain_client: PurposeClient, engine: Engine
) -> None:
    chain_client.publish()
    with engine.owner_transaction() as run:
        for statement in sql_drop_guards(engine, ["toc_nodes"]):
            run(statement)
        run("UPDATE toc_nodes SET title = 'wealth' WHERE key = 'G1'")
        run("COMMIT")

    with pytest.raises(ContentAltered):
        chain_client.check(version=1)
    with pytest.raises(ContentAltered):
        chain_client.draft()


def test_an_editor_publishes_only_where_the_project_lets_editors(client: PurposeClient) -> None:
    session = client.session
    session.call("member.add", scopeId="atlas", userId="ben", role="editor")
    client.draw(WELL)
    ben = client.by(person("ben"))

    with pytest.raises(Forbidden):
        ben.publish()
    session.call("work.open", project="atlas", policies={"publish_role": "editor"})

    assert ben.publish().version.published_by == "ben"


def test_only_an_owner_waives_or_discards(client: PurposeClient) -> None:
    client.session.call("member.add", scopeId="atlas", userId="ben", role="editor")
    ben = client.by(person("ben"))
    client.draw(WELL)
    waiver = {"code": "GA_ORPHANS", "refs": [], "reason": "r", "owner": "ben", "due": "2027-01-01"}

    with pytest.raises(Forbidden):
        ben.record(waivers=[waiver])
    with pytest.raises(Forbidden):
        ben.discard()
    ben.record(decisions=[{"text": "t", "rationale": "r"}])
    ben.edit(add_node("GOAL", "g"))


def test_activities_need_work_that_serves_them_and_a_refuted_assumption_names_that_work(
    chain_client: PurposeClient,
) -> None:
    assert failing(chain_client.check("B"))["GB_WORK"] == ["AC1"]

    works = sorted(serve(chain_client, "AC1") for _ in range(2))

    assert {check.code: check.result for check in chain_client.check("B").checks}["GB_WORK"] == "passed"
    chain_client.edit(add_node("ACTIVITY", "idle", ref="i"), add_edge("i", "OP1"))
    assert failing(chain_client.check("B"))["GB_WORK"] == ["AC2"]
    chain_client.edit(op("add_assumption", node="OP1", assumption_text="a"))
    affected = chain_client.record(reviews=[{"assumption": "AS1", "status": "refuted", "reason": "r"}]).affected
    assert affected[0].work == works


def test_dropped_work_serves_no_activity_and_resolved_work_does(chain_client: PurposeClient) -> None:
    dropped, resolved = serve(chain_client, "AC1"), serve(chain_client, "AC1")
    chain_client.session.call("work.update", updates=[{"node_id": resolved, "resolved": True}])
    drop = {"op": "drop", "node_id": dropped, "reason": "no longer needed"}
    chain_client.session.call("work.restructure", operations=[drop])
    assert {check.code: check.result for check in chain_client.check("B").checks}["GB_WORK"] == "passed"

    unlink(chain_client.session, resolved, "serves", "AC1")

    assert failing(chain_client.check("B"))["GB_WORK"] == ["AC1"]


def test_the_gates_of_a_published_version_keep_the_work_that_served_it_then(chain_client: PurposeClient) -> None:
    work = serve(chain_client, "AC1")
    chain_client.publish()
    unlink(chain_client.session, work, "serves", "AC1")
    chain_client.draft()

    results = [
        {check.code: check.result for check in chain_client.check("B", version=version).checks}["GB_WORK"]
        for version in (1, "draft")
    ]

    assert results == ["passed", "failed"]


def serve(client: PurposeClient, key: str) -> str:
    """Add a work node that serves a purpose node, and return its id."""
    (node,) = client.call("work.plan", nodes=[{"ref": "w", "summary": f"Work for {key}"}]).created
    link(client.session, node.id, "serves", key)
    return str(node.id)


def test_an_agent_edits_and_publishes_as_its_role_lets_it(client: PurposeClient) -> None:
    client.session.call("work.open", project="atlas", policies={"agents": "owner"})
    agent = client.by(local_actor("claude", kind=ActorKind.AGENT))
    agent.draw(WELL)

    assert agent.publish().version.published_by == "claude"


def test_a_project_with_a_published_version_can_be_archived_and_read(chain_client: PurposeClient) -> None:
    chain_client.publish()
    chain_client.session.call("project.archive", project="atlas")

    assert chain_client.open().counts.goal == 1
    with pytest.raises(Conflict):
        chain_client.draft()


def test_a_version_shows_its_id_which_every_operation_takes_and_an_unknown_one_is_not_found(
    client: PurposeClient,
) -> None:
    client.draw("dig -> well -> water -> health")
    client.publish()
    client.draft()
    project = client.session.call("project.list").projects[0].id
    published, draft = client.versions()
    checked = client.call("purpose.compliance", gate="compliance", operation={"kind": "read"})

    assert checked.sections[1].facts["version_id"] == draft.id
    assert [version.project_id for version in (published, draft)] == [project] * 2
    for ref in (published.id, published.id.upper(), published.id.replace("-", ""), "1", "Published"):
        assert client.open(version=ref).version == published
        assert client.check(version=ref).passed
        assert client.diff(ref, draft.id).source == 1
        assert client.call("purpose.export", format="json", version=ref).version == 1
        operation = {"kind": "read", "version": ref}
        assert client.call("purpose.compliance", gate="compliance", operation=operation).status == "APPROVED"
    client.discard()
    assert client.draft(**{"from": published.id}).version.source == 1
    for ref in ("latest", "3", draft.id, "x" * 36):
        with pytest.raises(NotFound):
            client.open(version=ref)
