"""The machine finds a fault with any one guard of the facts switched off."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings

from groundplan.context import commit, edit, facts, merge, provenance, resolve, rows, runs, suggestions, values
from groundplan.context.schemas import Provenance
from groundplan.context.view import DisplacedFacts
from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.store import store
from groundplan.kernel.store.queries import Queries, Query
from tests.engines import SqliteEngine
from tests.machines.budget import NOTICED, fixed_settings
from tests.machines.context_driver import WEIGHTS, run_machine
from tests.machines.context_rows import ContextRows
from tests.machines.test_context_machine import ContextMachine

pytestmark = pytest.mark.slow

STEPS_MAX = 24_000  # most are missed within a tenth of them

Sabotage = Callable[[pytest.MonkeyPatch, SqliteEngine], None]


def do_nothing(*_: Any, **__: Any) -> None:
    """A switched-off guard."""


def replace_attribute(target: Any, name: str, replacement: Any = do_nothing) -> Sabotage:
    return lambda monkeypatch, _: monkeypatch.setattr(target, name, replacement)


def change_query(queries: Queries, name: str, pattern: str, replacement: str = "") -> Sabotage:
    """Change a statement of one module."""

    def put(monkeypatch: pytest.MonkeyPatch, _: SqliteEngine) -> None:
        before: Query = getattr(queries, name)
        changed = re.sub(pattern, replacement, before.sqlite, flags=re.DOTALL)
        assert changed != before.sqlite
        monkeypatch.setattr(queries, name, Query(name, changed))

    return put


def drop_triggers(*names: str) -> Sabotage:
    """Drop triggers; each name stands for all that begin with it."""

    def put(_: pytest.MonkeyPatch, engine: SqliteEngine) -> None:
        there = [name for (name,) in engine.as_owner("SELECT name FROM sqlite_master WHERE type = 'trigger'")]
        gone = [name for name in there if name.startswith(names)]
        assert gone
        engine.as_owner(*(f"DROP TRIGGER {name}" for name in gone))

    return put


def combine(*sabotages: Sabotage) -> Sabotage:
    def put(monkeypatch: pytest.MonkeyPatch, engine: SqliteEngine) -> None:
        for one in sabotages:
            one(monkeypatch, engine)

    return put


def any_run(tx: Any, run_id: str, *, expected_rev: int | None = None) -> Any:
    """Return a run, draft or not."""
    return resolve.load_run(tx, run_id)


def never(*_: Any, **__: Any) -> bool:
    return False


def is_user_entered(row: Any) -> bool:
    """Return whether a row holds a user-entered value, whoever set those of other provenance."""
    return row.provenance is Provenance.USER_ENTERED and not values.get_typed_value(row).is_unset


def take_kind_of_column(write: Any, before: Any, filled: list[Any], path: Any) -> Any:
    """Return the kind of the column that is filled, also where the row has another one."""
    return filled[0] if filled else resolve_kind(write, before, filled, path)


resolve_kind = values._resolve_kind


unfrozen = combine(replace_attribute(edit, "load_draft", any_run), replace_attribute(commit, "load_draft", any_run))
overruled = combine(
    replace_attribute(facts, "needs_approval", never),
    replace_attribute(facts, "refuse_redefinition"),
)
unchosen = replace_attribute(facts, "refuse_outside_options")
incomplete = replace_attribute(commit, "find_required_unset", lambda *_: [])
unbacked = combine(
    change_query(commit.sql, "unbacked_inputs", "= 'source-backed'", "= 'nobody'"),
    change_query(commit.sql, "unbacked_constraints", "= 'source-backed'", "= 'nobody'"),
)


def merge_nothing(_tx: Any, row: Any, _in_force_id: Any, _choices: Any) -> commit.MergedDraft:
    """Leave a draft as it is."""
    return commit.MergedDraft([], row.base_run_id)


def settle_all(self: merge.Merge, _choices: Any) -> None:
    """Keep what the draft has in every conflict."""
    self.conflicts.clear()


forgetting = replace_attribute(commit, "_merge", merge_nothing)
displacing = replace_attribute(commit, "find_displaced", lambda *_, **__: DisplacedFacts([], []))
deleting = replace_attribute(runs, "refuse_unless_person")

FIRST_FENCES = {
    "stale_base": forgetting,
    "displaces_user_entered": displacing,
    "person_required": deleting,
    "frozen": unfrozen,
    "lower_provenance": overruled,
    "not_an_option": unchosen,
    "required_inputs_unset": incomplete,
    "source_missing": unbacked,
}

SABOTAGE: dict[str, Sabotage] = {
    "what is committed can be written to": combine(unfrozen, drop_triggers("guard_pciv_")),
    "a model overrules a person": combine(
        overruled,
        drop_triggers("pciv_inputs_provenance_never_lowers", "pciv_constraints_provenance_never_lowers"),
        drop_triggers("pciv_inputs_of_a_person_stay_theirs", "pciv_constraints_of_a_person_stay_theirs"),
    ),
    "an agent overrules what a person took from a source": combine(
        replace_attribute(provenance, "is_set_by_person", is_user_entered),
        drop_triggers("pciv_inputs_of_a_person_stay_theirs", "pciv_constraints_of_a_person_stay_theirs"),
    ),
    "that a person set a value is no change of it": replace_attribute(merge.RunRows, "is_set_by_person", never),
    "who repeats a person's value lets its source go": replace_attribute(merge.SourceCopies, "cite"),
    "a choice need not be an option": combine(unchosen, drop_triggers("pciv_inputs_value_is_an_option")),
    "a whole commit may lack something": combine(incomplete, drop_triggers("pciv_runs_commit_is_whole")),
    "what is source-backed needs no source": combine(unbacked, drop_triggers("pciv_runs_commit_is_backed")),
    "the last source can go": combine(
        replace_attribute(facts, "refuse_unbacked"), replace_attribute(edit, "refuse_unbacked")
    ),
    "an agent's commit displaces what a person entered": combine(
        displacing, drop_triggers("pciv_runs_commit_displaces_nobody")
    ),
    "a commit loses what others committed": combine(forgetting, drop_triggers("pciv_runs_commit_on_the_run_in_force")),
    "of two who contradict each other the last one wins": replace_attribute(merge.Merge, "settle", settle_all),
    "what a deleted run had brought is lost": replace_attribute(
        commit, "find_base", lambda _tx, draft: draft.base_run_id
    ),
    "an agent deletes what is committed": combine(deleting, drop_triggers("pciv_deleted_runs_are_deleted_by_persons")),
    "who says the same takes a person's entry": replace_attribute(commit, "keep_entries", lambda *_, **__: []),
    "a key is not looked for": replace_attribute(facts, "find_constraint"),
    "a value brings another kind": replace_attribute(values, "_resolve_kind", take_kind_of_column),
    "anybody decides": replace_attribute(suggestions, "require_person"),
    "what was decided can be decided again": change_query(
        suggestions.sql, "suggestion", r"status(?=\s+FROM)", "'pending' AS status"
    ),
    "sources of other runs are cited": change_query(rows.sql, "existing_sources", r"\s+AND run_id = :run_id"),
    "what was deleted is still there": change_query(resolve.sql, "run", r"\s+AND NOT EXISTS.+"),
    "shared runs are nobody's": change_query(runs.sql, "runs", r"OR r\.user_id IS NULL"),
    "a copy begins with nothing": replace_attribute(runs, "copy_rows", lambda *_: {}),
    "a call that comes twice is done twice": replace_attribute(store, "find_stored_answer"),
}


# Weights of the calls that meet a guard which the usual ones seldom meet.
FAVOURED: dict[str, dict[str, int]] = {
    "an agent overrules what a person took from a source": {"turns": 40},
    "that a person set a value is no change of it": {"rival": 40, "turns": 40},
    "who repeats a person's value lets its source go": {"restate": 60, "turns": 20, "partial": 25},
    "who says the same takes a person's entry": {"restate": 40, "partial": 25},
    "a commit loses what others committed": {"rival": 40},
    "of two who contradict each other the last one wins": {"rival": 40},
    "what a deleted run had brought is lost": {"copy": 20, "partial": 25, "delete": 20},
}


@pytest.mark.teeth
@pytest.mark.parametrize("sabotage", SABOTAGE)
def test_a_guard_that_is_switched_off_is_missed(sabotage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ContextMachine, "weights", WEIGHTS | FAVOURED.get(sabotage, {}))
    engine = SqliteEngine(tmp_path / "plan.db")
    SABOTAGE[sabotage](monkeypatch, engine)
    # No shrinking and no further search: one finding is enough.
    until_found = settings(fixed_settings(STEPS_MAX), phases=[Phase.generate], report_multiple_bugs=False)
    with pytest.raises((*NOTICED, *engine.refusals)):
        run_machine(ContextMachine, engine, until_found)
    engine.close()


@pytest.mark.parametrize("code", FIRST_FENCES)
def test_without_its_check_the_database_itself_refuses(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = SqliteEngine(tmp_path / "plan.db")
    ada, scout = engine.session("ada"), engine.session(local_actor("scout", kind=ActorKind.AGENT))
    ada.call("work.open", project="atlas", policies={"agents": "owner"})
    run_id = ada.call("context.create_draft", scopeId="atlas").run.id
    level = {"pointer": "/level", "label": "Level", "valueKind": "enum", "options": ["low"], "value": "low"}
    due = {"pointer": "/due", "label": "Due", "valueKind": "string", "required": True}
    due |= {"value": "May", "provenance": "source-backed"} if code == "source_missing" else {}
    ada.call("context.edit", runId=run_id, inputs=[level, due])
    if code in ("frozen", "displaces_user_entered", "person_required"):
        ada.call("context.commit", runId=run_id, allowPartial=True)
    if code == "frozen":  # an edit of a partial run in force opens a draft
        ada.call("context.commit", runId=ada.call("context.create_draft", scopeId="atlas").run.id, allowPartial=True)
    empty_id = scout.call("context.create_draft", scopeId="atlas", copyFrom="none").run.id
    late_id = ada.call("context.create_draft", scopeId="atlas", copyFrom=run_id).run.id
    if code == "stale_base":
        ada.call("context.commit", runId=run_id, allowPartial=True)
    calls: dict[str, Callable[[], Any]] = {
        "stale_base": lambda: ada.call("context.commit", runId=late_id, allowPartial=True),
        "displaces_user_entered": lambda: scout.call("context.commit", runId=empty_id, allowDrop=True),
        "person_required": lambda: scout.call("context.delete", runId=run_id),
        "frozen": lambda: ada.call("context.edit", runId=run_id, inputs=[{"pointer": "/due", "value": "May"}]),
        "lower_provenance": lambda: scout.call(
            "context.edit", runId=run_id, inputs=[{"pointer": "/level", "value": None, "provenance": "model-inferred"}]
        ),
        "not_an_option": lambda: ada.call(
            "context.edit", runId=run_id, inputs=[{"pointer": "/level", "value": "high"}]
        ),
        "required_inputs_unset": lambda: ada.call("context.commit", runId=run_id),
        "source_missing": lambda: ada.call("context.commit", runId=run_id),
    }
    with ContextRows(engine) as rows:
        ((project_id,),) = engine.as_owner("SELECT id FROM projects")
        before = rows.of([project_id])
        FIRST_FENCES[code](monkeypatch, engine)

        with pytest.raises(GroundplanError) as refused:
            calls[code]()

        assert refused.value.code == code
        assert rows.of([project_id]) == before
    engine.close()
