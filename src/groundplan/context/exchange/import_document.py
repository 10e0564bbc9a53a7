"""Import a document of facts as a new draft, with new ids."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, Struct, UnsetType, field
from msgspec.structs import replace

from groundplan.context.editing import edit
from groundplan.context.editing.artifacts import write_artifact
from groundplan.context.editing.constraints import write_constraint
from groundplan.context.editing.inputs import Inputs, write_input
from groundplan.context.editing.rows import generate_ascending_ids
from groundplan.context.editing.sources import missing_source, write_source
from groundplan.context.events import Op
from groundplan.context.exchange.document import ContextDocument
from groundplan.context.run import load_run, parse_id, to_pciv_run
from groundplan.context.runs.create_draft import insert_draft
from groundplan.context.schemas import PcivRunV1, RunOwnership
from groundplan.kernel.access import Permission
from groundplan.kernel.audit import changed
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Effect, OpId, Route, declare
from groundplan.kernel.operations.schema import CollapsedInSchema
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, invalid_argument, quote_text

sql = edit.sql


class ImportContext(Struct, rename="camel", forbid_unknown_fields=True):
    """The scope to import into, and the document: an export or a complete view."""

    scope_id: Name
    document: Annotated[ContextDocument, CollapsedInSchema()]
    ownership: RunOwnership = RunOwnership.OWNED
    op_id: OpId = field(name="op_id", default=None)


class ImportedContext(Struct):
    """The draft that holds the imported facts, and warnings about what was not imported."""

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
    row = insert_draft(tx, tx.project.id, request.ownership)
    tx.record(Op.DRAFT_CREATED, row.id, changed("user_id", None, row.user_id))
    _write(tx, document, row.id)
    after = load_run(tx, row.id)
    warnings = []
    if document.suggestions:
        warnings.append(f"suggestions not imported, because they are not facts yet: {len(document.suggestions)}")
    return ImportedContext(to_pciv_run(after, tx.project.name), after.rev, warnings)


def _write(tx: Transaction, document: ContextDocument, run_id: str) -> None:
    """Write everything in a document under new ids, and update the references."""
    ids: dict[str, str] = {}
    for id_, source in document.sources_by_id.items():
        path: ArgumentPath = ("document", "sourcesById", id_)
        old = parse_id(id_, path)
        _refuse_mismatch(source.id and parse_id(source.id, (*path, "id")), old, (*path, "id"))
        if old in ids:
            raise invalid_argument(path, "is there twice, in different spellings; remove one")
        ids[old] = write_source(tx, run_id, replace(source, id=None, run_id=None), path)

    def new_source_id(id_: str, path: ArgumentPath) -> str:
        old = parse_id(id_, path)
        if old not in ids:
            raise missing_source(old, path)
        return ids[old]

    inputs = Inputs(tx, run_id, [])
    for pointer, one in document.inputs_by_pointer.items():
        path = ("document", "inputsByPointer", pointer)
        _refuse_mismatch(one.pointer, pointer, (*path, "pointer"))
        cited: list[str] | UnsetType = UNSET
        if not isinstance(one.source_ids, UnsetType):
            cited = [new_source_id(id_, (*path, "sourceIds", index)) for index, id_ in enumerate(one.source_ids)]
        write_input(inputs, replace(one, id=None, run_id=None, source_ids=cited), path)
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
            source_id = new_source_id(source_id, (*path, "sourceId"))
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
    """Refuse a row whose own key differs from the key it is listed under.

    Raises:
        Invalid: the keys differ, or the row has none.
    """
    if own_key != key:
        raise invalid_argument(path, f"must be {quote_text(key)}, the key it is listed under")


OPERATION = declare(
    import_context,
    name="context.import",
    summary="Import a document of facts as a new draft.",
    permission=Permission.CONTEXT_WRITE,
    effect=Effect.WRITE,
    http=Route("POST", "/projects/{project}/context/import", location="/projects/{project}/context/runs/{run.id}"),
)
