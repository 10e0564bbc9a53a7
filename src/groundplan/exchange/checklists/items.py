"""Turn the outline of a checklist into items with lasting ids.

A box has its file, its headings and its text as its id, so ticking it changes its item, and another text is another
item. Equal ones are counted.
"""

from __future__ import annotations

from collections import Counter
from hashlib import sha256

from groundplan.exchange.checklists.boxes import DROPPED_MARK, FATES, OPEN_MARK, STARTED_MARKS
from groundplan.exchange.checklists.files import ChecklistFile
from groundplan.exchange.checklists.outline import OutlineEntry, read_outline
from groundplan.exchange.item_parts import add_evidence, add_section
from groundplan.exchange.model import BadLines, ItemNote, SourcePlan
from groundplan.exchange.text_files import TITLE_BYTES_MAX, clean_title, describe_title_changes
from groundplan.work.importing.source_items import SOURCE_ID_BYTES_MAX, SourceItem

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
        item = SourceItem(source_id=source_id, title=clean_title(entry.title), file=file.path, line=entry.line)
        if (change := describe_title_changes(entry.title, item.title)) is not None:
            self._plan.placed.append(ItemNote(source_id, "title", change))
        if entry.box is None:
            item.is_group = True
        else:
            self._set_fate(item, entry.box.mark, is_archived=ARCHIVE_FOLDER in f"/{file.name}")
            item.tags = [OPTIONAL_TAG] if entry.box.is_optional else []
        _add_text(item, entry.text)
        return item

    def _choose_id(self, name: str) -> str:
        """Return the id for a name: shortened if it is too long, and counted if it was there before."""
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
        if mark == DROPPED_MARK:
            add_evidence(item, "dropped", f"its box is [{mark}]", section="Close reason")
        elif is_archived and item.fate == "open":
            item.fate = "dropped"
            add_evidence(item, "dropped", "left open when its change was archived", section="Close reason")
            self._plan.placed.append(ItemNote(item.source_id, "status", "its change is archived; the box was open"))


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
