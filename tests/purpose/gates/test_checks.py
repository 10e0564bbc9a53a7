"""Every check in every profile: passed, failed, waived, and not applicable."""

from __future__ import annotations

import pytest
from msgspec import UNSET

from groundplan.purpose.gates.gates import (
    NOT_WAIVABLE,
    SEVERITY_TABLES,
    ContextFacts,
    ExternalFacts,
    get_severities,
    is_waivable,
    list_codes,
)
from groundplan.purpose.model import Content, Profile
from tests.purpose.gates.cases import BROKEN, CHAIN, EMPTY, FailingCase, check, gate_of, run
from tests.purpose.theories import join_observations, make_observations, theory, whole_theory

# The agreed table: code, then standard, strict, light.
AGREED = """
GA_GOAL_COUNT       block block block
GA_MIN_TYPES        block block -
GA_ORPHANS          block block warn
GA_TYPE_CHAIN       block block -
GA_LEAP             warn  block -
GA_CYCLE            block block warn
GA_DUP_EDGE         block block block
GA_SELF_EDGE        block block block
GA_CROSS_VERSION    block block block
GA_MECHANISM        warn  block -
GA_HIGH_RISK        block block -
GA_LOW_CONFIDENCE   warn  block -
GA_OUTCOME_COVERAGE warn  block -
GA_ASSUMPTIONS      warn  warn  -
GA_DEAD_END         warn  block -
GA_REFUTED          block block warn
GA_CONTEXT          warn  block -
GA_STRUCTURE        block block block
GA_TITLE            warn  block -
GA_RLS              block block block
GB_BASELINE         block block block
GB_TARGET           block block block
GB_VERIFIED         block block block
GB_PLAN             block block block
GB_WORK             block block block
GB_FACTS            block block block
GB_INDICATORS       block block block
"""
SEVERITIES = {
    (code, profile): severity
    for code, *row in (line.split() for line in AGREED.strip().splitlines())
    for profile, severity in zip(("standard", "strict", "light"), row, strict=True)
}
ON = [(code, Profile(profile)) for (code, profile), severity in SEVERITIES.items() if severity != "-"]
each_check = pytest.mark.parametrize(("code", "profile"), ON)


def refs_of(broken: FailingCase, profile: Profile) -> list[str]:
    return sorted(broken.in_strict if broken.in_strict and profile is Profile.STRICT else broken.refs)


def test_the_table_of_severities_is_the_one_agreed_on() -> None:
    assert {
        (code, profile): severity
        for gate in SEVERITY_TABLES
        for profile in Profile
        for code, severity in get_severities(gate, profile).items()
    } == {(code, profile): SEVERITIES[code, profile] for code, profile in ON}
    assert list_codes() == sorted(BROKEN) == sorted({code for code, _ in SEVERITIES})


@pytest.mark.parametrize("profile", list(Profile))
@pytest.mark.parametrize("gate", ["A", "B"])
def test_checks_come_sorted_and_those_that_are_off_do_not_come(gate: str, profile: Profile) -> None:
    result = run("A" if gate == "A" else "B", EMPTY, profile=profile)
    expected = sorted(code for code, on in ON if on is profile and gate_of(code) == gate)
    assert [one.code for one in result.checks] == expected


@each_check
def test_a_theory_that_keeps_a_rule_passes_its_check(code: str, profile: Profile) -> None:
    if code == "GA_LOW_CONFIDENCE":
        content = theory(CHAIN, edges={"AC1->OP1": {"confidence": "low"}}, assumptions={"AS1": "AC1->OP1"})
    else:
        content = whole_theory()
    found = check(code, content, profile=profile)
    assert (found.result, found.refs, found.fix, found.severity) == ("passed", [], UNSET, SEVERITIES[code, profile])


