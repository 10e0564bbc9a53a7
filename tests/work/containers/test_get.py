"""A container is shown with what lies beside it: sections, counts, and what one must know about its files."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from msgspec import UNSET, to_builtins

from groundplan.kernel.errors import Invalid, NotFound
from groundplan.kernel.output_gate import count_tokens, encode
from tests.work.containers.desk import Containers
from tests.work.desk import refused


def section(desk: Containers, name: str, title: str, content: str, kind: str = "TASK") -> None:
    desk.call("section.add", entityType=kind, entityId=desk[name], title=title, content=content)


def got(desk: Containers, name: str, **given: Any) -> Any:
    return desk.call("container.get", containerType=desk.kind(name), id=desk[name], **given)


def know(desk: Containers) -> None:
    """A molecule with an atom, and an atom without."""
    made = {"projectId": "atlas", "createdByTaskId": desk["walk"]}
    molecule = desk.call(
        "knowledge.create", **made, entityType="molecule", name="Payments", knowledge="In cents."
    ).molecule
    of = {"moleculeId": molecule.id, "paths": ["src/pay/**"], "knowledge": "Hooks are idempotent."}
    desk.call("knowledge.create", **made, entityType="atom", name="Webhooks", **of)
    desk.call(
        "knowledge.create", **made, entityType="atom", name="Retry", paths=["src/shared/*"], knowledge="Backs off."
    )


def test_a_container_alone_comes_without_anything_beside_it(desk: Containers) -> None:
    desk.task("walk")
    section(desk, "walk", "Notes", "n")

    answer = got(desk, "walk")

    assert (answer.sections, answer.graph_context, answer.task_counts) == (UNSET, UNSET, UNSET)


@pytest.mark.parametrize(("name", "kind"), [("walk", "TASK"), ("coast", "FEATURE")])
def test_sections_come_in_their_order(desk: Containers, name: str, kind: str) -> None:
    desk.feature("coast")
    desk.task("walk")
    for title in ("Notes", "Plan"):
        section(desk, name, title, f"about {title}", kind)

    sections = got(desk, name, includeSections=True).sections

    assert [(one.title, one.content, one.ordinal) for one in sections] == [
        ("Notes", "about Notes", 0),
        ("Plan", "about Plan", 1),
    ]


def test_a_project_has_sections_and_counts(desk: Containers) -> None:
    desk.task("walk")
    desk.call("section.add", entityType="PROJECT", entityId="atlas", title="Why", content="To be found.")

    answer = desk.project_shown(includeSections=True)

    assert ([one.title for one in answer.sections], answer.task_counts.by_status) == (["Why"], {"NEW": 1})


def test_a_task_is_shown_with_what_one_must_know_about_its_files(desk: Containers) -> None:
    desk.task("walk")
    know(desk)
    section(desk, "walk", "Context Files", "- `src/pay/hook.ts`\nsrc/shared/retry.ts, docs/new.md\nnot a path at all")

    answer = got(desk, "walk", includeGraphContext=True)

    assert answer.task.id == desk["walk"]
    assert [one.title for one in answer.sections] == ["Context Files"]
    context = to_builtins(answer.graph_context)
    (molecule,) = context["molecules"]
    (atom,) = molecule["atoms"]
    assert (molecule["name"], atom["name"], atom["matchedPaths"]) == ("Payments", "Webhooks", ["src/pay/hook.ts"])
    assert [(one["name"], one["matchedPaths"]) for one in context["orphanAtoms"]] == [
        ("Retry", ["src/shared/retry.ts"])
    ]
    assert context["unmatchedPaths"] == ["docs/new.md"]


def test_a_task_without_context_files_has_nothing_to_know(desk: Containers) -> None:
    desk.task("walk")
    know(desk)

    for content in (None, "", "nothing of use here"):
        if content is not None:
            section(desk, "walk", "Context Files", content)
        answer = got(desk, "walk", includeGraphContext=True)
        assert to_builtins(answer.graph_context) == {"molecules": [], "orphanAtoms": [], "unmatchedPaths": []}


def test_only_tasks_have_files_to_know_about(desk: Containers) -> None:
    desk.feature("coast")

    for kind, place in (("project", "atlas"), ("feature", desk["coast"])):
        asked = {"containerType": kind, "id": place, "includeGraphContext": True}
        error = refused(partial(desk.call, "container.get", **asked))
        assert isinstance(error, Invalid)
        assert error.details["field"] == "includeGraphContext"


def test_sections_that_do_not_fit_lose_their_contents_and_say_so(desk: Containers) -> None:
    desk.task("walk")
    for place in range(4):
        section(desk, "walk", f"s{place}", "c" * 6_000)
    section(desk, "walk", "Context Files", "\n".join(f"src/file{place}.ts" for place in range(100)))

    answer = got(desk.capped(3_000), "walk", includeSections=True, includeGraphContext=True)

    assert count_tokens(encode(answer)) <= 3_000
    assert answer.sections[-1].left_out == {"content": 1}
    assert len(answer.graph_context.unmatched_paths) == 100


def test_what_is_not_there_is_not_found_and_what_is_another_thing_is_said_so(desk: Containers) -> None:
    desk.feature("coast")
    desk.task("walk")

    for kind, name in (("feature", "walk"), ("task", "coast"), ("task", "root")):
        error = refused(partial(desk.call, "container.get", containerType=kind, id=desk[name]))
        assert isinstance(error, NotFound)
        assert "it is a" in error.message
    assert isinstance(refused(lambda: desk.call("container.get", containerType="project", id="nowhere")), NotFound)


def test_an_overview_shows_what_is_in_it(desk: Containers) -> None:
    desk.feature("coast", priority="HIGH")
    desk.feature("hills")
    desk.task("walk", of="coast", complexity=2)
    desk.hold("coast")
    desk.task("pay")

    whole = desk.call("container.overview", containerType="project", id="atlas")
    assert [(one.name, one.status, one.priority, one.is_blocked, one.task_counts.total) for one in whole.features] == [
        ("coast", "NEW", "HIGH", True, 1),
        ("hills", "NEW", "MEDIUM", False, 0),
    ]
    assert (whole.project.name, whole.task_counts.total) == ("atlas", 2)
    part = desk.call("container.overview", containerType="feature", id=desk["coast"])
    assert [(one.title, one.complexity, one.is_blocked) for one in part.tasks] == [("walk", 2, True)]
    alone = desk.call("container.overview", containerType="task", id=desk["walk"])
    assert (alone.task.title, alone.tasks, alone.features) == ("walk", UNSET, UNSET)
