"""A check compares the plan with the repository, reports the result, and records it with the atoms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.answers import encode
from groundplan.kernel.errors import NotFound
from groundplan.repository import check as checking
from groundplan.repository.check import Hint, check
from groundplan.repository.git import NoCommit, NotARepository
from groundplan.session import Session
from tests.engines import Engine
from tests.repository.working_copy import NOBODY_S_SETTINGS, PlanOfCopy, WorkingCopy

pytestmark = pytest.mark.slow  # every test starts git


@pytest.fixture(autouse=True)
def _clean_git_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in NOBODY_S_SETTINGS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="module")
def repository_template(tmp_path_factory: pytest.TempPathFactory) -> WorkingCopy:
    copy = WorkingCopy(tmp_path_factory.mktemp("pattern") / "copy")
    copy.commit({"src/app.ts": "1", "src/pages/home.ts": "1", "docs/a.md": "1"})
    return copy


@pytest.fixture
def plan(engine: Engine, tmp_path: Path, repository_template: WorkingCopy) -> PlanOfCopy:
    """Ada's project beside a repository with three files."""
    copy = repository_template.copy_to(tmp_path / "copy")
    return PlanOfCopy.create(Session(engine.store, local_actor("ada", kind=ActorKind.PERSON)), copy)


def test_the_report_says_of_every_atom_how_it_stands_and_of_changes_what_nobody_covers(plan: PlanOfCopy) -> None:
    first = plan.copy.head
    ids = {
        "docs": plan.atom("docs", "docs/**", at=first),
        "app": plan.atom("app", "src/app.ts", at=first),
        "old": plan.atom("old", "legacy/**", at=first),
        "home": plan.atom("home", "src/pages/**"),
    }
    head = plan.copy.commit({"src/app.ts": "2", "tools/new.ts": "1"})

    printed = json.loads(encode(plan.check()))

    assert printed == {
        "atoms": [
            {"id": ids["app"], "name": "app", "freshness": "changed", "commit": first, "files": ["src/app.ts"]},
            {"id": ids["docs"], "name": "docs", "freshness": "fresh", "commit": first},
            {"id": ids["home"], "name": "home", "freshness": "unanchored"},
            {"id": ids["old"], "name": "old", "freshness": "orphaned", "commit": first},
        ],
        "uncovered": ["tools/new.ts"],
        "head": head,
        "tracked": 4,
        "covered": 3,
        "unknownCommits": 0,
        "recorded": True,
    }


def test_rules_that_were_written_from_atoms_need_no_atom(plan: PlanOfCopy) -> None:
    plan.atom("app", "src/**", at=plan.copy.head)
    written = [
        ".claude/rules/groundplan/app.md",
        ".cursor/rules/groundplan/app.mdc",
        "web/.claude/rules/groundplan/x.md",
    ]
    others = [".claude/rules/mine.md", ".cursor/rules/groundplan.mdc", "groundplan/x.md"]
    plan.copy.commit(dict.fromkeys([*written, *others], "1"))

    assert plan.check().uncovered == others
    assert plan.check("HEAD~1").uncovered == others


def test_a_project_without_atoms_has_nothing_to_compare(plan: PlanOfCopy) -> None:
    report = plan.check()

    assert (report.atoms, report.uncovered, report.tracked, report.covered) == ([], [], 3, 0)


