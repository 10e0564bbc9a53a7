"""The folders of git are found without git, for main working copies, worktrees, submodules and bare repositories."""

from __future__ import annotations

from pathlib import Path

import pytest

from groundplan.discovery import find_plans
from groundplan.git_folders import find_git_folders
from tests.repository.working_copy import WorkingCopy

pytestmark = pytest.mark.slow  # most tests start git


@pytest.fixture
def copy(tmp_path: Path) -> WorkingCopy:
    made = WorkingCopy(tmp_path / "main copy")
    made.commit({"a": "1"})
    return made


def test_the_main_working_copy_has_one_folder(copy: WorkingCopy) -> None:
    found = find_git_folders(copy.folder)

    assert found is not None
    assert found.own == found.shared == copy.folder / ".git"
    assert found.main_copy is None


def test_a_linked_worktree_names_the_main_one(copy: WorkingCopy, tmp_path: Path) -> None:
    copy.git("worktree", "add", "--quiet", str(tmp_path / "other"))

    found = find_git_folders(tmp_path / "other")

    assert found is not None
    assert found.main_copy == copy.folder
    assert found.shared == copy.folder / ".git"
    assert found.own == copy.folder / ".git" / "worktrees" / "other"


def test_a_submodule_is_a_repository_of_its_own(copy: WorkingCopy, tmp_path: Path) -> None:
    library = WorkingCopy(tmp_path / "library")
    library.commit({"b": "1"})
    copy.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library.folder), "lib")

    found = find_git_folders(copy.folder / "lib")

    assert found is not None
    assert found.own == found.shared == copy.folder / ".git" / "modules" / "lib"
    assert found.main_copy is None


def test_a_worktree_of_a_bare_repository_has_no_main_one(copy: WorkingCopy, tmp_path: Path) -> None:
    copy.git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare.git"))
    copy.git("-C", str(tmp_path / "bare.git"), "worktree", "add", "--quiet", str(tmp_path / "other"))

    found = find_git_folders(tmp_path / "other")

    assert found is not None
    assert found.is_linked
    assert found.main_copy is None


@pytest.mark.parametrize("text", ["", "gitdir", "nonsense\n", "gitdir: \n", "gitdir: ../nowhere\n", "gitdir: a\0b\n"])
def test_a_damaged_file_leads_nowhere(tmp_path: Path, text: str) -> None:
    (tmp_path / ".git").write_text(text, encoding="utf-8")
    (tmp_path / "groundplan.yaml").write_text("", encoding="utf-8")

    found = find_git_folders(tmp_path)

    assert found is None or found.main_copy is None
    assert next(find_plans(str(tmp_path))).config_file == str(tmp_path / "groundplan.yaml")


def test_links_in_a_circle_end(copy: WorkingCopy, tmp_path: Path) -> None:
    """A worktree whose main working copy is a worktree of it, as no git would make it."""
    for name, other in (("one", "two"), ("two", "one")):
        (tmp_path / name / ".git.d").mkdir(parents=True)
        (tmp_path / name / ".git").write_text(f"gitdir: {tmp_path}/{name}/.git.d\n", encoding="utf-8")
        (tmp_path / name / ".git.d" / "commondir").write_text(f"{tmp_path}/{other}/.git\n", encoding="utf-8")

    assert [plan for plan in find_plans(str(tmp_path / "one")) if str(tmp_path / "one") in str(plan)] == []
