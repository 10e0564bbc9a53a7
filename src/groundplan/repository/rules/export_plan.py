"""What an export is going to do to the files of a working copy, decided before anything is done."""

from __future__ import annotations

from dataclasses import dataclass, field

HAND_EDITED = "was edited by hand"
NOT_OURS = "was not written by Groundplan"
REPAIRED = "had a block without its last line; the text is yours now, so delete what the new block says again"
ATOM_GONE = "was edited by hand, and its atom is gone or belongs elsewhere"


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file's new text; None takes it away."""

    path: str
    text: str | None


@dataclass(frozen=True, slots=True)
class FileIssue:
    """A file, or an atom's part of it, that stays as it is, and why."""

    path: str
    atom_id: str
    reason: str
    can_be_taken: bool = True  # into the plan, by an import, after which it is in nobody's way


@dataclass(slots=True)
class ExportPlan:
    """Everything that differs between a working copy and what should be there."""

    changes: list[FileChange] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    drifted: list[FileIssue] = field(default_factory=list)  # people wrote there
    refused: list[FileIssue] = field(default_factory=list)  # cannot be written
    repaired: list[FileIssue] = field(default_factory=list)  # forced where nobody knew what was whose
