"""Edit a draft: write and remove its rows. Either all changes of a request are made, or none."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

from msgspec import UNSET, Meta, Struct, UnsetType, field, structs

from groundplan.context.facts import (
    Inputs,
    accept,
    link_constraint,
    refuse_unbacked,
    reject,
    unlink_constraint,
    write_constraint,
    write_input,
)
from groundplan.context.provenance import refuse_redefinition
from groundplan.context.removals import Removals, remove
from groundplan.context.resolve import (
    RunRow,
    is_in_force,
    load_draft,
    load_run,
    refuse_stale_run,
    resolve_run_project,
)
from groundplan.context.rows import (
    generate_ascending_ids,
    validate_source_id,
    write_artifact,
    write_source,
)
from groundplan.context.runs import begin_draft
from groundplan.context.schemas import (
    OMITTED,
    ROWS_MAX,
    SOURCES_MAX,
    ArtifactWrite,
    ConstraintWrite,
    InputWrite,
    LinkWrite,
    RunOwnership,
    RunStatus,
    SourceWrite,
)
from groundplan.context.suggestions import NewSuggestion
from groundplan.context.values import strip_row, validate_pointer
from groundplan.kernel.access import Permission
from groundplan.kernel.answers import CutLists, LeftOut, Trimming
from groundplan.kernel.errors import GroundplanError, NotFound
from groundplan.kernel.ids import parse_uuid
from groundplan.kernel.input_gate.types import missing_argument
from groundplan.kernel.operations.registry import Effect, Group, OpId, Route, Tool, declare
from groundplan.kernel.operations.schema import CollapsedInSchema
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, format_argument_path, invalid_argument, quote_text

sql = load_queries(__file__)

_ROWS_LIMIT = Meta(max_length=ROWS_MAX)


PARTS = ("sources", "inputs", "constraints", "artifacts", "links", "unlinks", "accept", "reject", "remove")
# The fields that say which row a write is about.
IDENTIFYING_FIELDS = {"sources": ("id",), "inputs": ("pointer",), "constraints": ("id", "key"), "artifacts": ("id",)}


UUID = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# The fields that hold ids of rows of the run, or of the run itself.
ID_FIELDS = ("id", "run_id", "source_id", "source_ids", "constraints", "sources", "artifacts")


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

    An edit of a partial run in force opens a draft, which the answer names.

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
    draft: str | UnsetType = UNSET  # the draft that the edit opened, and the run that it copies
    from_: str | UnsetType = field(name="from", default=UNSET)
    left_out: LeftOut = field(name="left_out", default=UNSET)


def edit(tx: Transaction, request: EditRun) -> EditedRun:
    """Write sources, inputs, constraints, artifacts and links, decide on suggestions, and remove rows, in this order.

    A partial run in force can be completed: the edit is made in a new draft that copies it.

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
    named = load_run(tx, request.run_id)
    if named.status is RunStatus.PARTIAL_COMMITTED and is_in_force(tx, named):
        edited = _write_to_copy(tx, named, request)
    else:
        edited = _write(tx, load_draft(tx, request.run_id, expected_rev=request.expected_rev), request)
        if tx.has_events:
            edited.rev = tx.scalar(sql.touch_run, run_id=named.id)
    if request.lean:
        edited.inputs, edited.constraints = [], []
        strip_row(edited)
    return edited


def _write_to_copy(tx: Transaction, named: RunRow, request: EditRun) -> EditedRun:
    """Write to a new draft of a run. A refusal names the rows of the run, since the draft does not outlive it."""
    refuse_stale_run(named, request.expected_rev)
    ownership = RunOwnership.SHARED if named.user_id is None else RunOwnership.OWNED
    row, ids = begin_draft(tx, ownership, origin=named)
    copies = {named.id: row.id, **ids}
    try:
        edited = _write(tx, row, _translate_ids(request, copies))
    except GroundplanError as error:
        originals = {copy: original for original, copy in copies.items()}
        error.problem = _replace_ids(error.problem, originals)
        error.details = _replace_ids(error.details, originals)
        steps = error.next_steps
        error.next_steps = tuple(step._replace(arguments=_replace_ids(step.arguments, originals)) for step in steps)
        raise
    edited.draft, edited.from_ = row.id, named.id
    return edited


def _replace_ids(value: Any, ids: Mapping[str, str]) -> Any:
    """Return a part of an error with other ids, also within its texts."""
    match value:
        case str():
            return UUID.sub(lambda found: ids.get(found[0], found[0]), value)
        case list():
            return [_replace_ids(item, ids) for item in value]
        case dict():
            return {name: _replace_ids(item, ids) for name, item in value.items()}
    return value


def _write(tx: Transaction, row: RunRow, request: EditRun) -> EditedRun:
    """Write the parts of a request to a draft, in their order."""
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
    return edited


def _translate_ids(request: EditRun, ids: Mapping[str, str]) -> EditRun:
    """Return a request about a run as one about its copy."""

    def translate(value: Any) -> Any:
        match value:
            case str():
                return ids.get(parse_uuid(value) or value, value)
            case list():
                return [translate(item) for item in value]
            case Struct():
                changes = {name: translate(getattr(value, name)) for name in ID_FIELDS if hasattr(value, name)}
                return structs.replace(value, **changes)
        return value

    parts = {part: translate(getattr(request, part)) for part in PARTS}
    return structs.replace(request, **parts)


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
    http=Route("PATCH", "/projects/{project}/context/runs/{runId}/facts"),
)
