"""A plan says which of its nodes touch the same files and would better be done one after the other."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import UNSET

from groundplan.work import planned_overlaps
from groundplan.work.waiting.cycles import WaitingMoments
from tests.work.client import WorkClient


def plan(work: WorkClient, outline: str, **given: Any) -> list[str]:
    """Plan nodes that all touch one file, and return the warnings about files."""
    names = [line.strip().partition(":")[0] for line in outline.splitlines() if line.strip()]
    planned = work.plan(outline, each={name: {"context_links": ["src/a.py"]} for name in names}, **given)
    return [line for line in ([] if planned.warnings is UNSET else planned.warnings) if "src/" in line]


def test_two_nodes_with_a_file_in_common_are_reported(work: WorkClient) -> None:
    assert plan(work, "a\nb") == ["a and b: touch src/a.py; serialise them with depends_on"]


def test_pairs_through_folders_and_patterns_are_reported_once(work: WorkClient) -> None:
    links = {"a": ["src/", "src/a.py"], "b": ["src/*.py", "src/a.py"], "c": ["docs/c.md"]}

    planned = work.plan("a\nb\nc", each={name: {"context_links": given} for name, given in links.items()})

    assert len(planned.warnings) == 1
    assert planned.warnings[0].startswith("a and b: touch ")


@pytest.mark.parametrize(("link", "is_reported"), [("bin/run", False), ("bin/run/", True), ("src/pay", True)])
def test_a_path_without_an_ending_is_a_folder_only_if_something_lies_below_it(
    work: WorkClient, link: str, is_reported: bool
) -> None:
    links = {"a": [link], "b": ["**/*.py", "src/pay/docs/*.md"]}

    planned = work.plan("a\nb", each={name: {"context_links": given} for name, given in links.items()})

    assert (planned.warnings is not UNSET) is is_reported


@pytest.mark.parametrize(
    "outline",
    [
        "a\nb: a",
        "a: b\nb",
        "a\nm: a\nb: m",  # m has the file too, and is ordered
        "a\n  b",  # a parent is done after its children
        "phase\n  a\nb: phase",
    ],
)
def test_nodes_that_the_plan_orders_are_not_reported(work: WorkClient, outline: str) -> None:
    assert plan(work, outline) == []


def test_an_order_through_existing_nodes_counts(work: WorkClient) -> None:
    work.plan("phase\nlater: phase")

    outline = "a\nb: later"
    each = {"a": {"context_links": ["src/a.py"], "parent_ref": work["phase"]}, "b": {"context_links": ["src/a.py"]}}
    assert work.plan(outline, each=each).warnings is UNSET


def test_files_that_others_work_on_are_reported_unless_the_new_node_waits_for_them(work: WorkClient) -> None:
    plan(work, "a")
    work.by("robin").claim()

    assert plan(work, "b") == [
        f"b: touches src/a.py, which {work['a']} (robin) works on; serialise them with depends_on"
    ]
    assert plan(work, "c: a") == []
    work.claim()  # b: one's own work needs no warning
    assert [line for line in plan(work, "d: a") if line.startswith("d")] == []


def test_the_policy_off_says_nothing(work: WorkClient) -> None:
    work.open(policies={"overlap": "off"})

    assert plan(work, "a\nb") == []


def test_a_large_plan_on_one_file_is_reported_in_few_lines(work: WorkClient) -> None:
    """Half a million pairs: the time grows with the nodes, and the answer has two lines."""
    lines = work.plan(
        "\n".join(f"n{n}" for n in range(1_000)), each={f"n{n}": {"context_links": ["src/a.py"]} for n in range(1_000)}
    ).warnings

    assert lines == [
        "n0 and n1 and 9 more: touch src/a.py; serialise them with depends_on",
        "others: more pairs touch the same files; serialise them too",
    ]


def test_a_long_chain_on_one_file_is_ordered(work: WorkClient) -> None:
    assert plan(work, "n0\n" + "\n".join(f"n{n}: n{n - 1}" for n in range(1, 1_000))) == []


def test_paths_through_existing_nodes_are_looked_for_a_bounded_number_of_times(
    work: WorkClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each half of the plan is a chain, and the second half waits for the existing parent of the first one."""
    looked_for: list[tuple[int, int]] = []
    closes_loop = WaitingMoments.closes_loop

    def count(moments: WaitingMoments, source: int, target: int) -> bool:
        looked_for.append((source, target))
        return closes_loop(moments, source, target)

    work.plan("phase")
    monkeypatch.setattr(WaitingMoments, "closes_loop", count)
    chains: list[dict[str, Any]] = [
        {"ref": f"{side}{n}", "summary": side, "context_links": ["src/a.py"], "depends_on": [f"{side}{n - 1}"]}
        for side in "ab"
        for n in range(30)
    ]
    for node in chains[:30]:
        node["parent_ref"] = work["phase"]
    chains[0]["depends_on"], chains[30]["depends_on"] = [], [work["phase"]]
    planned = work.session.call("work.plan", project=work.project, nodes=chains)

    assert planned.warnings == [
        "others: more pairs touch the same files, and were not looked at; serialise them if they are not"
    ]
    assert len(looked_for) <= planned_overlaps.LOOKUPS_MAX + 1


def test_a_plan_whose_last_pair_takes_the_last_search_says_that_all_were_looked_at(work: WorkClient) -> None:
    work.plan("existing")

    planned = work.plan("a: existing\nb\nc\nd\ne", each={name: {"context_links": ["src/a.py"]} for name in "abcde"})

    assert planned.warnings == ["a and b and 9 more: touch src/a.py; serialise them with depends_on"]


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)  # the comparison does not reach the store
def test_many_links_of_many_nodes_take_bounded_work(work: WorkClient) -> None:
    links = [[f"d{n % 40}/{k}.py" for k in range(40)] + [f"d{n % 40}/*.{n}", "src/**"] for n in range(400)]

    planned = work.plan(
        "\n".join(f"n{n}" for n in range(400)), each={f"n{n}": {"context_links": links[n]} for n in range(400)}
    )

    assert planned.warnings[-1].startswith("others: ")


@pytest.mark.teeth
def test_an_order_that_is_ignored_would_be_noticed(work: WorkClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def ignore(_tx: Any, nodes: Any) -> tuple[list[int], list[int]]:
        return [0] * len(nodes), [0] * len(nodes)

    monkeypatch.setattr(planned_overlaps, "_find_orders", ignore)

    with pytest.raises(AssertionError):
        test_nodes_that_the_plan_orders_are_not_reported(work, "a\nb: a")
