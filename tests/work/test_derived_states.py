"""The states after a resolve: derived from those before it where it reaches no further than its neighbours."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from groundplan.work.state_changes import NodeFlags, StateChanges
from tests.work.client import WorkClient

OUTLINE = """
    phase
      last
    pair
      one: far
      two
    far
    after: last
    both: last, two
    above: last
      below
    waiting
      child: last
"""


@pytest.fixture
def derived(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each write that settles has derived its states. A derived state that is not the stored one fails."""
    seen: list[bool] = []
    load_final_states = StateChanges.load_final_states

    def compare(self: StateChanges, derived: Mapping[int, NodeFlags] | None = None) -> None:
        load_final_states(self)
        seen.append(derived is not None and derived.keys() == self._before.keys())
        if seen[-1]:
            assert derived == self._after

    monkeypatch.setattr(StateChanges, "load_final_states", compare)
    return seen


@pytest.mark.parametrize("first", [(), ("two",), ("far",), ("below",), ("two", "far", "below")])
def test_derived_states_are_the_stored_ones(work: WorkClient, derived: list[bool], first: tuple[str, ...]) -> None:
    work.plan(OUTLINE)
    for name in first:
        work.resolve(name)
    hold = {"containerType": "task", "id": work["both"], "blockedBy": "NO_OP", "blockedReason": "rain"}
    work.call("container.block", **hold, version=1)
    derived.clear()

    answer = work.resolve("last")

    assert derived == [True]
    ready = {"phase", "after", "child", *({"above"} if "below" in first else ())}
    assert set(work.names(answer.newly_actionable)) == ready


@pytest.mark.parametrize(
    "outline", ["phase: last\n  last", "after: last\nphase\n  last\n  other"], ids=["the parent depends on it", "usual"]
)
def test_a_parent_that_depends_on_its_child_is_read_again(work: WorkClient, derived: list[bool], outline: str) -> None:
    work.plan(outline)
    derived.clear()

    work.resolve("last")

    assert derived == [outline.startswith("after")]


@pytest.mark.parametrize("policies", [{"auto_resolve_parents": True}, {"inherit_dependencies": True}])
def test_policies_that_pass_effects_on_have_the_states_read_again(
    work: WorkClient, derived: list[bool], policies: dict[str, bool]
) -> None:
    work.plan("phase\n  last\nafter: phase")
    work.open(policies=policies)
    derived.clear()

    work.resolve("last")

    assert derived == [False]


def test_a_batch_reads_the_states_again(work: WorkClient, derived: list[bool]) -> None:
    work.plan("a\nb: a\nc: b")
    derived.clear()

    work.resolve("a", "b")

    assert derived == [False]
