"""Checklists in Markdown, also those of Kiro, OpenSpec and spec-kit: read their boxes, and write items as boxes."""

from __future__ import annotations

import os
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from groundplan.exchange.items import (
    PROPERTIES_OF_IMPORT,
    TITLE_BYTES_MAX,
    BadLines,
    ItemNote,
    SourcePlan,
    UnreadableSource,
    WrittenFiles,
    add_links,
    add_section,
    clean_title,
    explain_drop,
    find_paths,
    get_source_parent,
    index_by_source,
    make_tags,
)
from groundplan.exchange.texts import find_conflict_marker, iter_files, read_text
from groundplan.front_matter import UnreadableFrontMatter, split_text
from groundplan.markdown_lines import LEVEL_MAX, iter_headings, iter_lines, parse_heading
from groundplan.repository.git import find_root
from groundplan.repository.rules.folder import SKIPPED_FOLDERS
from groundplan.work.importing.export import ExportedItem
from groundplan.work.importing.items import SOURCE_ID_BYTES_MAX, Fate, SourceItem
from groundplan.work.kinds import FEATURE

TAB_CHARS = 4
NUMBER_CHARS_MAX = 9  # of an ordered list, as in CommonMark

OPEN_MARK, DONE_MARK, DROPPED_MARK = " ", "x", "-"
STARTED_MARKS = "~/"
FATES: dict[str, Fate] = {
    OPEN_MARK: "open",
    **dict.fromkeys(STARTED_MARKS, "open"),
    **dict.fromkeys("xX✓✔", "done"),
    DROPPED_MARK: "dropped",
}
OPTIONAL_SIGN = "*"  # behind the box, as Kiro writes it


@dataclass(frozen=True, slots=True)
class CheckBox:
    """A box: its indentation, its sign, and the text after the sign."""

    indent: int
    mark: str
    text: str
    is_optional: bool

    @property
    def number(self) -> tuple[int, ...]:
        """The number at the beginning of the text, such as `1.2` or `3.`; empty if there is none."""
        first = self.text.partition(" ")[0].rstrip(".)")
        parts = first.split(".")
        is_number = all(part.isascii() and part.isdecimal() and len(part) <= NUMBER_CHARS_MAX for part in parts)
        return tuple(int(part) for part in parts) if is_number else ()


def parse_box(line: str) -> CheckBox | None:
    """Return the box in a line, or None. Links, as in `- [x](address)`, and unknown signs are not boxes."""
    bare = line.lstrip(" \t")
    rest = _strip_bullet(bare)
    if rest is None or rest[:1] != "[" or rest[1:2] not in FATES or rest[2:3] != "]":
        return None
    text = rest[3:]
    is_optional = text.startswith(OPTIONAL_SIGN) and text[1:2] in ("", " ", "\t")
    if is_optional:
        text = text[1:]
    if text[:1] not in ("", " ", "\t"):
        return None
    return CheckBox(measure_indent(line), rest[1], text.strip(), is_optional)


def measure_indent(line: str) -> int:
    """Return the width of the white space at the beginning of a line."""
    width = 0
    for char in line:
        if char == "\t":
            width += TAB_CHARS - width % TAB_CHARS
        elif char == " ":
            width += 1
        else:
            break
    return width


def _strip_bullet(bare: str) -> str | None:
    """Return the text after the bullet or number of a list item, or None if the line is not one."""
    if bare[:1] in ("-", "*", "+") and bare[1:2] in (" ", "\t"):
        return bare[1:].lstrip(" \t")
    digits = len(bare) - len(bare.lstrip("0123456789"))
    is_ordered = 0 < digits <= NUMBER_CHARS_MAX and bare[digits : digits + 1] in (".", ")")
    if is_ordered and bare[digits + 1 : digits + 2] in (" ", "\t"):
        return bare[digits + 1 :].lstrip(" \t")
    return None


# --- The outline of a checklist: which heading or box is below which, and the text below each -------------------------
# Indentation makes children, and where there is none, numbers do: `2.1` is below `2` at the same level. Only headings
# with boxes below them count.


