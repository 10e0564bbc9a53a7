"""Facts: the facts that the plan rests on, with provenance, sources and gaps, and one fact in the inspector."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec

from groundplan.context.refusals import StaleBase
from groundplan.context.schemas import MergeSide, RunStatus, SourceKind, ValueKind
from groundplan.context.values import encode_json, get_value
from groundplan.session import Session
from groundplan.surfaces.web.areas.throughline import read_throughline
from groundplan.surfaces.web.forms import BEFORE
from groundplan.surfaces.web.visit import Area, Visit
from groundplan.surfaces.web.words import FactValue, describe_fact_value, describe_value

ROWS = 200  # facts on one page
RUNS = 50
EVENTS = 10
DRAFT = "draft"  # in the address: the newest draft, whatever its id
LINKED_SCHEMES = ("http://", "https://")
SHOWN_ROW = f"{BEFORE}row"  # the field of a form with the digest of what its page showed
MARK_CHARS = 16


class FactRow(NamedTuple):
    """A row of the table: an input or a constraint, and its pending suggestion."""

    name: str
    fact: Any
    value: FactValue
    suggestions: list[tuple[Any, FactValue]]
    is_missing: bool = False


class DiffRow(NamedTuple):
    """A difference between two runs."""

    name: str
    changes: list[str]
    before: tuple[FactValue, str] | None  # with the provenance
    after: tuple[FactValue, str] | None
    fields: list[Any]


class ConflictRow(NamedTuple):
    """A fact that the draft and the run in force changed differently, with the names of the fields that differ."""

    name: str
    base: str
    theirs: str
    mine: str
    differing: str


class Conflicts(NamedTuple):
    """The conflicts of a refused commit, and for each side the fields of the form that keeps it and its button."""

    rows: list[ConflictRow]
    choices: Sequence[tuple[str, Mapping[str, str], str]]


def read_facts(visit: Visit) -> Mapping[str, Any]:
    """Return the facts of the run in the address, else of the run in force, else of the draft."""
    scope = {"scopeId": visit.project.name}
    runs = visit.session.call("context.list", **scope, limit=RUNS).runs
    drafts = [run for run in runs if run.status is RunStatus.DRAFT]
    committed = [run for run in runs if run.status is not RunStatus.DRAFT]
    in_force = max(committed, key=lambda run: run.committed_at, default=None)
    chosen = _choose_run(visit, runs, drafts, in_force)
    shown: dict[str, Any] = {"runs": runs, "drafts": drafts, "in_force": in_force, "run": chosen, "view": None}
    if chosen is None:
        return shown
    view = visit.session.call("context.view", **scope, runId=chosen.id)
    suggestions = view.suggestions or []
    rows = [
        _make_row(
            pointer, fact, [suggestion for suggestion in suggestions if suggestion.pointer == pointer], view.missing
        )
        for pointer, fact in view.inputs_by_pointer.items()
    ]
    constraints = [
        _make_row(fact.key, fact, [suggestion for suggestion in suggestions if suggestion.key == fact.key], ())
        for fact in view.constraints
    ]
    page = _read_page_number(visit.query.get("page"))
    shown |= {
        "view": view,
        "total": len(rows),
        "page": page,
        "has_more": len(rows) > page * ROWS,
        "domains": _group_by_domain(rows[(page - 1) * ROWS : page * ROWS]),
        "constraints": constraints,
        "may_edit": chosen.status is RunStatus.DRAFT and visit.may("context:write"),
        "may_fill": chosen == in_force and chosen.status is RunStatus.PARTIAL_COMMITTED and visit.may("context:write"),
        "conflicts": _read_conflicts(visit),
        "next_missing": _find_next_missing(view.missing, visit.query.get("fact")),
        "value_kinds": list(ValueKind),
        "source_kinds": list(SourceKind),
        "encode": lambda value: msgspec.json.format(msgspec.json.encode(value)).decode(),
        "is_address": is_address,
        "seen": lambda row: {"expected_rev": view.rev, SHOWN_ROW: mark_row(row)},
        "compared": _read_diff(visit, chosen, runs),
        "compare_with": _find_base(chosen, committed, in_force),
    }
    return shown | _read_selected(visit, view, rows, constraints)


def _read_conflicts(visit: Visit) -> Conflicts | None:
    """Return what a refused commit contradicts, with the two ways to settle all of it."""
    if visit.refusal is None or visit.refusal.error.code != StaleBase.code:
        return None
    details = visit.refusal.error.details["conflicts"]
    rows = [
        ConflictRow(
            conflict["pointer"],
            describe_value(conflict["base"]) or "not set",
            _describe_side(conflict, MergeSide.THEIRS),
            _describe_side(conflict, MergeSide.MINE),
            ", ".join(conflict.get("fields", ())),
        )
        for conflict in details
    ]
    kept = {"allowPartial": visit.refusal.fields.get("allowPartial", "false")}
    choices = [
        (side, {**kept, "resolve|json": encode_json({row.name: side for row in rows})}, label)
        for side, label in ((MergeSide.MINE, "Keep the draft"), (MergeSide.THEIRS, "Keep what is in force"))
    ]
    return Conflicts(rows, choices)


def _describe_side(conflict: Mapping[str, Any], side: MergeSide) -> str:
    return "removed" if conflict.get("removed") == side else describe_value(conflict[side]) or "not set"


def mark_row(row: Any) -> str:
    """Return a digest of a row, so that a form can tell which state its page showed."""
    return sha256(msgspec.json.encode(row)).hexdigest()[:MARK_CHARS]


def rebase_edit(session: Session, project: str, fields: Mapping[str, str]) -> Mapping[str, str] | None:
    """Return the fields of an edit with the current revision of the run if its row is as the page showed it.

    The revision of a run counts every change in it; without this, an agent that fills in other facts would keep a
    person from saving one.
    """
    if SHOWN_ROW not in fields or "runId" not in fields:
        return None
    view = session.call("context.view", scopeId=project, runId=fields["runId"])
    rows = {
        "inputs.0.pointer": view.inputs_by_pointer,
        "constraints.0.key": {constraint.key: constraint for constraint in view.constraints},
        "sources.0.id": view.sources_by_id,
        "artifacts.0.id": {artifact.id: artifact for made in view.artifacts_by_type.values() for artifact in made},
    }
    row = next((by_name.get(fields[name]) for name, by_name in rows.items() if name in fields), None)
    if row is None or mark_row(row) != fields[SHOWN_ROW]:
        return None
    return {**fields, "expected_rev": str(view.rev)}


def _choose_run(visit: Visit, runs: list[Any], drafts: list[Any], in_force: Any) -> Any:
    """Return the run to show. If it is older than the listed runs, it is read by its id."""
    wanted = visit.query.get("run")
    if wanted == DRAFT and drafts:
        return drafts[0]
    if wanted and wanted != DRAFT:
        listed = next((run for run in runs if run.id == wanted), None)
        return listed or visit.session.call("context.fetch_run", runId=wanted).run
    return in_force or next(iter(drafts), None)


def is_address(uri: str) -> bool:
    """Return True if an address may become a link: only pages of the web, never a script."""
    return uri.lower().startswith(LINKED_SCHEMES)


def _make_row(name: str, fact: Any, suggestions: Iterable[Any], missing: Iterable[str]) -> FactRow:
    offered = [
        (suggestion, describe_fact_value(suggestion.value_kind, get_value(suggestion))) for suggestion in suggestions
    ]
    return FactRow(name, fact, describe_fact_value(fact.value_kind, get_value(fact)), offered, name in missing)


def _group_by_domain(rows: Iterable[FactRow]) -> dict[str, list[FactRow]]:
    by_domain: dict[str, list[FactRow]] = {}
    for row in rows:
        by_domain.setdefault(row.fact.domain, []).append(row)
    return dict(sorted(by_domain.items()))


def _read_page_number(text: str | None) -> int:
    return max(1, int(text)) if text and text.isascii() and text.isdigit() and len(text) < 6 else 1


def _find_next_missing(missing: list[str], selected: str | None) -> str | None:
    if not missing:
        return None
    at = missing.index(selected) if selected in missing else -1
    return missing[(at + 1) % len(missing)]


def _find_base(chosen: Any, committed: list[Any], in_force: Any) -> Any:
    """Return the run to compare with: for a draft the run in force, else the run committed before."""
    if chosen.status is RunStatus.DRAFT:
        return in_force
    earlier = [run for run in committed if run.committed_at < chosen.committed_at]
    return max(earlier, key=lambda run: run.committed_at, default=None)


def _read_diff(visit: Visit, chosen: Any, runs: list[Any]) -> Mapping[str, Any] | None:
    base = visit.query.get("compare")
    if not base:
        return None
    diff = visit.session.call("context.diff", **{"from": base, "to": chosen.id})
    rows = [
        DiffRow(
            getattr(fact, "pointer", None) or fact.key,
            [str(change).replace("_", " ") for change in (fact.change, *(fact.also or ()))],
            _describe_state(fact.before),
            _describe_state(fact.after),
            list(fact.fields or ()),
        )
        for fact in (*diff.inputs, *diff.constraints)
    ]
    return {"base": next((run for run in runs if run.id == base), None), "rows": rows, "sources": diff.sources}


def _describe_state(state: Any) -> tuple[FactValue, str] | None:
    return (describe_fact_value(state.value_kind, state.value), state.provenance) if state else None


def _read_selected(visit: Visit, view: Any, rows: list[FactRow], constraints: list[FactRow]) -> dict[str, Any]:
    """Return the item of the inspector: a fact, a constraint, a source or an artifact of the run."""
    shown: dict[str, Any] = {"fact": None, "constraint": None, "source": None, "artifact": None}
    shown |= {"trace": None, "history": ()}
    fact, key, source, artifact = (visit.query.get(name) for name in ("fact", "constraint", "source", "artifact"))
    if fact:
        shown["fact"] = next((row for row in rows if row.name == fact), None)
        shown["trace"] = (
            visit.session.call("context.trace", scopeId=visit.project.name, pointer=fact) if shown["fact"] else None
        )
    elif key:
        shown["constraint"] = next((row for row in constraints if row.name == key), None)
    elif source:
        shown["source"] = view.sources_by_id.get(source)
        shown["backed"] = [row for row in rows if source in row.fact.source_ids]
        shown["backed_constraints"] = [row for row in constraints if row.fact.source_id == source]
    elif artifact:
        artifacts = (artifact for several in view.artifacts_by_type.values() for artifact in several)
        shown["artifact"] = next((made for made in artifacts if made.id == artifact), None)
    row = shown["fact"] or shown["constraint"]
    if row:
        shown["history"] = visit.call("event.list", subject=row.fact.id, limit=EVENTS).events
    if shown["trace"]:
        shown["line"] = read_throughline(visit, shown["trace"].pointer)
        shown["trace_values"] = [describe_fact_value(run.value_kind, run.value) for run in shown["trace"].runs]
    return shown


OPERATIONS = frozenset({"context.create_draft", "context.edit", "context.commit", "context.discard"})
AREA = Area("facts", "Facts", "f", "facts.html", read_facts, OPERATIONS, rebase_edit)
