"""Read the task files of a folder of Backlog.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from groundplan.exchange.backlog.config import DRAFT_PREFIX, BacklogConfig, TaskFolder
from groundplan.exchange.backlog.task_ids import TaskId, parse_file_name, parse_task_id
from groundplan.exchange.model import BadLines, SourcePlan, UnreadableSource
from groundplan.exchange.text_files import TITLE_BYTES_MAX, find_conflict_marker, iter_files, read_text
from groundplan.front_matter.errors import UnreadableFrontMatter
from groundplan.front_matter.fields import Field, parse_front
from groundplan.front_matter.split import split_text

NOT_TASKS = "files that are not tasks"


@dataclass(slots=True, eq=False)
class TaskFile:
    """A task file: where it is, its id as it is written, its fields and its body."""

    path: Path
    place: TaskFolder
    task_id: TaskId
    written_id: str
    title: str
    fields: Mapping[str, Field]
    body: str
    source_id: str = ""  # the written id, counted if another file has claimed it

    def get_text(self, name: str) -> str:
        """Return the value of a field as one text, empty if there is none."""
        return self.fields[name].text.strip() if name in self.fields else ""

    def get_texts(self, name: str) -> list[str]:
        """Return the value of a field as a list of texts."""
        return [text.strip() for text in self.fields[name].texts if text.strip()] if name in self.fields else []

    @property
    def order(self) -> tuple[float, TaskId, str]:
        """The position among the tasks of its folder: by ordinal where there is one, then by id."""
        try:
            ordinal = float(self.get_text("ordinal"))
        except ValueError:
            ordinal = float("inf")
        return ordinal if ordinal == ordinal else float("inf"), self.task_id, self.path.name


def read_task_files(folder: Path, config: BacklogConfig, plan: SourcePlan, bad: BadLines) -> Iterator[TaskFile]:
    """Yield the task files of all folders, in the order in which they claim ids.

    Raises:
        BadLineFound: a task file cannot be read, and bad ones are not skipped.
    """
    prefixes = {config.task_prefix.casefold(), DRAFT_PREFIX}
    for place in TaskFolder:
        found = []
        for path in list_files(folder / place):
            task_id = parse_file_name(path.name) if path.parent == folder / place else None
            if task_id is None or task_id.prefix not in prefixes:
                plan.left_out[NOT_TASKS] += 1
            else:
                found.append((task_id, path.name, path))
        for task_id, _, path in sorted(found):
            if (task := _read_task(path, place, task_id, bad)) is not None:
                yield task


def list_files(folder: Path) -> list[Path]:
    """Return the Markdown files in a folder and deeper, sorted; none if there is no such folder."""
    return list(iter_files(folder, ".md"))


def read_fields(path: Path, bad: BadLines) -> tuple[dict[str, Field], str] | None:
    """Return the fields of a file and its body; None if it is bad.

    Raises:
        BadLineFound: it is not text, has conflict markers or no front matter, and bad files are not skipped.
    """
    try:
        text = read_text(path)
        if (line := find_conflict_marker(text)) is None:
            parts = split_text(text)
            if parts.front:
                return parse_front(parts.front), parts.body
            bad.add(str(path), 1, "has no front matter")
        else:
            bad.add(str(path), line, "is a conflict marker of a merge; resolve the merge first")
    except UnreadableSource as error:
        bad.add(str(path), error.details.get("line"), error.reason)
    except UnreadableFrontMatter as error:
        bad.add(str(path), error.line, error.reason)
    return None


def _read_task(path: Path, place: TaskFolder, task_id: TaskId, bad: BadLines) -> TaskFile | None:
    if (parts := read_fields(path, bad)) is None:
        return None
    fields, body = parts
    written = fields["id"].text.strip() if "id" in fields else ""
    title = fields["title"].text if "title" in fields else ""
    if written and (given := parse_task_id(written)) is not None:
        task_id = given
    elif written:
        bad.add(str(path), fields["id"].line, f"has the id {written!r}, which is not a prefix and a number")
        return None
    if len(title.encode("utf-8", "replace")) > TITLE_BYTES_MAX:
        bad.add(str(path), fields["title"].line, f"has a title of more than {TITLE_BYTES_MAX} bytes", written)
        return None
    head, _, rest = path.name.removesuffix(".md").partition(" - ")
    return TaskFile(path, place, task_id, written or head, title.strip() or rest, fields, body)
