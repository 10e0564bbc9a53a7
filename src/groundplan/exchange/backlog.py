"""Backlog.md: read its folder of task files, decisions and documents.

An id is `task-12`, `TASK-012`, `back-3.1` or `task-epic-4`: case and leading zeros do not count, the prefix does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from groundplan.exchange.items import (
    EVIDENCE_BYTES_MAX,
    NODE_FIELD,
    TITLE_BYTES_MAX,
    BadLines,
    SourcePlan,
    UnreadableSource,
    add_comment,
    add_evidence,
    add_links,
    add_parts,
    add_section,
    choose_fate,
    clean_title,
    explain_drop,
    find_paths,
    leave_out_usual_status,
    make_tags,
    normalize_word,
    read_node_id,
    replace_unstorable,
    split_by_bytes,
)
from groundplan.exchange.texts import find_conflict_marker, iter_files, read_text
from groundplan.front_matter import Field, Nested, UnreadableFrontMatter, parse_fields, parse_front, split_text
from groundplan.knowledge.requests import ATOM_PATTERNS_MAX, KNOWLEDGE_BYTES_MAX
from groundplan.markdown_lines import iter_lines, parse_heading
from groundplan.repository.rules.formats import escape_path
from groundplan.work.importing.items import Fate, SourceAtom, SourceItem, SourceMolecule
from groundplan.work.requests import SECTIONS_MAX

_DIGITS_MAX = 12
_NAME_SEPARATOR = " - "  # between the id and the title in the name of a file


@dataclass(frozen=True, slots=True, order=True)
class TaskId:
    """The prefix and the numbers of an id; a subtask has more numbers than its task, and some ids have none."""

    prefix: str
    numbers: tuple[int, ...]

    @property
    def parent(self) -> TaskId | None:
        """The id of the parent task, which lacks the last number; None for a top-level task."""
        return replace(self, numbers=self.numbers[:-1]) if len(self.numbers) > 1 else None

    def __str__(self) -> str:
        numbers = ".".join(map(str, self.numbers))
        return f"{self.prefix}-{numbers}" if numbers else self.prefix

    def has_prefix(self, prefix: str) -> bool:
        """Return whether the id begins with a prefix and a dash, as those do that the tool reads as tasks."""
        return f"{self}-".startswith(f"{prefix.casefold()}-")


def parse_task_id(text: str) -> TaskId | None:
    """Return the id that a text is: words and a number with dashes between them; else None."""
    text = text.strip()
    prefix, dash, numbers = text.rpartition("-")
    parts = numbers.split(".")
    is_number = all(part.isascii() and part.isdecimal() and len(part) <= _DIGITS_MAX for part in parts)
    if not dash or not prefix or not numbers:
        return None
    return TaskId(prefix.casefold(), tuple(int(part) for part in parts)) if is_number else TaskId(text.casefold(), ())


def parse_file_name(name: str) -> TaskId | None:
    """Return the id in the name of a Markdown file, such as `task-12 - Title.md` or `task-12.md`, or None."""
    return parse_task_id(name.removesuffix(".md").partition(_NAME_SEPARATOR)[0]) if name.endswith(".md") else None


# --- The folder of Backlog.md and its configuration: which statuses there are, and the prefix of ids ------------------

CONFIG_FILE = "config.yml"
FOLDER = "backlog"
DRAFT_PREFIX = "draft"
DRAFT = "draft"
STARTED_WORD = "in progress"
HELD_STATUS = "On Hold"  # of an export: no configured status, so that an import holds the task again
DROPPED_STATUS = "Won't Do"  # of an export

DONE_WORDS = ("done", "completed", "complete")
_MERGED = "merged into "
_DROPPED_WORDS = ("won't do", "wont do", "wontfix", "won't fix", "obsolete", "skipped")


class TaskFolder(StrEnum):
    """The folders of task files, in the order in which their tasks claim ids."""

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
        """Return the fate of a task by its status and its folder, and the reason if it is on hold."""
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
    """Return the folder with the tasks: the given folder, or `backlog` in it."""
    for folder in (path, path / FOLDER):
        if (folder / CONFIG_FILE).is_file() or (folder / TaskFolder.TASKS).is_dir():
            return folder
    raise UnreadableSource(
        str(path), f"is not a folder of Backlog.md: it has neither {CONFIG_FILE} nor {TaskFolder.TASKS}/"
    )


def read_config(folder: Path) -> BacklogConfig:
    """Return the configuration of a folder; the defaults of the tool if there is none."""
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


# --- The body of a task file: sections below headings of level two, some of them between marks ------------------------
# ## Description
#
# <!-- SECTION:DESCRIPTION:BEGIN -->
# Text, which may have headings of its own.
# <!-- SECTION:DESCRIPTION:END -->
#
# Comments are a list of their own:
#
# <!-- COMMENTS:BEGIN -->
# author: Ada
# created: 2026-01-02 10:00
# ---
# Text
# ---
# <!-- COMMENTS:END -->

SECTION_LEVEL = 2
COMMENTS_MARK = "COMMENTS"
COMMENT_FENCE = "---"
COMMENT_FIELDS = ("author", "created")
# The mark around each section that the tool knows.
MARKS = {
    "Description": "SECTION:DESCRIPTION",
    "Acceptance Criteria": "AC",
    "Definition of Done": "DOD",
    "Implementation Plan": "SECTION:PLAN",
    "Implementation Notes": "SECTION:NOTES",
    "Comments": COMMENTS_MARK,
    "Final Summary": "SECTION:FINAL_SUMMARY",
}
OWN_MARK = "SECTION:OWN"  # around the text of any other section, if it has headings of the same level
FINAL_SUMMARY = "Final Summary"
UNTITLED = "Body"  # the text above the first heading


@dataclass(slots=True)
class BodySection:
    """A section: its heading, its mark, and the lines of its text."""

    title: str
    mark: str = ""
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text without empty lines around it."""
        return "\n".join(self.lines).strip("\n").rstrip()


