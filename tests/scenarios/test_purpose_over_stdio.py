"""A purpose from an empty draft to publication, observation and revision, at real servers on both engines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.scenarios.agents import Agent, Serve

pytestmark = pytest.mark.slow  # every test starts servers

PAGE_TOKENS = 1_500
ATLAS = {"project": "atlas"}

Op = dict[str, Any]


def op(name: str, /, **given: Any) -> Op:
    return {"op": name, **given}


def node(ref: str, node_type: str, title: str, **given: Any) -> Op:
    return op("add_node", ref=ref, node_type=node_type, title=title, **given)


def edge(source: str, target: str, **given: Any) -> Op:
    return op("add_edge", source=source, target=target, **given)


# Nodes that are used before they are named: refs may point forward.
FIRST_DRAFT = [
    edge("walk", "map", mechanism="What was seen is drawn the same day", confidence="high"),
    edge("map", "use", confidence="low"),
    edge("use", "safe"),
    op("add_assumption", source="map", target="use", assumption_text="Walkers take a map along", ref="along"),
    op("add_indicator", node="use", name="Walkers off the paths", unit="a month", direction="decrease", target=5),
    node("safe", "GOAL", "Nobody gets lost", metadata={"island": {"name": "Atlas"}}),
    node("use", "OUTCOME", "Walkers follow the map"),
    node("map", "OUTPUT", "A map of the coast"),
    node("legend", "OUTPUT", "A legend in four languages"),
    node("walk", "ACTIVITY", "Walk the coast", owner="ben"),
    op("update_assumption", assumption="along", risk_level="HIGH", owner="ada", review_by="2099-06-01"),
]

# Each is refused as a whole, with its code, its rule and its nodes.
REFUSED: list[tuple[list[Op], str, dict[str, Any]]] = [
    ([edge("OC1", "OC1")], "self_edge", {"field": "operations[0]", "nodes": ["OC1"]}),
    (
        [op("update_node", node="G1", title="Other"), edge("AC1", "OP1")],
        "duplicate_edge",
        {"field": "operations[1]", "edge": "AC1->OP1", "nodes": ["AC1", "OP1"]},
    ),
    (
        [edge("G1", "OC1")],
        "invalid_direction",
        {"edge": "G1->OC1", "nodes": ["G1", "OC1"], "source_type": "GOAL", "target_type": "OUTCOME"},
    ),
    (
        [op("update_node", node="OP1", node_type="GOAL")],
        "invalid_direction",
        {"edge": "OP1->OC1", "source_type": "GOAL"},
    ),
    (
        [node("x", "OUTPUT", "An atlas"), edge("x", "OP1"), edge("OP1", "x")],
        "dependency_cycle",
        {"path": ["OP1", "OP3", "OP1"]},
    ),
    ([edge("AC1", "OP9")], "not_found", {"field": "operations[0].target"}),
    ([op("remove_edge", source="AC1", target="G1")], "not_found", {"field": "operations[0]"}),
    ([op("remove_assumption", assumption="IN1")], "not_found", {"field": "operations[0].assumption"}),
    ([op("add_assumption", assumption_text="On nothing")], "invalid_argument", {"field": "operations[0]"}),
    ([node("x", "OUTPUT", "A"), node("x", "OUTPUT", "B")], "invalid_argument", {"field": "operations[1].ref"}),
    ([op("update_assumption", assumption="AS1", review_by="soon")], "invalid_date", {}),
    ([node("x", "DREAM", "A")], "invalid_argument", {}),
    ([op("paint_node", node="G1")], "invalid_argument", {}),
]


def error_of(agent: Agent, tool: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
    error = agent.error_of(tool, **ATLAS, **arguments)
    return error["code"], error.get("details", {})


def holds(details: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return {name: details.get(name) for name in wanted} == wanted


def results(gate: Mapping[str, Any], *codes: str) -> dict[str, tuple[str, list[str]]]:
    return {check["code"]: (check["result"], check["refs"]) for check in gate["checks"] if check["code"] in codes}


@pytest.fixture
def people(serve: Serve) -> tuple[Agent, Agent, Agent]:
    """Ada, who owns the project, Ben, who edits, and Cleo, who views."""
    founder = serve("ada", "--access", "open", "--kind", "person")
    founder.members("bootstrap", scopeId="atlas")
    founder.members("upsert", scopeId="atlas", userId="ben", role="editor")
    founder.members("upsert", scopeId="atlas", userId="cleo", role="viewer", kind="agent")
    ada, ben = (serve(name, "--access", "members", "--kind", "person") for name in ("ada", "ben"))
    return ada, ben, serve("cleo")


def test_a_purpose_is_drawn_checked_published_watched_and_revised(people: tuple[Agent, Agent, Agent]) -> None:
    ada, ben, cleo = people

    # An empty purpose is an answer. A viewer may not begin; an editor needs a draft first.
    empty = cleo.answer("toc_open", **ATLAS)
    assert (empty["version"], empty["versions"], empty["rev"], empty["nodes"]) == (None, [], 0, [])
    assert (set(empty["counts"].values()), empty["health"]["overall"]) == ({0}, None)
    assert error_of(cleo, "toc_version", operation="draft")[0] == "forbidden"
    assert error_of(ben, "toc_edit", operations=FIRST_DRAFT)[0] == "no_draft"
    begun = ben.answer("toc_version", operation="draft", **ATLAS)
    assert holds(begun["version"], {"number": 1, "status": "DRAFT", "label": "draft", "profile": "standard"})
    assert {"id", "project_id"} <= begun["version"].keys()
    assert error_of(ada, "toc_version", operation="draft") == (
        "draft_exists",
        {
            "number": 1,
            "next": [
                {"tool": "toc_edit", "arguments": ATLAS, "fill": ["operations"]},
                {"tool": "toc_version", "arguments": {"operation": "publish", **ATLAS}},
                {"tool": "toc_version", "arguments": {"operation": "discard", **ATLAS}},
            ],
        },
    )

    edited = ben.answer("toc_edit", operations=FIRST_DRAFT, expected_rev=begun["rev"], **ATLAS)
    assert edited["applied"] == len(FIRST_DRAFT)
    assert [(one.get("ref"), one["key"], one["kind"]) for one in edited["created"]] == [
        (None, "AC1->OP1", "edge"),
        (None, "OP1->OC1", "edge"),
        (None, "OC1->G1", "edge"),
        ("along", "AS1", "assumption"),
        (None, "IN1", "indicator"),
        ("safe", "G1", "node"),
        ("use", "OC1", "node"),
        ("map", "OP1", "node"),
        ("legend", "OP2", "node"),
        ("walk", "AC1", "node"),
    ]
    before = ben.answer("toc_open", detail="full", **ATLAS)

    # A refused change changes nothing, and a stale revision is refused.
    for operations, code, details in REFUSED:
        found = error_of(ben, "toc_edit", operations=operations)
        assert found[0] == code, (operations, found)
        assert holds(found[1], details), (operations, found)
    stale = error_of(ben, "toc_edit", operations=[op("remove_node", node="OP2")], expected_rev=begun["rev"])
    assert stale[0] == "stale_rev"
    assert holds(stale[1], {"expected": begun["rev"], "current": edited["rev"]})
    assert ben.answer("toc_open", detail="full", **ATLAS) == before

    # The legend has no effect, so the gate fails until an owner waives the check.
    gate = cleo.answer("toc_check", gate="A", **ATLAS)
    assert (gate["passed"], results(gate, "GA_ORPHANS")) == (False, {"GA_ORPHANS": ("failed", ["OP2"])})
    assert "toc_edit with add_edge from OP2 towards a goal" in {check.get("fix") for check in gate["checks"]}
    assert error_of(ben, "toc_version", operation="publish")[0] == "forbidden"
    code, details = error_of(ada, "toc_version", operation="publish")
    assert (code, results(details["gates"][0], "GA_ORPHANS")) == ("gate_failed", results(gate, "GA_ORPHANS"))
    waiver = {"code": "GA_ORPHANS", "refs": ["OP2"], "reason": "Next year", "owner": "ada", "due": "2099-12-31"}
    assert error_of(ben, "toc_record", waivers=[waiver])[0] == "forbidden"
    assert error_of(ada, "toc_record", waivers=[{**waiver, "code": "GA_SELF_EDGE"}])[0] == "not_waivable"
    assert ada.answer("toc_record", waivers=[waiver], **ATLAS)["recorded"] == 1
    published = ada.answer("toc_version", operation="publish", expected_rev=edited["rev"], detail="full", **ATLAS)
    (passed,) = published["gates"]
    assert results(passed, "GA_ORPHANS") == {"GA_ORPHANS": ("waived", ["OP2"])}
    assert (published["version"]["label"], published["version"]["published_by"]) == ("v1", "ada")
    assert published["version"]["content_hash"] == passed["content_hash"]

    # A published version is final; the next draft is a copy that can be changed.
    (goal,) = (one for one in before["nodes"] if one["key"] == "G1")
    retitled = [op("update_node", node=goal["id"], title="Nobody gets lost at night")]
    begin = {"tool": "toc_version", "arguments": {"operation": "draft", **ATLAS}}
    assert error_of(ben, "toc_edit", operations=retitled) == ("no_draft", {"published": 1, "next": [begin]})
    second = ben.answer("toc_version", operation="draft", **ATLAS)
    assert (second["version"]["number"], second["version"]["source"]) == (2, 1)
    immutable = error_of(ben, "toc_edit", operations=retitled)
    assert immutable[0] == "published_immutable"
    assert holds(immutable[1], {"version": 1, "key": "G1", "field": "operations[0].node"})
    more = [
        op("update_node", node="G1", title="Nobody gets lost at night"),
        op("remove_node", node="OP2"),
        op("update_edge", source="AC1", target="OP1", confidence=None),
        node("lamp", "OUTPUT", "Lamps at every fork"),
        edge("lamp", "OC1"),
    ]
    assert [one["key"] for one in ben.answer("toc_edit", operations=more, **ATLAS)["created"]] == ["OP3", "OP3->OC1"]
    compared = cleo.answer("toc_version", operation="diff", **ATLAS, **{"from": 1, "to": "draft"})
    assert [one["key"] for one in compared["nodes"]["added"]] == ["OP3"]
    assert [one["key"] for one in compared["nodes"]["removed"]] == ["OP2"]
    assert compared["nodes"]["changed"] == [
        {
            "key": "G1",
            "fields": [{"field": "title", "before": "Nobody gets lost", "after": "Nobody gets lost at night"}],
        }
    ]
    assert [one["key"] for one in compared["edges"]["changed"]] == ["AC1->OP1"]
    assert "OP3" in compared["markdown"]
    kept = cleo.answer("toc_open", version=1, detail="full", **ATLAS)
    assert [kept[part] for part in ("nodes", "edges", "indicators")] == [
        before[part] for part in ("nodes", "edges", "indicators")
    ]

    # Observations are recorded once, and refuted assumptions show up.
    assert error_of(cleo, "toc_record", decisions=[{"text": "a", "rationale": "b"}])[0] == "forbidden"
    assert (
        error_of(ben, "toc_record", reviews=[{"assumption": "AS9", "status": "holding", "reason": "x"}])[0]
        == "not_found"
    )
    seen = ben.answer(
        "toc_record",
        measurements=[{"indicator": "IN1", "value": 31, "as_of": "2026-05-01", "source": "Logbook"}],
        reviews=[{"assumption": "AS1", "status": "refuted", "reason": "They have phones"}],
        **ATLAS,
    )
    (affected,) = seen["affected"]
    assert (seen["recorded"], affected["assumption"]) == (2, "AS1")
    assert (affected["edges"], affected["nodes"]) == (["OC1->G1", "OP1->OC1"], ["G1", "OC1"])
    now = cleo.answer("toc_open", **ATLAS)
    (indicator,) = now["indicators"]
    assert indicator["latest"] == {"value": 31, "as_of": "2026-05-01"}
    statuses = [one["status"] for row in now["edges"] for one in row["assumptions"]]
    assert (statuses, now["waivers"]) == (["refuted"], [waiver])
    observed = cleo.answer("toc_open", detail="observations", **ATLAS)
    assert [len(observed[part]) for part in ("measurements", "reviews", "waivers", "decisions")] == [1, 1, 1, 0]
    assert (observed["reviews"][0]["by"], observed["waivers"][0]["by"]) == ("ben", "ada")
    assert error_of(ada, "toc_version", operation="publish")[0] == "gate_failed"
    decided = {"text": "Print it for phones", "rationale": "That is what they have", "about": ["AS1"]}
    ben.answer("toc_record", decisions=[decided], **ATLAS)
    assert cleo.answer("toc_check", gate="A", **ATLAS)["passed"]
    assert cleo.answer("toc_check", gate="A", version=1, **ATLAS) == passed
    health = cleo.answer("toc_check", gate="health", **ATLAS)
    assert (health["metrics"]["indicator_coverage"], health["bands"]["indicator_coverage"]) == (100, "green")
    assert [goal["strongest_path"][-1] for goal in health["goals"]] == ["G1"]

    # Compliance of an operation before it is done.
    blocked = ben.answer(
        "toc_check", gate="compliance", operation={"kind": "update_node", "version": 1, "node": "G1"}, **ATLAS
    )
    assert (blocked["status"], [one["number"] for one in blocked["sections"]]) == ("BLOCKED", list(range(1, 9)))
    assert blocked["reasons"]
    allowed = {"kind": "create_edge", "source": "AC1", "target": "OC1"}
    assert ben.answer("toc_check", gate="compliance", operation=allowed, **ATLAS)["status"] == "APPROVED"
    read = {"path": "read.sql", "text": "SELECT id\nFROM toc_nodes;"}
    dropped = {"path": "b.sql", "text": " ".join(("DROP TRIGGER", "frozen ON toc_nodes;"))}
    judged = cleo.answer("toc_check", gate="compliance", code=[read, dropped], **ATLAS)
    assert judged["status"] == "BLOCKED"
    assert [(one["path"], one["line"], one["verdict"], one["rule"]) for one in judged["findings"]] == [
        ("b.sql", 1, "BLOCKED", "published_edited"),
        ("read.sql", 1, "LOOK", "no_tenant"),
    ]

    # Only an owner discards a draft. Its number is used again, its keys are not.
    assert error_of(ben, "toc_version", operation="discard")[0] == "forbidden"
    assert ada.answer("toc_version", operation="discard", **ATLAS)["discarded"] == 2
    assert [one["number"] for one in cleo.answer("toc_version", operation="list", **ATLAS)["versions"]] == [1]
    assert ben.answer("toc_version", operation="draft", **ATLAS)["version"]["number"] == 2
    again = ben.answer("toc_edit", operations=[node("x", "OUTPUT", "Signposts")], **ATLAS)
    assert [one["key"] for one in again["created"]] == ["OP4"]


def test_a_theory_that_is_too_long_for_one_answer_comes_in_pages_that_make_it_whole(serve: Serve) -> None:
    uncut, modest = (serve("ada", "--access", "open", "--max-answer-tokens", str(cap)) for cap in (0, PAGE_TOKENS))
    uncut.members("bootstrap", scopeId="atlas")
    uncut.answer("toc_version", operation="draft", **ATLAS)
    outputs = [f"o{place}" for place in range(25)]
    uncut.answer(
        "toc_edit",
        operations=[
            node("use", "OUTCOME", "Walkers follow the map", description="x" * 200),
            node("safe", "GOAL", "Nobody gets lost"),
            edge("use", "safe"),
            *(node(ref, "OUTPUT", f"Sheet {ref}", narrative="y" * 100) for ref in outputs),
            *(edge(ref, "use", mechanism="z" * 50) for ref in outputs),
            *(op("add_assumption", node=ref, assumption_text=f"It stays as {ref}") for ref in outputs),
            *(op("add_indicator", node=ref, name=f"Copies of {ref}", method="counted") for ref in outputs),
        ],
        **ATLAS,
    )

    def paged(**arguments: Any) -> list[dict[str, Any]]:
        pages = [modest.answer("toc_open", **ATLAS, **arguments)]
        while cursor := pages[-1].get("next_cursor"):
            pages.append(modest.answer("toc_open", **ATLAS, **arguments, cursor=cursor))
        assert all(len(json.dumps(page, separators=(",", ":"))) <= 4 * PAGE_TOKENS for page in pages)
        return pages

    whole = uncut.answer("toc_open", detail="full", **ATLAS)
    assert "left_out" not in whole
    full = paged(detail="full")
    assert len(full) > 3
    assert ["left_out" in page for page in full] == [True] * (len(full) - 1) + [False]
    assert join_pages(full) == whole

    assert join_pages(paged()) == whole  # leaving something out would not make it fit

    # Pages of two states would be a third one that never existed.
    uncut.answer("toc_edit", operations=[op("remove_node", node="OP1")], **ATLAS)
    assert error_of(modest, "toc_open", detail="full", cursor=full[0]["next_cursor"])[0] == "stale_rev"

    # If it fits then, the answer says what was left out.
    uncut.answer("toc_edit", operations=[op("remove_node", node=f"OP{place}") for place in range(2, 15)], **ATLAS)
    (short,) = paged()
    whole = uncut.answer("toc_open", detail="full", **ATLAS)
    left_out = short.pop("left_out")
    assert {"nodes.id", "edges.id", "nodes.narrative"} <= set(left_out)
    for path, count in left_out.items():
        assert len(take_out(whole, path.split("."))) - len(take_out(short, path.split("."))) == count
    assert short == whole


def join_pages(pages: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the pages joined, as a client would."""
    whole = {name: value for name, value in pages[0].items() if name not in ("left_out", "next_cursor")}
    for part in ("nodes", "edges", "indicators"):
        whole[part] = [row for page in pages for row in page[part]]
    return whole


def take_out(value: Any, path: list[str]) -> list[Any]:
    """Remove and return what is at a path of an answer, in each row of the lists on the way."""
    if isinstance(value, list):
        return [found for row in value for found in take_out(row, path)]
    first, *rest = path
    if not rest:
        return [value.pop(first)] if first in value else []
    return take_out(value[first], rest)
