"""A published version and everything below it stay unchanged by any SQL on the app's own connection."""

from __future__ import annotations

import pytest

from groundplan.kernel.store.migrations import Dialect
from groundplan.purpose.tables import FROZEN, VERSION_CHILD_TABLES
from tests.engines import Engine, person
from tests.kernel.store.attacks import FreezeAttack, Precondition, sql_drop_guards
from tests.purpose.rows import insert_families, make_family, publish_columns, sql_act_as_ada

ADA = person("ada")
(VERSIONS,) = FROZEN
PAST_GRANTS = (Precondition.EDIT, Precondition.UNDO, Precondition.DETACH, Precondition.BULK)


class Scene:
    """A published version and two drafts, each in its own project, because a project has one draft."""

    def __init__(self, engine: Engine) -> None:
        ada = engine.session(ADA.id)
        atlas, borealis, caspia = (
            str(ada.call("project.create", name=name).project.id) for name in ("atlas", "borealis", "caspia")
        )
        self.final = make_family(atlas, "final", publishing=publish_columns())
        self.draft = make_family(borealis, "draft", keys_from=20)
        other = make_family(caspia, "other", keys_from=40)
        insert_families(engine, self.final, self.draft, other)
        self.siege = FreezeAttack(engine, VERSIONS, other)


@pytest.fixture
def scene(engine: Engine) -> Scene:
    return Scene(engine)


def test_every_table_below_a_version_is_frozen_with_it(scene: Scene) -> None:
    assert scene.siege.tables == ["toc_versions", *VERSION_CHILD_TABLES]


def test_a_published_version_and_all_below_it_withstand_every_attack(engine: Engine, scene: Scene) -> None:
    siege = scene.siege
    with engine.transaction(ADA, keep=False) as run:
        assert siege.find_accepted(run, siege.attacks(scene.final, *Precondition)) == []
    if engine.dialect is Dialect.POSTGRES:
        # Where the app role lacks the rights, the guards stop those who have them.
        with engine.owner_transaction() as run:
            for statement in sql_act_as_ada(engine):
                run(statement)
            assert siege.find_accepted(run, siege.attacks(scene.final, *PAST_GRANTS)) == []


def test_the_same_edits_change_a_draft(engine: Engine, scene: Scene) -> None:
    with engine.owner_transaction() as run:
        assert scene.siege.without_effect(run, scene.siege.attacks(scene.draft, Precondition.EDIT)) == []


@pytest.mark.slow
def test_without_the_guards_the_same_attacks_change_a_published_version(engine: Engine, scene: Scene) -> None:
    siege, guards = scene.siege, sql_drop_guards(engine, scene.siege.tables)
    for references in (True, False):
        ways = (Precondition.EDIT, Precondition.UNDO, Precondition.BULK) if references else (Precondition.DETACH,)
        attacks = siege.attacks(scene.final, *ways)
        with engine.owner_transaction(references=references) as run:
            for statement in guards:
                run(statement)
            assert siege.without_effect(run, attacks) == []


def test_only_the_owner_can_take_the_guards_down(engine: Engine, scene: Scene) -> None:
    attacks = scene.siege.attacks(scene.final, Precondition.TAMPER)

    with engine.owner_transaction() as run:
        for statement in sql_act_as_ada(engine):
            run(statement)
        assert scene.siege.without_effect(run, attacks) == []


@pytest.mark.parametrize("table", VERSION_CHILD_TABLES)
@pytest.mark.usefixtures("scene")
def test_a_row_without_a_version_is_told_what_is_missing_and_not_that_it_is_final(engine: Engine, table: str) -> None:
    listed = (
        f"SELECT name FROM pragma_table_info('{table}')"
        if engine.dialect is Dialect.SQLITE
        else f"SELECT attname FROM pg_attribute WHERE attrelid = '{table}'::regclass AND attnum > 0"
    )
    given = ", ".join(name for (name,) in engine.as_owner(listed) if name != "toc_version_id")

    with engine.transaction(ADA, keep=False) as run, pytest.raises(engine.refusals, match="toc_version_id is missing"):
        run(f"INSERT INTO {table} (toc_version_id, {given}) SELECT NULL, {given} FROM {table}")
