"""Running a gate: passed or not, a score, and the same bytes for the same theory."""

from __future__ import annotations

from random import Random

import msgspec
import pytest
from msgspec import UNSET
from msgspec.structs import replace

from groundplan.purpose.gates import run as run_module
from groundplan.purpose.gates.gates import EDITION, NOTHING_TO_CHECK, Gate, PublishedFacts, ResultCounts
from groundplan.purpose.model import Content, Profile, build_content, compute_content_hash
from tests.purpose.gates.cases import BROKEN, CHAIN, EMPTY, FINE, UNKNOWN, check, gate_of, run
from tests.purpose.theories import TODAY, join_observations, make_observations, theory, whole_theory


@pytest.mark.parametrize("profile", list(Profile))
def test_a_whole_theory_passes_both_gates_with_the_highest_score(profile: Profile) -> None:
    for result in (run("A", whole_theory(), profile=profile), run("B", whole_theory(), profile=profile)):
        assert (result.passed, result.score, result.profile) == (True, 1.0, profile)
        assert result.content_hash == compute_content_hash(whole_theory())


def test_what_only_warns_lowers_the_score_and_does_not_block() -> None:
    whole = whole_theory()
    bare = whole._replace(edges=[replace(edge, mechanism=None) for edge in whole.edges])
    result = run("A", bare)
    applicable = [one for one in result.checks if one.result != "not_applicable"]
    assert (result.passed, result.score) == (True, round((len(applicable) - 1) / len(applicable), 3))
    assert not run("A", bare, profile=Profile.STRICT).passed


def test_what_somebody_answers_for_does_not_block_and_counts_as_not_passed() -> None:
    content = theory(CHAIN, indicators={"IN1": "OC1"})
    blocked = run("B", content)
    codes = {one.code: one.refs for one in blocked.checks if one.result == "failed"}
    waived = run("B", content, make_observations(waived=codes))
    assert (blocked.passed, waived.passed, waived.score) == (False, True, blocked.score)
    assert {one.code for one in waived.checks if one.result == "waived"} == set(codes)


@pytest.mark.parametrize("gate", ["A", "B"])
@pytest.mark.parametrize("profile", list(Profile))
def test_an_empty_theory_passes_no_gate(gate: Gate, profile: Profile) -> None:
    assert not run(gate, EMPTY, profile=profile, outside=UNKNOWN).passed


def test_a_gate_in_which_no_check_applies_does_not_pass_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_module, "get_severities", lambda *_: {"GB_FACTS": "block"})
    result = run("B", whole_theory(), outside=BROKEN["GB_FACTS"].nothing_outside)
    assert (result.passed, result.score, result.message) == (False, None, NOTHING_TO_CHECK)
    assert run("B", whole_theory(), outside=FINE).message is UNSET


def test_counts_are_of_all_checks_also_where_those_that_passed_are_left_out() -> None:
    content = theory(CHAIN, "OC2 -> G1", indicators={"IN1": "OC2"})
    result = run("B", content, make_observations(waived={"GB_PLAN": []}), outside=UNKNOWN)
    short = result.without_passed()
    assert {one.code: one.result for one in short.checks} == {
        "GB_BASELINE": "failed",
        "GB_INDICATORS": "failed",
        "GB_PLAN": "waived",
        "GB_TARGET": "failed",
    }
    assert short.counts == ResultCounts(passed=0, failed=3, waived=1, not_applicable=3)
    assert sum(msgspec.structs.astuple(short.counts)) == len(result.checks)


def test_who_answers_for_some_leaves_the_others() -> None:
    content = theory("OP1 -> OC1 -> G1", "OP1 -> OC2 -> G1", "OP1 -> OC3 -> G1")
    found = check("GA_OUTCOME_COVERAGE", content, make_observations(waived={"GA_OUTCOME_COVERAGE": ["OC2", "OC9"]}))
    assert (found.result, found.refs) == ("failed", ["OC1", "OC3"])
    assert found.fix == "purpose.edit with add_indicator on OC1, OC3"


