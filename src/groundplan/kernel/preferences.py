"""Defaults of a session: the configuration or the surface sets them once, and requests may override them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar

from msgspec import Struct

from groundplan.kernel.cancellation import WRITE_LIMIT_S
from groundplan.kernel.errors import OPERATION_NAMES, Vocabulary

D = TypeVar("D")


class LaterCommit(NamedTuple):
    """A commit after another one, and the files that it changed."""

    id: str
    files: Sequence[str]


class ChangesSince(NamedTuple):
    """What differs between a commit and HEAD, and the commits between them, the newest first."""

    files: Collection[str]
    commits: Sequence[LaterCommit] | None  # None: they are too many, or could not be read in time


class RepositoryState(NamedTuple):
    """The changes since some commits, without those that the repository does not have, and some files of HEAD."""

    changes: Mapping[str, ChangesSince]
    files: Sequence[str]


class LookUp(NamedTuple):
    """Whether commits and files exist, by id and by path; None where that could not be told, or not in time."""

    commits: Mapping[str, bool | None]
    files: Mapping[str, bool | None]


class RepositoryPaths(Protocol):
    """The repository beside a session: its paths, and what changed in it. Nothing is read before it is asked."""

    @property
    def root(self) -> str | None:
        """The root folder of paths, or None if no working copy is known."""

    def locate(self, path: str) -> str:
        """Return a path relative to the root, or the unchanged path if it is outside."""

    def is_folder(self, path: str) -> bool | None:
        """Return True for a folder, False for another file, and None if the path does not exist."""

    def spell_pattern(self, pattern: str) -> str:
        """Return a pattern relative to the root in the spelling for a request."""

    @property
    def has_commits(self) -> bool:
        """Whether the root is that of a git repository."""

    def resolve_head(self) -> str | None:
        """Return the id of the commit that is checked out, or None if git cannot tell."""

    def look_up(self, commits: Collection[str], paths: Collection[str]) -> LookUp:
        """Return whether the repository has some commits, by id, and the working copy some files or folders."""

    def compare_with_head(self, commits: Collection[str], folders: Collection[str]) -> RepositoryState | None:
        """Return what changed since some commits, and the files below some folders; None if git cannot tell in time.

        `""` is the root. A path of a file stands for itself.
        """

    @property
    def advice(self) -> str:
        """The advice where no working copy is known: `run this command in the repository`."""


class Preferences(Struct, frozen=True):
    """Defaults of one session."""

    lean: bool = False  # leave null, empty and bookkeeping fields out of answers
    answer_tokens_max: int = 0  # the cap on an answer; 0: no cap
    vocabulary: Vocabulary = OPERATION_NAMES  # how hints in answers name operations
    working_copy: RepositoryPaths | None = None  # what paths in requests are relative to
    project: str | None = None  # of a request that has to name one and names none
    write_timeout_s: float = WRITE_LIMIT_S  # how long a write may take, and keep other writers waiting
    of_slices: tuple[object, ...] = ()  # at most one object of each class that a slice declares

    def of(self, declared: type[D]) -> D:
        """Return the defaults of a slice, given the class that it declares for them."""
        for preferences in self.of_slices:
            if isinstance(preferences, declared):
                return preferences
        return declared()
