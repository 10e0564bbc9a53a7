"""`groundplan demo` shows a filled plan in its own file."""

from __future__ import annotations

import copy
import json
import re
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from groundplan.demo import PATH, PROJECT, load_example
from groundplan.kernel.store.open_store import strip_password
from tests.engines import PostgresEngine
from tests.surfaces.cli.conftest import Run


class FilledDemo(NamedTuple):
    """A file that the demo has filled, and its answer."""

    answer: Any
    content: bytes


DECISION = "Wells only: a line that is dry when it is needed costs more trust than it brings water"
ID = re.compile(r"(?m)^( *)[0-9a-z]{6}(?=  )")

_FILLED: list[FilledDemo] = []  # by the first test that uses it


@pytest.fixture
def demo(run: Run) -> Any:
    """The answer of the demo that filled demo.db; later tests copy the file."""
    if _FILLED:
        Path("demo.db").touch(0o600)
        Path("demo.db").write_bytes(_FILLED[0].content)
    else:
        answer = run("demo", "--db", "demo.db", "--json").answer
        _FILLED.append(FilledDemo(answer, Path("demo.db").read_bytes()))
    return copy.deepcopy(_FILLED[0].answer)


def test_the_demo_has_projects_with_goals_members_with_roles_and_an_archived_one(demo: Any) -> None:
    assert [(project["name"], bool(project["archived_at"])) for project in demo["projects"]] == [
        ("clean-water", False),
        ("pump-monitor", False),
        ("school-wells-pilot", True),
    ]
    assert all(project["goal"] for project in demo["projects"])
    assert {member["userId"]: (member["role"], member.get("kind")) for member in demo["members"]} == {
        "ada": ("owner", None),
        "ben": ("editor", None),
        "cleo": ("viewer", None),
        "claude": ("editor", "agent"),
        "juno": ("editor", "agent"),
    }


def test_a_second_demo_on_the_same_file_changes_nothing(run: Run, demo: Any) -> None:
    run("member", "add", "cleo", "--project", "clean-water", "--role", "owner", "--db", "demo.db")
    before = run("project", "list", "--archived", "--db", "demo.db", "--json").out

    again = run("demo", "--db", "demo.db", "--json").answer

    assert (len(demo["made"]), again["made"]) == (3, [])
    assert run("project", "list", "--archived", "--db", "demo.db", "--json").out == before
    assert {member["userId"]: member["role"] for member in again["members"]}["cleo"] == "owner"
    assert "nothing was changed" in run("demo", "--db", "demo.db").out


def node_by_summary(run: Run, beginning: str, db: str = "demo.db") -> dict[str, Any]:
    found = run("work", "query", "--project", "clean-water", "--limit", "100", "--db", db, "--json").answer
    (node,) = [one for one in found["nodes"] if one["summary"].startswith(beginning)]
    return dict(node)


def test_the_demo_has_work_that_is_done_taken_given_up_and_waiting(run: Run, demo: Any) -> None:
    counts = demo["work"]

    assert 26 <= counts["total"] <= 31
    assert counts["resolved"] == 4 + 2  # two were dropped
    assert min(counts["blocked"], counts["actionable"]) >= 4
    assert node_by_summary(run, "Rank the")["properties"]["_claimed_by"] == "claude"
    given_up = run("work", "history", node_by_summary(run, "Design a")["id"], "--db", "demo.db", "--json").answer
    assert (given_up["events"][0]["action"], given_up["events"][0]["decision"]) == ("dropped", DECISION)
    offered = run("work", "next", "--project", "clean-water", "--person", "ben", "--db", "demo.db", "--json").answer
    assert offered["nodes"][0]["node"]["id"] == node_by_summary(run, "Draw the")["id"]
    after = run("work", "next", "--project", "clean-water", "--agent", "claude", "--db", "demo.db", "--json").answer
    assert all(one["evidence"] for one in after["nodes"][0]["resolved_deps"])


