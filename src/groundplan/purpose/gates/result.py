"""The result of a gate, and the facts from outside the theory that it reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal, NamedTuple

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from groundplan.kernel.answers import CutLists, LeftOut, Trimming
from groundplan.kernel.errors import NextStep, Vocabulary
from groundplan.purpose.model import Profile

NOTHING_TO_CHECK = "there is nothing to check, so the gate does not pass"

Fix = str | tuple[NextStep, ...]  # what to do about a failing check


class ContextFacts(Struct, frozen=True):
    """The facts in force: their run, whether it is partial, and the required facts that are not set."""

    run: str | None = None  # None: no facts were ever committed
    is_partial: bool = False
    required_unset: list[str] = []


class ExternalFacts(Struct, frozen=True):
    """Facts from other slices and the database at one moment. None means not known."""

    context: ContextFacts | None = None
    served: dict[str, int] | None = None  # how many work nodes serve each ACTIVITY, by its key
    row_security: list[str] | None = None  # what is wrong with it; None if the engine has no row security
    # The revision of the latest work evidence that refutes each assumption, by its key.
    refuted_by_work: dict[str, int] | None = None


class Check(Struct):
    """The result of one check of a gate."""

    code: str
    severity: Literal["block", "warn"]
    result: Literal["passed", "failed", "waived", "not_applicable"]
    message: str
    refs: list[str]
    actual: Any = UNSET
    expected: Any = UNSET
    fix: str | UnsetType = UNSET
    left_out: LeftOut = UNSET  # refs that did not fit into the answer

    @property
    def is_blocking(self) -> bool:
        """Whether the check makes its gate fail."""
        return self.severity == "block" and self.result == "failed"


class ResultCounts(Struct):
    """The number of checks with each result."""

    passed: int
    failed: int
    waived: int
    not_applicable: int


class GateResult(Struct):
    """The result of a gate. Equal content and observations give equal bytes."""

    bookkeeping: ClassVar[frozenset[str]] = frozenset({"content_hash"})
    trimming: ClassVar[Trimming] = Trimming(CutLists(("checks[].refs", "checks[].actual")))

    gate: Literal["A", "B"]
    profile: Profile
    passed: bool
    score: float | None
    counts: ResultCounts
    checks: list[Check]
    content_hash: str
    message: str | UnsetType = UNSET  # why the gate does not pass, if no check says it

    def select_lean(self) -> GateResult:
        """Return the part that a lean answer shows."""
        return self.without_passed()

    def without_passed(self) -> GateResult:
        """Return the result with only the checks that failed or are waived."""
        return replace(self, checks=[check for check in self.checks if check.result in ("failed", "waived")])


class Findings(NamedTuple):
    """The result of a gate without surface wording, and the fixes of its failing checks by code."""

    result: GateResult
    fixes: Mapping[str, Fix]

    def describe(self, vocabulary: Vocabulary) -> GateResult:
        """Return the result with fixes worded for a surface."""
        checks = [
            replace(check, fix=describe_fix(self.fixes.get(check.code), vocabulary)) for check in self.result.checks
        ]
        return replace(self.result, checks=checks)


def count_results(checks: Iterable[Check]) -> ResultCounts:
    """Count the checks by result."""
    counted = Counter(check.result for check in checks)
    return ResultCounts(counted["passed"], counted["failed"], counted["waived"], counted["not_applicable"])


def describe_fix(fix: Fix | None, vocabulary: Vocabulary) -> str | UnsetType:
    """Return a fix worded for a surface."""
    if fix is None:
        return UNSET
    return fix if isinstance(fix, str) else vocabulary.tell(fix)
