"""Plans for the tests of reading: small ones by operations, large ones by SQL."""

from __future__ import annotations

from typing import Any

from groundplan.kernel.actors import Actor, local_actor
from groundplan.kernel.answers import encode
from groundplan.kernel.preferences import Preferences
from groundplan.session import Session
from tests.engines import Engine

STAMP = "2026-01-01T00:00:00.000Z"


def session_with_cap(engine: Engine, tokens_max: int, actor: Actor | None = None) -> Session:
    """Return a session with a limit on the size of answers."""
    preferences = Preferences(answer_tokens_max=tokens_max)
    return Session(engine.store, actor or local_actor("ada"), preferences=preferences)


def plan(session: Session, project: str, *nodes: dict[str, Any], **call: Any) -> dict[str, str]:
    """Plan nodes and return their ids by ref."""
    given = [{"summary": node["ref"], **node} for node in nodes]
    made = session.call("work.plan", project=project, nodes=given, **call)
    return {one.ref: one.id for one in made.created}


def root_of(session: Session, project: str) -> str:
    """Return the id of a project's root."""
    found: str = session.call("work.open", project=project).root.id
    return found


def encode_text(answer: Any) -> str:
    """Return an answer as the text that is sent."""
    return encode(answer).decode()


def add_children(engine: Engine, project: str, parent_n: int, count: int, *, summary: str = "child") -> None:
    """Insert children below a node."""
    _add(engine, project, count, parent=str(parent_n), depth="above.depth + 1", above=str(parent_n), summary=summary)
    engine.as_owner(f"UPDATE work_nodes SET open_children = open_children + {count} WHERE n = {parent_n}")


def add_chain(engine: Engine, project: str, parent_n: int, count: int) -> None:
    """Insert a chain of nodes below a node."""
    _add(
        engine,
        project,
        count,
        parent=f"CASE WHEN i = 1 THEN {parent_n} ELSE w.last_n + i - 1 END",
        depth="above.depth + i",
        above=str(parent_n),
        summary="level",
    )
    engine.as_owner(f"UPDATE work_nodes SET open_children = 1 WHERE n = {parent_n}")


def _add(engine: Engine, project: str, count: int, *, parent: str, depth: str, above: str, summary: str) -> None:
    of_project = f"(SELECT id FROM projects WHERE name = '{project}')"
    columns = (
        "tenant_id, project_id, n, id, parent_n, rev, summary, resolved, properties, context_links, created_at, "
        "created_by, updated_at, changed_rev, priority, depth, open_children, open_deps, blocked_above, claim_number"
    )
    engine.as_owner(
        f"INSERT INTO work_nodes ({columns}) "
        f"WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < {count}) "
        f"SELECT w.tenant_id, w.project_id, w.last_n + i, 'made' || (w.last_n + i), {parent}, 1, "
        f"'{summary} ' || i, false, '{{}}', '[]', '{STAMP}', 'ada', '{STAMP}', 1, 0, {depth}, 0, 0, 0, 0 "
        f"FROM numbers CROSS JOIN work_projects AS w "
        f"JOIN work_nodes AS above ON above.project_id = w.project_id AND above.n = {above} "
        f"WHERE w.project_id = {of_project} ORDER BY i",
        f"UPDATE work_projects SET last_n = last_n + {count}, total = total + {count}, tasks = tasks + {count} "
        f"WHERE project_id = {of_project}",
    )
