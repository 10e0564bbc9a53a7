"""Set up a plan for a repository: the folder `.groundplan/` with a database, a configuration and an ignore file."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from groundplan.configuration import Flags, Settings
from groundplan.discovery import CONFIG_NAMES, PLAN_FOLDER, REPOSITORY_DB_NAME, find_plans
from groundplan.git_folders import find_git_folders
from groundplan.repository.git import find_root
from groundplan.repository.rules.folder import Folder, UnusableFile
from groundplan.repository.setup.changes import NotWritable
from groundplan.surfaces.cli.failures import UsageError

PROJECT_CHARS_MAX = 60
IGNORED = f"# The database and its companions stay on this machine.\n{REPOSITORY_DB_NAME}*\n"


class RepositoryPlan(NamedTuple):
    """Where the plan of a repository is."""

    root: Path

    @property
    def db(self) -> str:
        """The database."""
        return str(self.root / PLAN_FOLDER / REPOSITORY_DB_NAME)

    @property
    def config_file(self) -> str:
        """The configuration."""
        return str(self.root / PLAN_FOLDER / CONFIG_NAMES[0])

    @property
    def project(self) -> str:
        """The name of the first project: that of the repository's folder."""
        return " ".join(self.root.name.split())[:PROJECT_CHARS_MAX] or "plan"


def choose_repository(flags: Flags, settings: Settings, *, own: bool) -> RepositoryPlan | None:
    """Return the repository that gets a plan in `.groundplan/`, or has one there; None if another plan is in force.

    A linked worktree shares the plan of the main working copy, and a repository below a plan uses that one; with `own`
    it gets its own.
    """
    root = find_root(Path.cwd())
    if root is None or is_named(flags, settings):
        return None
    if own:
        return RepositoryPlan(root)
    folders = find_git_folders(root)
    plan = RepositoryPlan((folders and folders.main_copy) or root)
    if settings.config_file is None:
        return None if Path(settings.db).exists() else plan
    is_its_plan = Path(settings.config_file).resolve() == Path(plan.config_file).resolve()
    return plan if is_its_plan and Path(settings.db).resolve() == Path(plan.db).resolve() else None


def is_named(flags: Flags, settings: Settings) -> bool:
    """Return whether the plan was named by a flag or the environment, and not found."""
    return flags.config is not None or settings.sources.get("db") in ("--db", "GROUNDPLAN_DB")


def find_working_copy(flags: Flags, settings: Settings) -> Path:
    """Return the root of the working copy that the plan in force is the plan of."""
    root = find_root(Path.cwd())
    if root is None:
        raise UsageError("this folder is in no git repository; run git init first")
    if is_named(flags, settings):
        raise UsageError(
            "clients and hooks find the plan of the repository by themselves, so none may be named here; "
            "leave out --db and --config, and unset GROUNDPLAN_DB"
        )
    in_force = settings.config_file or (settings.db if Path(settings.db).exists() else None)
    found = next(find_plans(str(root)), None)
    if in_force is not None and (
        found is None or Path(found.config_file or found.db or "").resolve() != Path(in_force).resolve()
    ):
        raise UsageError(
            f"the plan {in_force} is below the root of the repository, {root}, where clients and hooks start; "
            "run groundplan init in the root"
        )
    return root


def find_plan_above(root: Path) -> str | None:
    """Return the plan of a folder above a repository, if there is one."""
    found = next(find_plans(str(root.parent)), None)
    return None if found is None else found.config_file or found.db


def write_files(plan: RepositoryPlan) -> list[str]:
    """Write the configuration and the ignore file, unless they exist; return the files that were written."""
    folder = Folder(plan.root)
    texts = {
        f"{PLAN_FOLDER}/{CONFIG_NAMES[0]}": f"db_path: {REPOSITORY_DB_NAME}\nproject: {_quote_yaml(plan.project)}\n",
        f"{PLAN_FOLDER}/.gitignore": IGNORED,
    }
    written = []
    for path, text in texts.items():
        try:
            if folder.read(path) is None:
                folder.write(path, text)
                written.append(path)
        except UnusableFile as error:
            raise NotWritable(path, plan.root, error.reason) from None
    return written


def _quote_yaml(text: str) -> str:
    """Return a text as a YAML scalar."""
    return "'" + text.replace("'", "''") + "'"
