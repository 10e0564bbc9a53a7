"""Session defaults: set once, by the configuration or by the surface, for what a request does not say."""

from __future__ import annotations

from dataclasses import dataclass

from groundplan.kernel.next_steps import OPERATION_NAMES, Vocabulary
from groundplan.kernel.policies import CLAIM_TTL_MINUTES


@dataclass(frozen=True, slots=True)
class Preferences:
    """Defaults of one session."""

    lean: bool = False  # leave null, empty and bookkeeping fields out of answers
    claim_ttl_minutes: float = CLAIM_TTL_MINUTES
    answer_tokens_max: int = 0  # how long an answer may be; 0: as long as it is
    pipelines: str | None = None  # the steps of tasks and features in projects that are made, as they are kept
    vocabulary: Vocabulary = OPERATION_NAMES  # how hints in answers name operations
