"""A part of the dependency graph is bounded, its links say what is implied, and what is left out is counted exactly."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.kernel.errors import Invalid, MixedProjects, NotFound
from groundplan.work.graph.dependency_graph import find_implied
from tests.work.client import WorkClient

PLAN = """
    survey
    phase
      drill: survey
      pump: drill, survey
      test: pump
    rest
"""


def read(work: WorkClient, **given: Any) -> Any:
    return work.call("work.dependencies", project=work.project, **given)


def names(work: WorkClient, graph: Any) -> list[str]:
    return [work.name(node.id) for node in graph.nodes]


def links(work: WorkClient, graph: Any) -> dict[tuple[str, str], bool]:
    return {(work.name(link.node), work.name(link.waits_for)): link.implied for link in graph.links}


def test_the_open_nodes_that_wait_are_read_with_what_they_wait_for(work: WorkClient) -> None:
    work.plan(PLAN)
    graph = read(work)

    assert sorted(names(work, graph)) == ["drill", "pump", "survey", "test"]
    assert links(work, graph) == {
        ("drill", "survey"): False,
        ("pump", "drill"): False,
        ("pump", "survey"): True,  # by way of drill
        ("test", "pump"): False,
    }
    assert not graph.left_out
    states = {work.name(node.id): str(node.state) for node in graph.nodes}
    assert states == {"survey": "ready", "drill": "blocked", "pump": "blocked", "test": "blocked"}


def test_what_is_left_out_is_counted_exactly(work: WorkClient) -> None:
    work.plan("a\n" + "\n".join(f"n{n}: a" for n in range(9)))
    graph = read(work, limit=4)

    assert names(work, graph) == ["n0", "a", "n1", "n2"]
    assert graph.left_out == {"links": 6, "blocked": 6}
    (hub,) = [node for node in graph.nodes if work.name(node.id) == "a"]
    assert (hub.waits_for, hub.waits_for_open, hub.holds_up) == (0, 0, 9)


def test_around_a_node_is_its_lineage_and_not_its_cousins(work: WorkClient) -> None:
    work.plan(PLAN)
    work.plan("cousin: survey")

    assert names(work, read(work, node=work["drill"])) == ["drill", "survey", "pump", "test"]
    assert names(work, read(work, node=work["pump"], direction="waits_for")) == ["pump", "survey", "drill"]
    assert names(work, read(work, node=work["pump"], direction="holds_up")) == ["pump", "test"]
    assert names(work, read(work, node=work["rest"])) == ["rest"]
    assert read(work, node=work["drill"]).left_out == {"links": 1}  # survey also holds up the cousin


def test_the_nearest_nodes_come_first_and_the_open_ones_of_them(work: WorkClient) -> None:
    work.plan("done\nopen\nfar\nmiddle: far\nhere: done, open, middle")
    work.resolve("done")

    assert names(work, read(work, node=work["here"], limit=3)) == ["here", "open", "middle"]
    assert names(work, read(work, node=work["here"])) == ["here", "open", "middle", "done", "far"]


def test_a_branch_is_a_node_with_everything_below_it(work: WorkClient) -> None:
    work.plan(PLAN)
    work.plan("other\nlater: other")

    assert sorted(names(work, read(work, ancestor=work["phase"]))) == ["drill", "pump", "survey", "test"]
    assert names(work, read(work, ancestor=work["later"])) == ["later", "other"]
    assert read(work, ancestor=work["rest"]).nodes == []


def test_nodes_that_wait_only_because_one_above_them_does_are_counted_and_not_drawn(work: WorkClient) -> None:
    work.open(policies={"inherit_dependencies": True})
    work.plan("before\nphase: before\n  a\n  b")

    for part in ({}, {"ancestor": work["phase"]}):
        graph = read(work, **part)
        assert sorted(names(work, graph)) == ["before", "phase"]
        assert graph.left_out == {"blocked": 2}


def test_chosen_nodes_come_in_their_order_with_the_links_between_them(work: WorkClient) -> None:
    work.plan(PLAN)
    graph = read(work, nodes=[work["test"], work["rest"], work["pump"], work["test"]])

    assert names(work, graph) == ["test", "rest", "pump"]
    assert links(work, graph) == {("test", "pump"): False}


def test_without_dependencies_there_is_nothing_to_draw(work: WorkClient) -> None:
    work.plan("a\nb")

    assert (read(work).nodes, read(work).links) == ([], [])


def test_a_part_of_another_project_or_two_parts_at_once_are_refused(work: WorkClient) -> None:
    work.plan(PLAN)
    work.call("project.create", name="borealis")
    with pytest.raises(MixedProjects):
        work.call("work.dependencies", project="borealis", node=work["drill"])
    with pytest.raises(NotFound):
        read(work, nodes=["zzzzzz"])
    for given_ in ({"node": work["drill"], "ancestor": work["phase"]}, {"direction": "waits_for"}):
        with pytest.raises(Invalid):
            read(work, **given_)


@given(st.sets(st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda pair: pair[0] > pair[1]), max_size=30))
def test_without_implied_links_everything_is_reached_as_before(pairs: set[tuple[int, int]]) -> None:
    kept = pairs - find_implied(sorted(pairs))

    def reach(links: set[tuple[int, int]], start: int) -> set[int]:
        found: set[int] = set()
        todo = [start]
        while todo:
            here = todo.pop()
            near = {b for a, b in links if a == here} - found
            found |= near
            todo += near
        return found

    assert all(reach(kept, start) == reach(pairs, start) for start in range(10))
    assert all(b not in reach(kept - {(a, b)}, a) for a, b in kept)