@dataclass(frozen=True, slots=True)
class TaskComment:
    """A comment, with its author and date as they are written."""

    author: str
    created: str
    text: str


def make_mark(mark: str, end: str) -> str:
    """Return the line of a mark; `end` is BEGIN or END."""
    return f"<!-- {mark}:{end} -->"


def split_body(body: str) -> list[BodySection]:
    """Return the sections of a body. Text between marks belongs to one section, even if it has headings."""
    lines = body.split("\n")
    last_ends = {mark: index for index, line in enumerate(lines) if (mark := _parse_mark(line, "END"))}
    sections = [BodySection(UNTITLED)]
    unmarked: list[str] = []
    index = 0
    while index < len(lines):
        mark = _parse_mark(lines[index], "BEGIN")
        if mark and last_ends.get(mark, -1) > index:
            _add_unmarked(sections, unmarked)
            unmarked = []
            end = next(at for at in range(index + 1, len(lines)) if _parse_mark(lines[at], "END") == mark)
            sections[-1].mark = mark
            sections[-1].lines += lines[index + 1 : end]
            index = end
        elif not mark and not _parse_mark(lines[index], "END"):
            unmarked.append(lines[index])
        index += 1
    _add_unmarked(sections, unmarked)
    return [section for section in sections if section.text]


def _add_unmarked(sections: list[BodySection], lines: Sequence[str]) -> None:
    for line, is_code in iter_lines("\n".join(lines)) if lines else ():
        heading = None if is_code else parse_heading(line)
        if heading is not None and heading[0] == SECTION_LEVEL:
            sections.append(BodySection(heading[1]))
        else:
            sections[-1].lines.append(line)


def _parse_mark(line: str, end: str) -> str:
    """Return the mark at the beginning or end of a section, or nothing."""
    bare = line.strip()
    if not (bare.startswith("<!--") and bare.endswith("-->")):
        return ""
    mark, colon, closing = bare[4:-3].strip().rpartition(":")
    return mark if colon and closing == end and mark in (*MARKS.values(), OWN_MARK) else ""


def parse_comments(lines: Sequence[str]) -> list[TaskComment] | None:
    """Return the comments in a marked section, or None if the text is not a list of comments."""
    comments = []
    index = 0
    while (index := _skip_blank(lines, index)) < len(lines):
        head: dict[str, str] = {}
        while index < len(lines) and (given := _parse_comment_field(lines[index])) is not None:
            head |= [given]
            index += 1
        if not head or index == len(lines) or lines[index].strip() != COMMENT_FENCE:
            return None
        end = _find_comment_end(lines, index + 1)
        text = "\n".join(lines[index + 1 : end]).strip("\n")
        comments.append(TaskComment(head.get("author", ""), head.get("created", ""), text))
        index = end + 1
    return comments


