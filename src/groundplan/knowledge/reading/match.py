"""Match patterns with the files of the last check, before an atom has them."""

from __future__ import annotations

from typing import ClassVar

from msgspec import UNSET, Struct, UnsetType, field

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import CutLists, LeftOut, Trimming
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, Route, declare
from groundplan.kernel.store.transaction import Transaction
from groundplan.knowledge.checked_files import load_checked_files
from groundplan.knowledge.paths.index import PathIndex, TooManySteps
from groundplan.knowledge.patterns import TooCostly
from groundplan.knowledge.reading.coverage import STEPS_MAX
from groundplan.knowledge.requests import Patterns, parse_patterns

FILES_MAX = 50


class MatchPatterns(Struct, rename="camel", forbid_unknown_fields=True):
    """The project and the patterns."""

    project_id: Name
    paths: Patterns


class PatternMatches(Struct):
    """A pattern, and how many files it matches."""

    pattern: str
    files: int


class MatchedFiles(Struct, rename="camel", kw_only=True):
    """The files of the last check that match at least one of the patterns."""

    trimming: ClassVar[Trimming] = Trimming(CutLists(("files",)))

    commit: str | UnsetType = UNSET  # that was checked; absent if no check sent its files
    checked_at: str | UnsetType = UNSET
    kept: int  # files that were compared
    count: int  # files that match
    patterns: list[PatternMatches]
    files: list[str]  # the first of them, by path
    left_out: LeftOut = field(name="left_out", default=UNSET)


def match_patterns(tx: Transaction, request: MatchPatterns) -> MatchedFiles:
    """Return which files of the last check match some patterns.

    Raises:
        EmptyPaths: there is no pattern.
        Invalid: a pattern is malformed.
        TooCostly: matching all files would take too long.
    """
    patterns = parse_patterns(request.paths, tx.preferences.working_copy).paths
    index = PathIndex()
    for number, pattern in enumerate(patterns):
        index.put(str(number), [pattern])
    checked = load_checked_files(tx)
    counts = [0] * len(patterns)
    found: list[str] = []
    try:
        for path, matching in index.match_many(() if checked is None else checked.paths, steps_max=STEPS_MAX):
            for key in matching:
                counts[int(key)] += 1
            if matching:
                found.append(path)
    except TooManySteps:
        raise TooCostly from None
    return MatchedFiles(
        commit=UNSET if checked is None else checked.commit_id,
        checked_at=UNSET if checked is None else checked.checked_at,
        kept=0 if checked is None else checked.kept,
        count=len(found),
        patterns=[PatternMatches(pattern, count) for pattern, count in zip(patterns, counts, strict=True)],
        files=found[:FILES_MAX],
        left_out={"files": len(found) - FILES_MAX} if len(found) > FILES_MAX else UNSET,
    )


OPERATION = declare(
    match_patterns,
    name="knowledge.match",
    summary="Which files of the last check match some patterns.",
    permission=Permission.KNOWLEDGE_READ,
    effect=Effect.READ,
    command=Command(("knowledge", "match"), arguments=("paths",), patterns=("paths",), names={"project_id": "project"}),
    http=Route("GET", "/projects/{project}/knowledge/matches"),
)
