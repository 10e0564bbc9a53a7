"""The checks of each gate, and their severity in each profile."""

from __future__ import annotations

from typing import Literal

from groundplan.policies import Policies
from groundplan.purpose.model import Profile

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
    "GA_TITLE": ("warn", "block", None),
    "GA_TYPE_CHAIN": ("block", "block", None),
}

# Gate B is the same in every profile.
GATE_B: dict[str, _Severities] = dict.fromkeys(
    ("GB_BASELINE", "GB_FACTS", "GB_INDICATORS", "GB_PLAN", "GB_TARGET", "GB_VERIFIED", "GB_WORK"),
    ("block", "block", "block"),
)

SEVERITY_TABLES: dict[Gate, dict[str, _Severities]] = {"A": GATE_A, "B": GATE_B}

# The database enforces these itself, so they cannot be waived.
NOT_WAIVABLE = frozenset({"GA_CROSS_VERSION", "GA_DUP_EDGE", "GA_RLS", "GA_SELF_EDGE"})


def get_severities(gate: Gate, profile: Profile) -> dict[str, Severity]:
    """Return the checks of a gate that are on in a profile, sorted by code, with their severities."""
    column = _PROFILES.index(profile)
    return {
        code: severity for code, row in sorted(SEVERITY_TABLES[gate].items()) if (severity := row[column]) is not None
    }


def list_required_gates(policies: Policies) -> list[Gate]:
    """Return the gates that a version must pass to be published."""
    return ["A", "B"] if policies.publish_gates == "AB" else ["A"]


def list_codes() -> list[str]:
    """Return the codes of all checks, sorted."""
    return sorted({*GATE_A, *GATE_B})


def is_waivable(code: str) -> bool:
    """Return whether a check can be waived; False for an unknown code."""
    return (code in GATE_A or code in GATE_B) and code not in NOT_WAIVABLE
