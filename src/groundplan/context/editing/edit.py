"""Write facts into a draft: everything that a request brings, or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

from msgspec import UNSET, Meta, Struct, field

from groundplan.context.editing.artifacts import write_artifact
from groundplan.context.editing.constraints import write_constraint
from groundplan.context.editing.inputs import Inputs, refuse_unbacked, write_input
from groundplan.context.editing.provenance import refuse_redefinition
from groundplan.context.editing.removals import Removals, remove
from groundplan.context.editing.rows import generate_ascending_ids
from groundplan.context.editing.sources import validate_source_id, write_source
from groundplan.context.editing.suggestion_decisions import accept, reject
from groundplan.context.editing.suggestions import NewSuggestion
from groundplan.context.limits import ROWS_MAX, SOURCES_MAX
from groundplan.context.pointers import validate_pointer
from groundplan.context.run import load_draft, project_of_run
from groundplan.context.schemas import ArtifactWrite, ConstraintWrite, InputWrite, LinkWrite, RunStatus, SourceWrite
from groundplan.kernel.access import Permission
from groundplan.kernel.budget import CutLists, LeftOut, Trimming
from groundplan.kernel.errors import NotFound
from groundplan.kernel.ids import parse_uuid
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Tool
from groundplan.kernel.operations.requests import OpId
from groundplan.kernel.operations.schema import CollapsedInSchema
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, format_argument_path, invalid_argument, quote_text

sql = load_queries(__file__)

_ROWS_LIMIT = Meta(max_length=ROWS_MAX)
PARTS = ("sources", "inputs", "constraints", "artifacts", "links", "unlinks", "accept", "reject", "remove")


class EditRun(Struct, rename="camel", forbid_unknown_fields=True):
    """What to write into a draft: sources first, so that the rest of the same call can name them."""

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
    expected_rev: int | None = field(name="expected_rev", default=None)
    op_id: OpId = field(name="op_id", default=None)


class RunSummary(Struct):
    """A run, in short."""

    id: str
    status: RunStatus


class WrittenRow(Struct):
    """The id of what was written."""

    id: str


class WrittenInput(Struct):
    """The id of an input, and where it is."""

    id: str
    pointer: str


class WrittenConstraint(Struct):
    """The id of a constraint, and its key."""

    id: str
    key: str


class EditedRun(Struct, rename="camel"):
    """What was written, in the order of the request, and what waits for a person instead."""

    # Whoever wrote rows knows them, and the view has their ids; what waits instead is news.
    trimming: ClassVar[Trimming] = Trimming(
        CutLists(("sources", "inputs", "constraints", "artifacts")), CutLists(("suggested",))
    )

    run: RunSummary
    sources: list[WrittenRow]
    inputs: list[WrittenInput]
    constraints: list[WrittenConstraint]
    artifacts: list[WrittenRow]
    suggested: list[NewSuggestion]
    rev: int
    left_out: LeftOut = field(name="left_out", default=UNSET)


def edit(tx: Transaction, request: EditRun) -> EditedRun:
    """Write sources, inputs, constraints, artifacts and links, decide on suggestions, take rows out: in this order.

    Raises:
        Invalid: there is nothing to write, or something is malformed.
        NotFound: the run, or something that is named, is not there.
        Frozen: the run is committed.
        StaleRevision: it is not as the caller saw it.
        PcivRuntimeInvariantError: a value stands in the column of another kind, or there are several.
        ValueOfUnknown: something has a value and is said to be unknown.
        NotAnOption: a value is none of the options.
        ProvenanceNotAllowed: this is for a person to say, to decide, to change or to take out.
        LastSource: something that is source-backed would be left without a source.
        IdTaken: the id that a row shall have is that of something else.
        AlreadyDecided: a suggestion was accepted or rejected before.
    """
    if not any(getattr(request, part) for part in PARTS):
        raise invalid_argument((), f"say nothing to write; send some of {', '.join(PARTS)}")
    _refuse_duplicates(request)
    row = load_draft(tx, request.run_id, expected_rev=request.expected_rev)
    edited = EditedRun(RunSummary(row.id, row.status), [], [], [], [], [], row.rev)
    for place, source in enumerate(request.sources or ()):
        edited.sources.append(WrittenRow(write_source(tx, row.id, source, ("sources", place))))
    inputs = Inputs(tx, row.id, _pointers(request))
    for place, one in enumerate(request.inputs or ()):
        id_, waits = write_input(inputs, one, ("inputs", place))
        edited.inputs.append(WrittenInput(id_, one.pointer))
        edited.suggested += [waits] if waits else []
    # Ids that ascend keep the order in which rows of one moment came.
    fresh = generate_ascending_ids(len(request.constraints or ()))
    for place, constraint in enumerate(request.constraints or ()):
        id_, key, waits = write_constraint(tx, row.id, constraint, ("constraints", place), fresh=fresh[place])
        edited.constraints.append(WrittenConstraint(id_, key))
        edited.suggested += [waits] if waits else []
    fresh = generate_ascending_ids(len(request.artifacts or ()))
    for place, artifact in enumerate(request.artifacts or ()):
        written = write_artifact(tx, row.id, artifact, ("artifacts", place), fresh=fresh[place])
        edited.artifacts.append(WrittenRow(written))
    for place, link in enumerate(request.links or ()):
        _link(inputs, link, ("links", place))
    for place, link in enumerate(request.unlinks or ()):
        _unlink(inputs, link, ("unlinks", place))
    for place, suggestion in enumerate(request.accept or ()):
        accept(tx, row.id, suggestion, ("accept", place))
    for place, suggestion in enumerate(request.reject or ()):
        reject(tx, row.id, suggestion, ("reject", place))
    if request.remove:
        remove(tx, row.id, request.remove)
    if tx.has_events:
        edited.rev = tx.scalar(sql.touch_run, run_id=row.id)
    return edited


def _refuse_duplicates(request: EditRun) -> None:
    """One call says one thing of a row.

    Raises:
        Invalid: it names a row twice.
    """
    rows: Mapping[str, Sequence[Any]] = {part: getattr(request, part) or () for part in PARTS[:4]}
    for part, several in rows.items():
        name = "pointer" if part == "inputs" else "id"
        seen: set[str] = set()
        for place, one in enumerate(several):
            given = getattr(one, name)
            known = given if name == "pointer" or given is None else parse_uuid(given) or given
            if known is not None and known in seen:
                raise invalid_argument(
                    (part, place, name), f"names {quote_text(given)} a second time; say all of it in one row"
                )
            seen |= {known} if known is not None else set()


def _pointers(request: EditRun) -> list[str]:
    """Every input that the request is about, by its pointer."""
    rows = (*(request.inputs or ()), *(request.links or ()), *(request.unlinks or ()))
    return [row.pointer for row in rows]


def _link(inputs: Inputs, link: LinkWrite, path: ArgumentPath) -> None:
    id_, source_id = _resolve_link(inputs, link, path)
    if source_id in inputs.sources[id_]:
        return
    refuse_redefinition(inputs.tx.actor, inputs.by_pointer[link.pointer], path)
    if len(inputs.sources[id_]) >= SOURCES_MAX:
        raise invalid_argument(
            path, f"would be one source more than the {SOURCES_MAX} that an input can name", code="too_many"
        )
    inputs.link(id_, {source_id})


def _unlink(inputs: Inputs, link: LinkWrite, path: ArgumentPath) -> None:
    id_, source_id = _resolve_link(inputs, link, path)
    if source_id not in inputs.sources[id_]:
        raise NotFound("link", f"{link.pointer} to {source_id}", field=format_argument_path(path))
    refuse_redefinition(inputs.tx.actor, inputs.by_pointer[link.pointer], path)
    inputs.unlink(id_, {source_id})
    refuse_unbacked(inputs, link.pointer, path)


def _resolve_link(inputs: Inputs, link: LinkWrite, path: ArgumentPath) -> tuple[str, str]:
    """The input and the source that a link is between.

    Raises:
        NotFound: one of them is not in this run.
    """
    pointer = validate_pointer(link.pointer, (*path, "pointer"))
    row = inputs.by_pointer.get(pointer)
    if row is None:
        raise NotFound(
            "input", pointer, hint="write it to this run first", field=format_argument_path((*path, "pointer"))
        )
    return row.id, validate_source_id(inputs.tx, inputs.run_id, link.source_id, (*path, "sourceId"))


OPERATION = Operation(
    name="context.edit",
    summary="Write facts into a draft; a value of lower provenance than the one there becomes a suggestion.",
    permission=Permission.CONTEXT_WRITE,
    effect=Effect.DESTROY,
    input=EditRun,
    output=EditedRun,
    handler=edit,
    project=lambda tx, request: project_of_run(tx, request.run_id),
    tool=Tool("context_edit", Group.CONTEXT),
    command=Command(("context", "edit"), arguments=("run_id",), names={"run_id": "run"}, without=("accept", "reject")),
    aliases=(
        Command(
            ("context", "accept"),
            summary="Let suggestions take the place of the values that stand.",
            arguments=("run_id", "accept"),
            names={"run_id": "run", "accept": "suggestion"},
            without=("sources", "inputs", "constraints", "artifacts", "links", "unlinks", "reject", "remove"),
        ),
        Command(
            ("context", "reject"),
            summary="Let the values stay that stand, against suggestions.",
            arguments=("run_id", "reject"),
            names={"run_id": "run", "reject": "suggestion"},
            without=("sources", "inputs", "constraints", "artifacts", "links", "unlinks", "accept", "remove"),
        ),
    ),
)