class TestRecording:
    def test_what_was_found_is_kept_with_the_atoms(self, plan: PlanOfCopy) -> None:
        first = plan.copy.head
        plan.atom("app", "src/**", at=first)
        plan.atom("docs", "docs/**")
        plan.copy.commit({"src/app.ts": "2"})

        assert plan.check().recorded

        kept = {name: atom.freshness for name, atom in plan.list_atoms().items()}
        assert (kept["app"].state, kept["app"].commit, kept["app"].files) == ("changed", first, ["src/app.ts"])
        assert kept["docs"].state == "unanchored"

    def test_a_check_with_since_is_a_part_of_the_picture_and_is_not_kept(self, plan: PlanOfCopy) -> None:
        plan.atom("docs", "docs/**")

        report = plan.check("HEAD")

        assert not report.recorded
        assert report.note
        assert not plan.list_atoms()["docs"].freshness

    def test_beside_another_repository_what_was_recorded_stays(self, plan: PlanOfCopy, tmp_path: Path) -> None:
        plan.atom("app", "src/app.ts", at=plan.copy.head)
        plan.atom("docs", "docs/**")
        plan.check()
        other = WorkingCopy(tmp_path / "other")
        other.commit({"readme.txt": "1"})

        report = PlanOfCopy(plan.session, other).check()

        assert not report.recorded
        assert "run the check in the repository of the project" in str(report.note)
        assert {name: atom.freshness.state for name, atom in plan.list_atoms().items()} == {
            "app": "fresh",
            "docs": "unanchored",
        }

    def test_who_does_not_want_it_recorded_gets_the_report_alone(self, plan: PlanOfCopy) -> None:
        plan.atom("docs", "docs/**")

        report = plan.check(record=False)

        assert (report.recorded, bool(report.note)) == (False, False)
        assert not plan.list_atoms()["docs"].freshness

    def test_a_viewer_gets_the_report_and_a_note_that_it_was_not_recorded(self, plan: PlanOfCopy) -> None:
        plan.atom("docs", "docs/**")

        report = plan.by("cleo", "viewer").check()

        assert [atom.freshness for atom in report.atoms] == ["unanchored"]
        assert (report.recorded, bool(report.note)) == (False, True)
        assert not plan.list_atoms()["docs"].freshness

    def test_an_editor_records(self, plan: PlanOfCopy) -> None:
        plan.atom("docs", "docs/**")

        assert plan.by("ben", "editor").check().recorded

    def test_an_archived_project_can_be_checked_but_keeps_nothing(self, plan: PlanOfCopy) -> None:
        plan.atom("docs", "docs/**")
        plan.session.call("project.archive", project=plan.project)

        report = plan.check()

        assert [atom.freshness for atom in report.atoms] == ["unanchored"]
        assert (report.recorded, bool(report.note)) == (False, True)

    def test_an_atom_that_somebody_changes_meanwhile_keeps_what_it_has(self, plan: PlanOfCopy) -> None:
        changing = plan.atom("changing", "src/**")
        plan.atom("docs", "docs/**")

        def meanwhile(doing: str) -> None:
            if doing.startswith("recording"):
                plan.session.call("knowledge.update", entityType="atom", id=changing, version=1, paths=["tools/**"])

        plan.check(report_progress=meanwhile)

        assert {name: bool(atom.freshness) for name, atom in plan.list_atoms().items()} == {
            "changing": False,
            "docs": True,
        }

    def test_the_files_of_a_commit_are_kept_for_readers_without_a_repository(self, plan: PlanOfCopy) -> None:
        plan.atom("app", "src/**")
        plan.copy.commit({"src/new.py": "1"})
        plan.check()
        plan.check()
        kept = plan.session.call("knowledge.coverage", projectId=plan.project)
        events = plan.session.call("event.list", project=plan.project, op="knowledge.checked").events

        assert (kept.commit, kept.total, kept.kept) == (plan.copy.head, kept.files, kept.files)
        assert "src/new.py" in plan.session.call("knowledge.match", projectId=plan.project, paths=["src/*"]).files
        assert len([event for event in events if any(one.field == "files" for one in event.changes)]) == 1

    def test_of_too_many_files_every_nth_is_kept(self, plan: PlanOfCopy, monkeypatch: pytest.MonkeyPatch) -> None:
        plan.copy.commit({f"{folder}/{n}": "1" for folder in ("a", "b") for n in range(20)})
        monkeypatch.setattr(checking, "KEPT_MAX", 10)
        plan.check()
        kept = plan.session.call("knowledge.coverage", projectId=plan.project)
        shares = {one.path: one.files for one in kept.entries}

        assert kept.kept <= 10
        assert kept.total >= 40
        assert abs(shares["a"] - shares["b"]) <= 1

    def test_any_number_of_atoms_is_read_and_recorded_in_parts(
        self, plan: PlanOfCopy, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        names = {f"atom {n}" for n in range(7)}
        for name in names:
            plan.atom(name, "src/**")
        monkeypatch.setattr(checking, "PAGE_SIZE", 3)

        report = plan.check()

        assert {atom.name for atom in report.atoms} == names
        assert all(atom.freshness.state == "unanchored" for atom in plan.list_atoms().values())

    def test_lists_of_long_names_are_recorded_in_requests_that_are_not_too_large(self, plan: PlanOfCopy) -> None:
        first = plan.copy.head
        for n in range(30):
            plan.atom(f"atom {n}", "src/**", at=first)
        folder = "/".join(["src", *["n" * 200] * 4])
        plan.copy.commit({f"{folder}/{n}": "1" for n in range(60)})

        assert plan.check().recorded

        kept = plan.list_atoms()
        assert {atom.freshness.state for atom in kept.values()} == {"changed"}
        assert {len(atom.freshness.files) for atom in kept.values()} == {50}

    def test_any_file_name_can_be_told_and_recorded(self, plan: PlanOfCopy) -> None:
        names = ["src/line\nbreak", "src/\x1b[31mred", b"src/\xff".decode("utf-8", "surrogateescape"), 'src/"q" -a']
        plan.atom("app", "src/**", at=plan.copy.head)
        plan.copy.commit(dict.fromkeys(names, "1"))

        report = plan.check()

        assert report.atoms[0].files == sorted(names)
        assert json.loads(encode(report))["atoms"][0]["files"] == sorted(names)
        assert plan.list_atoms()["app"].freshness.files == [
            "src/\\x1b[31mred",
            'src/"q" -a',
            "src/line\nbreak",
            "src/\\xff",
        ]


class TestCommits:
    def test_an_abbreviated_commit_is_as_good_as_a_whole_one(self, plan: PlanOfCopy) -> None:
        plan.atom("app", "src/**", at=plan.copy.head[:7])
        assert plan.states() == {"app": "fresh"}

        plan.copy.commit({"src/app.ts": "2"})
        assert plan.states() == {"app": "changed"}

    def test_atoms_confirmed_at_commits_that_are_not_here_are_unanchored_and_the_commits_counted(
        self, plan: PlanOfCopy
    ) -> None:
        for name, commit in (("a", "0" * 40), ("b", "0" * 40), ("c", "deadbee"), ("d", plan.copy.head)):
            plan.atom(name, "src/**", at=commit)

        report = plan.check()

        assert [str(atom.freshness) for atom in report.atoms] == [*["unanchored"] * 3, "fresh"]
        assert report.atoms[0].commit == "0" * 40
        assert report.unknown_commits == 2

    def test_in_a_shallow_clone_what_was_confirmed_earlier_is_unanchored(
        self, plan: PlanOfCopy, tmp_path: Path
    ) -> None:
        plan.atom("app", "src/**", at=plan.copy.head)
        plan.atom("docs", "docs/**", at=plan.copy.commit({"src/app.ts": "2"}))
        plan.copy.git("clone", "--quiet", "--depth=1", plan.copy.folder.as_uri(), str(tmp_path / "shallow"))

        report = check(plan.session, plan.project, tmp_path / "shallow")

        assert [str(atom.freshness) for atom in report.atoms] == ["unanchored", "fresh"]
        assert report.unknown_commits == 1

    def test_a_moved_file_orphans_the_atom_that_named_it_and_changes_the_one_that_has_it_now(
        self, plan: PlanOfCopy
    ) -> None:
        first = plan.copy.head
        plan.atom("home", "src/pages/home.ts", at=first)
        plan.atom("docs", "docs/**", at=first)
        plan.copy.git("mv", "src/pages/home.ts", "docs/home.ts")
        plan.copy.commit()

        assert plan.states() == {"home": "orphaned", "docs": "changed"}

    def test_what_is_not_committed_plays_no_part(self, plan: PlanOfCopy) -> None:
        plan.atom("app", "src/**", at=plan.copy.head)
        plan.copy.write({"src/app.ts": "2"})
        plan.copy.git("add", "src/app.ts")

        assert plan.states() == {"app": "fresh"}

    def test_from_a_folder_below_and_from_a_bare_clone_the_answer_is_the_same(
        self, plan: PlanOfCopy, tmp_path: Path
    ) -> None:
        plan.atom("app", "src/**", at=plan.copy.head)
        plan.copy.commit({"src/app.ts": "2"})
        plan.copy.git("clone", "--quiet", "--bare", str(plan.copy.folder), str(tmp_path / "bare.git"))
        expected = plan.check(record=False)

        for folder in (plan.copy.folder / "src" / "pages", tmp_path / "bare.git"):
            assert check(plan.session, plan.project, folder, record=False) == expected


class TestSince:
    def test_only_later_changes_count(self, plan: PlanOfCopy) -> None:
        first = plan.copy.head
        plan.atom("app", "src/**", at=first)
        plan.atom("docs", "docs/**")
        plan.copy.commit({"src/app.ts": "2", "tools/a": "1"})
        plan.copy.commit({"docs/a.md": "2", "tools/b": "1"})

        assert plan.states() == {"app": "changed", "docs": "unanchored"}
        late = plan.check("HEAD~1")

        assert [(atom.name, str(atom.freshness), atom.files or []) for atom in late.atoms] == [
            ("app", "fresh", []),
            ("docs", "unanchored", ["docs/a.md"]),
        ]
        assert late.uncovered == ["tools/b"]


class TestHints:
    def test_a_pattern_that_names_a_folder_gets_a_hint(self, plan: PlanOfCopy) -> None:
        folder = plan.atom("pages", "src/pages", "src/nothing")
        plan.atom("docs", "docs/**", "src/pages")

        assert plan.check().hints == [Hint(folder, "src/pages", "src/pages/**")]


class TestRefusals:
    def test_an_unknown_project_is_not_found(self, plan: PlanOfCopy) -> None:
        with pytest.raises(NotFound):
            check(plan.session, "missing", plan.copy.folder)

    def test_a_stranger_s_check_is_that_of_a_project_that_is_not_there(self, plan: PlanOfCopy) -> None:
        with pytest.raises(NotFound) as refused:
            plan.by("mallory").check()

        assert refused.value.details["thing"] == "project"

    def test_an_unknown_revision_is_not_found(self, plan: PlanOfCopy) -> None:
        with pytest.raises(NotFound) as refused:
            plan.check("--output=x")

        assert refused.value.details["thing"] == "revision"

    def test_without_a_repository_or_a_commit_nothing_is_recorded(
        self, plan: PlanOfCopy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
        plan.atom("docs", "docs/**")

        with pytest.raises(NotARepository):
            check(plan.session, plan.project, tmp_path)
        with pytest.raises(NoCommit):
            check(plan.session, plan.project, WorkingCopy(tmp_path / "empty").folder)
        assert not plan.list_atoms()["docs"].freshness


class OvertakenSession(Session):
    """A session in which another actor changes every atom just before a check is recorded."""

    def __init__(self, session: Session) -> None:
        super().__init__(session.store, session.actor)

    def call(self, operation: str, /, **arguments: Any) -> Any:
        if operation == "knowledge.record_check":
            for one in arguments["atoms"]:
                atom = {"entityType": "atom", "id": one["id"], "version": one["version"]}
                super().call("knowledge.update", **atom, knowledge="what Ben found")
        return super().call(operation, **arguments)


def test_a_check_says_that_atoms_which_changed_meanwhile_were_not_recorded(plan: PlanOfCopy) -> None:
    plan.atom("app", "src/**")

    report = check(OvertakenSession(plan.session), plan.project, plan.copy.folder)

    assert report.recorded is False
    assert "changed meanwhile" in str(report.note)
