"""Session defaults of work."""

from __future__ import annotations

from dataclasses import dataclass

from groundplan.policies import CLAIM_TTL_MINUTES


@dataclass(frozen=True, slots=True)
class WorkPreferences:
    """Defaults of one session for work."""

    claim_ttl_minutes: float = CLAIM_TTL_MINUTES
    pipelines: str | None = None  # the status pipelines of new projects, as they are stored
