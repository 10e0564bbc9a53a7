"""Files that commands write are complete or absent."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from groundplan.surfaces.cli.failures import UsageError
from groundplan.surfaces.cli.files import write_file


@contextmanager
def limit_file_size(size_bytes: int) -> Iterator[None]:
    """Limit the size of files, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("force", [False, True])
def test_a_file_that_cannot_be_written_whole_leaves_what_was_there(tmp_path: Path, force: bool) -> None:
    there = tmp_path / "theory.json"
    if force:
        there.write_bytes(b"as it was")

    with limit_file_size(8), pytest.raises(UsageError):
        write_file(str(there), b"x" * 100, force=force)

    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == (
        {there.name: b"as it was"} if force else {}
    )


def test_a_file_is_written_over_through_a_link_to_it(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_bytes(b"old")
    (tmp_path / "link.json").symlink_to("real.json")

    write_file(str(tmp_path / "link.json"), b"new", force=True)

    assert (tmp_path / "real.json").read_bytes() == b"new"
    assert (tmp_path / "link.json").is_symlink()
