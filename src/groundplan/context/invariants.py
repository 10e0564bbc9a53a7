"""The runtime invariants of the contract, checked on every view before it is returned.

The database enforces them too. They are checked again because consumers rely on them, and a file written by another
program or an older version must be noticed here.
"""

from __future__ import annotations

from enum import StrEnum

from groundplan.context.schemas import PcivConstraintV1, PcivContextViewV1, PcivInputV1, RunStatus, ValueKind
from groundplan.kernel.errors import RuleViolated


class Invariant(StrEnum):
    """The names that the contract gives to its invariants."""

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
        self, invariant: Invariant, problem: str, *, scope_id: str, run_id: str, field: str | None = None
    ) -> None:
        details = {"invariantName": invariant.value, "scopeId": scope_id, "runId": run_id}
        if field is not None:
            details["field"] = field
        super().__init__(f"{self.code}: {problem}")
        self.details = details


def check_view(view: PcivContextViewV1) -> None:
    """Check all invariants of a view.

    Raises:
        PcivRuntimeInvariantError: an invariant does not hold; the details name it.
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
    for pointer, one in view.inputs_by_pointer.items():
        if one.pointer != pointer:
            raise broken(Invariant.INPUT_KEYS, f"the input at {one.pointer} is listed under {pointer}")
        if one.source_ids and not sources.keys() >= set(one.source_ids):
            raise broken(Invariant.SOURCE_REFERENCES, f"the input at {pointer} names a source that is not in the run")
        if not value_matches_kind(one):
            raise broken(Invariant.VALUE_COLUMNS, f"the input at {pointer} has a value in a column of another kind")
    for constraint in view.constraints:
        if not value_matches_kind(constraint):
            raise broken(Invariant.VALUE_COLUMNS, f"constraint {constraint.id} has a value in a column of another kind")


def value_matches_kind(one: PcivInputV1 | PcivConstraintV1) -> bool:
    """Return whether no column but that of the row's kind holds a value."""
    kind = one.value_kind
    return (
        (one.value_string is None or kind is ValueKind.STRING)
        and (one.value_number is None or kind is ValueKind.NUMBER)
        and (one.value_boolean is None or kind is ValueKind.BOOLEAN)
        and (one.value_enum is None or kind is ValueKind.ENUM)
        and (one.value_json is None or kind is ValueKind.JSON)
    )
