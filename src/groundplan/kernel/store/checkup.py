"""Findings of database checks, with fixes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class CheckStatus(StrEnum):
    """The severity of a finding."""

    OK = "ok"
    WARN = "warn"  # works, but should be fixed
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check, and a fix if there is a problem."""

    name: str
    status: CheckStatus
    message: str
    fix: str | None = None

    def body(self) -> dict[str, str]:
        """Return the finding as data."""
        body = {"name": self.name, "status": self.status.value, "message": self.message}
        return body if self.fix is None else {**body, "fix": self.fix}


def ok(name: str, message: str) -> Finding:
    """Return a finding without a problem."""
    return Finding(name, CheckStatus.OK, message)


def warn(name: str, message: str, fix: str) -> Finding:
    """Return a finding that works but should be fixed."""
    return Finding(name, CheckStatus.WARN, message, fix)


def fail(name: str, message: str, fix: str | None = None) -> Finding:
    """Return a finding about a failed check."""
    return Finding(name, CheckStatus.FAIL, message, fix)