def _find_comment_end(lines: Sequence[str], begin: int) -> int:
    """Return the index of the fence that ends a comment: only another comment or the end of the text follows it."""
    for index in range(begin, len(lines)):
        if lines[index].strip() == COMMENT_FENCE:
            after = _skip_blank(lines, index + 1)
            if after == len(lines) or _parse_comment_field(lines[after]) is not None:
                return index
    return len(lines)


def _skip_blank(lines: Sequence[str], index: int) -> int:
    while index < len(lines) and not lines[index].strip():
        index += 1
    return index


def _parse_comment_field(line: str) -> tuple[str, str] | None:
    name, colon, value = line.partition(":")
    return (name, value.strip()) if colon and name in COMMENT_FIELDS else None


# --- Read the task files of a folder of Backlog.md --------------------------------------------------------------------

NOT_TASKS = "files that are not tasks"


@dataclass(slots=True, eq=False)
class TaskFile:
    """A task file: its path, its id as written, its fields and its body."""

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
        """The position in the folder: by ordinal if there is one, then by id."""
        try:
            ordinal = float(self.get_text("ordinal"))
        except ValueError:
            ordinal = float("inf")
        return ordinal if ordinal == ordinal else float("inf"), self.task_id, self.path.name


def read_task_files(folder: Path, config: BacklogConfig, plan: SourcePlan, bad: BadLines) -> Iterator[TaskFile]:
    """Yield the task files of all folders, in the order in which they claim ids."""
    prefixes = (config.task_prefix, DRAFT_PREFIX)
    for place in TaskFolder:
        files = []
        for path in list_files(folder / place):
            task_id = parse_file_name(path.name) if path.parent == folder / place else None
            if task_id is None or not any(map(task_id.has_prefix, prefixes)):
                plan.left_out[NOT_TASKS] += 1
            else:
                files.append((task_id, path.name, path))
        for task_id, _, path in sorted(files):
            parts = read_fields(path, bad, is_required=bool(task_id.numbers))
            if parts is None:
                continue
            if parts[0] or task_id.numbers:
                if (task := _build_task(path, place, task_id, *parts, bad)) is not None:
                    yield task
            else:  # a page about tasks, such as task-rules.md
                plan.left_out[NOT_TASKS] += 1


def list_files(folder: Path) -> list[Path]:
    """Return the Markdown files in a folder and deeper, sorted; none if there is no such folder."""
    return list(iter_files(folder, ".md"))


def _read_checked_text(path: Path, bad: BadLines) -> str | None:
    """Return the text of a file; None if it is bad: no text, or with a conflict marker of a merge."""
    try:
        text = read_text(path)
    except UnreadableSource as error:
        bad.add(str(path), error.details.get("line"), error.reason)
        return None
    if (line := find_conflict_marker(text)) is not None:
        bad.add(str(path), line, "is a conflict marker of a merge; resolve the merge first")
        return None
    return text


def read_fields(path: Path, bad: BadLines, *, is_required: bool = True) -> tuple[dict[str, Field], str] | None:
    """Return the fields of a file and its body; None if it is bad, as without front matter if that is required."""
    if (text := _read_checked_text(path, bad)) is None:
        return None
    try:
        parts = split_text(text)
        if parts.front or not is_required:
            return parse_front(parts.front) if parts.front else {}, parts.body
        bad.add(str(path), 1, "has no front matter")
    except UnreadableFrontMatter as error:
        bad.add(str(path), error.line, error.reason)
    return None


def _build_task(
    path: Path, place: TaskFolder, task_id: TaskId, fields: Mapping[str, Field], body: str, bad: BadLines
) -> TaskFile | None:
    written = fields["id"].text.strip() if "id" in fields else ""
    title = fields["title"].text if "title" in fields else ""
    if written and (given := parse_task_id(written)) is not None:
        task_id = given
    elif written:
        bad.add(str(path), fields["id"].line, f"has the id {written!r}, which is not a prefix and a number or a name")
        return None
    if len(title.encode("utf-8", "replace")) > TITLE_BYTES_MAX:
        bad.add(str(path), fields["title"].line, f"has a title of more than {TITLE_BYTES_MAX} bytes", written)
        return None
    head, _, rest = path.name.removesuffix(".md").partition(_NAME_SEPARATOR)
    return TaskFile(path, place, task_id, written or head, title.strip() or rest or head, fields, body)


