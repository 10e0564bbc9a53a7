"""Write items as a folder of Backlog.md: a file for each task, with the marks around sections that the tool knows.

Finished tasks are in `completed/`, dropped ones in `archive/tasks/` and held drafts in `drafts/`. Items of other tools
and of ours get ids that are counted on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from groundplan.exchange.backlog.body import (
    COMMENT_FENCE,
    COMMENTS_MARK,
    FINAL_SUMMARY,
    MARKS,
    SECTION_LEVEL,
    UNTITLED,
    make_mark,
)
from groundplan.exchange.backlog.config import CONFIG_FILE, DRAFT, DRAFT_PREFIX, BacklogConfig, Place
from groundplan.exchange.backlog.items import (
    DATES,
    LINK_FIELDS,
    MILESTONE,
    MISSING_DEPENDENCIES,
    PRIORITIES,
    STATUS_EVIDENCE,
    TAG_FIELDS,
    TEXT_FIELDS,
)
from groundplan.exchange.backlog.task_ids import TaskId, parse_task_id
from groundplan.exchange.item_parts import normalize_word
from groundplan.exchange.model import ItemNote, SourcePlan
from groundplan.front_matter.split import FENCE
from groundplan.repository.rules.formats.front_matter import quote, quote_if_needed
from groundplan.work.importing.source_items import SourceItem

NAME_CHARS_MAX = 80  # of the title in the name of a file
HELD_STATUS = "On Hold"  # no configured status, so that an import holds the task again
DROPPED_STATUS = "Won't Do"
COMMENTS = next(title for title, mark in MARKS.items() if mark == COMMENTS_MARK)


def render(plan: SourcePlan, *, project_name: str = "", task_prefix: str = "") -> dict[str, str]:
    """Return the texts of a folder by their paths in it."""
    prefix = task_prefix or _choose_prefix(plan.items)
    ids = _assign_ids(plan, prefix)
    config = BacklogConfig(project_name, _choose_statuses(plan.items), task_prefix=prefix)
    files = {CONFIG_FILE: _render_config(config)}
    for item in plan.items:
        written = ids[item.source_id]
        place = _choose_place(item)
        # Files of the same id are read in the order of their names; a tilde comes after letters.
        count = item.source_id.partition("~")[1:]
        files[f"{place}/{written} - {''.join(count)}{_to_file_name(item.title)}.md"] = _render_task(
            item, written, ids, config
        )
        if item.links:
            types = ", ".join(dict.fromkeys(link.type for link in item.links))
            plan.lost.append(ItemNote(item.source_id, "links", f"Backlog.md has no links of these types: {types}"))
    return files


# --- Ids, folders and statuses ----------------------------------------------------------------------------------------


def _choose_prefix(items: Iterable[SourceItem]) -> str:
    """Return the prefix that most ids have, as it is written."""
    uses = Counter(
        item.source_id.rpartition("-")[0]
        for item in items
        if (task_id := _parse_source_id(item.source_id)) is not None and task_id.prefix != DRAFT_PREFIX
    )
    return uses.most_common(1)[0][0] if uses else BacklogConfig().task_prefix


def _parse_source_id(source_id: str) -> TaskId | None:
    return parse_task_id(source_id.partition("~")[0])


def _assign_ids(plan: SourcePlan, prefix: str) -> dict[str, str]:
    """Return the id in the folder for each item: the one that it has there already, or the next free one."""
    found = {item.source_id: _parse_source_id(item.source_id) for item in plan.items}
    prefixes = (prefix.casefold(), DRAFT_PREFIX)
    known = {source_id: task_id for source_id, task_id in found.items() if task_id and task_id.prefix in prefixes}
    last = max((task_id.numbers[0] for task_id in known.values()), default=0)
    ids = {}
    for item in plan.items:
        if item.source_id in known:
            ids[item.source_id] = item.source_id.partition("~")[0]
            continue
        last += 1
        ids[item.source_id] = f"{prefix}-{last}"
        plan.placed.append(ItemNote(item.source_id, "id", f"is {ids[item.source_id]} in Backlog.md"))
    return ids


def _choose_place(item: SourceItem) -> Place:
    if item.fate == "done":
        return Place.COMPLETED
    if item.fate == "dropped":
        return Place.ARCHIVED_TASKS
    return Place.DRAFTS if item.fate == "held" and item.hold_reason == DRAFT else Place.TASKS


def _choose_statuses(items: Iterable[SourceItem]) -> tuple[str, ...]:
    """Return the words of open tasks and, as the end, the most frequent word of finished ones."""
    defaults = BacklogConfig().statuses
    words: dict[str, str] = {}
    ends: Counter[str] = Counter()
    for item in items:
        if item.source_status and item.fate == "done":
            ends[item.source_status] += 1
        elif item.source_status and item.fate == "open":
            words.setdefault(normalize_word(item.source_status), item.source_status)
    words = {**{normalize_word(word): word for word in defaults[:-1]}, **words}
    end = next((word for word, _ in ends.most_common() if normalize_word(word) not in words), defaults[-1])
    return (*words.values(), end)


def _choose_status(item: SourceItem, config: BacklogConfig) -> str:
    """Return the word that the item came with, while it still fits, else one for its fate."""
    place = _choose_place(item)
    word = item.source_status or ""
    if word and config.choose_fate(word, place)[0] == _without_dependencies(item):
        return word
    if item.fate == "done":
        return config.statuses[-1]
    if item.fate == "dropped":
        return DROPPED_STATUS
    if place is Place.DRAFTS:
        return DRAFT.capitalize()
    if _without_dependencies(item) == "held":
        return HELD_STATUS
    return config.statuses[1] if item.state else config.statuses[0]


def _without_dependencies(item: SourceItem) -> str:
    """Return the fate of an item as its status has to say it: a hold for missing dependencies follows from these."""
    return "open" if item.fate == "held" and item.properties.get(MISSING_DEPENDENCIES) else item.fate


def _render_config(config: BacklogConfig) -> str:
    statuses = ", ".join(quote(word) for word in config.statuses)
    return (
        f"project_name: {quote(config.project_name)}\ndefault_status: {quote(config.statuses[0])}\n"
        f"statuses: [{statuses}]\nlabels: []\ntask_prefix: {quote(config.task_prefix)}\n"
    )


# --- Files ------------------------------------------------------------------------------------------------------------


def _to_file_name(title: str) -> str:
    """Return a title as part of the name of a file: letters, digits and dashes."""
    plain = "".join(char if char.isalnum() or char in "._" else " " for char in title)
    return "-".join(plain.split())[:NAME_CHARS_MAX].strip("-.") or "task"


def _render_task(item: SourceItem, written: str, ids: Mapping[str, str], config: BacklogConfig) -> str:
    lines = [FENCE, *_iter_fields(item, written, ids, config), FENCE, ""]
    return "\n".join((*lines, *_iter_body(item)))


def _iter_fields(item: SourceItem, written: str, ids: Mapping[str, str], config: BacklogConfig) -> Iterator[str]:
    properties = item.properties
    own_tags = {str(properties.get(name)) for name in (*TAG_FIELDS, MILESTONE)}
    dependencies = [ids[one] for one in item.depends_on if one in ids]
    missing = properties.get(MISSING_DEPENDENCIES)
    yield f"id: {written}"
    yield f"title: {quote_if_needed(item.title)}"
    yield f"status: {quote_if_needed(_choose_status(item, config))}"
    yield _render_list("assignee", str(properties.get("assignee") or "").split(", "))
    for theirs, ours in DATES.items():
        yield from _render_text(theirs, properties.get(ours))
    yield _render_list("labels", [tag for tag in item.tags if tag not in own_tags])
    for name in (MILESTONE, *TEXT_FIELDS):
        yield from _render_text(name, properties.get(name))
    yield _render_list("dependencies", [*dependencies, *(missing if isinstance(missing, list) else ())])
    if item.context_links:
        yield _render_list(LINK_FIELDS[0], item.context_links)
    if item.parent is not None and item.parent in ids:
        yield f"parent_task_id: {ids[item.parent]}"
    if item.priority is not None:
        words = {value: word for word, value in PRIORITIES.items()}
        yield f"priority: {words[min(max(float(round(item.priority)), 1.0), 4.0)]}"
    yield from _iter_other_fields(properties)


def _iter_other_fields(properties: Mapping[str, object]) -> Iterator[str]:
    """Yield the fields that the tool does not know and an import kept."""
    known = {"assignee", "priority", MILESTONE, MISSING_DEPENDENCIES, *DATES.values(), *TEXT_FIELDS}
    for name, value in properties.items():
        if name in known or name.startswith(("source", "_")) or not name.replace("-", "_").isidentifier():
            continue
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            yield _render_list(name, value)
        elif isinstance(value, str):
            yield from _render_text(name, value)


def _render_text(name: str, value: object) -> list[str]:
    return [f"{name}: {quote_if_needed(str(value))}"] if value not in (None, "") else []


def _render_list(name: str, texts: Iterable[object]) -> str:
    items = [f"\n  - {quote_if_needed(str(text))}" for text in texts if text not in (None, "")]
    return f"{name}:{''.join(items)}" if items else f"{name}: []"


def _iter_body(item: SourceItem) -> Iterator[str]:
    for section in item.sections:
        if section.title == UNTITLED:
            yield from (section.text, "")
        else:
            yield from _iter_section(section.title, section.text)
    if all(section.title != FINAL_SUMMARY for section in item.sections):
        type_ = "dropped" if item.fate == "dropped" else "note"
        texts = (one.text for one in item.evidence if one.type == type_)
        summary = "\n\n".join(text for text in texts if not text.startswith(STATUS_EVIDENCE))
        if summary and item.fate in ("done", "dropped"):
            yield from _iter_section(FINAL_SUMMARY, summary)
    comments = [line for one in item.evidence if one.type == "comment" for line in _iter_comment(one.text)]
    if comments:
        yield from _iter_section(COMMENTS, "\n".join(comments))


def _iter_section(title: str, text: str) -> Iterator[str]:
    yield f"{'#' * SECTION_LEVEL} {title}"
    yield ""
    mark = MARKS.get(title)
    yield from (text,) if mark is None else (make_mark(mark, "BEGIN"), text, make_mark(mark, "END"))
    yield ""


def _iter_comment(text: str) -> Iterator[str]:
    author, at, comment = _split_comment(text)
    if author:
        yield f"author: {author}"
    yield f"created: {at}".rstrip()
    yield from (COMMENT_FENCE, comment, COMMENT_FENCE)


def _split_comment(text: str) -> tuple[str, str, str]:
    """Return the author, the date and the rest of a comment that begins with these, as a reader writes them."""
    heading, colon, comment = text.partition(": ")
    words = heading.split(" ")
    begin = next((index for index, word in enumerate(words) if word[:1].isdigit()), None)
    if not colon or begin is None or "\n" in heading:
        return "", "", text
    return " ".join(words[:begin]), " ".join(words[begin:]), comment
