"""Policies: the settings of a project."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import UNSET

from groundplan.kernel.errors import Invalid, RuleViolated
from tests.engines import Engine, person
from tests.errors import error_of
from tests.work.cases import try_each
from tests.work.client import WorkClient

NOTE = [{"type": "note", "ref": "it works"}]


def test_policies_are_shown_only_when_some_differ_from_the_defaults(work: WorkClient) -> None:
    assert work.open().policies is UNSET
    assert work.open(policies={"evidence": "warn"}).policies is UNSET

    assert work.open(policies={"evidence": "off"}).policies.evidence == "off"
    assert work.open().policies.evidence == "off"
    assert work.open(policies={"evidence": "warn"}).policies is UNSET


def test_setting_one_policy_leaves_the_others(work: WorkClient) -> None:
    work.open(policies={"evidence": "off", "claims": "enforced"})

    policies = work.open(policies={"claims": "soft"}).policies

    assert (policies.evidence, policies.claims) == ("off", "soft")


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "a policy that is unknown": ({"evidenc": "off"}, "unknown_argument"),
    "a value that is unknown": ({"evidence": "never"}, "invalid_argument"),
    "a value of another type": ({"auto_resolve_parents": "perhaps"}, "invalid_argument"),
    "a claim of no time": ({"claim_ttl_minutes": 0}, "invalid_argument"),
    "a claim of negative time": ({"claim_ttl_minutes": -1}, "invalid_argument"),
    "a claim of no number": ({"claim_ttl_minutes": "soon"}, "invalid_argument"),
    "a right one and a wrong one": ({"evidence": "off", "claims": "hard"}, "invalid_argument"),
}


@try_each("wrong", WRONG)
def test_an_unknown_policy_or_value_is_refused_and_nothing_is_set(work: WorkClient, wrong: str) -> None:
    policies, code = WRONG[wrong]

    refusal = error_of(lambda: work.open(policies=policies))

    assert isinstance(refusal, Invalid)
    assert refusal.code == code
    assert str(refusal.details["field"]).startswith("policies.")
    assert work.open().policies is UNSET


def test_an_unknown_policy_comes_with_the_one_that_was_meant(work: WorkClient) -> None:
    refusal = error_of(lambda: work.open(policies={"auto_resolve_parent": True}))

    assert refusal.details["near"] == "auto_resolve_parents"


@pytest.mark.parametrize(("role", "may"), [("viewer", False), ("editor", False), ("owner", True)])
def test_only_an_owner_sets_policies(engine: Engine, work: WorkClient, role: str, may: bool) -> None:
    engine.session("ada").call("member.add", scopeId="atlas", userId="ben", role=role)
    ben = work.by(person("ben"))

    if may:
        assert ben.open(policies={"evidence": "off"}).policies.evidence == "off"
    else:
        assert error_of(lambda: ben.open(policies={"evidence": "off"})).code == "forbidden"
        assert ben.open().policies is UNSET


def test_a_changed_policy_is_recorded_with_why(engine: Engine, work: WorkClient) -> None:
    work.open(policies={"evidence": "require"}, decision="the auditor asked")

    (event,) = engine.as_owner("SELECT actor_id, decision, changes FROM events WHERE op = 'project.configured'")

    assert event[:2] == ("ada", "the auditor asked")
    assert '"policies.evidence"' in event[2]


def test_setting_what_is_set_changes_nothing(engine: Engine, work: WorkClient) -> None:
    work.open(policies={"evidence": "off"})
    before = engine.as_owner("SELECT rev FROM projects")

    work.open(policies={"evidence": "off"})

    assert engine.as_owner("SELECT rev FROM projects") == before


# --- Evidence ---


def test_by_default_a_resolve_without_evidence_is_warned_about_in_one_line(work: WorkClient) -> None:
    work.plan("a\nb\nc")
    work.update("c", add_evidence=NOTE)

    assert len(work.resolve("a").warnings) == 1
    assert work.update("b", resolved=True, add_evidence=NOTE).warnings is UNSET
    assert work.resolve("c").warnings is UNSET


def test_many_resolves_without_evidence_do_not_fill_the_answer(work: WorkClient) -> None:
    names = [f"n{place}" for place in range(60)]
    work.plan("\n".join(names))

    assert len(work.resolve(*names).warnings) == 1


def test_where_evidence_is_off_nothing_is_said(work: WorkClient) -> None:
    work.open(policies={"evidence": "off"})
    work.plan("a")

    assert work.resolve("a").warnings is UNSET


def test_where_evidence_is_required_a_resolve_without_any_is_refused(work: WorkClient) -> None:
    work.open(policies={"evidence": "require"})
    work.plan("a\nb")

    refusal = error_of(lambda: work.resolve("a"))

    assert isinstance(refusal, RuleViolated)
    assert (refusal.code, refusal.details["node_id"]) == ("evidence_required", work["a"])
    work.update("a", resolved=True, add_evidence=NOTE)
    work.update("b", add_evidence=NOTE)
    work.resolve("b")
    assert work.filter_open(["a", "b"]) == []


def test_where_evidence_is_required_the_reason_of_a_drop_is_enough(work: WorkClient) -> None:
    work.open(policies={"evidence": "require"})
    work.plan("phase\n  a")

    work.drop("phase")

    assert work.filter_open(["phase", "a"]) == []


# --- Parents that resolve themselves ---


def test_by_default_a_parent_waits_to_be_resolved(work: WorkClient) -> None:
    work.plan("phase\n  a")

    answer = work.resolve("a")

    assert work.names(answer.newly_actionable) == ["phase"]
    assert answer.auto_resolved is UNSET


def test_the_last_child_resolves_its_parents_up_to_the_root_but_not_the_root(work: WorkClient) -> None:
    work.open(policies={"auto_resolve_parents": True})
    work.plan("phase\n  step\n    a\n    b\nafter: phase")
    assert work.resolve("a").auto_resolved is UNSET

    answer = work.resolve("b")

    assert [work.name(one) for one in answer.auto_resolved] == ["step", "phase"]
    assert work.names(answer.newly_actionable) == ["after"]
    work.resolve("after")
    assert work.filter_open(["phase", "step", "root"]) == ["root"]
    assert work.actions("phase") == ["created", "resolved"]


def test_the_last_child_that_is_dropped_resolves_its_parent_too(engine: Engine, work: WorkClient) -> None:
    work.open(policies={"auto_resolve_parents": True})
    work.plan("phase\n  a\n  b")
    work.resolve("a")

    work.drop("b")

    assert work.node("phase").resolved
    assert engine.as_owner("SELECT count(*) FROM work_nodes WHERE outcome = 'dropped'") == [(1,)]


def test_a_parent_that_waits_for_something_is_not_resolved_by_its_last_child(work: WorkClient) -> None:
    work.open(policies={"auto_resolve_parents": True})
    work.plan("blocker\nphase: blocker\n  a")

    assert work.resolve("a").auto_resolved is UNSET
    assert work.names(work.resolve("blocker").newly_actionable) == ["phase"]


def test_a_parent_that_resolved_itself_lets_go_of_its_claim(work: WorkClient) -> None:
    work.open(policies={"auto_resolve_parents": True})
    work.plan("phase")
    work.by("ben").claim()
    work.plan("a", under="phase")

    work.resolve("a")

    assert work.node("phase").properties == {}
    assert work.query(claimed_by="ben") == []
