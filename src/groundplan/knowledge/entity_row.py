"""What the rows of atoms and of molecules have in common."""

from __future__ import annotations

from msgspec import Struct


class EntityRow(Struct):
    """An atom or a molecule as it is stored."""

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
