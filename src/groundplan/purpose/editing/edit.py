"""Change a draft: every operation of a batch, or none of them."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import UNSET, Meta, Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.budget import CutLists, LeftOut, Trimming
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Tool
from groundplan.kernel.operations.requests import OpId
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, invalid_argument, quote_text
from groundplan.purpose.editing import assumptions, edges, indicators, nodes
from groundplan.purpose.editing.draft_state import BatchRefs, CreatedItem, DraftState
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
    UpdateAssumption,
    UpdateEdge,
    UpdateIndicator,
    UpdateNode,
)
from groundplan.purpose.keys import fresh_keys
from groundplan.purpose.limits import BATCH_MAX
from groundplan.purpose.model import ASSUMPTION_PREFIX, INDICATOR_PREFIX, PREFIXES
from groundplan.purpose.version import draft_row

sql = load_queries(__file__)

_ADD_OPERATIONS = (AddNode, AddEdge, AddAssumption, AddIndicator)


class EditPurpose(Struct, forbid_unknown_fields=True):
    """What to do to the draft of a project, in order. Refs of new nodes may be used before the node is added."""

    project: Name
    operations: Annotated[list[PurposeOp], Meta(min_length=1, max_length=BATCH_MAX)]
    expected_rev: int | None = None
    op_id: OpId = None


class EditedPurpose(Struct):
    """The draft's revision after the batch, and what the batch made, in its order."""

    trimming: ClassVar[Trimming] = Trimming(CutLists(("created",)))

    rev: int
    version: int
    created: list[CreatedItem]
    applied: int
    left_out: LeftOut = UNSET


def edit(tx: Transaction, request: EditPurpose) -> EditedPurpose:
    """Apply a batch to the draft.

    Raises:
        NoDraft: there is none.
        StaleRevision: it is not as the caller saw it.
        Invalid: something is malformed.
        NotFound: something that is named is not in the draft.
        PublishedImmutable: something is named by its row in a published version.
        SelfEdge: an edge would lead from a node to itself.
        DuplicateEdge: there is such an edge already.
        InvalidDirection: an edge would point down the chain.
        DependencyCycle: an edge would close a cycle.
    """
    row = draft_row(tx, expected_rev=request.expected_rev)
    _refuse_duplicate_refs(request.operations)
    draft = DraftState(tx, row, _collect_refs(request.operations))
    keys = _keys(tx, request.operations)
    for place, op in enumerate(request.operations):
        if isinstance(op, AddNode):  # first of all, so that a ref may be used before its node
            nodes.add_node(draft, op, keys[place], place)
    for place, op in enumerate(request.operations):
        _apply(draft, op, keys, place)
    edges.refuse_cycles(draft)
    rev = tx.scalar(sql.touch_version, version_id=row.id) if tx.has_events else row.rev
    return EditedPurpose(rev, row.number, draft.list_created(), len(request.operations))


def _apply(draft: DraftState, op: PurposeOp, keys: dict[int, str], place: int) -> None:
    path: ArgumentPath = ("operations", place)
    match op:
        case AddNode():
            pass  # done
        case UpdateNode():
            nodes.update_node(draft, op, path)
        case RemoveNode():
            nodes.remove_node(draft, op, path)
        case AddEdge():
            edges.add_edge(draft, op, place)
        case UpdateEdge():
            edges.update_edge(draft, op, path)
        case RemoveEdge():
            edges.remove_edge(draft, op, path)
        case AddAssumption():
            assumptions.add_assumption(draft, op, keys[place], place)
        case UpdateAssumption():
            assumptions.update_assumption(draft, op, path)
        case RemoveAssumption():
            assumptions.remove_assumption(draft, op, path)
        case AddIndicator():
            indicators.add_indicator(draft, op, keys[place], place)
        case UpdateIndicator():
            indicators.update_indicator(draft, op, path)
        case RemoveIndicator():
            indicators.remove_indicator(draft, op, path)


def _collect_refs(operations: list[PurposeOp]) -> BatchRefs:
    """Everything that a batch calls by a name."""
    named = BatchRefs([], [], [], [op.ref for op in operations if isinstance(op, _ADD_OPERATIONS) and op.ref])
    for op in operations:
        for field, refs in (
            ("node", named.nodes),
            ("source", named.nodes),
            ("target", named.nodes),
            ("assumption", named.assumptions),
            ("indicator", named.indicators),
        ):
            ref = getattr(op, field, None)
            if isinstance(ref, str):  # the target of an indicator is a number
                refs.append(ref)
    return named


def _keys(tx: Transaction, operations: list[PurposeOp]) -> dict[int, str]:
    """A fresh key for everything that gets one, by the place of its operation."""
    places: dict[str, list[int]] = {}
    for place, op in enumerate(operations):
        match op:
            case AddNode():
                places.setdefault(PREFIXES[op.node_type], []).append(place)
            case AddAssumption():
                places.setdefault(ASSUMPTION_PREFIX, []).append(place)
            case AddIndicator():
                places.setdefault(INDICATOR_PREFIX, []).append(place)
    return {
        place: key
        for prefix, wanted in sorted(places.items())
        for place, key in zip(wanted, fresh_keys(tx, prefix, len(wanted)), strict=True)
    }


def _refuse_duplicate_refs(operations: list[PurposeOp]) -> None:
    """A ref is of one thing.

    Raises:
        Invalid: it is given twice.
    """
    seen: set[str] = set()
    for place, op in enumerate(operations):
        if isinstance(op, _ADD_OPERATIONS) and op.ref:
            if op.ref in seen:
                sentence = f"{quote_text(op.ref)} is given twice in this batch; say another one"
                raise invalid_argument(("operations", place, "ref"), sentence)
            seen.add(op.ref)


OPERATION = Operation(
    name="purpose.edit",
    summary="Change the draft in one batch: add, update, remove nodes, edges, assumptions, indicators.",
    permission=Permission.PURPOSE_WRITE,
    effect=Effect.DESTROY,
    input=EditPurpose,
    output=EditedPurpose,
    handler=edit,
    project=lambda _tx, request: request.project,
    tool=Tool("toc_edit", Group.PURPOSE),
    command=Command(("purpose", "edit"), arguments=("operations",), texts=("operations",)),
)
