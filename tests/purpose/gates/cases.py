"""For each check: a theory that fails it, the refs that it reports, and a theory that it does not apply to."""

from __future__ import annotations

from typing import NamedTuple

from groundplan.kernel.errors import OPERATION_NAMES
from groundplan.purpose.gates.gates import Check, ContextFacts, ExternalFacts, Gate, GateResult
from groundplan.purpose.gates.run import run_gate
from groundplan.purpose.model import Content, Profile
from groundplan.purpose.observing.records import Observations
from tests.purpose.theories import NOTHING_OBSERVED, TODAY, make_observations, theory

COMMITTED = ContextFacts(run="run")
FINE = ExternalFacts(context=COMMITTED, served={"AC1": 1}, row_security=[])
UNKNOWN = ExternalFacts()
LONE_GOAL = theory("G1")
EMPTY = theory()
CHAIN = "AC1 -> OP1 -> OC1 -> G1"


class FailingCase(NamedTuple):
    """A theory that fails a check, and the refs of the check; `nothing` is a theory that it does not apply to."""

    content: Content
    refs: list[str]
    nothing: Content | None = LONE_GOAL  # None: the check always applies, or depends on other slices
    observations: Observations = NOTHING_OBSERVED
    outside: ExternalFacts = FINE
    nothing_outside: ExternalFacts = FINE
    in_strict: list[str] | None = None  # the refs in the strict profile, if they differ


