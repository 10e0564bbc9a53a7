"""What a writer claims of a value: where it comes from, and whether they can say so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias, TypeVar

from msgspec import UNSET, UnsetType

from groundplan.context.schemas import ConstraintWrite, InputRow, InputWrite, PcivConstraintV1, Provenance, UpdatedBy
from groundplan.context.values import Value, typed_value
from groundplan.kernel.actors import Actor, ActorKind
from groundplan.kernel.errors import RuleViolated
from groundplan.kernel.next_steps import NextStep
from groundplan.kernel.wording import ArgumentPath, format_argument_path

T = TypeVar("T")

FactRow: TypeAlias = InputRow | PcivConstraintV1

WRITER_BY_ACTOR_KIND: Mapping[ActorKind, UpdatedBy] = {
    ActorKind.PERSON: UpdatedBy.USER,
    ActorKind.AGENT: UpdatedBy.MODEL,
    ActorKind.SERVICE: UpdatedBy.SYSTEM,
}


class ProposedValue(NamedTuple):
    """A value, where it comes from, and why one should believe it."""

    value: Value
    provenance: Provenance
    source_ids: list[str]
    snippet: str | None
    rationale: str | None


class ProvenanceNotAllowed(RuleViolated):
    """Only a person enters values as a person, and decides on suggestions."""

    code = "provenance_not_allowed"

    def __init__(self, what: str, way_out: str | NextStep, path: ArgumentPath) -> None:
        field = format_argument_path(path)
        problem = f"{field}: only a person can {what}"
        if isinstance(way_out, NextStep):
            super().__init__(problem, next_steps=way_out, field=field)
        else:
            super().__init__(f"{problem}; {way_out}", field=field)


class ValueOfUnknown(RuleViolated):
    """What is unknown has no value."""

    code = "unknown_has_no_value"

    def __init__(self, path: ArgumentPath) -> None:
        field = format_argument_path(path)
        super().__init__(
            f"{field} is unknown, and there is a value; say where the value comes from, or send null for it",
            field=field,
        )


def classify_writer(actor: Actor) -> UpdatedBy:
    """What sort of writer an actor is. It follows from who they are, whatever a request says."""
    return WRITER_BY_ACTOR_KIND[actor.kind]


def resolve_provenance(
    actor: Actor,
    write: InputWrite | ConstraintWrite,
    value: Value,
    before: FactRow | None,
    *,
    is_given: bool,
    has_source: bool,
    path: ArgumentPath,
) -> Provenance:
    """Where a value comes from once a request was served: as it says, else as it is, else as one may assume.

    Raises:
        ProvenanceNotAllowed: somebody who is no person says that a person entered it.
        ValueOfUnknown: it is there, and said to be unknown.
    """
    where = (*path, "provenance")
    if write.provenance is not UNSET:
        if write.provenance is Provenance.USER_ENTERED and not (
            actor.kind is ActorKind.PERSON or _is_unchanged_user_value(value, before)
        ):
            raise ProvenanceNotAllowed(
                "write user-entered values", "write it as model-inferred, or as source-backed with its source", where
            )
        if write.provenance is Provenance.UNKNOWN and not value.is_unset:
            raise ValueOfUnknown(where)
        return write.provenance
    if not is_given:
        return Provenance.UNKNOWN if before is None else before.provenance
    if actor.kind is ActorKind.PERSON and before is not None and is_user_entered(before):
        return Provenance.USER_ENTERED  # also where they name a source: it is still theirs
    if has_source:
        return Provenance.SOURCE_BACKED
    if before is None and value.is_unset:
        return Provenance.UNKNOWN
    if actor.kind is ActorKind.PERSON:
        return Provenance.USER_ENTERED
    is_guess = before is not None and before.provenance is Provenance.MODEL_INFERRED
    return Provenance.UNKNOWN if value.is_unset and not is_guess else Provenance.MODEL_INFERRED


def _is_unchanged_user_value(value: Value, before: FactRow | None) -> bool:
    """Whether a value that a person entered is only sent back: whoever reads rows and writes them claims nothing."""
    return before is not None and before.provenance is Provenance.USER_ENTERED and typed_value(before).same_as(value)


def require_person(actor: Actor, verb: str, suggestion_id: str, run_id: str) -> None:
    """Let only a person accept or reject a suggestion.

    Raises:
        ProvenanceNotAllowed: it is somebody else.
    """
    if actor.kind is not ActorKind.PERSON:
        step = NextStep("context.edit", f"{verb}s it for a person", {"runId": run_id, verb: [suggestion_id]})
        raise ProvenanceNotAllowed(f"{verb} suggestions", step, (verb,))


def needs_approval(actor: Actor, value: Value, provenance: Provenance, before: FactRow, *, has_source: bool) -> bool:
    """Whether a value must wait for a person, because the one that stands is of higher provenance.

    Another value for which no source is named is no more than an inference, whatever is claimed of it, if it is no
    person who claims it; and so is that there is none. Else what was taken from a source could be cleared first and
    then filled in with a guess.
    """
    stood = typed_value(before)
    rank = provenance.rank
    if actor.kind is not ActorKind.PERSON and not value.same_as(stood) and not (has_source and not value.is_unset):
        rank = min(rank, Provenance.MODEL_INFERRED.rank)
    return not stood.is_unset and rank < before.provenance.rank


def replaces_value(value: Value, stood: Value | None) -> bool:
    """Whether a value takes the place of one that was there."""
    return stood is not None and not stood.is_unset and not value.same_as(stood)


def is_user_entered(row: FactRow) -> bool:
    """Whether a row holds a value that a person entered."""
    return row.provenance is Provenance.USER_ENTERED and not typed_value(row).is_unset


def refuse_redefinition(actor: Actor, before: FactRow | None, path: ArgumentPath) -> None:
    """Let only a person change what is said about a value that a person entered: its meaning would change with it.

    Raises:
        ProvenanceNotAllowed: it is somebody else.
    """
    if before is not None and actor.kind is not ActorKind.PERSON and is_user_entered(before):
        raise ProvenanceNotAllowed("change what is said of a value that a person entered", "suggest a value", path)


def unset_to_none(value: T | UnsetType) -> T | None:
    """What a request says, or nothing."""
    return None if isinstance(value, UnsetType) else value