# --- Turn task files into items: ids, fates, parents, dependencies, sections and fields -------------------------------

TOOL = "backlog"
PRIORITIES = {"critical": 4.0, "high": 3.0, "medium": 2.0, "low": 1.0}
DATES = {
    "created_date": "source_created_at",
    "updated_date": "source_updated_at",
    "completed_date": "source_closed_at",
    "due_date": "due",
}
LINK_FIELDS = ("references", "documentation", "modified_files")
TAG_FIELDS = ("labels", "category", "type")
TEXT_FIELDS = ("reporter", "category", "type", "ordinal")  # become properties as they are
MILESTONE = "milestone"
WAITS_FOR = "waits for "  # begins the reason of a hold for missing dependencies
MISSING_DEPENDENCIES = "missing_dependencies"
SOURCE_FOLDER = "source_folder"  # the property with the folder of a task, where an export would choose another
PROPERTY_CHARS_MAX = 1000  # of a text; a longer one becomes a section

_OTHER_FIELDS = (
    "id",
    "title",
    "status",
    "assignee",
    "labels",
    "dependencies",
    "parent_task_id",
    "priority",
    NODE_FIELD,
)
_KNOWN_FIELDS = {*_OTHER_FIELDS, MILESTONE, *DATES, *LINK_FIELDS, *TEXT_FIELDS}


