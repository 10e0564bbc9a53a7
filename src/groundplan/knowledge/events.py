"""The events of knowledge. Their subject is an atom or molecule; for a check it is the project."""

from __future__ import annotations

from enum import StrEnum


class Op(StrEnum):
    """Every event of this slice."""

    CREATED = "knowledge.created"
    UPDATED = "knowledge.updated"
    ORPHANED = "knowledge.orphaned"  # its molecule was deleted
    DELETED = "knowledge.deleted"
    CHANGELOG_APPENDED = "knowledge.changelog_appended"
    CHECKED = "knowledge.checked"
