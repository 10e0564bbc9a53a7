"""Edit a draft: apply all operations of a batch, or none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar

from msgspec import UNSET, Meta, Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import CutLists, LeftOut, Trimming
from groundplan.kernel.errors import Invalid, NextStep
from groundplan.kernel.ids import new_uuid
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Effect, Group, OpId, Route, Tool, declare
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, format_argument_path, invalid_argument, quote_text
from groundplan.purpose.content import reserve_keys
from groundplan.purpose.editing import items
from groundplan.purpose.editing.draft import BatchRefs, CreatedItem, DraftState, ItemIdentity
from groundplan.purpose.editing.operations import (
    AddAssumption,
    AddEdge,
    AddIndicator,
    AddNode,
    PurposeOp,
    RemoveAssumption,
    RemoveEdge,
    RemoveIndicator,
    RemoveNode,
    RestoreAssumption,
    RestoreEdge,
    RestoreIndicator,
    RestoreNode,
    RestoreOp,
    UpdateAssumption,
    UpdateEdge,
    UpdateIndicator,
    UpdateNode,
)
from groundplan.purpose.metadata_structure import find_structure, format_names
from groundplan.purpose.model import ASSUMPTION_PREFIX, BATCH_MAX, INDICATOR_PREFIX, PREFIXES
from groundplan.purpose.versions.versions import load_draft

sql = load_queries(__file__)

_ADD_OPERATIONS = (AddNode, AddEdge, AddAssumption, AddIndicator)


class StructureInMetadata(Invalid):
    """The metadata of a node names its parent, or holds a tree or a path of nodes: structure belongs into edges."""

    code = "structure_in_metadata"

    def __init__(self, names: list[str], path: ArgumentPath, project: str) -> None:
        connect = NextStep("purpose.edit", "with add_edge connects a cause to its effect", {"project": project})
        super().__init__(
            f"{format_argument_path(path)}: {format_names(names)} holds structure of the theory, which no gate and no "
            "picture would see; leave it out, and connect the nodes by edges",
            next_steps=connect,
            field=format_argument_path(path),
            names=names,
        )


class EditPurpose(Struct, forbid_unknown_fields=True):
    """The operations to apply to the draft, in order. An operation may use the ref of a node that a later one adds."""

    project: Name
    operations: Annotated[list[PurposeOp], Meta(min_length=1, max_length=BATCH_MAX)]
    expected_rev: int | None = None
    lean: bool | None = None
    op_id: OpId = None


class EditedPurpose(Struct):
    """The revision of the draft after the batch, and the items created, in the order of the operations."""

    bookkeeping: ClassVar[frozenset[str]] = frozenset()
    trimming: ClassVar[Trimming] = Trimming(CutLists(("created",)))

    rev: int
    version: int
    created: list[CreatedItem]
    applied: int
    left_out: LeftOut = UNSET


def edit(tx: Transaction, request: EditPurpose) -> EditedPurpose:
    """Apply a batch to the draft.

    Raises:
        NoDraft: the project has no draft.
        StaleRevision: the draft is not at `expected_rev`.
        StaleItem: a field that an update changes has another value than its `was` says.
        Invalid: an operation is malformed.
        StructureInMetadata: metadata holds structure of the theory.
        NotFound: an operation names an item that is not in the draft.
        PublishedImmutable: an operation names a row of a published version.
        SelfEdge: an edge leads from a node to itself.
        DuplicateEdge: an edge already exists.
        InvalidDirection: an edge points down the chain.
        DependencyCycle: an edge closes a cycle.
    """
    _refuse_duplicate_refs(request.operations)
    _refuse_structure(request.operations, tx.project.name)
    return _apply_all(tx, request.operations, expected_rev=request.expected_rev)


class RestorePurpose(Struct, forbid_unknown_fields=True):
    """The operations that set a draft back as it was before a write."""

    project: Name
    operations: list[PurposeOp | RestoreOp]


def restore(tx: Transaction, request: RestorePurpose) -> EditedPurpose:
    """Apply operations to the draft, among them those that restore removed items."""
    return _apply_all(tx, request.operations)


def _apply_all(
    tx: Transaction, operations: Sequence[PurposeOp | RestoreOp], *, expected_rev: int | None = None
) -> EditedPurpose:
    row = load_draft(tx, expected_rev=expected_rev)
    draft = DraftState(tx, row, _collect_refs(operations))
    identities = _assign_identities(tx, operations)
    for index, op in enumerate(operations):
        if isinstance(op, AddNode):  # nodes first, so that other operations can use their refs
            items.add_node(draft, op, identities[index], index)
    for index, op in enumerate(operations):
        _apply(draft, op, identities, index)
    items.refuse_cycles(draft)
    rev = tx.scalar(sql.touch_version, version_id=row.id) if tx.has_events else row.rev
    return EditedPurpose(rev, row.number, draft.list_created(), len(operations))


def _apply(draft: DraftState, op: PurposeOp | RestoreOp, identities: dict[int, ItemIdentity], index: int) -> None:
    path: ArgumentPath = ("operations", index)
    match op:
        case AddNode():
            pass  # added in the first pass
        case UpdateNode():
            items.update_node(draft, op, path)
        case RemoveNode():
            items.remove_node(draft, op, path)
        case AddEdge():
            items.add_edge(draft, op, identities[index], index, path)
        case UpdateEdge():
            items.update_edge(draft, op, path)
        case RemoveEdge():
            items.remove_edge(draft, op, path)
        case AddAssumption():
            items.add_assumption(draft, op, identities[index], index)
        case UpdateAssumption():
            items.update_assumption(draft, op, path)
        case RemoveAssumption():
            items.remove_assumption(draft, op, path)
        case AddIndicator():
            items.add_indicator(draft, op, identities[index], index)
        case UpdateIndicator():
            items.update_indicator(draft, op, path)
        case RemoveIndicator():
            items.remove_indicator(draft, op, path)


def _collect_refs(operations: Sequence[PurposeOp | RestoreOp]) -> BatchRefs:
    """Collect the keys, row ids and refs that a batch uses."""
    batch_refs = BatchRefs([], [], [], [op.ref for op in operations if isinstance(op, _ADD_OPERATIONS) and op.ref])
    for op in operations:
        for field, refs in (
            ("node", batch_refs.nodes),
            ("source", batch_refs.nodes),
            ("target", batch_refs.nodes),
            ("assumption", batch_refs.assumptions),
            ("indicator", batch_refs.indicators),
        ):
            ref = getattr(op, field, None)
            if isinstance(ref, str):  # the target of an indicator is a number
                refs.append(ref)
    return batch_refs


def _assign_identities(tx: Transaction, operations: Sequence[PurposeOp | RestoreOp]) -> dict[int, ItemIdentity]:
    """Return the key and the row id of each added item, by the index of its operation: new ones, or the former ones."""
    identities: dict[int, ItemIdentity] = {}
    indexes: dict[str, list[int]] = {}
    for index, op in enumerate(operations):
        match op:
            case RestoreNode() | RestoreAssumption() | RestoreIndicator():
                identities[index] = ItemIdentity(op.key, op.id)
            case RestoreEdge():
                identities[index] = ItemIdentity("", op.id)
            case AddEdge():
                identities[index] = ItemIdentity("", new_uuid())
            case AddNode():
                indexes.setdefault(PREFIXES[op.node_type], []).append(index)
            case AddAssumption():
                indexes.setdefault(ASSUMPTION_PREFIX, []).append(index)
            case AddIndicator():
                indexes.setdefault(INDICATOR_PREFIX, []).append(index)
    for prefix, wanted in sorted(indexes.items()):
        for index, key in zip(wanted, reserve_keys(tx, prefix, len(wanted)), strict=True):
            identities[index] = ItemIdentity(key, new_uuid())
    return identities


def _refuse_duplicate_refs(operations: list[PurposeOp]) -> None:
    """Reject a batch that gives the same ref to two items."""
    refs: set[str] = set()
    for index, op in enumerate(operations):
        if isinstance(op, _ADD_OPERATIONS) and op.ref:
            if op.ref in refs:
                sentence = f"{quote_text(op.ref)} is given twice in this batch; choose another ref"
                raise invalid_argument(("operations", index, "ref"), sentence)
            refs.add(op.ref)


def _refuse_structure(operations: list[PurposeOp], project: str) -> None:
    """Reject structure in the metadata that a batch writes. What was stored before stays until a batch removes it."""
    for index, op in enumerate(operations):
        if isinstance(op, AddNode | UpdateNode) and op.metadata:
            structure = find_structure(op.metadata)
            if structure.links or structure.trees:
                path: ArgumentPath = ("operations", index, "metadata")
                raise StructureInMetadata([*structure.links, *structure.trees], path, project)


OPERATION = declare(
    edit,
    name="purpose.edit",
    summary="Change the draft in one batch: add, update, remove nodes, edges, assumptions, indicators.",
    permission=Permission.PURPOSE_WRITE,
    effect=Effect.DESTROY,
    tool=Tool("toc_edit", Group.PURPOSE),
    http=Route("PATCH", "/projects/{project}/purpose/draft"),
)

# The form of the edit that undo calls. It is not in the catalog, because its requests choose keys.
RESTORE = declare(
    restore,
    name="purpose.edit",
    summary="Set the draft back: edit it, and restore removed items under their keys.",
    permission=Permission.PURPOSE_WRITE,
    effect=Effect.WRITE,
)
