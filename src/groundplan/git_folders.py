"""Find the folders that git keeps for a working copy, without starting git.

repo/.git/                         a folder: the git folder of the main working copy
elsewhere/.git                     a file of a linked worktree, naming repo/.git/worktrees/NAME
repo/.git/worktrees/NAME/commondir  names the git folder that all of them share
repo/library/.git                  a file of a submodule, naming repo/.git/modules/library; it has no commondir
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

LINK_BYTES_MAX = 8_192  # a path in a file
_LINK = "gitdir: "


class GitFolders(NamedTuple):
    """The git folder of one working copy, and the git folder that its worktrees share."""

    own: Path
    shared: Path

    @property
    def is_linked(self) -> bool:
        """True if the working copy is a linked worktree of another one."""
        return self.own != self.shared

    @property
    def main_copy(self) -> Path | None:
        """The main working copy of a linked worktree; None if this is the main one, or if the repository is bare."""
        return self.shared.parent if self.is_linked and self.shared.name == ".git" else None


def find_git_folders(root: Path) -> GitFolders | None:
    """Return the git folders of a working copy, or None if the folder is not the root of one."""
    git = root / ".git"
    if git.is_dir():
        folder = _resolve(git)
        return GitFolders(folder, folder)
    link = _read_line(git)
    if not link.startswith(_LINK) or "\0" in link:
        return None
    own = _resolve(root / link.removeprefix(_LINK))
    shared = _read_line(own / "commondir")
    if not shared or "\0" in shared:
        return GitFolders(own, own)
    return GitFolders(own, _resolve(own / shared))


def _resolve(path: Path) -> Path:
    return Path(os.path.realpath(path))  # which, unlike Path.resolve, takes a loop of links


def _read_line(path: Path) -> str:
    """Return the first line of a file, or an empty text if there is no such file."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return ""
    try:
        return os.fsdecode(os.read(file, LINK_BYTES_MAX)).partition("\n")[0].rstrip("\r")
    except OSError:
        return ""
    finally:
        os.close(file)
