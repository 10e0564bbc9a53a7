"""`groundplan init`: create or update the database, set up the working copy around it, and print the next steps."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from groundplan.catalog import build_schema
from groundplan.discovery import DB_NAME, PLAN_FOLDER
from groundplan.kernel.actors import local_actor
from groundplan.kernel.cancellation import NO_LIMIT_S, Cancellation
from groundplan.kernel.store.open_store import is_postgres, open_store, strip_password
from groundplan.kernel.wording import join_alternatives, quote_text
from groundplan.migrations import get_latest_version
from groundplan.setting_values import check_db
from groundplan.surfaces.cli.command_line import argument, option
from groundplan.surfaces.cli.failures import UsageError, print_warning
from groundplan.surfaces.cli.invocation import CommandResult, Invocation
from groundplan.surfaces.cli.options import TIMEOUT_S_MIN
from groundplan.surfaces.cli.screen.output import GAP
from groundplan.surfaces.cli.screen.progress import show_progress
from groundplan.surfaces.cli.steps import Step, join_steps
from groundplan.surfaces.stop_signals import cancel_on_signals

if TYPE_CHECKING:
    from groundplan.surfaces.cli.setup.working_copy import RepositoryPlan

WORKING_COPY = "In a repository"


class RoleChoice(NamedTuple):
    """The role of PostgreSQL that Groundplan will connect as."""

    name: str | None
    has_new_password: bool


def _make_option(name: str, text: str, metavar: str = "") -> Any:
    """Return an option that is only for a repository; without a metavar it is a switch."""
    return option(name, value=metavar, text=text, section=WORKING_COPY)


def init(
    invocation: Invocation,
    where: Annotated[str | None, argument("[PATH|URL]", "The same as --db.")] = None,
    app_role: Annotated[
        str | None,
        option(
            "--app-role",
            value="NAME",
            text="PostgreSQL only: the role that Groundplan will connect as. Default: the database's name and _app.",
        ),
    ] = None,
    new_password: Annotated[
        bool,
        option("--new-password", text="PostgreSQL only: give the app role a new password, if the old one is lost."),
    ] = False,
    skills: Annotated[
        str | None,
        option(
            "--skills", value="DIR", text="Also install the agent skills into this directory, such as .claude/skills."
        ),
    ] = None,
    completion: Annotated[
        bool,
        option(
            "--completion", text="Also install completion of words, ids and tags for your shell: bash, zsh or fish."
        ),
    ] = False,
    client: Annotated[
        list[str] | None,
        _make_option(
            "--client",
            "Connect this AI client: claude, cursor, vscode, codex, gemini or zed; may be given several times. "
            "none: no client. Default: those that are found.",
            "NAME",
        ),
    ] = None,
    no_instructions: Annotated[
        bool, _make_option("--no-instructions", "Do not write how to use the plan into AGENTS.md or CLAUDE.md.")
    ] = False,
    hook: Annotated[
        bool,
        _make_option(
            "--hook",
            "Install a git hook: after a commit it checks the knowledge, and links the commit to the tasks that its "
            "message names.",
        ),
    ] = False,
    own: Annotated[
        bool,
        _make_option("--own", "A plan of its own for a worktree, a submodule or a repository below another plan."),
    ] = False,
    dry_run: Annotated[bool, _make_option("--dry-run", "Only show what would change.")] = False,
    undo: Annotated[
        bool, _make_option("--undo", "Take back what init has written into the working copy. The plan and skills stay.")
    ] = False,
    timeout: Annotated[
        float | None,
        option(
            "--timeout",
            value="SECONDS",
            text="Give up after this time; run it again to continue. Default: no limit. Writers wait meanwhile.",
            low=TIMEOUT_S_MIN,
        ),
    ] = None,
) -> CommandResult:
    """Create a plan: in a repository `.groundplan/`, else a file, or PostgreSQL with the URL of its owner.

    In a repository it also connects AI clients and tells agents about the plan. Safe to run again at any time.
    """
    from groundplan.repository.setup.synced_folders import REMEDY, describe_danger
    from groundplan.surfaces.cli.setup.working_copy import SetupChoice, choose_repository, prepare_setup, undo_setup

    if undo:
        return undo_setup(invocation, dry_run=dry_run)
    choice = SetupChoice(client, not no_instructions, hook)
    if where is not None and (choice.is_given or own):
        raise UsageError("a database that is named has no repository; leave out PATH|URL, or these options")
    if skills is not None:
        _check_skills(skills)
    shell = _find_shell() if completion else None
    repository = choose_repository(invocation.flags, invocation.settings, own=own) if where is None else None
    if own and repository is None:
        raise UsageError("--own is for a git repository whose plan is found, not named by --db or GROUNDPLAN_DB")
    setup = prepare_setup(invocation, repository, choice) if where is None else None
    if repository is not None:
        db = repository.db
    else:
        db = invocation.settings.db if where is None else check_db(where, "PATH|URL")
        if where is not None and not (Path(where).suffix or "/" in where):
            print_warning(f"{quote_text(where)} is the file of the database; project create makes projects in it")
    if not is_postgres(db) and (app_role is not None or new_password):
        raise UsageError("--app-role and --new-password are for PostgreSQL; a file has no roles")
    danger = None if is_postgres(db) else describe_danger(db)
    if dry_run:
        steps = [_describe_plan(db), *([setup.describe("Would change:")] if setup else [])]
    else:
        # Nothing above has created anything, and nothing below is refused for what could be known before.
        with _make_cancellable(invocation, timeout) as cancellation:
            role = RoleChoice(app_role, new_password)
            steps = [_set_up(invocation, db, repository, cancellation, role, is_done=setup is not None)]
        if setup is not None:
            steps.append(setup.apply(with_completion=completion))
        if shell is not None:
            steps.append(_install_completion(shell))
        if skills is not None:
            steps.append(_install_skills(Path(skills)))
    if danger is not None:
        print_warning(f"{danger}; {REMEDY}")
    return join_steps(*steps)


def _set_up(
    invocation: Invocation,
    db: str,
    repository: RepositoryPlan | None,
    cancellation: Cancellation,
    role: RoleChoice,
    *,
    is_done: bool,
) -> Step:
    """Create or update the database."""
    if repository is not None:
        return _set_up_repository(invocation, repository, cancellation)
    if not is_postgres(db):
        return _set_up_file(db, cancellation)
    if is_done:  # its owner has set it up, and this is about a working copy
        return Step({"db": strip_password(db)})
    from groundplan.surfaces.cli.setup.postgres_database import set_up_postgres

    who = invocation.settings.identity
    caller = local_actor(who.name, kind=who.kind, organization=invocation.settings.org)
    return set_up_postgres(db, role.name, cancellation, new_password=role.has_new_password, caller=caller)


@contextmanager
def _make_cancellable(invocation: Invocation, timeout_s: float | None) -> Iterator[Cancellation]:
    with (
        cancel_on_signals(NO_LIMIT_S if timeout_s is None else timeout_s) as cancellation,
        show_progress("updating the database", as_json=invocation.as_json),
    ):
        yield cancellation


def _check_skills(directory: str) -> None:
    from groundplan.repository.rules.folder import Folder

    if not directory or not Folder(Path(directory)).is_usable:
        raise UsageError("--skills must be a directory; it may be a new one")


def _install_skills(directory: Path) -> Step:
    from groundplan.skills.install import install

    done = install(directory)
    kept = [{"file": file, "reason": reason} for file, reason in done.kept]
    return Step(
        {"skills": {"written": done.written, "unchanged": done.unchanged, "kept": kept}},
        [
            f"Skills in {directory}: {len(done.written)} written, {len(done.unchanged)} up to date.",
            *(
                f"  {file} {reason}, so it was not changed; remove it to install the skill."
                for file, reason in done.kept
            ),
        ],
    )


def _find_shell() -> str:
    """Return the shell of the person."""
    from groundplan.surfaces.cli.completion.install import SHELLS

    shell = Path(os.environ.get("SHELL", "")).name
    if shell not in SHELLS:
        known = join_alternatives(list(SHELLS))
        raise UsageError(f"--completion is for {known}, and SHELL names {quote_text(shell)}; set SHELL to one of them")
    return shell


def _install_completion(shell: str) -> Step:
    from groundplan.surfaces.cli.completion.install import get_activation_hint, install

    files = [str(path) for path in install(shell)]
    next_step = get_activation_hint(shell) or "open a new shell to use it"
    return Step({"completion": files}, [f"Completion is in {', '.join(files)}; {next_step}."])


def _set_up_file(db: str, cancellation: Cancellation) -> Step:
    existed = _has_content(Path(db))
    open_store(db, build_schema, cancellation=cancellation).close()
    mode, schema = f"{Path(db).stat().st_mode & 0o777:04o}", get_latest_version()
    here = "" if db == DB_NAME else f" --db {shlex.quote(db)}"
    open_to_others = "Other users of this machine can open it. To fix that, see: groundplan doctor"
    return Step(
        {"db": db, "created": not existed, "mode": mode, "schema": schema},
        [
            f"{db} {'is up to date' if existed else 'is ready'} (schema {schema}, mode {mode}).",
            *([] if mode == "0600" else [open_to_others]),
            GAP,
            "Next steps:",
            f"  groundplan{here} project create NAME --goal 'what it is for'",
            f"  groundplan mcp{here} --agent NAME   (the command your AI client starts)",
        ],
    )


def _set_up_repository(invocation: Invocation, repository: RepositoryPlan, cancellation: Cancellation) -> Step:
    """Create the plan of a repository, with a project that is named like it, or as its configuration says."""
    from groundplan.surfaces.cli.setup.working_copy import write_files

    written = write_files(repository)
    made = _set_up_file(repository.db, cancellation)
    with invocation.within(repository.config_file) as inside, inside.session() as session:
        project = inside.settings.project or repository.project
        if not session.call("project.list").projects:
            session.call("project.create", name=project)
    return Step(
        {**made.data, "config_file": repository.config_file, "project": project, "written": written},
        [
            f"{repository.root.name} has a plan in {PLAN_FOLDER}/: project {quote_text(project)}.",
            "Commands find it from every folder of the repository. The database is not committed.",
            GAP,
            "Next steps:",
            '  groundplan add "what is to be done"',
            "  groundplan mcp --agent NAME   (the command your AI client starts)",
        ],
    )


def _describe_plan(db: str) -> Step:
    """Return whether the database would be created."""
    is_new = not is_postgres(db) and not _has_content(Path(db))
    shown, state = strip_password(db), "would be created" if is_new else "exists"
    data = {"dry_run": True, "db": shown, "would_create": is_new}
    return Step(data, [f"Nothing was changed. The database {shown} {state}."])


def _has_content(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except OSError:  # missing or not accessible; opening it reports which
        return False
