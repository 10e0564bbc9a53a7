"""Write items as a folder of Backlog.md: a file for each task, with marks around the sections that the tool defines.

Finished tasks are in `completed/`, dropped ones in `archive/tasks/` and held drafts in `drafts/`. A task that was
elsewhere with the same fate returns there, because for the tool a dependency on an archived task is never met. Items of
other tools and of ours get ids that are counted on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from groundplan.exchange.backlog import (
    ACTIVE_PLACES,
    COMMENT_FENCE,
    COMMENTS_MARK,
    CONFIG_FILE,
    DATES,
    DONE_WORDS,
    DRAFT,
    DRAFT_PREFIX,
    DROPPED_STATUS,
    FINAL_SUMMARY,
    HELD_STATUS,
    LINK_FIELDS,
    MARKS,
    MILESTONE,
    MISSING_DEPENDENCIES,
    OWN_MARK,
    PRIORITIES,
    SECTION_LEVEL,
    SOURCE_FOLDER,
    STARTED_WORD,
    TAG_FIELDS,
    TEXT_FIELDS,
    TOOL,
    UNTITLED,
    WAITS_FOR,
    BacklogConfig,
    TaskFolder,
    TaskId,
    make_mark,
    parse_task_id,
    split_body,
)
from groundplan.exchange.items import (
    NODE_FIELD,
    PROPERTIES_OF_IMPORT,
    ItemNote,
    WrittenFiles,
    append_parts,
    get_source_parent,
    index_by_source,
    list_evidence,
    normalize_word,
    restore_loops,
    split_comment,
)
from groundplan.front_matter import FENCE
from groundplan.kernel.operations.progress import count_progress
from groundplan.repository.rules.front_matter import quote, quote_if_needed
from groundplan.work.importing.export import ExportedItem

NAME_CHARS_MAX = 80  # of the title in the name of a file
OPEN_STATUS = "Open"  # where the default is no status of open tasks

_MAPPED_PROPERTIES = {
    "assignee",
    MILESTONE,
    MISSING_DEPENDENCIES,
    SOURCE_FOLDER,
    *DATES.values(),
    *TEXT_FIELDS,
    *PROPERTIES_OF_IMPORT,
}
EVIDENCE = "Evidence"  # the section with evidence that has no other place
COMMENTS = next(title for title, mark in MARKS.items() if mark == COMMENTS_MARK)


def write_backlog(items: Sequence[ExportedItem]) -> WrittenFiles:
    """Return the texts of a folder by their paths in it."""
    items = restore_loops(items)
    prefix = _choose_prefix(items)
    ids = _assign_ids(items, prefix)
    by_source = index_by_source(items, TOOL)
    config = BacklogConfig(statuses=_choose_statuses(items), task_prefix=prefix)
    places = {item.id: _choose_place(item, config) for item in items}
    archived = {item.id for item in items if item.fate == "dropped" and places[item.id] not in ACTIVE_PLACES}
    written = WrittenFiles({CONFIG_FILE: _render_config(config)})
    for item in count_progress(items, len(items)):
        # Files of the same id are read in the order of their names; a tilde comes after letters.
        count = "".join(item.sources.get(TOOL, "").partition("~")[1:])
        name = f"{ids[item.id]} - {count}{_to_file_name(item.title)}.md"
        if item.fate not in ("done", "dropped") and not archived.isdisjoint(item.depends_on):
            # The tool waits for ever for what is archived; here it holds nothing back.
            named = ", ".join(ids[target] for target in item.depends_on if target in archived)
            written.lost.append(ItemNote(ids[item.id], "dependencies", f"dropped tasks do not count: {named}"))
            item.depends_on = [target for target in item.depends_on if target not in archived]
        place = places[item.id]
        status = _choose_status(item, place, config)
        fields = _iter_fields(item, ids, get_source_parent(item, by_source), status)
        written.files[f"{place}/{name}"] = "\n".join((FENCE, *fields, FENCE, "", *_iter_body(item)))
        written.lost += _list_lost(item, ids[item.id], status)
    return written


def _list_lost(item: ExportedItem, task_id: str, status: str) -> Iterator[ItemNote]:
    if item.links:
        types = ", ".join(dict.fromkeys(link.type for link in item.links))
        yield ItemNote(task_id, "links", f"Backlog.md has no links of these types: {types}")
    for name, value in item.properties.items():
        if name not in PROPERTIES_OF_IMPORT and not _is_writable(name, value):
            yield ItemNote(task_id, name, "Backlog.md has no such field")
    if status == HELD_STATUS != _get_word(item):
        yield ItemNote(task_id, "hold", f"the reason is lost: {item.hold_reason}")


# --- Ids, folders and statuses ----------------------------------------------------------------------------------------


def _parse_source_id(item: ExportedItem) -> TaskId | None:
    return parse_task_id(item.sources.get(TOOL, "").partition("~")[0])


def _choose_prefix(items: Iterable[ExportedItem]) -> str:
    """Return the prefix that most ids have, as it is written, without the part of it that other ids do not have."""
    ids = [task_id for item in items if (task_id := _parse_source_id(item)) and not task_id.has_prefix(DRAFT_PREFIX)]
    uses = Counter(
        item.sources[TOOL].rpartition("-")[0]
        for item in items
        if (task_id := _parse_source_id(item)) is not None and not task_id.has_prefix(DRAFT_PREFIX)
    )
    if not uses:
        return BacklogConfig().task_prefix
    prefix = most_used = uses.most_common(1)[0][0]
    while not all(task_id.has_prefix(prefix) for task_id in ids):
        prefix, dash, _ = prefix.rpartition("-")
        if not dash:
            return most_used
    return prefix


def _assign_ids(items: Sequence[ExportedItem], prefix: str) -> dict[str, str]:
    """Return the id of each node in the folder: its id at the import, or the next free one."""
    prefixes = (prefix, DRAFT_PREFIX)
    kept_ids = {
        item.id: task_id
        for item in items
        if (task_id := _parse_source_id(item)) and any(map(task_id.has_prefix, prefixes))
    }
    last = max((number for task_id in kept_ids.values() for number in task_id.numbers[:1]), default=0)
    ids = {}
    for item in items:
        if item.id in kept_ids:
            ids[item.id] = item.sources[TOOL].partition("~")[0]
        else:
            last += 1
            ids[item.id] = f"{prefix}-{last}"
    return ids


def _choose_place(item: ExportedItem, config: BacklogConfig) -> TaskFolder:
    """Return the folder that a task came from if it still fits the fate, else the usual folder of the fate."""
    folder = str(item.properties.get(SOURCE_FOLDER, ""))
    if folder in [*TaskFolder] and config.choose_fate(_get_word(item), TaskFolder(folder))[0] == item.fate:
        return TaskFolder(folder)
    if item.fate == "done":
        return TaskFolder.COMPLETED
    if item.fate == "dropped":
        return TaskFolder.ARCHIVED_TASKS
    return TaskFolder.DRAFTS if item.fate == "held" and item.hold_reason == DRAFT else TaskFolder.TASKS


def _get_own_fate(item: ExportedItem) -> str:
    """Return the fate to write as a status. A hold for missing dependencies is left to the tool, which derives it."""
    reason = item.hold_reason or ""
    is_waiting = reason.startswith(WAITS_FOR) and bool(item.properties.get(MISSING_DEPENDENCIES))
    return "open" if item.fate == "held" and is_waiting else item.fate


def _get_word(item: ExportedItem) -> str:
    """Return the status of a task at the import, or an empty text."""
    word = item.properties.get("source_status")
    return word if item.properties.get("source") == TOOL and isinstance(word, str) else ""


def _is_word_of_hold(item: ExportedItem) -> bool:
    """Return whether a task is on hold because of its status at the import."""
    return _get_word(item) in (item.hold_reason or "")


def _choose_statuses(items: Sequence[ExportedItem]) -> tuple[str, ...]:
    """Return the statuses of open tasks, followed by the most frequent status of finished tasks."""
    defaults = BacklogConfig().statuses
    items = [item for item in items if item.hold_reason != DRAFT]  # the words of drafts have no effect
    # A word that is not configured holds its task.
    held = {
        normalize_word(_get_word(item)) for item in items if _get_own_fate(item) == "held" and _is_word_of_hold(item)
    }
    words = {bare: word for word in defaults[:-1] if (bare := normalize_word(word)) not in held}
    unfinished = {*words, *(normalize_word(_get_word(item)) for item in items if item.fate != "done")}
    ends: Counter[str] = Counter()
    for item in items:
        if (word := _get_word(item)) and item.fate == "done":
            # In archive/ a task is done by its word alone, which the tool knows or the end has to be.
            is_needed = SOURCE_FOLDER in item.properties and normalize_word(word) not in DONE_WORDS
            ends[word] += len(items) if is_needed else 1
        elif word and _get_own_fate(item) == "open":
            words[normalize_word(word)] = word
    end = next((word for word, _ in ends.most_common() if normalize_word(word) not in unfinished), defaults[-1])
    return (*(words.values() or (OPEN_STATUS,)), end)


def _choose_status(item: ExportedItem, place: TaskFolder, config: BacklogConfig) -> str:
    """Return the status of a task at the import if it still fits the fate, else the usual status of the fate."""
    fate = _get_own_fate(item)
    word = _get_word(item)
    # A hold for another reason than the word, such as a loop, needs a word of its own.
    is_held_by_word = fate != "held" or place is TaskFolder.DRAFTS or _is_word_of_hold(item)
    if word and is_held_by_word and config.choose_fate(word, place)[0] == fate:
        return word
    if fate == "done":
        return config.statuses[-1]
    if fate == "dropped":
        return DROPPED_STATUS
    if place is TaskFolder.DRAFTS:
        return DRAFT.capitalize()
    if fate == "held":
        return HELD_STATUS
    started = (word for word in config.statuses[:-1] if item.is_claimed and normalize_word(word) == STARTED_WORD)
    return next(started, config.statuses[0])


def _render_config(config: BacklogConfig) -> str:
    statuses = ", ".join(quote(word) for word in config.statuses)
    return (
        f"default_status: {quote(config.statuses[0])}\nstatuses: [{statuses}]\nlabels: []\n"
        f"task_prefix: {quote(config.task_prefix)}\n"
    )


# --- Files ------------------------------------------------------------------------------------------------------------


def _to_file_name(title: str) -> str:
    """Return a title in a form for file names: letters, digits and dashes."""
    plain = "".join(char if char.isalnum() or char in "._" else " " for char in title)
    return "-".join(plain.split())[:NAME_CHARS_MAX].strip("-.") or "task"


def _iter_fields(item: ExportedItem, ids: Mapping[str, str], parent: str | None, status: str) -> Iterator[str]:
    properties = item.properties
    own_tags = [properties.get(name) for name in (*TAG_FIELDS, MILESTONE)]
    missing = properties.get(MISSING_DEPENDENCIES)
    dependencies = [*(ids[target] for target in item.depends_on), *(missing if isinstance(missing, list) else ())]
    yield f"id: {ids[item.id]}"
    if TOOL not in item.sources:
        yield f"{NODE_FIELD}: {item.id}"
    yield f"title: {quote_if_needed(item.title)}"
    yield f"status: {quote_if_needed(status)}"
    yield _render_list("assignee", str(properties.get("assignee") or "").split(", "))
    for theirs, ours in DATES.items():
        yield from _render_text(theirs, properties.get(ours))
    yield _render_list("labels", [tag for tag in item.tags if tag not in own_tags])
    for name in (MILESTONE, *TEXT_FIELDS):
        yield from _render_text(name, properties.get(name))
    yield _render_list("dependencies", dependencies)
    if item.context_links:
        yield _render_list(LINK_FIELDS[0], item.context_links)
    if parent is not None:
        yield f"parent_task_id: {ids[parent]}"
    if item.priority is not None:
        words = {value: word for word, value in PRIORITIES.items()}
        yield f"priority: {words[min(max(float(round(item.priority)), 1.0), 4.0)]}"
    for name, value in properties.items():
        if name not in _MAPPED_PROPERTIES and _is_writable(name, value):
            yield _render_list(name, value) if isinstance(value, list) else "".join(_render_text(name, value))


def _is_writable(name: str, value: object) -> bool:
    """Return True if a property can be a field of the front matter, because it is a text or a list of texts."""
    if not name.replace("-", "_").isidentifier():
        return False
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(item, str) for item in value))


def _render_text(name: str, value: object) -> list[str]:
    return [f"{name}: {quote_if_needed(str(value))}"] if value not in (None, "") else []


def _render_list(name: str, texts: Iterable[object]) -> str:
    items = [f"\n  - {quote_if_needed(str(text))}" for text in texts if text not in (None, "")]
    return f"{name}:{''.join(items)}" if items else f"{name}: []"


def _iter_body(item: ExportedItem) -> Iterator[str]:
    comments = [line for entry in item.evidence if entry.type == "comment" for line in _iter_comment(entry.text)]
    comment_section = [*_iter_section(COMMENTS, "\n".join(comments))] if comments else []
    for section in item.sections:
        if section.title == FINAL_SUMMARY:  # comments come before it
            yield from comment_section
            comment_section = []
        if section.title == UNTITLED:
            yield from (section.text, "")
        else:
            yield from _iter_section(section.title, section.text)
    evidence = [entry for entry in list_evidence(item) if entry.type != "comment"]
    type_ = {"done": "note", "dropped": "dropped"}.get(item.fate)
    summary = next((section.text for section in item.sections if section.title == FINAL_SUMMARY), None)
    if summary is None and (texts := [entry.text for entry in evidence if entry.type == type_]):
        summary = texts[-1]
        yield from comment_section
        comment_section = []
        yield from _iter_section(FINAL_SUMMARY, summary)
    yield from comment_section
    # The summary of a finished task is read as evidence.
    if evidence := [entry for entry in evidence if (entry.type, entry.text) != (type_, summary)]:
        yield from _iter_section(EVIDENCE, append_parts("", (), evidence))


def _iter_section(title: str, text: str) -> Iterator[str]:
    yield f"{'#' * SECTION_LEVEL} {title}"
    yield ""
    mark = MARKS.get(title, OWN_MARK if [part.title for part in split_body(text)] != [UNTITLED] else None)
    yield from (text,) if mark is None else (make_mark(mark, "BEGIN"), text, make_mark(mark, "END"))
    yield ""


def _iter_comment(text: str) -> Iterator[str]:
    author, at, comment = split_comment(text)
    if author:
        yield f"author: {author}"
    yield f"created: {at}".rstrip()
    yield from (COMMENT_FENCE, comment, COMMENT_FENCE)
