"""Turn task files into items: ids, fates, parents, dependencies, sections and fields."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from groundplan.exchange.backlog.body import COMMENTS_MARK, FINAL_SUMMARY, parse_comments, split_body
from groundplan.exchange.backlog.config import (
    ACTIVE_PLACES,
    DRAFT,
    FOLDERS_OF_FATES,
    STARTED_WORD,
    BacklogConfig,
    TaskFolder,
)
from groundplan.exchange.backlog.task_files import TaskFile
from groundplan.exchange.backlog.task_ids import TaskId, parse_task_id
from groundplan.exchange.item_parts import (
    EVIDENCE_BYTES_MAX,
    add_comment,
    add_evidence,
    add_links,
    add_section,
    make_tags,
    normalize_word,
)
from groundplan.exchange.model import ItemNote, SourcePlan
from groundplan.exchange.text_files import clean_text, clean_title, describe_title_changes
from groundplan.front_matter.fields import Nested
from groundplan.work.importing.source_items import SourceItem
from groundplan.work.requests import SECTIONS_MAX

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
STATUS_EVIDENCE = "status "  # begins the evidence of a dropped task without a summary
MISSING_DEPENDENCIES = "missing_dependencies"
SOURCE_FOLDER = "source_folder"  # the property with the folder of a task, where an export would choose another
PROPERTY_CHARS_MAX = 1000  # of a text; a longer one becomes a section

_OTHER_FIELDS = ("id", "title", "status", "assignee", "labels", "dependencies", "parent_task_id", "priority")
_KNOWN_FIELDS = {*_OTHER_FIELDS, MILESTONE, *DATES, *LINK_FIELDS, *TEXT_FIELDS}


class BacklogItems:
    """The task files of a folder, and the items that they become."""

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
                plan.placed.append(ItemNote(task.source_id, "id", detail))
            self._first.setdefault(task.task_id, task)
            if task.place in ACTIVE_PLACES:
                self._active.setdefault(task.task_id, []).append(task)
            else:
                self._archived.add(task.task_id)

    def build(self) -> list[SourceItem]:
        """Return the items of all tasks, those of each folder by ordinal and id."""
        places = list(TaskFolder)
        tasks = sorted(self._tasks, key=lambda task: (places.index(task.place), task.order))
        return [self._build_item(task) for task in tasks]

    def _build_item(self, task: TaskFile) -> SourceItem:
        word = task.get_text("status") or self._config.default_status
        fate, hold_reason = self._config.choose_fate(word, task.place)
        item = SourceItem(
            source_id=task.source_id,
            title=clean_title(task.title),
            aliases=self._list_aliases(task),
            fate=fate,
            hold_reason=hold_reason,
            source_status=clean_title(word),
            state=clean_title(word) if normalize_word(word) == STARTED_WORD and fate == "open" else None,
            parent=self._find_parent(task),
            file=str(task.path),
            line=1,
        )
        if (change := describe_title_changes(task.title, item.title)) is not None:
            self._note_placed(item, "title", change)
        if hold_reason is not None and task.place is TaskFolder.TASKS and normalize_word(word) != DRAFT:
            self._note_placed(item, "status", f"{hold_reason} is not configured; the node is held")
        self._add_dependencies(item, task)
        self._add_fields(item, task)
        self._add_body(item, task)
        if task.place not in FOLDERS_OF_FATES[fate]:
            item.properties[SOURCE_FOLDER] = str(task.place)
        if fate == "dropped" and all(one.type != "dropped" for one in item.evidence):
            add_evidence(item, "dropped", f"{STATUS_EVIDENCE}{word}", section="Close reason")
        return item

    def _note_placed(self, item: SourceItem, what: str, detail: str) -> None:
        self._plan.placed.append(ItemNote(item.source_id, what, detail))

    def _note_lost(self, item: SourceItem, what: str, detail: str) -> None:
        self._plan.lost.append(ItemNote(item.source_id, what, detail))

    def _list_aliases(self, task: TaskFile) -> list[str]:
        """Return the ways in which people write the id of a task; a counted one has no other."""
        if self._first[task.task_id] is not task:
            return [task.source_id]
        plain = f"{task.task_id.prefix}-{'.'.join(map(str, task.task_id.numbers))}"
        return list(dict.fromkeys((task.source_id, plain, plain.upper())))

    # --- Relations ---

    def _find_parent(self, task: TaskFile) -> str | None:
        """Return the source id of the parent: the one that is named, else the one that the numbers say."""
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
            self._plan.lost.append(ItemNote(task.source_id, "parent", f"{named} does not exist"))
        return None

    def _add_dependencies(self, item: SourceItem, task: TaskFile) -> None:
        """Add what a task waits for; an open task that waits for what cannot be found is held, as in the tool."""
        problems: dict[str, str] = {}
        for named in task.get_texts("dependencies"):
            wanted = parse_task_id(named)
            found = self._active.get(wanted, []) if wanted is not None else []
            if len(found) == 1:
                item.depends_on.append(found[0].source_id)
            elif found:
                problems[named] = f"{named}, which {len(found)} files claim"
            elif wanted in self._archived:
                problems[named] = f"{named}, which is archived or a draft"
            else:
                problems[named] = f"{named}, which does not exist"
        item.depends_on = list(dict.fromkeys(item.depends_on))
        if not problems:
            return
        reason = clean_text(f"{WAITS_FOR}{'; '.join(problems.values())}")
        item.properties[MISSING_DEPENDENCIES] = [clean_text(named) for named in problems]
        if item.fate == "open":
            item.fate, item.hold_reason = "held", reason[:PROPERTY_CHARS_MAX]
            self._note_placed(item, "hold", reason)
        else:
            self._note_lost(item, "dependencies", reason)

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
            self._note_lost(item, "priority", f"{priority!r} is not high, medium or low")
        given: dict[str, Any] = {"assignee": task.get_text("assignee"), MILESTONE: milestone}
        given |= {ours: task.get_text(theirs) for theirs, ours in DATES.items()}
        given |= {name: task.get_text(name) for name in TEXT_FIELDS}
        item.properties |= {name: clean_text(value) for name, value in given.items() if value}
        for name, field in task.fields.items():
            if name not in _KNOWN_FIELDS:
                self._add_other_field(item, name, field.value, field.texts)

    def _add_other_field(self, item: SourceItem, name: str, value: Any, texts: list[str]) -> None:
        """Keep a field that the tool does not know."""
        name = clean_title(name).lstrip("_") or "field"
        cleaned = [clean_text(text) for text in texts]
        if value == Nested() or (isinstance(value, tuple) and Nested() in value):
            self._note_lost(item, name, "has parts of its own, which are not imported")
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
            add_section(item, clean_title(section.title)[:200], section.text)
            is_short = len(section.text.encode("utf-8", "replace")) <= EVIDENCE_BYTES_MAX
            if section.title == FINAL_SUMMARY and item.fate in ("done", "dropped") and is_short:
                type_ = "note" if item.fate == "done" else "dropped"
                add_evidence(item, type_, section.text, section=FINAL_SUMMARY)
        if len(item.sections) > SECTIONS_MAX:
            self._note_lost(item, "sections", f"{len(item.sections) - SECTIONS_MAX} of more than {SECTIONS_MAX}")
            del item.sections[SECTIONS_MAX:]
