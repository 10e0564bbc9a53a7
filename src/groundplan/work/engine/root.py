"""The root node of a project. All other nodes are below it, and it is never work itself."""

from __future__ import annotations

import msgspec

from groundplan.kernel.audit import changed
from groundplan.kernel.errors import Unavailable
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.engine.insert import insert_nodes
from groundplan.work.engine.row import WorkNodeRow
from groundplan.work.events import WorkOp
from groundplan.work.kinds import PROJECT, ROOT_N
from groundplan.work.order.order_keys import ROOT_KEY
from groundplan.work.preferences import WorkPreferences

PROJECT_NUMBER_LIMIT = 2**31  # the upper half of a 63-bit key, see work_text in the migration
NUMBER_TRIES_MAX = 8

sql = load_queries(__file__)


def create_root(tx: Transaction, project_id: str, summary: str) -> None:
    """Create the root of a new project, with the project's own id."""
    pipelines = tx.preferences.of(WorkPreferences).pipelines
    _create_work_project(tx, project_id, pipelines)
    root = WorkNodeRow(
        n=ROOT_N,
        id=project_id,
        parent_n=None,
        kind=PROJECT,
        feature_n=None,
        depth=0,
        open_children=0,
        open_deps=0,
        blocked_above=0,
        summary=summary,
        order_key=ROOT_KEY,
    )
    insert_nodes(tx, project_id, [root])
    changes = [changed("summary", None, summary)]
    if pipelines is not None:
        changes.append(changed("pipelines", None, msgspec.json.decode(pipelines)))
    tx.record(WorkOp.CREATED, project_id, *changes, project_id=project_id)


def _create_work_project(tx: Transaction, project_id: str, pipelines: str | None) -> None:
    from random import SystemRandom  # only a new project needs it

    # A random number, because only an actor who sees every project could know the next free one.
    for _ in range(NUMBER_TRIES_MAX):
        number = SystemRandom().randrange(1, PROJECT_NUMBER_LIMIT)
        if tx.run(sql.add_work_project, project_id=project_id, number=number, pipelines=pipelines):
            return
    raise Unavailable("found no free number for this project; try again")
