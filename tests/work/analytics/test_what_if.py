"""What an analysis says of a change is what the engine reports when the change is made."""

from __future__ import annotations

import random
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.errors import GroundplanError
from groundplan.work import what_if
from tests.engines import Engine
from tests.errors import error_of
from tests.machines.budget import fixed_settings
from tests.proof import scaled
from tests.work.client import WorkClient

TRIES = settings(fixed_settings(0), max_examples=scaled(5, 300))
SEEDS = st.integers(0, 2**32)
NUMBERS = count(1)


def draw_plan(seed: int) -> dict[str, Any]:
    """Return a tree with features, dependencies, holds and policies, and the changes to try one after the other."""
    choose = random.Random(seed)  # noqa: S311 - a plan, the same for each seed
    size = choose.randint(4, 14)

    def draw_some(at_most: int) -> set[int]:
        return {choose.randrange(size) for _ in range(choose.randint(0, at_most))}

    return {
        "policies": {
            "inherit_dependencies": choose.random() < 0.4,
            "auto_resolve_parents": choose.random() < 0.5,
            "evidence": choose.choice(["off", "off", "require"]),
        },
        "parents": [choose.randrange(n) if n and choose.random() < 0.6 else None for n in range(size)],
        "features": draw_some(3),
        "edges": [(choose.randrange(size), choose.randrange(size)) for _ in range(choose.randint(0, 12))],
        "held": draw_some(1),
        "changes": [(n, choose.random() < 0.25) for n in reversed(choose.sample(range(size), size))],
    }


def build(work: WorkClient, plan: dict[str, Any]) -> WorkClient:
    """Create the nodes of a plan in a project of their own; edges that would close a loop are left out."""
    client = WorkClient(work.session, project=f"plan {next(NUMBERS)}")
    client.open(policies=plan["policies"])
    for n, parent in enumerate(plan["parents"]):
        under = "root" if parent is None else str(parent)
        if n in plan["features"]:
            arguments = {"containerType": "feature", "projectId": client.project, "name": str(n), "summary": str(n)}
            created = client.call("container.create", **arguments)
            client.ids[str(n)] = created.feature.id
            client.move(str(n), under)
        else:
            client.plan(str(n), under=under)
    for source, target in plan["edges"]:
        client.connect(f"{source}: {target}")
    for n in plan["held"]:
        kind = "feature" if n in plan["features"] else "task"
        place = {"containerType": kind, "id": client[str(n)], "version": client.node(str(n)).rev}
        client.call("container.block", **place, blockedBy="NO_OP", blockedReason="waits")
    return client


def compare(client: WorkClient, name: str, *, drops: bool) -> None:
    """Ask what would follow from a change, make it, and compare; a change that is refused must be refused before."""
    what = "if_dropped" if drops else "if_resolved"

    def ask() -> Any:
        return client.call("work.analyse", what=what, node_id=client[name], limit=100)

    if client.node(name).resolved:
        assert error_of(ask).code == "already_resolved"
        return
    if not drops and client.query(parent=client[name], resolved=False):
        assert error_of(ask).code == error_of(lambda: client.resolve(name)).code == "unresolved_children"
        return
    predicted = ask()
    evidence = [{"type": "note", "ref": "done"}]
    made = client.drop(name) if drops else client.update(name, resolved=True, add_evidence=evidence)
    by_note: dict[str, list[str]] = {}
    for row in predicted.rows:
        by_note.setdefault(row.note, []).append(row.id)
    newly = [] if made.newly_actionable is UNSET else [one.id for one in made.newly_actionable]
    auto = [] if made.auto_resolved is UNSET else made.auto_resolved
    assert by_note.get("actionable", []) == newly
    assert sorted(by_note.get("resolved with its last child", [])) == sorted(auto)
    if drops:
        assert all(client.node(node_id).resolved for node_id in by_note["dropped"])


def check_plan(work: WorkClient, plan: dict[str, Any]) -> None:
    client = build(work, plan)
    for n, drops in plan["changes"]:
        compare(client, str(n), drops=drops)


@pytest.mark.proof
def test_a_predicted_change_has_exactly_the_effects_of_the_change(work: WorkClient) -> None:
    @TRIES
    @given(seed=SEEDS)
    def run(seed: int) -> None:
        check_plan(work, draw_plan(seed))

    run()


@pytest.mark.proof
def test_unlocks_count_what_the_engine_reports(work: WorkClient) -> None:
    @TRIES
    @given(seed=SEEDS)
    def run(seed: int) -> None:
        client = build(work, draw_plan(seed))
        counts = {row.id: row.value for row in client.call("work.analyse", project=client.project, what="unlocks").rows}
        ready = client.next()
        assert set(counts) <= {client[name] for name in ready}
        if not ready:
            return
        made = client.update(ready[0], resolved=True, add_evidence=[{"type": "note", "ref": "done"}])
        newly = 0 if made.newly_actionable is UNSET else len(made.newly_actionable)
        assert counts.get(client[ready[0]], 0) == newly

    run()


def test_an_analysis_changes_nothing(work: WorkClient) -> None:
    work.plan("a\nb: a")

    work.call("work.analyse", what="if_dropped", node_id=work["a"])

    assert work.next() == ["a"]
    assert work.actions("a") == ["created"]


@pytest.mark.parametrize(
    ("what", "name", "code"),
    [("if_dropped", "root", "root_stays"), ("if_resolved", "a", "unresolved_children")],
)
def test_a_change_that_would_be_refused_is_refused(
    engine: Engine, work: WorkClient, what: str, name: str, code: str
) -> None:
    work.plan("a\n  b")
    agent = engine.session(local_actor("robin", kind=ActorKind.AGENT))

    assert error_of(lambda: agent.call("work.analyse", what=what, node_id=work[name])).code == code


def test_an_owner_sees_what_follows_if_everything_is_dropped(work: WorkClient) -> None:
    compare(build(work, WAITING_FEATURE), "root", drops=True)


@pytest.mark.parametrize(
    "arguments", [{"what": "if_resolved"}, {"node_id": "q8cdfw"}, {"limit": 0}, {"what": "luck"}, {"limit": 101}]
)
def test_arguments_that_do_not_fit_are_refused(work: WorkClient, arguments: dict[str, Any]) -> None:
    with pytest.raises(GroundplanError):
        work.call("work.analyse", project=work.project, **arguments)


WAITING_FEATURE: dict[str, Any] = {
    "policies": {},
    "parents": [None, None, 1, 1],
    "features": {1},
    "edges": [(1, 0)],
    "held": set(),
    "changes": [(0, False)],
}


def test_a_feature_that_stops_waiting_makes_its_tasks_actionable(work: WorkClient) -> None:
    check_plan(work, WAITING_FEATURE)


@pytest.mark.teeth
def test_a_rule_that_is_missing_would_be_noticed(work: WorkClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(what_if.WhatIf, "_count_unblocked", lambda self, state: {})

    with pytest.raises(AssertionError):
        check_plan(work, WAITING_FEATURE)
