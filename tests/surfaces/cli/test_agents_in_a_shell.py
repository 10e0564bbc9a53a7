"""An agent is an agent in a shell too: by its name, and by the coding agent that starts the command."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest

import groundplan
from groundplan.coding_agents import ANY_AGENT, CODING_AGENTS
from tests.purpose.client import PurposeClient
from tests.surfaces.cli.conftest import Run

OWNER = "/site/owner"


class Terminal(io.StringIO):
    """A terminal, and what is typed at it or printed on it."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def atlas(run: Run) -> Run:
    """A project of Ada with a fact that she entered and that is in force."""
    run("project", "create", "atlas")
    draft = run("context", "draft", "--project", "atlas", "--json").answer["run"]["id"]
    run("context", "set", draft, OWNER, "Ada", "--label", "Owner")
    assert run("context", "commit", draft).code == 0
    return run


def read_owner(run: Run) -> Any:
    return run("context", "view", "--project", "atlas", "--json").answer["inputsByPointer"][OWNER]["valueString"]


def list_events(run: Run) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = run("events", "--project", "atlas", "--json").answer["events"]
    return events


@pytest.mark.parametrize("way", ["flag", "variable", "file", "environment"])
def test_an_agent_does_not_replace_in_a_shell_what_a_person_entered(
    atlas: Run, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    match way:
        case "variable":
            monkeypatch.setenv("GROUNDPLAN_AGENT", "claude")
        case "file":
            Path("groundplan.yaml").write_text("agent_identity: claude\n", encoding="utf-8")
        case "environment":
            monkeypatch.setenv("CLAUDECODE", "1")
    named = ("--agent", "claude") if way == "flag" else ()
    empty = atlas(*named, "context", "draft", "--project", "atlas", "--copy-from", "none", "--json").answer["run"]["id"]
    atlas(*named, "context", "set", empty, OWNER, "Evil", "--label", "Owner")
    copied = atlas(*named, "context", "draft", "--project", "atlas", "--json").answer["run"]["id"]
    suggested = atlas(*named, "context", "set", copied, OWNER, "Evil", "--json").answer["suggested"]

    assert [one["pointer"] for one in suggested] == [OWNER]
    refused = atlas(*named, "context", "commit", empty, "--allow-drop", "--json")
    assert refused.error == (6, "displaces_user_entered")
    assert atlas(*named, "context", "commit", copied, "--json").code == 0
    assert read_owner(atlas) == "Ada"
    last = list_events(atlas)[0]
    assert (last["actor"], last["actor_kind"]) == ("claude", "agent")


def test_an_agent_does_not_publish_in_a_shell_and_a_person_does(atlas: Run) -> None:
    with groundplan.open("groundplan.db", actor="ada") as ada:
        purpose = PurposeClient(ada)
        purpose.draft()
        purpose.draw("dig -> well -> water -> health")

    refused = atlas("--agent", "claude", "purpose", "publish", "--project", "atlas", "--json")

    assert refused.error == (4, "agent_not_allowed")
    assert atlas("purpose", "publish", "--project", "atlas").code == 0


@pytest.mark.parametrize("agent", [*CODING_AGENTS, ANY_AGENT._replace(name="devin")], ids=lambda agent: agent.variable)
def test_a_command_inside_a_coding_agent_acts_as_that_agent_and_never_as_the_user(
    atlas: Run, monkeypatch: pytest.MonkeyPatch, agent: Any
) -> None:
    monkeypatch.setenv(agent.variable, agent.name)

    atlas("add", "Draw the coast")
    where = atlas("where", "--json").answer

    assert list_events(atlas)[0]["actor"] == agent.name
    assert (where["actor"]["value"], where["kind"]["value"]) == (agent.name, "agent")
    assert agent.variable in where["actor"]["source"]
    assert agent.source in where["actor"]["source"]


def test_inside_a_coding_agent_a_person_is_asked_at_a_terminal_and_refused_without_one(
    atlas: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    add = ("add", "Draw the coast", "--person", "--json")
    assert atlas(*add).error == (4, "person_not_confirmed")
    assert atlas("--person", "ben", *add[:2], "--json").error == (4, "person_not_confirmed")

    for typed, code in (("yes\n", 4), ("", 4), ("ada\n", 0)):
        monkeypatch.setattr(sys, "stdin", Terminal(typed))
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        asked = atlas(*add)
        assert (asked.code, "ada" in asked.err.partition(": ")[0]) == (code, True)
    planned = [event["actor"] for event in list_events(atlas) if event["op"] == "work.created"]
    assert planned == ["ada", "ada"]  # the first with the project


def test_outside_of_a_coding_agent_a_person_names_themselves_or_another(
    atlas: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUNDPLAN_AGENT", "claude")

    for words, actor in (
        (("--person", "add", "One"), "ada"),
        (("add", "Two", "--person"), "ada"),
        (("--person", "ben", "add", "Three"), "ben"),
        (("add", "Four", "--person=ben"), "ben"),
        (("add", "Five"), "claude"),
    ):
        assert atlas(*words).code == 0
        assert list_events(atlas)[0]["actor"] == actor
    assert atlas("add", "Six", "--person", "ada", "--agent", "claude", "--json").error == (2, "config_invalid_value")


def test_a_person_who_is_named_like_an_agent_is_told_what_to_do(atlas: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    atlas("--person", "codex", "add", "By a person called Codex")
    monkeypatch.setenv("CODEX_SANDBOX", "seatbelt")

    refused = atlas("add", "By the agent")

    assert (refused.code, "(actor_kind)" in refused.err) == (4, True)
    assert "--person" in refused.err
    assert atlas("--agent", "codex-2", "add", "By the agent").code == 0


def test_an_environment_that_changes_in_the_middle_changes_no_kind_and_loses_nothing(
    atlas: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    atlas("add", "Draw the coast")
    monkeypatch.setenv("CLAUDECODE", "1")
    taken = atlas("next", "--json").answer["nodes"][0]["node"]["id"]
    assert atlas("take", taken).code == 0

    monkeypatch.delenv("CLAUDECODE")
    monkeypatch.setenv("LOGNAME", "claude")
    assert atlas("done", taken, "--json").error == (4, "actor_kind")
    monkeypatch.setenv("LOGNAME", "ada")
    (claimed,) = atlas("work", "query", "--project", "atlas", "--filter", '{"claimed_by": "claude"}', "--json").answer[
        "nodes"
    ]
    assert claimed["id"] == taken
    monkeypatch.setenv("CLAUDECODE", "1")
    assert atlas("done", taken).code == 0


def test_what_only_persons_do_is_refused_inside_a_coding_agent(atlas: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")

    assert atlas("org", "create", "acme", "--json").error == (4, "agent_not_allowed")
    assert atlas("token", "create", "--kind", "person", "--json").error == (4, "agent_not_allowed")
    assert atlas("mcp", "--kind", "person").code == 4
    assert atlas("serve", "--once").code == 2  # nobody gets an address that logs in


def test_an_agent_brings_in_no_document_that_says_a_person_entered_it(atlas: Run) -> None:
    document = atlas("context", "export", "--project", "atlas").out
    Path("facts.json").write_text(document.replace('"valueString": "Ada"', '"valueString": "Evil"'), encoding="utf-8")

    refused = atlas("--agent", "claude", "context", "import", "facts.json", "--project", "atlas", "--json")

    assert refused.error == (6, "provenance_not_allowed")
    assert len(atlas("context", "list", "--project", "atlas", "--json").answer["runs"]) == 1
    assert atlas("context", "import", "facts.json", "--project", "atlas").code == 0


def test_a_project_that_an_agent_makes_waits_in_the_inbox_for_a_person_to_own_it(run: Run) -> None:
    made = run("--agent", "claude", "work", "open", "atlas", "--json").answer

    assert any("no person owns" in line for line in made["warnings"])
    (item,) = run("inbox", "--project", "atlas", "--json").answer["items"]
    assert (item["kind"], item["ref"]) == ("no_owner", "atlas")
    assert run("--agent", "claude", "inbox", "--project", "atlas", "--json").answer["items"] == []
    _, *words = item["action"]["call"].split()
    assert run(*words).code == 0
    assert run("inbox", "--project", "atlas", "--json").answer["items"] == []
    assert "warning" not in run("doctor").out
    assert "warnings" not in run("work", "open", "borealis", "--json").answer
