"""Work on the command line: the output for people and scripts, and the sources of JSON."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import groundplan
from groundplan.catalog import OPERATIONS
from groundplan.commands import list_commands_of
from groundplan.kernel.operations.registry import Group
from groundplan.surfaces.cli.work import RENDERERS
from groundplan.surfaces.mcp.tools import RegistryTools
from tests.surfaces.cli.conftest import Run

PLAN = [
    {"ref": "survey", "summary": "Survey the island"},
    {"ref": "coast", "summary": "Walk the coast", "parent_ref": "survey", "context_links": ["maps/1911.png"]},
    {"ref": "hills", "summary": "Measure the hills", "parent_ref": "survey", "depends_on": ["coast"]},
    {"ref": "print", "summary": "Print the map", "depends_on": ["survey"]},
]
# Stored text that a drawing must survive.
ODD_TEXT = "[bold red]:smile: \u202egnp.exe\nsecond line"
ODD: dict[str, Any] = {
    "ref": "odd",
    "summary": ODD_TEXT,
    "properties": {"nested": {"a": [1, None, {"b": []}]}, "": "", "priority": "high", "rev": 7, "flag": False},
    "context_links": ["[link]", "\u2028"],
}


@pytest.fixture
def ids(run: Run) -> dict[str, str]:
    """The ids of four nodes of atlas by ref."""
    run("work", "open", "atlas", "--goal", "A map that every walker trusts")
    planned = run("work", "plan", "--project", "atlas", "--nodes", json.dumps(PLAN), "--json").answer
    return {one["ref"]: one["id"] for one in planned["created"]}


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Put text on standard input."""
    return lambda text: monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


def resolve(node_id: str, **more: Any) -> str:
    return json.dumps([{"node_id": node_id, "resolved": True, **more}])


def test_next_shows_a_node_with_the_way_to_it(run: Run, ids: dict[str, str]) -> None:
    first, *rest = run("work", "next", "--project", "atlas").out.splitlines()

    assert first == f"{ids['coast']}  Walk the coast"
    shown = dict(line.strip().split(maxsplit=1) for line in rest)
    assert shown["in"].strip() == "A map that every walker trusts > Survey the island"
    assert shown["links"].strip() == "maps/1911.png"


def test_where_nothing_is_to_be_done_next_says_why(run: Run) -> None:
    run("work", "open", "atlas")

    assert run("work", "next", "--project", "atlas").out.startswith("No node is available: no work is planned yet")


def test_a_claim_is_taken_from_the_command_line(run: Run, ids: dict[str, str]) -> None:
    claimed = run("work", "claim", "--project", "atlas", "--json").answer["nodes"][0]

    assert (claimed["node"]["id"], claimed["claim"]) == (ids["coast"], 1)
    assert claimed["node"]["properties"]["_claimed_by"] == "ada"
    assert "claimed by  ada" in run("work", "next", "--project", "atlas").out
    assert run("work", "next", "--project", "atlas", "--person", "ben").out.startswith("No node is available")


def test_resolving_says_what_can_be_started_now(run: Run, ids: dict[str, str]) -> None:
    drawn = run("work", "update", "--updates", resolve(ids["coast"])).out

    assert f"Now ready to start:\n  {ids['hills']}  Measure the hills\n" in drawn
    assert "resolved without evidence" in drawn


def test_context_is_a_tree_that_shows_what_is_done(run: Run, ids: dict[str, str]) -> None:
    run("work", "update", "--updates", resolve(ids["coast"]))

    lines = run("work", "context", run("work", "open", "atlas", "--json").answer["root"]["id"]).out.splitlines()

    assert lines[lines.index("Children:") + 1 :] == [
        f"  [ ] {ids['survey']}  Survey the island",
        f"    [x] {ids['coast']}  Walk the coast",
        f"    [ ] {ids['hills']}  Measure the hills",
        f"  [ ] {ids['print']}  Print the map",
    ]


def test_a_tree_that_is_cut_says_how_much_is_missing(run: Run, ids: dict[str, str]) -> None:
    drawn = run("work", "context", ids["survey"][:5], "--depth", "0").out

    assert drawn.endswith("Children:\n  … 2 more\n")


def test_a_page_of_nodes_says_how_to_get_the_next_one(run: Run, ids: dict[str, str]) -> None:
    drawn = run("work", "query", "--project", "atlas", "--limit", "2").out
    cursor = run("work", "query", "--project", "atlas", "--limit", "2", "--json").answer["next_cursor"]

    assert drawn.endswith(f"\n\n2 of 5. Next page: add --cursor {cursor}\n")
    rest = run("work", "query", "--project", "atlas", "--cursor", cursor)
    assert "3 of 5." in rest.out
    assert "next page" not in rest.out


