"""Captions shared by the readable formats: versions, assumptions, edges, waivers."""

from __future__ import annotations

from groundplan.purpose.exchange.theory import Theory
from groundplan.purpose.model import Assumption, AssumptionStatus, EdgeType, PurposeEdge
from groundplan.purpose.observing.records import Waiver
from groundplan.purpose.picture.tokens import STATUS_NAMES


def describe_version(theory: Theory) -> str:
    """Describe a version: `wells, v2 Two wells, profile standard`."""
    return f"{theory.project}, {theory.display_name}, profile {theory.profile}"


def describe_assumption(theory: Theory, assumption: Assumption) -> str:
    """Describe an assumption in short: `AS3 HIGH, at risk`. Unknown risk or status is left out."""
    risk = "" if assumption.risk_level is None else f" {assumption.risk_level}"
    status = theory.get_status(assumption.key)
    return f"{assumption.key}{risk}" + ("" if status is AssumptionStatus.UNTESTED else f", {STATUS_NAMES[status]}")


def describe_edge(edge: PurposeEdge) -> list[str]:
    """Describe an edge: its type, unless CONTRIBUTES_TO, and its confidence."""
    parts: list[str] = [] if edge.edge_type is EdgeType.CONTRIBUTES_TO else [edge.edge_type]
    return parts if edge.confidence is None else [*parts, f"confidence {edge.confidence}"]


def describe_waiver(waiver: Waiver) -> str:
    """Describe a waiver. Without refs it covers the check as a whole."""
    about = f" on {', '.join(waiver.refs)}" if waiver.refs else ""
    return f"{waiver.code}{about}: {waiver.reason} ({waiver.owner} answers for it until {waiver.due})"
