"""The plan of an export: all changes to the files of a working copy, decided before any is made."""

from __future__ import annotations

from dataclasses import dataclass, field

HAND_EDITED = "was edited by hand"
NOT_OURS = "was not written by Groundplan"
REPAIRED = "had a block without its last line; the text is yours now, so delete what the new block repeats"
ATOM_GONE = "was edited by hand, and its atom was deleted or belongs elsewhere"


@dataclass(frozen=True, slots=True)
class FileChange:
    """The new text of a file; None deletes it."""

    path: str
    text: str | None


@dataclass(frozen=True, slots=True)
class FileIssue:
    """A file, or the block of an atom in it, that is not written, and why."""

    path: str
    atom_id: str
    reason: str
    can_be_overwritten: bool = True  # whether an import resolves the issue


@dataclass(slots=True)
class ExportPlan:
    """The differences between a working copy and the expected files."""

    changes: list[FileChange] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    drifted: list[FileIssue] = field(default_factory=list)  # edited by people
    refused: list[FileIssue] = field(default_factory=list)  # cannot be written
    repaired: list[FileIssue] = field(default_factory=list)  # blocks without an end that were replaced by force
