"""Settings from the file, the environment and flags, and the errors in them."""

from __future__ import annotations

import getpass
import os
import pwd
import re
import sys
from pathlib import Path
from typing import NoReturn

import pytest
from msgspec import Struct

import groundplan
from groundplan import policies
from groundplan.catalog import build_schema
from groundplan.coding_agents import CODING_AGENTS, CodingAgent
from groundplan.configuration import FILE_BYTES_MAX, SETTINGS, Flags, Identity, Settings, get_user_name, load_settings
from groundplan.kernel.actors import LOCAL_ORGANIZATION, Access, ActorKind, local_actor
from groundplan.kernel.cancellation import WRITE_LIMIT_S
from groundplan.kernel.errors import OPERATION_NAMES, Invalid
from groundplan.kernel.input_gate.request import parse_request
from groundplan.kernel.operations.registry import Group
from groundplan.kernel.organizations.organization import OrganizationId
from groundplan.kernel.preferences import Preferences
from groundplan.kernel.store.open_store import open_store
from groundplan.repository.setup.clients import CLIENTS
from groundplan.session import Session
from groundplan.setting_values import ACCESS, CLAIM_TTL_MINUTES, CLAIM_TTL_MINUTES_MAX, TOOL_GROUPS, TOOL_GROUPS_DEFAULT
from groundplan.work.kinds import WorkPreferences

VARIABLE = re.compile(r"\bGROUNDPLAN_[A-Z_]+[A-Z]\b")


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def settings(flags: Flags | None = None, /, **environment: str) -> Settings:
    return load_settings(flags or Flags(), environment)


def write_file(text: str, name: str = "groundplan.yaml") -> Path:
    path = Path(name)
    path.write_text(text, encoding="utf-8")
    return path


def error_of(flags: Flags | None = None, /, **environment: str) -> Invalid:
    with pytest.raises(Invalid) as caught:
        settings(flags, **environment)
    return caught.value


def test_the_names_of_groups_and_of_access_are_those_of_the_kernel() -> None:
    assert tuple(group.value for group in Group) == TOOL_GROUPS
    assert tuple(access.value for access in Access) == ACCESS


@pytest.mark.parametrize("org", ["", "Acme", "a b", "-a", "a-", "a" * 64, "ä"])
def test_the_id_of_an_organization_has_small_letters_digits_and_dashes(org: str) -> None:
    assert error_of(Flags(org=org)).details["setting"] == "--org"
    with pytest.raises(Invalid):
        parse_request({"id": org}, HasOrganization)


def test_an_organization_is_selected_by_a_flag_the_environment_or_the_file() -> None:
    write_file("org: of-file\n")

    assert settings().org == "of-file"
    assert settings(GROUNDPLAN_ORG="of-env").org == "of-env"
    assert settings(Flags(org="of-flag"), GROUNDPLAN_ORG="of-env").org == "of-flag"


class HasOrganization(Struct, forbid_unknown_fields=True):
    id: OrganizationId


def test_every_row_is_a_setting_and_every_flag_of_one_is_taken() -> None:
    assert set(Settings._fields) - SETTINGS.keys() == {"config_file", "coding_agent", "sources"}
    assert {name for name, row in SETTINGS.items() if row.flag} == set(Flags._fields) - {"config", "repo"}
    keys, variables = (
        [value for row in SETTINGS.values() if (value := getattr(row, name))] for name in ("key", "variable")
    )
    assert len(set(keys)) == len(keys)
    assert len(set(variables)) == len(variables)
    assert all(variable.startswith("GROUNDPLAN_") for variable in variables)


def test_the_limit_of_a_write_is_that_of_the_store() -> None:
    assert settings().write_timeout_s == WRITE_LIMIT_S


def test_the_bounds_of_a_claim_are_those_of_the_policies() -> None:
    assert (CLAIM_TTL_MINUTES, CLAIM_TTL_MINUTES_MAX) == (policies.CLAIM_TTL_MINUTES, policies.CLAIM_TTL_MINUTES_MAX)


def test_without_anything_the_plan_is_in_this_folder_and_containers_are_off() -> None:
    assert settings() == Settings(
        "groundplan.db", LOCAL_ORGANIZATION, None, None, "open", TOOL_GROUPS_DEFAULT, 60, False, None, sources={}
    )
    assert set(TOOL_GROUPS) - set(TOOL_GROUPS_DEFAULT) == {"containers"}


