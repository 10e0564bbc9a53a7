"""The machine has teeth: with any one guard of knowledge switched off, it finds a run that goes wrong."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings

from groundplan.kernel.store import store
from groundplan.kernel.store.queries import Queries, Query
from groundplan.knowledge import patterns, refs, relations, revision
from groundplan.knowledge.writing import delete, update
from tests.engines import SqliteEngine
from tests.knowledge.client import KnowledgeClient
from tests.knowledge.rows import all_rows
from tests.machines.budget import NOTICED, always
from tests.machines.knowledge_driver import run_machine
from tests.machines.test_knowledge_machine import KnowledgeMachine

pytestmark = pytest.mark.slow

STEPS_MAX = 2_400
NOTHING_DONE = "DELETE FROM graph_freshness WHERE tenant_id = :tenant_id AND 1 = 0"
NOTHING_FOUND = "SELECT d.id FROM graph_deleted AS d WHERE d.tenant_id = :tenant_id AND 1 = 0"
OF_THE_PROJECT = r"\s+AND \w\.project_id = :project_id"

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


def all_of(*sabotages: Sabotage) -> Sabotage:
    def put(monkeypatch: pytest.MonkeyPatch, engine: SqliteEngine) -> None:
        for one in sabotages:
            one(monkeypatch, engine)

    return put


def unlearned(_: pytest.MonkeyPatch, engine: SqliteEngine) -> None:
    engine.as_owner("DROP TRIGGER graph_text_relearns_atoms")


unchecked = all_of(instead(update, "refuse_stale"), instead(delete, "refuse_stale"))

SABOTAGE: dict[str, Sabotage] = {
    "any version will do": all_of(
        unchecked,
        asked(update.sql, "change_atom", r"\s+AND version = :seen_version"),
        asked(update.sql, "change_molecule", r"\s+AND version = :seen_version"),
    ),
    "a relation may lead anywhere": instead(relations, "refuse_unknown_ids"),
    "a relation may lead into another project": asked(refs.sql, "atom_names", OF_THE_PROJECT),
    "a molecule may be of another project": asked(refs.sql, "molecule_names", OF_THE_PROJECT),
    "what was deleted is not remembered": asked(delete.sql, "insert_deleted", ".+", NOTHING_DONE),
    "what was deleted is kept in memory": asked(patterns.sql, "atoms_deleted_since", ".+", NOTHING_FOUND),
    "changed patterns do not count as changed": asked(update.sql, "change_atom", ":patterns_rev", "patterns_rev"),
    "the revision of knowledge stands still": asked(revision.sql, "advance_revision", r"rev = rev \+ 1", "rev = rev"),
    "orphans keep their task": asked(delete.sql, "orphan_members", r"last_task_id = coalesce\([^)]+\)[^)]+\),"),
    "what was seen of other files is still believed": asked(update.sql, "delete_freshness", ".+", NOTHING_DONE),
    "words are never learned anew": unlearned,
    "a call that comes twice is done twice": instead(store, "find_stored_answer"),
}


@pytest.mark.teeth
@pytest.mark.parametrize("sabotage", SABOTAGE)
def test_a_guard_that_is_switched_off_is_missed(sabotage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = SqliteEngine(tmp_path / "plan.db")
    SABOTAGE[sabotage](monkeypatch, engine)
    until_found = settings(always(STEPS_MAX), phases=[Phase.generate])  # and no shrinking: that it is found will do
    with pytest.raises((*NOTICED, *engine.refusals)):
        run_machine(KnowledgeMachine, engine, until_found)
    engine.close()


def test_without_the_check_of_the_version_the_statement_itself_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = SqliteEngine(tmp_path / "plan.db")
    desk = KnowledgeClient(engine.session("ada")).open()
    desk.molecule("Shop")
    desk.atom("Cart")
    for name in ("Cart", "Shop"):
        desk.update(name, knowledge="newer")
    before = all_rows(engine)
    unchecked(monkeypatch, engine)

    for name in ("Cart", "Shop"):
        with pytest.raises(LookupError):
            desk.update(name, knowledge="mine", version=1)
    assert all_rows(engine) == before
    engine.close()
