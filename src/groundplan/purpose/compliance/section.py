"""The answer of the checklist, and its sections while they are built."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, NamedTuple

from msgspec import Struct

from groundplan.kernel.errors import NextStep

SECTION_TITLES = {
    1: "Graph Model Verification",
    2: "Version State Validation",
    3: "Version Constraint Verification",
    4: "Node Operations",
    5: "Edge Operations",
    6: "Assumptions Handling",
    7: "Tenant Isolation",
    8: "Decision",
}
YES, NO, NOT_APPLICABLE = "YES", "NO (BLOCKED)", "NOT APPLICABLE"


class ChecklistItem(Struct, frozen=True):
    """A line of a section. `ok` is null if it does not apply to the operation."""

    text: str
    ok: bool | None


class ChecklistSection(Struct, frozen=True):
    """A section, and the facts it is based on."""

    number: int
    title: str
    items: list[ChecklistItem]
    facts: dict[str, Any]
    verdict: str


class Compliance(Struct, frozen=True):
    """The decision whether an operation may proceed; if not, the reasons and the required actions."""

    bookkeeping: ClassVar[frozenset[str]] = frozenset()

    status: Literal["APPROVED", "BLOCKED"]
    sections: list[ChecklistSection]
    reasons: list[str]
    required_actions: list[str]
    markdown: str


class CheckedItem(NamedTuple):
    """A checklist item, with the reason and the action for a failure."""

    text: str
    ok: bool | None
    reason: str = ""
    action: str = ""
    next_step: NextStep | None = None


class SectionResult(NamedTuple):
    """A section before it is converted for the answer."""

    number: int
    checks: list[CheckedItem]
    facts: dict[str, Any]
    verdict: str


def has_failures(checks: list[CheckedItem]) -> bool:
    """Return whether a check that applies fails."""
    return any(check.ok is False for check in checks)


def decide_verdict(checks: list[CheckedItem]) -> str:
    """Return YES, NO, or NOT APPLICABLE if no check applies."""
    if all(check.ok is None for check in checks):
        return NOT_APPLICABLE
    return NO if has_failures(checks) else YES
