"""Trace one fact: its value in each run, and what rests on it."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan import providers
from groundplan.context.limits import Pointer
from groundplan.context.pointers import validate_pointer
from groundplan.context.schemas import Provenance, RunStatus, ValueKind
from groundplan.context.stored_rows import load_rows
from groundplan.context.values import get_value
from groundplan.kernel.access import Permission
from groundplan.kernel.answers import CutLists, DropField, LeftOut, Trimming
from groundplan.kernel.errors import NextStep, NotFound
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.links import LinkType, list_links_to
from groundplan.kernel.operations.registry import Command, Effect, Route, declare
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

RUNS = 10
RUNS_MAX = 100

sql = load_queries(__file__)


class TraceFact(Struct, rename="camel", forbid_unknown_fields=True):
    """The fact, and how many of the latest runs to look into."""

    scope_id: Name
    pointer: Pointer
    limit: Annotated[int, Meta(ge=1, le=RUNS_MAX)] = RUNS


class FactInRun(Struct, rename="camel"):
    """The fact in one run. Null means UNSET; the empty text is a value. `by` committed the run."""

    run_id: str
    status: RunStatus
    at: str
    label: str
    value_kind: ValueKind
    value: Any
    provenance: Provenance
    by: str | UnsetType = UNSET


class RestingItem(Struct):
    """A work node or a purpose node that rests on the fact."""

    ref: str
    kind: str
    title: str


class FactTrace(Struct):
    """The fact in the runs that have it, newest first, and what rests on it."""

    trimming: ClassVar[Trimming] = Trimming(DropField("runs[].value"), CutLists(("resting", "runs")))

    pointer: str
    runs: list[FactInRun]
    resting: list[RestingItem]
    left_out: LeftOut = UNSET


class _RowInRun(Struct):
    run_id: str
    status: RunStatus
    at: str
    by: str | None
    label: str
    value_kind: ValueKind
    value_string: str | None
    value_number: float | None
    value_boolean: bool | None
    value_enum: str | None
    value_json: Any
    provenance: Provenance


def trace(tx: Transaction, request: TraceFact) -> FactTrace:
    """Return a fact through the runs, and what rests on it.

    Raises:
        NotFound: no run has it, and nothing rests on it.
    """
    pointer = validate_pointer(request.pointer, ("pointer",))
    rows = load_rows(tx, sql.fact_in_runs, _RowInRun, project_id=tx.project.id, pointer=pointer, at_most=request.limit)
    resting = _list_resting(tx, pointer)
    if not rows and not resting:
        near = providers.find_fact_targets(tx, [pointer]).near.get(pointer, [])
        step = NextStep("context.view", "lists the facts", {"scopeId": tx.project.name})
        raise NotFound("fact", pointer, near=near, next_steps=step, field="pointer")
    runs = [
        FactInRun(
            row.run_id, row.status, row.at, row.label, row.value_kind, get_value(row), row.provenance, row.by or UNSET
        )
        for row in rows
    ]
    return FactTrace(pointer, runs, resting)


def _list_resting(tx: Transaction, pointer: str) -> list[RestingItem]:
    links = list_links_to(tx, LinkType.RESTS_ON, [pointer])
    nodes = [link.source for link in links if link.node_n is not None]
    keys = [link.source for link in links if link.node_n is None]
    found = providers.find_work_targets(tx, nodes).found if nodes else {}
    found |= providers.find_purpose_targets(tx, keys).found if keys else {}
    return [RestingItem(one.ref, one.kind, one.title) for link in links if (one := found.get(link.source))]


OPERATION = declare(
    trace,
    name="context.trace",
    summary="Show one fact through the runs, and the work and purpose that rest on it.",
    permission=Permission.CONTEXT_READ,
    effect=Effect.READ,
    command=Command(("context", "trace"), arguments=("pointer",), names={"scope_id": "project"}),
    http=Route("GET", "/projects/{project}/context/trace"),
)
