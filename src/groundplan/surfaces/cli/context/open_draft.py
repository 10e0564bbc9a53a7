"""Find the draft of facts that a person works on, or begin one; and the sources that are files."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import NAMESPACE_URL, uuid5

from groundplan.surfaces.cli.failures import UsageError

if TYPE_CHECKING:
    from groundplan.session import Session

DRAFTS_NAMED_MAX = 3


def find_or_begin_draft(session: Session, project: str) -> str:
    """Return the id of my only open draft, or of a new one, which begins as a copy of the facts in force."""
    actor = "" if session.actor is None else session.actor.id
    drafts = session.call("context.list", scopeId=project, userId=actor, status="draft").runs
    mine = [run for run in drafts if run.user_id == actor] or drafts
    if len(mine) > 1:
        named = ", ".join(run.id for run in mine[:DRAFTS_NAMED_MAX])
        raise UsageError(f"you have {len(mine)} open drafts ({named}); name one: context set RUN POINTER VALUE")
    if mine:
        return str(mine[0].id)
    begun = session.call("context.create_draft", scopeId=project)
    return str(begun.run.id)


def build_file_source(run: str, path: str) -> dict[str, str]:
    """Return a file as a source. The same file in the same run is the same source."""
    return {
        "id": str(uuid5(NAMESPACE_URL, f"groundplan:{run}:{path}")),
        "kind": "file",
        "title": path.rpartition("/")[2] or path,
        "uri": path,
    }
