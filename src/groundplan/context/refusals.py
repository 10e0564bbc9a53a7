"""Errors for the rules that both the code and the table triggers enforce, and the error classes of the contract.

The adapter raises the classes of the contract; each is also an error of its family.

    PcivAuthRequiredError        no actor is given                         Unauthenticated
    PcivRlsDeniedError           the role does not allow it, or the actor  Forbidden or NotFound
                                 may not see it
    PcivRuntimeInvariantError    a run breaks an invariant                 RuleViolated

For `NoContext` the contract has a text instead of a class; only the adapter raises it with that text, because others do
not know its words. The last owner is a rule of the kernel, but its code is one of the contract, where a project is a
scope. The invariants of the contract are checked on every view before it is returned.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import UNSET

from groundplan.context.schemas import InputRow, PcivConstraintV1, PcivContextViewV1, RunStatus, ValueKind
from groundplan.kernel.errors import (
    Conflict,
    Forbidden,
    GroundplanError,
    NotFound,
    RuleViolated,
    Steps,
    Unauthenticated,
)
from groundplan.kernel.store.schema import ErrorFactory, make_error_factory


class LastOwner(RuleViolated):
    """The change would leave the project without an owner."""

    code = "pciv_scope_members_last_owner_forbidden"

    def __init__(self, table: str) -> None:
        super().__init__("the last owner cannot be removed or given a lower role; add another owner first")


class RequiredUnset(RuleViolated):
    """A complete commit lacks a value for a required input."""

    code = "required_inputs_unset"


class SourceMissing(RuleViolated):
    """A source-backed value has no source at the commit."""

    code = "source_missing"


class LowerProvenance(RuleViolated):
    """The current value has a higher provenance or was set by a person, and no person has decided to replace it."""

    code = "lower_provenance"


class NotAnOption(RuleViolated):
    """The value of an enum input is not one of its options."""

    code = "not_an_option"


class DisplacesUserEntered(RuleViolated):
    """The commit would displace facts that a person entered, and the actor is not a person."""

    code = "displaces_user_entered"


class StaleBase(Conflict):
    """The draft and the run in force differ in what both changed since the base of the draft."""

    code = "stale_base"


class DropsFacts(Conflict):
    """A draft that began empty lacks facts that are in force."""

    code = "drops_facts"


class PersonRequired(RuleViolated):
    """The request deletes a committed run, and the actor is not a person."""

    code = "person_required"


class RunBound(RuleViolated):
    """A published version rests on the run, so the run cannot be deleted."""

    code = "run_bound"


REFUSALS: dict[str, ErrorFactory] = {
    "last_owner": LastOwner,
    "required_unset": make_error_factory(
        RequiredUnset, "a required input is not set; set it, or allow a partial commit"
    ),
    "source_missing": make_error_factory(SourceMissing, "a source-backed value names no source; link one"),
    "lower_provenance": make_error_factory(
        LowerProvenance, "the current value has a higher provenance, or a person set it; suggest a replacement instead"
    ),
    "not_an_option": make_error_factory(NotAnOption, "the value is not one of the options"),
    "displaces_user_entered": make_error_factory(
        DisplacesUserEntered, "the run displaces what a person entered; let a person commit it"
    ),
    "stale_base": make_error_factory(StaleBase, "another run was committed meanwhile; commit again to merge with it"),
    "person_required": make_error_factory(PersonRequired, "only a person can delete a committed run"),
    "run_bound": make_error_factory(RunBound, "a published version rests on this run"),
}


class NoContext(NotFound):
    """The scope has no committed run."""

    code = "no_context"
    contract_text = "No committed PCIV v1 context found"

    def __init__(self, scope_id: str, *, of_user: bool = False, hint: str = "", next_steps: Steps = ()) -> None:
        whose = "this user" if of_user else repr(scope_id)
        problem = f"no facts of {whose} are committed" + (f"; {hint}" if hint else "")
        GroundplanError.__init__(self, problem, next_steps=next_steps, scopeId=scope_id)


class PcivAuthRequiredError(Unauthenticated):
    """The request names no actor."""

    contract_name = "PcivAuthRequiredError"


class PcivRlsDeniedError(Exception):
    """The actor's role does not allow this, or the thing does not exist for the actor; the error family tells which."""


class _DeniedByRole(Forbidden, PcivRlsDeniedError):
    """The actor's role does not allow this."""

    contract_name = "PcivRlsDeniedError"


