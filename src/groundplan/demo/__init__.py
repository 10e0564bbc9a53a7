"""The example data: projects of an organization that brings clean water to a valley.

One project has a theory of change, its work graph, the facts they depend on, and links between them. Another has
knowledge, a third is archived.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from groundplan.catalog import build_schema
from groundplan.demo.context import fill_context
from groundplan.demo.history import ExampleClock, MoveTo, stand_still
from groundplan.demo.knowledge import fill_knowledge
from groundplan.demo.links import fill_links
from groundplan.demo.purpose import fill_purpose
from groundplan.demo.work import AGENT, SECOND_AGENT, fill_claims, fill_work
from groundplan.kernel.access import Role
from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.clock import system_clock
from groundplan.kernel.store.open_store import open_store
from groundplan.session import Session

OWNER = "ada"
LATER_DAYS_AGO = 20  # when knowledge was written and the pilot was archived


@dataclass(frozen=True, slots=True)
class ExampleProject:
    """A project of the example: its members without the owner, its contents, and whether it is archived."""

    name: str
    goal: str
    members: Mapping[str, Role]
    agents: Mapping[str, Role] = field(default_factory=dict)
    has_work: bool = False
    has_facts: bool = False
    has_theory: bool = False
    has_knowledge: bool = False
    is_over: bool = False


PROJECTS = (
    ExampleProject(
        "clean-water",
        "By 2028 every household in the Lenta valley has safe drinking water within a ten-minute walk.",
        {"ben": Role.EDITOR, "cleo": Role.VIEWER},
        {AGENT: Role.EDITOR, SECOND_AGENT: Role.EDITOR},
        has_work=True,
        has_facts=True,
        has_theory=True,
    ),
    ExampleProject(
        "pump-monitor",
        "A broken hand pump is noticed within a day and repaired within a week.",
        {"ben": Role.OWNER},
        has_knowledge=True,
    ),
    ExampleProject(
        "school-wells-pilot",
        "Find out with three schools whether wells that parents look after keep running for a year.",
        {"cleo": Role.EDITOR},
        is_over=True,
    ),
)


def fill_database(db: str) -> list[str]:
    """Write the example into a database; if none of its projects exist yet, they get a history of some weeks."""
    owner = local_actor(OWNER, kind=ActorKind.PERSON)
    with Session(open_store(db, build_schema), owner) as session:
        names = {project.name for project in session.call("project.list", archived=True).projects}
        if not names.isdisjoint(project.name for project in PROJECTS):
            return fill(session)
    clock = ExampleClock(system_clock())
    with Session(open_store(db, build_schema, clock=clock), owner) as session:
        return fill(session, clock)


def fill(session: Session, clock: ExampleClock | None = None) -> list[str]:
    """Write the example into a store and return the names of the projects that were created or completed.

    Existing data stays as it is, so a second fill changes nothing, and an interrupted fill is completed. `clock` is
    that of the store, if the example is to have a history.
    """
    move_to = stand_still if clock is None else clock.move_to
    existing = {project.name: project for project in session.call("project.list", archived=True).projects}
    filled = []
    for project in PROJECTS:
        if clock is not None:
            clock.restart()
        is_new = project.name not in existing
        if is_new:
            session.call("project.create", name=project.name, goal=project.goal)
        elif existing[project.name].archived_at:
            continue
        if _complete(session, project, move_to) or is_new:
            filled.append(project.name)
    return filled


def _complete(session: Session, project: ExampleProject, move_to: MoveTo) -> bool:
    members = {member.user_id for member in session.call("member.list", scopeId=project.name).members}
    people = {name: (role, ActorKind.PERSON) for name, role in project.members.items()}
    agents = {name: (role, ActorKind.AGENT) for name, role in project.agents.items()}
    missing = {name: added for name, added in (people | agents).items() if name not in members}
    for name, (role, kind) in missing.items():
        session.call("member.add", scopeId=project.name, userId=name, role=role, kind=kind)
    wrote_work = project.has_work and fill_work(session, project.name, move_to)
    wrote_facts = project.has_facts and fill_context(session, project.name, move_to)
    # After the facts, so that the versions of the theory refer to them.
    wrote_theory = project.has_theory and fill_purpose(session, project.name, move_to)
    wrote_links = project.has_work and project.has_theory and fill_links(session, project.name, move_to)
    wrote_claims = project.has_work and fill_claims(session, project.name, move_to)
    move_to(LATER_DAYS_AGO)
    wrote_knowledge = project.has_knowledge and fill_knowledge(session, project.name)
    if project.is_over:
        session.call("project.archive", project=project.name)
    wrote_any = (wrote_work, wrote_facts, wrote_theory, wrote_links, wrote_claims, wrote_knowledge)
    return bool(missing) or any(wrote_any)