@dataclass(slots=True, eq=False)
class OutlineEntry:
    """A heading, or a box, with the lines of text below it."""

    line: int
    title: str
    parent: OutlineEntry | None
    level: int = 0  # of a heading
    box: CheckBox | None = None
    has_boxes: bool = False
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text below the entry, without its indentation."""
        return textwrap.dedent("\n".join(self.lines)).strip("\n")

    def iter_above(self) -> Iterator[OutlineEntry]:
        """Yield the entries above this one, nearest first."""
        above = self.parent
        while above is not None:
            yield above
            above = above.parent


def read_outline(text: str) -> list[OutlineEntry]:
    """Return the boxes of a text and the headings above them, in order."""
    try:
        parts = split_text(text)
    except UnreadableFrontMatter:
        first_line, body = 1, text
    else:
        first_line, body = parts.body_line, parts.body
    reader = _OutlineReader()
    for number, (line, is_code) in enumerate(iter_lines(body), first_line):
        if not is_code and (heading := parse_heading(line)) is not None:
            reader.add_heading(number, *heading)
        elif not is_code and (box := parse_box(line)) is not None:
            reader.add_box(number, box)
        else:
            reader.add_line(line, is_code=is_code)
    return [entry for entry in reader.entries if entry.box is not None or entry.has_boxes]


class _OutlineReader:
    """The entries read so far, and the headings and boxes that contain the current line."""

    def __init__(self) -> None:
        self.entries: list[OutlineEntry] = []
        self._headings: list[OutlineEntry] = []  # from the top to the current one
        self._boxes: list[tuple[CheckBox, OutlineEntry]] = []  # those around the current line, below the heading
        self._numbers: dict[tuple[int, ...], OutlineEntry] = {}  # the last box with each number, below the heading

    def add_heading(self, line: int, level: int, title: str) -> None:
        while self._headings and self._headings[-1].level >= level:
            self._headings.pop()
        entry = OutlineEntry(line, title, self._heading, level=level)
        self._headings.append(entry)
        self.entries.append(entry)
        self._boxes.clear()
        self._numbers.clear()

    def add_box(self, line: int, box: CheckBox) -> None:
        self._leave_boxes(box.indent)
        parent = self._boxes[-1][1] if self._boxes else self._find_by_number(box) or self._heading
        entry = OutlineEntry(line, box.text, parent, box=box)
        for above in entry.iter_above():
            if above.has_boxes:
                break
            above.has_boxes = True
        self.entries.append(entry)
        self._boxes.append((box, entry))
        if box.number:
            self._numbers[box.number] = entry

    def add_line(self, line: str, *, is_code: bool) -> None:
        if line.strip() and not is_code:
            self._leave_boxes(measure_indent(line))
        owner = self._boxes[-1][1] if self._boxes else self._heading
        if owner is not None:
            owner.lines.append(line)

    @property
    def _heading(self) -> OutlineEntry | None:
        return self._headings[-1] if self._headings else None

    def _leave_boxes(self, indent: int) -> None:
        """Close the boxes that do not contain a line with this indentation."""
        while self._boxes and self._boxes[-1][0].indent >= indent:
            self._boxes.pop()

    def _find_by_number(self, box: CheckBox) -> OutlineEntry | None:
        """Return the last box whose number is a parent of this number: for `2.1.3` it is `2.1`, else `2`."""
        number = box.number
        return next(
            (entry for end in range(len(number) - 1, 0, -1) if (entry := self._numbers.get(number[:end]))), None
        )


# --- Turn the outline of a checklist into items with lasting ids ------------------------------------------------------
# A box has its file, its headings and its text as its id, so ticking it changes its item, and another text is another
# item. Equal ones are counted.

TOOL = "markdown"
TEXT_SECTION = "Text"
OPTIONAL_TAG = "optional"
ARCHIVE_FOLDER = "changes/archive/"  # where OpenSpec moves changes that are done
_DIGEST_CHARS = 16
REQUIREMENTS = "requirements"  # the property
_REQUIREMENTS_LINE = "_Requirements:"


class ChecklistItems:
    """The items of one or several files."""

    def __init__(self, plan: SourcePlan, bad: BadLines) -> None:
        self._plan = plan
        self._bad = bad
        self._uses: Counter[str] = Counter()

    def add_file(self, file: ChecklistFile, *, group_title: str | None = None) -> list[tuple[OutlineEntry, SourceItem]]:
        """Add the items of a file, below an item for the file itself if that has a title; return its boxes."""
        outline = read_outline(file.text)
        if not any(entry.box is not None and entry.title for entry in outline):
            self._plan.left_out["files without boxes"] += 1
            return []
        top = None
        if group_title is not None:
            top = SourceItem(source_id=self._choose_id(file.name), title=group_title, is_group=True, file=file.path)
            self._plan.items.append(top)
        items: dict[OutlineEntry, SourceItem] = {}
        for entry in outline:
            item = self._build_item(file, entry)
            if item is None:
                continue
            parent = next((items[above] for above in entry.iter_above() if above in items), top)
            item.parent = None if parent is None else parent.source_id
            items[entry] = item
            self._plan.items.append(item)
        return [(entry, item) for entry, item in items.items() if entry.box is not None]

    def _build_item(self, file: ChecklistFile, entry: OutlineEntry) -> SourceItem | None:
        if not entry.title:
            self._plan.left_out["boxes without text"] += 1
            return None
        if len(entry.title.encode()) > TITLE_BYTES_MAX:
            self._bad.add(file.path, entry.line, f"has a text of more than {TITLE_BYTES_MAX} bytes")
            return None
        headings = [above.title for above in entry.iter_above() if above.box is None]
        source_id = self._choose_id(f"{file.name}#{'/'.join((*reversed(headings), entry.title))}")
        title = self._plan.clean_title(source_id, entry.title)
        item = SourceItem(source_id=source_id, title=title, file=file.path, line=entry.line)
        if entry.box is None:
            item.is_group = True
        else:
            self._set_fate(item, entry.box.mark, is_archived=ARCHIVE_FOLDER in f"/{file.name}")
            item.tags = [OPTIONAL_TAG] if entry.box.is_optional else []
        _add_text(item, entry.text)
        return item

    def _choose_id(self, name: str) -> str:
        """Return an unused id for a name: shortened if it is too long, and with a counter if it is repeated."""
        encoded = clean_title(name).encode()
        if len(encoded) > SOURCE_ID_BYTES_MAX - _DIGEST_CHARS:
            digest = sha256(encoded).hexdigest()[:_DIGEST_CHARS]
            encoded = encoded[: SOURCE_ID_BYTES_MAX - 2 * _DIGEST_CHARS]
            name = f"{encoded.decode('utf-8', 'ignore')}…{digest}"
        else:
            name = encoded.decode()
        self._uses[name] += 1
        return name if self._uses[name] == 1 else f"{name}~{self._uses[name]}"

    def _set_fate(self, item: SourceItem, mark: str, *, is_archived: bool) -> None:
        item.fate = FATES[mark]
        item.source_status = None if mark == OPEN_MARK else mark
        item.state = mark if mark in STARTED_MARKS else None
        if is_archived and item.fate == "open":
            item.fate = "dropped"
            explain_drop(item, "left open when its change was archived")
            self._plan.note_placed(item.source_id, "status", "its change is archived; the box was open")
        explain_drop(item, f"its box is [{mark}]")


def _add_text(item: SourceItem, text: str) -> None:
    """Add the text below a box; a line with requirements becomes a property."""
    kept = []
    for line in text.split("\n"):
        bare = line.strip().lstrip("-*+ ")
        if bare.startswith(_REQUIREMENTS_LINE) and bare.endswith("_"):
            names = bare.removeprefix(_REQUIREMENTS_LINE).rstrip("_").split(",")
            item.properties[REQUIREMENTS] = [name.strip() for name in names if name.strip()]
        else:
            kept.append(line)
    add_section(item, TEXT_SECTION, "\n".join(kept))


# --- The files of a checklist import, and the names that their items keep from one import to the next -----------------


TOOL_FOLDERS = (".kiro", ".specify")  # hidden folders in which tools keep checklists


@dataclass(frozen=True, slots=True)
class ChecklistFile:
    """A file: its path, its path from the root of the repository, and its text."""

    path: str
    name: str
    text: str


def iter_checklists(
    path: Path, plan: SourcePlan, bad: BadLines, *, is_wanted: Callable[[str], bool]
) -> Iterator[ChecklistFile]:
    """Yield a file, or the Markdown files below a folder that have one of the wanted names."""
    if not path.exists():
        raise UnreadableSource(str(path), "no such file or folder")
    files = (file for file in _search_folder(path, plan) if is_wanted(file.name)) if path.is_dir() else [path]
    folder = path.absolute() if path.is_dir() else path.absolute().parent
    # Without a repository, the folder is part of the name: several folders may have a tasks.md.
    root = find_root(folder) or folder.parent
    for file in files:
        name = file.absolute().relative_to(root).as_posix()
        text = read_text(file)
        if (line := find_conflict_marker(text)) is not None:
            bad.add(str(file), line, "is a conflict marker of a merge; resolve the merge first")
            continue
        yield ChecklistFile(str(file), name, text)


def _search_folder(folder: Path, plan: SourcePlan) -> Iterator[Path]:
    """Yield the Markdown files below a folder, sorted, and count those in hidden folders that are left out."""
    searched_too = " and ".join(TOOL_FOLDERS)
    plan.searched = f"Markdown files below it, also in {searched_too}, but not in other hidden folders"
    for above, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in SKIPPED_FOLDERS)
        for name in [name for name in folders if name.startswith(".") and name not in TOOL_FOLDERS]:
            folders.remove(name)
            if count := sum(1 for _ in iter_files(Path(above) / name, ".md")):
                plan.left_out[f"files in the hidden folder {(Path(above) / name).relative_to(folder)}"] += count
        for name in sorted(names):
            file = Path(above) / name
            if name.endswith(".md") and not file.is_symlink():
                yield file


# --- Checklists in Markdown files, also the task lists of Kiro and OpenSpec -------------------------------------------


def read_markdown(path: Path, *, skip_bad: bool) -> SourcePlan:
    """Read the boxes of a file, or of all Markdown files below a folder, with the headings above them."""
    plan = SourcePlan(TOOL)
    bad = BadLines(skip_bad=skip_bad)
    items = ChecklistItems(plan, bad)
    for file in iter_checklists(path, plan, bad, is_wanted=lambda _: True):
        items.add_file(file, group_title=file.name if path.is_dir() else None)
    plan.skipped = bad.skipped
    return plan


# --- Task lists of spec-kit: `specs/NNN-name/tasks.md` ----------------------------------------------------------------
# ## Phase 1: Setup
# - [ ] T001 [P] [US1] Create the cart in src/cart.py
#
# Dependencies are prose there, and are not guessed.

SPECKIT = "speckit"
TASKS_FILE = "tasks.md"
PARALLEL_TAG = "P"
STORY_PREFIX = "US"

_TASK_PREFIX = "T"
_DIGITS_MAX = 6


def read_speckit(path: Path, *, skip_bad: bool) -> SourcePlan:
    """Read a task list, or the task lists of all features below a folder."""
    plan = SourcePlan(SPECKIT)
    bad = BadLines(skip_bad=skip_bad)
    items = ChecklistItems(plan, bad)
    ids: list[tuple[SourceItem, str]] = []
    for file in iter_checklists(path, plan, bad, is_wanted=lambda name: name == TASKS_FILE):
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
    """Set the ids, tags and links of the tasks of a file; return the tasks that have an id."""
    uses: Counter[str] = Counter()
    renamed: dict[str, str] = {}
    tasks = []
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
            plan.note_placed(source_id, "id", f"{task_id} is there more than once; this one is {source_id}")
        renamed[item.source_id] = source_id
        item.source_id = source_id
        tasks.append((item, task_id))
    for item in items:
        item.parent = renamed.get(item.parent or "", item.parent)
    return tasks


def split_task(text: str) -> tuple[str, list[str], str]:
    """Return the id of a task, its tags `P` and `USn`, and the rest of its text."""
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
    """Return True if a word is an id such as `T001` or `T012a`."""
    return _is_numbered(word[:-1] if word[-1:].islower() else word, _TASK_PREFIX)


def _is_numbered(word: str, prefix: str) -> bool:
    digits = word.removeprefix(prefix)
    return digits != word and digits.isascii() and digits.isdecimal() and len(digits) <= _DIGITS_MAX


def _name_prose(plan: SourcePlan, file: ChecklistFile) -> None:
    """Report each section about dependencies as lost, because it is prose."""
    for heading in iter_headings(file.text):
        if "depend" in heading.title.lower():
            detail = f"line {heading.line + 1}, {heading.title!r}: dependencies written as prose are not imported"
            plan.note_lost(file.name, "dependencies", detail)


# --- Write items as a checklist: groups as headings, other items as boxes in the order of the tree --------------------
# The boxes of a heading come before its subheadings, as in every checklist. A box cannot say that it is held.

NO_PLACE = "a checklist has no place for it"

_INDENT = "  "
_MARKS = {"done": DONE_MARK, "dropped": DROPPED_MARK, "open": OPEN_MARK, "held": OPEN_MARK}


def write_markdown(items: Sequence[ExportedItem]) -> WrittenFiles:
    """Return the text of a checklist."""
    written = WrittenFiles({})
    by_source = index_by_source(items, TOOL)
    children: dict[str | None, list[ExportedItem]] = {}
    for item in items:
        children.setdefault(get_source_parent(item, by_source), []).append(item)
        written.lost += _list_lost(item)
    lines = _iter_group(children, None, level=1)
    written.files[""] = "\n".join(lines).strip("\n") + "\n"
    return written


def _list_lost(item: ExportedItem) -> Iterator[ItemNote]:
    name = item.sources.get(TOOL, item.id)
    if item.fate == "held":
        yield ItemNote(name, "hold", f"a box cannot be held: {item.hold_reason}")
    if item.priority is not None:
        yield ItemNote(name, "priority", NO_PLACE)
    for part in ("depends_on", "links", "context_links"):
        if getattr(item, part):
            yield ItemNote(name, part, NO_PLACE)
    if any(evidence.type != "dropped" for evidence in item.evidence):
        yield ItemNote(name, "evidence", NO_PLACE)
    if any(tag != OPTIONAL_TAG for tag in item.tags):
        yield ItemNote(name, "tags", NO_PLACE)
    known = {*PROPERTIES_OF_IMPORT, REQUIREMENTS}
    yield from (ItemNote(name, part, NO_PLACE) for part in item.properties if part not in known)


def _iter_group(children: dict[str | None, list[ExportedItem]], parent: str | None, *, level: int) -> Iterator[str]:
    """Yield the lines below a heading, or the lines of the whole file."""
    below = children.get(parent, [])
    has_boxes = False
    for item in below:
        if not _is_heading(item, level):
            yield from _iter_box(children, item)
            has_boxes = True
    if has_boxes:
        yield ""
    for item in below:
        if _is_heading(item, level):
            yield f"{'#' * level} {_join_lines(item.title)}"
            yield ""
            if text := list(_iter_text(item)):
                yield from text
                yield ""
            # No deeper than headings can be; at most six calls are within each other.
            yield from _iter_group(children, item.id, level=level + 1)


def _is_heading(item: ExportedItem, level: int) -> bool:
    return item.kind == FEATURE and level <= LEVEL_MAX


def _iter_box(children: dict[str | None, list[ExportedItem]], top: ExportedItem) -> Iterator[str]:
    """Yield the lines of a box and of all boxes below it."""
    waiting = [(top, 0)]
    while waiting:
        item, depth = waiting.pop()
        sign = OPTIONAL_SIGN if OPTIONAL_TAG in item.tags else ""
        yield f"{_INDENT * depth}- [{_choose_mark(item)}]{sign} {_join_lines(item.title)}"
        yield from (f"{_INDENT * (depth + 1)}{line}" if line else "" for line in _iter_text(item))
        waiting += [(child, depth + 1) for child in reversed(children.get(item.id, ()))]


def _iter_text(item: ExportedItem) -> Iterator[str]:
    """Yield the lines below a heading or box: its sections and its requirements."""
    for section in item.sections:
        if section.title != TEXT_SECTION:
            yield f"**{_join_lines(section.title)}**"
        yield from section.text.split("\n")
    names = item.properties.get(REQUIREMENTS)
    if isinstance(names, list) and names:
        yield f"- _Requirements: {', '.join(map(str, names))}_"


def _choose_mark(item: ExportedItem) -> str:
    """Return the sign at the import if it still fits the fate of the item, else the usual sign of the fate."""
    given = item.properties.get("source_status")
    if item.properties.get("source") == TOOL and isinstance(given, str) and FATES.get(given) == item.fate:
        return given
    return STARTED_MARKS[0] if item.is_claimed and item.fate == "open" else _MARKS[item.fate]


def _join_lines(text: str) -> str:
    return " ".join(text.split("\n"))
