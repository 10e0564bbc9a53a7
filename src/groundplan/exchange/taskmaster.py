"""Taskmaster: read its task file, with or without tags, and write items as such a file."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from groundplan.exchange.items import (
    NODE_FIELD,
    PROPERTIES_OF_IMPORT,
    STATUS_EVIDENCE,
    TITLE_BYTES_MAX,
    BadLines,
    ItemNote,
    SourcePlan,
    UnreadableSource,
    WrittenFiles,
    add_parts,
    append_parts,
    choose_fate,
    clean_property,
    clean_title,
    explain_drop,
    get_imported_status,
    leave_out_usual_status,
    list_evidence,
    normalize_word,
    read_node_id,
    restore_loops,
)
from groundplan.exchange.texts import read_json
from groundplan.work.importing.export import ExportedItem
from groundplan.work.importing.items import ALIAS_CHARS_MAX, Fate, SourceItem
from groundplan.work.kinds import FEATURE

TOOL = "taskmaster"
MASTER = "master"  # the tag of a file without tags

FATES: Mapping[str, Fate] = {
    "done": "done",
    "completed": "done",
    "cancelled": "dropped",
    "canceled": "dropped",
    "pending": "open",
    "in progress": "open",
}
STARTED_WORD = "in progress"
PRIORITIES: Mapping[str, float] = {"critical": 4, "high": 3, "medium": 2, "low": 1}
PRIORITY_DEFAULT = "medium"

# The property with dependencies that name nothing, for an export.
MISSING_DEPENDENCIES = "missing_dependencies"
SECTIONS = ("description", "details", "testStrategy", "acceptanceCriteria", "completionNotes", "analysisResults")
PROPERTIES: Mapping[str, str] = {"updatedAt": "source_updated_at"}
# What is taken over elsewhere, or says again what the place in the file says.
KNOWN_FIELDS = frozenset(
    {
        *SECTIONS,
        *PROPERTIES,
        *("id", "title", "status", "priority", "dependencies", "subtasks", "tags"),
        *("parentTaskId", "parentId", "parentTask", "isSubtask", NODE_FIELD),
    }
)


# --- The tasks of one tag as items ------------------------------------------------------------------------------------
# Ids are unique in a tag only, and those of subtasks below their task. A bare number in a subtask names a sibling,
# never a task. A dependency that names nothing is never met there, so its task is held here.


@dataclass(slots=True)
class FileTask:
    """A task or a subtask of the file, and its item."""

    fields: dict[str, Any]
    key: str  # 12, or 12.3 for a subtask
    item: SourceItem
    parent: FileTask | None = None


class TagTasks:
    """The tasks of one tag."""

    def __init__(
        self, plan: SourcePlan, bad: BadLines, file: str, tag: str, *, has_group: bool, has_short_ids: bool
    ) -> None:
        self._plan = plan
        self._bad = bad
        self._file = file
        self._tag = tag
        self._group = tag if has_group else None
        self._has_short_ids = has_short_ids
        self._tasks: dict[str, FileTask] = {}  # by key

    def read(self, tasks: list[Any]) -> None:
        """Add the tasks of the tag to the plan."""
        for index, fields in enumerate(tasks):
            task = self._add(fields, f"task {index + 1} of tag {self._tag}", None)
            subtasks = fields.get("subtasks") if task is not None else None
            for number, below in enumerate(subtasks if isinstance(subtasks, list) else ()):
                self._add(below, f"subtask {number + 1} of task {task.key if task else ''} of tag {self._tag}", task)
        for task in self._tasks.values():
            self._finish_with_parent(task)
            if task.item.fate == "held":
                self._plan.note_placed(task.item.source_id, "status", f"is held: {task.item.hold_reason}")
        for task in self._tasks.values():
            self._set_dependencies(task)
            explain_drop(task.item)
            leave_out_usual_status(task.item, STATUSES)
            self._plan.items.append(task.item)

    def _add(self, fields: Any, where: str, parent: FileTask | None) -> FileTask | None:
        id_ = _read_id(fields.get("id")) if isinstance(fields, dict) else None
        if id_ is None:
            self._bad.add(self._file, None, f"{where} has no id")
            return None
        key = self._find_free_key(id_ if parent is None else f"{parent.key}.{_read_number(id_, parent.key)}")
        source_id = f"{self._tag}/{key}"
        title = self._choose_title(fields, source_id)
        if not title or len(title.encode()) > TITLE_BYTES_MAX:
            problem = "no title" if not title else f"a title of more than {TITLE_BYTES_MAX} bytes"
            self._bad.add(self._file, None, f"{where} has {problem}", source_id)
            return None
        task = FileTask(fields, key, self._make_item(fields, source_id, key, title, parent), parent)
        self._tasks[key] = task
        if isinstance(fields.get("subtasks"), list) and fields["subtasks"] and parent is not None:
            self._plan.note_lost(source_id, "subtasks", "a subtask has no subtasks of its own in Taskmaster")
        return task

    def _find_free_key(self, key: str) -> str:
        """Return a free key for an id: the id itself, or the id with a counter if it is in use."""
        free, number = key, 1
        while free in self._tasks:
            number += 1
            free = f"{key}~{number}"
        if free != key:
            self._plan.note_placed(f"{self._tag}/{free}", "id", f"the id {key} is there more than once")
        return free

    def _choose_title(self, fields: dict[str, Any], source_id: str) -> str:
        """Return the title of a task; without one, the first line of its description."""
        given = fields.get("title")
        if isinstance(given, str) and clean_title(given):
            return self._plan.clean_title(source_id, given)
        description = fields.get("description")
        first = description.strip().partition("\n")[0] if isinstance(description, str) else ""
        if first:
            self._plan.note_placed(source_id, "title", "has no title; the first line of its description is one")
        return clean_title(first)

    def _make_item(
        self, fields: dict[str, Any], source_id: str, key: str, title: str, parent: FileTask | None
    ) -> SourceItem:
        status = str(fields.get("status") or "")
        fate, hold_reason = choose_fate(status, FATES)
        above = fields if parent is None else parent.fields
        priority = normalize_word(str(above.get("priority") or PRIORITY_DEFAULT))
        item = SourceItem(
            source_id=source_id,
            node=read_node_id(fields.get(NODE_FIELD)),
            title=title,
            aliases=[
                alias for alias in (source_id, *([key] if self._has_short_ids else ())) if len(alias) <= ALIAS_CHARS_MAX
            ],
            fate=fate,
            hold_reason=hold_reason,
            source_status=clean_title(status)[:255] or None,
            state=status if normalize_word(status) == STARTED_WORD else None,
            priority=PRIORITIES.get(priority, PRIORITIES[PRIORITY_DEFAULT]),
            parent=self._group if parent is None else parent.item.source_id,
            properties=_list_properties(fields),
            file=self._file,
        )
        for name in SECTIONS:
            text = fields.get(name)
            add_parts(item, name, "\n".join(f"- {line}" for line in text) if isinstance(text, list) else text)
        return item

    def _set_dependencies(self, task: FileTask) -> None:
        for text in _list_ids(task.fields.get("dependencies")):
            key = text
            if task.parent is not None and "." not in text:
                key = f"{task.parent.key}.{text}"
            target = self._tasks.get(key)
            if target is not None:
                if target.item.source_id not in task.item.depends_on:
                    task.item.depends_on.append(target.item.source_id)
                continue
            self._plan.note_placed(task.item.source_id, "dependencies", f"{text} is not there, so it is never done")
            task.item.properties.setdefault(MISSING_DEPENDENCIES, []).append(text)
            if task.item.fate == "open":
                task.item.fate, task.item.hold_reason = "held", f"waits for {text}, which is not there"

    def _finish_with_parent(self, task: FileTask) -> None:
        """Finish an open subtask of a finished task, because Taskmaster never offers it again."""
        parent = task.parent
        if parent is not None and task.item.fate in ("open", "held") and parent.item.fate in ("done", "dropped"):
            self._plan.note_placed(task.item.source_id, "status", f"is finished with its task {parent.item.source_id}")
            task.item.fate, task.item.hold_reason = parent.item.fate, None
            explain_drop(task.item, f"{STATUS_EVIDENCE}{task.item.source_status}, in a task that was given up")


def _read_id(value: Any) -> str | None:
    """Return an id as text. An id is a whole number, a number with a fraction, or a text."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return clean_title(str(value)).replace("/", "-")[:64] or None


