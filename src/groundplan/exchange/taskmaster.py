"""Taskmaster: read its task file, with or without tags, and write items as such a file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from groundplan.exchange.items import (
    PROPERTIES_OF_IMPORT,
    TITLE_BYTES_MAX,
    BadLines,
    ItemNote,
    SourcePlan,
    UnreadableSource,
    WrittenFiles,
    add_section,
    choose_fate,
    clean_property,
    clean_title,
    normalize_word,
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
        *("parentTaskId", "parentId", "parentTask", "isSubtask"),
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
            self._set_dependencies(task)
            self._finish_with_parent(task)
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
        if hold_reason is not None:
            self._plan.note_placed(source_id, "status", f"is held: {hold_reason}")
        above = fields if parent is None else parent.fields
        priority = normalize_word(str(above.get("priority") or PRIORITY_DEFAULT))
        item = SourceItem(
            source_id=source_id,
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
            add_section(item, name, "\n".join(f"- {line}" for line in text) if isinstance(text, list) else text)
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
# `TAG/12` and its third subtask `TAG/12.3`. Of several tags, each is a group.

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
        has_group = len(tags) > 1
        if has_group:
            plan.items.append(SourceItem(source_id=tag, title=tag, is_group=True, file=str(file)))
        has_short_ids = tag == MASTER or len(tags) == 1
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
    for tag, tasks in tree.tags.items():
        tags[tag] = {
            "tasks": [tree.build_task(task) for task in tasks],
            "metadata": {"description": f"Tasks of {tag}"},
        }
    if not tags:
        tags[MASTER] = {"tasks": [], "metadata": {"description": "Tasks of master"}}
    return WrittenFiles({"": json.dumps(tags, ensure_ascii=False, indent=2) + "\n"}, tree.lost)


class _Tree:
    """The nodes of a project as tags, tasks and subtasks, with their numbers."""

    def __init__(self, items: Sequence[ExportedItem]) -> None:
        self.lost: list[ItemNote] = []
        self.tags: dict[str, list[ExportedItem]] = {}
        self._children: dict[str | None, list[ExportedItem]] = {}
        self._numbers: dict[str, tuple[str, str]] = {}  # the tag and the number of each node
        for item in items:
            self._children.setdefault(item.parent, []).append(item)
        groups = [item for item in self._children.get(None, ()) if _is_tag(item)]
        others = [item for item in self._children.get(None, ()) if not _is_tag(item)]
        for group in groups:
            self._number(group.title, self._children.get(group.id, []))
        if others or not groups:
            own = next((item.sources[TOOL].partition("/")[0] for item in others if TOOL in item.sources), MASTER)
            self._number(own, others)

    def _number(self, tag: str, tasks: list[ExportedItem]) -> None:
        if not tasks:
            return
        self.tags.setdefault(tag, []).extend(tasks)
        self._assign(tag, "", tasks)
        for task in tasks:
            self._assign(tag, f"{self._numbers[task.id][1]}.", [*self._iter_below(task)])

    def _assign(self, tag: str, prefix: str, items: list[ExportedItem]) -> None:
        """Give each item its number from the import; new items get numbers after the largest one."""
        taken: set[str] = set()
        for item in items:
            source = item.sources.get(TOOL, "").removeprefix(f"{tag}/")
            number = source.removeprefix(prefix) if source.startswith(prefix) else ""
            if number.isdecimal() and number not in taken:
                taken.add(number)
                self._numbers[item.id] = (tag, f"{prefix}{number}")
        following = max((int(number) for number in taken), default=0)
        for item in items:
            if item.id not in self._numbers:
                following += 1
                self._numbers[item.id] = (tag, f"{prefix}{following}")

    def _iter_below(self, item: ExportedItem) -> Iterator[ExportedItem]:
        """Yield all descendants of a task, because Taskmaster has only one level of subtasks."""
        for child in self._children.get(item.id, ()):
            yield child
            yield from self._iter_below(child)

    def build_task(self, item: ExportedItem) -> dict[str, Any]:
        """Return a task with its subtasks."""
        task = self._build(item)
        task["subtasks"] = [self._build(below, is_subtask=True) for below in self._iter_below(item)]
        return task

    def _build(self, item: ExportedItem, *, is_subtask: bool = False) -> dict[str, Any]:
        number = self._numbers[item.id][1]
        task: dict[str, Any] = {
            "id": int(number.rpartition(".")[2]),
            "title": item.title,
            "description": "",
            "status": _choose_status(item),
            "dependencies": [*self._iter_dependencies(item, is_subtask=is_subtask)],
        }
        if not is_subtask:
            task["priority"] = _choose_priority(item)
        sections = {section.title: section.text for section in item.sections}
        task |= {name: sections[name] for name in SECTIONS if name in sections}
        others = [f"## {title}\n\n{text}" for title, text in sections.items() if title not in SECTIONS]
        others += [f"- {evidence.type}: {evidence.text}" for evidence in item.evidence]
        if others:
            task["details"] = "\n\n".join([*([task["details"]] if "details" in task else ()), *others])
        names = {ours: name for name, ours in PROPERTIES.items()}
        for name, value in item.properties.items():
            if name not in PROPERTIES_OF_IMPORT and name != MISSING_DEPENDENCIES:
                task.setdefault(names.get(name, name), value)
        for name in ("tags", "context_links"):
            if getattr(item, name):
                self.lost.append(ItemNote(item.sources.get(TOOL, item.id), name, "Taskmaster has no such field"))
        return task

    def _iter_dependencies(self, item: ExportedItem, *, is_subtask: bool) -> Iterator[int | str]:
        tag, number = self._numbers[item.id]
        for missing in item.properties.get(MISSING_DEPENDENCIES, ()):
            yield int(missing) if str(missing).isdecimal() else str(missing)
        for target in item.depends_on:
            target_tag, target_number = self._numbers.get(target, ("", ""))
            if target_tag != tag:
                self.lost.append(ItemNote(item.sources.get(TOOL, item.id), "depends_on", f"{target} has another tag"))
            elif is_subtask and target_number.rpartition(".")[0] == number.rpartition(".")[0]:
                yield int(target_number.rpartition(".")[2])
            elif is_subtask and "." not in target_number:
                # A bare number would be a sibling there.
                self.lost.append(
                    ItemNote(item.sources.get(TOOL, item.id), "depends_on", f"{target_number} is a whole task")
                )
            else:
                yield target_number if "." in target_number else int(target_number)


def _is_tag(item: ExportedItem) -> bool:
    """Return True if a group is a tag of Taskmaster at the import."""
    return item.kind == FEATURE and item.sources.get(TOOL) == item.title


def _choose_status(item: ExportedItem) -> str:
    given = item.properties.get("source_status")
    if item.properties.get("source") == TOOL and isinstance(given, str):
        fate = FATES.get(normalize_word(given), "held")
        is_unmet = item.fate == "held" and (item.hold_reason or "").startswith("waits for ")
        if fate == item.fate or (fate == "open" and is_unmet):
            return given
    return STARTED_STATUS if item.fate == "open" and item.is_claimed else STATUSES[item.fate]


def _choose_priority(item: ExportedItem) -> str:
    ranked = sorted(PRIORITIES.items(), key=lambda pair: pair[1])
    given = 2.0 if item.priority is None else item.priority
    return min(ranked, key=lambda pair: abs(pair[1] - given))[0]
