"""The provenance of written values, and the actors that may set or change it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias, TypeVar

from msgspec import UNSET, UnsetType

from groundplan.context.schemas import ConstraintWrite, InputRow, InputWrite, PcivConstraintV1, Provenance, UpdatedBy
from groundplan.context.values import Value, get_typed_value
from groundplan.kernel.actors import Actor, ActorKind
from groundplan.kernel.errors import NextStep, RuleViolated
from groundplan.kernel.wording import ArgumentPath, format_argument_path

T = TypeVar("T")

FactRow: TypeAlias = InputRow | PcivConstraintV1

WRITER_BY_ACTOR_KIND: Mapping[ActorKind, UpdatedBy] = {
    ActorKind.PERSON: UpdatedBy.USER,
    ActorKind.AGENT: UpdatedBy.MODEL,
    ActorKind.SERVICE: UpdatedBy.SYSTEM,
}


class ProposedValue(NamedTuple):
    """A value with its provenance, its sources and the reason for it."""

    value: Value
    provenance: Provenance
    source_ids: list[str]
    snippet: str | None
    rationale: str | None


class ProvenanceNotAllowed(RuleViolated):
    """The request claims or changes a value of a person, or decides on a suggestion, and the actor is not a person."""

    code = "provenance_not_allowed"

    def __init__(self, what: str, advice: str | NextStep, path: ArgumentPath) -> None:
        field = format_argument_path(path)
        problem = f"{field}: only a person can {what}"
        if isinstance(advice, NextStep):
            super().__init__(problem, next_steps=advice, field=field)
        else:
            super().__init__(f"{problem}; {advice}", field=field)


class ValueOfUnknown(RuleViolated):
    """The request gives a value to a fact of unknown provenance."""

    code = "unknown_has_no_value"

    def __init__(self, path: ArgumentPath) -> None:
        field = format_argument_path(path)
        super().__init__(
            f"{field} is unknown, but there is a value; state where the value comes from, or set the value to null",
            field=field,
        )


def classify_writer(actor: Actor) -> UpdatedBy:
    """Return the kind of writer that corresponds to an actor. A request cannot override it."""
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
    """Return the provenance of a value after a request: the given one, else the current one, else a default."""
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
    was_entered = before is not None and before.provenance is Provenance.USER_ENTERED and is_set_by_person(before)
    if actor.kind is ActorKind.PERSON and was_entered:
        return Provenance.USER_ENTERED  # even with a source: it remains the person's value
    if has_source:
        return Provenance.SOURCE_BACKED
    if before is None and value.is_unset:
        return Provenance.UNKNOWN
    if actor.kind is ActorKind.PERSON:
        return Provenance.USER_ENTERED
    is_guess = before is not None and before.provenance is Provenance.MODEL_INFERRED
    return Provenance.UNKNOWN if value.is_unset and not is_guess else Provenance.MODEL_INFERRED


def _is_unchanged_user_value(value: Value, before: FactRow | None) -> bool:
    """Return True if a request repeats a user-entered value unchanged, as when a client writes back what it read."""
    return before is not None and before.provenance is Provenance.USER_ENTERED and get_typed_value(before).equals(value)


def require_person(actor: Actor, verb: str, suggestion_id: str, run_id: str) -> None:
    """Refuse actors other than a person: only a person accepts or rejects a suggestion."""
    if actor.kind is not ActorKind.PERSON:
        step = NextStep("context.edit", f"{verb}s it, if a person calls it", {"runId": run_id, verb: [suggestion_id]})
        raise ProvenanceNotAllowed(f"{verb} suggestions", step, (verb,))


def needs_approval(actor: Actor, value: Value, provenance: Provenance, before: FactRow, *, has_source: bool) -> bool:
    """Return True if a value must wait for a person, because of who set the current value, or its provenance.

    What a person set gives way to persons alone. A new value without a source, or clearing a value, counts at most as
    model-inferred unless a person does it. Otherwise a source-backed value could be cleared first and then replaced by
    a guess.
    """
    current = get_typed_value(before)
    rank = provenance.rank
    if actor.kind is not ActorKind.PERSON:
        if is_set_by_person(before):
            return True
        if not value.equals(current) and not (has_source and not value.is_unset):
            rank = min(rank, Provenance.MODEL_INFERRED.rank)
    return not current.is_unset and rank < before.provenance.rank


def replaces_value(value: Value, current: Value | None) -> bool:
    """Return True if a value replaces a different one."""
    return current is not None and not current.is_unset and not value.equals(current)


def is_set_by_person(row: FactRow) -> bool:
    """Return True if a row holds a value and a person wrote it last, whatever its provenance."""
    is_persons = row.updated_by is UpdatedBy.USER or row.provenance is Provenance.USER_ENTERED
    return is_persons and not get_typed_value(row).is_unset


def refuse_redefinition(actor: Actor, before: FactRow | None, path: ArgumentPath) -> None:
    """Refuse actors other than a person that change the description of a person's value, and so its meaning."""
    if before is not None and actor.kind is not ActorKind.PERSON and is_set_by_person(before):
        raise ProvenanceNotAllowed("change the description of a value that a person set", "suggest a value", path)


def unset_to_none(value: T | UnsetType) -> T | None:
    """Return the value, or None for UNSET."""
    return None if isinstance(value, UnsetType) else value
