"""What a gate answers, and what it is told of the world outside the theory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, NamedTuple

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from groundplan.kernel.budget import CutLists, LeftOut, Trimming
from groundplan.kernel.next_steps import NextStep, Vocabulary, describe
from groundplan.purpose.model import Profile

Fix = str | tuple[NextStep, ...]  # what to do about a check that fails


class ContextFacts(Struct, frozen=True):
    """The facts in force: of which run, whether only in part, and what is required and not set."""

    run: str | None = None  # None: nothing was ever committed
    is_partial: bool = False
    required_unset: list[str] = []


class ExternalFacts(Struct, frozen=True):
    """What other slices and the database say at one moment. None is what nobody can tell."""

    context: ContextFacts | None = None
    served: dict[str, int] | None = None  # how many work nodes serve each ACTIVITY, by its key
    row_security: list[str] | None = None  # what is wrong with it, in sentences; None where the engine has none


class Check(Struct):
    """One check of a gate."""

    code: str
    severity: Literal["block", "warn"]
    result: Literal["passed", "failed", "waived", "not_applicable"]
    message: str
    refs: list[str]
    actual: Any = UNSET
    expected: Any = UNSET
    fix: str | UnsetType = UNSET
    left_out: LeftOut = UNSET  # refs for which an answer had no room

    @property
    def is_blocking(self) -> bool:
        """Whether it keeps its gate shut."""
        return self.severity == "block" and self.result == "failed"


class GateResult(Struct):
    """What a gate says of one content: the same content and the same observations give the same bytes."""

    trimming: ClassVar[Trimming] = Trimming(CutLists(("checks[].refs", "checks[].actual")))

    gate: Literal["A", "B"]
    profile: Profile
    passed: bool
    score: float | None
    checks: list[Check]
    content_hash: str


class Findings(NamedTuple):
    """The result of a gate without the words of any surface, and what to do about each check that fails, by code."""

    result: GateResult
    fixes: Mapping[str, Fix]

    def describe(self, vocabulary: Vocabulary) -> GateResult:
        """Return the result in the words of a surface."""
        checks = [
            replace(check, fix=_describe_fix(self.fixes.get(check.code), vocabulary)) for check in self.result.checks
        ]
        return replace(self.result, checks=checks)


def _describe_fix(fix: Fix | None, vocabulary: Vocabulary) -> str | UnsetType:
    if fix is None:
        return UNSET
    return fix if isinstance(fix, str) else describe(fix, vocabulary)
