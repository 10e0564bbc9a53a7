"""Session defaults: set once by the configuration or the surface, used where a request gives no value."""

from __future__ import annotations

from dataclasses import dataclass

from groundplan.kernel.next_steps import OPERATION_NAMES, Vocabulary
from groundplan.kernel.policies import CLAIM_TTL_MINUTES


@dataclass(frozen=True, slots=True)
class Preferences:
    """Defaults of one session."""

    lean: bool = False  # leave null, empty and bookkeeping fields out of answers
    claim_ttl_minutes: float = CLAIM_TTL_MINUTES
    answer_tokens_max: int = 0  # the cap on an answer; 0: no cap
    pipelines: str | None = None  # the status pipelines of new projects, as they are stored
    vocabulary: Vocabulary = OPERATION_NAMES  # how hints in answers name operations