def test_history_tells_what_changed_and_why(run: Run, ids: dict[str, str]) -> None:
    evidence = [{"type": "note", "ref": "The north is wrong"}]
    run("work", "update", "--updates", resolve(ids["coast"], add_evidence=evidence), "--decision", "Walked twice")

    titles, _, newest, *_ = run("work", "history", ids["coast"]).out.splitlines()

    assert titles.split() == ["at", "who", "what", "changes", "why"]
    assert "resolved: no -> yes; evidence: note: The north is wrong" in newest
    assert newest.rstrip().endswith("Walked twice")


def test_connections_that_were_not_made_are_listed_with_the_reason(run: Run, ids: dict[str, str]) -> None:
    edges = [{"from": ids["coast"], "to": ids["hills"], "type": "depends_on"}]

    drawn = run("work", "connect", "--edges", json.dumps(edges)).out

    assert "0 applied." in drawn
    assert "cycle_detected" in drawn
    assert f"{ids['coast']}, {ids['hills']}, {ids['coast']}" in drawn


@pytest.mark.parametrize("lean", [False, True])
def test_every_answer_about_work_can_be_drawn_whatever_was_stored(
    run: Run, lean: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUNDPLAN_LEAN", str(lean))
    drawn = []

    def draw(*words: str) -> None:
        ended = run("work", *words)
        assert (ended.code, ended.err) == (0, ""), ended.err
        drawn.append(ended.out)

    run("init")
    draw("open")
    draw("onboard")
    draw("open", "atlas", "--goal", ODD_TEXT)
    draw("next", "--project", "atlas")
    draw("plan", "--project", "atlas", "--nodes", json.dumps([*PLAN, {**ODD, "parent_ref": "survey"}]))
    found = run("work", "query", "--project", "atlas", "--sort", "created", "--json").answer["nodes"]
    root, survey, coast, hills, last, odd = (one["id"] for one in found)
    policies = {"evidence": "off", "auto_resolve_parents": True, "claim_ttl_minutes": None}
    draw("open", "atlas", "--policies", json.dumps(policies))
    draw("open")
    draw("claim", "--project", "atlas", "--count", "2")
    draw("update", "--updates", resolve(odd, state={"deep": [None, {}]}, add_evidence=[{"type": "x", "ref": "[y]\n"}]))
    draw("connect", "--edges", json.dumps([{"from": coast, "to": odd, "type": "[relates]"}]))
    draw("connect", "--edges", json.dumps([{"from": "nobody", "to": coast, "type": "relates_to"}]))
    draw("next", "--project", "atlas", "--count", "5")
    draw("restructure", "--operations", json.dumps([{"op": "merge", "source": hills, "target": coast}]))
    draw("update", "--updates", resolve(coast), "--decision", ODD_TEXT)
    draw("plan", "--nodes", json.dumps([{"ref": "more", "summary": "More", "parent_ref": survey}]))
    for node in (root, survey, coast, odd, last):
        draw("context", node)
        draw("history", node)
    draw("history", hills)
    draw("query", "--project", "atlas")
    draw("query", "--project", "atlas", "--filter", '{"text": "nowhere"}')
    draw("onboard")
    draw("open", "borealis")
    draw("onboard")

    assert not any("\x1b" in text or "\u202e" in text for text in drawn)
    assert not any("UNSET" in text for text in drawn)


def test_every_operation_about_work_has_a_drawing() -> None:
    with_command = [one.name for one in OPERATIONS if list_commands_of(one.name)]
    assert RENDERERS.keys() == {name for name in with_command if name.startswith("work.")}


def test_json_is_exactly_the_answer_of_the_tool(run: Run, ids: dict[str, str]) -> None:
    calls: list[tuple[str, dict[str, Any], tuple[str, ...]]] = [
        ("graph_open", {"project": "atlas"}, ("open", "atlas")),
        ("graph_next", {"project": "atlas", "count": 2}, ("next", "--project", "atlas", "--count", "2")),
        ("graph_context", {"node_id": ids["survey"]}, ("context", ids["survey"])),
        ("graph_query", {"project": "atlas", "lean": True}, ("query", "--project", "atlas", "--lean")),
        ("graph_history", {"node_id": ids["coast"]}, ("history", ids["coast"])),
        ("graph_onboard", {}, ("onboard",)),
    ]
    with groundplan.open("groundplan.db", actor="ada") as session:
        tools = RegistryTools(OPERATIONS, frozenset(Group), session.execute)
        answers = [tools.call(tool, arguments).text for tool, arguments, _ in calls]

    assert [run("work", *words, "--json").out.rstrip("\n") for _, _, words in calls] == answers


# --- Sources of JSON ------------------------------------------------------------------------------------------------


def test_json_is_read_from_a_file_or_from_standard_input(run: Run, pipe: Callable[[str], None]) -> None:
    run("work", "open", "atlas")
    Path("plan.json").write_text("\ufeff" + json.dumps(PLAN), encoding="utf-8")
    pipe('[{"ref": "a", "summary": "Wäre das alles?"}]')

    from_file = run("work", "plan", "--project", "atlas", "--nodes", "@plan.json", "--json").answer
    from_pipe = run("work", "plan", "--project", "atlas", "--nodes", "-", "--json").answer

    assert [one["ref"] for one in from_file["created"]] == ["survey", "coast", "hills", "print"]
    assert [one["ref"] for one in from_pipe["created"]] == ["a"]
    assert "Wäre das alles?" in run("work", "query", "--project", "atlas").out


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        ("@missing.json", "usage", "--nodes: cannot read 'missing.json'"),
        ("@.", "usage", "--nodes: cannot read '.'"),
        ("@", "usage", "--nodes: cannot read ''"),
        ("plan.json", "usage", "write @plan.json"),
        ("@broken.json", "invalid_json", "broken.json is not JSON at line 2, column 1"),
        ("[{]", "invalid_json", "--nodes is not JSON at line 1"),
        ("", "invalid_json", "--nodes is not JSON"),
        ('[{"ref": "a", "ref": "b"}]', "duplicate_key", "ref"),
        ("[" * 40 + "]" * 40, "too_deep", "nested"),
        ("[NaN]", "invalid_number", "NaN"),
        ("x" * 5000, "invalid_json", "--nodes is not JSON"),
        ("{}", "invalid_argument", "nodes must be an array"),
    ],
)
def test_json_that_cannot_be_read_is_refused_with_its_place(run: Run, given: str, code: str, said: str) -> None:
    run("work", "open", "atlas")
    Path("plan.json").write_text("[]")
    Path("broken.json").write_text("[\n")

    refused = run("work", "plan", "--project", "atlas", "--nodes", given, "--json")

    assert refused.error == (2, code)
    assert said in json.loads(refused.err)["error"]["message"]


