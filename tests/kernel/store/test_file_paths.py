"""Addresses of database files."""

from __future__ import annotations

from pathlib import Path

import pytest

from groundplan.kernel.store.sqlite.connection import build_uri


def test_the_address_of_a_file_is_absolute_and_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    for name in ("plan.db", "a b?.db", "ä#%.db"):
        assert build_uri(name, "mode=rw") == f"{(tmp_path / name).as_uri()}?mode=rw"
        assert build_uri(tmp_path / name, "mode=rw") == f"{(tmp_path / name).as_uri()}?mode=rw"


def test_an_absolute_path_needs_no_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "removed"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    with pytest.raises(FileNotFoundError):
        Path.cwd()

    assert build_uri("/srv/plan.db", "mode=rw") == "file:///srv/plan.db?mode=rw"
