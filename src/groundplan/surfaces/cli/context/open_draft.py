"""Find the draft of facts that somebody works on, or begin one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from groundplan.kernel.errors import Invalid, NextStep, NotFound
from groundplan.kernel.wording import quote_text
from groundplan.surfaces.cli.failures import UsageError

if TYPE_CHECKING:
    from groundplan.session import Session

DRAFTS_NAMED_MAX = 3
RUN = "runId"


def begin_draft(session: Session, project: str) -> str:
    """Return the id of a new draft, which begins as a copy of the facts in force."""
    return str(session.call("context.create_draft", scopeId=project).run.id)


def add_run(session: Session, arguments: dict[str, Any], lists: Sequence[str], find_project: Callable[[], str]) -> None:
    """Add the id of my only open draft to the arguments of a command that names no run.

    A list of ids may follow the run on the command line: `[RUN] SUGGESTION...`. What is no run is the first of them.
    """
    for name in lists:
        if RUN in arguments and not (name in arguments and _is_run(session, arguments[RUN])):
            arguments[name] = [arguments.pop(RUN), *arguments.get(name, ())]
    if RUN not in arguments:
        project = find_project()
        draft = find_draft(session, project)
        if draft is None:
            others = NextStep("context.list", "lists those of others, which are named by id", {"scopeId": project})
            raise UsageError(f"you have no open draft in {quote_text(project)}", next_steps=others)
        arguments[RUN] = draft


def _is_run(session: Session, id_: str) -> bool:
    try:
        session.call("context.fetch_run", runId=id_)
    except (NotFound, Invalid):
        return False
    return True


def find_draft(session: Session, project: str) -> str | None:
    """Return the id of my only open draft, or of the only one of others that is shared; None if there is none."""
    actor = "" if session.actor is None else session.actor.id
    drafts = session.call("context.list", scopeId=project, userId=actor, status="draft").runs
    mine = [run for run in drafts if run.user_id == actor] or drafts
    if len(mine) > 1:
        named = ", ".join(run.id for run in mine[:DRAFTS_NAMED_MAX])
        raise UsageError(f"you have {len(mine)} open drafts ({named}); name one, by id, as RUN")
    return str(mine[0].id) if mine else None
