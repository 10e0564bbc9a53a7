"""What the checklist answers, and what its sections are made of before that."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from msgspec import Struct

from groundplan.kernel.next_steps import NextStep

YES, NO, NOT_APPLICABLE = "YES", "NO (BLOCKED)", "NOT APPLICABLE"


class ChecklistItem(Struct, frozen=True):
    """A line of a section. `ok` is null where it does not apply to the operation."""

    text: str
    ok: bool | None


class ChecklistSection(Struct, frozen=True):
    """A section, and the facts that it rests on."""

    number: int
    title: str
    items: list[ChecklistItem]
    facts: dict[str, Any]
    verdict: str


class Compliance(Struct, frozen=True):
    """Whether an operation may go ahead; if not, why, and what to do first."""

    status: Literal["APPROVED", "BLOCKED"]
    sections: list[ChecklistSection]
    reasons: list[str]
    required_actions: list[str]
    markdown: str


class CheckedItem(NamedTuple):
    """An item, and what to say and to do where it is not ok."""

    text: str
    ok: bool | None
    reason: str = ""
    action: str = ""
    next_step: NextStep | None = None


class SectionResult(NamedTuple):
    """A section while the checklist is made."""

    number: int
    title: str
    checks: list[CheckedItem]
    facts: dict[str, Any]
    verdict: str


def has_failures(checks: list[CheckedItem]) -> bool:
    """Whether anything that applies does not hold."""
    return any(check.ok is False for check in checks)


def verdict(checks: list[CheckedItem]) -> str:
    """Yes or no, or neither where nothing applies."""
    if all(check.ok is None for check in checks):
        return NOT_APPLICABLE
    return NO if has_failures(checks) else YES
