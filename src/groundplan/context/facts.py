"""Write inputs and constraints of a draft, and accept or reject the suggestions about them.

An accepted value becomes user-entered, whoever suggested it, so that no model replaces it again. The suggestion is kept
with its author, and its sources and snippet replace those of the old value.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import UNSET, UnsetType, structs

from groundplan.context.events import Op
from groundplan.context.provenance import (
    ProposedValue,
    ProvenanceNotAllowed,
    classify_writer,
    needs_approval,
    refuse_redefinition,
    replaces_value,
    resolve_provenance,
    unset_to_none,
)
from groundplan.context.refusals import NotAnOption
from groundplan.context.resolve import parse_id
from groundplan.context.rows import (
    KeyTaken,
    add_row,
    change_row,
    diff_rows,
    get_given_fields,
    new_row,
    refuse_long_json,
    refuse_other_run,
    resolve_row,
    validate_source_id,
    validate_source_ids,
)
from groundplan.context.schemas import (
    OPTIONS_BYTES_MAX,
    TITLE_BYTES_MAX,
    ConstraintWrite,
    InputRow,
    InputWrite,
    PcivConstraintV1,
    Provenance,
    ValueKind,
)
from groundplan.context.suggestions import NewSuggestion, SuggestionRow, SuggestionTarget, decide, suggest
from groundplan.context.values import (
    DEFAULT_DOMAIN,
    Value,
    get_typed_value,
    load_row,
    load_rows,
    parse_value,
    split_pointer,
    validate_pointer,
)
from groundplan.kernel.actors import Actor, ActorKind
from groundplan.kernel.audit import changed
from groundplan.kernel.errors import NotFound, RuleViolated
from groundplan.kernel.ids import new_uuid
from groundplan.kernel.input_gate.types import missing_argument
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, format_argument_path, join_alternatives, quote_text

sql = load_queries(__file__)

# The field type of an input written without one.
DEFAULT_FIELD_TYPES = {ValueKind.BOOLEAN: "boolean", ValueKind.ENUM: "select"}


def outside_options(value: str, options: list[str], path: ArgumentPath) -> NotAnOption:
    """Return the refusal of a value that is not one of the options."""
    field = format_argument_path(path)
    allowed = (
        join_alternatives([quote_text(option) for option in options[:20]]) if options else "nothing: options is empty"
    )
    return NotAnOption(
        f"{field} is {quote_text(value)}, but the options are {allowed}", field=field, options=options[:20]
    )


class LastSource(RuleViolated):
    """The change would leave a source-backed value without a source."""

    code = "last_source"

    def __init__(self, pointer: str, path: ArgumentPath) -> None:
        field = format_argument_path(path)
        super().__init__(
            f"{field}: the value at {pointer} is source-backed and would be left without a source; link another one "
            "first, or change its provenance with its value",
            field=field,
            pointer=pointer,
        )


def load_inputs_at(tx: Transaction, run_id: str, pointers: Iterable[str]) -> list[InputRow]:
    """Return the inputs of a run at some pointers."""
    return load_rows(tx, sql.inputs_at, InputRow, run_id=run_id, pointers=to_json_array(sorted(set(pointers))))


class Inputs:
    """The inputs of one draft that a request names. They are read once."""

    def __init__(self, tx: Transaction, run_id: str, pointers: list[str]) -> None:
        self.tx = tx
        self.run_id = run_id
        rows = load_inputs_at(tx, run_id, pointers) if pointers else []
        self.by_pointer = {row.pointer: row for row in rows}
        self.sources: dict[str, set[str]] = {row.id: set() for row in rows}
        if rows:
            for input_id, source_id in tx.all(
                sql.links_of_inputs, run_id=run_id, ids=to_json_array(sorted(self.sources))
            ):
                self.sources[input_id].add(source_id)

    def link(self, input_id: str, source_ids: set[str]) -> None:
        """Add sources to an input."""
        fresh = sorted(source_ids - self.sources[input_id])
        rows = [
            {"project_id": self.tx.project.id, "run_id": self.run_id, "input_id": input_id, "source_id": id_}
            for id_ in fresh
        ]
        if rows:
            self.tx.run_many(sql.add_link, rows)
            self.tx.record(Op.LINKED, input_id, *(changed("source_id", None, id_) for id_ in fresh))
            self.sources[input_id] |= set(fresh)

    def unlink(self, input_id: str, source_ids: set[str]) -> None:
        """Remove sources from an input."""
        gone = sorted(source_ids & self.sources[input_id])
        for id_ in gone:
            self.tx.run(sql.remove_link, run_id=self.run_id, input_id=input_id, source_id=id_)
        if gone:
            self.tx.record(Op.UNLINKED, input_id, *(changed("source_id", id_, None) for id_ in gone))
            self.sources[input_id] -= set(gone)


def write_input(inputs: Inputs, write: InputWrite, path: ArgumentPath) -> tuple[str, NewSuggestion | None]:
    """Add or change the input at a pointer. Return its id, and a suggestion if one was stored instead of the change."""
    tx, run_id = inputs.tx, inputs.run_id
    refuse_other_run(write.run_id, run_id, path)
    pointer = validate_pointer(write.pointer, (*path, "pointer"))
    before = inputs.by_pointer.get(pointer)
    current = None if before is None else get_typed_value(before)
    value, is_given = parse_value(write, current, path, scope_id=tx.project.name, run_id=run_id)
    cited = (
        None if write.source_ids is UNSET else validate_source_ids(tx, run_id, write.source_ids, (*path, "sourceIds"))
    )
    provenance = resolve_provenance(
        tx.actor, write, value, before, is_given=is_given, has_source=bool(cited), path=path
    )
    if before is not None and needs_approval(tx.actor, value, provenance, before, has_source=bool(cited)):
        if replaces_value(value, current):
            refuse_outside_options(value, before.options, path)
            about = SuggestionTarget(run_id, input_id=before.id, pointer=pointer)
            snippet = unset_to_none(write.evidence_snippet)
            claim = ProposedValue(value, provenance, cited or [], snippet, write.rationale)
            return before.id, suggest(tx, about, claim, before)
        provenance = before.provenance  # the value is unchanged: keep its provenance and apply the other fields
    after = _build_input(tx, write, before, value, provenance, run_id, path)
    if replaces_value(value, current):
        # The evidence of the old value does not apply to the new one.
        after.evidence_snippet = unset_to_none(write.evidence_snippet)
        cited = cited or []
    refuse_outside_options(value, after.options, path)
    id_ = after.id
    if diff_rows(before, after):
        refuse_redefinition(tx.actor, before, path)
        _refuse_making_optional(tx.actor, before, after, path)
        after.updated_by, after.updated_at = classify_writer(tx.actor), tx.now
        if before is None:
            add_row(tx, sql.add_input, after, path)
        else:
            change_row(tx, sql.change_input, after)
        op = Op.INPUT_ADDED if before is None else Op.INPUT_CHANGED
        tx.record(op, id_, *diff_rows(before, after), decision=write.rationale)
    inputs.by_pointer[pointer] = after
    inputs.sources.setdefault(id_, set())
    if cited is not None and set(cited) != inputs.sources[id_]:
        refuse_redefinition(tx.actor, before, (*path, "sourceIds"))
        had_sources = bool(inputs.sources[id_])
        inputs.link(id_, set(cited))
        inputs.unlink(id_, inputs.sources[id_] - set(cited))
        if had_sources and write.source_ids is not UNSET:
            refuse_unbacked(inputs, pointer, (*path, "sourceIds"))
    return id_, None


def refuse_unbacked(inputs: Inputs, pointer: str, path: ArgumentPath) -> None:
    """Refuse a change that would leave a source-backed value without a source."""
    row = inputs.by_pointer[pointer]
    is_backed = row.provenance is Provenance.SOURCE_BACKED and not get_typed_value(row).is_unset
    if is_backed and not inputs.sources[row.id]:
        raise LastSource(pointer, path)


def _refuse_making_optional(actor: Actor, before: InputRow | None, after: InputRow, path: ArgumentPath) -> None:
    """Refuse an actor other than a person that makes a required input optional: complete commits become easier."""
    if before is not None and before.required and not after.required and actor.kind is not ActorKind.PERSON:
        raise ProvenanceNotAllowed("make a required input optional", "commit partially", (*path, "required"))


def refuse_outside_options(value: Value, options: list[str] | None, path: ArgumentPath) -> None:
    """Refuse an enum value that is not one of the options."""
    if value.kind is ValueKind.ENUM and not value.is_unset and options is not None and value.content not in options:
        raise outside_options(value.content, options, (*path, "valueEnum"))


def _build_input(
    tx: Transaction,
    write: InputWrite,
    before: InputRow | None,
    value: Value,
    provenance: Provenance,
    run_id: str,
    path: ArgumentPath,
) -> InputRow:
    """Return the input with the changes of the request."""
    given_id = None if write.id is None else parse_id(write.id, (*path, "id"))
    fields = get_given_fields(write, "label", "domain", "required", "field_type", "options", "evidence_snippet")
    if fields.get("options") is not None:
        refuse_long_json(fields["options"], (*path, "options"), OPTIONS_BYTES_MAX)
    if before is None:  # an existing input keeps its id: it is identified by its pointer
        fields.setdefault("label", _derive_label(write.pointer))
        before = new_row(
            InputRow,
            id=given_id or new_uuid(),
            run_id=run_id,
            pointer=write.pointer,
            domain=DEFAULT_DOMAIN,
            required=False,
            field_type=DEFAULT_FIELD_TYPES.get(value.kind, "text"),
            updated_by=classify_writer(tx.actor),
            updated_at=tx.now,
        )
    return structs.replace(before, **fields, **value.to_columns(), provenance=provenance)


def _derive_label(pointer: str) -> str:
    """Return the last step of a pointer, as much of it as a label can hold."""
    label = split_pointer(pointer)[-1] or pointer
    return label.encode()[:TITLE_BYTES_MAX].decode(errors="ignore")


def write_constraint(
    tx: Transaction, run_id: str, write: ConstraintWrite, path: ArgumentPath, *, new_id: str
) -> tuple[str, str, NewSuggestion | None]:
    """Add or change a constraint. Return its id, its key, and a suggestion if one was stored instead of the change."""
    refuse_other_run(write.run_id, run_id, path)
    id_, before = _resolve_constraint(tx, run_id, write, path, new_id)
    current = None if before is None else get_typed_value(before)
    value, is_given = parse_value(write, current, path, scope_id=tx.project.name, run_id=run_id)
    source_id = unset_to_none(write.source_id)
    if source_id is not None:
        source_id = validate_source_id(tx, run_id, source_id, (*path, "sourceId"))
    provenance = resolve_provenance(
        tx.actor, write, value, before, is_given=is_given, has_source=source_id is not None, path=path
    )
    if before is not None and needs_approval(tx.actor, value, provenance, before, has_source=source_id is not None):
        if replaces_value(value, current):
            about = SuggestionTarget(run_id, constraint_id=id_, key=before.key)
            cited = [] if source_id is None else [source_id]
            claim = ProposedValue(value, provenance, cited, unset_to_none(write.snippet), write.rationale)
            return id_, before.key, suggest(tx, about, claim, before)
        provenance = before.provenance  # the value is unchanged: keep its provenance and apply the other fields
    after = _build_constraint(tx, write, before, value, provenance, id_, run_id, path)
    if replaces_value(value, current):
        # The evidence of the old value does not apply to the new one.
        after.source_id, after.snippet = source_id, unset_to_none(write.snippet)
    elif write.source_id is not UNSET:
        after.source_id = source_id
    _refuse_unbacked(write, before, after, path)
    if diff_rows(before, after):
        refuse_redefinition(tx.actor, before, path)
        after.updated_by, after.updated_at = classify_writer(tx.actor), tx.now
        if before is None:
            add_row(tx, sql.add_constraint, after, path)
        else:
            change_row(tx, sql.change_constraint, after)
        op = Op.CONSTRAINT_ADDED if before is None else Op.CONSTRAINT_CHANGED
        tx.record(op, id_, *diff_rows(before, after), decision=write.rationale)
    return id_, after.key, None


def _resolve_constraint(
    tx: Transaction, run_id: str, write: ConstraintWrite, path: ArgumentPath, fresh: str
) -> tuple[str, PcivConstraintV1 | None]:
    """Return the id of a constraint, and the constraint if it is in this run. It is found by its id or its key.

    A key that is in use identifies its constraint, which keeps its id, as a pointer identifies an input.
    """
    id_, of_id = resolve_row(tx, sql.constraint, PcivConstraintV1, write.id, run_id, path, fresh)
    of_key = None if isinstance(write.key, UnsetType) else find_constraint(tx, run_id, write.key)
    if of_key is None:
        return id_, of_id
    if of_id is not None and of_id.id != of_key.id:
        raise KeyTaken(of_key.key, (*path, "key"))
    return of_key.id, of_key


def find_constraint(tx: Transaction, run_id: str, key: str) -> PcivConstraintV1 | None:
    """Return the constraint of a run that has a key."""
    return load_row(tx, sql.constraint_by_key, PcivConstraintV1, run_id=run_id, key=key)


def link_constraint(tx: Transaction, run_id: str, key: str, source_id: str, path: ArgumentPath) -> None:
    """Set the source of a constraint, which has at most one."""
    row, source = _resolve_link(tx, run_id, key, source_id, path)
    if row.source_id != source:
        refuse_redefinition(tx.actor, row, path)
        _set_source(tx, row, source)


def unlink_constraint(tx: Transaction, run_id: str, key: str, source_id: str, path: ArgumentPath) -> None:
    """Remove the source of a constraint."""
    row, source = _resolve_link(tx, run_id, key, source_id, path)
    if row.source_id != source:
        raise NotFound("link", f"{key} to {source}", field=format_argument_path(path))
    refuse_redefinition(tx.actor, row, path)
    if row.provenance is Provenance.SOURCE_BACKED and not get_typed_value(row).is_unset:
        raise LastSource(key, path)
    _set_source(tx, row, None)


def _resolve_link(
    tx: Transaction, run_id: str, key: str, source_id: str, path: ArgumentPath
) -> tuple[PcivConstraintV1, str]:
    row = find_constraint(tx, run_id, key)
    if row is None:
        field = format_argument_path((*path, "constraint"))
        raise NotFound("constraint", key, hint="write it to this run first", field=field)
    return row, validate_source_id(tx, run_id, source_id, (*path, "sourceId"))


def _set_source(tx: Transaction, row: PcivConstraintV1, source_id: str | None) -> None:
    tx.run(sql.set_constraint_source, run_id=row.run_id, id=row.id, source_id=source_id)
    tx.record(Op.CONSTRAINT_CHANGED, row.id, changed("source_id", row.source_id, source_id))


def _refuse_unbacked(
    write: ConstraintWrite, before: PcivConstraintV1 | None, after: PcivConstraintV1, path: ArgumentPath
) -> None:
    """Refuse to remove the only source of a source-backed value. A value without one may get a source later."""
    had_source = before is not None and before.source_id is not None
    is_backed = after.provenance is Provenance.SOURCE_BACKED and not get_typed_value(after).is_unset
    if write.source_id is not UNSET and had_source and is_backed and after.source_id is None:
        raise LastSource(after.key, (*path, "sourceId"))


def _build_constraint(
    tx: Transaction,
    write: ConstraintWrite,
    before: PcivConstraintV1 | None,
    value: Value,
    provenance: Provenance,
    id_: str,
    run_id: str,
    path: ArgumentPath,
) -> PcivConstraintV1:
    """Return the constraint with the changes of the request."""
    fields = get_given_fields(write, "key", "domain", "label", "snippet")
    if before is None:
        for name in ("key", "label"):
            if name not in fields:
                raise missing_argument(name, path, expected="a string")
        before = new_row(
            PcivConstraintV1,
            id=id_,
            run_id=run_id,
            domain=DEFAULT_DOMAIN,
            updated_by=classify_writer(tx.actor),
            created_at=tx.now,
            updated_at=tx.now,
        )
    return structs.replace(before, **fields, **value.to_columns(), provenance=provenance)


def accept(tx: Transaction, run_id: str, suggestion_id: str, path: ArgumentPath) -> None:
    """Replace the current value with a suggestion."""
    suggestion = decide(tx, run_id, suggestion_id, "accepted", path)
    value = get_typed_value(suggestion)
    if suggestion.input_id is None:
        _accept_constraint(tx, suggestion, value)
        return
    (before,) = load_rows(tx, sql.input, InputRow, run_id=run_id, id=suggestion.input_id)
    refuse_outside_options(value, before.options, path)
    after = structs.replace(
        before,
        **value.to_columns(),
        provenance=Provenance.USER_ENTERED,
        evidence_snippet=suggestion.snippet,
        updated_by=classify_writer(tx.actor),
        updated_at=tx.now,
    )
    change_row(tx, sql.change_input, after)
    tx.record(Op.INPUT_CHANGED, before.id, *diff_rows(before, after), decision=suggestion.rationale)
    inputs = Inputs(tx, run_id, [before.pointer])
    cited = set(suggestion.source_ids)
    inputs.link(before.id, cited)
    inputs.unlink(before.id, inputs.sources[before.id] - cited)


def _accept_constraint(tx: Transaction, suggestion: SuggestionRow, value: Value) -> None:
    (before,) = load_rows(tx, sql.constraint, PcivConstraintV1, run_id=suggestion.run_id, id=suggestion.constraint_id)
    after = structs.replace(
        before,
        **value.to_columns(),
        provenance=Provenance.USER_ENTERED,
        source_id=next(iter(suggestion.source_ids), None),
        snippet=suggestion.snippet,
        updated_by=classify_writer(tx.actor),
        updated_at=tx.now,
    )
    change_row(tx, sql.change_constraint, after)
    tx.record(Op.CONSTRAINT_CHANGED, before.id, *diff_rows(before, after), decision=suggestion.rationale)


def reject(tx: Transaction, run_id: str, suggestion_id: str, path: ArgumentPath) -> None:
    """Keep the current value and reject a suggestion."""
    decide(tx, run_id, suggestion_id, "rejected", path)
