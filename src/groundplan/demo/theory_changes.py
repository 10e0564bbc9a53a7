"""The later course of the example theory: observations, the second version, and a draft in progress."""

from __future__ import annotations

from typing import Any

from groundplan.demo.theory import Days, Ops
from groundplan.demo.work import DROP_DECISION, DROPPED_NODE

# Keys of the theory that the observations refer to.
SPRING, TRUST, KITCHENS = "AS4", "AS13", "OC4"


def first_observations(days: Days) -> dict[str, Ops]:
    """Return the observations before the second version; the important one is about the spring."""
    return {
        "measurements": [
            _make_measurement("IN1", 31, days.offset(-210), "data/households.csv"),
            _make_measurement("IN3", 40, days.offset(-210), "data/households.csv"),
            _make_measurement("IN4", 34, days.offset(-205), "data/households.csv"),
            _make_measurement("IN5", 46, days.offset(-190), "Logbooks of the district"),
        ],
        "reviews": [
            {
                "assumption": SPRING,
                "status": "refuted",
                "reason": DROPPED_NODE[1],
                "evidence": "maps/springs.geojson",
            },
            {
                "assumption": "AS3",
                "status": "holding",
                "reason": "No arsenic in any of 22 old wells",
                "evidence": "data/wells.csv",
            },
        ],
        "decisions": [
            {
                "text": DROP_DECISION,
                "rationale": DROPPED_NODE[1],
                "about": [SPRING, "OP3"],
                "outcome": "Version 2 does without the line",
            }
        ],
        "waivers": [
            {
                "code": "GA_OUTCOME_COVERAGE",
                "refs": [KITCHENS],
                "reason": "Nobody has found a way yet to see clean cans without looking into kitchens",
                "owner": "cleo",
                "due": days.offset(150),
            }
        ],
    }


def second_version(days: Days) -> Ops:
    """Return the edits of the second version, which drops the spring."""
    return [
        {"op": "remove_node", "node": "AC7"},
        {"op": "remove_node", "node": "OP3"},
        {
            "op": "update_node",
            "node": "OP2",
            "title": "Fourteen wells with a hand pump, an apron and a drain",
            "description": "Twelve, and two for the hamlets that the line was meant for.",
        },
        {"op": "update_indicator", "indicator": "IN8", "unit": "of 14", "target": 14},
        # The fee pays for what a village decides on, so it does not lead to repairs directly.
        {"op": "remove_edge", "source": "OP7", "target": "OC3"},
        {
            "op": "add_edge",
            "source": "OP7",
            "target": "OC5",
            "mechanism": "Who pays has a say, and wants to see what for",
            "confidence": "low",
        },
        {
            "op": "add_assumption",
            "source": "OP7",
            "target": "OC5",
            "assumption_text": "Households trust the council with the money",
            "risk_level": "HIGH",
            "owner": "ada",
            "review_by": days.offset(60),
        },
        {"op": "update_edge", "source": "OP4", "target": "OC1", "confidence": "medium"},
        {
            "op": "add_node",
            "ref": "evening",
            "node_type": "ACTIVITY",
            "title": "Open the books of the fee once a year",
            "description": "On an evening at the well.",
            "owner": "ada",
        },
        {
            "op": "add_edge",
            "source": "evening",
            "target": "OP7",
            "mechanism": "What everybody can read needs no rumours",
            "confidence": "medium",
        },
    ]


def later_observations(days: Days) -> dict[str, Ops]:
    """Return the observations after the second version."""
    return {
        "measurements": [
            _make_measurement("IN1", 38, days.offset(-100), "Survey of eight villages"),
            _make_measurement("IN4", 27, days.offset(-100), "Survey of eight villages"),
            _make_measurement("IN5", 29, days.offset(-60), "Logbooks of the caretakers"),
            _make_measurement("IN8", 4, days.offset(-35), "Ben was there"),
            _make_measurement(
                "IN11", 58, days.offset(-30), "Books of nine councils", note="Two more keep no books yet"
            ),
            _make_measurement("IN5", 17, days.offset(-10), "Logbooks of the caretakers"),
        ],
        "reviews": [
            {
                "assumption": TRUST,
                "status": "at_risk",
                "reason": "Six of ten households pay, and in three villages nobody can say where the money is",
                "evidence": "Books of nine councils",
            },
            {"assumption": "AS2", "status": "holding", "reason": "The first four permits took seven weeks"},
        ],
    }


def draft_in_progress(days: Days) -> Ops:
    """Return the edits that an agent proposes for the next version."""
    return [
        {
            "op": "add_node",
            "ref": "books",
            "node_type": "OUTPUT",
            "title": "Books of the fee that anybody can read at the well",
            "description": "A page a month, next to the board with the tests.",
            "owner": "ada",
        },
        {
            "op": "add_edge",
            "source": "AC16",
            "target": "books",
            "mechanism": "The books of an evening stay where they were shown",
            "confidence": "medium",
        },
        {
            "op": "add_edge",
            "source": "books",
            "target": "OC5",
            "mechanism": "Who sees what was paid and for what pays again",
            "confidence": "low",
        },
        {
            "op": "add_assumption",
            "source": "books",
            "target": "OC5",
            "assumption_text": "Distrust, not poverty, keeps people from paying",
            "risk_level": "MEDIUM",
            "owner": "ben",
            "review_by": days.offset(90),
        },
        {
            "op": "add_indicator",
            "node": "books",
            "name": "Wells at which this month's page hangs",
            "unit": "of 14",
            "baseline": 0,
            "target": 14,
        },
    ]


def _make_measurement(indicator: str, value: float, as_of: str, source: str, **others: str) -> dict[str, Any]:
    return {"indicator": indicator, "value": value, "as_of": as_of, "source": source, **others}
