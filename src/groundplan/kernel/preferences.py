"""Defaults of a session: the configuration or the surface sets them once, and requests may override them."""

from __future__ import annotations

from typing import Protocol, TypeVar

from msgspec import Struct

from groundplan.kernel.cancellation import WRITE_LIMIT_S
from groundplan.kernel.errors import OPERATION_NAMES, Vocabulary

D = TypeVar("D")


class RepositoryPaths(Protocol):
    """The paths of the repository around a session. The file system is read at the first path."""

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
    def advice(self) -> str:
        """The advice where no working copy is known: `run this command in the repository`."""


class Preferences(Struct, frozen=True):
    """Defaults of one session."""

    lean: bool = False  # leave null, empty and bookkeeping fields out of answers
    answer_tokens_max: int = 0  # the cap on an answer; 0: no cap
    vocabulary: Vocabulary = OPERATION_NAMES  # how hints in answers name operations
    working_copy: RepositoryPaths | None = None  # what paths in requests are relative to
    write_timeout_s: float = WRITE_LIMIT_S  # how long a write may take, and keep other writers waiting
    of_slices: tuple[object, ...] = ()  # at most one object of each class that a slice declares

    def of(self, declared: type[D]) -> D:
        """Return the defaults of a slice, given the class that it declares for them."""
        for preferences in self.of_slices:
            if isinstance(preferences, declared):
                return preferences
        return declared()
