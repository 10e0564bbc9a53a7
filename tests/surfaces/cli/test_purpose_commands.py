"""The theory of change on the command line: writing, printing and recording observations."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import pytest

import groundplan
from groundplan.demo import PROJECT, load_example
from groundplan.purpose.gates.gates import get_severities
from groundplan.purpose.model import NodeType, Profile, VersionStatus
from groundplan.purpose.open import ContentCounts, HealthSummary, OpenedPurpose, PurposeEdgeView, PurposeNodeView
from groundplan.purpose.versions.versions import Version
from groundplan.surfaces.cli.purpose.views import RENDERERS
from tests.surfaces.cli.conftest import Run, RunResult

# Stored text that a drawing must survive.
ODD_TEXT = "[bold red]:smile: \u202egnp.exe\nsecond line"

SMALL: list[dict[str, Any]] = [
    {"op": "add_node", "ref": "dig", "node_type": "ACTIVITY", "title": "Dig a well"},
    {"op": "add_node", "ref": "well", "node_type": "OUTPUT", "title": "A well"},
    {"op": "add_node", "ref": "drink", "node_type": "OUTCOME", "title": "People drink from it"},
    {"op": "add_node", "ref": "near", "node_type": "OUTCOME", "title": "Nobody walks far"},
    {"op": "add_node", "ref": "health", "node_type": "GOAL", "title": "Healthy people", "owner": "ada"},
    {"op": "add_edge", "source": "dig", "target": "well", "mechanism": "Water is below", "confidence": "high"},
    {"op": "add_edge", "source": "well", "target": "drink", "edge_type": "CAUSES"},
    {"op": "add_edge", "source": "well", "target": "near"},
    {"op": "add_edge", "source": "drink", "target": "health"},
    {"op": "add_edge", "source": "health", "target": "near", "edge_type": "DEPENDS_ON"},
    {"op": "add_edge", "source": "health", "target": "dig", "edge_type": "FEEDBACK", "mechanism": "Who is well digs"},
    {
        "op": "add_assumption",
        "source": "dig",
        "target": "well",
        "assumption_text": "There is water",
        "risk_level": "HIGH",
        "owner": "ben",
        "review_by": "2030-01-01",
    },
    {"op": "add_assumption", "node": "drink", "assumption_text": "It tastes good"},
    {"op": "add_indicator", "node": "drink", "name": "Litres a day", "unit": "l", "baseline": 1, "target": 5},
]


class PurposeCommands:
    """Project atlas, and commands on its theory."""

    def __init__(self, run: Run) -> None:
        self._run = run
        run("project", "create", "atlas")

    def __call__(self, *words: str) -> RunResult:
        return self._run("purpose", words[0], "--project", "atlas", *words[1:])

    def answer(self, *words: str) -> Any:
        return self(words[0], "--json", *words[1:]).answer

    def allow_light(self) -> None:
        """Let drafts have the profile light, which a new project does not."""
        assert self._run("work", "open", "atlas", "--policies", '{"profile_min": "light"}').code == 0

    def begin(self, operations: list[dict[str, Any]] = SMALL) -> None:
        assert self("draft").code == 0
        assert self("edit", json.dumps(operations)).code == 0


@pytest.fixture
def purpose(run: Run) -> PurposeCommands:
    return PurposeCommands(run)


@pytest.fixture
def draft_with_theory(purpose: PurposeCommands) -> PurposeCommands:
    """A draft with a small theory."""
    purpose.begin()
    return purpose


# --- Printing a version ----------------------------------------------------------------------------------------------


def test_a_theory_is_read_from_its_goals_down_and_what_leads_to_several_things_is_drawn_once(
    draft_with_theory: PurposeCommands,
) -> None:
    lines = draft_with_theory("open").out.splitlines()

    tree = [line for line in lines if re.match(r" *(G|OC|OP|AC)\d+  ", line)]
    assert tree == [
        "G1  Healthy people  ada",
        "  OC1  People drink from it",
        "    OP1  A well  [CAUSES]  also -> OC2",
        "      AC1  Dig a well  [high]",
        "  OC2  Nobody walks far  [NEEDED_BY]",
        "    OP1  A well  see above",
    ]
    assert "         ? AS1  untested, HIGH risk: There is water  ben by 2030-01-01" in lines
    assert "     ? AS2  untested: It tastes good" in lines
    assert "  G1 -> AC1  Who is well digs" in lines
    assert any(line.split() == ["IN1", "OC1", "Litres", "a", "day", "1", "-", "5", "l"] for line in lines)


def test_items_are_shown_alone_with_what_is_on_them(draft_with_theory: PurposeCommands) -> None:
    lines = draft_with_theory("show", "OC1", "AC1").out.splitlines()

    assert "OC1  People drink from it" in lines
    assert "   ? AS2  untested: It tastes good" in lines
    assert "  AC1->OP1  high confidence, Water is below" in lines
    assert not any(line.startswith("OC2") for line in lines)
    assert draft_with_theory("show", "OC9").code == 3


def test_what_leads_to_no_goal_and_what_goes_in_circles_is_drawn_too(purpose: PurposeCommands) -> None:
    loop = [
        {"op": "add_node", "ref": name, "node_type": "OUTPUT", "title": f"Output {name}"} for name in ("a", "b", "c")
    ]
    loop += [{"op": "add_edge", "source": one, "target": other} for one, other in (("a", "b"), ("b", "a"))]
    purpose.allow_light()
    assert purpose("draft", "--profile", "light").code == 0
    purpose("edit", json.dumps([{"op": "add_node", "node_type": "GOAL", "title": "A goal"}, *loop]))

    drawn = purpose("open").out.partition("Not connected to a goal:\n")[2].splitlines()

    assert drawn[:4] == [
        "  OP3  Output c",
        "  OP1  Output a  also -> OP2",
        "    OP2  Output b",
        "      OP1  Output a  see above",
    ]


def test_a_theory_deeper_than_the_stack_is_drawn_whole(capsys: pytest.CaptureFixture[str]) -> None:
    deep = sys.getrecursionlimit() + 100
    nodes = [PurposeNodeView(key=f"OC{n}", node_type=NodeType.OUTCOME, title=f"Step {n}") for n in range(deep)]
    edges = [PurposeEdgeView(source=f"OC{n}", target=f"OC{n - 1}") for n in range(1, deep)]
    version = Version(1, VersionStatus.DRAFT, "draft", Profile.LIGHT)
    counts = ContentCounts(goal=0, outcome=deep, output=0, activity=0, edges=deep - 1, assumptions=0, indicators=0)

    opened = OpenedPurpose("atlas", 1, version, [version], counts, HealthSummary(None, {}), nodes, edges, [])
    RENDERERS["purpose.open"](opened)

    assert capsys.readouterr().out.count("Step ") == deep


def test_the_header_says_which_version_it_is_how_healthy_and_what_others_there_are(
    draft_with_theory: PurposeCommands,
) -> None:
    assert "v1, draft (standard)" in draft_with_theory("open").out
    assert draft_with_theory("publish", "--label", "First light").code == 0
    draft_with_theory("draft")

    shown = draft_with_theory("open").out

    assert re.search(r"version +v2, draft, from v1 \(standard\)", shown)
    assert re.search(r"other versions +v1 First light, published .* by ada", shown)
    assert re.search(r"health +red: .*toc completeness red", shown)
    assert "1 goal, 2 outcomes, 1 output, 1 activity, 6 edges, 2 assumptions, 1 indicator" in shown


def test_a_project_without_a_theory_says_how_to_begin_one(purpose: PurposeCommands) -> None:
    assert "Next: groundplan purpose draft --project atlas" in purpose("open").out
    assert "Next: groundplan purpose draft" in purpose("versions").out
    assert "purpose edit @FILE" in purpose("draft").out
    assert "The draft is empty" in purpose("open").out
    assert "No observations here" in purpose("observations").out


def test_stored_text_is_drawn_as_text_and_on_one_line(purpose: PurposeCommands) -> None:
    purpose.begin(
        [
            {"op": "add_node", "ref": "g", "node_type": "GOAL", "title": "Goal", "owner": "[red]ada"},
            {"op": "add_node", "ref": "o", "node_type": "OUTPUT", "title": "[bold]Output[/bold]"},
            {"op": "add_edge", "source": "o", "target": "g", "mechanism": ODD_TEXT},
            {"op": "add_edge", "source": "g", "target": "o", "edge_type": "FEEDBACK", "mechanism": ODD_TEXT},
            {"op": "add_assumption", "node": "g", "assumption_text": ODD_TEXT},
        ]
    )
    purpose("review", "AS1", "at_risk", "--reason", ODD_TEXT)

    shown = purpose("open").out + purpose("observations").out

    assert shown.count("[bold red]:smile: \\u202egnp.exe second line") == 3
    assert "[bold]Output[/bold]" in shown
    assert "\u202e" not in shown


# --- Other output ----------------------------------------------------------------------------------------------------


def test_a_gate_shows_what_fails_first_where_it_fails_and_what_to_do(purpose: PurposeCommands) -> None:
    purpose.begin([*SMALL[:5], SMALL[5]])

    shown = purpose("check", "A").out

    rows = re.findall(r"^(failed|waived|passed|not applicable) +(GA_\w+) +(?:block|warn)", shown, re.MULTILINE)
    results = [result for result, _ in rows]
    assert {code for _, code in rows} == get_severities("A", Profile.STANDARD).keys()
    assert results == sorted(results, key=["failed", "waived", "passed", "not applicable"].index)
    assert rows[0] == ("failed", "GA_ORPHANS")
    assert "GA_ORPHANS: AC1, OC1, OC2, OP1" in shown
    assert "GA_ORPHANS: groundplan purpose edit with add_edge" in shown
    assert re.search(r"result +not passed, score 0\.\d", shown)


def test_a_draft_that_does_not_pass_is_not_published_and_the_refusal_names_the_check(purpose: PurposeCommands) -> None:
    purpose.begin(SMALL[:5])

    assert purpose("publish", "--json").error == (6, "gate_failed")
    assert "GA_ORPHANS" in purpose("publish").err


def test_every_screen_of_a_theory_that_was_worked_on_is_drawn(draft_with_theory: PurposeCommands) -> None:
    shown = {
        "publish": draft_with_theory("publish"),
        "draft": draft_with_theory("draft"),
        "edit": draft_with_theory("edit", '[{"op": "update_node", "node": "G1", "title": "Health"}]'),
        "diff": draft_with_theory("diff", "1", "draft"),
        "versions": draft_with_theory("versions"),
        "health": draft_with_theory("health"),
        "check health": draft_with_theory("check", "health"),
        "analysis": draft_with_theory("analysis", "--node", "AC1", "--assumption", "AS1"),
        "compliance": draft_with_theory("compliance", '{"kind": "publish"}'),
        "record": draft_with_theory(
            "record", "--decisions", '[{"text": "Go on", "rationale": "Why not", "about": ["G1"]}]'
        ),
        "observations": draft_with_theory("observations"),
        "open observations": draft_with_theory("open", "--detail", "observations"),
        "discard": draft_with_theory("discard"),
    }

    assert {name: ended.err for name, ended in shown.items() if ended.code} == {}
    assert re.search(r"version +v1, published", shown["publish"].out)
    assert "GA_MECHANISM, warn" in shown["publish"].out
    assert re.search(r"1 operation applied. The draft of v2 is at rev \d+\.", shown["edit"].out)
    assert "- **G1**: Healthy people → Health" in shown["diff"].out.splitlines()
    assert [line.split()[:2] for line in shown["versions"].out.splitlines()[2:]] == [["1", "PUBLISHED"], ["2", "DRAFT"]]
    assert re.search(r"indicator coverage +50 % +amber", shown["health"].out)
    assert "strongest path: AC1 -> OP1 -> OC1 -> G1" in shown["health"].out
    assert shown["check health"].out == shown["health"].out
    assert "  AC1 -> OP1 -> OC2 -> G1" in shown["analysis"].out.splitlines()
    assert "Affected if AS1 does not hold:" in shown["analysis"].out
    assert shown["compliance"].out.startswith("## ToC Graph Engine Compliance")
    assert "Go on" in shown["observations"].out
    assert shown["open observations"].out == shown["observations"].out
    assert shown["discard"].out == "Discarded the draft of v2.\n"


def test_json_is_exactly_what_the_tool_answers(draft_with_theory: PurposeCommands) -> None:
    with groundplan.open("groundplan.db", actor="ada") as session:
        opened = session.call("purpose.open", project="atlas")
        checked = session.call("purpose.check", project="atlas", gate="B")

    assert draft_with_theory.answer("open")["nodes"][0] == {
        "id": opened.nodes[0].id,
        "key": "G1",
        "node_type": "GOAL",
        "title": "Healthy people",
        "assumptions": [],
        "owner": "ada",
        "metadata": {},
    }
    assert draft_with_theory.answer("check", "B")["content_hash"] == checked.content_hash
    assert draft_with_theory.answer("diff", "draft", "draft").keys() >= {"from", "to", "nodes", "markdown"}


def test_a_terminal_has_colours_for_what_is_bad_and_none_where_they_were_declined(
    draft_with_theory: PurposeCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm-256color")

    assert "\x1b[31mred" in draft_with_theory("health").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[31m" not in draft_with_theory("health").out


# --- Observations ----------------------------------------------------------------------------------------------------


def test_one_observation_is_typed_without_json(draft_with_theory: PurposeCommands) -> None:
    measured = ("measure", "IN1", "2.5", "--as-of", "2026-01-31", "--source", "Meter", "--note", "One household")
    assert draft_with_theory(*measured).out == "Recorded 1 observation.\n"
    assert draft_with_theory("measure", "IN1", "--as-of", "2026-02-28", "--", "-3").code == 0
    assert (
        draft_with_theory(
            "decide", "Dig deeper", "--rationale", "It is dry", "--about", "AS1", "--about", "AC1->OP1"
        ).code
        == 0
    )
    waived = ("waive", "GA_OUTCOME_COVERAGE", "OC2", "--reason", "Later", "--owner", "ben", "--due", "2030-01-01")
    assert draft_with_theory(*waived).code == 0
    refuted = draft_with_theory("review", "AS1", "refuted", "--reason", "It was dry", "--evidence", "log.txt")

    assert "AS1 is refuted. Affected:" in refuted.out
    observed = draft_with_theory.answer("observations")
    assert [(one["value"], one["as_of"]) for one in observed["measurements"]] == [
        (2.5, "2026-01-31"),
        (-3, "2026-02-28"),
    ]
    assert (observed["measurements"][0]["source"], observed["measurements"][0]["note"]) == ("Meter", "One household")
    assert observed["decisions"][0]["about"] == ["AS1", "AC1->OP1"]
    assert observed["waivers"][0]["refs"] == ["OC2"]
    assert (observed["reviews"][0]["status"], observed["reviews"][0]["evidence"]) == ("refuted", "log.txt")
    assert re.search(r"waived +GA_OUTCOME_COVERAGE", draft_with_theory("check", "A").out)
    assert "? AS1  refuted, HIGH risk" in draft_with_theory("open").out
    assert "-3 (2026-02-28)" in draft_with_theory("open").out


def test_a_measurement_without_a_day_is_of_today_and_the_same_request_twice_is_one(
    draft_with_theory: PurposeCommands,
) -> None:
    for _ in range(2):
        assert draft_with_theory("measure", "IN1", "3", "--op-id", "once").code == 0

    (measured,) = draft_with_theory.answer("observations")["measurements"]
    assert measured["as_of"] == measured["at"][:10]


def test_what_cannot_be_observed_is_refused_and_nothing_is_recorded(
    run: Run, draft_with_theory: PurposeCommands
) -> None:
    review = ("--reason", "So it is")
    waiver = ("--reason", "Later", "--owner", "ben", "--due", "2030-01-01")

    refused = {
        words: draft_with_theory(*words, "--json").error
        for words in (
            ("measure", "IN1", "much"),
            ("measure", "IN1", "true"),
            ("measure", "IN1", "1e999"),
            ("measure", "IN9", "1"),
            ("measure", "IN1", "1", "--as-of", "2999-01-01"),
            ("measure", "IN1", "1", "--as-of", "yesterday"),
            ("review", "AS1", "fine", *review),
            ("review", "G1", "holding", *review),
            ("waive", "GA_RLS", *waiver),
            ("waive", "GA_NOTHING", *waiver),
            ("waive", "GA_ORPHANS", "OC9", *waiver),
            ("decide", "Go on", "--rationale", "Why not", "--about", "X1"),
        )
    }

    codes = [(2, "usage"), (2, "usage"), (2, "usage"), (3, "not_found"), (2, "invalid_argument")]
    codes += [(2, "invalid_date"), (2, "usage"), (3, "not_found"), (6, "not_waivable"), (2, "invalid_argument")]
    assert list(refused.values()) == [*codes, (3, "not_found"), (3, "not_found")]
    assert draft_with_theory.answer("observations")["measurements"] == []
    elsewhere = ("purpose", "measure", "IN1", "1", "--project", "atlas", "--db", "no.db", "--json")
    assert run(*elsewhere).error == (7, "store_missing")


def test_json_can_be_lean_and_what_people_read_is_whole(
    draft_with_theory: PurposeCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, lean = draft_with_theory.answer("open"), draft_with_theory.answer("open", "--lean")

    assert ("id" in whole["nodes"][0], "id" in lean["nodes"][0]) == (True, False)
    assert [node["key"] for node in lean["nodes"]] == [node["key"] for node in whole["nodes"]]
    assert None not in draft_with_theory.answer("health", "--lean")["metrics"].values()
    for words in (("open",), ("check", "A"), ("check", "B"), ("health",), ("analysis",), ("versions",)):
        printed = draft_with_theory(*words).out
        monkeypatch.setenv("GROUNDPLAN_LEAN", "true")
        assert draft_with_theory(*words).out == printed
        monkeypatch.delenv("GROUNDPLAN_LEAN")


def test_an_editor_may_measure_but_not_waive(run: Run, draft_with_theory: PurposeCommands) -> None:
    run("member", "add", "ben", "--project", "atlas", "--role", "editor")
    as_ben = ("--access", "members", "--person", "ben")

    assert draft_with_theory("measure", "IN1", "2", *as_ben).code == 0
    waived = ("waive", "GA_ORPHANS", "--reason", "Later", "--owner", "ben", "--due", "2030-01-01")
    assert draft_with_theory(*waived, *as_ben, "--json").error == (4, "forbidden")


def test_the_theory_of_the_example_can_be_given_as_a_file(purpose: PurposeCommands, tmp_path: Any) -> None:
    first_version = next(step for step in load_example()[PROJECT] if step.operation == "purpose.edit")
    operations = json.dumps(first_version.arguments["operations"])
    (tmp_path / "theory.json").write_text(re.sub(r"\$day [+-]\d+", "2026-01-01", operations))
    purpose("draft")

    assert "The draft of v1 is at rev 2." in purpose("edit", "@theory.json").out


def test_an_assumption_is_added_to_an_edge_by_the_name_that_the_edge_has(draft_with_theory: PurposeCommands) -> None:
    names = ("AC1->OP1", "OP1->OC1/CAUSES")

    for name in names:
        assert draft_with_theory("add", "assumption", f"About {name}", "--to", name).code == 0

    edges = [draft_with_theory.answer("show", name)["edges"][0] for name in names]
    assert [edge["assumptions"][-1]["assumption_text"] for edge in edges] == [f"About {name}" for name in names]
    assert draft_with_theory("add", "assumption", "x", "--to", "AC1->OP1/CAUSES").code == 3
