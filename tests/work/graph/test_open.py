"""graph_open: lists projects, opens one or creates one; and the errors for unknown and archived ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import UNSET

from groundplan.kernel.errors import Conflict, NotFound
from tests.engines import Engine, person
from tests.errors import error_of
from tests.work.cases import try_each
from tests.work.client import WorkClient


def test_opening_an_unknown_project_makes_it_and_its_goal_is_the_root(work: WorkClient) -> None:
    opened = work.call("work.open", project="borealis", goal="northern lights")

    root = opened.root
    assert (root.summary, root.parent, root.resolved, root.rev) == ("northern lights", UNSET, False, 1)
    assert (root.state, root.properties, root.context_links, root.evidence) == (UNSET, {}, [], [])
    assert (root.created_by, root.created_at) == ("ada", "2026-03-01T09:00:00.000Z")
    assert opened.policies is UNSET


def test_an_answer_says_that_it_made_a_project_and_which_ones_it_may_have_meant(work: WorkClient) -> None:
    first = work.call("work.open", project="borealis", goal="the sky")
    second = work.call("work.open", project="boreales")
    again = work.call("work.open", project="boreales")

    assert (first.created, first.warnings) == (True, UNSET)
    assert second.created
    [warning] = second.warnings
    assert "'borealis'" in warning
    assert "briefing.undo" in warning
    assert (again.created, again.warnings) == (UNSET, UNSET)


def test_names_that_the_caller_may_not_see_are_not_near(engine: Engine, work: WorkClient) -> None:
    work.call("work.open", project="borealis")
    finn = engine.session(person("finn"))
    engine.session("finn").call("project.create", name="finn's own")

    assert finn.call("work.open", project="boreales").warnings is UNSET


def test_a_goal_for_a_project_that_exists_is_ignored_with_a_warning(work: WorkClient) -> None:
    opened = work.call("work.open", project="atlas")

    [warning] = work.call("work.open", project="atlas", goal="another one").warnings
    [other] = work.call("work.open", project="atlas", goal="another one", policies={"overlap": "off"}).warnings

    assert warning == other
    assert "work.update" in warning
    assert work.node("root").summary == opened.root.summary
    assert work.call("work.open", project="atlas", goal=opened.root.summary).warnings is UNSET


def test_a_project_without_a_goal_is_called_by_its_name(work: WorkClient) -> None:
    assert work.call("work.open", project="borealis").root.summary == "borealis"


def test_opening_a_project_again_changes_nothing(engine: Engine, work: WorkClient) -> None:
    written = "SELECT p.rev, (SELECT count(*) FROM events) FROM projects AS p"
    before = engine.as_owner(written), work.open()

    assert work.open() == before[1]
    assert engine.as_owner(written) == before[0]


def test_whoever_makes_a_project_by_opening_it_owns_it(engine: Engine, work: WorkClient) -> None:
    work.call("work.open", project="borealis")

    members = engine.session("ada").call("member.list", scopeId="borealis").members
    assert [(one.user_id, one.role) for one in members] == [("ada", "owner")]


def test_a_project_made_in_another_way_has_a_root_from_the_start(engine: Engine, work: WorkClient) -> None:
    made = engine.session("ada").call("project.create", name="borealis", goal="northern lights")

    opened = work.call("work.open", project=made.project.id)
    assert (opened.root.summary, opened.summary.total) == ("northern lights", 1)


def test_without_a_project_all_of_them_are_listed_with_how_much_there_is_to_do(work: WorkClient) -> None:
    work.plan("a\nb")
    work.resolve("a")
    work.call("work.open", project="borealis", goal="northern lights")

    listed = {one.summary: one for one in work.call("work.open").projects}

    atlas = listed["a map of everything"]
    assert (atlas.total, atlas.resolved, atlas.unresolved) == (3, 1, 2)
    assert atlas.updated_at == "2026-03-01T09:00:00.000Z"
    assert listed["northern lights"].total == 1


def test_the_id_in_the_list_is_what_every_tool_takes_as_project(work: WorkClient) -> None:
    work.plan("a")
    (atlas,) = work.call("work.open").projects

    assert work.call("work.open", project=atlas.id).root.id == work["root"]
    assert work.call("work.next", project=atlas.id).nodes[0].node.id == work["a"]
    assert work.call("work.query", project=atlas.id).total == 2
    assert work.call("work.onboard", project=atlas.id).counts.total == 2


def test_the_list_has_only_projects_that_the_caller_may_see(engine: Engine, work: WorkClient) -> None:
    engine.session("finn").call("project.create", name="finn's own")

    assert [one.name for one in work.by(person("finn")).call("work.open").projects] == ["finn's own"]


def test_the_counts_say_what_is_blocked_and_what_can_be_started(work: WorkClient) -> None:
    work.plan("""
        phase
          a
          b: a
          c: a, b
        other
    """)
    assert work.counts() == (6, 0, 6, 2, 2)

    work.resolve("a")

    assert work.counts() == (6, 1, 5, 1, 2)


def test_the_root_is_never_work(work: WorkClient) -> None:
    assert work.next() == []
    work.plan("a")
    work.resolve("a")

    assert work.next() == []
    assert work.claim() == []
    assert work.query(is_actionable=True) == []
    assert work.counts() == (2, 1, 1, 0, 0)


@try_each("operation", ["work.next", "work.claim", "work.query", "work.plan", "work.onboard"])
def test_an_unknown_project_is_not_found_and_near_names_are_given(work: WorkClient, operation: str) -> None:
    more: dict[str, Any] = {"nodes": [{"ref": "a", "summary": "a"}]} if operation == "work.plan" else {}

    refusal = error_of(lambda: work.call(operation, project="atals", **more))

    assert isinstance(refusal, NotFound)
    assert refusal.details["near"] == ["atlas"]


def test_the_policies_of_a_project_that_is_not_there_yet_are_set_when_it_is_made(work: WorkClient) -> None:
    work.call("work.open", project="borealis", policies={"evidence": "require"}, decision="we want to see it")

    assert work.call("work.open", project="borealis").policies.evidence == "require"


ANY_CHANGE: dict[str, Callable[[WorkClient], Any]] = {
    "plan": lambda work: work.plan("c"),
    "claim": lambda work: work.claim(),
    "update": lambda work: work.update("a", summary="other"),
    "connect": lambda work: work.connect("a: b"),
    "move": lambda work: work.move("a", "b"),
    "drop": lambda work: work.drop("a"),
    "policies": lambda work: work.open(policies={"evidence": "off"}),
}
ANY_QUESTION: dict[str, Callable[[WorkClient], Any]] = {
    "open": lambda work: work.open(),
    "next": lambda work: work.next(),
    "context": lambda work: work.context("a"),
    "query": lambda work: work.query(),
    "history": lambda work: work.history("a"),
    "onboard": lambda work: work.call("work.onboard", project=work.project),
}


@pytest.fixture
def archived_project(engine: Engine, work: WorkClient) -> WorkClient:
    """Ada at her archived project."""
    work.plan("a\nb")
    engine.session("ada").call("project.archive", project="atlas")
    return work


@try_each("change", ANY_CHANGE)
def test_an_archived_project_cannot_be_changed(archived_project: WorkClient, change: str) -> None:
    refusal = error_of(lambda: ANY_CHANGE[change](archived_project))

    assert isinstance(refusal, Conflict)
    assert refusal.code == "project_archived"


def test_an_archived_project_can_be_read(engine: Engine, work: WorkClient) -> None:
    work.plan("a\nb")
    before = [question(work) for question in ANY_QUESTION.values()]
    engine.session("ada").call("project.archive", project="atlas")

    after = [question(work) for question in ANY_QUESTION.values()]

    assert after[:-1] == before[:-1]
    assert after[-1].project.archived_at


@pytest.fixture
def cleo(engine: Engine, work: WorkClient) -> WorkClient:
    """Cleo, who views Ada's project."""
    work.plan("a\nb")
    engine.session("ada").call("member.add", scopeId="atlas", userId="cleo", role="viewer")
    return work.by(person("cleo"))


@try_each("change", ANY_CHANGE)
def test_a_viewer_reads_and_changes_nothing(cleo: WorkClient, change: str) -> None:
    assert error_of(lambda: ANY_CHANGE[change](cleo)).code == "forbidden"
    assert [question(cleo) for question in ANY_QUESTION.values()]


NAMING_A_NODE = ("update", "move", "drop")  # an edge to an unknown node is rejected


@pytest.fixture
def finn(engine: Engine, work: WorkClient) -> WorkClient:
    """Finn, who has his own project and is no member of Ada's."""
    work.plan("a\nb")
    engine.session("finn").call("project.create", name="finn's own")
    return work.by(person("finn"))


@try_each("change", NAMING_A_NODE)
def test_to_a_stranger_a_node_reads_like_one_that_is_missing(finn: WorkClient, change: str) -> None:
    nowhere = WorkClient(finn.session, "atlas", {"a": "oooooo", "b": "oooooo"})

    hidden, missing = error_of(lambda: ANY_CHANGE[change](finn)), error_of(lambda: ANY_CHANGE[change](nowhere))

    assert hidden.code == missing.code == "not_found"
    assert hidden.message.replace(finn["a"], "…") == missing.message.replace("oooooo", "…")
