"""The machine has teeth: with any one guard of the facts switched off, it finds a run that goes wrong."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings

from groundplan.context import resolve, run
from groundplan.context.editing import constraints, edit, inputs, sources, suggestion_decisions, suggestions
from groundplan.context.runs import commit, create_draft, delete
from groundplan.context.runs import list as list_runs
from groundplan.context.runs.displaced import DisplacedFacts
from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.store import store
from groundplan.kernel.store.queries import Queries, Query
from tests.engines import SqliteEngine
from tests.machines.budget import NOTICED, always
from tests.machines.context_driver import run_machine
from tests.machines.context_rows import ContextRows
from tests.machines.test_context_machine import ContextMachine

pytestmark = pytest.mark.slow

STEPS_MAX = 2_400

Sabotage = Callable[[pytest.MonkeyPatch, SqliteEngine], None]


def nothing(*_: Any, **__: Any) -> None:
    """What a guard does that was switched off."""


def instead(target: Any, name: str, replacement: Any = nothing) -> Sabotage:
    return lambda monkeypatch, _: monkeypatch.setattr(target, name, replacement)


def asked(queries: Queries, name: str, pattern: str, replacement: str = "") -> Sabotage:
    """A statement of one module that says something else, or lacks something."""

    def put(monkeypatch: pytest.MonkeyPatch, _: SqliteEngine) -> None:
        before: Query = getattr(queries, name)
        changed = re.sub(pattern, replacement, before.sqlite, flags=re.DOTALL)
        assert changed != before.sqlite
        monkeypatch.setitem(queries._queries, name, Query(name, changed))

    return put


def dropped(*names: str) -> Sabotage:
    """Triggers that are not there; each name stands for all that begin with it."""

    def put(_: pytest.MonkeyPatch, engine: SqliteEngine) -> None:
        there = [name for (name,) in engine.as_owner("SELECT name FROM sqlite_master WHERE type = 'trigger'")]
        gone = [name for name in there if name.startswith(names)]
        assert gone
        engine.as_owner(*(f"DROP TRIGGER {name}" for name in gone))

    return put


def all_of(*sabotages: Sabotage) -> Sabotage:
    def put(monkeypatch: pytest.MonkeyPatch, engine: SqliteEngine) -> None:
        for one in sabotages:
            one(monkeypatch, engine)

    return put


def any_run(tx: Any, run_id: str, *, expected_rev: int | None = None) -> Any:
    """A run, whether it is a draft or not."""
    return run.load_run(tx, run_id)


def never(*_: Any, **__: Any) -> bool:
    return False


unfrozen = all_of(instead(edit, "load_draft", any_run), instead(commit, "load_draft", any_run))
overruled = all_of(
    instead(inputs, "needs_approval", never),
    instead(constraints, "needs_approval", never),
    instead(inputs, "refuse_redefinition"),
    instead(constraints, "refuse_redefinition"),
)
unchosen = all_of(instead(inputs, "refuse_outside_options"), instead(suggestion_decisions, "refuse_outside_options"))
incomplete = instead(commit, "find_required_unset", lambda *_: [])
unbacked = all_of(
    asked(commit.sql, "unbacked_inputs", "= 'source-backed'", "= 'nobody'"),
    asked(commit.sql, "unbacked_constraints", "= 'source-backed'", "= 'nobody'"),
)

displacing = instead(commit, "find_displaced", lambda *_, **__: DisplacedFacts([], []))
deleting = instead(delete, "refuse_unless_person")

FIRST_FENCES = {
    "displaces_user_entered": displacing,
    "person_required": deleting,
    "frozen": unfrozen,
    "lower_provenance": overruled,
    "not_an_option": unchosen,
    "required_inputs_unset": incomplete,
    "source_missing": unbacked,
}

SABOTAGE: dict[str, Sabotage] = {
    "what is committed can be written to": all_of(unfrozen, dropped("guard_pciv_")),
    "a model overrules a person": all_of(
        overruled, dropped("pciv_inputs_provenance_never_lowers", "pciv_constraints_provenance_never_lowers")
    ),
    "a choice need not be an option": all_of(unchosen, dropped("pciv_inputs_value_is_an_option")),
    "a whole commit may lack something": all_of(incomplete, dropped("pciv_runs_commit_is_whole")),
    "an agent's commit displaces what a person entered": all_of(
        displacing, dropped("pciv_runs_commit_displaces_nobody")
    ),
    "an agent deletes what is committed": all_of(deleting, dropped("pciv_deleted_runs_are_deleted_by_persons")),
    "who says the same takes a person's entry": instead(commit, "_keep_entries"),
    "a key is not looked for": instead(constraints, "find_constraint"),
    "what is source-backed needs no source": all_of(unbacked, dropped("pciv_runs_commit_is_backed")),
    "the last source can go": all_of(instead(inputs, "refuse_unbacked"), instead(edit, "refuse_unbacked")),
    "anybody decides": instead(suggestions, "require_person"),
    "what was decided can be decided again": asked(
        suggestions.sql, "suggestion", r"status(?=\s+FROM)", "'pending' AS status"
    ),
    "sources of other runs are cited": asked(sources.sql, "existing_sources", r"\s+AND run_id = :run_id"),
    "what was deleted is still there": asked(run.sql, "run", r"\s+AND NOT EXISTS.+"),
    "of commits of one moment the other is in force": asked(
        resolve.sql, "latest_committed", r"r\.id(?=\s+LIMIT)", "r.id DESC"
    ),
    "shared runs are nobody's": asked(list_runs.sql, "runs", r"OR r\.user_id IS NULL"),
    "a copy begins with nothing": instead(create_draft, "copy_rows", lambda *_: {}),
    "a call that comes twice is done twice": instead(store, "find_stored_answer"),
}


@pytest.mark.teeth
@pytest.mark.parametrize("sabotage", SABOTAGE)
def test_a_guard_that_is_switched_off_is_missed(sabotage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = SqliteEngine(tmp_path / "plan.db")
    SABOTAGE[sabotage](monkeypatch, engine)
    # No shrinking and no looking for more: that it is found will do.
    until_found = settings(always(STEPS_MAX), phases=[Phase.generate], report_multiple_bugs=False)
    with pytest.raises((*NOTICED, *engine.refusals)):
        run_machine(ContextMachine, engine, until_found)
    engine.close()


@pytest.mark.parametrize("code", FIRST_FENCES)
def test_without_its_check_the_database_itself_refuses(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = SqliteEngine(tmp_path / "plan.db")
    ada, scout = engine.session("ada"), engine.session(local_actor("scout", kind=ActorKind.AGENT))
    run_id = ada.call("context.create_draft", scopeId="atlas").run.id
    level = {"pointer": "/level", "label": "Level", "valueKind": "enum", "options": ["low"], "value": "low"}
    due = {"pointer": "/due", "label": "Due", "valueKind": "string", "required": True}
    due |= {"value": "May", "provenance": "source-backed"} if code == "source_missing" else {}
    ada.call("context.edit", runId=run_id, inputs=[level, due])
    if code in ("frozen", "displaces_user_entered", "person_required"):
        ada.call("context.commit", runId=run_id, allowPartial=True)
    empty_id = scout.call("context.create_draft", scopeId="atlas").run.id
    calls: dict[str, Callable[[], Any]] = {
        "displaces_user_entered": lambda: scout.call("context.commit", runId=empty_id),
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
