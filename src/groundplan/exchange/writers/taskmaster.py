"""Write the tasks of Taskmaster: the tagged form, with tasks and one level of subtasks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from groundplan.exchange.item_parts import normalize_word
from groundplan.exchange.model import ItemNote
from groundplan.exchange.readers.taskmaster.rules import (
    FATES,
    MASTER,
    MISSING_DEPENDENCIES,
    PRIORITIES,
    PROPERTIES,
    SECTIONS,
    TOOL,
)
from groundplan.exchange.writers.written_files import PROPERTIES_OF_IMPORT, WrittenFiles, restore_loops
from groundplan.work.importing.export_items import ExportedItem
from groundplan.work.kinds import FEATURE

STATUSES = {"done": "done", "dropped": "cancelled", "open": "pending", "held": "deferred"}
STARTED = "in-progress"


def write(items: Sequence[ExportedItem]) -> WrittenFiles:
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
        """Keep the numbers that nodes had in their tool, and count on for the others."""
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
        """Yield everything below a task: Taskmaster has one level of subtasks."""
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
        others += [f"- {one.type}: {one.text}" for one in item.evidence]
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
            other_tag, other = self._numbers.get(target, ("", ""))
            if other_tag != tag:
                self.lost.append(ItemNote(item.sources.get(TOOL, item.id), "depends_on", f"{target} has another tag"))
            elif is_subtask and other.rpartition(".")[0] == number.rpartition(".")[0]:
                yield int(other.rpartition(".")[2])
            elif is_subtask and "." not in other:
                # A bare number would be a sibling there.
                self.lost.append(ItemNote(item.sources.get(TOOL, item.id), "depends_on", f"{other} is a whole task"))
            else:
                yield other if "." in other else int(other)


def _is_tag(item: ExportedItem) -> bool:
    """Return whether a group is the tag that it was imported as."""
    return item.kind == FEATURE and item.sources.get(TOOL) == item.title


def _choose_status(item: ExportedItem) -> str:
    given = item.properties.get("source_status")
    if item.properties.get("source") == TOOL and isinstance(given, str):
        fate = FATES.get(normalize_word(given), "held")
        is_unmet = item.fate == "held" and (item.hold_reason or "").startswith("waits for ")
        if fate == item.fate or (fate == "open" and is_unmet):
            return given
    return STARTED if item.fate == "open" and item.is_claimed else STATUSES[item.fate]


def _choose_priority(item: ExportedItem) -> str:
    ranked = sorted(PRIORITIES.items(), key=lambda pair: pair[1])
    given = 2.0 if item.priority is None else item.priority
    return min(ranked, key=lambda pair: abs(pair[1] - given))[0]
