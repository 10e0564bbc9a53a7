"""What a check of a database found, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class CheckStatus(StrEnum):
    """How bad it is."""

    OK = "ok"
    WARN = "warn"  # works, but should not stay so
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check, and what to do where it is not well."""

    name: str
    status: CheckStatus
    message: str
    fix: str | None = None

    def body(self) -> dict[str, str]:
        """As data."""
        body = {"name": self.name, "status": self.status.value, "message": self.message}
        return body if self.fix is None else {**body, "fix": self.fix}


def ok(name: str, message: str) -> Finding:
    """All is well."""
    return Finding(name, CheckStatus.OK, message)


def warn(name: str, message: str, fix: str) -> Finding:
    """It works, but should not stay so."""
    return Finding(name, CheckStatus.WARN, message, fix)


def fail(name: str, message: str, fix: str | None = None) -> Finding:
    """Data or strangers are not kept as they should be."""
    return Finding(name, CheckStatus.FAIL, message, fix)
