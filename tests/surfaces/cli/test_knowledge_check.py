"""`knowledge check` and `knowledge confirm` on the command line, and the git hooks of the page about freshness."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from groundplan.surfaces.cli.screen.progress import Progress
from tests.repository.working_copy import NOBODY_S_SETTINGS, WorkingCopy, git_environment
from tests.standby import Standby
from tests.surfaces.cli.conftest import Run, RunResult

PAGE = (Path(__file__).parents[3] / "docs" / "concepts" / "freshness.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
Typed = Callable[..., subprocess.CompletedProcess[str]]
HOOKS = [block for block in BLOCKS if block.startswith("#!")]


@pytest.fixture(autouse=True)
def _clean_git_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in NOBODY_S_SETTINGS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))


@pytest.fixture
def copy(tmp_path: Path) -> WorkingCopy:
    """A repository in the folder where the program runs; the plan in it is not committed."""
    made = WorkingCopy(tmp_path)
    (tmp_path / ".git" / "info" / "exclude").write_text("groundplan.db*\n", encoding="utf-8")
    made.commit({"src/app.ts": "1", "src/pages/home.ts": "1", "docs/a.md": "1"})
    return made


class KnowledgeCommands:
    """Project atlas, and commands on its knowledge."""

    def __init__(self, run: Run) -> None:
        self.run = run
        run("project", "create", "atlas")
        nodes = '[{"ref": "a", "summary": "Describe it"}]'
        self.task: str = run("work", "plan", "--project", "atlas", "--nodes", nodes, "--json").answer["created"][0][
            "id"
        ]

    def atom(self, name: str, *paths: str) -> str:
        where = [word for path in paths for word in ("--path", path)]
        about = ("--type", "atom", "--project", "atlas", "--task", self.task, *where, "--json")
        atom_id: str = self.run("knowledge", "create", name, *about).answer["data"]["atom"]["id"]
        return atom_id

    def check(self, *options: str) -> RunResult:
        return self.run("knowledge", "check", "--project", "atlas", *options)

    def confirm(self, *words: str) -> RunResult:
        return self.run("knowledge", "confirm", *words, "--project", "atlas")


@pytest.fixture
def atlas(run: Run, copy: WorkingCopy) -> KnowledgeCommands:
    return KnowledgeCommands(run)


def plain_lines(text: str) -> list[str]:
    """Return the lines with single blanks and without rules."""
    lines = (" ".join(line.split()) for line in text.splitlines())
    return [line for line in lines if line.strip("─ ")]


class TestCheck:
    def test_people_see_what_to_look_at_a_summary_and_what_to_do_next(
        self, atlas: KnowledgeCommands, copy: WorkingCopy
    ) -> None:
        first = copy.head
        app = atlas.atom("App", "src/app.ts")
        atlas.atom("Docs", "docs/**")
        atlas.atom("Pages", "src/pages")
        atlas.atom("All", "**")
        atlas.confirm("App", "Docs")
        head = copy.commit({"src/app.ts": "2", "docs/a.md": "2", "docs/b.md": "2", "docs/c.md": "2", "docs/d.md": "1"})

        ended = atlas.check()

        assert (ended.code, ended.err) == (0, "")
        assert plain_lines(ended.out) == [
            "state atom confirmed at files",
            f"changed App {first[:12]} src/app.ts",
            f"changed Docs {first[:12]} docs/a.md, docs/b.md, docs/c.md and 1 more",
            "orphaned Pages - -",
            "unanchored All - -",
            f"4 atoms at {head[:12]}: 2 changed, 1 orphaned, 1 unanchored; 6 of 6 files covered.",
            "Pages: src/pages is a folder; to cover its files, write src/pages/**.",
            "Next steps:",
            f"git diff {first[:12]}..HEAD (review the changes; update the atom if it is outdated)",
            f"groundplan knowledge confirm {app} --project atlas (if the atom is still correct)",
            "update the paths of orphaned atoms, or delete them",
        ]

    def test_where_all_is_well_one_line_says_so(self, atlas: KnowledgeCommands, copy: WorkingCopy) -> None:
        atlas.atom("Docs", "docs/**")
        atlas.confirm("Docs")

        assert plain_lines(atlas.check().out) == [f"1 atom at {copy.head[:12]}: 1 fresh; 1 of 3 files covered."]

    def test_a_project_without_atoms_says_so(self, atlas: KnowledgeCommands) -> None:
        assert plain_lines(atlas.check().out) == ["This project has no atoms yet, so there is nothing to check."]

    def test_the_lines_say_what_is_uncovered_unknown_and_not_recorded(
        self, atlas: KnowledgeCommands, copy: WorkingCopy, run: Run
    ) -> None:
        atom = atlas.atom("Docs", "docs/**")
        version = ("--version", "1", "--type", "atom", "--json")
        assert run("knowledge", "update", atom, "--confirm", "0" * 40, *version).code == 0
        copy.commit({"line\nbreak": "1", **{f"tools/{n:02}": "1" for n in range(25)}})

        lines = plain_lines(atlas.check("--since", "HEAD~1").out)

        uncovered = ["line\\nbreak", *(f"tools/{n:02}" for n in range(19))]
        assert f"Changed but not covered by any atom: {', '.join(uncovered)} and 6 more" in lines
        assert any(line.startswith("1 commit at which atoms were confirmed not found") for line in lines)
        assert any(line.startswith("Not recorded: ") for line in lines)

    def test_json_is_the_contract_s_answer(self, atlas: KnowledgeCommands, copy: WorkingCopy) -> None:
        docs = atlas.atom("Docs", "docs/**")
        atlas.confirm("Docs")

        assert atlas.check("--json").answer == {
            "atoms": [{"id": docs, "name": "Docs", "freshness": "fresh", "commit": copy.head}],
            "uncovered": [],
            "head": copy.head,
            "tracked": 3,
            "covered": 1,
            "unknownCommits": 0,
            "recorded": True,
        }

    def test_a_file_name_that_is_no_text_still_gives_one_line_of_json(
        self, atlas: KnowledgeCommands, copy: WorkingCopy
    ) -> None:
        atlas.atom("Docs", "docs/**")
        atlas.confirm("Docs")
        name = b"docs/\xff\n".decode("utf-8", "surrogateescape")
        copy.commit({name: "1"})

        assert atlas.check("--json").answer["atoms"][0]["files"] == [name]
        assert "docs/\\udcff\\n" in atlas.check().out

    def test_what_was_recorded_is_listed_with_the_atom(
        self, atlas: KnowledgeCommands, copy: WorkingCopy, run: Run
    ) -> None:
        atlas.atom("Docs", "docs/**")
        atlas.confirm("Docs")
        copy.commit({"docs/a.md": "2"})

        def state() -> str:
            (atom,) = run("knowledge", "list", "--project", "atlas", "--json").answer["atoms"]
            return str(atom["freshness"]["state"])

        before = state()
        atlas.check("--no-record")
        assert state() == before == "fresh"
        atlas.check()
        assert state() == "changed"

    def test_an_atom_is_shown_with_its_state_of_now_and_the_commits_that_changed_its_files(
        self, atlas: KnowledgeCommands, copy: WorkingCopy, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("groundplan.repository.git.ANSWER_LIMIT_S", 60.0)  # a busy machine is slower
        docs = atlas.atom("Docs", "docs/**")
        assert "[never confirmed]" in run("knowledge", "context", "docs/a.md", "--project", "atlas").out
        run("knowledge", "update", docs, "--type", "atom", "--version", "1", "--confirm", "HEAD")
        commit = copy.commit({"docs/a.md": "2"})

        shown = run("knowledge", "get", docs, "--type", "atom").out

        assert f"[changed by 1 commit: {commit[:9]}]" in shown

    def test_another_folder_can_be_named(
        self, atlas: KnowledgeCommands, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        monkeypatch.chdir(elsewhere)
        db = ("--db", str(tmp_path / "groundplan.db"))

        assert run("knowledge", "check", "--project", "atlas", "--repo", "../src", *db, "--json").answer["tracked"] == 3

    def test_the_steps_of_a_check_are_named_while_somebody_waits(
        self, atlas: KnowledgeCommands, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        atlas.atom("Docs", "docs/**")
        atlas.confirm("Docs")
        steps: list[str] = []
        monkeypatch.setattr(Progress, "name_step", lambda _self, step: steps.append(step))

        assert atlas.check("--json").err == ""

        assert steps == [
            "reading the atoms",
            "reading the files of the repository",
            "comparing with commits",
            "recording the results",
        ]


class TestFailOn:
    def test_findings_that_were_named_give_status_6_and_the_same_report(
        self, atlas: KnowledgeCommands, copy: WorkingCopy
    ) -> None:
        atlas.atom("Docs", "docs/**")
        atlas.confirm("Docs")
        assert atlas.check("--fail-on", "changed,orphaned,unanchored,uncovered").code == 0
        copy.commit({"docs/a.md": "2", "new": "1"})
        plain = atlas.check()

        for unwanted, code in (("changed", 6), ("orphaned, changed", 6), ("uncovered", 6), ("orphaned,unanchored", 0)):
            assert atlas.check("--fail-on", unwanted) == plain._replace(code=code)

    @pytest.mark.parametrize("word", ["chnged", "fresh", "", "changed,"])
    def test_what_is_no_finding_is_refused(self, atlas: KnowledgeCommands, word: str) -> None:
        assert atlas.check("--fail-on", word, "--json").error == (2, "usage")


class TestConfirm:
    def test_people_see_what_was_confirmed_and_where(self, atlas: KnowledgeCommands, copy: WorkingCopy) -> None:
        docs = atlas.atom("Docs", "docs/**")
        atlas.atom("App", "src/**")
        atlas.confirm("App")

        assert plain_lines(atlas.confirm("--all").out) == [
            "atom id version",
            f"Docs {docs} 2",
            f"Confirmed 1 atom at {copy.head[:12]}; 1 already confirmed.",
        ]

    def test_json_says_the_commit_and_the_versions(self, atlas: KnowledgeCommands, copy: WorkingCopy) -> None:
        docs = atlas.atom("Docs", "docs/**")
        first = copy.head
        copy.commit({"docs/a.md": "2"})

        assert atlas.confirm("Docs", "--rev", "HEAD~1", "--task", atlas.task, "--json").answer == {
            "commit": first,
            "confirmed": [{"id": docs, "name": "Docs", "version": 2}],
            "unchanged": [],
            "changed": [],
        }

    def test_no_atom_is_not_every_atom(self, atlas: KnowledgeCommands) -> None:
        assert atlas.confirm("--json").error == (2, "no_atoms")


class TestRefusals:
    def test_outside_a_repository_both_say_so(self, run: Run, tmp_path: Path) -> None:
        run("project", "create", "atlas")

        assert run("knowledge", "check", "--project", "atlas", "--json").error == (2, "not_a_repository")
        assert run("knowledge", "confirm", "a", "--project", "atlas", "--json").error == (2, "not_a_repository")

    def test_a_revision_that_looks_like_an_option_is_only_not_found(self, atlas: KnowledgeCommands) -> None:
        assert atlas.check("--since=--all", "--json").error == (3, "not_found")
        assert atlas.confirm("x", "--rev=-n", "--json").error == (3, "not_found")

    def test_without_git_the_status_is_that_of_what_is_not_available(
        self, atlas: KnowledgeCommands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PATH", str(tmp_path / "nothing"))

        assert atlas.check("--json").error == (7, "git_missing")

    def test_a_file_that_is_not_there_is_not_made(self, run: Run, copy: WorkingCopy, tmp_path: Path) -> None:
        for command in (("check",), ("confirm", "x")):
            ended = run("knowledge", *command, "--project", "atlas", "--db", "missing.db", "--json")
            assert ended.error == (7, "store_missing")
        assert not (tmp_path / "missing.db").exists()


@pytest.mark.slow
class TestPage:
    """The scripts of the page about freshness, run by git itself."""

    def test_the_commands_work(self, atlas: KnowledgeCommands, run_command: Typed) -> None:
        atlas.atom("Checkout page", "src/pages/**")

        printed = [run_command("sh", "-ec", block) for block in BLOCKS if not block.startswith("#!")]

        assert [ended.returncode for ended in printed] == [0, 0]
        assert "Confirmed 1 atom" in printed[0].stdout
        assert "1 fresh" in printed[1].stdout

    def test_the_hooks_say_what_a_commit_has_touched_and_keep_what_was_left_behind_from_being_pushed(
        self, atlas: KnowledgeCommands, copy: WorkingCopy, tmp_path: Path, run_command: Typed
    ) -> None:
        atlas.atom("Docs", "docs/**")
        atlas.confirm("Docs")
        shared = str(tmp_path.parent / f"{tmp_path.name}.git")
        copy.git("init", "--quiet", "--bare", shared)
        copy.git("remote", "add", "origin", shared)
        for name, script in zip(("post-commit", "pre-push"), HOOKS, strict=True):
            install(name, script)

        copy.write({"docs/a.md": "2"})
        committed = run_command("git", "commit", "--quiet", "--all", "--message", "Say it better")
        refused = run_command("git", "push", "--quiet", "origin", "main")
        atlas.confirm("Docs")
        pushed = run_command("git", "push", "--quiet", "origin", "main")

        assert committed.returncode == 0
        assert "docs/a.md" in committed.stderr
        assert refused.returncode != 0
        assert "docs/a.md" in refused.stdout + refused.stderr
        assert pushed.returncode == 0, pushed.stderr
        assert copy.git("rev-parse", "origin/main") == copy.head

    def test_the_first_commit_of_all_is_made_although_nothing_is_before_it(
        self, atlas: KnowledgeCommands, run_command: Typed
    ) -> None:
        install("post-commit", HOOKS[0])
        run_command("git", "checkout", "--quiet", "--orphan", "fresh-start")

        assert run_command("git", "commit", "--quiet", "--message", "Begin again").returncode == 0


def install(hook: str, script: str) -> None:
    path = Path(".git/hooks") / hook
    path.write_text(script, encoding="utf-8")
    path.chmod(0o755)


@pytest.fixture
def run_command(program: Standby) -> Typed:
    """Run a command with the program on the PATH."""
    path = os.pathsep.join((str(program.folder), os.environ["PATH"]))
    environment = {**git_environment(), "PATH": path, "LOGNAME": "ada"}
    return lambda *command: subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
