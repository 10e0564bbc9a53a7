"""Facts as a document: export the facts of a run, and import a document as a new draft with new ids."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType, field
from msgspec.structs import replace

from groundplan.context.events import Op
from groundplan.context.facts import Inputs, write_constraint, write_input
from groundplan.context.resolve import load_run, parse_id, resolve_context_view, to_pciv_run
from groundplan.context.rows import generate_ascending_ids, missing_source, write_artifact, write_source
from groundplan.context.runs import insert_draft
from groundplan.context.schemas import (
    ArtifactWrite,
    ConstraintWrite,
    InputWrite,
    PcivArtifactV1,
    PcivConstraintV1,
    PcivInputV1,
    PcivRunV1,
    PcivSourceV1,
    RunOwnership,
    SourceWrite,
)
from groundplan.kernel.access import Permission
from groundplan.kernel.answers import encode
from groundplan.kernel.audit import changed
from groundplan.kernel.errors import Invalid
from groundplan.kernel.input_gate.strict_json import BODY_BYTES_MAX, decode
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Effect, OpId, Route, declare
from groundplan.kernel.operations.schema import CollapsedInSchema
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, invalid_argument, quote_text


class ContextExport(Struct, rename="camel"):
    """The facts of one run as a document for import into another scope or store."""

    format: int
    scope_id: str
    context_version_id: str
    run: PcivRunV1
    sources_by_id: dict[str, PcivSourceV1]
    inputs_by_pointer: dict[str, PcivInputV1]
    constraints: list[PcivConstraintV1]
    artifacts_by_type: dict[str, list[PcivArtifactV1]]


class ContextDocument(Struct, rename="camel", forbid_unknown_fields=True):
    """A document to import: an export or a complete view. Fields about the original run are ignored."""

    sources_by_id: dict[str, SourceWrite]
    inputs_by_pointer: dict[str, InputWrite]
    constraints: list[ConstraintWrite]
    artifacts_by_type: dict[str, list[ArtifactWrite]]
    format: Literal[1] = 1
    scope_id: Any = None
    context_version_id: Any = None
    run: Any = None
    missing: Any = None
    warnings: Any = None
    rev: Any = None
    suggestions: list[Any] | None = None
    displaced: Any = None
    left_out: Any = field(name="left_out", default=None)
    next_cursor: Any = field(name="next_cursor", default=None)


DOCUMENT_BYTES_MAX = 64 << 20  # larger than a request: a run holds the facts of many calls
INDENT_CHARS = 2


def format_document(document: ContextExport) -> str:
    """Return a document as indented JSON. Import refuses a document with more than `DOCUMENT_BYTES_MAX` bytes."""
    return format_json(encode(document))


def format_json(encoded: bytes) -> str:
    """Return JSON with indentation."""
    return msgspec.json.format(encoded, indent=INDENT_CHARS).decode("utf-8")


def decode_document(raw: bytes, label: str) -> Any:
    """Return the value of a document file; errors name the file by `label`.

    It has its own limits: it nests one level deeper than the calls that wrote its facts, and may be larger.
    """
    return decode_file(raw, label, levels_above=-1, bytes_max=DOCUMENT_BYTES_MAX)


def decode_file(raw: bytes, label: str, *, levels_above: int = 0, bytes_max: int = BODY_BYTES_MAX) -> Any:
    """Return the value of a JSON file; a byte order mark is allowed."""
    try:
        return decode(raw.removeprefix(b"\xef\xbb\xbf"), levels_above=levels_above, bytes_max=bytes_max)
    except Invalid as error:
        sentence = error.message.replace("the request", label, 1)
        raise Invalid(sentence, code=error.code, **error.details) from None


def count_facts(document: ContextExport) -> dict[str, int]:
    """Return the number of facts in a document, by kind."""
    return {
        "inputs": len(document.inputs_by_pointer),
        "constraints": len(document.constraints),
        "sources": len(document.sources_by_id),
        "artifacts": sum(map(len, document.artifacts_by_type.values())),
    }


FORMAT = 1


class ExportContext(Struct, rename="camel", forbid_unknown_fields=True):
    """The scope and run to export. By default this is the run in force."""

    scope_id: Name
    run_id: str | None = None


def export(tx: Transaction, request: ExportContext) -> ContextExport:
    """Return everything in a run except pending suggestions.

    Raises:
        NotFound: the run is not in this scope.
        NoContext: no run was committed.
    """
    view, row = resolve_context_view(tx, run_id=request.run_id)
    return ContextExport(
        FORMAT,
        tx.project.name,
        row.context_version_id,
        view.run,
        view.sources_by_id,
        view.inputs_by_pointer,
        view.constraints,
        view.artifacts_by_type,
    )


EXPORT = declare(
    export,
    name="context.export",
    summary="Export the facts of a run as a document.",
    permission=Permission.CONTEXT_READ,
    effect=Effect.READ,
    http=Route("GET", "/projects/{project}/context/export"),
)


sql = load_queries(__file__)


class ImportContext(Struct, rename="camel", forbid_unknown_fields=True):
    """The scope to import into, and the document: an export or a complete view."""

    scope_id: Name
    document: Annotated[ContextDocument, CollapsedInSchema()]
    ownership: RunOwnership = RunOwnership.OWNED
    op_id: OpId = field(name="op_id", default=None)


class ImportedContext(Struct):
    """The draft that holds the imported facts, and warnings about parts that were not imported."""

    run: PcivRunV1
    rev: int
    warnings: list[str]


def import_context(tx: Transaction, request: ImportContext) -> ImportedContext:
    """Write the facts of a document into a new draft.

    Raises:
        Invalid: the document is only a page of a view, or is malformed.
        ProvenanceNotAllowed: the document has user-entered values, and the actor is not a person.
    """
    document = request.document
    if document.next_cursor or document.left_out:
        raise invalid_argument(("document",), "is only a page of a view; import an export or a complete view")
    row = insert_draft(tx, tx.project.id, request.ownership, starts_empty=True)
    tx.record(Op.DRAFT_CREATED, row.id, changed("user_id", None, row.user_id), changed("starts_empty", None, True))
    _write(tx, document, row.id)
    after = load_run(tx, row.id)
    warnings = []
    if document.suggestions:
        warnings.append(f"suggestions not imported, because they are not facts yet: {len(document.suggestions)}")
    return ImportedContext(to_pciv_run(after, tx.project.name), after.rev, warnings)


def _write(tx: Transaction, document: ContextDocument, run_id: str) -> None:
    """Write all parts of a document under new ids, and update the references between them."""
    ids: dict[str, str] = {}
    for id_, source in document.sources_by_id.items():
        path: ArgumentPath = ("document", "sourcesById", id_)
        old = parse_id(id_, path)
        _refuse_mismatch(source.id and parse_id(source.id, (*path, "id")), old, (*path, "id"))
        if old in ids:
            raise invalid_argument(path, "is there twice, in different spellings; remove one")
        ids[old] = write_source(tx, run_id, replace(source, id=None, run_id=None), path)

    def map_source_id(id_: str, path: ArgumentPath) -> str:
        old = parse_id(id_, path)
        if old not in ids:
            raise missing_source(old, path)
        return ids[old]

    inputs = Inputs(tx, run_id, [])
    for pointer, input_write in document.inputs_by_pointer.items():
        path = ("document", "inputsByPointer", pointer)
        _refuse_mismatch(input_write.pointer, pointer, (*path, "pointer"))
        cited: list[str] | UnsetType = UNSET
        if not isinstance(input_write.source_ids, UnsetType):
            cited = [
                map_source_id(id_, (*path, "sourceIds", index)) for index, id_ in enumerate(input_write.source_ids)
            ]
        write_input(inputs, replace(input_write, id=None, run_id=None, source_ids=cited), path)
    fresh = generate_ascending_ids(len(document.constraints))
    keys: set[str] = set()
    for index, constraint in enumerate(document.constraints):
        path = ("document", "constraints", index)
        if isinstance(constraint.key, str) and constraint.key in keys:
            # To choose between two values of one key is for the caller.
            raise invalid_argument((*path, "key"), f"is there twice: {quote_text(constraint.key)}; remove one")
        keys |= {constraint.key} if isinstance(constraint.key, str) else set()
        source_id = constraint.source_id
        if isinstance(source_id, str):
            source_id = map_source_id(source_id, (*path, "sourceId"))
        write = replace(constraint, id=None, run_id=None, source_id=source_id)
        write_constraint(tx, run_id, write, path, new_id=fresh[index])
    for type_, artifacts in document.artifacts_by_type.items():
        fresh = generate_ascending_ids(len(artifacts))
        for index, artifact in enumerate(artifacts):
            path = ("document", "artifactsByType", type_, index)
            _refuse_mismatch(artifact.type, type_, (*path, "type"))
            write_artifact(tx, run_id, replace(artifact, id=None, run_id=None), path, new_id=fresh[index])
    tx.one(sql.touch_run, run_id=run_id)


def _refuse_mismatch(own_key: Any, key: str, path: ArgumentPath) -> None:
    """Refuse a row whose key differs from the key under which the document lists it."""
    if own_key != key:
        raise invalid_argument(path, f"must be {quote_text(key)}, the key it is listed under")


IMPORT = declare(
    import_context,
    name="context.import",
    summary="Import a document of facts as a new draft.",
    permission=Permission.CONTEXT_WRITE,
    effect=Effect.WRITE,
    http=Route("POST", "/projects/{project}/context/import", location="/projects/{project}/context/runs/{run.id}"),
)
