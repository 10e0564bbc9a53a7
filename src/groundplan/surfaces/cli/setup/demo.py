"""`groundplan demo`: create an example plan in its own database and show it."""

from __future__ import annotations

import shlex
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from groundplan import demo as example
from groundplan.catalog import build_schema
from groundplan.commands import list_commands_of
from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.store.open_store import is_postgres, open_store, strip_password
from groundplan.session import Session
from groundplan.setting_values import check_db
from groundplan.surfaces.cli.drawing import GAP, Rows, View
from groundplan.surfaces.cli.invocation import CommandResult, Invocation
from groundplan.surfaces.cli.purpose.views import summarize_theory
from groundplan.surfaces.cli.renderers import list_parts
from groundplan.surfaces.cli.steps import Step, join_steps, list_section
from groundplan.surfaces.cli.work import format_counts


def demo(invocation: Invocation) -> CommandResult:
    """Create a small example plan and show it, in a temporary database or in the one that --db names."""
    # Only --db counts, not the configured database: the example must not end up in a real plan.
    db = make_temporary_path() if invocation.flags.db is None else check_db(invocation.flags.db)
    made = example.fill_database(db)
    with Session(open_store(db, build_schema), local_actor(example.OWNER, kind=ActorKind.PERSON)) as session:
        projects = session.call("project.list", archived=True).projects
        members = session.call("member.list", scopeId=example.PROJECT)
        work = session.call("work.open", project=example.PROJECT)
        facts = _count_facts(session, example.PROJECT)
        theory = session.call("purpose.open", project=example.PROJECT, detail="summary")
    name = example.PROJECT
    listed = View(Rows("projects", "name, role, goal"))
    entry = list_commands_of("member.list")[0]
    state = "An example plan is ready." if made else "The example exists already; nothing was changed."
    counted = {"versions": theory.versions, "counts": theory.counts, "health": theory.health.overall}
    return join_steps(
        Step({"db": strip_password(db), "made": made}, [state]),
        Step({"projects": projects}, listed.list_parts({"projects": projects})),
        Step({"members": members.members}, [f"Members of {name}:", GAP, *list_parts(members, entry)]),
        Step({"work": work.summary}, [f"Work in {name}:", GAP, format_counts(work.summary)]),
        Step({"context": facts}, [f"Facts of {name}:", GAP, _format_facts(facts)] if facts else []),
        Step({"purpose": counted}, [f"Theory of change of {name}:", GAP, *summarize_theory(theory)]),
        Step({}, list_section("Next steps:", _list_suggestions(db))),
    )


def _count_facts(session: Session, project: str) -> dict[str, int] | None:
    """Return the number of committed facts by kind, or None if there are none."""
    view = session.context.fetch_latest_committed_context_view(project)
    if view is None:
        return None
    draft = session.context.get_latest_run_for_scope(project, status="draft")
    waiting = session.context.fetch_context_view_by_run_id(draft.id).suggestions if draft else ()
    return {
        "inputs": len(view.inputs_by_pointer),
        "missing": len(view.missing),
        "constraints": len(view.constraints),
        "sources": len(view.sources_by_id),
        "suggestions": len(waiting or ()),
    }


def _format_facts(facts: Mapping[str, int]) -> str:
    return (
        f"{facts['inputs']} inputs ({facts['missing']} missing), {facts['constraints']} constraints, "
        f"{facts['sources']} sources. Pending suggestions: {facts['suggestions']}."
    )


def make_temporary_path() -> str:
    # The folder is private and is not removed: the suggested commands use it.
    return str(Path(tempfile.mkdtemp(prefix="groundplan-demo-")) / "demo.db")


def _list_suggestions(db: str) -> list[str]:
    name = example.PROJECT
    program = find_program()
    # Each fits into 80 characters. A URL is not printed because it may hold a password.
    return [
        f"export GROUNDPLAN_DB={'...   (the URL you gave)' if is_postgres(db) else shlex.quote(db)}",
        f"{program} work onboard --project {name}",
        f"{program} work next --project {name} --budget 1500",
        f"{program} inbox --project {name}",
        f"{program} throughline OC3 --project {name}",
        f"{program} coverage --project {name}",
        f"{program} context view --project {name}",
        f"{program} purpose open --project {name}",
        f"{program} purpose diff 1 2 --project {name}",
        f"{program} knowledge context {example.PATH} --project {example.SOFTWARE_PROJECT}",
        f"{program} member add dana --project {name} --role viewer",
        f"{program} doctor",
        "# cleo is a viewer, so this is refused:",
        f"{program} --access members --agent cleo project archive {name}",
        "# what an AI client starts:",
        f"{program} mcp --agent claude",
    ]


def find_program() -> str:
    """Return what to type to run this program: its name if it is on the PATH, else its path."""
    started = Path(sys.argv[0])
    is_found = started.name != "groundplan" or shutil.which("groundplan")
    return "groundplan" if is_found else shlex.quote(str(started))