def _read_number(id_: str, task: str) -> str:
    """Return the number of a subtask. Its id may repeat the id of its task: 27.15, 42-1."""
    for separator in (".", "-"):
        if id_.startswith(f"{task}{separator}"):
            return id_.removeprefix(f"{task}{separator}")
    return id_


def _list_ids(value: Any) -> Iterator[str]:
    for id_ in value if isinstance(value, list) else ():
        if (text := _read_id(id_)) is not None:
            yield text


def _list_properties(fields: dict[str, Any]) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for name, value in fields.items():
        if name in KNOWN_FIELDS and name not in PROPERTIES:
            continue
        if value is not None and value != "" and name.strip() and not name.startswith("_"):
            properties[PROPERTIES.get(name, clean_title(name))] = clean_property(value)
    return properties


# --- Read the tasks of Taskmaster -------------------------------------------------------------------------------------
# A file has tags with a list of tasks each, or one list of tasks; values without such a list are no tags. A task is
# `TAG/12` and its third subtask `TAG/12.3`. Of several tags with tasks, each is a group.

PLACES = (".taskmaster/tasks/tasks.json", "tasks/tasks.json", "tasks.json")


def read_taskmaster(path: Path, *, skip_bad: bool) -> SourcePlan:
    """Return the plan in a file of Taskmaster, or in a folder with such a file at its usual place."""
    file = _find_file(path)
    value = read_json(file)
    bad = BadLines(skip_bad=skip_bad)
    plan = SourcePlan(TOOL, inherits_dependencies=True)
    tags = _find_tags(str(file), value)
    filled = {tag: tasks for tag, tasks in tags.items() if tasks}
    for tag, tasks in filled.items():
        _refuse_other_tools(str(file), tasks)
        has_group = len(filled) > 1
        if has_group:
            plan.items.append(SourceItem(source_id=tag, title=tag, is_group=True, file=str(file)))
        has_short_ids = tag == MASTER or len(filled) == 1
        TagTasks(plan, bad, str(file), tag, has_group=has_group, has_short_ids=has_short_ids).read(tasks)
    if empty := len(tags) - len(filled):
        plan.left_out["empty tags"] = empty
    plan.skipped = bad.skipped
    return plan