@each_check
def test_a_theory_that_breaks_a_rule_fails_its_check_which_names_what_and_what_to_do(
    code: str, profile: Profile
) -> None:
    broken = BROKEN[code]
    found = check(code, broken.content, broken.observations, profile=profile, outside=broken.outside)

    assert (found.result, found.severity) == ("failed", SEVERITIES[code, profile])
    assert found.refs == refs_of(broken, profile)
    assert found.message
    assert isinstance(found.fix, str)
    assert "{refs}" not in found.fix
    result = run(gate_of(code), broken.content, broken.observations, profile=profile, outside=broken.outside)
    assert not (found.severity == "block" and result.passed)


@each_check
def test_somebody_can_answer_for_what_fails_unless_the_database_itself_refuses_it(code: str, profile: Profile) -> None:
    broken = BROKEN[code]
    refs = refs_of(broken, profile)
    for waived in ([], refs):
        observations = join_observations(broken.observations, make_observations(waived={code: waived}, rev=2))
        found = check(code, broken.content, observations, profile=profile, outside=broken.outside)
        assert (found.result == "waived", found.refs) == (is_waivable(code), refs)
        assert (found.fix is UNSET) == is_waivable(code)


@each_check
def test_a_rule_that_is_about_nothing_here_does_not_apply(code: str, profile: Profile) -> None:
    broken = BROKEN[code]
    if broken.nothing is None:
        return
    found = check(code, broken.nothing, broken.observations, profile=profile, outside=broken.nothing_outside)
    assert (found.result, found.refs, found.fix) == ("not_applicable", [], UNSET)


@pytest.mark.parametrize("code", ["GA_GOAL_COUNT", "GA_MIN_TYPES"])
def test_an_empty_theory_lacks_what_must_be_there(code: str) -> None:
    assert check(code, EMPTY).result == "failed"


@pytest.mark.parametrize("content", [EMPTY, theory("G1"), theory("AC1 -> OP1", indicators={"IN1": "OP1"})])
def test_a_theory_that_measures_no_effect_is_not_ready_to_measure(content: Content) -> None:
    found = check("GB_INDICATORS", content)
    assert (found.result, found.refs, found.actual, found.expected) == ("failed", [], 0, 1)
    assert check("GB_INDICATORS", content, make_observations(waived={"GB_INDICATORS": []})).result == "waived"


def test_waivers_for_every_outcome_do_not_make_up_for_a_theory_that_measures_nothing() -> None:
    two = theory(CHAIN, "OC2 -> G1")
    found = check("GB_INDICATORS", two, make_observations(waived={"GB_INDICATORS": ["OC1"]}))
    assert (found.result, found.refs) == ("failed", ["OC2"])
    every = make_observations(waived={"GB_INDICATORS": ["OC1", "OC2"]})
    assert check("GB_INDICATORS", two, every).result == "failed"
    assert check("GB_INDICATORS", theory(CHAIN, "OC2 -> G1", indicators={"IN1": "G1"}), every).result == "waived"


def test_strict_wants_exactly_one_goal() -> None:
    two = theory("OC1 -> G1", "OC1 -> G2")
    assert check("GA_GOAL_COUNT", two).result == "passed"
    found = check("GA_GOAL_COUNT", two, profile=Profile.STRICT)
    assert (found.result, found.refs, found.actual, found.expected) == ("failed", ["G1", "G2"], 2, 1)


def test_numbers_say_how_many_hold_of_how_many() -> None:
    found = check("GA_MECHANISM", BROKEN["GA_MECHANISM"].content)
    assert (found.actual, found.expected) == (1, 3)


def test_a_cycle_is_named_and_the_next_one_when_somebody_answers_for_it() -> None:
    content = BROKEN["GA_CYCLE"].content
    assert check("GA_CYCLE", content).actual == ["OC1", "OC2", "OC1"]

    found = check("GA_CYCLE", content, make_observations(waived={"GA_CYCLE": ["OC1", "OC2"]}))

    assert (found.result, found.refs, found.actual) == (
        "failed",
        ["OP1", "OP2", "OP3"],
        ["OP1", "OP2", "OP3", "OP1"],
    )
    feedback = theory(CHAIN, "OC1 -> OC2", "OC2->OC1/FEEDBACK")
    assert check("GA_CYCLE", feedback).result == "passed"


