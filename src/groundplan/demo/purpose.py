"""Write the theory of the example: why wells, and not a pipeline, bring safe water to the valley.

The first version relies on a spring that fell dry, and the second one drops it. In a third draft, an agent responds to
a fee that is not paid everywhere. Every step runs only if the theory is unchanged since the step before, so a second
fill changes nothing, an interrupted fill is completed, and edits by others stay.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from groundplan.demo.history import MoveTo, find_day_of_fill, stand_still
from groundplan.demo.theory import GOAL, Days, Ops, first_version
from groundplan.demo.theory_changes import draft_in_progress, first_observations, later_observations, second_version
from groundplan.demo.work import AGENT
from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.session import Session


class TheoryProgress(NamedTuple):
    """The state of a theory: number and status of its last version, its revision, the number of observations."""

    number: int
    status: str
    rev: int
    recorded: int


Step = Callable[[Session, str, Days], object]


def fill_purpose(session: Session, project: str, move_to: MoveTo = stand_still) -> bool:
    """Write the theory of the example into a project, and return whether anything was written."""
    (created_at,) = [row.created_at for row in session.call("project.list").projects if row.name == project]
    now = session.store.read(session.actor, lambda tx: tx.now)
    days = Days(find_day_of_fill(created_at, now, move_to))
    early = sum(map(len, first_observations(days).values()))
    total = early + sum(map(len, later_observations(days).values()))
    # Each step with the progress that it requires, and how many days ago it was.
    steps: tuple[tuple[TheoryProgress, float, Step], ...] = (
        (TheoryProgress(0, "", 0, 0), 42, _begin),
        (TheoryProgress(1, "DRAFT", 1, 0), 41, _make_edit_step(first_version)),
        (TheoryProgress(1, "DRAFT", 2, 0), 40, _publish),
        (TheoryProgress(1, "PUBLISHED", 3, 0), 30, _make_record_step(first_observations)),
        (TheoryProgress(1, "PUBLISHED", 3, early), 28, _begin),
        (TheoryProgress(2, "DRAFT", 4, early), 27, _make_edit_step(second_version)),
        (TheoryProgress(2, "DRAFT", 5, early), 26, _publish),
        (TheoryProgress(2, "PUBLISHED", 6, early), 9, _make_record_step(later_observations)),
        (TheoryProgress(2, "PUBLISHED", 6, total), 4, _begin),
        (TheoryProgress(3, "DRAFT", 7, total), 3, _as_agent(_make_edit_step(draft_in_progress))),
    )
    progress = _load_progress(session, project)
    has_changed = False
    for before, days_ago, step in steps:
        if progress == before:
            move_to(days_ago)
            step(session, project, days)
            progress = _load_progress(session, project)
            has_changed = True
    return has_changed


def _load_progress(session: Session, project: str) -> TheoryProgress | None:
    """Return the progress of the theory; None if it is not the theory of the example."""
    opened = session.call("purpose.open", project=project)
    if opened.version is None:
        return TheoryProgress(0, "", 0, 0)
    is_foreign = bool(opened.nodes) and opened.nodes[0].title != GOAL
    observed = session.call("purpose.observations", project=project)
    recorded = sum(map(len, (observed.measurements, observed.reviews, observed.waivers, observed.decisions)))
    return None if is_foreign else TheoryProgress(opened.version.number, opened.version.status, opened.rev, recorded)


def _begin(session: Session, project: str, _days: Days) -> None:
    session.call("purpose.draft", project=project)


def _publish(session: Session, project: str, _days: Days) -> None:
    session.call("purpose.publish", project=project)


def _make_edit_step(operations: Callable[[Days], Ops]) -> Step:
    return lambda session, project, days: session.call("purpose.edit", project=project, operations=operations(days))


def _make_record_step(observations: Callable[[Days], dict[str, Ops]]) -> Step:
    return lambda session, project, days: session.call("purpose.record", project=project, **observations(days))


def _as_agent(step: Step) -> Step:
    def call_as_agent(session: Session, project: str, days: Days) -> object:
        agent = Session(session.store, local_actor(AGENT, kind=ActorKind.AGENT), session.operations)
        return step(agent, project, days)

    return call_as_agent
