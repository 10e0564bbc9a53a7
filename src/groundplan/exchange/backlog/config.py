"""The folder of Backlog.md and its configuration: which statuses there are, and the prefix of ids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from groundplan.exchange.item_parts import choose_fate, normalize_word
from groundplan.exchange.model import UnreadableSource
from groundplan.exchange.text_files import read_text
from groundplan.front_matter.errors import UnreadableFrontMatter
from groundplan.front_matter.fields import parse_fields
from groundplan.work.importing.source_items import Fate

CONFIG_FILE = "config.yml"
FOLDER = "backlog"
DRAFT_PREFIX = "draft"
DRAFT = "draft"
STARTED_WORD = "in progress"

DONE_WORDS = ("done", "completed", "complete")
_MERGED = "merged into "
_DROPPED_WORDS = ("won't do", "wont do", "wontfix", "won't fix", "obsolete", "skipped")


class TaskFolder(StrEnum):
    """The folders of task files, in the order in which they claim ids."""

    TASKS = "tasks"
    COMPLETED = "completed"
    DRAFTS = "drafts"
    ARCHIVED_TASKS = "archive/tasks"
    ARCHIVED_DRAFTS = "archive/drafts"


# Where tasks of a fate usually are; the tool itself moves finished ones from tasks/ to completed/.
FOLDERS_OF_FATES: Mapping[Fate, tuple[TaskFolder, ...]] = {
    "open": (TaskFolder.TASKS,),
    "held": (TaskFolder.TASKS, TaskFolder.DRAFTS),
    "done": (TaskFolder.TASKS, TaskFolder.COMPLETED),
    "dropped": (TaskFolder.ARCHIVED_TASKS,),
}
# A dependency counts if it is in one of these.
ACTIVE_PLACES = (TaskFolder.TASKS, TaskFolder.COMPLETED)


@dataclass(frozen=True, slots=True)
class BacklogConfig:
    """The settings that an import needs, with the defaults of the tool."""

    project_name: str = ""
    statuses: tuple[str, ...] = ("To Do", "In Progress", "Done")
    default_status: str = "To Do"
    task_prefix: str = "task"

    def choose_fate(self, word: str, place: TaskFolder) -> tuple[Fate, str | None]:
        """Return the fate of a task by its status and its folder, and the reason of a hold."""
        if place is TaskFolder.COMPLETED:
            return "done", None
        if place is TaskFolder.DRAFTS:
            return "held", DRAFT
        fate, reason = self._choose_fate_of_word(word)
        if place is not TaskFolder.TASKS and fate != "done":
            return "dropped", None
        return fate, reason

    def _choose_fate_of_word(self, word: str) -> tuple[Fate, str | None]:
        word = word.replace("\u2019", "'")  # a typographic apostrophe
        bare = normalize_word(word)
        last = self.statuses[-1:]
        fates: dict[str, Fate] = {
            **dict.fromkeys(map(normalize_word, self.statuses), "open"),
            **dict.fromkeys(map(normalize_word, last), "done"),
            **dict.fromkeys(DONE_WORDS, "done"),
            **dict.fromkeys(_DROPPED_WORDS, "dropped"),
            DRAFT: "held",
        }
        return ("done", None) if bare.startswith(_MERGED) else choose_fate(word, fates)


def find_folder(path: Path) -> Path:
    """Return the folder with the tasks: the given one, or `backlog` in it.

    Raises:
        UnreadableSource: there is none.
    """
    for folder in (path, path / FOLDER):
        if (folder / CONFIG_FILE).is_file() or (folder / TaskFolder.TASKS).is_dir():
            return folder
    raise UnreadableSource(
        str(path), f"is not a folder of Backlog.md: it has neither {CONFIG_FILE} nor {TaskFolder.TASKS}/"
    )


def read_config(folder: Path) -> BacklogConfig:
    """Return the configuration of a folder; the defaults of the tool if there is none.

    Raises:
        UnreadableSource: the file is not text, or a line of it is not a setting.
    """
    path = folder / CONFIG_FILE
    if not path.is_file():
        return BacklogConfig()
    try:
        fields = parse_fields(read_text(path))
    except UnreadableFrontMatter as error:
        raise UnreadableSource(str(path), error.reason, line=error.line) from None
    given = {name: field.text.strip() for name, field in fields.items()}
    defaults = BacklogConfig()
    statuses = tuple(fields["statuses"].texts) if "statuses" in fields else ()
    return BacklogConfig(
        project_name=given.get("project_name", ""),
        statuses=statuses or defaults.statuses,
        default_status=given.get("default_status") or defaults.default_status,
        task_prefix=given.get("task_prefix") or defaults.task_prefix,
    )
