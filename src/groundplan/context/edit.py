"""Edit a draft: write and remove its rows. Either all changes of a request are made, or none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import UNSET, Meta, Struct, field

from groundplan.context.events import Op
from groundplan.context.facts import (
    Inputs,
    LastSource,
    accept,
    link_constraint,
    load_inputs_at,
    refuse_unbacked,
    reject,
    unlink_constraint,
    write_constraint,
    write_input,
)
from groundplan.context.provenance import FactRow, ProvenanceNotAllowed, refuse_redefinition
from groundplan.context.resolve import load_draft, parse_id, resolve_run_project
from groundplan.context.rows import (
    generate_ascending_ids,
    missing_source,
    record_removal,
    refuse_source_change,
    validate_source_id,
    write_artifact,
    write_source,
)
from groundplan.context.schemas import (
    OMITTED,
    ROWS_MAX,
    SOURCES_MAX,
    ArtifactWrite,
    ConstraintWrite,
    InputWrite,
    LinkWrite,
    PcivArtifactV1,
    PcivConstraintV1,
    PcivSourceV1,
    Pointer,
    Provenance,
    RunStatus,
    SourceWrite,
)
from groundplan.context.suggestions import NewSuggestion, SuggestionRow, remove_suggestion
from groundplan.context.values import encode_json, get_typed_value, load_row, load_rows, strip_row, validate_pointer
from groundplan.kernel.access import Permission
from groundplan.kernel.actors import ActorKind
from groundplan.kernel.answers import CutLists, LeftOut, Trimming
from groundplan.kernel.audit import changed
from groundplan.kernel.errors import NotFound
from groundplan.kernel.ids import parse_uuid
from groundplan.kernel.input_gate.types import missing_argument
from groundplan.kernel.operations.registry import Command, Effect, Group, OpId, Route, Tool, declare
from groundplan.kernel.operations.schema import CollapsedInSchema
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, format_argument_path, invalid_argument, quote_text

sql = load_queries(__file__)

_ROWS_LIMIT = Meta(max_length=ROWS_MAX)


class Removals(Struct, forbid_unknown_fields=True):
    """Rows to remove from a draft: inputs by pointer, the others by id."""

    inputs: Annotated[list[Pointer], _ROWS_LIMIT] | None = None
    constraints: Annotated[list[str], _ROWS_LIMIT] | None = None
    sources: Annotated[list[str], _ROWS_LIMIT] | None = None
    artifacts: Annotated[list[str], _ROWS_LIMIT] | None = None

    def __bool__(self) -> bool:
        return bool(self.inputs or self.constraints or self.sources or self.artifacts)


def remove(tx: Transaction, run_id: str, removals: Removals) -> None:
    """Remove rows from a draft. Sources are removed last, so that one call can also remove the rows that cite them."""
    for index, pointer in enumerate(removals.inputs or ()):
        _remove_input(tx, run_id, pointer, ("remove", "inputs", index))
    for index, id_ in enumerate(removals.constraints or ()):
        _remove_constraint(tx, run_id, id_, ("remove", "constraints", index))
    for index, id_ in enumerate(removals.artifacts or ()):
        path: ArgumentPath = ("remove", "artifacts", index)
        row = load_row(tx, sql.artifact, PcivArtifactV1, run_id=run_id, id=parse_id(id_, path))
        if row is None:
            raise NotFound("artifact", id_, field=format_argument_path(path))
        tx.run(sql.remove_artifact, run_id=run_id, id=row.id)
        record_removal(tx, Op.ARTIFACT_REMOVED, row)
    for index, id_ in enumerate(removals.sources or ()):
        _remove_source(tx, run_id, id_, ("remove", "sources", index))


def _remove_input(tx: Transaction, run_id: str, pointer: str, path: ArgumentPath) -> None:
    row = next(iter(load_inputs_at(tx, run_id, [validate_pointer(pointer, path)])), None)
    if row is None:
        raise NotFound("input", pointer, field=format_argument_path(path))
    if (_is_protected(row) or row.required) and tx.actor.kind is not ActorKind.PERSON:
        raise _person_required(row, path)
    linked = [source_id for _, source_id in tx.all(sql.links_of_inputs, run_id=run_id, ids=to_json_array([row.id]))]
    for suggestion in load_rows(tx, sql.suggestions_for_input, SuggestionRow, run_id=run_id, about=row.id):
        remove_suggestion(tx, suggestion)
    tx.run(sql.remove_links_of_input, run_id=run_id, input_id=row.id)
    tx.run(sql.remove_input, run_id=run_id, id=row.id)
    if linked:
        tx.record(Op.UNLINKED, row.id, *(changed("source_id", id_, None) for id_ in linked))
    record_removal(tx, Op.INPUT_REMOVED, row)


def _remove_constraint(tx: Transaction, run_id: str, id_: str, path: ArgumentPath) -> None:
    row = load_row(tx, sql.constraint, PcivConstraintV1, run_id=run_id, id=parse_id(id_, path))
    if row is None:
        raise NotFound("constraint", id_, field=format_argument_path(path))
    if _is_protected(row) and tx.actor.kind is not ActorKind.PERSON:
        raise _person_required(row, path)
    for suggestion in load_rows(tx, sql.suggestions_for_constraint, SuggestionRow, run_id=run_id, about=row.id):
        remove_suggestion(tx, suggestion)
    tx.run(sql.remove_constraint, run_id=run_id, id=row.id)
    record_removal(tx, Op.CONSTRAINT_REMOVED, row)


def _remove_source(tx: Transaction, run_id: str, id_: str, path: ArgumentPath) -> None:
    row = load_row(tx, sql.source, PcivSourceV1, run_id=run_id, id=parse_id(id_, path))
    if row is None:
        raise missing_source(id_, path)
    for pointer_or_key in tx.scalars(sql.values_with_only_this_source, run_id=run_id, source_id=row.id):
        raise LastSource(pointer_or_key, path)
    refuse_source_change(tx, run_id, row.id, path)
    for input_id in tx.scalars(sql.inputs_citing, run_id=run_id, source_id=row.id):
        tx.run(sql.remove_link, run_id=run_id, input_id=input_id, source_id=row.id)
        tx.record(Op.UNLINKED, input_id, changed("source_id", row.id, None))
    for constraint_id in tx.scalars(sql.constraints_citing, run_id=run_id, source_id=row.id):
        tx.run(sql.set_constraint_source, run_id=run_id, id=constraint_id, source_id=None)
        tx.record(Op.CONSTRAINT_CHANGED, constraint_id, changed("source_id", row.id, None))
    for suggestion_id, source_ids in tx.all(sql.suggestion_sources, run_id=run_id):
        cited: list[str] = msgspec.json.decode(source_ids)
        if row.id in cited:
            left = encode_json([source_id for source_id in cited if source_id != row.id])
            tx.run(sql.set_suggestion_sources, run_id=run_id, id=suggestion_id, source_ids=left)
            tx.record(Op.SUGGESTION_CHANGED, suggestion_id, changed("source_ids", source_ids, left))
    tx.run(sql.remove_source, run_id=run_id, id=row.id)
    record_removal(tx, Op.SOURCE_REMOVED, row)


def _is_protected(row: FactRow) -> bool:
    """Return True if a row holds a value of higher provenance than model-inferred."""
    return row.provenance.rank > Provenance.MODEL_INFERRED.rank and not get_typed_value(row).is_unset


def _person_required(row: FactRow, path: ArgumentPath) -> ProvenanceNotAllowed:
    return ProvenanceNotAllowed(
        f"remove a row that is {row.provenance if _is_protected(row) else 'required'}",
        "suggest to clear it by writing null" if _is_protected(row) else "ask a person to remove it",
        path,
    )


PARTS = ("sources", "inputs", "constraints", "artifacts", "links", "unlinks", "accept", "reject", "remove")
# The fields that say which row a write is about.
IDENTIFYING_FIELDS = {"sources": ("id",), "inputs": ("pointer",), "constraints": ("id", "key"), "artifacts": ("id",)}


class EditRun(Struct, rename="camel", forbid_unknown_fields=True):
    """The rows to write into a draft. Sources are written first, so that other rows of the call can cite them."""

    run_id: str
    sources: Annotated[list[SourceWrite], _ROWS_LIMIT] | None = None
    inputs: Annotated[list[InputWrite], _ROWS_LIMIT] | None = None
    constraints: Annotated[list[ConstraintWrite], _ROWS_LIMIT] | None = None
    artifacts: Annotated[list[ArtifactWrite], _ROWS_LIMIT] | None = None
    links: Annotated[list[LinkWrite], _ROWS_LIMIT] | None = None
    unlinks: Annotated[list[LinkWrite], _ROWS_LIMIT] | None = None
    accept: Annotated[list[str], _ROWS_LIMIT] | None = None
    reject: Annotated[list[str], _ROWS_LIMIT] | None = None
    remove: Annotated[Removals, CollapsedInSchema()] | None = None
    lean: bool | None = None
    expected_rev: int | None = field(name="expected_rev", default=None)
    op_id: OpId = field(name="op_id", default=None)


class RunSummary(Struct):
    """The id and status of a run."""

    id: str
    status: RunStatus


class WrittenRow(Struct):
    """The id of a written row."""

    id: str


class WrittenInput(Struct):
    """The id and pointer of a written input."""

    id: str
    pointer: str


class WrittenConstraint(Struct):
    """The id and key of a written constraint."""

    id: str
    key: str


class EditedRun(Struct, rename="camel"):
    """The written rows in the order of the request, and the suggestions that were stored where a write was not allowed.

    A lean answer omits inputs and constraints, which the caller knows by pointer and key.
    """

    # The caller knows the rows it wrote, so these are cut first; suggestions are new to it.
    trimming: ClassVar[Trimming] = Trimming(
        CutLists(("sources", "inputs", "constraints", "artifacts")), CutLists(("suggested",))
    )

    run: RunSummary
    sources: list[WrittenRow] = OMITTED
    inputs: list[WrittenInput] = OMITTED
    constraints: list[WrittenConstraint] = OMITTED
    artifacts: list[WrittenRow] = OMITTED
    suggested: list[NewSuggestion] = OMITTED
    rev: int = 0
    left_out: LeftOut = field(name="left_out", default=UNSET)


def edit(tx: Transaction, request: EditRun) -> EditedRun:
    """Write sources, inputs, constraints, artifacts and links, decide on suggestions, and remove rows, in this order.

    Raises:
        Invalid: the request is empty or malformed.
        NotFound: the run, or a row that the request names, does not exist.
        Frozen: the run is committed.
        StaleRevision: the run changed since the caller read it.
        PcivRuntimeInvariantError: a value is in the column of another kind, or in several columns.
        ValueOfUnknown: a provenance is unknown, and there is a value.
        NotAnOption: a value is not one of the options.
        ProvenanceNotAllowed: only a person may claim, decide, change or remove this.
        LastSource: a source-backed value would lose its last source.
        IdTaken: a given id is in use.
        KeyTaken: another constraint of the run has a given key.
        AlreadyDecided: a suggestion was accepted or rejected before.
    """
    if not any(getattr(request, part) for part in PARTS):
        raise invalid_argument((), f"contain nothing to write; send at least one of {', '.join(PARTS)}")
    _refuse_duplicates(request)
    row = load_draft(tx, request.run_id, expected_rev=request.expected_rev)
    edited = EditedRun(RunSummary(row.id, row.status), [], [], [], [], [], row.rev)
    for index, source in enumerate(request.sources or ()):
        edited.sources.append(WrittenRow(write_source(tx, row.id, source, ("sources", index))))
    inputs = Inputs(tx, row.id, _collect_pointers(request))
    for index, input_write in enumerate(request.inputs or ()):
        id_, waits = write_input(inputs, input_write, ("inputs", index))
        edited.inputs.append(WrittenInput(id_, input_write.pointer))
        edited.suggested += [waits] if waits else []
    # Ascending ids keep the order of rows written at the same time.
    fresh = generate_ascending_ids(len(request.constraints or ()))
    for index, constraint in enumerate(request.constraints or ()):
        id_, key, waits = write_constraint(tx, row.id, constraint, ("constraints", index), new_id=fresh[index])
        edited.constraints.append(WrittenConstraint(id_, key))
        edited.suggested += [waits] if waits else []
    fresh = generate_ascending_ids(len(request.artifacts or ()))
    for index, artifact in enumerate(request.artifacts or ()):
        written = write_artifact(tx, row.id, artifact, ("artifacts", index), new_id=fresh[index])
        edited.artifacts.append(WrittenRow(written))
    for index, link in enumerate(request.links or ()):
        _link(inputs, link, ("links", index))
    for index, link in enumerate(request.unlinks or ()):
        _unlink(inputs, link, ("unlinks", index))
    for index, suggestion in enumerate(request.accept or ()):
        accept(tx, row.id, suggestion, ("accept", index))
    for index, suggestion in enumerate(request.reject or ()):
        reject(tx, row.id, suggestion, ("reject", index))
    if request.remove:
        remove(tx, row.id, request.remove)
    if tx.has_events:
        edited.rev = tx.scalar(sql.touch_run, run_id=row.id)
    if request.lean:
        edited.inputs, edited.constraints = [], []
        strip_row(edited)
    return edited


def _refuse_duplicates(request: EditRun) -> None:
    """Refuse a request that writes the same row twice."""
    rows: Mapping[str, Sequence[Any]] = {part: getattr(request, part) or () for part in PARTS[:4]}
    for part, several in rows.items():
        for name in IDENTIFYING_FIELDS[part]:
            earlier: set[str] = set()
            for index, row in enumerate(several):
                given = getattr(row, name)
                if not isinstance(given, str):
                    continue
                known = (parse_uuid(given) or given) if name == "id" else given
                if known in earlier:
                    raise invalid_argument(
                        (part, index, name),
                        f"names {quote_text(given)} a second time; put all of its fields in one row",
                    )
                earlier.add(known)


def _collect_pointers(request: EditRun) -> list[str]:
    """Return the pointers of all inputs that the request names."""
    rows = (*(request.inputs or ()), *(request.links or ()), *(request.unlinks or ()))
    return [row.pointer for row in rows if row.pointer is not None]


def _link(inputs: Inputs, link: LinkWrite, path: ArgumentPath) -> None:
    pointer, key = _resolve_target(link, path)
    if key is not None:
        link_constraint(inputs.tx, inputs.run_id, key, link.source_id, path)
        return
    id_, source_id = _resolve_link(inputs, pointer, link.source_id, path)
    if source_id in inputs.sources[id_]:
        return
    refuse_redefinition(inputs.tx.actor, inputs.by_pointer[pointer], path)
    if len(inputs.sources[id_]) >= SOURCES_MAX:
        raise invalid_argument(path, f"would exceed the {SOURCES_MAX} sources that an input can have", code="too_many")
    inputs.link(id_, {source_id})


def _unlink(inputs: Inputs, link: LinkWrite, path: ArgumentPath) -> None:
    pointer, key = _resolve_target(link, path)
    if key is not None:
        unlink_constraint(inputs.tx, inputs.run_id, key, link.source_id, path)
        return
    id_, source_id = _resolve_link(inputs, pointer, link.source_id, path)
    if source_id not in inputs.sources[id_]:
        raise NotFound("link", f"{pointer} to {source_id}", field=format_argument_path(path))
    refuse_redefinition(inputs.tx.actor, inputs.by_pointer[pointer], path)
    inputs.unlink(id_, {source_id})
    refuse_unbacked(inputs, pointer, path)


def _resolve_target(link: LinkWrite, path: ArgumentPath) -> tuple[str, str | None]:
    """Return the pointer of an input and no key, or an empty pointer and the key of a constraint."""
    if link.pointer is not None and link.constraint is not None:
        raise invalid_argument((*path, "constraint"), "is of another fact than pointer; send only one of them")
    if link.constraint is not None:
        return "", link.constraint
    if link.pointer is None:
        raise missing_argument("pointer", path, expected="a string, or constraint with the key of a constraint")
    return link.pointer, None


def _resolve_link(inputs: Inputs, pointer: str, source_id: str, path: ArgumentPath) -> tuple[str, str]:
    """Return the ids of the input and the source of a link."""
    pointer = validate_pointer(pointer, (*path, "pointer"))
    row = inputs.by_pointer.get(pointer)
    if row is None:
        raise NotFound(
            "input", pointer, hint="write it to this run first", field=format_argument_path((*path, "pointer"))
        )
    return row.id, validate_source_id(inputs.tx, inputs.run_id, source_id, (*path, "sourceId"))


OPERATION = declare(
    edit,
    name="context.edit",
    summary="Write facts into a draft; a value of lower provenance than the one there becomes a suggestion.",
    permission=Permission.CONTEXT_WRITE,
    effect=Effect.DESTROY,
    project=lambda tx, request: resolve_run_project(tx, request.run_id),
    tool=Tool("context_edit", Group.CONTEXT),
    command=Command(
        ("context", "edit"), arguments=("run_id",), names={"run_id": "run"}, without=("accept", "reject", "lean")
    ),
    aliases=(
        Command(
            ("context", "accept"),
            summary="Accept suggestions: they replace the current values.",
            arguments=("run_id", "accept"),
            names={"run_id": "run", "accept": "suggestion"},
            without=("sources", "inputs", "constraints", "artifacts", "links", "unlinks", "reject", "remove", "lean"),
        ),
        Command(
            ("context", "reject"),
            summary="Reject suggestions: the current values stay.",
            arguments=("run_id", "reject"),
            names={"run_id": "run", "reject": "suggestion"},
            without=("sources", "inputs", "constraints", "artifacts", "links", "unlinks", "accept", "remove", "lean"),
        ),
    ),
    http=Route("PATCH", "/projects/{project}/context/runs/{runId}/facts"),
)
