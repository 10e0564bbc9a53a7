"""After every step, on either store, the links of each node are those of a dict, and the events tell them too.

An ordinary run is short and always the same. GROUNDPLAN_PROOF_STEPS gives a longer one, new each time.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import partial
from itertools import count
from random import Random
from typing import Any, cast

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.links import LinkType
from groundplan.session import Session
from groundplan.work import link_targets, links, removals, restructuring
from tests.context.client import ContextClient
from tests.engines import Engine, SqliteEngine
from tests.machines.budget import NOTICED, BoundedRun, SteppingMachine, answer_invariant, fixed_settings
from tests.manual_clock import ManualClock
from tests.purpose.client import PurposeClient, add_node, op
from tests.work.client import WorkClient
from tests.work.conftest import ADA

pytestmark = [pytest.mark.proof, pytest.mark.slow]

STEPS = 120
NODES_MAX = 10
FACTS = ("/size", "/owner")
NO_FACT = "/nothing"
ASSUMPTION = "AS1"
ROOT = "root"
SEEDS = st.integers(0, 2**24 - 1)
LISTED = (LinkType.SERVES, LinkType.RESTS_ON)


class LinksMachine(SteppingMachine):
    """One person at one project; nodes are named, and the oracle is a few dicts."""

    def __init__(self, engine: Engine, session: Session, project: str) -> None:
        super().__init__()
        self.engine = engine
        self.work = WorkClient(session, project)
        self.purpose = PurposeClient(session, project)
        self.work.open()
        facts = ContextClient(session, project)
        facts.draft()
        for pointer in FACTS:
            facts.write(pointer, 1)
        facts.commit()
        self.purpose.draft()
        self.purpose.draw("dig -> well -> water -> health")
        self.purpose.edit(op("add_assumption", node="OC1", assumption_text="the water is clean"))
        self.purpose.publish()
        ((self.project_id,),) = engine.as_owner(f"SELECT id FROM projects WHERE name = '{project}'")
        self.published = {"AC1", "OP1", "OC1", "G1"}
        self.drafted: set[str] = set()
        self.has_draft = False
        self.lost: set[str] = set()  # keys of discarded drafts
        self.parents: dict[str, str] = {}
        self.own: dict[str, dict[LinkType, set[str]]] = {ROOT: {}}
        self.serial = count(1)

    # --- Choices ---

    def make_rng(self, seed: int) -> Random:
        """Return the random source of a step."""
        self.step_number += 1
        return Random(seed)  # noqa: S311 - not for secrets

    @property
    def keys(self) -> list[str]:
        return sorted(self.published | self.drafted)

    def some_node(self, random: Random) -> str:
        return random.choice([ROOT, *self.parents])

    def some_target(self, random: Random, link_type: LinkType) -> str:
        if link_type is LinkType.RESTS_ON:
            return random.choice([*FACTS, *FACTS, NO_FACT])
        return random.choice(
            [
                *self.keys,
                *sorted(self.drafted),
                *sorted(self.drafted),
                ASSUMPTION,
                ASSUMPTION,
                *sorted(self.lost),
                "OC99",
            ]
        )

    def is_allowed(self, link_type: LinkType, target: str) -> bool:
        if link_type is LinkType.RESTS_ON:
            return target in FACTS
        return target == ASSUMPTION if link_type not in LISTED else target in self.keys

    def some_lists(self, random: Random) -> dict[str, list[str]]:
        types = random.sample(LISTED, random.randint(1, 2))
        return {
            link_type.value: [self.some_target(random, link_type) for _ in range(random.randint(0, 2))]
            for link_type in types
        }

    def ancestors(self, name: str) -> list[str]:
        return [] if name not in self.parents else [self.parents[name], *self.ancestors(self.parents[name])]

    def below(self, name: str) -> list[str]:
        return [one for one in self.parents if name in self.ancestors(one)]

    def set_own(self, name: str, lists: dict[str, list[str]]) -> None:
        for type_, given in lists.items():
            self.own[name][LinkType(type_)] = set(given)

    # --- Calls ---

    @rule(seed=SEEDS)
    def plan(self, seed: int) -> None:
        random = self.make_rng(seed)
        if len(self.parents) >= NODES_MAX:
            return
        name, parent, lists = f"n{next(self.serial)}", self.some_node(random), self.some_lists(random)
        allowed = all(self.is_allowed(LinkType(t), one) for t, given in lists.items() for one in given)
        if self.is_done(lambda: self.work.plan(name, under=parent, each={name: lists}), allowed):
            self.parents[name], self.own[name] = parent, {}
            self.set_own(name, lists)

    @rule(seed=SEEDS)
    def update(self, seed: int) -> None:
        random = self.make_rng(seed)
        name, lists = self.some_node(random), self.some_lists(random)
        outdated = [one for one, by_type in self.own.items() if self.lost & by_type.get(LinkType.SERVES, set())]
        if outdated and random.random() < 0.6:
            name = random.choice(outdated)
        own = self.own[name]
        if random.random() < 0.5:  # as a caller does who read the node
            lists = {link_type.value: sorted(own[link_type]) for link_type in LISTED if own.get(link_type)}
        allowed = all(
            self.is_allowed(LinkType(t), one) or one in own.get(LinkType(t), ())
            for t, given in lists.items()
            for one in given
        )
        if self.is_done(lambda: self.work.updates({"node_id": name, **lists}), allowed):
            self.set_own(name, lists)

    @rule(seed=SEEDS)
    def connect(self, seed: int) -> None:
        random = self.make_rng(seed)
        name, link_type = self.some_node(random), random.choice(list(LinkType))
        own = self.own[name].setdefault(link_type, set())
        remove = bool(own) and random.random() < 0.4
        target = random.choice(sorted(own)) if remove else self.some_target(random, link_type)
        edge = {"from": self.work[name], "to": target, "type": link_type.value, "remove": remove}

        answer = self.work.call("work.connect", edges=[edge])

        expected = target in own if remove else self.is_allowed(link_type, target) and target not in own
        assert answer.applied == expected, (edge, answer.rejected)
        if expected:
            (own.discard if remove else own.add)(target)

    @rule(seed=SEEDS)
    def move(self, seed: int) -> None:
        random = self.make_rng(seed)
        if not self.parents:
            return
        name, parent = random.choice(list(self.parents)), self.some_node(random)
        if parent == name or parent in self.below(name):
            return
        self.work.move(name, parent)
        self.parents[name] = parent

    @rule(seed=SEEDS)
    def merge(self, seed: int) -> None:
        random = self.make_rng(seed)
        if len(self.parents) < 2:
            return
        source, target = random.sample(list(self.parents), 2)
        if source in self.ancestors(target) or target in self.ancestors(source):
            return
        self.work.merge(source, target)
        for child in [one for one, parent in self.parents.items() if parent == source]:
            self.parents[child] = target
        for link_type, given in self.own.pop(source).items():
            self.own[target].setdefault(link_type, set()).update(given)
        del self.parents[source]

    @rule(seed=SEEDS)
    def delete(self, seed: int) -> None:
        random = self.make_rng(seed)
        leaves = [name for name in self.parents if len(self.below(name)) <= 1]
        if len(self.parents) < 3:
            return
        name = random.choice(leaves)
        version = self.work.node(name).rev
        self.work.call("container.delete", containerType="task", id=self.work[name], version=version, cascade=True)
        for gone in [*self.below(name), name]:
            del self.own[gone]
        for gone in [*self.below(name), name]:
            del self.parents[gone]

    @rule(seed=SEEDS)
    def change_purpose(self, seed: int) -> None:
        random = self.make_rng(seed)
        if not self.has_draft:
            self.purpose.draft()
            (made,) = self.purpose.edit(add_node("OUTCOME", "another")).created
            self.drafted, self.has_draft = {made.key}, True
        elif random.random() < 0.5:
            self.purpose.discard()
            self.lost |= self.drafted
            self.drafted, self.has_draft = set(), False
        else:
            (made,) = self.purpose.edit(add_node("OUTCOME", "more")).created
            self.drafted.add(made.key)

    def is_done(self, call: Callable[[], Any], allowed: bool) -> bool:
        code = None
        try:
            call()
        except GroundplanError as error:
            code = error.code
        assert (code is None) is allowed, code
        assert code in (None, "unknown_key", "unknown_pointer", "wrong_link_kind")
        return allowed

    # --- What must hold ---

    @answer_invariant()
    def every_node_shows_its_own_links_or_those_of_the_nearest_ancestor(self) -> None:
        for name in self.own:
            node = self.work.node(name)
            for link_type in LinkType:
                line = [name, *(self.ancestors(name) if link_type in LISTED else ())]
                source = next((one for one in line if self.own[one].get(link_type)), None)
                expected = [] if source is None else sorted(self.own[source][link_type])
                shown = getattr(node, link_type) or []
                assert [one.to for one in shown] == expected, (name, link_type)
                assert {one.inherited_from or self.work[name] for one in shown} <= {self.work[source or name]}
                assert [one.to for one in shown if one.dangling] == [
                    one for one in expected if not self.is_allowed(link_type, one)
                ]

    @invariant()
    def the_stored_links_and_the_events_are_the_same(self) -> None:
        expected = {
            (self.work[name], link_type.value, target)
            for name, by_type in self.own.items()
            for link_type, given in by_type.items()
            for target in given
        }
        stored = self.engine.as_owner(f"SELECT source, type, target FROM links WHERE project_id = '{self.project_id}'")
        assert set(stored) == expected
        assert set(self.replay_events()) == expected

    def replay_events(self) -> Iterable[tuple[str, str, str]]:
        """Return the links that follow from the events alone."""
        found: dict[tuple[str, str], set[str]] = defaultdict(set)
        for subject, changes in self.engine.as_owner(
            f"SELECT subject, changes FROM events WHERE project_id = '{self.project_id}' AND op LIKE 'work.%'"
            " ORDER BY rev, n"
        ):
            for change in json.loads(changes):
                before, after = change["before"], change["after"]
                if change["field"] == "merged_into":
                    for link_type in LinkType:
                        found.pop((subject, link_type.value), None)
                if change["field"] not in set(LinkType):
                    continue
                links = found[subject, change["field"]]
                if isinstance(after, list):
                    assert links == set(before or ())
                    found[subject, change["field"]] = set(after)
                else:
                    (links.discard if after is None else links.add)(before if after is None else after)
        return [(source, type_, target) for (source, type_), given in found.items() for target in given]


def run_machine(engine: Engine, steps: settings) -> None:
    session = Session(engine.another_store(clock=ManualClock()), ADA)
    serial = count(1)
    factory = cast(
        type[RuleBasedStateMachine], lambda: LinksMachine(engine, session, f"project {next(serial)}")
    )  # typed to take a class, but only calls it
    run_state_machine_as_test(factory, settings=steps)


def test_links_are_what_the_calls_made_them(engine: Engine, run_to_bound: BoundedRun) -> None:
    run_to_bound("links", partial(run_machine, engine), STEPS)


Sabotage = Callable[[pytest.MonkeyPatch], None]


def let_all_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_targets.KnownTargets, "check", lambda *_: None)


def leave_links_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(restructuring, "move_links", lambda *_: [])


def forget_what_was_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    real = removals._remove_links

    def remove(*given: Any) -> dict[str, Any]:
        real(*given)
        return {}

    monkeypatch.setattr(removals, "_remove_links", remove)


def refuse_what_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "_load_own", lambda *_: set())


def inherit_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "INHERITED_TYPES", tuple(LinkType))


def say_nothing_of_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "describe_new_links", lambda _: iter(()))
    monkeypatch.setattr("groundplan.work.graph.plan.describe_new_links", lambda _: iter(()))


SABOTAGE: dict[str, Sabotage] = {
    "any key will do": let_all_pass,
    "a merge leaves links behind": leave_links_behind,
    "the event of a deletion forgets the links": forget_what_was_deleted,
    "what is gone cannot be sent back": refuse_what_is_gone,
    "evidence is inherited": inherit_evidence,
    "a plan does not record its links": say_nothing_of_changes,
}


@pytest.mark.teeth
@pytest.mark.parametrize("broken", SABOTAGE)
def test_the_machine_notices_a_guard_that_is_switched_off(
    broken: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    engine = SqliteEngine(tmp_path / "plan.db")
    SABOTAGE[broken](monkeypatch)
    steps = settings(fixed_settings(2_400, in_a_run=60), phases=(Phase.generate,))

    with pytest.raises((*NOTICED, *engine.refusals)):
        run_machine(engine, steps)
    engine.close()
