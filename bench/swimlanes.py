"""A typical project of agents: thirty nodes in six phases, a third of them done, with links and evidence.

The token limits of the work graph were set for a project of this kind.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from bench.peers import Peer

PROJECT = "swimlanes"
GOAL = "Swimlanes v0: a board where agents and people see who does what"

PHASES = {
    "Lay the foundations of the board": (
        "Set up the repository, linting and the test run",
        "Define the data model for lanes and cards",
        "Write the migration for lanes and cards",
        "Seed a demo board for manual testing",
    ),
    "Serve lanes and cards over the API": (
        "List lanes with their cards in one request",
        "Create, rename and delete a lane",
        "Move a card between lanes atomically",
        "Reject moves into a lane that is full",
    ),
    "Draw the board in the browser": (
        "Render lanes side by side with scrolling",
        "Render a card with title, owner and state",
        "Drag a card to another lane with the mouse",
        "Make every action reachable by keyboard",
    ),
    "Keep boards in step for all viewers": (
        "Publish card changes on an event stream",
        "Apply remote changes without flicker",
        "Resolve two moves of the same card",
        "Show who else is looking at the board",
    ),
    "Let teams sign in and share boards": (
        "Sign in with the company's identity provider",
        "Invite a colleague to a board by mail",
        "Restrict editing to members of the board",
        "Record who changed what, and when",
    ),
    "Prepare the first release": (
        "Measure load with a board of 2,000 cards",
        "Write the guide for the first ten teams",
        "Back up the database every night",
        "Announce the release and watch the errors",
    ),
}
LINKS = {0: ["docs/adr/0001-data-model.md"], 1: ["src/api/lanes.ts", "docs/api.md"], 2: ["src/board/Lane.tsx"]}
DONE = (  # phase, task, commit
    (0, 0, "9b1c2de Add repository, linting and CI"),
    (0, 1, "41fa0c7 Define lanes, cards and positions"),
    (0, 2, "c07d95a Migrate lanes and cards"),
    (0, 3, "77e01b3 Seed a demo board"),
    (1, 0, "e4a9d10 List lanes with their cards"),
    (2, 0, "0d7be52 Render lanes with scrolling"),
)


class Swimlanes(NamedTuple):
    """Ids of the project's nodes."""

    phases: list[str]
    tasks: list[list[str]]  # by phase


def plan_project(server: Peer, ask: Any) -> Swimlanes:
    """Plan the project and do the first part of its work. `ask` calls a tool and returns its answer."""
    ask(server, "graph_open", {"project": PROJECT, "goal": GOAL})
    nodes = []
    for p, (phase, tasks) in enumerate(PHASES.items()):
        nodes.append({"ref": f"p{p}", "summary": phase, "context_links": LINKS.get(p, [])})
        for t, task in enumerate(tasks):
            node: dict[str, Any] = {"ref": f"p{p}t{t}", "parent_ref": f"p{p}", "summary": task}
            if t:
                node["depends_on"] = [f"p{p}t{t - 1}"]
            elif p > 1:
                node["depends_on"] = [f"p{p - 1}t0"]
            if p == 1:
                node["properties"] = {"priority": 2}
            nodes.append(node)
    created = ask(server, "graph_plan", {"project": PROJECT, "nodes": nodes})["created"]
    ids = {one["ref"]: one["id"] for one in created}
    lanes = Swimlanes(
        [ids[f"p{p}"] for p in range(len(PHASES))],
        [[ids[f"p{p}t{t}"] for t in range(len(tasks))] for p, tasks in enumerate(PHASES.values())],
    )
    for p, t, commit in DONE:
        finish(server, ask, lanes.tasks[p][t], commit)
    finish(server, ask, lanes.phases[0], "c07d95a Migrate lanes and cards")
    return lanes


def finish(server: Peer, ask: Any, node_id: str, commit: str) -> None:
    """Resolve a node with a commit as evidence."""
    evidence = [{"type": "git", "ref": commit}]
    ask(server, "graph_update", {"updates": [{"node_id": node_id, "resolved": True, "add_evidence": evidence}]})
