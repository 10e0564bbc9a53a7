"""The critical path, unlock counts and bottlenecks of a plan."""

from __future__ import annotations

import random
from typing import Any

import pytest
from msgspec import UNSET

from groundplan.work import analysis
from tests.work.client import WorkClient


def analyse(work: WorkClient, what: str, **given: Any) -> Any:
    return work.call("work.analyse", project=work.project, what=what, **given)


def rows(work: WorkClient, what: str, **given: Any) -> list[tuple[str, float]]:
    return [(work.name(row.id), row.value) for row in analyse(work, what, **given).rows]


def estimates(**given: Any) -> dict[str, Any]:
    return {name: {"properties": {"estimate": value}} for name, value in given.items()}


def test_the_critical_path_is_the_chain_that_takes_longest(work: WorkClient) -> None:
    work.plan("a\nb: a\nc: b\nlong\nend: c, long", each=estimates(long=10, c=0.5))

    answer = analyse(work, "critical_path")

    assert [(work.name(row.id), row.value, row.note) for row in answer.rows] == [
        ("long", 10, "estimate 10"),
        ("end", 11, "estimate 1"),
    ]
    assert answer.total == 11


@pytest.mark.parametrize("estimate", [-1, "3", True, None, [2], 1e300])
def test_an_estimate_that_is_no_number_from_0_on_counts_as_1(work: WorkClient, estimate: Any) -> None:
    work.plan("a", each={"a": {"properties": {"estimate": estimate}}})

    assert rows(work, "critical_path") == [("a", 1)]


def test_estimates_without_a_finite_sum_do_not_end_an_analysis(work: WorkClient) -> None:
    work.plan("a\nb: a", each=estimates(a=1.7e308, b=1.7e308))

    assert work.session.call("work.analyse", project=work.project).total == 2


def test_the_critical_path_goes_through_children_and_over_parents(work: WorkClient) -> None:
    work.plan("phase\n  draw\n  build: draw\nprint: phase")

    assert rows(work, "critical_path") == [("draw", 1), ("build", 2), ("phase", 3), ("print", 4)]
    work.open(policies={"auto_resolve_parents": True})
    assert rows(work, "critical_path") == [("draw", 1), ("build", 2), ("phase", 2), ("print", 3)]


def test_resolved_nodes_are_on_no_path(work: WorkClient) -> None:
    work.plan("a\nb: a")
    work.resolve("a")

    assert rows(work, "critical_path") == [("b", 1)]
    work.resolve("b")
    assert analyse(work, "critical_path").total == 0


def test_inherited_waiting_makes_the_path_longer(work: WorkClient) -> None:
    work.plan("a\nphase: a\n  part", each=estimates(a=2))
    assert rows(work, "critical_path") == [("a", 2), ("phase", 3)]

    work.open(policies={"inherit_dependencies": True})

    assert rows(work, "critical_path") == [("a", 2), ("part", 3), ("phase", 4)]


def test_unlocks_rank_what_can_be_started_by_what_it_makes_actionable(work: WorkClient) -> None:
    work.plan("a\nb\nc: a\nd: a\ne: a, b\nf: d")

    answer = analyse(work, "unlocks")

    assert [(work.name(row.id), row.value, row.note) for row in answer.rows] == [
        ("a", 2, "4 wait for it, directly or not")
    ]
    work.resolve("a")
    assert rows(work, "unlocks") == [("b", 1), ("d", 1)]


def test_bottlenecks_count_every_node_that_waits_once(work: WorkClient) -> None:
    work.plan("a\nb: a\nc: a\nd: b, c\nphase\n  part: d")

    assert rows(work, "bottlenecks") == [("a", 5), ("b", 3), ("c", 3), ("d", 2), ("part", 1)]


def test_long_lists_are_cut_and_counted(work: WorkClient) -> None:
    work.plan("n0\n" + "\n".join(f"n{n}: n{n - 1}" for n in range(1, 30)))

    answer = analyse(work, "critical_path", limit=4)

    assert [work.name(row.id) for row in answer.rows] == ["n0", "n1", "n2", "n3"]
    assert answer.left_out == {"rows": 26}
    assert answer.total == 30


def test_an_empty_plan_has_an_empty_analysis(work: WorkClient) -> None:
    for what in ("critical_path", "unlocks", "bottlenecks"):
        answer = analyse(work, what)
        assert (answer.total, answer.rows, answer.left_out, answer.warnings) == (0, [], UNSET, UNSET)


def plan_randomly(work: WorkClient, size: int) -> dict[str, set[str]]:
    """Plan nodes that depend on earlier ones, and return what each waits for, directly or not."""
    choose = random.Random(7)  # noqa: S311 - a plan, the same each time
    lines: list[str] = []
    awaited: dict[str, set[str]] = {}
    for n in range(size):
        targets = sorted({f"n{choose.randrange(n)}" for _ in range(choose.randrange(3))}) if n else []
        awaited[f"n{n}"] = {other for target in targets for other in (target, *awaited[target])}
        lines.append(f"n{n}: {', '.join(targets)}")
    work.plan("\n".join(lines))
    return awaited


def count_waiters(awaited: dict[str, set[str]]) -> list[tuple[str, int]]:
    counts = {name: sum(name in others for others in awaited.values()) for name in awaited}
    return sorted(((name, n) for name, n in counts.items() if n), key=lambda item: (-item[1], int(item[0][1:])))


@pytest.mark.parametrize("sample", [4_096, 40])
def test_the_bottlenecks_of_many_nodes_are_counted_exactly(
    work: WorkClient, monkeypatch: pytest.MonkeyPatch, sample: int
) -> None:
    """A sample chooses which nodes are counted; the counts themselves are exact."""
    monkeypatch.setattr(analysis, "SAMPLE_MAX", sample)
    expected = count_waiters(plan_randomly(work, 150))

    found = rows(work, "bottlenecks", limit=10)

    if sample > 150:
        assert found == expected[:10]
    assert set(found) <= set(expected)
    assert found[0] == expected[0]


@pytest.mark.teeth
def test_a_wait_that_is_not_counted_would_be_noticed(work: WorkClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis.MomentOrder, "_sort", lambda self: list(range(len(self.waiters))))

    with pytest.raises(AssertionError):
        test_bottlenecks_count_every_node_that_waits_once(work)