def _find_file(path: Path) -> Path:
    if not path.is_dir():
        return path
    file = next((path / place for place in PLACES if (path / place).is_file()), None)
    if file is None:
        raise UnreadableSource(str(path), f"has no {PLACES[0]}; name the file")
    return file


def _find_tags(file: str, value: Any) -> dict[str, list[Any]]:
    """Return the tasks of each tag."""
    if isinstance(value, dict):
        if isinstance(value.get("tasks"), list):
            return {MASTER: value["tasks"]}
        tags = {
            tag: content["tasks"]
            for tag, content in value.items()
            if isinstance(content, dict)
            and isinstance(content.get("tasks"), list)
            and tag.strip()
            and not tag.startswith("_")
        }
        if tags:
            return tags
    raise UnreadableSource(file, "is not a file of Taskmaster: it has no list of tasks")


def _refuse_other_tools(file: str, tasks: list[Any]) -> None:
    """Refuse a file without any task title, because another tool uses the same file name."""
    if all(isinstance(task, dict) and "name" in task and "title" not in task for task in tasks):
        raise UnreadableSource(file, "is not a file of Taskmaster: its tasks have a name and no title")


# --- Write the tasks of Taskmaster: the tagged form, with tasks and one level of subtasks -----------------------------

STATUSES = {"done": "done", "dropped": "cancelled", "open": "pending", "held": "deferred"}
STARTED_STATUS = "in-progress"


