"""New ids tell nothing about the ids of projects that the caller cannot see."""

from __future__ import annotations

from itertools import product

import pytest

from groundplan.kernel import ids
from groundplan.kernel.ids import ALPHABET
from tests.engines import Engine, PostgresEngine, person

BEN = person("ben")
FREE = "q"  # the first letter of the ids that nobody uses
SHORT = ["".join(pair) for pair in product(ALPHABET, repeat=2)]
TAKE_IDS = """
INSERT INTO work_nodes (tenant_id, project_id, n, id, parent_n, rev, summary, resolved, properties, context_links,
                        created_at, created_by, updated_at, updated_by, priority, depth, open_children, open_deps,
                        blocked_above, claim_number, changed_rev)
SELECT r.tenant_id, r.project_id, taken.n, taken.id, 1, 1, r.summary, true, r.properties, r.context_links, r.created_at,
       r.created_by, r.updated_at, r.updated_by, r.priority, 1, 0, 0, 0, 0, 1
  FROM work_nodes AS r
  CROSS JOIN (SELECT 0 AS n, '' AS id WHERE false UNION ALL VALUES {rows}) AS taken
 WHERE r.n = 1
"""
ASKED_ABOUT_IDS = """
SELECT proname
  FROM pg_proc
 WHERE pronamespace = 'groundplan'::regnamespace
   AND prosecdef
   AND prosrc LIKE '%work_nodes%'
   AND 'text'::regtype = ANY (proargtypes)
"""


@pytest.fixture
def _hidden_project(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ada's project has most ids of two letters. Nobody else sees it, and new ids have two letters."""
    engine.session("ada").call("project.create", name="atlas")
    taken = enumerate((id_ for id_ in SHORT if not id_.startswith(FREE)), 2)
    engine.as_owner(TAKE_IDS.format(rows=", ".join(f"({n}, '{id_}')" for n, id_ in taken)))
    monkeypatch.setattr(ids, "SHORT_ID_CHARS_MIN", 2)


@pytest.mark.usefixtures("_hidden_project")
def test_a_new_project_and_its_root_have_one_id_whatever_ids_there_are_elsewhere(engine: Engine) -> None:
    made = engine.session("ben").call("project.create", name="borealis").project

    ((root,),) = engine.as_owner(f"SELECT id FROM work_nodes WHERE n = 1 AND project_id = '{made.id}'")
    assert made.id.startswith(FREE)
    assert root == made.id


@pytest.mark.usefixtures("_hidden_project")
@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_the_database_makes_ids_and_answers_no_question_about_one(engine: PostgresEngine) -> None:
    with engine.transaction(BEN, keep=False) as run:
        short = [id_ for (id_,) in run("SELECT gp_new_work_ids(5000, 2)")]
        long = [id_ for (id_,) in run("SELECT gp_new_work_ids(50, 14)")]

    assert {id_[0] for id_ in short} == {FREE}
    assert len(set(short)) == len(short)
    assert len(set(long)) == 50
    assert {len(id_) for id_ in long} == {14}
    assert set("".join(long)) == set(ALPHABET)
    assert engine.as_owner(ASKED_ABOUT_IDS) == []
