"""Look up the commits and files of new evidence in the repository beside the session.

This is done before the transaction, because git may take a while. Nothing is refused for it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Protocol

from msgspec import UNSET, UnsetType

from groundplan.kernel.preferences import Preferences
from groundplan.kernel.wording import quote_text

COMMITS, FILE = ("commit", "git"), "file"
COMMIT_ID = re.compile(r"[0-9a-f]{4,64}")
LINE = re.compile(r"(?::\d+(?:[:-]\d+)?|#L\d+(?:-L\d+)?)$")  # `src/a.py:12`, `src/a.py#L12-L20`
MISSING_SHOWN_MAX = 3


class EvidenceCheck(StrEnum):
    """Whether the repository has the commit or the file that evidence names."""

    OK = "ok"
    MISSING = "missing"
    NOT_CHECKED = "not_checked"  # no repository is known, git did not answer in time, or it is no id or path


MARKS = {EvidenceCheck.OK: "\N{CHECK MARK}", EvidenceCheck.MISSING: "? missing", EvidenceCheck.NOT_CHECKED: "?"}

Checks = Mapping[tuple[str, str], EvidenceCheck]  # by type and ref


def check_evidence(evidence: Collection[tuple[str, str]], preferences: Preferences) -> Checks:
    """Return the checks of the commits and files among some evidence, each given by type and ref."""
    checks = {named: check for named in evidence if (check := get_default_check(named[0]))}
    repository = preferences.working_copy
    if not checks or repository is None or not repository.has_commits:
        return checks
    ids = {ref: ref.strip().lower() for type_, ref in checks if type_ in COMMITS}
    paths = {ref: (ref.strip(), LINE.sub("", ref.strip())) for type_, ref in checks if type_ == FILE}
    exists = repository.look_up(
        {id_ for id_ in ids.values() if COMMIT_ID.fullmatch(id_)}, {path for both in paths.values() for path in both}
    )
    for type_, ref in checks:
        if type_ in COMMITS:
            found = exists.commits.get(ids[ref])
        else:
            whole, without_line = paths[ref]
            found = exists.files[whole] or exists.files[without_line]
        if found is not None:
            checks[type_, ref] = EvidenceCheck.OK if found else EvidenceCheck.MISSING
    return checks


def get_default_check(type_: str) -> EvidenceCheck | None:
    """Return the result for evidence that was not looked up; None for a type that names no commit and no file."""
    return EvidenceCheck.NOT_CHECKED if type_ in (*COMMITS, FILE) else None


class EvidenceMarks(Protocol):
    """What an entry of evidence is marked with."""

    checked: EvidenceCheck | UnsetType
    undone: bool | UnsetType


def format_marks(evidence: EvidenceMarks) -> str:
    """Return the marks to show beside evidence: that it was undone, and whether the repository has what it names."""
    marks = ["undone"] if evidence.undone else []
    return " ".join(marks if evidence.checked is UNSET else [*marks, MARKS[evidence.checked]])


def describe_missing(checks: Checks) -> str | None:
    """Return a warning about evidence that the repository does not have, if there is any."""
    missing = [f"{type_} {quote_text(ref)}" for (type_, ref), check in checks.items() if check is EvidenceCheck.MISSING]
    if not missing:
        return None
    more = len(missing) - MISSING_SHOWN_MAX
    names = ", ".join(missing[:MISSING_SHOWN_MAX]) + (f" and {more} more" if more > 0 else "")
    return f"evidence that the repository does not have: {names}; it is kept and marked as missing"
