"""Find the facts that links lead to, by their pointers."""

from __future__ import annotations

from collections.abc import Sequence

from groundplan.context.resolve import find_latest_committed_run
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.providers import LinkTarget, LinkTargets

CANDIDATES_MAX = 500  # pointers that an unknown one is compared with
EXPLAINED_MAX = 20  # unknown pointers that get suggestions; a call with more has a more general mistake
NEAR_MAX = 3
POINTER_CHARS_COMPARED = 200

sql = load_queries(__file__)


def find_fact_targets(tx: Transaction, pointers: Sequence[str]) -> LinkTargets:
    """Return the facts with some pointers: those of the run in force, else of a draft."""
    run = find_latest_committed_run(tx)
    found = {} if run is None else _find_inputs(tx, [run.id], pointers)
    unknown = [pointer for pointer in dict.fromkeys(pointers) if pointer not in found]
    if not unknown:
        return LinkTargets(found, {})
    drafts: list[str] = tx.scalars(sql.drafts_of_project, project_id=tx.project.id)
    if drafts:
        found |= _find_inputs(tx, drafts, unknown)
        unknown = [pointer for pointer in unknown if pointer not in found]
    runs = [*([run.id] if run else ()), *drafts]
    if not unknown or not runs:
        return LinkTargets(found, {})
    known = tx.scalars(
        sql.pointers_of_runs, project_id=tx.project.id, run_ids=to_json_array(runs), at_most=CANDIDATES_MAX
    )
    near = {pointer: _find_near(pointer, known) for pointer in unknown[:EXPLAINED_MAX]}
    return LinkTargets(found, {pointer: names for pointer, names in near.items() if names})


def _find_inputs(tx: Transaction, run_ids: Sequence[str], pointers: Sequence[str]) -> dict[str, LinkTarget]:
    place = {"project_id": tx.project.id, "run_ids": to_json_array(run_ids)}
    rows = tx.all(sql.inputs_by_pointer, LinkTarget, **place, pointers=to_json_array(pointers))
    return {row.ref: row for row in rows}


def _find_near(pointer: str, known: Sequence[str]) -> list[str]:
    """Return the pointers that resemble an unknown one: in the same place, with the same last step, or by spelling."""
    folded = pointer[:POINTER_CHARS_COMPARED].casefold().strip().strip("/")
    parent, _, last = folded.rpartition("/")
    by_folded = {other[:POINTER_CHARS_COMPARED].casefold().strip("/"): other for other in known}
    if folded in by_folded:
        return [by_folded[folded]]
    same_step = [other for name, other in by_folded.items() if name.rpartition("/")[2] == last]
    if same_step:
        return same_step[:NEAR_MAX]
    from difflib import get_close_matches  # imported here because only an unknown pointer needs it

    beside = {name.rpartition("/")[2]: other for name, other in by_folded.items() if name.startswith(f"{parent}/")}
    found = get_close_matches(last, beside, n=NEAR_MAX)
    if found:
        return [beside[name] for name in found]
    return [by_folded[name] for name in get_close_matches(folded, by_folded, n=NEAR_MAX)]