class BacklogItems:
    """The task files of a folder, and the items that the import makes of them."""

    def __init__(
        self, plan: SourcePlan, config: BacklogConfig, tasks: Sequence[TaskFile], milestones: dict[str, str]
    ) -> None:
        self._plan = plan
        self._config = config
        self._tasks = tasks
        self._milestones = milestones
        self._first: dict[TaskId, TaskFile] = {}
        self._active: dict[TaskId, list[TaskFile]] = {}
        self._archived: set[TaskId] = set()
        uses: Counter[TaskId] = Counter()
        for task in tasks:
            uses[task.task_id] += 1
            task.source_id = task.written_id
            if uses[task.task_id] > 1:
                task.source_id = f"{task.written_id}~{uses[task.task_id]}"
                detail = f"{task.path.name} in {task.place}/ has the id of another file; it is {task.source_id}"
                plan.note_placed(task.source_id, "id", detail)
            self._first.setdefault(task.task_id, task)
            if task.place in ACTIVE_PLACES:
                self._active.setdefault(task.task_id, []).append(task)
            else:
                self._archived.add(task.task_id)

    def build(self) -> list[SourceItem]:
        """Return the items of all tasks, sorted in each folder by ordinal and id."""
        places = list(TaskFolder)
        tasks = sorted(self._tasks, key=lambda task: (places.index(task.place), task.order))
        return [self._build_item(task) for task in tasks]

    def _build_item(self, task: TaskFile) -> SourceItem:
        word = task.get_text("status") or self._config.default_status
        fate, hold_reason = self._config.choose_fate(word, task.place)
        item = SourceItem(
            source_id=task.source_id,
            node=read_node_id(task.get_text(NODE_FIELD)),
            title=self._plan.clean_title(task.source_id, task.title),
            aliases=self._list_aliases(task),
            fate=fate,
            hold_reason=hold_reason,
            source_status=clean_title(word),
            state=clean_title(word) if normalize_word(word) == STARTED_WORD and fate == "open" else None,
            parent=self._find_parent(task),
            file=str(task.path),
            line=1,
        )
        if hold_reason is not None and task.place is TaskFolder.TASKS and normalize_word(word) != DRAFT:
            self._plan.note_placed(item.source_id, "status", f"{hold_reason} is not configured; the node is held")
        self._add_dependencies(item, task)
        self._add_fields(item, task)
        self._add_body(item, task)
        if task.place not in FOLDERS_OF_FATES[fate]:
            item.properties[SOURCE_FOLDER] = str(task.place)
        explain_drop(item)
        statuses = self._config.statuses
        usual = {"open": statuses[0], "done": statuses[-1], "dropped": DROPPED_STATUS, "held": HELD_STATUS}
        leave_out_usual_status(item, usual)
        return item

    def _list_aliases(self, task: TaskFile) -> list[str]:
        """Return the spellings of the id of a task. If the id is repeated, a later task has only its source id."""
        if self._first[task.task_id] is not task:
            return [task.source_id]
        plain = str(task.task_id)
        return list(dict.fromkeys((task.source_id, plain, plain.upper())))

    # --- Relations ---

    def _find_parent(self, task: TaskFile) -> str | None:
        """Return the source id of the parent: the named parent, else the task that the dotted id implies."""
        named = task.get_text("parent_task_id")
        for wanted in (parse_task_id(named) if named else None, task.task_id.parent):
            if wanted is None:
                continue
            # Parents keep the old prefix when the prefix is changed.
            today = replace(wanted, prefix=self._config.task_prefix.casefold())
            parent = self._first.get(wanted) or self._first.get(today)
            if parent is not None and parent is not task:
                return parent.source_id
        if named:
            self._plan.note_lost(task.source_id, "parent", f"{named} does not exist")
        return None

    def _add_dependencies(self, item: SourceItem, task: TaskFile) -> None:
        """Add the dependencies of a task. An open task with an unknown dependency is held, as Backlog.md does."""
        problems: dict[str, str] = {}
        for named in task.get_texts("dependencies"):
            wanted = parse_task_id(named)
            tasks = self._active.get(wanted, []) if wanted is not None else []
            if len(tasks) == 1:
                item.depends_on.append(tasks[0].source_id)
            elif tasks:
                problems[named] = f"{named}, which {len(tasks)} files claim"
            elif wanted in self._archived:
                problems[named] = f"{named}, which is archived or a draft"
            else:
                problems[named] = f"{named}, which does not exist"
        item.depends_on = list(dict.fromkeys(item.depends_on))
        if not problems:
            return
        reason = replace_unstorable(f"{WAITS_FOR}{'; '.join(problems.values())}")
        item.properties[MISSING_DEPENDENCIES] = [replace_unstorable(named) for named in problems]
        if item.fate == "open":
            item.fate, item.hold_reason = "held", reason[:PROPERTY_CHARS_MAX]
            self._plan.note_placed(item.source_id, "hold", reason)
        else:
            self._plan.note_lost(item.source_id, "dependencies", reason)

    # --- Fields ---

    def _add_fields(self, item: SourceItem, task: TaskFile) -> None:
        milestone = task.get_text(MILESTONE)
        milestone = self._milestones.get(milestone.casefold(), milestone)
        labels = (text for name in TAG_FIELDS for text in task.get_texts(name))
        item.tags = make_tags((*labels, milestone))
        add_links(item, [link for name in LINK_FIELDS for link in task.get_texts(name)])
        priority = task.get_text("priority")
        item.priority = PRIORITIES.get(normalize_word(priority))
        if priority and item.priority is None:
            self._plan.note_lost(item.source_id, "priority", f"{priority!r} is not high, medium or low")
        given: dict[str, Any] = {"assignee": task.get_text("assignee"), MILESTONE: milestone}
        given |= {ours: task.get_text(theirs) for theirs, ours in DATES.items()}
        given |= {name: task.get_text(name) for name in TEXT_FIELDS}
        item.properties |= {name: replace_unstorable(value) for name, value in given.items() if value}
        for name, given_field in task.fields.items():
            if name not in _KNOWN_FIELDS:
                self._add_other_field(item, name, given_field.value, given_field.texts)

    def _add_other_field(self, item: SourceItem, name: str, value: Any, texts: list[str]) -> None:
        """Keep a field that Backlog.md does not define."""
        name = clean_title(name).lstrip("_") or "field"
        cleaned = [replace_unstorable(text) for text in texts]
        if value == Nested() or (isinstance(value, tuple) and Nested() in value):
            self._plan.note_lost(item.source_id, name, "has parts of its own, which are not imported")
        elif sum(map(len, cleaned)) > PROPERTY_CHARS_MAX:
            add_section(item, name[:200], "\n".join(cleaned))
        elif cleaned:
            item.properties[name[:200]] = cleaned if isinstance(value, tuple) else cleaned[0]

    # --- Body ---

    def _add_body(self, item: SourceItem, task: TaskFile) -> None:
        for section in split_body(task.body):
            if section.mark == COMMENTS_MARK and (comments := parse_comments(section.lines)) is not None:
                for comment in comments:
                    add_comment(item, comment.text, author=comment.author, at=comment.created)
                continue
            add_parts(item, clean_title(section.title)[:200], section.text)
            is_short = len(section.text.encode("utf-8", "replace")) <= EVIDENCE_BYTES_MAX
            if section.title == FINAL_SUMMARY and item.fate in ("done", "dropped") and is_short:
                type_ = "note" if item.fate == "done" else "dropped"
                add_evidence(item, type_, section.text, section=FINAL_SUMMARY)
        if len(item.sections) > SECTIONS_MAX:
            self._plan.note_lost(
                item.source_id, "sections", f"{len(item.sections) - SECTIONS_MAX} of more than {SECTIONS_MAX}"
            )
            del item.sections[SECTIONS_MAX:]