def write_taskmaster(items: Sequence[ExportedItem]) -> WrittenFiles:
    """Return `tasks.json`."""
    tree = _Tree(restore_loops(items))
    tags: dict[str, Any] = {}
    for tag in tree.tags or [MASTER]:
        tasks = tree.build_tasks(tag) if tag in tree.tags else []
        tags[tag] = {"tasks": tasks, "metadata": {"description": f"Tasks of {tag}"}}
    return WrittenFiles({"": json.dumps(tags, ensure_ascii=False, indent=2) + "\n"}, tree.lost)


class _Place(NamedTuple):
    """The tag of a node, the id of its task, and its own id below that if it is a subtask."""

    tag: str
    task: str
    part: str | None = None

    @property
    def key(self) -> str:
        """The id of the node within its tag, as the reader builds it."""
        return self.task if self.part is None else f"{self.task}.{self.part}"


class _Tree:
    """The nodes of a project as tags, tasks and subtasks, with their ids."""

    def __init__(self, items: Sequence[ExportedItem]) -> None:
        self.lost: list[ItemNote] = []
        self._children: dict[str | None, list[ExportedItem]] = {}
        self._places: dict[str, _Place] = {}
        for item in items:
            self._children.setdefault(item.parent, []).append(item)
        self.tags = self._list_tags()
        for tag, tasks in self.tags.items():
            for task, task_id in zip(tasks, _choose_ids(tasks, f"{tag}/"), strict=True):
                self._places[task.id] = _Place(tag, task_id)
                parts = [*self._iter_below(task)]
                for part, part_id in zip(parts, _choose_ids(parts, f"{tag}/{task_id}."), strict=True):
                    self._places[part.id] = _Place(tag, task_id, part_id)

    def _list_tags(self) -> dict[str, list[ExportedItem]]:
        """Return the tasks of each tag that has any; those outside of groups have the tag that they came from."""
        tags: dict[str, list[ExportedItem]] = {}
        others: list[ExportedItem] = []
        for item in self._children.get(None, ()):
            if _is_tag(item):
                tags.setdefault(item.title, []).extend(self._children.get(item.id, ()))
            else:
                others.append(item)
        own = next((item.sources[TOOL].rpartition("/")[0] for item in others if TOOL in item.sources), MASTER)
        tags.setdefault(own, []).extend(others)
        return {tag: tasks for tag, tasks in tags.items() if tasks}

    def _iter_below(self, item: ExportedItem) -> Iterator[ExportedItem]:
        """Yield all descendants of a task, because Taskmaster has only one level of subtasks."""
        for child in self._children.get(item.id, ()):
            yield child
            yield from self._iter_below(child)

    def build_tasks(self, tag: str) -> list[dict[str, Any]]:
        """Return the tasks of a tag with their subtasks."""
        tasks = self.tags[tag]
        return [
            self._build(task, written_id) | {"subtasks": self._build_parts(task)}
            for task, written_id in zip(tasks, _write_ids([self._places[task.id] for task in tasks]), strict=True)
        ]

    def _build_parts(self, task: ExportedItem) -> list[dict[str, Any]]:
        parts = [*self._iter_below(task)]
        written_ids = _write_ids([self._places[part.id] for part in parts])
        return [self._build(part, written_id, task) for part, written_id in zip(parts, written_ids, strict=True)]

    def _build(
        self, item: ExportedItem, written_id: int | float | str, parent: ExportedItem | None = None
    ) -> dict[str, Any]:
        task: dict[str, Any] = {
            "id": written_id,
            "title": item.title,
            "description": "",
            "status": _choose_status(item, parent),
            "dependencies": [*self._iter_dependencies(item)],
        }
        if parent is None:
            task["priority"] = _choose_priority(item)
        sections = {section.title: section.text for section in item.sections}
        task |= {name: sections[name] for name in SECTIONS if name in sections}
        others = [section for section in item.sections if section.title not in SECTIONS]
        if details := append_parts(sections.get("details", ""), others, list_evidence(item)):
            task["details"] = details
        if TOOL not in item.sources:
            task[NODE_FIELD] = item.id
        names = {ours: name for name, ours in PROPERTIES.items()}
        for name, value in item.properties.items():
            if name not in PROPERTIES_OF_IMPORT and name != MISSING_DEPENDENCIES:
                task.setdefault(names.get(name, name), value)
        for name in ("tags", "context_links"):
            if getattr(item, name):
                self._note_lost(item, name, "Taskmaster has no such field")
        return task

    def _iter_dependencies(self, item: ExportedItem) -> Iterator[int | float | str]:
        place = self._places[item.id]
        for missing in item.properties.get(MISSING_DEPENDENCIES, ()):
            yield _encode_id(str(missing))
        for node_id in item.depends_on:
            target = self._places.get(node_id)
            if target is None or target.tag != place.tag:
                self._note_lost(item, "depends_on", f"{node_id} has another tag")
            elif place.part is not None and target.task == place.task and "." not in (target.part or "."):
                yield _encode_id(str(target.part))
            elif place.part is not None and "." not in target.key:
                self._note_lost(item, "depends_on", f"{target.key} is a whole task")  # a bare number would be a sibling
            else:
                yield target.key if "." in target.key else _encode_id(target.key)

    def _note_lost(self, item: ExportedItem, field: str, detail: str) -> None:
        self.lost.append(ItemNote(item.sources.get(TOOL, item.id), field, detail))


