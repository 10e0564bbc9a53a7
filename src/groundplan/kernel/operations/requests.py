"""Fields that many requests share."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

# Chosen by the caller; the same request with the same id has one effect, even if sent again.
OpId = Annotated[str, Meta(min_length=1, max_length=200)] | None

# The tokens of the whole answer, to which a briefing is added that uses what is left of them.
AnswerBudget = Annotated[int, Meta(ge=200, le=20_000)] | None
