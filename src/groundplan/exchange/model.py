"""What a reader returns: the items of a file, and what it could not take over.

A reader is a module `readers/TOOL.py` with a function `read(path, *, skip_bad) -> SourcePlan`. A bad line raises
`BadLineFound`, or goes into `skipped` with `skip_bad`; `BadLines` does both.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from groundplan.kernel.errors import Invalid
from groundplan.work.importing.source_items import DeletedItem, SourceAtom, SourceItem, SourceMolecule


class UnreadableSource(Invalid):
    """A file cannot be read, or is not a file of the tool."""

    code = "unreadable_source"

    def __init__(self, file: str, problem: str, *, line: int | None = None) -> None:
        where = file if line is None else f"{file}, line {line}"
        details: dict[str, Any] = {"file": file} if line is None else {"file": file, "line": line}
        super().__init__(f"{where}: {problem}", **details)
        self.reason = problem


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line, or an item, that cannot be imported, and why."""

    file: str
    line: int | None
    reason: str
    source_id: str | None = None


class BadLineFound(Invalid):
    """A file has a bad line, so nothing is imported."""

    code = "bad_line"

    def __init__(self, bad: BadLine) -> None:
        where = bad.file if bad.line is None else f"{bad.file}, line {bad.line}"
        details: dict[str, Any] = {"line": bad.line, "source_id": bad.source_id}
        super().__init__(
            f"{where}: {bad.reason}; nothing was imported. Mend it, or leave such lines out with --skip-bad",
            file=bad.file,
            reason=bad.reason,
            **{name: value for name, value in details.items() if value is not None},
        )


class BadLines:
    """The bad lines of an import: the first one ends it, unless they are skipped."""

    def __init__(self, *, skip_bad: bool) -> None:
        self.skipped: list[BadLine] = []
        self._skip_bad = skip_bad

    def add(self, file: str, line: int | None, reason: str, source_id: str | None = None) -> None:
        """Add a bad line.

        Raises:
            BadLineFound: bad lines are not skipped.
        """
        bad = BadLine(file, line, reason, source_id)
        if not self._skip_bad:
            raise BadLineFound(bad)
        self.skipped.append(bad)


@dataclass(frozen=True, slots=True)
class ItemNote:
    """What was changed about an item, or lost: the field, and a sentence."""

    source_id: str
    what: str
    detail: str


@dataclass(slots=True)
class SourcePlan:
    """The content of a file, or of several files of one tool."""

    tool: str
    items: list[SourceItem] = field(default_factory=list)  # in the order of the file
    deleted: list[DeletedItem] = field(default_factory=list)
    molecules: list[SourceMolecule] = field(default_factory=list)
    atoms: list[SourceAtom] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)  # by reason: tombstones, pull requests, other files
    lost: list[ItemNote] = field(default_factory=list)  # what has no place here
    placed: list[ItemNote] = field(default_factory=list)  # what came in otherwise than it was
    skipped: list[BadLine] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    inherits_dependencies: bool = False  # whether in this tool the dependencies of an item also hold back its parts

    def note_placed(self, source_id: str, what: str, detail: str) -> None:
        """Note what came in otherwise than it was."""
        self.placed.append(ItemNote(source_id, what, detail))

    def note_lost(self, source_id: str, what: str, detail: str) -> None:
        """Note what has no place here."""
        self.lost.append(ItemNote(source_id, what, detail))
