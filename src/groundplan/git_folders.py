"""Find the folders that git keeps for a working copy, without starting git.

    repo/.git/                         a folder: the git folder of the main working copy
    elsewhere/.git                     a file of a linked worktree, naming repo/.git/worktrees/NAME
    repo/.git/worktrees/NAME/commondir  names the git folder that all of them share
    repo/library/.git                  a file of a submodule, naming repo/.git/modules/library; it has no commondir

The MCP server loads this module before its first answer, so it imports very little.
"""

from __future__ import annotations

import os

LINK_BYTES_MAX = 8_192  # a path in a file
_LINK = "gitdir: "


class GitFolders:
    """The git folder of one working copy, and the one that it shares with others."""

    __slots__ = ("own", "shared")

    def __init__(self, own: str, shared: str) -> None:
        self.own, self.shared = own, shared

    @property
    def is_linked(self) -> bool:
        """Whether the working copy is a linked worktree of another one."""
        return self.own != self.shared

    @property
    def main_copy(self) -> str | None:
        """The main working copy of a linked worktree; None if this is the main one, or the repository is bare."""
        above, _, name = self.shared.rpartition("/")
        return above if self.is_linked and name == ".git" else None


def find_git_folders(root: str) -> GitFolders | None:
    """Return the git folders of a working copy, or None if the folder is not the root of one."""
    git = os.path.join(root, ".git")  # noqa: PTH118 - pathlib takes 5 ms
    if os.path.isdir(git):  # noqa: PTH112 - pathlib takes 5 ms
        folder = os.path.realpath(git)
        return GitFolders(folder, folder)
    link = _read_line(git)
    if not link.startswith(_LINK) or "\0" in link:
        return None
    own = os.path.realpath(os.path.join(root, link.removeprefix(_LINK)))  # noqa: PTH118 - pathlib takes 5 ms
    shared = _read_line(f"{own}/commondir")
    if not shared or "\0" in shared:
        return GitFolders(own, own)
    return GitFolders(own, os.path.realpath(os.path.join(own, shared)))  # noqa: PTH118 - pathlib takes 5 ms


def _read_line(path: str) -> str:
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
