"""Paths as people and agents have them are taken from the root of the working copy; what is outside stays outside."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from groundplan.repository.git import WorkingCopy, find_root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A working copy with some folders and files, beside other things."""
    made = tmp_path / "repo"
    for folder in (".git", "src/pay", "web/src"):
        (made / folder).mkdir(parents=True)
    for file in ("src/pay/a.ts", "src/pay/Makefile", "web/src/b.ts"):
        (made / file).touch()
    (tmp_path / "other").mkdir()
    return made


def test_a_relative_path_starts_at_the_folder_and_an_absolute_one_at_the_root(root: Path) -> None:
    here = WorkingCopy(str(root / "src" / "pay"))

    assert here.root == str(root)
    assert [here.locate(path) for path in ("a.ts", "./a.ts", "../b.ts", "new/c.ts", "../../web")] == [
        "src/pay/a.ts",
        "src/pay/a.ts",
        "src/b.ts",
        "src/pay/new/c.ts",
        "web",
    ]
    assert here.locate(f"{root}/web/src/b.ts") == "web/src/b.ts"
    assert here.locate(f"{root}/src//x/../pay/") == "src/pay"
    assert here.locate(str(root)) == here.locate("../..") == "."


def test_by_default_it_is_the_working_copy_around_the_current_folder(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root / "src")

    assert WorkingCopy().locate("pay/a.ts") == "src/pay/a.ts"


def test_a_pattern_from_the_root_is_spelled_so_that_it_means_the_same_in_a_folder(root: Path) -> None:
    folder = str(root / "src" / "pay")

    assert WorkingCopy(folder).folder_names == ("src", "pay")
    assert WorkingCopy(folder).spell_pattern("web/**") == ":/web/**"
    assert WorkingCopy(str(root)).spell_pattern("web/**") == "web/**"
    assert WorkingCopy(folder, starts_at_root=True).spell_pattern("web/**") == "web/**"
    assert WorkingCopy(str(root.parent)).spell_pattern("web/**") == "web/**", "no repository is known"


def test_an_agent_s_paths_start_at_the_root_unless_only_its_folder_has_them(root: Path) -> None:
    agent = WorkingCopy(str(root / "web"), starts_at_root=True)

    assert agent.locate("src/pay/a.ts") == "src/pay/a.ts"
    assert agent.locate("src/b.ts") == "web/src/b.ts"
    assert agent.locate("src") == "src", "both have it"
    assert agent.locate("src/new.ts") == "src/new.ts", "neither has it"


@pytest.mark.parametrize(
    "path", ["/etc/hosts", "../../../a.ts", "C:/src/a.ts", "/a\0b/c.ts", "a" * 5_000 + "/../../../../b"]
)
def test_what_is_outside_or_no_path_at_all_stays_as_it_is(root: Path, path: str) -> None:
    assert WorkingCopy(str(root / "src")).locate(path) == path


def test_a_folder_whose_name_only_begins_like_the_root_is_outside(root: Path) -> None:
    beside = f"{root}-old/a.ts"

    assert WorkingCopy(str(root)).locate(beside) == beside


def test_links_on_the_way_to_the_working_copy_do_not_matter_and_links_in_it_are_files(
    root: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(root)
    (root / "alias.ts").symlink_to(tmp_path / "other")
    linked, direct = WorkingCopy(str(tmp_path / "link" / "src")), WorkingCopy(str(root))

    assert linked.locate(f"{root}/src/pay/a.ts") == "src/pay/a.ts"
    assert direct.locate(f"{tmp_path}/link/src/pay/a.ts") == "src/pay/a.ts"
    assert linked.locate("pay/a.ts") == "src/pay/a.ts"
    assert direct.locate(f"{root}/alias.ts") == "alias.ts"


def test_links_that_run_in_a_circle_are_no_trouble(root: Path, tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    path = f"{tmp_path}/circle/x/a.ts"

    assert WorkingCopy(str(root)).locate(path) == path


def test_it_tells_folders_from_files_and_from_what_is_not_there(root: Path) -> None:
    copy = WorkingCopy(str(root))

    assert [copy.is_folder(path) for path in ("src/pay", "src/pay/Makefile", "src/gone", "src/pay/a.ts/b", "a\0b")] == [
        True,
        False,
        None,
        None,
        None,
    ]


def test_without_a_repository_nothing_is_known_unless_the_folder_was_chosen(tmp_path: Path) -> None:
    around, chosen = WorkingCopy(str(tmp_path)), WorkingCopy(str(tmp_path), is_chosen=True)

    assert (around.root, around.locate(f"{tmp_path}/a.ts"), around.is_folder("other")) == (
        None,
        f"{tmp_path}/a.ts",
        None,
    )
    assert (chosen.root, chosen.locate(f"{tmp_path}/a.ts")) == (str(tmp_path), "a.ts")


def test_a_current_folder_that_was_deleted_is_in_no_working_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    assert (WorkingCopy().root, WorkingCopy().locate("a.ts")) == (None, "a.ts")


def test_nothing_is_read_before_the_first_path(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def ask(path: object) -> bool:
        asked.append(path)
        return False

    monkeypatch.setattr(Path, "exists", ask)
    monkeypatch.setattr(os.path, "lexists", ask)

    copy = WorkingCopy(str(root), starts_at_root=True, is_chosen=True)
    assert asked == []
    copy.locate("a.ts")
    assert asked


def test_the_root_of_a_linked_working_tree_has_a_file_named_git(tmp_path: Path) -> None:
    (tmp_path / "tree" / "src").mkdir(parents=True)
    (tmp_path / "tree" / ".git").write_text("gitdir: elsewhere\n")

    assert find_root(tmp_path / "tree" / "src") == tmp_path / "tree"
