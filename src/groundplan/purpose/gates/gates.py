"""The gates: their checks with the severity in each profile, their results, and waivers of checks.

A waiver is the only way past a check that blocks: an owner accepts that it fails, until a day. It covers its refs, or
without refs the check as a whole, up to and including its day. If several cover the same ref, the one recorded last
decides; so a waiver is shortened by recording another with an earlier day.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal, NamedTuple

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from groundplan.kernel.answers import CutLists, LeftOut, Trimming
from groundplan.kernel.errors import NextStep, Vocabulary
from groundplan.policies import Policies
from groundplan.purpose.dates import get_day
from groundplan.purpose.model import Profile
from groundplan.purpose.observing.records import Waiver

Gate = Literal["A", "B"]
Severity = Literal["block", "warn"]

# In the order standard, strict, light. None means off.
_Severities = tuple[Severity | None, Severity | None, Severity | None]
_PROFILES = (Profile.STANDARD, Profile.STRICT, Profile.LIGHT)

GATE_A: dict[str, _Severities] = {
    "GA_ASSUMPTIONS": ("warn", "warn", None),
    "GA_CONTEXT": ("warn", "block", None),
    "GA_CROSS_VERSION": ("block", "block", "block"),
    "GA_CYCLE": ("block", "block", "warn"),
    "GA_DEAD_END": ("warn", "block", None),
    "GA_DUP_EDGE": ("block", "block", "block"),
    "GA_GOAL_COUNT": ("block", "block", "block"),
    "GA_HIGH_RISK": ("block", "block", None),
    "GA_LEAP": ("warn", "block", None),
    "GA_LOW_CONFIDENCE": ("warn", "block", None),
    "GA_MECHANISM": ("warn", "block", None),
    "GA_MIN_TYPES": ("block", "block", None),
    "GA_ORPHANS": ("block", "block", "warn"),
    "GA_OUTCOME_COVERAGE": ("warn", "block", None),
    "GA_REFUTED": ("block", "block", "warn"),
    "GA_RLS": ("block", "block", "block"),
    "GA_SELF_EDGE": ("block", "block", "block"),
    "GA_STRUCTURE": ("block", "block", "block"),
    "GA_TITLE": ("warn", "block", None),
    "GA_TYPE_CHAIN": ("block", "block", None),
}

# Gate B is the same in every profile.
GATE_B: dict[str, _Severities] = dict.fromkeys(
    ("GB_BASELINE", "GB_FACTS", "GB_INDICATORS", "GB_PLAN", "GB_TARGET", "GB_VERIFIED", "GB_WORK"),
    ("block", "block", "block"),
)

# The edition of the checks. A published version is asked those of the edition in which it was published, so that its
# result stays the same. Edition 1 asks for structure in metadata, and compares titles across types and by folded
# letters. In edition 2 the source of a DEPENDS_ON edge depends on its target; before, every source was a cause.
EDITION = 2
FIRST_EDITIONS = {"GA_STRUCTURE": 1}

SEVERITY_TABLES: dict[Gate, dict[str, _Severities]] = {"A": GATE_A, "B": GATE_B}

# The database enforces these itself, so they cannot be waived.
NOT_WAIVABLE = frozenset({"GA_CROSS_VERSION", "GA_DUP_EDGE", "GA_RLS", "GA_SELF_EDGE"})


def get_severities(gate: Gate, profile: Profile, edition: int = EDITION) -> dict[str, Severity]:
    """Return the checks of a gate that an edition has on in a profile, sorted by code, with their severities."""
    column = _PROFILES.index(profile)
    return {
        code: severity
        for code, row in sorted(SEVERITY_TABLES[gate].items())
        if (severity := row[column]) is not None and FIRST_EDITIONS.get(code, 0) <= edition
    }


def list_required_gates(policies: Policies) -> list[Gate]:
    """Return the gates that a version must pass before it can be published."""
    return ["A", "B"] if policies.publish_gates == "AB" else ["A"]


def list_codes() -> list[str]:
    """Return the codes of all checks, sorted."""
    return sorted({*GATE_A, *GATE_B})


def is_waivable(code: str) -> bool:
    """Return True if a check can be waived, and False for an unknown code."""
    return (code in GATE_A or code in GATE_B) and code not in NOT_WAIVABLE


NOTHING_TO_CHECK = "there is nothing to check, so the gate does not pass"

Fix = str | tuple[NextStep, ...]  # what to do about a failing check


class ContextFacts(Struct, frozen=True):
    """The facts in force: their run, whether it is partial, and its required facts without a value."""

    run: str | None = None  # None: no facts were ever committed
    is_partial: bool = False
    required_unset: list[str] = []


class ExternalFacts(Struct, frozen=True):
    """Facts from other slices and from the database at one moment. None means unknown."""

    context: ContextFacts | None = None
    served: dict[str, int] | None = None  # how many work nodes serve each ACTIVITY, by its key
    row_security: list[str] | None = None  # what is wrong with it; None if the engine has no row security
    # The revision of the latest work evidence that refutes each assumption, by its key.
    refuted_by_work: dict[str, int] | None = None
    edition: int = EDITION


class PublishedFacts(ExternalFacts, frozen=True):
    """The facts that were stored when a version was published. They name the edition of the checks since edition 1."""

    edition: int = 0


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
        """True if the check makes its gate fail."""
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
    """The result of a gate in neutral words, and the fixes of its failing checks by code."""

    result: GateResult
    fixes: Mapping[str, Fix]

    def describe(self, vocabulary: Vocabulary) -> GateResult:
        """Return the result with fixes in the words of a surface."""
        checks = [
            replace(check, fix=describe_fix(self.fixes.get(check.code), vocabulary)) for check in self.result.checks
        ]
        return replace(self.result, checks=checks)


def count_results(checks: Iterable[Check]) -> ResultCounts:
    """Count the checks by result."""
    counted = Counter(check.result for check in checks)
    return ResultCounts(counted["passed"], counted["failed"], counted["waived"], counted["not_applicable"])


def describe_fix(fix: Fix | None, vocabulary: Vocabulary) -> str | UnsetType:
    """Return a fix in the words of a surface."""
    if fix is None:
        return UNSET
    return fix if isinstance(fix, str) else vocabulary.tell(fix)


WHOLE_CHECK = ""  # the ref that stands for the check as a whole


class ActiveWaivers:
    """The checks and refs that are waived on a day."""

    def __init__(self, waivers: Iterable[Waiver], today: str) -> None:
        self._refs: dict[str, set[str]] = {}
        for waiver in select_active_waivers(waivers, today):
            self._refs.setdefault(waiver.code, set()).update(waiver.refs or (WHOLE_CHECK,))

    def list_unwaived(self, code: str, failing: list[str]) -> list[str]:
        """Return the failing refs without an active waiver."""
        refs = self._refs.get(code, set())
        return [] if WHOLE_CHECK in refs else [ref for ref in failing if ref not in refs]

    def covers_check(self, code: str) -> bool:
        """Return True if a waiver covers the check as a whole."""
        return WHOLE_CHECK in self._refs.get(code, ())


def select_active_waivers(waivers: Iterable[Waiver], today: str) -> list[Waiver]:
    """Return the waivers active on a day, in recording order, each with only the refs that it decides."""
    deciding: dict[tuple[str, str], Waiver] = {}
    recorded = list(waivers)
    for waiver in recorded:
        for ref in waiver.refs or (WHOLE_CHECK,):
            deciding[waiver.code, ref] = waiver
    active = []
    for waiver in recorded:
        refs = [ref for ref in waiver.refs or (WHOLE_CHECK,) if deciding[waiver.code, ref] is waiver]
        if refs and get_day(waiver.due) >= get_day(today) and is_waivable(waiver.code):
            active.append(waiver._replace(refs=[] if refs == [WHOLE_CHECK] else refs))
    return active