@pytest.mark.parametrize("url", ["postgresql://127.0.0.1/plan", "postgres://127.0.0.1/plan"])
def test_on_a_server_stored_roles_decide_unless_somebody_chose_otherwise(url: str) -> None:
    of_server = settings(Flags(db=url))

    assert (of_server.access, settings(Flags(db="plan.db")).access) == ("members", "open")
    assert settings(GROUNDPLAN_DB=url).access == "members"
    assert settings(Flags(db=url, access="open")).access == "open"
    assert settings(Flags(db=url), GROUNDPLAN_ACCESS="open").access == "open"


def name_actor(found: Settings, who: Identity | None = None) -> tuple[str, ActorKind] | None:
    """Return the name and the kind with which a process acts; None if it may not act at all."""
    actor = found.build_actor(who)
    return None if actor is None else (actor.id, actor.kind)


def test_a_person_on_a_server_is_named_by_the_system_unless_somebody_chose_stored_roles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LOGNAME", "cleo")
    server = Flags(db="postgresql://127.0.0.1/plan")

    assert name_actor(settings(server)) == ("cleo", ActorKind.PERSON)
    assert name_actor(settings(server._replace(access="members"))) is None
    assert name_actor(settings(server._replace(access="members", person=""))) == ("cleo", ActorKind.PERSON)
    assert name_actor(settings(server._replace(agent="scout"))) == ("scout", ActorKind.AGENT)
    unnamed_agent = Identity("agent", ActorKind.AGENT, "default", is_named=False)
    assert name_actor(settings(server), unnamed_agent) is None
    assert name_actor(Settings(), unnamed_agent) == ("agent", ActorKind.AGENT)


