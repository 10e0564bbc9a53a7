"""Fields that many requests have."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

# Given by the caller; the same id with the same request has one effect, however often it is sent.
OpId = Annotated[str, Meta(min_length=1, max_length=200)] | None
