"""Two actors do not change the same files by accident: `next` says so, or passes such a node over."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import UNSET

from groundplan.kernel.access import Permission
from groundplan.kernel.store.authorize import authorize_project
from groundplan.kernel.store.transaction import Transaction
from groundplan.work import overlaps
from groundplan.work.nodes import fetch_node
from groundplan.work.overlaps import OverlappingNode, WorkInProgress, find_overlapping_work
from groundplan.work.refs import find_node_in_project
from tests.errors import error_of
from tests.manual_clock import ManualClock
from tests.work.client import WorkClient


def plan_files(work: WorkClient, **files: str | list[str]) -> Any:
    """Plan a node for each name, the first best, with its files as context links."""
    names = list(files)
    each = {
        name: {
            "context_links": [files[name]] if isinstance(files[name], str) else files[name],
            "properties": {"priority": len(names) - index},
        }
        for index, name in enumerate(names)
    }
    return work.plan("\n".join(names), each=each)


def avoid(work: WorkClient) -> None:
    work.open(policies={"overlap": "avoid"})


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("src/a.py", "src/a.py"),
        ("src/a.py", "./src/a.py"),
        ("src/a.py:12", "src/a.py#L3-L9"),
        ("src/", "src/a.py"),
        ("src/a.py", "src/**"),
        ("src/*.py", "src/a.py"),
        ("**/*.py", "src/ui/"),
        ("src/*.py", "src/*.py"),
        ("src/**", "src/*.py"),
        ("app/[id]/page.tsx", "app/[id]/page.tsx"),
        ("Makefile", "Makefile"),
    ],
)
def test_next_warns_about_files_that_another_actor_works_on(work: WorkClient, first: str, second: str) -> None:
    plan_files(work, a=first, b=second)
    work.by("robin").claim()

    answer = work.call("work.next", project=work.project)

    assert work.names([one.node for one in answer.nodes]) == ["b"]
    [line] = answer.warnings
    assert line.startswith(f"{work['b']}: works on ")
    assert line.endswith(f"which {work['a']} (claimed by 'robin') works on too")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("src/a.py", "src/b.py"),
        ("src/a.py", "src/a.pyi"),
        ("src/a", "src/ab/c.py"),
        ("src/*.py", "src/ui/a.py"),
        ("https://example.com/src/a.py", "https://example.com/src/a.py"),
        ("see the talk", "see the talk"),
        ("TICKET-7", "TICKET-7"),
        ("README.md", "docs/**/*.md"),
    ],
)
def test_other_files_pages_and_notes_are_no_overlap(work: WorkClient, first: str, second: str) -> None:
    plan_files(work, a=first, b=second)
    work.by("robin").claim()

    assert work.call("work.next", project=work.project).warnings is UNSET


def test_the_narrower_path_of_two_is_named(work: WorkClient) -> None:
    plan_files(work, a="src/**", b="src/a.py")
    work.by("robin").claim()

    [line] = work.call("work.next", project=work.project, claim=True).warnings

    assert line.startswith(f"{work['b']}: works on src/a.py, which ")


def test_own_claims_expired_claims_and_nodes_that_wait_are_no_overlap(work: WorkClient, clock: ManualClock) -> None:
    plan_files(work, a="src/a.py", b="src/a.py", c="src/a.py")
    dave = work.by("dave")
    dave.claim()
    assert dave.call("work.next", project=work.project, count=3).warnings is UNSET

    robin = work.by("robin")
    [line] = robin.call("work.next", project=work.project).warnings
    assert line.startswith(work["b"])
    work.plan("part", under="a")  # a waits for it, so nobody works on a itself
    assert robin.call("work.next", project=work.project).warnings is UNSET
    work.resolve("part")
    assert robin.call("work.next", project=work.project).warnings is not UNSET
    clock.move(hours=2)
    assert robin.call("work.next", project=work.project).warnings is UNSET


def test_the_policy_off_says_nothing(work: WorkClient) -> None:
    plan_files(work, a="src/a.py", b="src/a.py")
    work.open(policies={"overlap": "off"})
    work.by("robin").claim()

    assert work.call("work.next", project=work.project).warnings is UNSET


def test_under_avoid_a_node_is_passed_over_until_the_other_is_resolved(work: WorkClient) -> None:
    plan_files(work, a="src/a.py", b="src/", c="docs/c.md")
    avoid(work)
    robin = work.by("robin")
    assert robin.claim() == ["a"]

    answer = work.call("work.next", project=work.project, claim=True)

    assert work.names([one.node for one in answer.nodes]) == ["c"]
    [line] = answer.warnings
    assert line.startswith(f"{work['b']}: passed over: it works on src/a.py, which {work['a']} ")
    robin.resolve("a")
    assert work.claim() == ["b"]


def test_under_avoid_the_reason_says_that_all_were_passed_over(work: WorkClient) -> None:
    plan_files(work, a="src/a.py", b="src/a.py", c="src/a.py")
    avoid(work)
    work.by("robin").claim()

    answer = work.call("work.next", project=work.project)

    assert answer.nodes == []
    assert answer.reason.startswith("2 actionable nodes were passed over (policy overlap): ")


def test_under_avoid_free_work_is_offered_however_many_nodes_come_before_it(work: WorkClient) -> None:
    plan_files(work, first="src/a.py", **{f"n{n}": "src/a.py" for n in range(2 * overlaps.LOOK_AHEAD)}, last="b.py")
    avoid(work)
    work.by("robin").claim()

    assert work.next() == ["last"]
    assert work.next(count=50) == ["last"]


def test_under_avoid_a_bounded_number_of_candidates_is_looked_at(
    work: WorkClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overlaps, "LOOK_AHEAD_MAX", overlaps.LOOK_AHEAD)
    plan_files(work, first="src/a.py", **{f"n{n}": "src/a.py" for n in range(overlaps.LOOK_AHEAD + 5)}, last="b.py")
    avoid(work)
    work.by("robin").claim()

    answer = work.call("work.next", project=work.project)

    assert answer.nodes == []
    assert answer.reason.startswith(f"{overlaps.LOOK_AHEAD + 1} actionable nodes")
    assert "others were not looked at" in answer.reason


def test_under_avoid_a_named_node_is_refused(work: WorkClient) -> None:
    plan_files(work, a="src/a.py", b="src/a.py")
    avoid(work)
    work.by("robin").claim()

    refused = error_of(lambda: work.call("work.claim", node_id=work["b"]))

    assert refused.code == "overlaps_in_progress"
    assert refused.details["overlaps"] == [{"id": work["a"], "claimed_by": "robin", "paths": ["src/a.py"]}]


def test_the_context_files_of_tasks_count_and_so_do_active_tasks_without_a_claim(
    work: WorkClient, clock: ManualClock
) -> None:
    plan_files(work, a="x.py", b="y.py")
    for name, path in (("a", "src/"), ("b", "src/a.py")):
        arguments = {"entityType": "TASK", "entityId": work[name], "title": "Context Files", "content": f"- {path}"}
        work.call("section.add", **arguments, usageDescription="which files", contentFormat="MARKDOWN", ordinal=0)
    robin = work.by("robin")
    robin.call("container.advance", containerType="task", id=work["a"], version=1)

    def warn() -> Any:
        return work.call("work.next", project=work.project, node_id=work["b"]).warnings

    assert warn() == [f"{work['b']}: works on src/a.py, which {work['a']} (claimed by 'robin') works on too"]
    clock.move(hours=2)
    assert warn() == [f"{work['b']}: works on src/a.py, which {work['a']} works on too"]


def test_overlapping_work_names_the_node_its_actor_and_the_paths(work: WorkClient) -> None:
    plan_files(work, a=["src/a.py", "src/b.py", "c.py"], b="src/")
    work.by("robin").claim()

    def find(tx: Transaction) -> list[OverlappingNode]:
        tx.set_project(authorize_project(tx, work.project, Permission.WORK_READ))
        return find_overlapping_work(tx, fetch_node(tx, find_node_in_project(tx, work["b"]).n))

    found = work.session.store.read(work.session.actor, find)

    assert found == [OverlappingNode(work["a"], "a", "robin", ["src/a.py", "src/b.py"])]


@pytest.mark.teeth
def test_a_claim_that_does_not_look_would_be_noticed(work: WorkClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WorkInProgress, "find_overlaps", lambda self, nodes: {})

    with pytest.raises(AssertionError):
        test_under_avoid_a_node_is_passed_over_until_the_other_is_resolved(work)
