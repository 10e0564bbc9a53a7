"""What one agent learns, the next one knows: knowledge by agents at real servers, on both engines."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scenarios.agents import Agent, Serve

pytestmark = pytest.mark.slow  # every test starts servers

FILES = ["src/pay/hook.ts", "src/shared/retry.ts"]


def data(agent: Agent, tool: str, **arguments: Any) -> Any:
    """Return the data of a successful call."""
    answer = agent.answer(tool, **arguments)
    assert answer["success"] is True
    return answer["data"]


def read_context(agent: Agent, *paths: str) -> Any:
    return data(agent, "query_graph", operation="context", projectId="shop", paths=",".join(paths))


def create_project(agent: Agent) -> tuple[str, str, str]:
    """Create a project with a task, a molecule and an atom."""
    agent.answer("graph_open", project="shop", goal="Buying takes two minutes")
    task = agent.answer("graph_plan", project="shop", nodes=[{"ref": "a", "summary": "Pay by card"}])["created"][0][
        "id"
    ]
    made = {"operation": "create", "projectId": "shop", "createdByTaskId": task}
    molecule = data(agent, "manage_graph", **made, entityType="molecule", name="Payments", knowledge="In cents.")
    of = {"moleculeId": molecule["molecule"]["id"], "paths": '["src/pay/**"]', "knowledge": "Hooks are idempotent."}
    atom = data(agent, "manage_graph", **made, entityType="atom", name="Webhooks", **of)
    return task, molecule["molecule"]["id"], atom["atom"]["id"]


def test_what_one_agent_writes_down_the_next_one_is_told_about_its_files(serve: Serve) -> None:
    ada, ben = (serve(name, "--access", "open") for name in ("ada", "ben"))
    task, molecule_id, atom_id = create_project(ada)
    entry = {"parentType": "atom", "parentId": atom_id, "taskId": task, "summary": "Retries are ours now"}
    data(ada, "manage_changelog", operation="append", **entry)

    answer = read_context(ben, "./src/pay/hook.ts", "- `src/shared/retry.ts`")

    (molecule,) = answer["molecules"]
    (atom,) = molecule["atoms"]
    assert (molecule["id"], molecule["name"], molecule["knowledge"]) == (molecule_id, "Payments", "In cents.")
    assert (atom["id"], atom["knowledge"], atom["matchedPaths"]) == (atom_id, "Hooks are idempotent.", [FILES[0]])
    assert [(one["taskId"], one["summary"]) for one in atom["changelog"]] == [(task, "Retries are ours now")]
    assert (answer["orphanAtoms"], answer["unmatchedPaths"]) == ([], [FILES[1]])


def test_a_change_of_paths_by_one_agent_is_seen_by_the_server_of_another_at_once(serve: Serve) -> None:
    ada, ben = (serve(name, "--access", "open") for name in ("ada", "ben"))
    _, molecule_id, atom_id = create_project(ada)
    assert read_context(ben, *FILES)["unmatchedPaths"] == [FILES[1]]

    update = {"operation": "update", "entityType": "atom", "id": atom_id}
    data(ada, "manage_graph", **update, version=1, paths=["src/shared/**"])
    assert read_context(ben, *FILES)["unmatchedPaths"] == [FILES[0]]
    gone = {"operation": "delete", "entityType": "molecule", "id": molecule_id, "version": 1, "cascade": True}
    assert data(ada, "manage_graph", **gone)["deletedAtoms"] == 1

    assert read_context(ben, *FILES) == {"molecules": [], "orphanAtoms": [], "unmatchedPaths": FILES}


def test_of_two_agents_who_append_from_one_version_the_second_retries_and_both_texts_are_there(serve: Serve) -> None:
    ada, ben = (serve(name, "--access", "open") for name in ("ada", "ben"))
    task, _, atom_id = create_project(ada)
    append = {"operation": "update", "entityType": "atom", "id": atom_id, "knowledgeMode": "append", "lastTaskId": task}

    data(ada, "manage_graph", **append, version=1, knowledge="Ada: thirty seconds at most.")
    refused = ben.error_of("manage_graph", **append, version=1, knowledge="Ben: signatures first.")
    assert (refused["code"], refused["currentVersion"], refused["details"]["currentVersion"]) == ("CONFLICT", 2, 2)
    data(ben, "manage_graph", **append, version=refused["currentVersion"], knowledge="Ben: signatures first.")

    atom = data(ada, "query_graph", operation="get", entityType="atom", id=atom_id)["atom"]
    assert (atom["version"], atom["updatedBy"]) == (3, "ben")
    lines = [line for line in atom["knowledge"].splitlines() if line]
    assert lines[0::2] == ["Hooks are idempotent.", "Ada: thirty seconds at most.", "Ben: signatures first."]
    assert all(line.startswith("---[20") and line.endswith(f" task:{task}]---") for line in lines[1::2])


def test_a_viewer_reads_and_is_refused_to_write_and_a_stranger_finds_nothing(serve: Serve) -> None:
    owner = serve("ada", "--access", "open", "--kind", "person")
    _, _, atom_id = create_project(owner)
    owner.members("upsert", scopeId="shop", userId="cleo", role="viewer", kind="agent")
    viewer, stranger = serve("cleo"), serve("finn")
    change = {"operation": "update", "entityType": "atom", "id": atom_id, "version": 1, "knowledge": "Otherwise"}

    assert read_context(viewer, *FILES)["molecules"]
    assert viewer.error_of("manage_graph", **change)["code"] == "FORBIDDEN"
    assert stranger.error_of("manage_graph", **change)["code"] == "NOT_FOUND"
    asked = {"operation": "context", "projectId": "shop", "paths": "src/pay/hook.ts"}
    assert stranger.error_of("query_graph", **asked)["code"] == "NOT_FOUND"
