"""The briefing of a task as callers see it: why it is done, and what is known that bears on it."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.answers import LeftOut


class Via(Struct):
    """The edge by which a step leads to the next one."""

    to: str
    mechanism: str | UnsetType = UNSET
    confidence: str | UnsetType = UNSET


class AssumptionNote(Struct):
    """An assumption of a step or of its edge; refuted also if newer evidence than its latest review refutes it."""

    key: str
    text: str
    risk: str | UnsetType
    status: str


class WhyStep(Struct, kw_only=True):
    """A purpose node between the task and a goal. A key that the purpose has lost is only `dangling`."""

    key: str
    type: str | UnsetType = UNSET
    title: str | UnsetType = UNSET
    via: Via | UnsetType = UNSET
    assumptions: list[AssumptionNote] | UnsetType = UNSET
    dangling: bool | UnsetType = UNSET


class MarkNote(Struct):
    """An assumption in doubt or a changed fact that the task depends on, until a decision about it is recorded."""

    ref: str
    status: str  # refuted, at_risk, changed or removed
    path: list[str]  # from what the task serves, or from the node that rests on the fact


class FactNote(Struct, kw_only=True):
    """A fact of the run in force. `excerpt` is the beginning of a text that did not fit.

    `changed`: the task or its purpose rests on a former value, which is in `changed_from` if it is short.
    """

    pointer: str
    label: str
    value: Any = UNSET
    excerpt: str | UnsetType = UNSET
    provenance: str
    changed: bool | UnsetType = UNSET
    changed_from: Any = UNSET


class ConstraintNote(Struct, kw_only=True):
    """A constraint of the run in force."""

    key: str
    value: Any = UNSET
    excerpt: str | UnsetType = UNSET
    provenance: str


class KnowledgeNote(Struct, kw_only=True):
    """What to know about the files of the task."""

    id: str
    name: str
    freshness: Any = UNSET  # as `knowledge.context` returns it, if the atom was checked
    text: str | UnsetType = UNSET
    excerpt: str | UnsetType = UNSET


class BeforeNote(Struct):
    """What was resolved before the task, with its evidence."""

    id: str
    summary: str
    evidence: list[Any] | UnsetType = UNSET


class OverlapNote(Struct):
    """Work in progress on the same files."""

    id: str
    summary: str
    claimed_by: str | None
    paths: list[str]


class DecisionNote(Struct, kw_only=True):
    """A decision that binds the task; one that no longer does names the decision in its place."""

    text: str | UnsetType = UNSET
    excerpt: str | UnsetType = UNSET
    at: str
    replaced_by: str | UnsetType = UNSET


class Briefing(Struct, kw_only=True):
    """Why a task is done, and what bears on it. `left_out` counts what did not fit; `more` names calls that get it."""

    why: list[WhyStep] | UnsetType = UNSET
    marks: list[MarkNote] | UnsetType = UNSET  # only if there are some
    facts: list[FactNote] | UnsetType = UNSET
    missing: list[str] | UnsetType = UNSET
    constraints: list[ConstraintNote] | UnsetType = UNSET
    knowledge: list[KnowledgeNote] | UnsetType = UNSET
    before: list[BeforeNote] | UnsetType = UNSET
    overlap: list[OverlapNote] | UnsetType = UNSET
    decisions: list[DecisionNote] | UnsetType = UNSET
    left_out: LeftOut = UNSET
    more: list[str] | UnsetType = UNSET