@pytest.mark.usefixtures("demo")
def test_the_briefing_in_the_readme_is_that_of_the_demo(run: Run) -> None:
    readme = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```text\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
    parts = [ID.sub("ID", part) for part in shown.split("…\n")]

    printed = ID.sub("ID", run("briefing", node_by_summary(run, "Rank the")["id"], "--db", "demo.db").out)

    places = [printed.find(part) for part in parts]
    assert len(parts) > 4
    assert places == sorted(places)
    assert -1 not in places, parts[places.index(-1)]


@pytest.mark.usefixtures("demo")
def test_the_demo_knows_something_about_the_files_of_a_project(run: Run) -> None:
    asked = ("knowledge", "context", PATH, "alerts/silence_rule.py", "sms/a.py", "nowhere.py")
    known = run(*asked, "--project", "pump-monitor", "--db", "demo.db", "--json").answer["data"]

    assert [molecule["name"] for molecule in known["molecules"]] == ["Alerts", "Readings"]
    assert [atom["name"] for atom in known["orphanAtoms"]] == ["Text messages"]
    assert known["unmatchedPaths"] == ["nowhere.py"]
    (totals,) = known["molecules"][1]["atoms"]
    assert [one["name"] for one in totals["relatedAtoms"]] == ["Radio gateway"]


@pytest.mark.usefixtures("demo")
def test_a_second_demo_leaves_knowledge_as_somebody_changed_it(run: Run) -> None:
    listed = ("knowledge", "list", "--project", "pump-monitor", "--db", "demo.db", "--json")
    atom = run(*listed).answer["atoms"][0]
    changed = ("--type", "atom", "--version", "1", "--knowledge", "Otherwise", "--db", "demo.db")
    assert run("knowledge", "update", atom["id"], *changed).code == 0
    before = run(*listed).out

    assert run("demo", "--db", "demo.db", "--json").answer["made"] == []

    assert run(*listed).out == before


def test_the_demo_has_facts_in_force_and_a_draft_with_a_suggestion(run: Run, demo: Any) -> None:
    counts = demo["context"]

    view = run("context", "view", "--project", "clean-water", "--db", "demo.db", "--json").answer
    inputs = view["inputsByPointer"]
    assert (view["run"]["status"], view["missing"]) == ("partial_committed", ["/site/owner"])
    assert {one["provenance"] for one in inputs.values()} == {
        "unknown",
        "model-inferred",
        "source-backed",
        "user-entered",
    }
    assert (inputs["/site/remarks"]["valueString"], inputs["/permit/state"]["valueEnum"]) == ("", "unknown")
    listed = run("context", "list", "--project", "clean-water", "--db", "demo.db", "--json").answer["runs"]
    assert [one["status"] for one in listed] == ["draft", "partial_committed"]
    asked = ("context", "view", "--project", "clean-water", "--run", listed[0]["id"], "--db", "demo.db", "--json")
    (waiting,) = run(*asked).answer["suggestions"]
    assert (waiting["pointer"], waiting["createdBy"]) == ("/wells/cost", "claude")
    assert counts == {"inputs": len(inputs), "missing": 1, "constraints": 2, "sources": 3, "suggestions": 1}


@pytest.mark.usefixtures("demo")
def test_a_second_demo_leaves_the_facts_as_somebody_went_on_with_them(run: Run) -> None:
    listed = ("context", "list", "--project", "clean-water", "--db", "demo.db", "--json")
    draft = run(*listed).answer["runs"][0]["id"]
    assert run("context", "set", draft, "/site/owner", "The council", "--db", "demo.db").code == 0
    assert run("context", "commit", draft, "--db", "demo.db").code == 0
    before = run(*listed).out

    assert run("demo", "--db", "demo.db", "--json").answer["made"] == []

    assert run(*listed).out == before


@pytest.mark.usefixtures("demo")
def test_the_facts_of_the_demo_are_those_that_its_versions_stand_on(run: Run) -> None:
    runs = run("context", "list", "--project", "clean-water", "--db", "demo.db", "--json").answer["runs"]
    draft, committed = (one["id"] for one in runs)

    versions = run("purpose", "versions", "--project", "clean-water", "--db", "demo.db", "--json").answer["versions"]

    assert [one.get("context_run") for one in versions] == [committed, committed, None]
    assert run("context", "delete", committed, "--db", "demo.db", "--json").error == (6, "run_bound")
    assert run("context", "delete", draft, "--db", "demo.db").code == 0
    assert run("demo", "--db", "demo.db", "--json").answer["made"] == []


def test_a_demo_that_was_cut_short_and_then_changed_stays_as_it_is_and_is_shown_without_facts(run: Run) -> None:
    run("project", "create", PROJECT, "--db", "demo.db")
    run("project", "archive", PROJECT, "--person", "ben", "--db", "demo.db")

    shown = run("demo", "--db", "demo.db", "--json").answer

    assert (shown["made"], shown["context"]) == (["pump-monitor", "school-wells-pilot"], None)
    assert "Facts of" not in run("demo", "--db", "demo.db").out


def test_the_demo_has_a_theory_of_change_in_two_versions_and_a_draft(run: Run, demo: Any) -> None:
    shown = demo["purpose"]

    assert [one["status"] for one in shown["versions"]] == ["PUBLISHED", "PUBLISHED", "DRAFT"]
    assert sum(shown["counts"][sort] for sort in ("goal", "outcome", "output", "activity")) in range(28, 34)
    assert "2 versions published and a draft in progress" in run("demo", "--db", "demo.db").out


@pytest.mark.usefixtures("demo")
def test_a_second_demo_leaves_the_work_as_somebody_went_on_with_it(run: Run) -> None:
    ranking = node_by_summary(run, "Rank the")["id"]
    release = json.dumps([{"node_id": ranking, "release": True}])
    assert run("work", "update", "--updates", release, "--agent", "claude", "--db", "demo.db").code == 0
    wells = node_by_summary(run, "Test the water of")["id"]
    reopen = json.dumps([{"node_id": wells, "resolved": False}])
    assert run("work", "update", "--updates", reopen, "--db", "demo.db").code == 0
    before = run("work", "query", "--project", "clean-water", "--limit", "100", "--db", "demo.db", "--json").out

    run("demo", "--db", "demo.db")

    assert run("work", "query", "--project", "clean-water", "--limit", "100", "--db", "demo.db", "--json").out == before


def test_a_demo_that_was_cut_short_is_completed(run: Run) -> None:
    run("project", "create", "clean-water", "--db", "demo.db")

    assert len(run("demo", "--db", "demo.db", "--json").answer["members"]) == 5


def test_the_demo_keeps_away_from_the_plan_one_works_with(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GROUNDPLAN_DB", "work.db")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    shown = run("demo", "--json").answer

    assert not Path("work.db").exists()
    assert Path(shown["db"]).parent.parent == tmp_path
    assert run("--db", shown["db"], "doctor").code == 0


def test_the_commands_to_try_next_work(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = run("demo", "--db", "demo.db").out

    export, *tried = (line.strip() for line in shown.partition("Next steps:\n")[2].splitlines())
    monkeypatch.setenv(*shlex.split(export)[1].split("="))
    codes = [run(*shlex.split(line)[1:]).code for line in tried if not line.startswith("#") and " mcp " not in line]

    assert codes == [*[0] * 11, 4]
    assert "work onboard" in tried[0]


def test_the_demo_fits_into_80_columns(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [".venv/bin/groundplan"])
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "dumb")

    shown = run("demo", "--db", "demo.db").out + run("project", "list", "--archived", "--db", "demo.db").out

    assert max(map(len, shown.splitlines())) <= 80
    whole = [*load_example(), "household", "archived at", "created by"]
    assert all(word in shown for word in whole), "a name was folded"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ada:secret@host:5/plan?sslmode=require",
        "postgresql://ada@host:5/plan?password=secret&sslmode=require",
        "postgresql://ada@host:5/plan?sslmode=require&sslpassword=secret",
    ],
)
def test_a_password_is_taken_out_of_a_url_wherever_it_stands(url: str) -> None:
    assert strip_password(url) == "postgresql://ada@host:5/plan?sslmode=require"


def test_the_demo_runs_on_postgresql_and_keeps_its_password_off_the_screen(run: Run, team: PostgresEngine) -> None:
    app_url = team.app_url
    password = app_url.partition("@")[0].rpartition(":")[2]

    shown = run("demo", "--db", app_url)
    data = run("demo", "--db", app_url, "--json")

    assert shown.code == data.code == 0
    assert "school-wells-pilot" in shown.out
    assert password not in shown.out + data.out
    assert json.loads(data.out)["db"].startswith(f"postgresql://{team.app_role}@")
