"""Every write leaves the events of the hand-written table, in the name of whoever made it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tests.access.permissions import RULES
from tests.access.test_matrix import error_of, make_databases, placeholder_values, populate, populate_with_purpose
from tests.engines import Engine

# What must happen before, so that the request changes something.
PREPARED_BY = {
    "project.restore": "project.archive",
    "purpose.publish": "purpose.edit",
    "template.enable": "template.disable",
}
BY_OTHERS = {"organization.leave": "ben"}  # Ada is the only owner of a project

Events = tuple[str, ...]
ALL_EVENTS = """
SELECT op, actor_id, project_id, rev, n FROM events
 UNION ALL
SELECT op, actor_id, tenant_id, rev, n FROM organization_events
"""


def find_wrong_events(engine: Engine, folder: Path, rows: Iterable[str]) -> dict[str, tuple[Events, Events]]:
    """Return the writes that leave other events than the table says, with both; each runs in a fresh database."""
    worlds, with_purpose = (make_databases(engine, folder, fill) for fill in (populate, populate_with_purpose))
    wrong = {}
    for row in rows:
        if RULES[row].reads:
            continue
        world = next(with_purpose if row.startswith("purpose.") else worlds)
        events = record_events(world, row, BY_OTHERS.get(row, "ada"))
        if events != RULES[row].leaves:
            wrong[row] = (events, RULES[row].leaves)
    return wrong


def record_events(world: Engine, row: str, who: str) -> Events:
    """Return the events that a request leaves, sorted, with their actor if it is somebody else; or its error."""
    named = placeholder_values(world, "atlas", who)
    if row in PREPARED_BY:
        assert error_of(world, PREPARED_BY[row], who, named) is None
    before = set(world.as_owner(ALL_EVENTS))
    if refusal := error_of(world, row, who, named):
        return (refusal.code,)
    events = set(world.as_owner(ALL_EVENTS)) - before
    return tuple(sorted(op if actor == who else f"{op} by {actor}" for op, actor, *_ in events))


def test_every_write_leaves_the_events_of_the_table(engine: Engine, tmp_path: Path) -> None:
    assert find_wrong_events(engine, tmp_path, RULES) == {}


def test_the_table_names_no_event_of_a_read() -> None:
    assert {row for row, rule in RULES.items() if rule.reads and rule.leaves} == set()
