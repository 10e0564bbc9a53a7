"""The machine finds a fault with any one guard of knowledge switched off."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings

from groundplan.kernel.store import store
from groundplan.kernel.store.queries import Queries, Query
from groundplan.knowledge import entities, write
from tests.engines import SqliteEngine
from tests.knowledge.client import KnowledgeClient
from tests.knowledge.rows import all_rows
from tests.machines.budget import NOTICED, fixed_settings
from tests.machines.knowledge_driver import run_machine
from tests.machines.test_knowledge_machine import KnowledgeMachine

pytestmark = pytest.mark.slow

STEPS_MAX = 24_000  # most are missed within a tenth of them
NOTHING_DONE = "DELETE FROM graph_freshness WHERE tenant_id = :tenant_id AND 1 = 0"
NOTHING_FOUND = "SELECT d.id FROM graph_deleted AS d WHERE d.tenant_id = :tenant_id AND 1 = 0"
OF_THE_PROJECT = r"\s+AND \w\.project_id = :project_id"

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


def combine(*sabotages: Sabotage) -> Sabotage:
    def put(monkeypatch: pytest.MonkeyPatch, engine: SqliteEngine) -> None:
        for one in sabotages:
            one(monkeypatch, engine)

    return put


def drop_trigger(name: str) -> Sabotage:
    def put(_: pytest.MonkeyPatch, engine: SqliteEngine) -> None:
        engine.as_owner(f"DROP TRIGGER {name}")

    return put


unchecked = replace_attribute(write, "refuse_stale")

SABOTAGE: dict[str, Sabotage] = {
    "any version will do": combine(
        unchecked,
        change_query(write.sql, "change_atom", r"\s+AND version = :seen_version"),
        change_query(write.sql, "change_molecule", r"\s+AND version = :seen_version"),
    ),
    "a relation may lead anywhere": replace_attribute(entities, "refuse_unknown_ids"),
    "a relation may lead into another project": change_query(entities.sql, "atom_names", OF_THE_PROJECT),
    "a molecule may be of another project": change_query(entities.sql, "molecule_names", OF_THE_PROJECT),
    "what was deleted is not remembered": change_query(write.sql, "insert_deleted", ".+", NOTHING_DONE),
    "what was deleted is kept in memory": change_query(write.sql, "atoms_deleted_since", ".+", NOTHING_FOUND),
    "changed patterns do not count as changed": change_query(write.sql, "change_atom", ":patterns_rev", "patterns_rev"),
    "the revision of knowledge stands still": change_query(
        write.sql, "advance_revision", r"rev = rev \+ 1", "rev = rev"
    ),
    "orphans keep their task": change_query(write.sql, "orphan_members", r"last_task_id = coalesce\([^)]+\)[^)]+\),"),
    "what was seen of other files is still believed": change_query(write.sql, "delete_freshness", ".+", NOTHING_DONE),
    "words are never learned anew": drop_trigger("graph_text_relearns_atoms"),
    "trigrams are never learned anew": drop_trigger("graph_trigrams_relearn_atoms"),
    "a call that comes twice is done twice": replace_attribute(store, "find_stored_answer"),
}


@pytest.mark.teeth
@pytest.mark.parametrize("sabotage", SABOTAGE)
def test_a_guard_that_is_switched_off_is_missed(sabotage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = SqliteEngine(tmp_path / "plan.db")
    SABOTAGE[sabotage](monkeypatch, engine)
    until_found = settings(
        fixed_settings(STEPS_MAX), phases=[Phase.generate]
    )  # and no shrinking: one finding is enough
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
