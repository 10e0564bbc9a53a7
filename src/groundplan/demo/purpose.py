"""The theory of the example: why wells, and not a pipeline, bring safe water to the valley.

The first version counted on a spring. It fell dry, so the second one does without it, and a draft goes on from there in
which an agent answers to a fee that is not paid everywhere. Every step is taken only if nothing has happened to the
theory since the step before: so filling twice changes nothing, a fill that was cut short is completed, and what
somebody wrote in the meantime stays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from groundplan.demo.theory import GOAL, Days, Ops, first_version
from groundplan.demo.theory_changes import draft_in_progress, first_observations, later_observations, second_version
from groundplan.demo.work import AGENT
from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.session import Session


class TheoryProgress(NamedTuple):
    """How far the theory of a project is: its last version, how often one was written to, what was recorded."""

    number: int
    status: str
    rev: int
    recorded: int


Step = Callable[[Session, str, Days], object]


def fill_purpose(session: Session, project: str) -> bool:
    """Give a project the theory of the example. Whether there was anything to do."""
    (made,) = [one.created_at for one in session.call("project.list").projects if one.name == project]
    days = Days(made)
    early = sum(map(len, first_observations(days).values()))
    all_of_it = early + sum(map(len, later_observations(days).values()))
    # What is seen before a step, and the step.
    steps: tuple[tuple[TheoryProgress, Step], ...] = (
        (TheoryProgress(0, "", 0, 0), _begin),
        (TheoryProgress(1, "DRAFT", 1, 0), _make_edit_step(first_version)),
        (TheoryProgress(1, "DRAFT", 2, 0), _publish),
        (TheoryProgress(1, "PUBLISHED", 3, 0), _make_record_step(first_observations)),
        (TheoryProgress(1, "PUBLISHED", 3, early), _begin),
        (TheoryProgress(2, "DRAFT", 4, early), _make_edit_step(second_version)),
        (TheoryProgress(2, "DRAFT", 5, early), _publish),
        (TheoryProgress(2, "PUBLISHED", 6, early), _make_record_step(later_observations)),
        (TheoryProgress(2, "PUBLISHED", 6, all_of_it), _begin),
        (TheoryProgress(3, "DRAFT", 7, all_of_it), _as_agent(_make_edit_step(draft_in_progress))),
    )
    seen = _load_progress(session, project)
    has_changed = False
    for before, step in steps:
        if seen == before:
            step(session, project, days)
            seen = _load_progress(session, project)
            has_changed = True
    return has_changed


def _load_progress(session: Session, project: str) -> TheoryProgress | None:
    """How far the theory is; None where it is not that of the example."""
    opened = session.call("purpose.open", project=project)
    if opened.version is None:
        return TheoryProgress(0, "", 0, 0)
    is_strange = bool(opened.nodes) and opened.nodes[0].title != GOAL
    observed = session.call("purpose.observations", project=project)
    recorded = sum(map(len, (observed.measurements, observed.reviews, observed.waivers, observed.decisions)))
    return None if is_strange else TheoryProgress(opened.version.number, opened.version.status, opened.rev, recorded)


def _begin(session: Session, project: str, _days: Days) -> None:
    session.call("purpose.draft", project=project)


def _publish(session: Session, project: str, _days: Days) -> None:
    session.call("purpose.publish", project=project)


def _make_edit_step(operations: Callable[[Days], Ops]) -> Step:
    return lambda session, project, days: session.call("purpose.edit", project=project, operations=operations(days))


def _make_record_step(observations: Callable[[Days], dict[str, Ops]]) -> Step:
    return lambda session, project, days: session.call("purpose.record", project=project, **observations(days))


def _as_agent(step: Step) -> Step:
    def taken(session: Session, project: str, days: Days) -> object:
        agent = Session(session.store, local_actor(AGENT, kind=ActorKind.AGENT), session.operations)
        return step(agent, project, days)

    return taken
