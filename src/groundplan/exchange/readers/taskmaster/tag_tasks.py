"""The tasks of one tag as items.

Ids are unique in a tag only, and those of subtasks below their task. A bare number in a subtask names a sibling, never
a task. A dependency that names nothing is never met there, so its task is held here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from groundplan.exchange.item_parts import add_section, choose_fate, clean_property, normalize_word
from groundplan.exchange.model import BadLines, SourcePlan
from groundplan.exchange.readers.taskmaster.rules import (
    FATES,
    KNOWN_FIELDS,
    MISSING_DEPENDENCIES,
    PRIORITIES,
    PRIORITY_DEFAULT,
    PROPERTIES,
    SECTIONS,
    STARTED,
)
from groundplan.exchange.text_files import TITLE_BYTES_MAX, clean_title, describe_title_changes
from groundplan.work.importing.source_items import ALIAS_CHARS_MAX, SourceItem


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
        """Return a key that no other task has: the same id again gets a number."""
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
        if isinstance(given, str) and (title := clean_title(given)):
            if (changed := describe_title_changes(given, title)) is not None:
                self._plan.note_placed(source_id, "title", changed)
            return title
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
                one for one in (source_id, *([key] if self._has_short_ids else ())) if len(one) <= ALIAS_CHARS_MAX
            ],
            fate=fate,
            hold_reason=hold_reason,
            source_status=clean_title(status)[:255] or None,
            state=status if normalize_word(status) == STARTED else None,
            priority=PRIORITIES.get(priority, PRIORITIES[PRIORITY_DEFAULT]),
            parent=self._group if parent is None else parent.item.source_id,
            properties=_list_properties(fields),
            file=self._file,
        )
        for name in SECTIONS:
            text = fields.get(name)
            add_section(item, name, "\n".join(f"- {one}" for one in text) if isinstance(text, list) else text)
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
        """Finish an open subtask with its finished task: Taskmaster never offers it again."""
        parent = task.parent
        if parent is not None and task.item.fate in ("open", "held") and parent.item.fate in ("done", "dropped"):
            self._plan.note_placed(task.item.source_id, "status", f"is finished with its task {parent.item.source_id}")
            task.item.fate, task.item.hold_reason = parent.item.fate, None


def _read_id(value: Any) -> str | None:
    """Return an id as text: a whole number, a number with a fraction, or a text."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return clean_title(str(value)).replace("/", "-")[:64] or None


def _read_number(id_: str, task: str) -> str:
    """Return the number of a subtask, whose id may repeat that of its task: 27.15, 42-1."""
    for separator in (".", "-"):
        if id_.startswith(f"{task}{separator}"):
            return id_.removeprefix(f"{task}{separator}")
    return id_


def _list_ids(value: Any) -> Iterator[str]:
    for one in value if isinstance(value, list) else ():
        if (text := _read_id(one)) is not None:
            yield text


def _list_properties(fields: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in fields.items():
        if name in KNOWN_FIELDS and name not in PROPERTIES:
            continue
        if value is not None and value != "" and name.strip() and not name.startswith("_"):
            found[PROPERTIES.get(name, clean_title(name))] = clean_property(value)
    return found