class _DeniedOrMissing(NotFound, PcivRlsDeniedError):
    """The thing does not exist, or this actor may not see it. Both cases give the same answer."""

    contract_name = "PcivRlsDeniedError"


_CONTRACT_CLASSES: dict[type[GroundplanError], type[GroundplanError]] = {
    Unauthenticated: PcivAuthRequiredError,
    Forbidden: _DeniedByRole,
    NotFound: _DeniedOrMissing,
}


def to_contract_error(error: GroundplanError) -> GroundplanError:
    """Return the error as its class in the contract, with the same content; itself if the contract has no class."""
    if isinstance(error, NoContext):
        error.problem = error.contract_text
    if error.contract_name is not None or (isinstance(error, NotFound) and not error.may_be_hidden):
        return error
    for family, contract_class in _CONTRACT_CLASSES.items():
        if isinstance(error, family):
            named = contract_class.__new__(contract_class, *error.args)
            named.__dict__.update(error.__dict__)
            named.code = error.code
            return named
    return error


class Invariant(StrEnum):
    """The names of the invariants in the contract."""

    SCHEMA_VALIDATION = "schema_validation"
    INPUT_KEYS = "inputsByPointer_key_mismatch"
    SOURCE_KEYS = "sourcesById_key_mismatch"
    SOURCE_REFERENCES = "input_source_reference_broken"
    COMMITTED_AT = "committed_status_without_timestamp"
    DRAFT_AT = "draft_status_with_timestamp"
    VALUE_COLUMNS = "pciv_value_columns_match_kind"


class PcivRuntimeInvariantError(RuleViolated):
    """A run breaks a runtime invariant of the contract."""

    code = "pciv_v1_runtime_invariant_failed"
    contract_name = "PcivRuntimeInvariantError"

    def __init__(
        self, invariant: Invariant, problem: str, *, scope_id: str | None, run_id: str, field: str | None = None
    ) -> None:
        given = {"scopeId": scope_id, "runId": run_id, "field": field}
        details = {"invariantName": invariant.value} | {name: ref for name, ref in given.items() if ref is not None}
        super().__init__(f"{self.code}: {problem}")
        self.details = details


def check_view(view: PcivContextViewV1) -> None:
    """Check all invariants of a view.

    The database enforces them too. They are checked again because consumers rely on them, and a file written by another
    program or an older version must be noticed here.
    """
    run = view.run

    def broken(invariant: Invariant, problem: str) -> PcivRuntimeInvariantError:
        return PcivRuntimeInvariantError(invariant, problem, scope_id=run.scope_id, run_id=run.id)

    if run.status is RunStatus.DRAFT:
        if run.committed_at is not None:
            raise broken(Invariant.DRAFT_AT, "a draft has a commit time")
    elif run.committed_at is None:
        raise broken(Invariant.COMMITTED_AT, "a committed run has no commit time")
    sources = view.sources_by_id
    for id_, source in sources.items():
        if source.id != id_:
            raise broken(Invariant.SOURCE_KEYS, f"source {source.id} is listed under {id_}")
    for pointer, row in view.inputs_by_pointer.items():
        if row.pointer != pointer:
            raise broken(Invariant.INPUT_KEYS, f"the input at {row.pointer} is listed under {pointer}")
        if row.source_ids and not sources.keys() >= set(row.source_ids):
            raise broken(Invariant.SOURCE_REFERENCES, f"the input at {pointer} names a source that is not in the run")
        check_value_columns(row, scope_id=run.scope_id)
    for constraint in view.constraints:
        check_value_columns(constraint, scope_id=run.scope_id)


def check_value_columns(fact: InputRow | PcivConstraintV1, *, scope_id: str | None = None) -> None:
    """Raise PcivRuntimeInvariantError if an input or a constraint has a value outside of the column of its kind.

    A fact without any value is UNSET, which is right for every kind.
    """
    kind = fact.value_kind
    columns = (fact.value_string, fact.value_number, fact.value_boolean, fact.value_enum, fact.value_json)
    for column, held in zip(ValueKind, columns, strict=True):
        if held is not None and held is not UNSET and column is not kind:
            name = f"constraint {fact.key}" if isinstance(fact, PcivConstraintV1) else f"the input at {fact.pointer}"
            problem = f"{name} is of kind {kind} and has a value in the column of a {column}"
            raise PcivRuntimeInvariantError(Invariant.VALUE_COLUMNS, problem, scope_id=scope_id, run_id=fact.run_id)
