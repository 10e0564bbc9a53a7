"""The columns that atoms and molecules share."""

from __future__ import annotations

from msgspec import Struct


class EntityRow(Struct):
    """The shared columns of a stored atom or molecule."""

    id: str
    created_by_task_id: str
    created_at: str
    created_by: str
    name: str
    version: int
    last_task_id: str
    updated_at: str
    updated_by: str
    knowledge: str
