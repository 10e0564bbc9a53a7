"""Folders that other programs copy to other machines are noticed by their names and by the marks in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from groundplan.repository.setup.synced_folders import find_sync_program


@pytest.mark.parametrize(
    ("folder", "program"),
    [
        ("Dropbox", "Dropbox"),
        ("Dropbox (Personal)/code", "Dropbox"),
        ("OneDrive - Water Company/plans", "OneDrive"),
        ("Library/Mobile Documents/com~apple~CloudDocs/code", "iCloud Drive"),
        ("Library/CloudStorage/GoogleDrive-ada@example.org/My Drive", "Google Drive"),
        ("Nextcloud/a/b/c", "Nextcloud"),
        ("code/dropbox-client", None),
        ("code/onedriver", None),
        ("nextcloud-server/src", None),
        ("plain", None),
    ],
)
def test_the_name_of_a_folder_above_tells(tmp_path: Path, folder: str, program: str | None) -> None:
    assert find_sync_program(tmp_path / folder) == program


@pytest.mark.parametrize(("mark", "program"), [(".stfolder", "Syncthing"), (".dropbox.cache", "Dropbox")])
def test_the_mark_of_a_program_above_tells(tmp_path: Path, mark: str, program: str) -> None:
    (tmp_path / mark).mkdir()

    assert find_sync_program(tmp_path / "a" / "b") == program
