"""graph_plan: many nodes at once, in any order, all or none."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from msgspec import UNSET

from groundplan.kernel.errors import Invalid, NotFound, RuleViolated
from tests.engines import Engine
from tests.errors import error_of
from tests.work.cases import try_each
from tests.work.client import WorkClient

EVERYTHING = "SELECT (SELECT count(*) FROM work_nodes), (SELECT count(*) FROM events), rev FROM projects"


def is_cycle(path: list[str], waits: dict[str, str]) -> bool:
    """Return whether a path is one round of these dependencies."""
    return path[0] == path[-1] and all(waits[one] == after for one, after in pairwise(path))


def test_a_planned_node_has_every_field_of_a_node(work: WorkClient) -> None:
    given = {"properties": {"priority": 2, "area": "ui"}, "context_links": ["src/a.py", "https://example.org/b"]}
    work.plan("phase\n  a", each={"a": given})

    node = work.node("a")

    assert (node.id, node.rev, node.parent, node.summary) == (work["a"], 1, work["phase"], "a")
    assert (node.resolved, node.state, node.evidence) == (False, UNSET, [])
    assert (node.properties, node.context_links) == (given["properties"], given["context_links"])
    assert node.created_at == node.updated_at == "2026-03-01T09:00:00.000Z"
    assert node.created_by == "ada"


def test_the_answer_gives_each_ref_its_id_in_the_order_of_the_request(work: WorkClient) -> None:
    planned = work.plan("b\na\nc")

    assert [one.ref for one in planned.created] == ["b", "a", "c"]
    assert len({one.id for one in planned.created}) == 3
    assert (planned.reopened, planned.warnings) == (UNSET, UNSET)


def test_refs_may_point_forward(work: WorkClient) -> None:
    nodes = [
        {"ref": "b", "summary": "b", "parent_ref": "phase", "depends_on": ["a"]},
        {"ref": "a", "summary": "a", "parent_ref": "phase"},
        {"ref": "phase", "summary": "phase"},
    ]

    planned = work.call("work.plan", project="atlas", nodes=nodes)
    work.ids.update({one.ref: one.id for one in planned.created})

    assert work.node("b").parent == work.node("a").parent == work["phase"]
    assert work.waits_for("b") == ["a"]
    assert work.next() == ["a"]


def test_parents_and_dependencies_may_be_nodes_that_are_there_already(work: WorkClient) -> None:
    work.plan("phase\n  a")

    work.plan("b: a", under="phase")

    assert work.node("b").parent == work["phase"]
    assert work.waits_for("b") == ["a"]


def test_a_node_without_a_parent_goes_under_the_root(work: WorkClient) -> None:
    work.plan("a")

    assert work.node("a").parent == work["root"]


def test_without_a_project_the_parents_say_where_the_nodes_belong(work: WorkClient) -> None:
    work.plan("phase")

    work.plan("a\n  b", under="phase", project=None)

    assert work.node("a").parent == work["phase"]
    assert work.node("b").parent == work["a"]


def test_with_neither_a_project_nor_a_parent_a_node_is_refused_and_both_are_named(work: WorkClient) -> None:
    work.plan("phase")
    nodes = [
        {"ref": "a", "summary": "a", "parent_ref": work["phase"]},
        {"ref": "b", "summary": "b", "depends_on": [work["phase"]]},
    ]

    refusal = error_of(lambda: work.call("work.plan", nodes=nodes))

    assert (refusal.code, refusal.details) == ("no_parent", {"field": "nodes[1].parent_ref"})
    assert "parent_ref" in refusal.message
    assert "project" in refusal.message


def test_nodes_that_are_only_below_each_other_are_a_cycle_also_without_a_project(work: WorkClient) -> None:
    nodes = [{"ref": ref, "summary": ref, "parent_ref": parent} for ref, parent in (("a", "b"), ("b", "a"))]

    refusal = error_of(lambda: work.call("work.plan", nodes=nodes))

    assert refusal.code == "cycle_detected"
    assert set(refusal.details["path"]) == {"a", "b"}


def test_a_ref_shadows_an_existing_node_of_the_same_name_within_its_plan(work: WorkClient) -> None:
    work.plan("old")
    nodes = [{"ref": work["old"], "summary": "new"}, {"ref": "b", "summary": "b", "depends_on": [work["old"]]}]

    shadow, b = work.call("work.plan", project="atlas", nodes=nodes).created

    assert [one.node.id for one in work.context(b.id).depends_on] == [shadow.id]
    assert shadow.id != work["old"]


def test_two_nodes_of_one_plan_cannot_have_the_same_ref(work: WorkClient) -> None:
    refusal = error_of(lambda: work.plan("a\nb\na"))

    assert isinstance(refusal, Invalid)
    assert (refusal.code, refusal.details["field"]) == ("duplicate_ref", "nodes[2].ref")


@try_each("size", [1, 2, 5])
def test_a_cycle_in_a_plan_is_refused_and_the_error_names_the_path(work: WorkClient, size: int) -> None:
    waits = {f"n{place}": f"n{(place + 1) % size}" for place in range(size)}
    outline = "\n".join(f"{one}: {other}" for one, other in waits.items())

    refusal = error_of(lambda: work.plan(f"before\n{outline}\nbehind: n0"))

    assert isinstance(refusal, RuleViolated)
    assert refusal.code == "cycle_detected"
    assert len(refusal.details["path"]) == size + 1
    assert is_cycle(refusal.details["path"], waits)


def test_parents_that_go_round_in_a_circle_are_refused(work: WorkClient) -> None:
    nodes = [{"ref": one, "summary": one, "parent_ref": other} for one, other in ("ab", "bc", "ca")]

    refusal = error_of(lambda: work.call("work.plan", project="atlas", nodes=nodes))

    assert refusal.code == "cycle_detected"
    assert sorted(refusal.details["path"][1:]) == ["a", "b", "c"]


@pytest.mark.parametrize("above", ["root", "phase", "step"])
def test_a_node_cannot_depend_on_a_node_above_it(work: WorkClient, above: str) -> None:
    work.plan("phase\n  step")

    refusal = error_of(lambda: work.plan(f"a\n  b: {work[above]}", under="step"))

    between = ["root", "phase", "step"][["root", "phase", "step"].index(above) :]
    path = ["b", *(work[name] for name in between), "a", "b"]
    assert (refusal.code, refusal.details["path"]) == ("cycle_detected", path)


def test_a_node_cannot_depend_on_a_node_above_it_in_the_same_plan(work: WorkClient) -> None:
    refusal = error_of(lambda: work.plan("a\n  b\n    c: a"))

    assert (refusal.code, refusal.details["path"]) == ("cycle_detected", ["c", "a", "b", "c"])


BAD_ITEMS: dict[str, dict[str, Any]] = {
    "an unknown parent": {"parent_ref": "oooooo"},
    "an unknown dependency": {"depends_on": ["oooooo"]},
    "a dependency on itself": {"depends_on": ["bad"]},
    "a reserved property": {"properties": {"_claimed_by": "me"}},
    "properties that are too large": {"properties": {"text": "x" * 33_000}},
    "a summary that is empty": {"summary": ""},
    "a ref that is taken": {"ref": "good"},
    "a field that is unknown": {"parent": "good"},
}


@pytest.fixture
def project_with_resolved_node(work: WorkClient) -> WorkClient:
    """Ada at her project with a resolved node."""
    work.plan("done")
    work.resolve("done")
    return work


@try_each("wrong", BAD_ITEMS)
def test_a_plan_with_one_bad_item_changes_nothing(
    engine: Engine, project_with_resolved_node: WorkClient, wrong: str
) -> None:
    before = engine.as_owner(EVERYTHING)

    error_of(lambda: project_with_resolved_node.plan("good\nmore\nbad", under="done", each={"bad": BAD_ITEMS[wrong]}))

    assert engine.as_owner(EVERYTHING) == before
    assert project_with_resolved_node.node("done").resolved


def test_an_unknown_node_in_a_plan_is_not_found(work: WorkClient) -> None:
    refusal = error_of(lambda: work.plan("a: oooooo"))

    assert isinstance(refusal, NotFound)
    assert refusal.details["ref"] == "oooooo"


def test_a_new_child_reopens_everything_above_it_that_was_resolved(work: WorkClient) -> None:
    work.plan("phase\n  step\n    a\nafter: phase")
    work.resolve("a", "step", "phase", "after")

    planned = work.plan("b", under="step", decision="one thing was forgotten")

    assert work.names(planned.reopened) == ["step", "phase"]
    assert work.filter_open(["phase", "step", "a", "b", "after"]) == ["phase", "step", "b"]
    assert [one.decision for one in work.history("phase")][-1] == "one thing was forgotten"
    assert work.next() == ["b"]


def test_what_waits_for_a_reopened_node_is_blocked_again(work: WorkClient) -> None:
    work.plan("phase\n  a\nafter: phase")
    work.resolve("a", "phase")
    assert work.next() == ["after"]

    work.plan("b", under="phase")

    assert work.next() == ["b"]
    assert work.query(is_blocked=True) == ["after"]


def test_a_new_child_of_a_resolved_root_reopens_it(work: WorkClient) -> None:
    work.plan("a")
    work.resolve("a", "root")

    assert work.names(work.plan("b").reopened) == ["root"]
    assert work.counts() == (3, 1, 2, 0, 1)


def test_a_dependency_on_what_is_done_holds_nobody_back(work: WorkClient) -> None:
    work.plan("a")
    work.resolve("a")

    work.plan("b: a")

    assert work.next() == ["b"]
    assert work.counts() == (3, 1, 2, 0, 1)


def test_a_dependency_that_is_named_twice_counts_once(work: WorkClient) -> None:
    work.plan("a\nb: a, a")

    assert work.waits_for("b") == ["a"]
    work.resolve("a")
    assert work.next() == ["b"]


def test_a_dependency_that_is_named_by_its_id_and_by_the_beginning_of_it_counts_once(work: WorkClient) -> None:
    work.plan("a")

    work.plan(f"b: a, {work['a'][:5]}")

    assert work.waits_for("b") == ["a"]
    work.resolve("a")
    assert work.next() == ["b"]


def test_a_plan_says_nothing_about_newly_actionable_nodes(work: WorkClient) -> None:
    assert not hasattr(work.plan("a\nb: a"), "newly_actionable")


def test_a_property_of_null_is_none(work: WorkClient) -> None:
    work.plan("a", each={"a": {"properties": {"area": None, "size": 1}}})

    assert work.node("a").properties == {"size": 1}


def test_a_reserved_property_is_refused_by_its_place(work: WorkClient) -> None:
    refusal = error_of(lambda: work.plan("a\nb", each={"b": {"properties": {"_held": True}}}))

    assert (refusal.code, refusal.details["field"]) == ("reserved_property", "nodes[1].properties._held")


def test_a_priority_that_is_no_number_is_kept_with_a_warning(work: WorkClient) -> None:
    given = {"a": "high", "b": True, "c": 1}

    planned = work.plan("a\nb\nc", each={name: {"properties": {"priority": one}} for name, one in given.items()})

    assert planned.warnings == ["a and 1 more: priority is not a number and ranks as absent"]
    assert {name: work.node(name).properties["priority"] for name in given} == given


def test_a_wide_and_deep_plan_keeps_every_parent(work: WorkClient) -> None:
    work.plan("\n".join(" " * depth + f"level {depth}" for depth in range(200)))

    assert work.next() == ["level 199"]
    (offer,) = work.offers()
    assert offer.ancestors[-1].id == work["level 198"]
