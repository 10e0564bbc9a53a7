"""`groundplan init` sets up a working copy: clients, instructions and a hook; `--undo` takes back exactly that."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest

from groundplan.repository.setup import blocks
from tests.repository.working_copy import NOBODY_S_SETTINGS, WorkingCopy
from tests.surfaces.cli.conftest import Run

pytestmark = pytest.mark.slow  # every test starts git

EVERY = ("claude", "cursor", "vscode", "codex", "gemini", "zed")
ALL_CLIENTS = [word for name in EVERY for word in ("--client", name)]
NO_CLIENT = ("--client", "none")


@pytest.fixture(autouse=True)
def _programs(_empty_configuration: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only git and the program itself are installed, and no database is named."""
    monkeypatch.delenv("GROUNDPLAN_DB")
    for name, value in NOBODY_S_SETTINGS.items():
        monkeypatch.setenv(name, value)
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "git").symlink_to(str(shutil.which("git")))
    (programs / "groundplan").write_text("#!/bin/sh\n", encoding="utf-8")
    (programs / "groundplan").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WorkingCopy:
    """Return a repository without commits, which is the current folder."""
    made = WorkingCopy(tmp_path / "wells")
    monkeypatch.chdir(made.folder)
    return made


def list_files(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return the mode and content of every file and folder, without the plan and what git keeps for itself."""
    paths = [path for path in folder.rglob("*") if ".groundplan" not in path.parts]
    own = [path for path in paths if ".git" not in path.parts or "hooks" in path.parts or "groundplan" in str(path)]
    return {
        str(path.relative_to(folder)): (path.stat().st_mode, b"" if path.is_dir() else path.read_bytes())
        for path in own
    }


# --- Clients ------------------------------------------------------------------------------------------------------


def test_every_client_gets_an_entry_that_names_no_path_of_this_machine(run: Run, copy: WorkingCopy) -> None:
    made = run("init", *ALL_CLIENTS, "--json").answer

    files = {change["file"] for change in made["changes"]}
    assert files == {
        ".mcp.json",
        ".cursor/mcp.json",
        ".vscode/mcp.json",
        ".codex/config.toml",
        ".gemini/settings.json",
        ".zed/settings.json",
        "AGENTS.md",
    }
    claude = json.loads(Path(".mcp.json").read_bytes())["mcpServers"]["groundplan"]
    assert claude == {"command": "groundplan", "args": ["mcp", "--agent", "claude"]}
    vscode = json.loads(Path(".vscode/mcp.json").read_bytes())["servers"]["groundplan"]
    assert vscode == {"type": "stdio", "command": "groundplan", "args": ["mcp", "--agent", "vscode"]}
    codex = tomllib.loads(Path(".codex/config.toml").read_text(encoding="utf-8"))["mcp_servers"]["groundplan"]
    assert codex == {"command": "groundplan", "args": ["mcp", "--agent", "codex"]}
    zed = json.loads(Path(".zed/settings.json").read_bytes())["context_servers"]["groundplan"]
    assert zed["command"] == "groundplan"
    assert str(copy.folder) not in "".join(path.read_text(encoding="utf-8") for path in map(Path, files))


def test_without_a_choice_the_clients_that_are_used_get_an_entry(run: Run, copy: WorkingCopy, tmp_path: Path) -> None:
    (copy.folder / ".vscode").mkdir()
    (tmp_path / "bin" / "codex").symlink_to("git")

    made = run("init", "--json").answer

    assert [one["file"] for one in made["changes"]] == [".vscode/mcp.json", ".codex/config.toml", "AGENTS.md"]


def test_a_second_run_changes_nothing(run: Run, copy: WorkingCopy) -> None:
    run("init", *ALL_CLIENTS, "--hook")
    before = list_files(copy.folder)

    again = run("init", *ALL_CLIENTS, "--hook", "--json").answer

    assert (again["changes"], again["kept"]) == ([], [])
    assert list_files(copy.folder) == before


def test_the_change_is_shown_as_a_diff_before_and_after_it_is_made(run: Run, copy: WorkingCopy) -> None:
    Path(".mcp.json").write_text('{\n  "mcpServers": {\n    "other": {"command": "x"}\n  }\n}\n', encoding="utf-8")
    before = list_files(copy.folder)
    shown = run("init", "--client", "claude", "--dry-run")

    assert list_files(copy.folder) == before
    assert not Path(".groundplan").exists()
    assert '+    "groundplan": {' in shown.out
    assert '     "other": {"command": "x"}' in shown.out
    assert '+    "groundplan": {' in run("init", "--client", "claude").out


FILES_OF_PEOPLE = {
    ".mcp.json": '{"mcpServers": {"other": {"command": "x"}}}',
    ".cursor/mcp.json": "{}",
    ".vscode/mcp.json": '// mine\n{\n\t"servers": {\n\t\t"other": {"url": "https://example.org"}, // keep\n\t},\n}\n',
    ".codex/config.toml": 'model = "x"\n\n[mcp_servers.other]\ncommand = "x"',
    ".gemini/settings.json": '{\r\n  "theme": "dark"\r\n}\r\n',
    ".zed/settings.json": '{\n  // theme\n  "context_servers": {}\n}\n',
    "AGENTS.md": "# Agents\n\nBe careful.",
    "CLAUDE.md": "# Claude\r\n\r\nBe careful.\r\n",
    ".git/hooks/post-commit": "#!/bin/bash\nset -e\nexec ./notify\n",
}


@pytest.mark.parametrize("existing", [{}, FILES_OF_PEOPLE], ids=["nothing", "files of people"])
def test_undo_takes_back_exactly_what_init_wrote(run: Run, copy: WorkingCopy, existing: dict[str, str]) -> None:
    for name, text in existing.items():
        path = copy.folder / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_bytes(text.encode())
        path.chmod(0o750)
    before = list_files(copy.folder)
    run("init", *ALL_CLIENTS, "--hook")
    during = list_files(copy.folder)
    assert all(during[name] != before.get(name) for name in FILES_OF_PEOPLE if name in existing or name != "CLAUDE.md")

    undone = run("init", "--undo", "--json")

    assert undone.code == 0
    assert list_files(copy.folder) == before
    assert Path(".groundplan/plan.db").exists()
    assert run("init", "--undo", "--json").answer["changes"] == []


def test_undo_says_that_the_skills_stay_and_where_they_are(run: Run, copy: WorkingCopy) -> None:
    run("init", "--skills", ".claude/skills")

    assert run("init", "--undo", "--json").answer["skills_kept"] == [".claude/skills"]
    assert "(.claude/skills)" in run("init", "--undo").out
    assert (copy.folder / ".claude/skills/groundplan-facts/SKILL.md").exists()
    shutil.rmtree(copy.folder / ".claude")
    assert run("init", "--undo", "--json").answer["skills_kept"] == []
    assert "--skills" in run("init", "--undo").out, "they may be elsewhere"


def test_undo_keeps_what_people_wrote_since(run: Run, copy: WorkingCopy) -> None:
    run("init", *ALL_CLIENTS)
    settings = json.loads(Path(".mcp.json").read_bytes())
    settings["mcpServers"]["other"] = {"command": "x"}
    Path(".mcp.json").write_text(json.dumps(settings, indent=4), encoding="utf-8")
    agents = Path("AGENTS.md").read_text(encoding="utf-8")
    Path("AGENTS.md").write_text(f"# Agents\n\n{agents}\nBe careful.\n", encoding="utf-8")

    run("init", "--undo")

    assert json.loads(Path(".mcp.json").read_bytes()) == {"mcpServers": {"other": {"command": "x"}}}
    assert Path("AGENTS.md").read_text(encoding="utf-8") == "# Agents\n\nBe careful.\n"
    assert not Path(".zed").exists()


def test_only_its_owner_can_read_what_is_remembered_of_the_files(run: Run, copy: WorkingCopy) -> None:
    Path(".mcp.json").write_text('{"mcpServers": {"a": {"env": {"KEY": "secret"}}}}', encoding="utf-8")
    run("init", "--client", "claude")

    record = copy.folder / ".git" / "groundplan" / "setup.json"
    assert "secret" in record.read_text(encoding="utf-8")
    assert stat.S_IMODE(record.stat().st_mode) == 0o600


def test_undo_works_for_somebody_who_cloned_the_entries(run: Run, copy: WorkingCopy) -> None:
    Path(".mcp.json").write_text('{"mcpServers": {"other": {"command": "x"}}}', encoding="utf-8")
    run("init", "--client", "claude")
    shutil.rmtree(copy.folder / ".git" / "groundplan")  # the record is not part of a clone

    run("init", "--undo")

    assert Path(".mcp.json").read_text(encoding="utf-8") == '{"mcpServers": {"other": {"command": "x"}}}'
    assert Path("AGENTS.md").read_text(encoding="utf-8") == ""


@pytest.mark.parametrize(
    ("file", "text", "client"),
    [
        (".mcp.json", '{"mcpServers": {', "claude"),
        (".mcp.json", '{\n<<<<<<< HEAD\n"mcpServers": {}\n}', "claude"),
        (".mcp.json", '{"mcpServers": {"groundplan": {"command": "mine"}}}', "claude"),
        (".mcp.json", '{"mcpServers": "none"}', "claude"),
        (".codex/config.toml", "model = ", "codex"),
        (".codex/config.toml", "mcp_servers = {}\n", "codex"),
        (".codex/config.toml", '[mcp_servers.groundplan]\ncommand = "mine"\n', "codex"),
    ],
)
def test_a_file_that_is_broken_or_not_ours_is_named_and_left_alone(
    run: Run, copy: WorkingCopy, file: str, text: str, client: str
) -> None:
    Path(file).parent.mkdir(exist_ok=True)
    Path(file).write_text(text, encoding="utf-8")

    refused = run("init", "--client", client, "--json")
    assert refused.error == (2, "client_file")
    assert json.loads(refused.err)["error"]["details"]["file"] == file
    assert not Path(".groundplan").exists()

    made = run("init", "--json").answer  # the client was only found, so the rest is set up
    assert [one["file"] for one in made["kept"]] == [file]
    assert Path(file).read_text(encoding="utf-8") == text
    run("init", "--undo")
    assert Path(file).read_text(encoding="utf-8") == text


def test_a_file_behind_a_link_is_not_changed(run: Run, copy: WorkingCopy, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.json").write_text("{}", encoding="utf-8")
    Path(".mcp.json").symlink_to(tmp_path / "elsewhere.json")

    assert run("init", "--json").answer["kept"][0]["file"] == ".mcp.json"
    assert (tmp_path / "elsewhere.json").read_text(encoding="utf-8") == "{}"


def test_an_unknown_client_is_answered_with_the_nearest(run: Run, copy: WorkingCopy) -> None:
    refused = run("init", "--client", "cursr")

    assert refused.code == 2
    assert "did you mean cursor?" in refused.err
    assert not Path(".groundplan").exists()


# --- Instructions -------------------------------------------------------------------------------------------------


def test_instructions_go_where_people_have_theirs(run: Run, copy: WorkingCopy) -> None:
    Path("CLAUDE.md").write_text("@AGENTS.md\n", encoding="utf-8")
    Path("AGENTS.md").write_text("# Agents\n", encoding="utf-8")

    run("init", *NO_CLIENT)

    assert Path("CLAUDE.md").read_text(encoding="utf-8") == "@AGENTS.md\n"
    assert "groundplan:begin" in Path("AGENTS.md").read_text(encoding="utf-8")


def test_an_agent_that_follows_the_instructions_acts_under_its_own_name(
    run: Run, copy: WorkingCopy, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("init", *NO_CLIENT)
    ids = [run("add", title, "--json").answer["created"][0]["id"] for title in ("Dig", "Lay the pipe")]
    text = Path("AGENTS.md").read_text(encoding="utf-8")
    (variable,) = re.findall(r"export (\w+)=NAME", text)
    monkeypatch.setenv(variable, "claude")
    names = {"ID": ids[0], "OTHER": ids[1], "FILE": "src/pump.py", "commit:SHA": "note:dug"}
    commands = re.findall("`((?:groundplan|pl) [^`]+)`", text)
    commands.sort(key=lambda command: " block " in command)  # last, else the task could not be finished

    assert len(commands) == 7
    for command in commands:
        _, *words = (names.get(word, word) for word in shlex.split(command))
        assert run(*words).code == 0, command
    events = run("events", "--json").answer["events"]
    by_agent = [event["op"] for event in events if (event["actor"], event.get("actor_kind")) == ("claude", "agent")]
    assert {"work.claimed", "work.resolved", "work.created"} <= set(by_agent)
    assert [event["op"] for event in events if event["actor"] == "ada"][:2] == ["work.created"] * 2


def test_a_file_of_instructions_that_is_a_link_or_no_text_is_left_alone(run: Run, copy: WorkingCopy) -> None:
    Path("AGENTS.md").write_bytes(b"\xff\xfe")
    Path("CLAUDE.md").symlink_to("AGENTS.md")

    made = run("init", *NO_CLIENT, "--json").answer

    assert [one["file"] for one in made["kept"]] == ["AGENTS.md"]
    assert Path("AGENTS.md").read_bytes() == b"\xff\xfe"
    assert Path("CLAUDE.md").is_symlink()


def test_instructions_can_be_left_out_and_edited_ones_stay(run: Run, copy: WorkingCopy) -> None:
    run("init", *NO_CLIENT, "--no-instructions")
    assert not Path("AGENTS.md").exists()

    run("init", *NO_CLIENT)
    edited = Path("AGENTS.md").read_text(encoding="utf-8").replace("Before you begin", "First of all")
    Path("AGENTS.md").write_text(edited, encoding="utf-8")

    assert run("init", *NO_CLIENT, "--json").answer["kept"][0]["file"] == "AGENTS.md"
    assert Path("AGENTS.md").read_text(encoding="utf-8") == edited


def test_an_older_block_is_brought_up_to_date(run: Run, copy: WorkingCopy) -> None:
    older = blocks.add_instructions("# Agents\n", program="wp").text
    assert older is not None
    Path("AGENTS.md").write_text(older, encoding="utf-8")

    run("init", *NO_CLIENT)

    text = Path("AGENTS.md").read_text(encoding="utf-8")
    assert "`pl next`" in text
    assert "`wp next`" not in text
    assert text.count("groundplan:begin") == 1
    run("init", "--undo")
    assert Path("AGENTS.md").read_text(encoding="utf-8") == "# Agents\n"


# --- The hook -----------------------------------------------------------------------------------------------------


def test_a_hook_is_made_only_when_it_is_asked_for_and_can_be_started(run: Run, copy: WorkingCopy) -> None:
    run("init", *NO_CLIENT)
    hook = copy.folder / ".git" / "hooks" / "post-commit"
    assert not hook.exists()

    run("init", *NO_CLIENT, "--hook")

    assert stat.S_IMODE(hook.stat().st_mode) & 0o111
    assert "groundplan after-commit" in hook.read_text(encoding="utf-8")


def test_an_existing_hook_is_chained_behind_its_first_line(run: Run, copy: WorkingCopy) -> None:
    hook = copy.folder / ".git" / "hooks" / "post-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/usr/bin/env bash\nexit 0\n", encoding="utf-8")
    hook.chmod(0o755)

    run("init", *NO_CLIENT, "--hook")

    first, second, *_, last = hook.read_text(encoding="utf-8").splitlines()
    assert (first, last) == ("#!/usr/bin/env bash", "exit 0")
    assert second.startswith("# groundplan:begin")


@pytest.mark.parametrize("text", ["#!/usr/bin/env python3\n", "\x7fELF", "#!/bin/sh\r\ntrue\r\n"])
def test_a_hook_of_another_language_is_left_alone_and_says_what_to_add(run: Run, copy: WorkingCopy, text: str) -> None:
    hook = copy.folder / ".git" / "hooks" / "post-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_bytes(text.encode())
    hook.chmod(0o755)

    made = run("init", *NO_CLIENT, "--hook", "--json").answer

    assert "groundplan after-commit" in made["kept"][0]["reason"]
    assert hook.read_bytes() == text.encode()


def test_a_hook_that_was_switched_off_is_not_switched_on(run: Run, copy: WorkingCopy) -> None:
    hook = copy.folder / ".git" / "hooks" / "post-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\n", encoding="utf-8")

    assert run("init", *NO_CLIENT, "--hook", "--json").answer["kept"][0]["file"] == ".git/hooks/post-commit"
    assert not hook.stat().st_mode & 0o111


def test_hooks_in_a_configured_folder_of_the_repository_are_used(run: Run, copy: WorkingCopy) -> None:
    copy.git("config", "core.hooksPath", "tools/hooks")

    run("init", *NO_CLIENT, "--hook")

    assert "groundplan after-commit" in Path("tools/hooks/post-commit").read_text(encoding="utf-8")
    run("init", "--undo")
    assert not Path("tools").exists()


def test_hooks_that_other_repositories_share_are_refused_with_what_to_add(
    run: Run, copy: WorkingCopy, tmp_path: Path
) -> None:
    copy.git("config", "core.hooksPath", str(tmp_path / "hooks of all"))

    refused = run("init", *NO_CLIENT, "--hook")

    assert refused.code == 2
    assert "groundplan after-commit" in refused.err
    assert not (tmp_path / "hooks of all").exists()
    assert not Path(".groundplan").exists()


# --- Completion ---------------------------------------------------------------------------------------------------


def test_completion_is_installed_for_the_shell_and_undo_removes_only_what_was_installed_here(
    run: Run, copy: WorkingCopy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.setenv("SHELL", "/bin/bash")
    file = tmp_path / "share" / "bash-completion" / "completions" / "groundplan"

    made = run("init", *NO_CLIENT, "--completion", "--json").answer
    assert made["completion"][0] == str(file)
    assert file.exists()

    monkeypatch.chdir(WorkingCopy(tmp_path / "another").folder)
    run("init", *NO_CLIENT)
    run("init", "--undo")
    assert file.exists()

    monkeypatch.chdir(copy.folder)
    assert str(file) in run("init", "--undo", "--json").answer["removed"]
    assert not file.exists()


def test_a_shell_without_completion_is_refused_before_anything_is_made(
    run: Run, copy: WorkingCopy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELL", "/bin/tcsh")

    assert run("init", "--completion").code == 2
    assert not Path(".groundplan").exists()


# --- Where the plan is --------------------------------------------------------------------------------------------


def test_a_linked_worktree_shares_the_plan_of_the_main_working_copy(
    run: Run, copy: WorkingCopy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("init", *NO_CLIENT)
    copy.commit(message="the configuration is committed")
    copy.git("worktree", "add", "--quiet", str(tmp_path / "other"))
    (tmp_path / "other" / "deep").mkdir()
    monkeypatch.chdir(tmp_path / "other" / "deep")

    assert run("where", "--json").answer["database"]["value"] == str(copy.folder / ".groundplan" / "plan.db")
    assert run("work", "plan", "--nodes", '[{"ref": "a", "summary": "Dig"}]').code == 0
    again = run("init", "--client", "claude", "--hook", "--json").answer
    assert again["created"] is False
    assert str(copy.folder) in again["notes"][0]
    assert (tmp_path / "other" / ".mcp.json").exists()
    assert (copy.folder / ".git" / "hooks" / "post-commit").exists()
    assert not (tmp_path / "other" / ".groundplan" / "plan.db").exists()


def test_undo_in_a_worktree_leaves_the_hook_that_another_one_installed(
    run: Run, copy: WorkingCopy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("init", *NO_CLIENT, "--hook")
    copy.commit(message="with AGENTS.md")
    copy.git("worktree", "add", "--quiet", str(tmp_path / "other"))
    monkeypatch.chdir(tmp_path / "other")
    hook = copy.folder / ".git" / "hooks" / "post-commit"

    run("init", *NO_CLIENT, "--hook")
    run("init", "--undo")
    assert hook.exists()
    assert (tmp_path / "other" / "AGENTS.md").read_text(encoding="utf-8") == ""

    monkeypatch.chdir(copy.folder)
    run("init", "--undo")
    assert not hook.exists()


def test_init_in_a_worktree_makes_the_plan_of_the_main_working_copy_and_own_makes_another(
    run: Run, copy: WorkingCopy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy.commit({"a": "1"})
    copy.git("worktree", "add", "--quiet", str(tmp_path / "other"))
    monkeypatch.chdir(tmp_path / "other")

    run("init", *NO_CLIENT)
    assert (copy.folder / ".groundplan" / "plan.db").exists()
    assert not Path(".groundplan").exists()

    run("init", *NO_CLIENT, "--own")
    assert run("where", "--json").answer["database"]["value"] == ".groundplan/plan.db"


def test_a_repository_below_a_plan_uses_it_until_it_gets_its_own(
    run: Run, copy: WorkingCopy, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("init", *NO_CLIENT)
    inner = WorkingCopy(copy.folder / "library")
    monkeypatch.chdir(inner.folder)

    made = run("init", "--client", "claude", "--json").answer
    assert made["created"] is False
    assert str(copy.folder) in made["notes"][0]
    assert not Path(".groundplan").exists()
    assert Path(".mcp.json").exists()

    own = run("init", *NO_CLIENT, "--own", "--json").answer
    assert own["project"] == "library"
    assert str(copy.folder) in own["notes"][0]
    assert run("where", "--json").answer["not_used"] == [str(copy.folder / ".groundplan" / "groundplan.yaml")]
    assert f"not used here: {copy.folder / '.groundplan'}" in run("where").out


def test_a_clone_gets_the_project_that_its_configuration_names(run: Run, copy: WorkingCopy) -> None:
    Path(".groundplan").mkdir()
    Path(".groundplan/groundplan.yaml").write_text("db_path: plan.db\nproject: water\n", encoding="utf-8")

    assert run("init", *NO_CLIENT, "--json").answer["project"] == "water"
    assert [one["name"] for one in run("project", "list", "--json").answer["projects"]] == ["water"]


def test_a_plan_below_the_root_is_not_what_clients_would_find(
    run: Run, copy: WorkingCopy, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("sub").mkdir()
    monkeypatch.chdir("sub")
    run("--db", "groundplan.db", "project", "create", "atlas")

    assert run("init", "--client", "claude").code == 2
    assert "changes" not in run("init", "--json").answer


@pytest.mark.parametrize("flags", [("--db", "mine.db"), ("--config", "mine.yaml")])
def test_a_plan_that_is_named_is_not_what_clients_would_find(
    run: Run, copy: WorkingCopy, flags: tuple[str, ...]
) -> None:
    Path("mine.yaml").write_text("db_path: mine.db\n", encoding="utf-8")

    assert run("init", *flags, "--hook").code == 2
    assert "changes" not in run("init", *flags, "--json").answer
    assert not Path("AGENTS.md").exists()


def test_a_plan_on_a_server_gets_entries_and_is_not_set_up_again(run: Run, copy: WorkingCopy) -> None:
    config = "db_path: postgresql://app:secret@nowhere.example.org/plans\nproject: water\n"
    Path("groundplan.yaml").write_text(config, encoding="utf-8")

    made = run("init", "--client", "claude", "--json")

    assert made.code == 0
    assert "secret" not in made.out
    assert Path(".mcp.json").exists()
    assert Path("groundplan.yaml").read_text(encoding="utf-8") == config


def test_outside_of_a_repository_nothing_but_the_database_is_made(run: Run) -> None:
    assert run("init", "--client", "claude").code == 2
    assert run("init", "--undo").code == 2
    assert run("init", "--own").code == 2
    assert run("init", "plan.db", "--hook").code == 2
    assert not Path("plan.db").exists()
    assert run("init", *NO_CLIENT).code == 0
    assert not Path("AGENTS.md").exists()


# --- Bad places ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["Dropbox/wells", "OneDrive - Company/wells", "synced/wells"])
def test_a_folder_that_is_copied_to_other_machines_is_warned_about(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    (tmp_path / "synced" / ".stfolder").mkdir(parents=True)
    monkeypatch.chdir(WorkingCopy(tmp_path / place).folder)

    made = run("init", *NO_CLIENT)

    assert made.code == 0
    assert "db_path" in made.err
    assert "synced" in run("doctor").out


def test_a_repository_that_is_only_called_alike_is_not(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(WorkingCopy(tmp_path / "dropbox-client").folder)

    assert run("init", *NO_CLIENT).err == ""


def test_a_read_only_working_copy_is_refused_before_anything_is_written(
    run: Run, copy: WorkingCopy, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The administrator may write to any folder, so the answer of the system is replaced.
    monkeypatch.setattr(os, "access", lambda *_: False)
    before = list_files(copy.folder)

    assert run("init", *ALL_CLIENTS, "--json").error == (7, "not_writable")
    assert list_files(copy.folder) == before
    assert not Path(".groundplan").exists()


def test_a_file_that_cannot_be_written_takes_the_others_back(
    run: Run, copy: WorkingCopy, monkeypatch: pytest.MonkeyPatch
) -> None:
    from groundplan.repository.rules.folder import Folder, UnusableFile

    Path(".mcp.json").write_text("{}", encoding="utf-8")
    before = list_files(copy.folder)
    write = Folder.write

    def fail_late(folder: Folder, path: str, text: str) -> None:
        if path == ".zed/settings.json":
            raise UnusableFile("cannot be accessed: No space left on device")
        write(folder, path, text)

    monkeypatch.setattr(Folder, "write", fail_late)

    assert run("init", *ALL_CLIENTS, "--json").error == (7, "not_writable")
    assert list_files(copy.folder) == before


def test_a_file_that_somebody_edits_meanwhile_is_not_overwritten(
    run: Run, copy: WorkingCopy, monkeypatch: pytest.MonkeyPatch
) -> None:
    from groundplan.repository.setup.changes import apply_changes
    from groundplan.surfaces.cli.setup import working_copy

    def edit_and_apply(*arguments: Any) -> None:
        Path(".mcp.json").write_text("{} // mine", encoding="utf-8")
        apply_changes(*arguments)

    monkeypatch.setattr(working_copy, "apply_changes", edit_and_apply)

    assert run("init", *ALL_CLIENTS, "--json").error == (7, "not_writable")
    assert Path(".mcp.json").read_text(encoding="utf-8") == "{} // mine"
    assert not Path("AGENTS.md").exists()
