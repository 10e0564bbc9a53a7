"""The git commands and how their output is read, on repositories of every kind."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from groundplan.kernel.errors import NotFound
from groundplan.repository.git import Commit, GitFailed, GitMissing, NoCommit, NotARepository, Repository, TreeDiff
from tests.proof import scaled
from tests.repository.working_copy import NOBODY_S_SETTINGS, WorkingCopy

pytestmark = pytest.mark.slow  # every test starts git

ODD_NAMES = (
    "with space.txt",
    "with \"quotes\" and 'more'.txt",
    "line\nbreak.txt",
    "tab\tin it.txt",
    "-dash.txt",
    "--stdin",
    "back\\slash.txt",
    "ümlaut/naïve.txt",
    ":!exclude",
    "star*[a]{b}?.txt",
    "0" * 40 + " " + "0" * 40 + "\nnot a tree",
    b"not-\xff-utf8".decode("utf-8", "surrogateescape"),
)


@pytest.fixture(autouse=True)
def _clean_git_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in NOBODY_S_SETTINGS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def copy(tmp_path: Path) -> WorkingCopy:
    return WorkingCopy(tmp_path / "copy")


def changes(copy: WorkingCopy, *revisions: str) -> list[tuple[str, set[str]]]:
    """Return what changed from each revision to HEAD, by the requested revision."""
    repository = Repository(copy.folder)
    commits = {revision: repository.resolve_commit(revision) for revision in revisions}
    found = {}
    differing: set[str] = set()
    for stop in repository.walk_back(repository.resolve_head(), list(commits.values())):
        assert differing.isdisjoint(stop.differing)
        assert differing.issuperset(stop.alike)
        differing = differing.union(stop.differing).difference(stop.alike)
        found[stop.tree] = differing
    return [(revision, found[commit.tree]) for revision, commit in commits.items()]


def changed_files(copy: WorkingCopy, revision: str = "HEAD~1") -> list[str]:
    repository = Repository(copy.folder)
    return repository.list_changed_files(repository.resolve_commit(revision), repository.resolve_head())


class TestCommits:
    def test_head_is_the_commit_that_is_checked_out(self, copy: WorkingCopy) -> None:
        copy.commit({"a": "1"})

        assert Repository(copy.folder).resolve_head() == Commit(copy.head, copy.git("rev-parse", "HEAD^{tree}"))

    def test_a_detached_head_is_as_good_as_a_branch(self, copy: WorkingCopy) -> None:
        first = copy.commit({"a": "1"})
        copy.commit({"a": "2"})
        copy.git("checkout", "--quiet", first)

        assert Repository(copy.folder).resolve_head().id == first

    def test_whatever_git_can_resolve_names_a_commit(self, copy: WorkingCopy) -> None:
        revisions = ("HEAD~1", "main~1", "v1", "feature", "@{-1}", "HEAD^{/first}", "main@{1}")
        first = copy.commit({"a": "1"}, message="first")
        copy.git("tag", "--annotate", "--message", "one", "v1")
        copy.git("branch", "feature")
        copy.git("checkout", "--quiet", "feature")
        copy.git("checkout", "--quiet", "main")
        copy.commit({"a": "2"}, message="second")

        found = {revision: Repository(copy.folder).resolve_commit(revision).id for revision in revisions}

        assert found == dict.fromkeys(revisions, first)

    def test_what_names_no_commit_is_not_found_and_is_never_an_option(
        self, copy: WorkingCopy, subtests: pytest.Subtests
    ) -> None:
        copy.commit({"a": "1"})
        for revision in (
            "missing",
            "",
            " ",
            "--all",
            "-n1",
            "--output=stolen",
            "^HEAD",
            "HEAD..HEAD",
            "HEAD:a",
            "HEAD\nHEAD",
            "HEAD\0",
            "\ud800",
            "not-utf-8-\udcff",
            "x commit",
            "0" * 40,
            "deadbeef",
        ):
            with subtests.test(ascii(revision)):
                with pytest.raises(NotFound) as refused:
                    Repository(copy.folder).resolve_commit(revision)

                assert refused.value.details["thing"] == "revision"
                assert sorted(path.name for path in copy.folder.iterdir()) == [".git", "a"]

    def test_a_branch_whose_name_begins_with_a_dash_can_be_named(self, copy: WorkingCopy) -> None:
        first = copy.commit({"a": "1"})
        copy.git("update-ref", "refs/heads/-x", first)

        assert Repository(copy.folder).resolve_commit("-x").id == first

    def test_a_tree_or_a_blob_is_no_commit(self, copy: WorkingCopy) -> None:
        copy.commit({"a": "1"})

        for revision in ("HEAD^{tree}", "HEAD:a"):
            with pytest.raises(NotFound):
                Repository(copy.folder).resolve_commit(copy.git("rev-parse", revision))


class TestAnchors:
    def test_an_id_is_known_whole_and_abbreviated(self, copy: WorkingCopy) -> None:
        first = copy.commit({"a": "1"})
        copy.commit({"a": "2"})

        found = Repository(copy.folder).resolve_commit_ids([first, first[:7], first[:4], "0" * 40, "deadbee", first])

        assert {one: commit.id for one, commit in found.items()} == {first: first, first[:7]: first, first[:4]: first}

    def test_what_is_no_id_is_no_anchor_even_where_it_names_a_commit(self, copy: WorkingCopy) -> None:
        first = copy.commit({"a": "1"})
        copy.git("branch", "deadbee")

        asked = ["HEAD", "main", "deadbee", "", f"{first}\nHEAD", f"{first}~0", first.upper()]

        assert Repository(copy.folder).resolve_commit_ids(asked) == {}

    def test_no_ids_are_no_anchors(self, copy: WorkingCopy) -> None:
        assert Repository(copy.folder).resolve_commit_ids([]) == {}

    def test_what_a_shallow_clone_left_behind_is_not_known(self, copy: WorkingCopy, tmp_path: Path) -> None:
        first = copy.commit({"a": "1"})
        second = copy.commit({"a": "2"})
        copy.git("clone", "--quiet", "--depth=1", copy.folder.as_uri(), str(tmp_path / "shallow"))

        assert set(Repository(tmp_path / "shallow").resolve_commit_ids([first, second])) == {second}


class TestFiles:
    def test_every_name_comes_back_as_it_is(self, copy: WorkingCopy) -> None:
        copy.commit(dict.fromkeys((*ODD_NAMES, "z/plain"), "1"))
        repository = Repository(copy.folder)

        assert sorted(repository.list_files(repository.resolve_head())) == sorted((*ODD_NAMES, "z/plain"))

    def test_the_paths_begin_at_the_top_wherever_one_stands(self, copy: WorkingCopy) -> None:
        copy.commit({"top": "1", "src/deep/below": "1"})
        repository = Repository(copy.folder / "src" / "deep")

        assert repository.list_files(repository.resolve_head()) == ["src/deep/below", "top"]

    def test_only_what_is_committed_counts(self, copy: WorkingCopy) -> None:
        copy.commit({"kept": "1", "gone": "1"})
        copy.write({"gone": None, "kept": "2", "staged": "1", "untracked": "1"})
        copy.git("add", "staged")
        repository = Repository(copy.folder)

        assert repository.list_files(repository.resolve_head()) == ["gone", "kept"]

    def test_a_submodule_is_no_file_and_moving_it_is_no_change(self, copy: WorkingCopy) -> None:
        copy.commit({"a": "1"})
        for commit in ("1" * 40, "2" * 40):
            copy.git("update-index", "--add", "--cacheinfo", f"160000,{commit},vendor/lib")
            copy.git("commit", "--quiet", "--message", "move it")
        repository = Repository(copy.folder)

        assert repository.list_files(repository.resolve_head()) == ["a"]
        assert changed_files(copy) == []
        assert changed_files(copy, "HEAD~2") == []

    def test_a_submodule_in_place_of_a_file_takes_the_file_away(self, copy: WorkingCopy) -> None:
        copy.commit({"lib": "1"})
        copy.git("rm", "--quiet", "--cached", "lib")
        copy.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},lib")
        copy.git("commit", "--quiet", "--message", "a submodule")
        copy.git("config", "diff.ignoreSubmodules", "all")

        assert changed_files(copy) == ["lib"]

    def test_a_commit_without_files_has_none(self, copy: WorkingCopy) -> None:
        copy.commit()
        repository = Repository(copy.folder)

        assert repository.list_files(repository.resolve_head()) == []


class TestChanges:
    def test_added_changed_and_deleted_files_are_named(self, copy: WorkingCopy) -> None:
        copy.commit({"same": "1", "changed": "1", "deleted": "1"})
        copy.commit({"changed": "2", "deleted": None, "added": "1"})

        assert changed_files(copy) == ["added", "changed", "deleted"]

    def test_a_renamed_file_is_one_deleted_and_one_added(self, copy: WorkingCopy) -> None:
        copy.git("config", "diff.renames", "copies")
        copy.commit({"before": "the same text\n" * 50})
        copy.git("mv", "before", "after")
        copy.commit()

        assert changed_files(copy) == ["after", "before"]

    def test_a_new_mode_is_a_change(self, copy: WorkingCopy) -> None:
        copy.commit({"script": "1"})
        (copy.folder / "script").chmod(0o755)
        copy.commit()

        assert changed_files(copy) == ["script"]

    def test_a_folder_in_place_of_a_file_is_told_file_by_file(self, copy: WorkingCopy) -> None:
        copy.commit({"a": "1"})
        copy.write({"a": None})
        copy.commit({"a/b/c": "1"})

        assert set(changed_files(copy)) == {"a", "a/b/c"}

    def test_every_name_comes_back_as_it_is(self, copy: WorkingCopy, subtests: pytest.Subtests) -> None:
        copy.commit({"plain": "1"})
        for name in ODD_NAMES:
            with subtests.test(ascii(name)):
                copy.commit({name: "1"})
                copy.commit({name: None})

                assert changes(copy, "HEAD~2", "HEAD~1") == [("HEAD~2", set()), ("HEAD~1", {name})]

    def test_what_a_merge_brought_in_has_changed(self, copy: WorkingCopy) -> None:
        base = copy.commit({"shared": "1"})
        copy.git("checkout", "--quiet", "-b", "side")
        side = copy.commit({"theirs": "1"})
        copy.git("checkout", "--quiet", "main")
        ours = copy.commit({"ours": "1"})
        copy.git("merge", "--quiet", "--no-edit", "side")

        assert changes(copy, base, side, ours) == [(base, {"ours", "theirs"}), (side, {"ours"}), (ours, {"theirs"})]

    def test_a_commit_that_was_rewritten_away_is_compared_all_the_same(self, copy: WorkingCopy) -> None:
        copy.commit({"a": "1"})
        before = copy.commit({"a": "2"})
        copy.write({"a": "3", "b": "1"})
        copy.git("add", "--all")
        copy.git("commit", "--quiet", "--amend", "--no-edit")

        assert changed_files(copy, before) == ["a", "b"]

    def test_commits_with_the_same_files_are_one_stop(self, copy: WorkingCopy) -> None:
        copy.commit({"a": "1"})
        copy.commit()
        copy.commit({"a": "2"})
        repository = Repository(copy.folder)
        commits = [repository.resolve_commit(revision) for revision in ("HEAD~2", "HEAD~1", "HEAD")]

        stops = list(repository.walk_back(repository.resolve_head(), commits))

        assert stops == [TreeDiff(commits[2].tree, [], []), TreeDiff(commits[0].tree, ["a"], [])]

    def test_what_was_changed_and_changed_back_differs_only_in_between(self, copy: WorkingCopy) -> None:
        for text in ("1", "2", "3", "1", "4", "1"):
            copy.commit({"a": text, "b": text})
            copy.commit({"b": None})
        copy.commit({"a": "1"})

        differing = [names for _, names in changes(copy, *(f"HEAD~{back}" for back in range(13)))]

        assert differing == [
            set(),
            set(),
            {"b"},
            {"a"},
            {"a", "b"},
            set(),
            {"b"},
            {"a"},
            {"a", "b"},
            {"a"},
            {"a", "b"},
            set(),
            {"b"},
        ]

    @pytest.mark.proof
    def test_the_way_back_says_the_same_as_comparing_each_commit_with_head(self, copy: WorkingCopy) -> None:
        for n in range(scaled(25, 40)):
            if n % 10 == 5:  # create a side branch that is merged later
                copy.git("checkout", "--quiet", "-B", f"side{n % 20}", f"HEAD~{n % 4}")
            name, text = f"f{n * n % 6}", n * 7 % 4
            there = (copy.folder / name).exists()
            copy.commit({name: str(text) if text or not there else None})
        ids = copy.git("rev-list", "--all").split()

        found = changes(copy, *ids)

        assert len(ids) > 20
        for commit, names in found:
            listed = copy.git("diff", "--name-only", "--no-renames", commit, "HEAD").splitlines()
            assert names == set(listed)

    def test_a_file_named_like_a_line_about_trees_cannot_pass_for_one(self, copy: WorkingCopy) -> None:
        copy.commit({"kept": "1"})
        head = Repository(copy.folder).resolve_head()
        copy.commit({"kept": "0"})
        other = Repository(copy.folder).resolve_head()
        posing = f"{head.tree} {other.tree}\n:100644 100644 {'0' * 40} {'0' * 40} M"
        copy.commit({"kept": "1", posing: "1"})
        copy.commit({posing: None})

        assert changes(copy, "HEAD~1", other.id) == [("HEAD~1", {posing}), (other.id, {"kept"})]

    @pytest.mark.proof
    def test_thousands_of_commits_are_compared_by_one_process(
        self, copy: WorkingCopy, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        count = scaled(2000, 5000)
        stream = "".join(
            f"commit refs/heads/main\ncommitter A <a@b> {n} +0000\ndata 0\n"
            f"M 644 inline f{n % 3}\ndata {len(str(n))}\n{n}\n"
            for n in range(count)
        )
        fed = ("git", "-C", str(copy.folder), "fast-import", "--quiet")
        subprocess.run(fed, check=True, input=stream, text=True, capture_output=True)
        ids = copy.git("rev-list", "HEAD").split()
        started: list[object] = []
        start = subprocess.Popen.__init__

        def counted(self: subprocess.Popen[bytes], command: Any, **more: Any) -> None:
            started.append(command)
            start(self, command, **more)

        monkeypatch.setattr(subprocess.Popen, "__init__", counted)
        repository = Repository(copy.folder)

        anchors = repository.resolve_commit_ids(ids)
        told = [len(stop.differing) for stop in repository.walk_back(anchors[ids[0]], list(anchors.values()))]

        assert len(anchors) == count
        assert told == [0, 1, 1, 1, *[0] * (count - 4)]
        assert len(started) == 3

    def test_nothing_to_compare_starts_nothing(self, tmp_path: Path) -> None:
        assert list(Repository(tmp_path / "nowhere").walk_back(Commit("0" * 40, "0" * 40), [])) == []

    def test_leaving_early_ends_the_process(self, copy: WorkingCopy) -> None:
        copy.commit({f"f{n}": "1" for n in range(100)})
        copy.commit({f"f{n}": "2" for n in range(100)})
        repository = Repository(copy.folder)
        compared = repository.walk_back(repository.resolve_head(), [repository.resolve_commit("HEAD~1")])

        next(compared)
        compared.close()  # type: ignore[attr-defined] # a generator

    def test_a_tree_that_is_not_there_is_git_s_failure(self, copy: WorkingCopy) -> None:
        copy.commit({"a": "1"})
        repository = Repository(copy.folder)

        with pytest.raises(GitFailed):
            list(repository.walk_back(repository.resolve_head(), [Commit("0" * 40, "0" * 40)]))


class TestRepositories:
    def test_a_bare_repository_is_as_good_as_any(self, copy: WorkingCopy, tmp_path: Path) -> None:
        copy.commit({"a": "1"})
        copy.git("clone", "--quiet", "--bare", str(copy.folder), str(tmp_path / "bare.git"))
        repository = Repository(tmp_path / "bare.git")

        assert repository.list_files(repository.resolve_head()) == ["a"]

    def test_a_linked_working_tree_has_its_own_head(self, copy: WorkingCopy, tmp_path: Path) -> None:
        first = copy.commit({"a": "1"})
        copy.commit({"b": "1"})
        copy.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "linked"), first)

        assert Repository(tmp_path / "linked").resolve_head().id == first

    def test_ids_of_sha_256_are_ids_too(self, tmp_path: Path) -> None:
        copy = WorkingCopy(tmp_path / "long", "--object-format=sha256")
        first = copy.commit({"a": "1"})
        copy.commit({"a": "2"})

        assert len(first) == 64
        assert changed_files(copy, first) == ["a"]
        assert set(Repository(copy.folder).resolve_commit_ids([first, first[:10]])) == {first, first[:10]}

    def test_a_repository_without_a_commit_says_so(self, copy: WorkingCopy) -> None:
        with pytest.raises(NoCommit):
            Repository(copy.folder).resolve_head()

    @pytest.mark.parametrize("place", [".", "missing", "-C", "file"])
    def test_a_folder_outside_any_repository_says_so(
        self, tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
        (tmp_path / "file").write_text("1", encoding="utf-8")

        with pytest.raises(NotARepository):
            Repository(tmp_path / place).resolve_head()

    def test_a_folder_whose_name_looks_like_an_option_is_a_folder(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        made = WorkingCopy(tmp_path / "--version")
        made.commit({"a": "1"})
        monkeypatch.chdir(tmp_path)

        assert Repository(Path("--version")).resolve_head().id == made.head

    def test_without_git_the_error_says_what_to_do(
        self, copy: WorkingCopy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        head = Commit(copy.commit({"a": "1"}), copy.git("rev-parse", "HEAD^{tree}"))
        monkeypatch.setenv("PATH", str(tmp_path))

        with pytest.raises(GitMissing):
            Repository(copy.folder).resolve_head()
        with pytest.raises(GitMissing):
            list(Repository(copy.folder).walk_back(head, [head]))

    def test_a_damaged_repository_is_git_s_failure_in_its_own_words(self, copy: WorkingCopy) -> None:
        copy.commit({"a": "1"})
        (copy.folder / ".git" / "config").write_text("[core", encoding="utf-8")

        with pytest.raises(GitFailed) as refused:
            Repository(copy.folder).resolve_head()

        assert "config" in refused.value.message

    def test_a_repository_that_git_does_not_trust_is_not_said_to_be_missing(
        self, copy: WorkingCopy, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        copy.commit({"a": "1"})
        monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")

        with pytest.raises(GitFailed) as refused:
            Repository(copy.folder).resolve_head()

        assert "dubious ownership" in refused.value.message

    def test_the_folder_decides_and_not_what_a_hook_left_in_the_environment(
        self, copy: WorkingCopy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        copy.commit({"a": "1"})
        other = WorkingCopy(tmp_path / "other")
        other.commit({"b": "1"})
        for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_OBJECT_DIRECTORY", "GIT_INDEX_FILE", "GIT_COMMON_DIR"):
            monkeypatch.setenv(name, str(other.folder / ".git"))

        assert Repository(copy.folder).resolve_head().id == copy.head


class TestSideEffects:
    def test_nothing_that_a_repository_configures_is_run(self, copy: WorkingCopy, tmp_path: Path) -> None:
        ran = tmp_path / "ran"
        trap = tmp_path / "trap"
        trap.write_text(f'#!/bin/sh\necho "$0" >> "{ran}"\n', encoding="utf-8")
        trap.chmod(0o755)
        copy.commit({"a": "1", ".gitattributes": "* filter=trap diff=trap\n"})
        copy.commit({"a": "2"})
        for key in (
            "core.fsmonitor",
            "core.pager",
            "core.editor",
            "core.sshCommand",
            "core.gitProxy",
            "diff.external",
            "diff.trap.textconv",
            "diff.trap.command",
            "filter.trap.clean",
            "filter.trap.smudge",
            "alias.diff-tree",
            "pager.diff-tree",
        ):
            copy.git("config", key, str(trap))
        copy.git("config", "core.hooksPath", str(tmp_path))
        for hook in ("post-index-change", "post-checkout", "reference-transaction"):
            (tmp_path / hook).symlink_to(trap)
        before = sorted((path, path.stat().st_mtime_ns) for path in (copy.folder / ".git").rglob("*"))
        repository = Repository(copy.folder)

        assert repository.list_files(repository.resolve_head()) == [".gitattributes", "a"]
        assert changed_files(copy) == ["a"]

        assert not ran.exists()
        assert sorted((path, path.stat().st_mtime_ns) for path in (copy.folder / ".git").rglob("*")) == before

    def test_what_a_partial_clone_lacks_is_not_fetched(self, copy: WorkingCopy, tmp_path: Path) -> None:
        copy.git("config", "uploadpack.allowFilter", "true")
        copy.git("config", "uploadpack.allowAnySHA1InWant", "true")
        first = copy.commit({"a": "1"})
        copy.commit({"a": "2"})
        clone = tmp_path / "partial"
        copy.git("clone", "--quiet", "--no-checkout", "--filter=blob:none", copy.folder.as_uri(), str(clone))
        later = copy.commit({"a": "3"})
        repository = Repository(clone)

        anchors = repository.resolve_commit_ids([first, later])

        assert set(anchors) == {first}
        assert repository.list_changed_files(anchors[first], repository.resolve_head()) == ["a"]

    def test_the_language_of_the_user_does_not_matter(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("LANG", "LC_ALL", "LANGUAGE"):
            monkeypatch.setenv(name, "de_DE.UTF-8")
        monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))

        with pytest.raises(NotARepository):
            Repository(tmp_path).resolve_head()
