"""Set up a plan for a repository: the folder `.groundplan/` with a database, a configuration and an ignore file."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from groundplan.configuration import Settings
from groundplan.discovery import CONFIG_NAMES, PLAN_FOLDER
from groundplan.kernel.errors import Unavailable
from groundplan.kernel.wording import quote_text
from groundplan.repository.rules.folder import Folder, UnusableFile
from groundplan.repository.working_copy import find_root

DB_NAME = "plan.db"
PROJECT_CHARS_MAX = 60
IGNORED = f"# The database and its companions stay on this machine.\n{DB_NAME}*\n"


class RepositoryPlan(NamedTuple):
    """Where the plan of a repository is."""

    root: Path

    @property
    def db(self) -> str:
        """The database."""
        return str(self.root / PLAN_FOLDER / DB_NAME)

    @property
    def config_file(self) -> str:
        """The configuration."""
        return str(self.root / PLAN_FOLDER / CONFIG_NAMES[0])

    @property
    def project(self) -> str:
        """The name of the first project: that of the repository's folder."""
        return " ".join(self.root.name.split())[:PROJECT_CHARS_MAX] or "plan"


class NotWritable(Unavailable):
    """The repository cannot be written to."""

    code = "not_writable"


def choose_repository(settings: Settings) -> RepositoryPlan | None:
    """Return the repository that gets a plan: the one around this folder, if no database was named or found."""
    if settings.may_create_db or settings.config_file is not None or Path(settings.db).exists():
        return None
    root = find_root(Path.cwd())
    return None if root is None else RepositoryPlan(root)


def write_files(plan: RepositoryPlan) -> list[str]:
    """Write the configuration and the ignore file, unless they exist; return the files that were written.

    Raises:
        NotWritable: a file cannot be written, or something that is not a folder has its name.
    """
    folder = Folder(plan.root)
    texts = {
        f"{PLAN_FOLDER}/{CONFIG_NAMES[0]}": f"db_path: {DB_NAME}\nproject: {_quote_yaml(plan.project)}\n",
        f"{PLAN_FOLDER}/.gitignore": IGNORED,
    }
    written = []
    for path, text in texts.items():
        try:
            if folder.read(path) is None:
                folder.write(path, text)
                written.append(path)
        except UnusableFile as error:
            raise NotWritable(
                f"{quote_text(path)} in {quote_text(str(plan.root))} {error.reason}; "
                "make it writable, or give the database a place of its own with groundplan init PATH",
                file=path,
            ) from None
    return written


def _quote_yaml(text: str) -> str:
    """Return a text as a YAML scalar."""
    return "'" + text.replace("'", "''") + "'"
