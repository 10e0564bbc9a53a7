"""A committed run and everything below it stay unchanged by any SQL on the app's own connection."""

from __future__ import annotations

import pytest

from groundplan.context.tables import FROZEN
from groundplan.kernel.store.migrations import Dialect
from groundplan.purpose import tables as purpose_tables
from tests.context.rows import insert_families, make_family
from tests.engines import Engine, person
from tests.kernel.store.attacks import FreezeAttack, Precondition, sql_drop_guards

ADA = person("ada")
(RUNS,) = FROZEN
# Versions refer to runs: TRUNCATE ... CASCADE reaches them and their guards.
STANDING_ON_RUNS = [name for versions in purpose_tables.FROZEN for name in (versions.parent, *versions.children)]
PAST_GRANTS = (Precondition.EDIT, Precondition.UNDO, Precondition.DETACH, Precondition.BULK)


class Scene:
    """A committed run, a partly committed one, and two drafts."""

    def __init__(self, engine: Engine) -> None:
        project: str = engine.session(ADA.id).call("project.create", name="atlas").project.id
        self.final = [
            make_family(project, status, status, base)
            for status, base in zip(RUNS.values, (None, *RUNS.values), strict=False)
        ]
        self.draft = make_family(project, "draft")
        other = make_family(project, "other")
        insert_families(engine, *self.final, self.draft, other)
        self.siege = FreezeAttack(engine, RUNS, other)


@pytest.fixture
def scene(engine: Engine) -> Scene:
    return Scene(engine)


def test_a_committed_run_and_all_below_it_withstand_every_attack(engine: Engine, scene: Scene) -> None:
    siege = scene.siege
    for target in scene.final:
        with engine.transaction(ADA, keep=False) as run:
            assert siege.find_accepted(run, siege.attacks(target, *Precondition)) == []
        if engine.dialect is Dialect.POSTGRES:
            # Where the app role lacks the rights, the guards stop those who have them.
            with engine.owner_transaction() as run:
                assert siege.find_accepted(run, siege.attacks(target, *PAST_GRANTS)) == []


def test_the_same_edits_change_a_draft(engine: Engine, scene: Scene) -> None:
    with engine.owner_transaction() as run:
        assert scene.siege.without_effect(run, scene.siege.attacks(scene.draft, Precondition.EDIT)) == []


@pytest.mark.slow
def test_without_the_guards_the_same_attacks_change_a_committed_run(engine: Engine, scene: Scene) -> None:
    siege, guards = scene.siege, sql_drop_guards(engine, [*scene.siege.tables, *STANDING_ON_RUNS])
    for target in scene.final:
        for references in (True, False):
            ways = (Precondition.EDIT, Precondition.UNDO, Precondition.BULK) if references else (Precondition.DETACH,)
            attacks = siege.attacks(target, *ways)
            with engine.owner_transaction(references=references) as run:
                for statement in guards:
                    run(statement)
                assert siege.without_effect(run, attacks) == []


def test_only_the_owner_can_take_the_guards_down(engine: Engine, scene: Scene) -> None:
    attacks = scene.siege.attacks(scene.final[0], Precondition.TAMPER)

    with engine.owner_transaction() as run:
        assert scene.siege.without_effect(run, attacks) == []
