"""Nothing is read or written outside the folder, through a link, or partially."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from groundplan.repository.rules.folder import FILE_BYTES_MAX, Folder, UnusableFile


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    (tmp_path / "copy").mkdir()
    return Folder(tmp_path / "copy")


def test_a_file_is_put_in_place_with_the_folders_above_it_and_nothing_else(folder: Folder) -> None:
    folder.write("a/b/c.md", "one\r\n\u2028")
    folder.write("a/b/c.md", "two")

    assert folder.read("a/b/c.md") == "two"
    assert [path.name for path in folder.root.rglob("*")] == ["a", "b", "c.md"]
    assert (folder.list_names("a/b", ".md"), folder.list_names("a", ".md"), folder.list_names("x/y", ".md")) == (
        ["c.md"],
        [],
        [],
    )
    assert folder.read("a/b/d.md") is None
    assert folder.read("x/y.md") is None


def test_a_file_keeps_its_permissions_and_a_new_one_has_the_usual_ones(folder: Folder) -> None:
    umask = os.umask(0o022)
    try:
        folder.write("a.md", "one")
        assert stat.S_IMODE((folder.root / "a.md").stat().st_mode) == 0o644
    finally:
        os.umask(umask)
    (folder.root / "a.md").chmod(0o600)
    folder.write("a.md", "two")
    assert stat.S_IMODE((folder.root / "a.md").stat().st_mode) == 0o600


def test_a_file_is_taken_away(folder: Folder) -> None:
    folder.write("a/b.md", "one")
    folder.remove("a/b.md")
    assert folder.read("a/b.md") is None
    with pytest.raises(UnusableFile, match="cannot be accessed"):
        folder.remove("a/b.md")


@pytest.mark.parametrize("path", ["../x.md", "a/../../x.md", "/etc/x.md", "a//b.md", "./a.md", "a\0b.md", ""])
def test_no_path_leads_out(folder: Folder, path: str) -> None:
    for act in (folder.read, folder.remove, lambda path: folder.write(path, "x")):
        with pytest.raises(UnusableFile, match="not a path below"):
            act(path)


def test_a_link_on_the_way_or_at_the_end_is_not_followed(folder: Folder, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_text("secret")
    (folder.root / "linked").symlink_to(outside)
    (folder.root / "a.md").symlink_to(outside / "a.md")
    (folder.root / "broken.md").symlink_to(outside / "new.md")

    for path in ("linked/a.md", "linked/new/b.md", "a.md", "broken.md"):
        with pytest.raises(UnusableFile, match="symbolic link"):
            folder.read(path)
        with pytest.raises(UnusableFile, match="symbolic link"):
            folder.write(path, "x")
    with pytest.raises(UnusableFile, match="symbolic link"):
        folder.list_names("linked", ".md")
    assert {path.name: path.read_text() for path in outside.iterdir()} == {"a.md": "secret"}


def test_what_is_no_plain_file_of_text_is_left_alone(folder: Folder) -> None:
    (folder.root / "folder.md").mkdir()
    os.mkfifo(folder.root / "pipe.md")
    (folder.root / "latin.md").write_bytes("Café".encode("latin-1"))
    (folder.root / "large.md").write_bytes(b"x" * (FILE_BYTES_MAX + 1))
    (folder.root / "file").write_text("")

    reasons = {}
    for path in ("folder.md", "pipe.md", "latin.md", "large.md", "file/below.md"):
        with pytest.raises(UnusableFile) as refused:
            folder.read(path)
        reasons[path] = refused.value.reason
    assert reasons == {
        "folder.md": "is not a regular file",
        "pipe.md": "is not a regular file",
        "latin.md": "is not UTF-8 text at byte 3",
        "large.md": f"is larger than {FILE_BYTES_MAX} bytes",
        "file/below.md": "cannot be accessed: Not a directory",
    }
    for path in ("folder.md", "pipe.md", "file/below.md"):
        with pytest.raises(UnusableFile):
            folder.write(path, "x")


def test_what_cannot_be_read_back_is_not_written(folder: Folder) -> None:
    with pytest.raises(UnusableFile, match="the limit is"):
        folder.write("a.md", "x" * (FILE_BYTES_MAX + 1))
    assert list(folder.root.iterdir()) == []


def test_a_write_that_fails_leaves_the_old_file_and_no_remains(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.write("a.md", "old")

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "rename", fail)
    with pytest.raises(UnusableFile, match="No space left"):
        folder.write("a.md", "new")

    assert {path.name: path.read_text() for path in folder.root.iterdir()} == {"a.md": "old"}


def test_files_are_found_by_their_name_but_not_in_what_others_installed(folder: Folder, tmp_path: Path) -> None:
    for path in ("AGENTS.md", "src/AGENTS.md", ".github/AGENTS.md", "node_modules/x/AGENTS.md", ".git/AGENTS.md"):
        folder.write(path, "x")
    (folder.root / "loop").symlink_to(tmp_path)

    assert folder.find_files("AGENTS.md") == [".github/AGENTS.md", "AGENTS.md", "src/AGENTS.md"]
