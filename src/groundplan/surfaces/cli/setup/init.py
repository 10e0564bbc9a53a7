"""`groundplan init`: create or update the database, set up the working copy around it, and print the next steps."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from groundplan.catalog import build_schema
from groundplan.configuration import load_settings
from groundplan.discovery import PLAN_FOLDER
from groundplan.kernel.actors import local_actor
from groundplan.kernel.cancellation import NO_LIMIT_S, Cancellation
from groundplan.kernel.store.open_store import is_postgres, open_store, strip_password
from groundplan.kernel.wording import join_alternatives, quote_text
from groundplan.migrations import get_latest_version
from groundplan.setting_values import check_db
from groundplan.surfaces.cli.cancellation import TIMEOUT_S_MIN, cancel_on_signals, show_progress
from groundplan.surfaces.cli.failures import UsageError, print_warning
from groundplan.surfaces.cli.invocation import CommandResult, Invocation

if TYPE_CHECKING:
    from groundplan.surfaces.cli.setup.working_copy.repository_plan import RepositoryPlan

WORKING_COPY = "In a repository"


def _make_option(name: str, text: str, metavar: str = "") -> Any:
    """Return an option that is only for a repository; without a metavar it is a switch."""
    return typer.Option(name, metavar=metavar, help=text, show_default=False, rich_help_panel=WORKING_COPY)


def init(
    invocation: Invocation,
    where: Annotated[
        str | None, typer.Argument(metavar="[PATH|URL]", help="The same as --db.", show_default=False)
    ] = None,
    app_role: Annotated[
        str | None,
        typer.Option(
            "--app-role",
            metavar="NAME",
            help="PostgreSQL only: the role that Groundplan will connect as. Default: the database's name and _app.",
            show_default=False,
        ),
    ] = None,
    new_password: Annotated[
        bool,
        typer.Option(
            "--new-password",
            metavar="",
            help="PostgreSQL only: give the app role a new password, if the old one is lost.",
            show_default=False,
        ),
    ] = False,
    skills: Annotated[
        str | None,
        typer.Option(
            "--skills",
            metavar="DIR",
            help="Also install the agent skills into this directory, such as .claude/skills.",
            show_default=False,
        ),
    ] = None,
    completion: Annotated[
        bool,
        typer.Option(
            "--completion",
            metavar="",
            help="Also install completion of words, ids and tags for your shell: bash, zsh or fish.",
            show_default=False,
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
    short: Annotated[
        str | None, _make_option("--short", "Another short name of the program, besides pl.", "NAME")
    ] = None,
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
        typer.Option(
            "--timeout",
            metavar="SECONDS",
            min=TIMEOUT_S_MIN,
            help="Give up after this time; run it again to continue. Default: no limit. Writers wait meanwhile.",
            show_default=False,
        ),
    ] = None,
) -> CommandResult:
    """Create a plan: in a repository `.groundplan/`, else a file, or PostgreSQL with the URL of its owner.

    In a repository it also connects AI clients and tells agents about the plan. Safe to run again at any time.
    """
    from groundplan.repository.setup.synced_folders import REMEDY, describe_danger
    from groundplan.surfaces.cli.setup.working_copy.parts import SetupChoice
    from groundplan.surfaces.cli.setup.working_copy.repository_plan import choose_repository
    from groundplan.surfaces.cli.setup.working_copy.setup import prepare_setup, undo_setup

    if undo:
        return undo_setup(invocation, dry_run=dry_run)
    choice = SetupChoice(client, not no_instructions, hook, short)
    if where is not None and (choice.is_given or own):
        raise UsageError("a database that is named has no repository; leave out PATH|URL, or these options")
    if skills is not None:
        _check_skills(skills)
    if completion:
        _find_shell()
    repository = choose_repository(invocation.flags, invocation.settings, own=own) if where is None else None
    if own and repository is None:
        raise UsageError("--own is for a git repository whose plan is found, not named by --db or GROUNDPLAN_DB")
    setup = prepare_setup(invocation, repository, choice) if where is None else None
    if repository is not None:
        db = repository.db
    else:
        db = invocation.settings.db if where is None else check_db(where, "PATH|URL")
    if dry_run:
        made = _describe_plan(db)
    elif is_postgres(db) and setup is not None:
        made = CommandResult({"db": strip_password(db)}, lambda: None)  # its owner has set it up
    elif is_postgres(db):
        from groundplan.surfaces.cli.setup.postgres_database import set_up_postgres

        with _make_cancellable(invocation, timeout) as cancellation:
            who = invocation.settings.identity
            caller = local_actor(who.name, kind=who.kind, organization=invocation.settings.org)
            made = set_up_postgres(db, app_role, cancellation, new_password=new_password, caller=caller)
    elif app_role is not None or new_password:
        raise UsageError("--app-role and --new-password are for PostgreSQL; a file has no roles")
    else:
        with _make_cancellable(invocation, timeout) as cancellation:
            if repository is not None:
                made = _set_up_repository(invocation, repository, cancellation)
            else:
                made = _set_up_file(db, cancellation)
    if not is_postgres(db) and (danger := describe_danger(db)) is not None:
        print_warning(f"{danger}; {REMEDY}")
    if setup is not None:
        setup.installs_completion = completion
        made = setup.describe(made, "Would change:") if dry_run else setup.finish(made)
    if dry_run:
        return made
    made = _add_completion(made) if completion else made
    return made if skills is None else _add_skills(made, Path(skills))


@contextmanager
def _make_cancellable(invocation: Invocation, timeout_s: float | None) -> Iterator[Cancellation]:
    with (
        cancel_on_signals(NO_LIMIT_S if timeout_s is None else timeout_s) as cancellation,
        show_progress("updating the database", as_json=invocation.as_json),
    ):
        yield cancellation


def _check_skills(directory: str) -> None:
    """Check the directory before anything is created: a password shown once must not be followed by an error."""
    from groundplan.repository.rules.folder import Folder

    if not directory or not Folder(Path(directory)).is_usable:
        raise UsageError("--skills must be a directory; it may be a new one")


def _add_skills(made: CommandResult, directory: Path) -> CommandResult:
    from groundplan.skills.install import install

    done = install(directory)
    kept = [{"file": file, "reason": reason} for file, reason in done.kept]
    data = {**made.data, "skills": {"written": done.written, "unchanged": done.unchanged, "kept": kept}}

    def draw() -> None:
        from groundplan.surfaces.cli.terminal import echo

        made.draw()
        echo("", f"Skills in {directory}: {len(done.written)} written, {len(done.unchanged)} up to date.")
        echo(
            *(
                f"  {file} {reason}, so it was not changed; remove it to install the skill."
                for file, reason in done.kept
            )
        )

    return CommandResult(data, draw)


def _find_shell() -> str:
    """Return the shell of the person, before anything is created."""
    from groundplan.surfaces.cli.completion.install import SHELLS

    shell = Path(os.environ.get("SHELL", "")).name
    if shell not in SHELLS:
        known = join_alternatives(list(SHELLS))
        raise UsageError(f"--completion is for {known}, and SHELL names {quote_text(shell)}; set SHELL to one of them")
    return shell


def _add_completion(made: CommandResult) -> CommandResult:
    from groundplan.surfaces.cli.completion.install import get_activation_hint, install

    shell = _find_shell()
    files = [str(path) for path in install(shell)]
    next_step = get_activation_hint(shell) or "open a new shell to use it"

    def draw() -> None:
        from groundplan.surfaces.cli.terminal import echo

        made.draw()
        echo("", f"Completion is in {', '.join(files)}; {next_step}.")

    return CommandResult({**made.data, "completion": files}, draw)


def _set_up_file(db: str, cancellation: Cancellation) -> CommandResult:
    existed = _has_content(Path(db))
    open_store(db, build_schema, cancellation=cancellation).close()
    mode = f"{Path(db).stat().st_mode & 0o777:04o}"
    data = {"db": db, "created": not existed, "mode": mode, "schema": get_latest_version()}

    def draw() -> None:
        from groundplan.surfaces.cli.terminal import echo

        here = "" if db == "groundplan.db" else f" --db {shlex.quote(db)}"
        echo(
            f"{db} {'is up to date' if existed else 'is ready'} (schema {data['schema']}, mode {mode}).",
            *(
                []
                if mode == "0600"
                else ["Other users of this machine can open it. To fix that, see: groundplan doctor"]
            ),
            "",
            "Next steps:",
            f"  groundplan{here} project create NAME --goal 'what it is for'",
            f"  groundplan mcp{here} --agent NAME   (the command your AI client starts)",
        )

    return CommandResult(data, draw)


def _set_up_repository(invocation: Invocation, repository: RepositoryPlan, cancellation: Cancellation) -> CommandResult:
    """Create the plan of a repository, with a project that is named like it, or as its configuration says."""
    from groundplan.surfaces.cli.setup.working_copy.repository_plan import write_files

    written = write_files(repository)
    made = _set_up_file(repository.db, cancellation)
    flags = invocation.flags._replace(config=repository.config_file)
    inside = Invocation(flags, invocation.as_json, load_settings(flags))  # a person has been confirmed by now
    project = inside.settings.project or repository.project
    with inside.session() as session:
        if not session.call("project.list").projects:
            session.call("project.create", name=project)
    data = {**made.data, "config_file": repository.config_file, "project": project, "written": written}

    def draw() -> None:
        from groundplan.surfaces.cli.terminal import echo

        echo(
            f"{repository.root.name} has a plan in {PLAN_FOLDER}/: project {quote_text(project)}.",
            "Commands find it from every folder of the repository. The database is not committed.",
            "",
            "Next steps:",
            "  groundplan where",
            "  groundplan mcp --agent NAME   (the command your AI client starts)",
        )

    return CommandResult(data, draw)


def _describe_plan(db: str) -> CommandResult:
    """Return the result of a dry run: whether the database would be created."""
    is_new = not is_postgres(db) and not _has_content(Path(db))
    data = {"dry_run": True, "db": strip_password(db), "would_create": is_new}

    def draw() -> None:
        from groundplan.surfaces.cli.terminal import echo

        state = "would be created" if is_new else "exists"
        echo(f"Nothing was changed. The database {strip_password(db)} {state}.")

    return CommandResult(data, draw)


def _has_content(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except OSError:  # missing or not accessible; opening it reports which
        return False
