"""Reads of facts for other slices: facts in force, facts that work rests on, and facts by pointer, id and words."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from groundplan.context.resolve import find_latest_committed_run, find_required_unset
from groundplan.context.schemas import Provenance, ValueColumns
from groundplan.context.values import get_value, load_rows
from groundplan.kernel.search_words import SearchWords, TextMatch, build_parameters, drop_repeated
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.providers import LinkTarget, LinkTargets

sql = load_queries(__file__)


class FactValue(NamedTuple):
    """A fact of the run in force."""

    pointer: str
    label: str
    value: Any
    provenance: Provenance


class ConstraintValue(NamedTuple):
    """A constraint of the run in force; its value is None if it is unknown."""

    key: str
    value: Any
    provenance: Provenance


class FactsInForce(NamedTuple):
    """The first facts and constraints of the run in force, and the total number of each."""

    constraints: list[ConstraintValue]
    constraints_total: int
    facts: list[FactValue]  # the linked ones first, then by label
    facts_total: int
    missing: list[str]  # linked pointers without a value first, then the other required ones


class _ValueRow(ValueColumns):
    name: str
    label: str
    provenance: Provenance
    total: int


def read_facts_in_force(tx: Transaction, linked: Collection[str], *, at_most: int) -> FactsInForce | None:
    """Return the first constraints and facts of the run in force, `at_most` of each; None if nothing was committed.

    `linked` are the pointers that come first.
    """
    run = find_latest_committed_run(tx)
    if run is None:
        return None
    pointers = to_json_array(linked)
    constraints = load_rows(tx, sql.first_constraints, _ValueRow, run_id=run.id, at_most=at_most)
    facts = load_rows(tx, sql.first_facts, _ValueRow, run_id=run.id, linked=pointers, at_most=at_most)
    known = set(tx.scalars(sql.pointers_with_value, run_id=run.id, pointers=pointers)) if linked else set()
    unset = dict.fromkeys(pointer for pointer in linked if pointer not in known)
    return FactsInForce(
        [ConstraintValue(row.name, get_value(row), row.provenance) for row in constraints],
        constraints[0].total if constraints else 0,
        [FactValue(row.name, row.label, get_value(row), row.provenance) for row in facts],
        facts[0].total if facts else 0,
        list(unset | dict.fromkeys(find_required_unset(tx, run.id))),
    )


CANDIDATES_MAX = 500  # pointers that an unknown one is compared with
EXPLAINED_MAX = 20  # unknown pointers that get suggestions; a call with more has a more general mistake
NEAR_MAX = 3
POINTER_CHARS_COMPARED = 200


def find_fact_targets(tx: Transaction, pointers: Sequence[str]) -> LinkTargets:
    """Return the facts with some pointers, from the run in force or else from a draft."""
    run = find_latest_committed_run(tx)
    inputs = {} if run is None else _find_inputs(tx, [run.id], pointers)
    unknown = [pointer for pointer in dict.fromkeys(pointers) if pointer not in inputs]
    if not unknown:
        return LinkTargets(inputs, {})
    drafts = list_drafts(tx)
    if drafts:
        inputs |= _find_inputs(tx, drafts, unknown)
        unknown = [pointer for pointer in unknown if pointer not in inputs]
    runs = [*([run.id] if run else ()), *drafts]
    if not unknown or not runs:
        return LinkTargets(inputs, {})
    known = tx.scalars(
        sql.pointers_of_runs, project_id=tx.project.id, run_ids=to_json_array(runs), at_most=CANDIDATES_MAX
    )
    near = {pointer: _find_near(pointer, known) for pointer in unknown[:EXPLAINED_MAX]}
    return LinkTargets(inputs, {pointer: names for pointer, names in near.items() if names})


def list_drafts(tx: Transaction) -> list[str]:
    """Return the ids of the drafts of the current project, newest first."""
    return tx.scalars(sql.drafts_of_project, project_id=tx.project.id)


def _find_inputs(tx: Transaction, run_ids: Sequence[str], pointers: Sequence[str]) -> dict[str, LinkTarget]:
    place = {"project_id": tx.project.id, "run_ids": to_json_array(run_ids)}
    rows = tx.all(sql.inputs_by_pointer, LinkTarget, **place, pointers=to_json_array(pointers))
    return {row.ref: row for row in rows}


def _find_near(pointer: str, known: Sequence[str]) -> list[str]:
    """Return pointers that resemble an unknown one: with the same parent or last step, or with a similar spelling."""
    folded = pointer[:POINTER_CHARS_COMPARED].casefold().strip().strip("/")
    parent, _, last = folded.rpartition("/")
    by_folded = {candidate[:POINTER_CHARS_COMPARED].casefold().strip("/"): candidate for candidate in known}
    if folded in by_folded:
        return [by_folded[folded]]
    same_step = [candidate for name, candidate in by_folded.items() if name.rpartition("/")[2] == last]
    if same_step:
        return same_step[:NEAR_MAX]
    from difflib import get_close_matches  # imported here because only an unknown pointer needs it

    beside = {
        name.rpartition("/")[2]: candidate for name, candidate in by_folded.items() if name.startswith(f"{parent}/")
    }
    close_names = get_close_matches(last, beside, n=NEAR_MAX)
    if close_names:
        return [beside[name] for name in close_names]
    return [by_folded[name] for name in get_close_matches(folded, by_folded, n=NEAR_MAX)]


class DraftFact(Struct):
    """An input by its pointer or a constraint by its key, and the draft that it belongs to."""

    id: str
    run_id: str
    ref: str
    is_input: bool


def find_draft_facts(tx: Transaction, ids: Iterable[str]) -> dict[str, DraftFact]:
    """Return the inputs and constraints with some ids that are in a draft of the current project, by id."""
    rows = tx.all(sql.draft_facts, DraftFact, project_id=tx.project.id, ids=to_json_array(ids))
    return {row.id: row for row in rows}


def find_facts(tx: Transaction, projects: Sequence[str], words: SearchWords) -> list[TextMatch]:
    """Return matching inputs, constraints, sources and artifacts of some projects, by pointer, key or id.

    What the run in force and a draft have is returned once, as it is in force. Those with all words in their titles
    come first.
    """
    return drop_repeated(tx.all(sql.facts_with_words, TextMatch, **build_parameters(projects, words)))