def test_an_empty_pipe_is_refused_as_what_it_is(run: Run, pipe: Callable[[str], None]) -> None:
    pipe("")

    refused = run("work", "plan", "--nodes", "-", "--json")

    assert refused.error == (2, "invalid_json")
    assert "standard input" in refused.err


def test_standard_input_is_read_once(run: Run, pipe: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    from groundplan.surfaces.cli.failures import UsageError
    from groundplan.surfaces.cli.files import parse_json_options

    pipe("[]")
    with pytest.raises(UsageError):
        parse_json_options({"nodes": "-", "filter": "-"}, {"nodes", "filter"})
    assert parse_json_options({"nodes": "-", "project": "-"}, {"nodes", "filter"}) == {"nodes": [], "project": "-"}
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(UsageError):
        parse_json_options({"nodes": "-"}, {"nodes"})


def test_opening_a_project_makes_the_file_and_listing_does_not(run: Run) -> None:
    assert run("work", "open", "--db", "plan.db", "--json").error == (7, "store_missing")
    assert run("work", "open", "atlas", "--db", "plan.db").err == "created plan.db\n"
    assert [one["name"] for one in run("work", "open", "--db", "plan.db", "--json").answer["projects"]] == ["atlas"]


def test_a_viewer_reads_work_and_is_refused_to_take_it(run: Run, ids: dict[str, str]) -> None:
    run("member", "add", "cleo", "--project", "atlas", "--role", "viewer")
    cleo = ("--project", "atlas", "--access", "members", "--person", "cleo", "--json")

    assert run("work", "next", *cleo).answer["nodes"][0]["node"]["id"] == ids["coast"]
    assert run("work", "claim", *cleo).error == (4, "forbidden")
    assert run("work", "next", "--claim", *cleo).error == (4, "forbidden")


def test_answers_are_lean_and_claims_short_where_the_configuration_says_so(run: Run, ids: dict[str, str]) -> None:
    Path("groundplan.yaml").write_text("lean: true\nclaim_ttl_minutes: 0.001\n")

    node = run("work", "claim", "--project", "atlas", "--json").answer["nodes"][0]["node"]
    whole = run("op", "work.next", '{"project": "atlas", "lean": false}').answer["nodes"][0]["node"]

    assert "rev" not in node
    assert whole["rev"] == 2