def _choose_ids(items: Sequence[ExportedItem], prefix: str) -> list[str]:
    """Return the id of each item below a prefix: the imported one; new items count on from the largest number."""
    sources = [item.sources.get(TOOL, "") for item in items]
    imported = [source.removeprefix(prefix) if source.startswith(prefix) else "" for source in sources]
    if prefix.endswith("/"):  # a subtask that became a task gives its id back
        plain = {own_id for own_id in imported if "." not in own_id}
        imported = ["" if "." in own_id and own_id.partition(".")[0] in plain else own_id for own_id in imported]
    numbers = (own_id.partition("~")[0] for own_id in imported)
    last = max((int(number) for number in numbers if number.isdecimal()), default=0)
    new_ids = map(str, count(last + 1))
    return [own_id or next(new_ids) for own_id in imported]


def _write_ids(places: Sequence[_Place]) -> list[int | float | str]:
    """Return the ids of siblings as the file has them; one that was there more than once is repeated."""
    uses: Counter[str] = Counter()
    written_ids = []
    for place in places:
        text = place.task if place.part is None else place.part
        first, _, number = text.rpartition("~")
        if number.isdecimal() and int(number) == uses[first] + 1 > 1:
            text = first
        uses[text] += 1
        if place.part is not None and _read_number(text, place.task) != text:
            text = f"{place.task}.{text}"  # else its beginning would be read as the id of the task
        written_ids.append(_encode_id(text))
    return written_ids


def _encode_id(text: str) -> int | float | str:
    """Return an id as a number if it is read back as the same id, else as text."""
    if text.isascii() and text.replace(".", "", 1).isdecimal():
        value = float(text) if "." in text else int(text)
        if _read_id(value) == text:
            return value
    return text


def _is_tag(item: ExportedItem) -> bool:
    """Return True if a group is a tag of Taskmaster at the import."""
    return item.kind == FEATURE and item.sources.get(TOOL) == item.title


def _choose_status(item: ExportedItem, parent: ExportedItem | None) -> str:
    status = STARTED_STATUS if item.fate == "open" and item.is_claimed else STATUSES[item.fate]
    # A subtask is finished with its task; the hold for a missing dependency follows from this.
    is_derived = item.fate == "held" or (parent is not None and parent.fate == item.fate)
    return get_imported_status(item, TOOL, FATES, is_derived=is_derived) or status


def _choose_priority(item: ExportedItem) -> str:
    ranked = sorted(PRIORITIES.items(), key=lambda pair: pair[1])
    given = 2.0 if item.priority is None else item.priority
    return min(ranked, key=lambda pair: abs(pair[1] - given))[0]