def test_facts_committed_in_part_are_a_warning_in_every_profile() -> None:
    for profile in (Profile.STANDARD, Profile.STRICT):
        outside = ExternalFacts(context=ContextFacts(run="run", is_partial=True))
        found = check("GA_CONTEXT", whole_theory(), profile=profile, outside=outside)
        assert (found.result, found.severity) == ("failed", "warn")


def test_a_decision_counts_unless_the_assumption_was_refuted_again_since() -> None:
    content = theory(CHAIN, assumptions={"AS1": "OC1"})
    refuted = make_observations(reviewed={"AS1": "refuted"}, rev=3)

    def result(*before: int, after: tuple[int, ...] = ()) -> str:
        records = [
            *(make_observations(decided=["AS1"], rev=rev) for rev in before),
            refuted,
            *(make_observations(decided=["AS1"], rev=rev) for rev in after),
        ]
        return check("GA_REFUTED", content, join_observations(*records)).result

    assert [result(), result(2), result(after=(3,)), result(2, after=(4,))] == ["failed", "failed", "passed", "passed"]
    held = join_observations(refuted, make_observations(reviewed={"AS1": "holding"}, rev=4))
    assert check("GA_REFUTED", content, held).result == "passed"
    again = join_observations(
        refuted, make_observations(decided=["AS1"], rev=4), make_observations(reviewed={"AS1": "refuted"}, rev=5)
    )
    assert check("GA_REFUTED", content, again).result == "failed"


def test_an_assumption_on_feedback_is_on_no_path_to_a_goal() -> None:
    content = theory(CHAIN, "G1->AC1/FEEDBACK", assumptions={"AS1": "G1->AC1/FEEDBACK"})
    assert check("GA_REFUTED", content, make_observations(reviewed={"AS1": "refuted"})).result == "not_applicable"


def test_feedback_is_no_cause_in_the_sense_of_any_rule() -> None:
    whole = whole_theory()
    back = theory("G1->AC1/FEEDBACK", edges={"G1->AC1/FEEDBACK": {"confidence": "low"}}).edges
    with_feedback = whole._replace(edges=[*whole.edges, *back])
    assert [(one.code, one.result) for one in run("A", with_feedback, profile=Profile.STRICT).checks] == [
        (one.code, one.result) for one in run("A", whole, profile=Profile.STRICT).checks
    ]


def test_what_is_not_waivable_is_what_the_database_refuses() -> None:
    assert {"GA_RLS", "GA_DUP_EDGE", "GA_SELF_EDGE", "GA_CROSS_VERSION"} == NOT_WAIVABLE
    assert not is_waivable("GA_NO_SUCH")
    assert is_waivable("GB_FACTS")


def test_nobody_can_tell_is_no_failure() -> None:
    for code in ("GB_FACTS", "GB_WORK", "GA_CONTEXT", "GA_RLS"):
        assert check(code, whole_theory(), outside=ExternalFacts()).result == "not_applicable"


def test_equal_titles_of_two_types_are_a_warning_in_every_profile() -> None:
    content = theory(CHAIN, nodes={"OC1": {"title": "Rain"}, "OP1": {"title": "rain"}})
    for profile in (Profile.STANDARD, Profile.STRICT):
        found = check("GA_TITLE", content, profile=profile)
        assert (found.result, found.severity, found.refs) == ("failed", "warn", ["OC1", "OP1"])


def test_a_version_that_was_published_before_a_check_existed_is_not_asked_it() -> None:
    content = theory(
        CHAIN,
        nodes={"OC1": {"title": "Rain", "metadata": {"parent_id": "G1"}}, "OP1": {"title": "rain"}},
    )
    before = run("A", content, outside=ExternalFacts(edition=0))
    results = {one.code: one.result for one in before.checks}

    assert "GA_STRUCTURE" not in results
    assert results["GA_TITLE"] == "passed"
    assert check("GA_STRUCTURE", content).result == "failed"
