"""A container is returned with its sections, its counts and the knowledge about its files."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from msgspec import UNSET, to_builtins

from groundplan.kernel.answers import count_tokens, encode
from groundplan.kernel.errors import NotFound
from tests.errors import error_of
from tests.work.containers.client import ContainersClient


def add_section(client: ContainersClient, name: str, title: str, content: str, kind: str = "TASK") -> None:
    client.call("section.add", entityType=kind, entityId=client[name], title=title, content=content)


def get(client: ContainersClient, name: str, **given: Any) -> Any:
    return client.call("container.get", containerType=client.kind(name), id=client[name], **given)


def add_knowledge(client: ContainersClient) -> None:
    """Create a molecule with an atom, and an atom without a molecule."""
    made = {"projectId": "atlas", "createdByTaskId": client["walk"]}
    molecule = client.call(
        "knowledge.create", **made, entityType="molecule", name="Payments", knowledge="In cents."
    ).molecule
    of = {"moleculeId": molecule.id, "paths": ["src/pay/**"], "knowledge": "Hooks are idempotent."}
    client.call("knowledge.create", **made, entityType="atom", name="Webhooks", **of)
    client.call(
        "knowledge.create", **made, entityType="atom", name="Retry", paths=["src/shared/*"], knowledge="Backs off."
    )


def test_a_container_alone_comes_without_anything_beside_it(client: ContainersClient) -> None:
    client.task("walk")
    add_section(client, "walk", "Notes", "n")

    answer = get(client, "walk")

    assert (answer.sections, answer.graph_context, answer.task_counts) == (UNSET, UNSET, UNSET)


@pytest.mark.parametrize(("name", "kind"), [("walk", "TASK"), ("coast", "FEATURE")])
def test_sections_come_in_their_order(client: ContainersClient, name: str, kind: str) -> None:
    client.feature("coast")
    client.task("walk")
    for title in ("Notes", "Plan"):
        add_section(client, name, title, f"about {title}", kind)

    sections = get(client, name, includeSections=True).sections

    assert [(one.title, one.content, one.ordinal) for one in sections] == [
        ("Notes", "about Notes", 0),
        ("Plan", "about Plan", 1),
    ]


def test_a_project_has_sections_and_counts(client: ContainersClient) -> None:
    client.task("walk")
    client.call("section.add", entityType="PROJECT", entityId="atlas", title="Why", content="To be found.")

    answer = client.get_project(includeSections=True)

    assert ([one.title for one in answer.sections], answer.task_counts.by_status) == (["Why"], {"NEW": 1})


def test_a_task_is_shown_with_what_one_must_know_about_its_files(client: ContainersClient) -> None:
    client.task("walk")
    add_knowledge(client)
    add_section(
        client, "walk", "Context Files", "- `src/pay/hook.ts`\nsrc/shared/retry.ts, docs/new.md\nnot a path at all"
    )

    answer = get(client, "walk", includeGraphContext=True)

    assert answer.task.id == client["walk"]
    assert [one.title for one in answer.sections] == ["Context Files"]
    context = to_builtins(answer.graph_context)
    (molecule,) = context["molecules"]
    (atom,) = molecule["atoms"]
    assert (molecule["name"], atom["name"], atom["matchedPaths"]) == ("Payments", "Webhooks", ["src/pay/hook.ts"])
    assert [(one["name"], one["matchedPaths"]) for one in context["orphanAtoms"]] == [
        ("Retry", ["src/shared/retry.ts"])
    ]
    assert context["unmatchedPaths"] == ["docs/new.md"]


def test_the_files_of_a_task_are_also_the_paths_among_its_context_links(client: ContainersClient) -> None:
    client.task("walk")
    add_knowledge(client)
    links = ["src/pay/hook.ts#L10", "src/pay/hook.ts", "docs/new.md", "https://example.org/a.md", "9fceb02", "see Ben"]
    links.append("docs/user guide/intro.md")
    node = {"ref": "one", "summary": "One", "context_links": links}
    (planned,) = client.call("work.plan", project="atlas", nodes=[node]).created
    section = {"entityType": "TASK", "entityId": planned.id, "title": "Context Files"}
    client.call("section.add", **section, content="src/shared/retry.ts, docs/new.md")

    asked = {"containerType": "task", "id": planned.id, "includeGraphContext": True}
    context = to_builtins(client.call("container.get", **asked).graph_context)

    assert [atom["matchedPaths"] for atom in context["molecules"][0]["atoms"]] == [["src/pay/hook.ts"]]
    assert [one["matchedPaths"] for one in context["orphanAtoms"]] == [["src/shared/retry.ts"]]
    assert context["unmatchedPaths"] == ["docs/new.md", "docs/user guide/intro.md"]


def test_the_files_of_a_task_keep_the_order_of_its_links_and_lines(client: ContainersClient) -> None:
    client.task("walk")
    add_knowledge(client)
    add_section(client, "walk", "Context Files", "z.md\nsrc/pay/z.ts\na.md, src/pay/a.ts\nsrc/pay/m.ts\nb.md")

    context = to_builtins(get(client, "walk", includeGraphContext=True).graph_context)

    assert context["molecules"][0]["atoms"][0]["matchedPaths"] == ["src/pay/z.ts", "src/pay/a.ts", "src/pay/m.ts"]
    assert context["unmatchedPaths"] == ["z.md", "a.md", "b.md"]


def test_a_task_without_context_files_has_nothing_to_know(client: ContainersClient) -> None:
    client.task("walk")
    add_knowledge(client)

    for content in (None, "", "nothing of use here"):
        if content is not None:
            add_section(client, "walk", "Context Files", content)
        answer = get(client, "walk", includeGraphContext=True)
        assert to_builtins(answer.graph_context) == {"molecules": [], "orphanAtoms": [], "unmatchedPaths": []}


def test_only_tasks_have_files_to_know_about_and_others_are_shown_with_a_warning(client: ContainersClient) -> None:
    client.feature("coast")

    for kind, place in (("project", "atlas"), ("feature", client["coast"])):
        asked = {"containerType": kind, "id": place}
        plain = client.call("container.get", **asked)
        answer = client.call("container.get", **asked, includeGraphContext=True)
        (warning,) = answer.warnings
        assert "includeGraphContext" in warning
        answer.warnings = UNSET
        assert answer == plain


def test_sections_that_do_not_fit_lose_their_contents_and_say_so(client: ContainersClient) -> None:
    client.task("walk")
    for place in range(4):
        add_section(client, "walk", f"s{place}", "c" * 6_000)
    add_section(client, "walk", "Context Files", "\n".join(f"src/file{place}.ts" for place in range(100)))

    answer = get(client.with_cap(3_000), "walk", includeSections=True, includeGraphContext=True)

    assert count_tokens(encode(answer)) <= 3_000
    assert answer.sections[-1].left_out == {"content": 1}
    assert len(answer.graph_context.unmatched_paths) == 100


def test_what_is_not_there_is_not_found_and_what_is_another_thing_is_said_so(client: ContainersClient) -> None:
    client.feature("coast")
    client.task("walk")

    for kind, name in (("feature", "walk"), ("task", "coast"), ("task", "root")):
        error = error_of(partial(client.call, "container.get", containerType=kind, id=client[name]))
        assert isinstance(error, NotFound)
        assert "it is a" in error.message
    assert isinstance(error_of(lambda: client.call("container.get", containerType="project", id="nowhere")), NotFound)


def test_an_overview_shows_what_is_in_it(client: ContainersClient) -> None:
    client.feature("coast", priority="HIGH")
    client.feature("hills")
    client.task("walk", of="coast", complexity=2)
    client.hold("coast")
    client.task("pay")

    whole = client.call("container.overview", containerType="project", id="atlas")
    assert [(one.name, one.status, one.priority, one.is_blocked, one.task_counts.total) for one in whole.features] == [
        ("coast", "NEW", "HIGH", True, 1),
        ("hills", "NEW", "MEDIUM", False, 0),
    ]
    assert (whole.project.name, whole.task_counts.total) == ("atlas", 2)
    part = client.call("container.overview", containerType="feature", id=client["coast"])
    assert [(one.title, one.complexity, one.is_blocked) for one in part.tasks] == [("walk", 2, True)]
    alone = client.call("container.overview", containerType="task", id=client["walk"])
    assert (alone.task.title, alone.tasks, alone.features) == ("walk", UNSET, UNSET)
