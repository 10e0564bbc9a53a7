"""The values of one fact in each run, and the facts that changed since a revision of the project.

A fact changed if its value in the run in force differs from its value in the run that was in force at that revision.
The revisions of commits and deletions tell which run that was, so a clock that was set does not matter. Only these two
runs are read. The time of a change is looked for in the latest runs; one before them counts from the first run after
that revision.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable
from typing import Annotated, Any, ClassVar, NamedTuple

from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan import providers
from groundplan.context.events import Op
from groundplan.context.schemas import Pointer, Provenance, RunStatus, ValueColumns, ValueKind
from groundplan.context.values import get_typed_value, get_value, load_rows, validate_pointer
from groundplan.kernel.access import Permission
from groundplan.kernel.answers import CutLists, DropField, LeftOut, Trimming
from groundplan.kernel.errors import NextStep, NotFound
from groundplan.kernel.events import list_event_headers
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.links import LinkType, list_links_to
from groundplan.kernel.operations.registry import Effect, Route, declare
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)

PERIODS_LOOKED_BACK_MAX = 20


class ChangedFact(NamedTuple):
    """A fact that changed: the revision and time of the change, the former value, and whether it was removed."""

    rev: int
    at: str
    is_removed: bool
    before: Any  # its former value


class FactSince(NamedTuple):
    """The pointer of a fact, and a revision of the project."""

    pointer: str
    rev: int


class _Period(NamedTuple):
    """A run that is in force from a revision until the next period begins. The run is None if there is none."""

    rev: int
    at: str
    run_id: str | None


class _Place(NamedTuple):
    """The index of a period, and the pointer of a fact in it."""

    period: int
    pointer: str


class _ValueInRun(ValueColumns):
    """The value of a fact in a run."""

    run_id: str
    pointer: str

    def equals(self, other: _ValueInRun | None) -> bool:
        return other is not None and get_typed_value(self).equals(get_typed_value(other))


def find_changed_facts(tx: Transaction, facts: Collection[FactSince]) -> dict[FactSince, ChangedFact]:
    """Return the given facts that changed since their revision; a fact without a value at that revision did not."""
    periods = _load_periods(tx) if facts else []
    if len(periods) < 2:  # no run was ever replaced
        return {}
    revs = [period.rev for period in periods]
    # The number of the period at the revision of each fact; facts before the first run have nothing to differ from.
    places = {fact: bisect_right(revs, fact.rev) - 1 for fact in facts}
    asked = {_Place(place, fact.pointer) for fact, place in places.items() if 0 <= place < len(periods) - 1}
    changes = _find_changes(tx, periods, asked)
    changed_facts = {fact: changes.get(_Place(place, fact.pointer)) for fact, place in places.items()}
    return {fact: change for fact, change in changed_facts.items() if change is not None}


def _find_changes(tx: Transaction, periods: list[_Period], asked: set[_Place]) -> dict[_Place, ChangedFact]:
    """Compare the values in some periods with the values in force, and find the time of each change."""
    last = len(periods) - 1
    values = _load_values(tx, periods, {at for place in asked for at in (place, _Place(last, place.pointer))})

    def get(place: int, pointer: str) -> _ValueInRun | None:
        return values.get((periods[place].run_id, pointer))

    changed = [
        past for past in asked if (value := get(*past)) is not None and not value.equals(get(last, past.pointer))
    ]
    between = {
        _Place(place, past.pointer)
        for past in changed
        for place in range(max(past.period + 1, last - PERIODS_LOOKED_BACK_MAX), last)
    }
    values |= _load_values(tx, periods, between)
    changes: dict[_Place, ChangedFact] = {}
    for past in changed:
        before = values[periods[past.period].run_id, past.pointer]
        since = last
        while since > past.period + 1 and _Place(since - 1, past.pointer) in between:
            if before.equals(get(since - 1, past.pointer)):
                break
            since -= 1
        else:
            since = past.period + 1
        is_removed = get(last, past.pointer) is None
        changes[past] = ChangedFact(periods[since].rev, periods[since].at, is_removed, get_value(before))
    return changes


def _load_periods(tx: Transaction) -> list[_Period]:
    """Return the runs and the revisions from which they were in force."""
    # Of several runs the first in this order is in force, as in `latest_committed`.
    order: list[str] = tx.scalars(sql.ever_committed, project_id=tx.project.id)
    if not order:
        return []
    in_view: set[str] = set()
    periods: list[_Period] = []
    for event in list_event_headers(tx, order, [Op.COMMITTED, Op.DELETED]):
        if event.op == Op.COMMITTED:
            in_view.add(event.subject)
        else:
            in_view.discard(event.subject)
        in_force = next((run_id for run_id in order if run_id in in_view), None)
        if not periods or periods[-1].run_id != in_force:
            periods.append(_Period(event.rev, event.at, in_force))
    return periods


def _load_values(
    tx: Transaction, periods: list[_Period], places: Iterable[_Place]
) -> dict[tuple[str | None, str], _ValueInRun]:
    """Return the values of facts in the runs of some periods, by run and pointer."""
    pairs = {run_id + pointer for place, pointer in places if (run_id := periods[place].run_id) is not None}
    if not pairs:
        return {}
    rows = load_rows(tx, sql.values_in_runs, _ValueInRun, project_id=tx.project.id, pairs=to_json_array(pairs))
    return {(row.run_id, row.pointer): row for row in rows}


RUNS = 10
RUNS_MAX = 100


class TraceFact(Struct, rename="camel", forbid_unknown_fields=True):
    """The fact, and the number of latest runs to read."""

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


class _RowInRun(ValueColumns):
    run_id: str
    status: RunStatus
    at: str
    by: str | None
    label: str
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
    targets = providers.find_work_targets(tx, nodes).found if nodes else {}
    targets |= providers.find_purpose_targets(tx, keys).found if keys else {}
    return [RestingItem(item.ref, item.kind, item.title) for link in links if (item := targets.get(link.source))]


OPERATION = declare(
    trace,
    name="context.trace",
    summary="Show one fact through the runs, and the work and purpose that rest on it.",
    permission=Permission.CONTEXT_READ,
    effect=Effect.READ,
    http=Route("GET", "/projects/{project}/context/trace"),
)
