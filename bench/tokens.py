"""Count the tokens of tools/list, of each operation on a project of thirty nodes, and of a claim-work-resolve cycle.

A token is four characters of compact JSON: the arguments of a request, or the text of an answer.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench import swimlanes
from bench.options import Options
from bench.peers import Peer, start_groundplan
from bench.report import Result
from bench.swimlanes import PROJECT, Swimlanes

CHARS_PER_TOKEN = 4
AGENT = "claude-code-v1"

LISTING_MAX = {
    None: 7_500,
    "work": 2_200,
    "work,knowledge,briefing": 4_200,
    "all": 11_500,
}

# Token limits of a request and its answer, from the contract of the work graph; the upper end of each range.
MAX = {
    "graph_open": (30, 100),
    "graph_plan": (160, 55),
    "graph_next": (30, 300),
    "graph_context": (20, 220),
    "graph_update": (80, 40),
    "graph_connect": (40, 20),
    "graph_query": (60, 130),
    "graph_restructure": (50, 40),
    "graph_history": (20, 200),
    "graph_onboard": (20, 600),
}
TOOLS_WITH_LEAN = ("graph_next", "graph_context", "graph_query", "graph_history", "graph_onboard")
CYCLE_MAX, LEAN_CYCLE_MAX = 450, 300


def run(options: Options) -> list[Result]:
    """Return the results of this part."""
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        results = list(_measure_listings(Path(folder)))
        for lean in (False, True):
            with start_groundplan(Path(folder) / f"lean-{lean}.db", "--agent", AGENT) as server:
                results += measure_operations(server.begin(), lean=lean)
    return results


def _measure_listings(folder: Path) -> Iterator[Result]:
    """Count the tokens of tools/list."""
    for groups, bar in LISTING_MAX.items():
        flags = ("--tools", groups) if groups else ()
        with start_groundplan(folder / "listed.db", *flags) as server:
            listing = server.begin().ask("tools/list")["tools"]
        what = f"tools/list, {groups or 'default'}; tools: {len(listing)}"
        yield Result("tokens", what, _count_tokens(_encode({"tools": listing})), "tokens", bar=bar)


def measure_operations(server: Peer, *, lean: bool) -> list[Result]:
    """Count the tokens of each operation and of the cycle, against the figures of the contract."""
    lanes = swimlanes.plan_project(server, _ask)
    results = []
    for tool, what, arguments in _list_calls(lanes):
        if lean and tool not in TOOLS_WITH_LEAN:
            server.call(tool, arguments)
            continue
        sent = {**arguments, "lean": True} if lean else arguments
        answer = server.call(tool, sent)
        request_max, answer_max = MAX[tool]
        name = f"{tool} ({what}){', lean' if lean else ''}"
        results += [
            Result("tokens", f"{name}: request", _count_tokens(_encode(sent)), "tokens", bar=request_max),
            Result("tokens", f"{name}: answer", _count_tokens(answer), "tokens", bar=answer_max),
        ]
    spent = _measure_cycle(server, lean=lean)
    bar = LEAN_CYCLE_MAX if lean else CYCLE_MAX
    return [*results, Result("tokens", f"claim, progress, resolve{', lean' if lean else ''}", spent, "tokens", bar=bar)]


def _list_calls(lanes: Swimlanes) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield calls of every tool: the tool, a description and the arguments."""
    done, task, waiting = lanes.tasks[0][1], lanes.tasks[1][1], lanes.tasks[1][2]
    yield "graph_open", "project", {"project": PROJECT}
    yield "graph_next", "a done dependency", {"project": PROJECT}
    yield "graph_context", "phase with 4 tasks", {"node_id": lanes.phases[3]}
    yield "graph_context", "task with a dependency", {"node_id": task}
    yield "graph_query", "3 results", {"project": PROJECT, "filter": {"text": "lane", "resolved": False}, "limit": 3}
    yield "graph_history", "a resolved task", {"node_id": done}
    yield "graph_onboard", "30 nodes", {"project": PROJECT}
    new = [
        ("a", "Export a board as a file for archiving", []),
        ("b", "Import a board from such a file", ["a"]),
        ("c", "Warn before an import replaces cards", ["b"]),
        ("d", "Document both for the first ten teams", ["a", "b"]),
    ]
    parent = lanes.phases[5]
    nodes = [
        {"ref": ref, "parent_ref": parent, "summary": summary, **({"depends_on": waits} if waits else {})}
        for ref, summary, waits in new
    ]
    yield "graph_plan", "4 nodes", {"nodes": nodes}
    yield "graph_connect", "1 edge", {"edges": [{"from": waiting, "to": lanes.tasks[2][1], "type": "relates_to"}]}
    move = {"op": "move", "node_id": lanes.tasks[5][2], "new_parent": lanes.phases[4]}
    yield "graph_restructure", "1 move", {"operations": [move]}
    evidence = [
        {"type": "git", "ref": "5be1f09 Create, rename and delete lanes"},
        {"type": "test", "ref": "tests/api/lanes.test.ts: 14 passed"},
    ]
    change = {"node_id": task, "resolved": True, "add_evidence": evidence}
    yield "graph_update", "1 node resolved", {"updates": [change]}


def _measure_cycle(server: Peer, *, lean: bool) -> int:
    """Claim a node, add a note, resolve it with evidence, and return the tokens of the three requests and answers."""
    spent = 0

    def ask(tool: str, arguments: dict[str, Any]) -> Any:
        nonlocal spent
        answer = server.call(tool, arguments)
        spent += _count_tokens(_encode(arguments)) + _count_tokens(answer)
        return json.loads(answer)

    (offer,) = ask("graph_next", {"project": PROJECT, "claim": True, **({"lean": True} if lean else {})})["nodes"]
    node_id = offer["node"]["id"]
    note = {"type": "note", "ref": "The move needs a transaction"}
    ask("graph_update", {"updates": [{"node_id": node_id, "add_evidence": [note]}]})
    commit = {"type": "git", "ref": "8c3d771 Move cards atomically"}
    ask("graph_update", {"updates": [{"node_id": node_id, "resolved": True, "add_evidence": [commit]}]})
    return spent


def _ask(server: Peer, tool: str, arguments: dict[str, Any]) -> Any:
    return json.loads(server.call(tool, arguments))


def _encode(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _count_tokens(text: str) -> int:
    return -(-len(text) // CHARS_PER_TOKEN)
