"""Session defaults: set once by the configuration or the surface, used where a request gives no value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from groundplan.kernel.next_steps import OPERATION_NAMES, Vocabulary
from groundplan.kernel.policies import CLAIM_TTL_MINUTES


class RepositoryPaths(Protocol):
    """The paths of the repository beside a session. Nothing is read before the first one."""

    @property
    def root(self) -> str | None:
        """The folder at which paths start, or None if no working copy is known."""

    def locate(self, path: str) -> str:
        """Return a path from the root, or the path itself if it is outside."""

    def is_folder(self, path: str) -> bool | None:
        """Return whether a path from the root is a folder, or None if nothing is there."""


@dataclass(frozen=True, slots=True)
class Preferences:
    """Defaults of one session."""

    lean: bool = False  # leave null, empty and bookkeeping fields out of answers
    claim_ttl_minutes: float = CLAIM_TTL_MINUTES
    answer_tokens_max: int = 0  # the cap on an answer; 0: no cap
    pipelines: str | None = None  # the status pipelines of new projects, as they are stored
    vocabulary: Vocabulary = OPERATION_NAMES  # how hints in answers name operations
    working_copy: RepositoryPaths | None = None  # what paths in requests are relative to
