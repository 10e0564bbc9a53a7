"""Nothing succeeds in silence that does nothing or overrides somebody."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import UNSET

from groundplan.kernel.errors import Invalid
from groundplan.work.answers import WARNINGS_MAX, Warnings
from tests.errors import error_of
from tests.manual_clock import ManualClock
from tests.work.client import WorkClient


@pytest.mark.parametrize("type_", ["blocks", "Blocks", "precedes", "required-by"])
def test_an_edge_from_what_comes_first_is_told_to_turn_round(work: WorkClient, type_: str) -> None:
    work.plan("a\nb")

    [warning] = work.connect("a: b", type=type_).warnings

    assert warning.startswith(f"{work['a']}: ")
    assert "'depends_on' with from and to swapped" in warning


@pytest.mark.parametrize("type_", ["depend_on", "dependsOn", "depends", "blocked_by", "requires", "waits for"])
def test_an_edge_that_nearly_is_a_dependency_is_told_the_right_type(work: WorkClient, type_: str) -> None:
    work.plan("a\nb")

    [warning] = work.connect("a: b", type=type_).warnings

    assert warning.endswith("use 'depends_on'")


def test_equal_warnings_are_one_line_with_their_number(work: WorkClient) -> None:
    work.plan("a\nb\nc")

    assert work.connect("a: b", "b: c", "c: a", type="needs").warnings == [
        f"{work['a']} and 2 more: edge type 'needs' has no effect on the order; use 'depends_on'"
    ]


@pytest.mark.parametrize("type_", ["depends_on", "relates_to", "smells like", "implements", "blocks review of", "x"])
def test_a_dependency_and_a_type_that_promises_no_order_need_no_warning(work: WorkClient, type_: str) -> None:
    work.plan("a\nb")

    assert work.connect("a: b", type=type_).warnings is UNSET


def test_a_removed_edge_needs_no_warning(work: WorkClient) -> None:
    work.plan("a\nb")
    work.connect("a: b", type="blocks")

    assert work.disconnect("a: b", type="blocks").warnings is UNSET


def test_a_resolved_node_that_is_to_wait_for_an_open_one_waits_for_nothing_and_the_answer_says_so(
    work: WorkClient,
) -> None:
    work.plan("a\nb\nc")
    work.resolve("a", "b")

    [warning] = work.connect("a: c").warnings

    assert warning.startswith(f"{work['a']}: is resolved, so it waits for nothing")
    assert work.connect("a: b").warnings is UNSET
    assert work.disconnect("a: c").warnings is UNSET


def test_resolving_before_a_dependency_warns_unless_the_same_call_resolves_it(work: WorkClient) -> None:
    work.plan("a\nb: a\nc\nd: c")

    assert f"{work['b']}: resolved while its dependencies are open" in work.resolve("b").warnings
    assert not [line for line in work.resolve("d", "c").warnings if "dependencies" in line]


def test_resolving_what_is_on_hold_or_held_back_by_what_is_above_it_warns(work: WorkClient) -> None:
    work.open(policies={"inherit_dependencies": True})
    work.plan("a\nphase: a\n  b\nheld")
    task = {"containerType": "task", "id": work["held"], "version": work.node("held").rev}
    work.call("container.block", **task, blockedBy="NO_OP", blockedReason="no money")

    assert f"{work['b']}: resolved while a node above it waits" in work.resolve("b").warnings
    assert f"{work['held']}: resolved while it is on hold" in work.resolve("held").warnings


def test_resolving_what_somebody_else_has_claimed_names_them(work: WorkClient) -> None:
    work.plan("a")
    work.by("robin").claim()

    assert f"{work['a']}: resolved while 'robin' holds its claim" in work.resolve("a").warnings


def test_dropping_what_others_have_claimed_names_them_for_the_node_and_all_below(work: WorkClient) -> None:
    work.plan("phase\n  a\n    deep\n  b\n  c\n  d\nother")
    for who, name in {"ben": "deep", "cleo": "b"}.items():
        work.by(who).call("work.claim", node_id=work[name])
    for name in ("c", "other"):
        work.by("ben").call("work.claim", node_id=work[name])
    work.call("work.claim", node_id=work["d"])

    assert work.drop("phase").warnings == [
        f"{work['deep']} and 1 more: resolved while 'ben' holds its claim",
        f"{work['b']}: resolved while 'cleo' holds its claim",
    ]
    assert work.drop("other").warnings == [f"{work['other']}: resolved while 'ben' holds its claim"]


def test_merging_what_somebody_else_has_claimed_names_them(work: WorkClient) -> None:
    work.plan("a\nb\nc")
    work.by("ben").claim(count=2)

    assert work.merge("a", "b").warnings == [f"{work['a']}: merged while 'ben' holds its claim"]
    assert work.merge("c", "b").warnings is UNSET  # the claim of the target stays


def test_a_parent_that_is_resolved_with_its_last_child_names_who_has_claimed_it(work: WorkClient) -> None:
    work.open(policies={"auto_resolve_parents": True, "evidence": "off"})
    work.plan("a")
    work.by("ben").claim()
    work.plan("child", under="a")

    answer = work.resolve("child")

    assert answer.auto_resolved == [work["a"]]
    assert answer.warnings == [f"{work['a']}: resolved while 'ben' holds its claim"]


def test_claims_that_are_over_or_ones_own_end_without_a_warning(work: WorkClient, clock: ManualClock) -> None:
    work.plan("lapsed\n  below\nmerged\ntarget\nown")
    work.by("ben").claim(count=3)
    clock.move(hours=2)
    work.call("work.claim", node_id=work["own"])

    assert [work.drop(name).warnings for name in ("lapsed", "own")] == [UNSET, UNSET]
    assert work.merge("merged", "target").warnings is UNSET


def test_enforced_claims_refuse_a_drop_and_a_merge_and_end_nothing(work: WorkClient) -> None:
    work.open(policies={"claims": "enforced"})
    work.plan("phase\n  a\nb")
    work.by("ben").claim()

    for refused in (lambda: work.drop("phase"), lambda: work.merge("a", "b")):
        assert error_of(refused).code == "claimed_by_another"
    assert work.node("a").properties["_claimed_by"] == "ben"


def test_a_child_under_a_waiting_node_is_not_held_back_and_the_answer_says_so(work: WorkClient) -> None:
    work.plan("a\nb: a")

    planned = work.plan("c\nd", each={name: {"parent_ref": work["b"]} for name in "cd"})

    [warning] = planned.warnings
    assert warning.startswith(f"c and 1 more: its parent {work['b']} waits")
    assert work.plan("e: a\n  f").warnings == [warning.replace("c and 1 more", "f").replace(work["b"], "e")]
    work.open(policies={"inherit_dependencies": True})
    assert work.plan("g", each={"g": {"parent_ref": work["b"]}}).warnings is UNSET


@pytest.mark.parametrize(
    ("filter_", "warnings"),
    [
        ({"area": "ui"}, UNSET),
        ({"area": "nowhere"}, UNSET),
        ({"area": None}, UNSET),
        ({"colour": "red"}, ["filter 'colour': no node has this property"]),
        ({"colour": None}, ["filter 'colour': no node has this property"]),
        ({"colour": 1, "size": 2}, ["filter 'colour', 'size': no node has these properties"]),
        ({"colour": 1, "area": "ui"}, ["filter 'colour': no node has this property"]),
        (dict.fromkeys("uvwxyz"), ["filter 'u', 'v', 'w', 'x', 'y' and 1 more: no node has these properties"]),
    ],
)
def test_a_filter_for_a_property_that_no_node_has_is_pointed_out(work: WorkClient, filter_: Any, warnings: Any) -> None:
    work.plan("a\nb", each={"a": {"properties": {"area": "ui"}}})

    assert work.call("work.next", project=work.project, filter=filter_).warnings == warnings


@pytest.mark.parametrize("value", ["robin", None])
def test_a_filter_for_what_is_only_shown_is_told_what_finds_it(work: WorkClient, value: str | None) -> None:
    work.plan("a\nb")
    work.by("robin").claim()

    wanted = {"_claimed_by": value, "_held": value, "_hold": None, "colour": None}
    answer = work.call("work.next", project=work.project, filter=wanted)

    assert answer.warnings == [
        "filter '_held': shown, but cannot be filtered here; work.query finds nodes by claimed_by",
        "filter '_hold': shown, but cannot be filtered here; work.query finds nodes by is_blocked",
        "filter 'colour': no node has this property",
    ]
    assert work.query(claimed_by="robin") == ["a"]


@pytest.mark.parametrize("word", ["done", " Done ", "COMPLETED", "closed"])
def test_a_state_that_means_done_does_not_finish_a_node_and_the_answer_says_so(work: WorkClient, word: str) -> None:
    work.plan("a")

    assert work.update("a", state=word).warnings == [
        f"{work['a']}: a state does not finish a node; resolved: true does"
    ]
    assert not work.node("a").resolved
    finished = work.update("a", state=word, resolved=True, add_evidence=[{"type": "note", "ref": "x"}])
    assert finished.warnings is UNSET


def test_status_sent_as_a_field_is_answered_with_what_finishes_a_node(work: WorkClient) -> None:
    work.plan("a")

    refusal = error_of(lambda: work.update("a", status="done"))

    assert isinstance(refusal, Invalid)
    assert refusal.code == "unknown_argument"
    assert "resolved: true" in refusal.message


def test_a_merge_names_the_properties_that_it_leaves_behind(work: WorkClient) -> None:
    given = {"a": {"area": "ui", "size": 1, "same": 2}, "b": {"area": "api", "same": 2}}
    work.plan("a\nb\nc", each={name: {"properties": one} for name, one in given.items()})

    assert work.merge("a", "b").warnings == [
        f"{work['a']}: its properties 'area', 'size' are not taken over by {work['b']}"
    ]
    assert work.merge("c", "b").warnings is UNSET


def test_there_are_at_most_five_lines_and_the_last_counts_the_rest() -> None:
    warnings = Warnings()
    for number in range(7):
        warnings.add("a", f"problem {number}")

    lines = warnings.lines()

    assert lines == [*(f"a: problem {number}" for number in range(4)), "3 more warnings"]
    assert len(lines) == WARNINGS_MAX
