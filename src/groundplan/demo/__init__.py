"""A small example: projects of an organization that brings clean water to a valley.

One has a theory of change, the work for it and the facts that both stand on, another has knowledge, a third is over.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from groundplan.demo.context import fill_context
from groundplan.demo.knowledge import fill_knowledge
from groundplan.demo.purpose import fill_purpose
from groundplan.demo.work import fill_work
from groundplan.kernel.access import Role
from groundplan.session import Session

OWNER = "ada"


@dataclass(frozen=True, slots=True)
class ExampleProject:
    """A project, who is in it beside its owner, what it has in it, and whether it is over."""

    name: str
    goal: str
    members: Mapping[str, Role]
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


def fill(session: Session) -> list[str]:
    """Put the example into a store and return the projects that were made or completed.

    What is there already stays as it is, so filling twice changes nothing and a fill that was cut short is completed.
    """
    there = {project.name: project for project in session.call("project.list", archived=True).projects}
    made = []
    for project in PROJECTS:
        is_new = project.name not in there
        if is_new:
            session.call("project.create", name=project.name, goal=project.goal)
        elif there[project.name].archived_at:
            continue
        if _complete(session, project) or is_new:
            made.append(project.name)
    return made


def _complete(session: Session, project: ExampleProject) -> bool:
    inside = {member.user_id for member in session.call("member.list", scopeId=project.name).members}
    missing = {name: role for name, role in project.members.items() if name not in inside}
    for name, role in missing.items():
        session.call("member.add", scopeId=project.name, userId=name, role=role)
    has_worked = project.has_work and fill_work(session, project.name)
    has_facts = project.has_facts and fill_context(session, project.name)
    # Behind the facts, so that its versions stand on them.
    has_thought = project.has_theory and fill_purpose(session, project.name)
    has_written = project.has_knowledge and fill_knowledge(session, project.name)
    if project.is_over:
        session.call("project.archive", project=project.name)
    return bool(missing) or has_worked or has_facts or has_thought or has_written
