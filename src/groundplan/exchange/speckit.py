"""Task lists of spec-kit: `specs/NNN-name/tasks.md`.

    ## Phase 1: Setup
    - [ ] T001 [P] [US1] Create the cart in src/cart.py

Dependencies are prose there, and are not guessed.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from groundplan.exchange.checklists import ChecklistFile, ChecklistItems, iter_checklists
from groundplan.exchange.items import BadLines, ItemNote, SourcePlan, add_links, clean_title, find_paths, make_tags
from groundplan.markdown_lines import iter_headings
from groundplan.work.importing.items import SourceItem

TOOL = "speckit"
TASKS_FILE = "tasks.md"
PARALLEL_TAG = "P"
STORY_PREFIX = "US"

_TASK_PREFIX = "T"
_DIGITS_MAX = 6


def read_speckit(path: Path, *, skip_bad: bool) -> SourcePlan:
    """Read a task list, or those of all features below a folder."""
    plan = SourcePlan(TOOL)
    bad = BadLines(skip_bad=skip_bad)
    items = ChecklistItems(plan, bad)
    ids: list[tuple[SourceItem, str]] = []
    for file in iter_checklists(path, bad, is_wanted=lambda name: name == TASKS_FILE):
        group_title = Path(file.name).parent.name or file.name if path.is_dir() else None
        boxes = items.add_file(file, group_title=group_title)
        ids += _read_tasks(plan, file, [item for _, item in boxes])
        if boxes:
            _name_prose(plan, file)
    uses = Counter(task_id for _, task_id in ids)
    for item, task_id in ids:
        item.aliases = [task_id] if uses[task_id] == 1 else []
    plan.skipped = bad.skipped
    return plan


def _read_tasks(plan: SourcePlan, file: ChecklistFile, items: list[SourceItem]) -> list[tuple[SourceItem, str]]:
    """Give the tasks of a file their ids, tags and links; return those that have an id."""
    uses: Counter[str] = Counter()
    renamed: dict[str, str] = {}
    found = []
    for item in items:
        task_id, tags, text = split_task(item.title)
        add_links(item, find_paths(text))
        item.tags = make_tags([*tags, *item.tags])
        item.title = clean_title(text) or item.title
        if not task_id:
            continue
        uses[task_id] += 1
        source_id = f"{file.name}#{task_id}"
        if uses[task_id] > 1:
            source_id = f"{source_id}~{uses[task_id]}"
            plan.placed.append(ItemNote(source_id, "id", f"{task_id} is there more than once; this one is {source_id}"))
        renamed[item.source_id] = source_id
        item.source_id = source_id
        found.append((item, task_id))
    for item in items:
        item.parent = renamed.get(item.parent or "", item.parent)
    return found


def split_task(text: str) -> tuple[str, list[str], str]:
    """Return the id of a task, the tags `P` and `USn` behind it, and the rest of its text."""
    first, _, rest = text.partition(" ")
    task_id = first.rstrip(":.") if _is_task_id(first.rstrip(":.")) else ""
    rest = rest.strip() if task_id else text
    tags = []
    while rest.startswith("["):
        tag, end, behind = rest[1:].partition("]")
        if not end or not (tag == PARALLEL_TAG or _is_numbered(tag, STORY_PREFIX)):
            break
        tags.append(tag)
        rest = behind.strip()
    return task_id, tags, rest


def _is_task_id(word: str) -> bool:
    """Return whether a word is an id such as `T001` or `T012a`."""
    return _is_numbered(word[:-1] if word[-1:].islower() else word, _TASK_PREFIX)


def _is_numbered(word: str, prefix: str) -> bool:
    digits = word.removeprefix(prefix)
    return digits != word and digits.isascii() and digits.isdecimal() and len(digits) <= _DIGITS_MAX


def _name_prose(plan: SourcePlan, file: ChecklistFile) -> None:
    """Name the sections about dependencies, which are prose."""
    for heading in iter_headings(file.text):
        if "depend" in heading.title.lower():
            detail = f"line {heading.line + 1}, {heading.title!r}: dependencies written as prose are not imported"
            plan.lost.append(ItemNote(file.name, "dependencies", detail))