def test_a_waiver_counts_up_to_its_day_and_the_last_one_decides() -> None:
    content = theory("OC1 -> G1")

    def result(*dues: str, refs: list[str], today: str = TODAY) -> str:
        waivers = [
            make_observations(waived={"GA_OUTCOME_COVERAGE": refs}, due=due, rev=rev)
            for rev, due in enumerate(dues, start=1)
        ]
        return check("GA_OUTCOME_COVERAGE", content, join_observations(*waivers), today=today).result

    for refs in (["OC1"], list[str]()):
        assert result("2026-11-15", refs=refs) == "waived"
        assert result("2026-11-15", refs=refs, today="2026-11-16") == "failed"
        assert result("2026-12-31", "2026-11-14", refs=refs) == "failed"
        assert result("2026-11-14", "2026-12-31", refs=refs) == "waived"


def test_a_waiver_of_one_check_says_nothing_about_another() -> None:
    content = theory("OC1 -> G1")
    assert check("GA_OUTCOME_COVERAGE", content, make_observations(waived={"GA_MECHANISM": []})).result == "failed"


def shuffle(content: Content, random: Random) -> Content:
    rows = [list(content.nodes.values()), list(content.edges), list(content.assumptions.values())]
    rows.append(list(content.indicators.values()))
    for some in rows:
        random.shuffle(some)  # type: ignore[arg-type]  # each list of rows of its own sort
    return build_content(*rows)  # type: ignore[arg-type]  # the same


def test_the_same_theory_gives_the_same_bytes_whatever_order_it_came_in() -> None:
    random = Random(1)  # noqa: S311 - the same orders every time
    for code, broken in BROKEN.items():
        for profile in Profile:
            before = run(gate_of(code), broken.content, broken.observations, profile=profile)
            again = run(before.gate, shuffle(broken.content, random), broken.observations, profile=profile)
            assert msgspec.json.encode(again) == msgspec.json.encode(before)


def test_content_that_was_never_put_in_order_is_judged_alike() -> None:
    for code, broken in BROKEN.items():
        nodes, edges, assumptions, indicators, turned = broken.content
        unordered = Content(
            dict(reversed(nodes.items())),
            edges[::-1],
            dict(reversed(assumptions.items())),
            dict(reversed(indicators.items())),
            turned,
        )
        expected = run(gate_of(code), broken.content, broken.observations)
        assert run(gate_of(code), unordered, broken.observations).checks == expected.checks


def test_a_theory_with_more_ways_than_can_be_counted_is_judged() -> None:
    size = 50  # ten layers; each node has ten effects in the next
    layers = [[f"OC{layer * size + place}" for place in range(size)] for layer in range(10)]
    some = theory("OC0 -> G1")
    first = some.nodes["OC0"]
    nodes = [some.nodes["G1"], *(replace(first, key=key, title=key) for layer in layers for key in layer)]
    drawn = [
        replace(some.edges[0], source=source, target=other[(place * 7 + step) % size])
        for one, other in zip(layers, [*layers[1:], ["G1"] * size], strict=True)
        for place, source in enumerate(one)
        for step in range(10 if other[0] != "G1" else 1)
    ]
    result = run("A", build_content(nodes, drawn, [], []))
    assert {one.code: one.result for one in result.checks}["GA_CYCLE"] == "passed"
    assert {one.code: one.result for one in result.checks}["GA_ORPHANS"] == "passed"


def test_facts_that_were_stored_without_an_edition_of_the_checks_are_of_the_first() -> None:
    stored = msgspec.json.encode(FINE)
    former = {name: value for name, value in msgspec.json.decode(stored).items() if name != "edition"}

    assert msgspec.json.decode(stored, type=PublishedFacts).edition == EDITION
    assert msgspec.json.decode(msgspec.json.encode(former), type=PublishedFacts).edition == 0
