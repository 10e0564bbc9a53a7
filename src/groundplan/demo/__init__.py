"""The example data: projects of an organization that brings clean water to a valley.

One project has a theory of change, its work graph and the facts they depend on. Another has knowledge, a third is
archived.
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
    """A project of the example: its members without the owner, its contents, and whether it is archived."""

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
    """Write the example into a store and return the names of the projects that were created or completed.

    Existing data stays as it is, so a second fill changes nothing, and an interrupted fill is completed.
    """
    existing = {project.name: project for project in session.call("project.list", archived=True).projects}
    filled = []
    for project in PROJECTS:
        is_new = project.name not in existing
        if is_new:
            session.call("project.create", name=project.name, goal=project.goal)
        elif existing[project.name].archived_at:
            continue
        if _complete(session, project) or is_new:
            filled.append(project.name)
    return filled


def _complete(session: Session, project: ExampleProject) -> bool:
    members = {member.user_id for member in session.call("member.list", scopeId=project.name).members}
    missing = {name: role for name, role in project.members.items() if name not in members}
    for name, role in missing.items():
        session.call("member.add", scopeId=project.name, userId=name, role=role)
    wrote_work = project.has_work and fill_work(session, project.name)
    wrote_facts = project.has_facts and fill_context(session, project.name)
    # After the facts, so that the versions of the theory refer to them.
    wrote_theory = project.has_theory and fill_purpose(session, project.name)
    wrote_knowledge = project.has_knowledge and fill_knowledge(session, project.name)
    if project.is_over:
        session.call("project.archive", project=project.name)
    return bool(missing) or wrote_work or wrote_facts or wrote_theory or wrote_knowledge
