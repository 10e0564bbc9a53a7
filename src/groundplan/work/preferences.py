"""Session defaults of work."""

from __future__ import annotations

from msgspec import Struct

from groundplan.policies import CLAIM_TTL_MINUTES


class WorkPreferences(Struct, frozen=True):
    """Defaults of one session for work."""

    claim_ttl_minutes: float = CLAIM_TTL_MINUTES
    pipelines: str | None = None  # the status pipelines of new projects, as they are stored