def test_a_flag_a_variable_or_the_file_names_an_agent_and_only_a_flag_names_a_person(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LOGNAME", "cleo")
    agent, person = ("scout", ActorKind.AGENT), ("cleo", ActorKind.PERSON)

    assert name_actor(settings()) == person
    assert name_actor(settings(Flags(agent="scout"))) == agent
    assert name_actor(settings(GROUNDPLAN_AGENT="scout")) == agent
    assert name_actor(settings(Flags(person=""), GROUNDPLAN_AGENT="scout")) == person
    assert name_actor(settings(Flags(person=" ben "))) == ("ben", ActorKind.PERSON)
    write_file("agent_identity: scout\n")
    assert name_actor(settings()) == agent
    assert name_actor(settings(Flags(person=""))) == person
    assert error_of(Flags(agent="scout", person="ben")).code == "config_invalid_value"


@pytest.mark.parametrize("agent", CODING_AGENTS, ids=lambda agent: agent.variable)
def test_inside_a_coding_agent_a_process_that_names_nobody_acts_as_that_agent(agent: CodingAgent) -> None:
    inside = {agent.variable: "1"}

    assert name_actor(settings(**inside)) == (agent.name, ActorKind.AGENT)
    assert agent.source in settings(**inside).identity.source
    assert name_actor(settings(GROUNDPLAN_AGENT="scout", **inside)) == ("scout", ActorKind.AGENT)
    assert name_actor(settings(Flags(access="members"), **inside)) == (agent.name, ActorKind.AGENT)


def test_an_agent_that_is_not_known_says_its_own_name() -> None:
    def name(value: str, **more: str) -> str | None:
        found = settings(AI_AGENT=value, **more).coding_agent
        return None if found is None else found.name

    assert [name(value) for value in ("devin@1", "my-agent", "1", "", " ")] == [
        "devin",
        "my-agent",
        "agent",
        None,
        None,
    ]
    assert name("devin", CLAUDECODE="1") == "claude"


def test_a_client_that_init_connects_has_the_same_name_in_a_shell() -> None:
    in_shells = {agent.name for agent in CODING_AGENTS}

    assert CLIENTS.keys() - in_shells == {"zed"}  # it says nothing to the programs that it starts


def test_flags_win_over_the_environment_which_wins_over_the_file() -> None:
    write_file("db_path: of-file.db\nagent_identity: file\naccess: members\nclaim_ttl_minutes: 1\n")

    found = settings(Flags(db="of-flag.db"), GROUNDPLAN_DB="of-env.db", GROUNDPLAN_AGENT="env")

    assert (found.db, found.agent, found.access, found.claim_ttl_minutes) == ("of-flag.db", "env", "members", 1)


def test_every_variable_of_the_environment_is_read_and_an_empty_one_is_none() -> None:
    found = settings(
        GROUNDPLAN_DB="a.db",
        GROUNDPLAN_ORG="acme",
        GROUNDPLAN_PROJECT="atlas",
        GROUNDPLAN_AGENT="ben",
        GROUNDPLAN_ACCESS="members",
        GROUNDPLAN_TOOLS="purpose,work",
        GROUNDPLAN_CLAIM_TTL_MINUTES="0.5",
        GROUNDPLAN_LEAN="yes",
    )

    assert found._replace(sources={}) == Settings(
        "a.db", "acme", "atlas", "ben", "members", ("work", "purpose"), 0.5, True, None, sources={}
    )
    assert found.sources["project"] == "GROUNDPLAN_PROJECT"
    assert settings(GROUNDPLAN_DB="", GROUNDPLAN_AGENT="", GROUNDPLAN_ACCESS="") == Settings(sources={})


def test_the_file_of_the_graph_seed_is_read_when_there_is_no_other() -> None:
    write_file('agent_identity: "claude-code-v1"\ndb_path: "./graph.db"\nclaim_ttl_minutes: 60\n', "graph.config.yaml")
    found = settings()
    assert (found.db, found.agent, found.claim_ttl_minutes) == ("graph.db", "claude-code-v1", 60)
    assert (found.config_file, found.sources["db"]) == ("graph.config.yaml", "graph.config.yaml")

    write_file("agent_identity: other\n")
    assert settings().agent == "other"


@pytest.mark.parametrize("place", ["groundplan.yaml", "graph.config.yaml", ".groundplan/groundplan.yaml"])
def test_a_configuration_is_found_from_the_folders_below_it(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a/b").mkdir(parents=True)
    Path(place).parent.mkdir(exist_ok=True)
    write_file("db_path: plan.db\nproject: atlas\n", place)
    here = Path.cwd()
    monkeypatch.chdir("a/b")

    found = settings()

    assert found.project == "atlas"
    assert found.db == str((here / place).with_name("plan.db"))
    assert found.may_create_db


def test_the_nearest_plan_wins_and_a_database_without_configuration_is_a_plan_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path("a/b").mkdir(parents=True)
    write_file("agent_identity: outer\n")
    Path("a/groundplan.db").touch()
    here = Path.cwd()
    monkeypatch.chdir("a/b")

    found = settings()

    assert (found.db, found.agent) == (str(here / "a" / "groundplan.db"), None)
    assert not found.may_create_db


def test_the_plan_of_a_named_repository_wins_over_that_of_this_folder(tmp_path: Path) -> None:
    write_file("agent_identity: here\n")
    (tmp_path / "repository" / "deep").mkdir(parents=True)
    (tmp_path / "repository" / "groundplan.yaml").write_text("agent_identity: there\n", encoding="utf-8")
    (tmp_path / "empty").mkdir()

    assert load_settings(Flags(repo=str(tmp_path / "repository" / "deep")), {}).agent == "there"
    assert load_settings(Flags(repo=str(tmp_path / "empty")), {}).agent == "here"


def test_a_file_of_another_user_above_this_folder_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a").mkdir()
    write_file("db_path: theirs.db\n")
    monkeypatch.setattr("groundplan.discovery._find_other_owner", lambda _path: "1001")
    monkeypatch.chdir("a")

    assert error_of().code == "config_of_another_user"


def test_a_path_in_the_file_is_meant_from_where_the_file_lies() -> None:
    Path("deep").mkdir()
    write_file("db_path: plan.db\n", "deep/config.yaml")
    assert settings(Flags(config="deep/config.yaml")).db == str(Path("deep/plan.db"))

    write_file("db_path: /abs/plan.db\n", "deep/config.yaml")
    assert settings(Flags(config="deep/config.yaml")).db == "/abs/plan.db"

    write_file("db_path: postgresql://host/plan\n", "deep/config.yaml")
    assert settings(Flags(config="deep/config.yaml")).db == "postgresql://host/plan"


def test_a_tilde_is_the_home_folder_also_where_no_shell_has_seen_it() -> None:
    assert settings(Flags(db="~/plan.db")).db == str(Path.home() / "plan.db")
    assert settings(Flags(db="~nobody-of-that-name/plan.db")).db == "~nobody-of-that-name/plan.db"


def test_an_empty_file_changes_nothing() -> None:
    write_file("# later\n")

    assert settings() == Settings(config_file="groundplan.yaml")


@pytest.mark.parametrize(("typo", "meant"), [("agent_identiti", "agent_identity"), ("DbPath", "db_path")])
def test_a_typo_in_a_key_is_refused_with_the_key_that_was_meant_and_its_line(typo: str, meant: str) -> None:
    write_file(f"access: open\n{typo}: x\n")

    error = error_of()

    assert error.code == "config_unknown_key"
    assert error.details == {"key": typo, "file": "groundplan.yaml", "line": 2, "near": meant}
    assert f"line 2); did you mean {meant}?" in error.message


def test_a_key_like_no_other_is_refused_with_all_there_are() -> None:
    write_file("colour: blue\n")

    assert error_of().details["allowed"] == [
        "db_path",
        "org",
        "project",
        "agent_identity",
        "access",
        "tools",
        "claim_ttl_minutes",
        "lean",
        "pipelines",
        "write_timeout_s",
        "oidc_issuer",
        "oidc_client_id",
        "oidc_client_secret",
        "oidc_audience",
        "oidc_hosts",
        "oidc_person_clients",
    ]


@pytest.mark.parametrize(
    "line",
    [
        "agent_identity: no",  # YAML reads it as false
        "agent_identity: 7",
        "agent_identity: [ada]",
        "db_path: 1.5",
        "db_path:",
        "db_path: ''",
        "db_path: sqlite:///plan.db",
        "access: member",
        "access: true",
        "access: {}",
        "tools: wrok",
        "tools: [work, 3]",
        "tools: 3",
        "tools: ''",
        "tools: []",
        "write_timeout_s: 0",
        "write_timeout_s: 601",
        "write_timeout_s: .inf",
        "claim_ttl_minutes: 0",
        "claim_ttl_minutes: -5",
        "claim_ttl_minutes: soon",
        "claim_ttl_minutes: true",
        "claim_ttl_minutes: .nan",
        "claim_ttl_minutes: .inf",
        "claim_ttl_minutes: 0x" + "f" * 5000,
        "claim_ttl_minutes: 525601",
        "lean: 2",
        "lean: maybe",
        "lean: []",
        "pipelines: NEW",
        "pipelines: {}",
        "pipelines: {epic: [NEW, ACTIVE, CLOSED]}",
        "pipelines: {task: [NEW, CLOSED]}",
        "pipelines: {task: [NEW, ACTIVE, ACTIVE, CLOSED]}",
        "pipelines: {feature: [NEW, ACTIVE, WILL_NOT_IMPLEMENT, CLOSED]}",
        "pipelines: [NEW, ACTIVE, in test, CLOSED]",
        "pipelines: [NEW, ACTIVE, 3, CLOSED]",
    ],
)
def test_a_value_of_the_wrong_kind_is_refused_with_its_place(line: str) -> None:
    write_file(f"# a comment\n{line}\n")

    error = error_of()

    assert error.code == "config_invalid_value"
    assert f"{line.partition(':')[0]} (groundplan.yaml, line 2)" in error.message


def test_a_wrong_choice_is_answered_with_the_allowed_ones_and_the_nearest() -> None:
    assert error_of(Flags(access="member")).details == {
        "setting": "--access",
        "allowed": ["open", "members"],
        "near": "members",
    }
    assert error_of(GROUNDPLAN_TOOLS="work,knowlege").details == {
        "setting": "GROUNDPLAN_TOOLS",
        "allowed": [*TOOL_GROUPS, "all"],
        "near": "knowledge",
    }


@pytest.mark.parametrize(
    "text",
    [
        "db_path: [",
        "- db_path",
        "just words",
        "db_path: a\ndb_path: b",
        "? [db_path]\n: a",
        "db_path: *unknown",
        "access: !!python/object/apply:os.system ['true']",
        "[" * sys.getrecursionlimit(),
        "\x01",
        "---\naccess: open\n---\naccess: open",
        "#" * (FILE_BYTES_MAX + 1),
    ],
)
def test_a_file_that_is_not_a_list_of_settings_is_refused_with_a_line(text: str) -> None:
    write_file(text)

    error = error_of()

    assert error.code == "config_invalid"
    assert error.details["line"] >= 1


def test_a_file_that_is_not_text_is_refused() -> None:
    Path("groundplan.yaml").write_bytes(b"agent_identity: \xff")

    assert error_of().code == "config_invalid"


def test_a_file_that_is_named_must_be_there_and_be_a_file() -> None:
    Path("folder").mkdir()

    assert error_of(Flags(config="missing.yaml")).code == "config_missing"
    assert error_of(Flags(config="")).code == "config_missing"
    assert error_of(Flags(config="folder")).code == "config_unreadable"


def test_every_group_is_accepted_in_any_order_and_all_means_all() -> None:
    assert settings(Flags(tools="briefing, work")).tools == ("work", "briefing")
    assert settings(Flags(tools=",".join(reversed(TOOL_GROUPS)))).tools == TOOL_GROUPS
    assert settings(Flags(tools="all")).tools == TOOL_GROUPS


def test_a_name_is_normalized_like_the_names_in_requests() -> None:
    assert settings(Flags(agent="  Zoe\u0308  ")).agent == "Zoë"


def test_the_user_name_is_that_of_the_operating_system_or_local(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(variable, raising=False)
    assert get_user_name() == getpass.getuser() == pwd.getpwuid(os.getuid()).pw_name

    monkeypatch.setenv("USER", "grace")
    assert get_user_name() == getpass.getuser() == "grace"

    def nameless(_uid: int) -> NoReturn:
        raise KeyError(os.getuid())

    monkeypatch.delenv("USER")
    monkeypatch.setattr(pwd, "getpwuid", nameless)
    assert get_user_name() == "local"


def test_every_variable_that_the_code_names_is_documented() -> None:
    package = Path(groundplan.__file__).parent
    page = package.parents[1] / "docs" / "reference" / "configuration.md"

    named = {name for path in package.rglob("*.py") for name in VARIABLE.findall(path.read_text(encoding="utf-8"))}

    assert named >= {"GROUNDPLAN_DB", "GROUNDPLAN_LOG"}
    assert named <= set(VARIABLE.findall(page.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("said", "lean"),
    [("true", True), ("yes", True), ("On", True), ("1", True), ("false", False), ("no", False), ("'off'", False)],
)
def test_lean_is_said_in_any_of_the_usual_ways(said: str, lean: bool) -> None:
    write_file(f"lean: {said}\n")

    assert settings().lean is lean
    assert settings(GROUNDPLAN_LEAN=said.strip("'")).lean is lean
    assert settings(GROUNDPLAN_LEAN="").lean is lean


def test_what_operations_are_to_prefer_comes_from_the_settings() -> None:
    found = Settings(claim_ttl_minutes=5, lean=True, project="atlas").preferences(OPERATION_NAMES, answer_tokens_max=9)

    assert found == Preferences(True, 9, project="atlas", of_slices=(WorkPreferences(5),))
    assert Settings().preferences(OPERATION_NAMES) == Preferences(of_slices=(WorkPreferences(),))
    assert Preferences().of(WorkPreferences) == WorkPreferences()


def test_pipelines_of_the_file_are_kept_with_the_projects_that_are_made(tmp_path: Path) -> None:
    write_file("pipelines:\n  task: [NEW, ACTIVE, CLOSED]\n")
    found = settings()
    db = str(tmp_path / "plan.db")
    with Session(
        open_store(db, build_schema), local_actor("ada"), preferences=found.preferences(OPERATION_NAMES)
    ) as plan:
        plan.call("project.create", name="atlas")

    with groundplan.open(db, actor="ben") as plan:
        project = plan.call("container.get", containerType="project", id="atlas").project

    assert project.pipelines.task == ("NEW", "ACTIVE", "CLOSED")
    assert project.pipelines.feature == ("NEW", "ACTIVE", "READY_TO_PROD", "CLOSED")