# --- Decisions and documents of Backlog.md: atoms where they name files that exist, else molecules --------------------

FOLDERS = {"decisions": "decision", "docs": "doc"}  # and the prefix of their files
NAME_CHARS_MAX = 255


def read_knowledge(folder: Path, plan: SourcePlan, bad: BadLines) -> None:
    """Add the decisions and documents of a folder to a source plan."""
    uses: Counter[str] = Counter()
    for name, prefix in FOLDERS.items():
        for path in list_files(folder / name):
            file_id = parse_file_name(path.name)
            if file_id is None or not file_id.has_prefix(prefix):
                plan.left_out["files that are not decisions or documents"] += 1
            elif (text := _read_checked_text(path, bad)) is not None:
                fields, body = _split_knowledge(text)
                title = fields["title"].text if "title" in fields else path.stem.partition(_NAME_SEPARATOR)[2]
                _add_text(
                    plan, clean_title(title) or path.stem, replace_unstorable(body).strip(), path, folder.parent, uses
                )


def _split_knowledge(text: str) -> tuple[dict[str, Field], str]:
    """Return the fields and the body of a decision or document; one whose front matter cannot be read is all body."""
    try:
        parts = split_text(text)
        return parse_front(parts.front) if parts.front else {}, parts.body
    except UnreadableFrontMatter:
        return {}, text


def _add_text(plan: SourcePlan, title: str, text: str, path: Path, root: Path, uses: Counter[str]) -> None:
    paths = [pattern for named in find_paths(text) if (pattern := _to_pattern(named, root))][:ATOM_PATTERNS_MAX]
    for number, part in enumerate(split_by_bytes(text, KNOWLEDGE_BYTES_MAX), 1):
        name = title[: NAME_CHARS_MAX - 20] if len(title) > NAME_CHARS_MAX - 20 else title
        name = f"{name} ({number})" if number > 1 else name
        uses[name] += 1
        if uses[name] > 1:
            name = f"{name}~{uses[name]}"
            plan.note_placed(path.stem, "name", f"another text has this title; this one is {name}")
        if paths:
            plan.atoms.append(SourceAtom(name=name, knowledge=part, paths=paths, file=str(path)))
        else:
            plan.molecules.append(SourceMolecule(name=name, knowledge=part, file=str(path)))


def _to_pattern(path: str, root: Path) -> str | None:
    """Return the pattern of a path; None if no such file or folder exists below the root."""
    steps = path.strip("/").split("/")
    if path.startswith("/") or any(step in ("", ".", "..") for step in steps):
        return None
    try:
        place = root.joinpath(*steps)
        is_folder, exists = place.is_dir(), place.exists()
    except (OSError, ValueError):
        return None
    plain = escape_path("/".join(steps))
    return None if not exists else f"{plain}/**" if is_folder else plain


# --- Tasks of Backlog.md: the folder with `config.yml`, or the one above it -------------------------------------------

MILESTONES = "milestones"


def read_backlog(path: Path, *, skip_bad: bool) -> SourcePlan:
    """Read the tasks, decisions and documents of a folder."""
    plan = SourcePlan(TOOL)
    bad = BadLines(skip_bad=skip_bad)
    folder = find_folder(path)
    config = read_config(folder)
    tasks = list(read_task_files(folder, config, plan, bad))
    plan.items = BacklogItems(plan, config, tasks, _read_milestones(folder)).build()
    read_knowledge(folder, plan, bad)
    plan.skipped = bad.skipped
    return plan


def _read_milestones(folder: Path) -> dict[str, str]:
    """Return the titles of milestones by id."""
    ignored = BadLines(skip_bad=True)  # a milestone is a tag; what cannot be read keeps its id
    titles = {}
    for path in list_files(folder / MILESTONES):
        if (parts := read_fields(path, ignored)) is not None and {"id", "title"} <= parts[0].keys():
            titles[parts[0]["id"].text.strip().casefold()] = parts[0]["title"].text.strip()
    return titles
