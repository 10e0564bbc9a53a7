"""`groundplan init`: create or update the database, and print the next steps."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from groundplan.catalog import build_schema
from groundplan.configuration import check_db
from groundplan.discovery import PLAN_FOLDER
from groundplan.kernel.cancellation import NO_LIMIT_S, Cancellation
from groundplan.kernel.errors import Forbidden
from groundplan.kernel.store.migrations import Dialect, load_migrations
from groundplan.kernel.store.open_store import NoDriver, is_postgres, open_store
from groundplan.kernel.wording import quote_text
from groundplan.surfaces.cli.cancellation import TIMEOUT_S_MIN, cancel_on_signals, show_progress
from groundplan.surfaces.cli.failures import UsageError
from groundplan.surfaces.cli.invocation import CommandResult, Invocation
from groundplan.surfaces.cli.setup.repository_plan import RepositoryPlan, choose_repository, write_files

ROLE_BYTES_MAX = 63  # PostgreSQL truncates longer names, and two roles could become one


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

    Safe to run again at any time.
    """
    if skills is not None:
        _check_skills(skills)
    repository = choose_repository(invocation.settings) if where is None else None
    if repository is not None:
        db = repository.db
    else:
        db = invocation.settings.db if where is None else check_db(where, "PATH|URL")
    if is_postgres(db):
        with _make_cancellable(invocation, timeout) as cancellation:
            made = _set_up_postgres(db, app_role, cancellation, new_password=new_password)
    elif app_role is not None or new_password:
        raise UsageError("--app-role and --new-password are for PostgreSQL; a file has no roles")
    elif repository is not None:
        with _make_cancellable(invocation, timeout) as cancellation:
            made = _set_up_repository(invocation, repository, cancellation)
    else:
        with _make_cancellable(invocation, timeout) as cancellation:
            made = _set_up_file(db, cancellation)
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


def _set_up_file(db: str, cancellation: Cancellation) -> CommandResult:
    existed = _has_content(Path(db))
    open_store(db, build_schema, cancellation=cancellation).close()
    mode = f"{Path(db).stat().st_mode & 0o777:04o}"
    data = {"db": db, "created": not existed, "mode": mode, "schema": len(load_migrations(Dialect.SQLITE))}

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
    """Create the plan of a repository, with a project that is named like it."""
    written = write_files(repository)
    made = _set_up_file(repository.db, cancellation)
    flags = invocation.flags._replace(config=repository.config_file)
    with Invocation(flags, invocation.as_json).session() as session:
        if not session.call("project.list").projects:
            session.call("project.create", name=repository.project)
    data = {**made.data, "config_file": repository.config_file, "project": repository.project, "written": written}

    def draw() -> None:
        from groundplan.surfaces.cli.terminal import echo

        echo(
            f"{repository.root.name} has a plan in {PLAN_FOLDER}/: project {quote_text(repository.project)}.",
            "Commands find it from every folder of the repository. The database is not committed.",
            "",
            "Next steps:",
            "  groundplan where",
            "  groundplan mcp --agent NAME   (the command your AI client starts)",
        )

    return CommandResult(data, draw)


def _has_content(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except OSError:  # missing or not accessible; opening it reports which
        return False


def _set_up_postgres(
    owner_url: str, app_role: str | None, cancellation: Cancellation, *, new_password: bool
) -> CommandResult:
    if app_role is not None and not 0 < len(app_role.encode("utf-8", "surrogatepass")) <= ROLE_BYTES_MAX:
        raise UsageError(f"--app-role must be a name of at most {ROLE_BYTES_MAX} bytes")
    try:
        from groundplan.kernel.store.postgres.setup import set_up
    except ImportError:
        raise NoDriver from None
    try:
        done = set_up(
            owner_url, build_schema(), app_role=app_role, new_password=new_password, cancellation=cancellation
        )
    except Forbidden:
        raise Forbidden(
            "this role may not set up a database; run groundplan init with the URL of the database's owner, "
            "who must be allowed to create roles"
        ) from None
    data: dict[str, Any] = {
        "app_role": done.app_role,
        "app_url": done.app_url,
        "role_is_new": done.role_is_new,
        "replaced_role": done.replaced_role,
        "steps_taken": done.steps_taken,
        "schema": len(load_migrations(Dialect.POSTGRES)),
    }

    def draw() -> None:
        from groundplan.surfaces.cli.terminal import echo

        state = f"{done.steps_taken} steps applied" if done.steps_taken else "already up to date"
        echo(f"The database is ready (schema {data['schema']}; {state}). Groundplan connects as:", "", done.app_url, "")
        if done.replaced_role:
            echo(f"Role {done.replaced_role}, which was used until now, has lost its access: distribute the new URL.")
        if done.role_is_new or new_password:
            echo("The password is shown only once. Keep the URL in a safe place.")
        else:
            echo(
                f"Role {done.app_role} existed already and keeps its password: add it to the URL after the name,",
                "or run this again with --new-password.",
            )
        echo(
            "",
            "Next steps:",
            f"  export GROUNDPLAN_DB={shlex.quote(done.app_url)}",
            "  groundplan doctor",
        )

    return CommandResult(data, draw)
