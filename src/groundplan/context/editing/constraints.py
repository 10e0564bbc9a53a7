"""Add and change constraints: what must hold, and where that comes from."""

from __future__ import annotations

from msgspec import UNSET, structs

from groundplan.context.editing.claims import (
    Claim,
    claimed_provenance,
    given_or_none,
    is_another,
    must_wait,
    refuse_redefinition,
)
from groundplan.context.editing.inputs import DOMAIN, LastSource
from groundplan.context.editing.rows import (
    add_row,
    change_row,
    changes_between,
    given,
    new_row,
    own_row,
    refuse_other_run,
)
from groundplan.context.editing.sources import checked_source
from groundplan.context.editing.suggesting import About, Suggested, suggest
from groundplan.context.events import Op
from groundplan.context.schemas import ConstraintWrite, PcivConstraintV1, Provenance
from groundplan.context.values import Value, typed_value, written_value
from groundplan.kernel.input_gate.shapes import missing
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import Path

sql = load_queries(__file__)


def write_constraint(
    tx: Transaction, run_id: str, write: ConstraintWrite, path: Path, *, fresh: str
) -> tuple[str, str, Suggested | None]:
    """Add a constraint, or change the one with this id. Gives its id and key, and what was suggested instead.

    Raises:
        PcivRuntimeInvariantError: a value stands in the column of another kind, or there are several.
        ProvenanceNotAllowed: this is for a person to say or to change.
        IdTaken: the id that it shall have is that of something else.
        NotFound: its source is not in this run.
        LastSource: it is source-backed and would lose its source.
        ValueOfUnknown: it has a value and is said to be unknown.
    """
    refuse_other_run(write.run_id, run_id, path)
    id_, before = own_row(tx, sql.constraint, PcivConstraintV1, write.id, run_id, path, fresh)
    stood = None if before is None else typed_value(before)
    value, is_given = written_value(write, stood, path, scope_id=tx.project.name, run_id=run_id)
    source_id = given_or_none(write.source_id)
    if source_id is not None:
        source_id = checked_source(tx, run_id, source_id, (*path, "sourceId"))
    provenance = claimed_provenance(
        tx.actor, write, value, before, is_given=is_given, has_source=source_id is not None, path=path
    )
    if before is not None and must_wait(tx.actor, value, provenance, before, has_source=source_id is not None):
        stands = before.provenance
        if is_another(value, stood):
            about = About(run_id, constraint_id=id_, key=before.key)
            cited = [] if source_id is None else [source_id]
            claim = Claim(value, provenance, cited, given_or_none(write.snippet), write.rationale)
            return id_, before.key, suggest(tx, about, claim, stands=stands)
        provenance = stands  # the same value with less to say for it: what else is said counts
    after = _row(tx, write, before, value, provenance, id_, run_id, path)
    if is_another(value, stood):
        # What was said for the value that goes says nothing for this one.
        after.source_id, after.snippet = source_id, given_or_none(write.snippet)
    elif write.source_id is not UNSET:
        after.source_id = source_id
    _refuse_unbacked(write, before, after, path)
    if changes := changes_between(before, after):
        refuse_redefinition(tx.actor, before, path)
        if before is None:
            add_row(tx, sql.add_constraint, after, path)
        else:
            change_row(tx, sql.change_constraint, after)
        op = Op.CONSTRAINT_ADDED if before is None else Op.CONSTRAINT_CHANGED
        tx.record(op, id_, *changes, decision=write.rationale)
    return id_, after.key, None


def _refuse_unbacked(
    write: ConstraintWrite, before: PcivConstraintV1 | None, after: PcivConstraintV1, path: Path
) -> None:
    """What is source-backed keeps its source. One that never had any may wait for it until the commit."""
    had_source = before is not None and before.source_id is not None
    is_backed = after.provenance is Provenance.SOURCE_BACKED and not typed_value(after).is_unset
    if write.source_id is not UNSET and had_source and is_backed and after.source_id is None:
        raise LastSource(after.key, (*path, "sourceId"))


def _row(
    tx: Transaction,
    write: ConstraintWrite,
    before: PcivConstraintV1 | None,
    value: Value,
    provenance: Provenance,
    id_: str,
    run_id: str,
    path: Path,
) -> PcivConstraintV1:
    """A constraint as the request wants it."""
    fields = given(write, "key", "domain", "label", "snippet")
    if before is None:
        for name in ("key", "label"):
            if name not in fields:
                raise missing(name, path, wanted="a string")
        before = new_row(PcivConstraintV1, id=id_, run_id=run_id, domain=DOMAIN, created_at=tx.now)
    return structs.replace(before, **fields, **value.columns(), provenance=provenance)