BROKEN: dict[str, FailingCase] = {
    "GA_ASSUMPTIONS": FailingCase(
        theory(CHAIN, "OP2 -> OC2 -> G1", assumptions={"AS1": "OC1", "AS2": "OP2->OC2"}), ["OC2->G1", "OP1->OC1"]
    ),
    "GA_CONTEXT": FailingCase(
        theory(CHAIN),
        [],
        nothing=theory(CHAIN),
        outside=ExternalFacts(context=ContextFacts()),
        nothing_outside=UNKNOWN,
    ),
    "GA_CROSS_VERSION": FailingCase(
        theory(CHAIN, assumptions={"AS1": "OC9", "AS2": "OC1", "AS3": "AC1->OC1"}, indicators={"IN1": "G9"})._replace(
            edges=theory(CHAIN, "OP1 -> OC9").edges
        ),
        ["OP1->OC9", "AS1", "AS3", "IN1"],
    ),
    "GA_CYCLE": FailingCase(
        theory(CHAIN, "OC1 -> OC2 -> OC1", "OP1 -> OP2 -> OP3 -> OP1"), ["OC1", "OC2", "OP1", "OP2", "OP3"]
    ),
    "GA_DEAD_END": FailingCase(theory(CHAIN, "AC3", "AC2", "AC2->AC1/FEEDBACK"), ["AC2", "AC3"]),
    "GA_DUP_EDGE": FailingCase(theory(CHAIN, "AC1 -> OP1", "AC1->OP1/CAUSES"), ["AC1->OP1"]),
    "GA_GOAL_COUNT": FailingCase(theory("AC1 -> OP1 -> OC1"), [], nothing=None),
    "GA_HIGH_RISK": FailingCase(
        theory(
            CHAIN,
            assumptions={
                "AS1": {"on": "OC1", "risk_level": "HIGH", "owner": "ada"},
                "AS2": {"on": "OC1", "risk_level": "HIGH", "review_by": TODAY},
                "AS3": {"on": "OC1", "risk_level": "HIGH", "review_by": TODAY, "owner": "ada"},
                "AS4": {"on": "OC1->G1", "risk_level": "HIGH", "review_by": TODAY, "owner": "ada"},
                "AS5": {"on": "OC1", "risk_level": "MEDIUM"},
            },
            indicators={"IN1": "G1"},
        ),
        ["AS1", "AS2"],
        in_strict=["AS1", "AS2", "AS3"],
    ),
    "GA_LEAP": FailingCase(
        theory(CHAIN, "OP1 -> G1", "AC1->OC1/CAUSES", "AC1->G1/FEEDBACK"), ["OP1->G1", "AC1->OC1/CAUSES"]
    ),
    "GA_LOW_CONFIDENCE": FailingCase(
        theory(
            CHAIN,
            edges={"AC1->OP1": {"confidence": "low"}, "OP1->OC1": {"confidence": "low"}},
            assumptions={"AS1": "OP1->OC1", "AS2": "AC1"},
        ),
        ["AC1->OP1"],
        nothing=theory(CHAIN),
    ),
    "GA_MECHANISM": FailingCase(
        theory(CHAIN, edges={"AC1->OP1": {"mechanism": "so"}, "OP1->OC1": {"mechanism": "  "}}), ["OC1->G1", "OP1->OC1"]
    ),
    "GA_MIN_TYPES": FailingCase(theory("AC1 -> OP1"), [], nothing=None),
    "GA_ORPHANS": FailingCase(theory(CHAIN, "AC2 -> OP2", "OP2->OC1/FEEDBACK"), ["OP2", "AC2"]),
    "GA_OUTCOME_COVERAGE": FailingCase(theory(CHAIN, "OC10", "OC9", indicators={"IN1": "OC1"}), ["OC9", "OC10"]),
    "GA_REFUTED": FailingCase(
        theory(CHAIN, "OP9", assumptions={"AS1": "AC1", "AS2": "OC1->G1", "AS3": "OP9", "AS4": "OC1"}),
        ["AS1", "AS2"],
        nothing=theory(CHAIN, "OP9", assumptions={"AS3": "OP9"}),
        observations=make_observations(
            reviewed={"AS1": "refuted", "AS2": "refuted", "AS3": "refuted", "AS4": "at_risk"}
        ),
    ),
    "GA_RLS": FailingCase(
        theory(CHAIN),
        [],
        nothing=theory(CHAIN),
        outside=ExternalFacts(row_security=["a table has three policies"]),
        nothing_outside=UNKNOWN,
    ),
    "GA_SELF_EDGE": FailingCase(theory(CHAIN, "OC1->OC1/FEEDBACK"), ["OC1->OC1/FEEDBACK"]),
    "GA_STRUCTURE": FailingCase(
        theory(
            CHAIN,
            nodes={
                "OC1": {"metadata": {"parent_id": "G1"}},
                "OP1": {"metadata": {"layout": {"children": ["AC1"]}}},
                "AC1": {"metadata": {"parent": "teachers and parents"}},
            },
        ),
        ["OC1", "OP1"],
        nothing=EMPTY,
    ),
    "GA_TITLE": FailingCase(
        theory(
            CHAIN,
            "OC2",
            "OC3",
            "OP2",
            nodes={
                "OC1": {"title": "Caf\u00e9 open"},
                "OC2": {"title": " CAFE\u0301  OPEN "},
                "OP1": {"title": "Rain"},
                "AC1": {"title": "rain"},
                "OC3": {"title": " "},
            },
        ),
        ["OC1", "OC2", "OC3", "OP1", "AC1"],
        nothing=EMPTY,
        in_strict=["OC1", "OC2", "OC3"],
    ),
    "GA_TYPE_CHAIN": FailingCase(
        theory(CHAIN, "OC2 -> OP2", "OC1 -> OC2", "OP1 -> G1", "G1->AC1/FEEDBACK"),
        ["OC2->OP2"],
        in_strict=["OC1->OC2", "OC2->OP2", "OP1->G1"],
    ),
    "GB_BASELINE": FailingCase(
        theory(CHAIN, indicators={"IN1": "OC1", "IN2": {"on": "G1", "baseline": 0}, "IN3": "OP1"}), ["IN1"]
    ),
    "GB_FACTS": FailingCase(
        theory(CHAIN),
        ["/a", "/b"],
        nothing=theory(CHAIN),
        outside=ExternalFacts(context=ContextFacts(run="run", required_unset=["/b", "/a"])),
        nothing_outside=ExternalFacts(context=ContextFacts()),
    ),
    "GB_INDICATORS": FailingCase(
        theory(CHAIN, "OC2 -> G1", indicators={"IN1": "OC2", "IN2": "OP1"}), ["OC1"], nothing=None
    ),
    "GB_PLAN": FailingCase(
        theory(
            CHAIN,
            indicators={
                "IN1": {"on": "AC1", "method": "m", "frequency": "f", "owner": "ada"},
                "IN2": {"on": "AC1", "method": "m", "frequency": "f"},
                "IN3": {"on": "AC1", "method": "m", "owner": "ada"},
                "IN4": {"on": "AC1", "frequency": "f", "owner": "ada"},
            },
        ),
        ["IN2", "IN3", "IN4"],
    ),
    "GB_TARGET": FailingCase(
        theory(CHAIN, indicators={"IN1": {"on": "OC1", "baseline": 1}, "IN2": {"on": "G1", "target": 0}, "IN3": "OP1"}),
        ["IN1"],
    ),
    "GB_VERIFIED": FailingCase(
        theory(
            CHAIN,
            indicators={
                "IN1": {"on": "AC1", "baseline": 1, "baseline_verified": False},
                "IN2": {"on": "AC1", "baseline": 1},
                "IN3": {"on": "AC1", "baseline": 1, "baseline_verified": True},
            },
        ),
        ["IN1"],
        nothing=theory(CHAIN, indicators={"IN1": "OC1"}),
    ),
    "GB_WORK": FailingCase(
        theory(CHAIN, "AC2", "AC3"),
        ["AC2", "AC3"],
        nothing=theory(CHAIN),
        outside=ExternalFacts(served={"AC1": 2, "AC2": 0}),
        nothing_outside=UNKNOWN,
    ),
}


def gate_of(code: str) -> Gate:
    return "A" if code.startswith("GA_") else "B"


def run(
    gate: Gate,
    content: Content,
    observations: Observations = NOTHING_OBSERVED,
    *,
    profile: Profile = Profile.STANDARD,
    outside: ExternalFacts = FINE,
    today: str = TODAY,
) -> GateResult:
    found = run_gate(gate, content, observations, profile=profile, external_facts=outside, today=today)
    return found.describe(OPERATION_NAMES)


def check(
    code: str,
    content: Content,
    observations: Observations = NOTHING_OBSERVED,
    *,
    profile: Profile = Profile.STANDARD,
    outside: ExternalFacts = FINE,
    today: str = TODAY,
) -> Check:
    """Return the result of one check."""
    result = run(gate_of(code), content, observations, profile=profile, outside=outside, today=today)
    return next(one for one in result.checks if one.code == code)
