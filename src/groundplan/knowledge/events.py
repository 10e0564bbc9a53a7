"""The events that knowledge records. The subject is the atom or molecule, or for a check the project."""

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
