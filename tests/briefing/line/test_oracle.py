"""Throughline and coverage agree with a search of every path, on random small projects."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundplan.session import Session
from tests.briefing.line.client import PlanClient
from tests.briefing.line.conftest import ADA
from tests.engines import Engine
from tests.proof import scaled
from tests.purpose.client import LEVELS, add_edge, add_node

GONE = "OC99"
PROJECTS = count()


class SmallPlan(NamedTuple):
    """Types of purpose nodes, edges by index, parents of work nodes, their links, and what is done or dropped."""

    types: list[str]
    edges: set[tuple[int, int]]
    parents: list[int | None]
    links: dict[int, set[int]]  # purpose nodes by index; -1 is a key that no version has
    done: set[int]
    dropped: set[int]


@st.composite
def small_plans(draw: st.DrawFn) -> SmallPlan:
    types = sorted(draw(st.lists(st.sampled_from(LEVELS), min_size=1, max_size=6)), key=LEVELS.index)
    ends = st.integers(0, len(types) - 1)
    edges = {(one, other) for one, other in draw(st.sets(st.tuples(ends, ends), max_size=9)) if one < other}
    parents = [draw(st.sampled_from([None, *range(index)])) for index in range(draw(st.integers(1, 7)))]
    nodes = st.integers(0, len(parents) - 1)
    keys = st.sets(st.integers(-1, len(types) - 1), min_size=1, max_size=3)
    return SmallPlan(
        types,
        edges,
        parents,
        draw(st.dictionaries(nodes, keys, max_size=3)),
        draw(st.sets(nodes)),
        draw(st.sets(nodes, max_size=1)),
    )


class Oracle:
    """The same answers from first principles: every path is walked."""

    def __init__(self, made: SmallPlan, keys: list[str]) -> None:
        self.made = made
        self.keys = [*keys, GONE]  # index -1 is the key that is gone

    def walk(self, start: int, *, up: bool) -> Iterator[int]:
        yield start
        for source, target in self.made.edges:
            if (source if up else target) == start:
                yield from self.walk(target if up else source, up=up)

    def find_source(self, node: int | None) -> int | None:
        """Return the node whose links count for a node."""
        while node is not None and node not in self.made.links:
            node = self.made.parents[node]
        return node

    def serves(self, node: int) -> set[int]:
        source = self.find_source(node)
        return set() if source is None else self.made.links[source]

    def reaches_goal(self, index: int) -> bool:
        return any(self.made.types[one] == "GOAL" for one in self.walk(index, up=True))

    def trace_up(self, node: int) -> tuple[set[str], set[tuple[str, str]]]:
        """Return the keys of the chain, and the dead ends among them."""
        served = self.serves(node)
        chain = {one for index in served - {-1} for one in self.walk(index, up=True)}
        dead = {(self.keys[one], "reaches_no_goal") for one in chain if not self.reaches_goal(one)}
        return {self.keys[one] for one in chain}, dead | ({(GONE, "dangling")} if -1 in served else set())

    def is_dropped(self, node: int | None) -> bool:
        while node is not None:
            if node in self.made.dropped:
                return True
            node = self.made.parents[node]
        return False

    def find_served(self) -> set[int]:
        """Return the purpose nodes that work serves, directly or through a cause."""
        direct = {one for node, keys in self.made.links.items() if not self.is_dropped(node) for one in keys - {-1}}
        return {one for index in direct for one in self.walk(index, up=True)}


def write(made: SmallPlan, engine: Engine) -> tuple[PlanClient, list[str]]:
    """Create the project and return the keys of its purpose nodes, by index."""
    plan = PlanClient(Session(engine.store, ADA), f"small {next(PROJECTS)}")
    plan.work.open()
    plan.purpose.draft()
    nodes = [add_node(one, f"p{index}", ref=f"p{index}") for index, one in enumerate(made.types)]
    edges = [add_edge(f"p{one}", f"p{other}") for one, other in sorted(made.edges)]
    keys = [one.key for one in plan.purpose.edit(*nodes, *edges).created if one.kind == "node"]
    for index, parent in enumerate(made.parents):
        plan.work.plan(f"w{index}", under=None if parent is None else f"w{parent}")
    for index in sorted(made.dropped):
        plan.work.drop(f"w{index}")
    leaves = [index for index in range(len(made.parents)) if index not in made.parents]
    for index in leaves:
        if index in made.done and not Oracle(made, keys).is_dropped(index):
            plan.work.resolve(f"w{index}")
    if made.links:
        named = {f"w{node}": [[*keys, GONE][one] for one in some] for node, some in made.links.items()}
        plan.link_nodes(named)
    return plan, keys


@settings(max_examples=scaled(12, 100), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(made=small_plans())
def test_answers_agree_with_a_search_of_every_path(engine: Engine, made: SmallPlan) -> None:
    plan, keys = write(made, engine)
    oracle = Oracle(made, keys)
    all_nodes = set(range(len(made.parents)))

    for node in all_nodes:
        line = plan.line(f"w{node}")
        chain, dead = oracle.trace_up(node)
        assert {step.ref for step in line.chain if not step.is_work} == chain
        found = set(plan.dead_ends(line))
        assert found == (dead if oracle.serves(node) else {(f"w{node}", "serves_nothing")})
        assert set(line.goals) == {key for key in chain if made.types[keys.index(key)] == "GOAL"}

    served = oracle.find_served()
    for index, key in enumerate(keys):
        line = plan.line(key)
        causes = set(oracle.walk(index, up=False))
        assert {step.ref for step in line.chain if not step.is_work} == {keys[one] for one in causes}
        working = {node for node in all_nodes if oracle.serves(node) & causes}
        assert line.work.total == len(working)
        sources = {f"w{oracle.find_source(node)}" for node in working}
        assert set(plan.names([step.ref for step in line.chain if step.is_work])) == sources
        dead = {(keys[one], "no_work") for one in causes - served}
        astray = set() if oracle.reaches_goal(index) else {(key, "reaches_no_goal")}
        assert set(plan.dead_ends(line)) == dead | astray
        ranks = {step.ref: step.level for step in line.chain}
        assert all(ranks[link.ref] < step.level for step in line.chain for link in step.to)

    gaps = plan.coverage()
    assert set(gaps.unserved) == {keys[one] for one in set(range(len(keys))) - served}
    states = {node: plan.work.node(f"w{node}").resolved for node in all_nodes}
    children = {node: [one for one in all_nodes if made.parents[one] == node] for node in all_nodes}
    idle = {
        node for node, is_resolved in states.items() if not is_resolved and all(states[one] for one in children[node])
    }
    assert set(plan.names(gaps.serving_nothing)) == {f"w{node}" for node in idle if not oracle.serves(node)}
    unproven = {node for node in all_nodes if states[node] and not children[node] and not oracle.is_dropped(node)}
    assert set(plan.names(gaps.resolved_without_evidence)) == {f"w{node}" for node in unproven}
