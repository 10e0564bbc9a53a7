"""Items of other tools, which readers produce and writers take, and functions that readers and writers share.

A reader is a function `read_TOOL(path, *, skip_bad) -> SourcePlan`. A bad line raises `BadLineFound`, or goes into
`skipped` with `skip_bad`; `BadLines` does both. A writer is a function `write_TOOL(items) -> WrittenFiles`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from groundplan.kernel.errors import Invalid
from groundplan.work.importing.export import ExportedItem
from groundplan.work.importing.items import (
    KNOWLEDGE_TASK,
    LOOP,
    SECTION_BYTES_MAX,
    DeletedItem,
    Fate,
    SourceAtom,
    SourceEvidence,
    SourceItem,
    SourceMolecule,
    SourceSection,
    describe_fate,
    is_same,
    parse_fate,
)
from groundplan.work.refs import ID_CHARS_MAX
from groundplan.work.requests import LINKS_MAX, TAGS_MAX


class UnreadableSource(Invalid):
    """A file cannot be read, or does not belong to the tool."""

    code = "unreadable_source"

    def __init__(self, file: str, problem: str, *, line: int | None = None) -> None:
        where = file if line is None else f"{file}, line {line}"
        details: dict[str, Any] = {"file": file} if line is None else {"file": file, "line": line}
        super().__init__(f"{where}: {problem}", **details)
        self.reason = problem


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line or an item that cannot be imported, with the reason."""

    file: str
    line: int | None
    reason: str
    source_id: str | None = None


class BadLineFound(Invalid):
    """A file has a bad line, so that nothing is imported."""

    code = "bad_line"

    def __init__(self, bad: BadLine) -> None:
        where = bad.file if bad.line is None else f"{bad.file}, line {bad.line}"
        details: dict[str, Any] = {"line": bad.line, "source_id": bad.source_id}
        super().__init__(
            f"{where}: {bad.reason}; nothing was imported. Mend it, or leave such lines out with --skip-bad",
            file=bad.file,
            reason=bad.reason,
            **{name: value for name, value in details.items() if value is not None},
        )


class BadLines:
    """The bad lines of an import. The first one ends the import, unless bad lines are skipped."""

    def __init__(self, *, skip_bad: bool) -> None:
        self.skipped: list[BadLine] = []
        self._skip_bad = skip_bad

    def add(self, file: str, line: int | None, reason: str, source_id: str | None = None) -> None:
        """Add a bad line."""
        bad = BadLine(file, line, reason, source_id)
        if not self._skip_bad:
            raise BadLineFound(bad)
        self.skipped.append(bad)


@dataclass(frozen=True, slots=True)
class ItemNote:
    """A note about a field of an item that was changed or lost, with a sentence."""

    source_id: str
    what: str
    detail: str


@dataclass(slots=True)
class SourcePlan:
    """The content of one or several files of a tool."""

    tool: str
    items: list[SourceItem] = field(default_factory=list)  # in the order of the file
    deleted: list[DeletedItem] = field(default_factory=list)
    molecules: list[SourceMolecule] = field(default_factory=list)
    atoms: list[SourceAtom] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)  # by reason: tombstones, pull requests, other files
    lost: list[ItemNote] = field(default_factory=list)  # what has no place here
    placed: list[ItemNote] = field(default_factory=list)  # what came in otherwise than it was
    skipped: list[BadLine] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    searched: str = ""  # where a reader looked for files below a folder
    inherits_dependencies: bool = False  # whether in this tool the dependencies of an item also hold back its parts

    def note_placed(self, source_id: str, field: str, detail: str) -> None:
        """Record that a field was imported differently from the file."""
        self.placed.append(ItemNote(source_id, field, detail))

    def clean_title(self, source_id: str, title: str) -> str:
        """Return a title on one line, and record the changes in a note about the item."""
        cleaned = clean_title(title)
        if (changes := describe_title_changes(title, cleaned)) is not None:
            self.note_placed(source_id, "title", changes)
        return cleaned

    def note_lost(self, source_id: str, field: str, detail: str) -> None:
        """Record that a field was not imported, because items have no such field."""
        self.lost.append(ItemNote(source_id, field, detail))


# --- The parts of an item that all readers make alike: status words, sections, comments, tags and links ---------------

EVIDENCE_BYTES_MAX = 4096
LINK_BYTES_MAX = 4096
TAG_CHARS_MAX = 100
INTEGER_MAX = 1 << 53  # the largest number that can be stored
TITLE_BYTES_MAX = 4096
REPLACEMENT = "\ufffd"
STATUS_EVIDENCE = "status "  # begins the evidence of a dropped item without a reason, before its word
OTHER_LINKS = "Links"  # the section for links beyond the limit

# All but tab, line feed and carriage return, which texts may have; halves of surrogate pairs are no characters.
_UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_UNSTORABLE_IN_TITLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def normalize_word(word: str) -> str:
    """Return a status in the form in which statuses are compared: without case, and with `_`, `-` and spaces alike."""
    return " ".join(word.replace("_", " ").replace("-", " ").casefold().split())


def choose_fate(word: str, fates: Mapping[str, Fate]) -> tuple[Fate, str | None]:
    """Return the fate for a status and the reason of a hold; an unknown status is put on hold.

    `fates` has normalized words.
    """
    fate = fates.get(normalize_word(word), "held")
    return fate, f"status {word.strip() or 'missing'}" if fate == "held" else None


def add_section(item: SourceItem, title: str, text: Any) -> None:
    """Add a text to an item as a section, or as several sections if it is too long. A blank text adds none."""
    if not isinstance(text, str) or not text.strip():
        return
    parts = split_by_bytes(replace_unstorable(text).strip("\n"), SECTION_BYTES_MAX)
    for number, part in enumerate(parts, 1):
        item.sections.append(SourceSection(title if number == 1 else f"{title} ({number})", part))


SECTION_MARK = "<!-- groundplan:section -->"  # above the heading of a section that a tool has no field for
EVIDENCE_MARK = "<!-- groundplan:evidence -->"  # above a list of evidence, each with its type
_PARTS = re.compile(f"^(?=(?:{SECTION_MARK}|{EVIDENCE_MARK})$)", re.MULTILINE)


def append_parts(text: str, sections: Iterable[SourceSection], evidence: Iterable[SourceEvidence]) -> str:
    """Return a text with sections and evidence below it that a tool has no field for; `add_parts` reads them."""
    parts = [text] if text else []
    parts += [f"{SECTION_MARK}\n## {section.title}\n\n{section.text}" for section in sections]
    if lines := ["- " + f"{entry.type}: {entry.text}".replace("\n", "\n  ") for entry in evidence]:
        parts.append("\n".join((EVIDENCE_MARK, *lines)))
    return "\n\n".join(parts)


def add_parts(item: SourceItem, title: str, text: Any) -> None:
    """Add a text to an item as a section, and the sections and the evidence that an export appended to it."""
    own, *parts = _PARTS.split(replace_unstorable(text)) if isinstance(text, str) else (text,)
    add_section(item, title, own)
    for part in parts:
        mark, _, rest = part.partition("\n")
        if mark == SECTION_MARK:
            heading, _, content = rest.partition("\n")
            add_section(item, heading.removeprefix("## "), content)
        else:
            for entry in rest.removeprefix("- ").split("\n- "):
                type_, colon, content = entry.replace("\n  ", "\n").partition(": ")
                add_evidence(item, *((type_, content) if colon else ("note", type_)), section="Evidence")


def split_comment(text: str) -> tuple[str, str, str]:
    """Return the author, the date and the text of an imported comment; author and date may be empty."""
    heading, colon, comment = text.partition(": ")
    words = heading.split(" ")
    begin = next((index for index, word in enumerate(words) if word[:1].isdigit()), None)
    if not colon or begin is None or "\n" in heading:
        return "", "", text
    return " ".join(words[:begin]), " ".join(words[begin:]), comment


def add_comment(item: SourceItem, text: str, *, author: str = "", at: str = "") -> None:
    """Add a comment to an item as evidence that begins with author and date, or as a section if it is too long."""
    heading = " ".join(replace_unstorable(part) for part in (author, at) if part)
    comment = replace_unstorable(text)
    if heading:
        comment = f"{heading}: {comment}"
    add_evidence(item, "comment", comment, section=f"Comment of {heading}"[:255] if heading else "Comment")


def add_evidence(item: SourceItem, type_: str, text: str, *, section: str) -> None:
    """Add evidence to an item, or a section with this title if the text is too long for evidence."""
    text = replace_unstorable(text).strip()
    if not text:
        return
    if len(text.encode()) <= EVIDENCE_BYTES_MAX:
        item.evidence.append(SourceEvidence(type_, text))
    else:
        add_section(item, section, text)


def explain_drop(item: SourceItem, reason: str = "") -> None:
    """Add the reason of a dropped item as evidence, unless it has one; without a reason, its status word."""
    if item.fate == "dropped" and all(evidence.type != "dropped" for evidence in item.evidence):
        add_evidence(item, "dropped", reason or f"{STATUS_EVIDENCE}{item.source_status}", section="Close reason")


def make_tags(labels: Iterable[Any]) -> list[str]:
    """Return labels as tags: trimmed, and without empty and repeated ones."""
    texts = (replace_unstorable(label).strip()[:TAG_CHARS_MAX].strip() for label in labels if isinstance(label, str))
    return list(dict.fromkeys(text for text in texts if text))[:TAGS_MAX]


def add_links(item: SourceItem, links: Iterable[str]) -> None:
    """Add context links to an item. Links beyond the limit go into a section."""
    texts = [replace_unstorable(link).strip() for link in links]
    known = {*item.context_links}
    fresh = [link for link in dict.fromkeys(texts) if link and link not in known]
    fit = [link for link in fresh if len(link.encode()) <= LINK_BYTES_MAX][: LINKS_MAX - len(item.context_links)]
    item.context_links += fit
    kept = {*fit}
    if rest := [link for link in fresh if link not in kept]:
        add_section(item, OTHER_LINKS, "\n".join(f"- {link}" for link in rest))


def split_by_bytes(text: str, bytes_max: int) -> list[str]:
    """Return the parts of a text, each with at most `bytes_max` bytes; it is split at line breaks if possible."""
    encoded = text.encode()
    parts: list[str] = []
    start = 0
    while len(encoded) - start > bytes_max:
        end = encoded.rfind(b"\n", start + 1, start + bytes_max) + 1
        if end == 0:  # a line that is too long is cut between two characters
            end = start + bytes_max
            while encoded[end] & 0xC0 == 0x80:
                end -= 1
        parts.append(encoded[start:end].decode().rstrip("\n"))
        start = end
    return [*parts, encoded[start:].decode()]


def clean_property(value: Any) -> Any:
    """Return a JSON value that can be stored: numbers that cannot be stored become texts."""
    if isinstance(value, str):
        return replace_unstorable(value)
    if isinstance(value, dict):
        return {replace_unstorable(str(name)): clean_property(item) for name, item in value.items()}
    if isinstance(value, list):
        return [clean_property(item) for item in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value if abs(value) <= INTEGER_MAX else str(value)  # also for NaN, which compares with nothing
    return value


def replace_unstorable(text: str) -> str:
    """Return a text with LF as line break, and with U+FFFD in place of characters that cannot be stored."""
    if text.isprintable():
        return text
    return _UNSTORABLE.sub(REPLACEMENT, text.replace("\r\n", "\n"))


def clean_title(text: str) -> str:
    """Return a title on one line, without surrounding white space, and with U+FFFD in place of control characters."""
    text = text.strip()
    return text if text.isprintable() else _UNSTORABLE_IN_TITLE.sub(REPLACEMENT, text)


def describe_title_changes(before: str, after: str) -> str | None:
    """Return a sentence about what `clean_title` changed, or None if only spaces changed."""
    changes = []
    if before.endswith(("\n", "\r")):
        changes.append("a line break at the end was removed")
    if after.count(REPLACEMENT) > before.count(REPLACEMENT):
        changes.append("control characters were replaced")
    return "; ".join(changes) or None


# --- Find the paths of files in prose ---------------------------------------------------------------------------------

_PUNCTUATION = "`'\"()<>,;:!*"


def find_paths(text: str) -> list[str]:
    """Return the paths in a text: words with a slash, or code, with the ending of a file or a folder."""
    paths: dict[str, None] = {}
    for word in text.split():
        is_code = word.lstrip("(").startswith("`")
        path = word.lstrip(_PUNCTUATION).rstrip(f"{_PUNCTUATION}.")
        name = path.rpartition("/")[2]
        has_suffix = "." in name.strip(".")
        if "://" in path or not ("/" in path or is_code):
            continue
        if has_suffix or (path.endswith("/") and path.strip("/")):
            paths[path] = None
    return list(paths)


# --- What a writer returns, and what all writers share ----------------------------------------------------------------

PREFIX = "gp-"  # of ids of nodes that do not come from the tool
NODE_FIELD = "groundplan"  # with the id of such a node, where the tool counts its ids
PROPERTIES_OF_IMPORT = frozenset({"source", "source_id", "source_status", "source_parent", "priority"})


def read_node_id(value: Any) -> str | None:
    """Return the id of a node that an export wrote into a file, unless it is something else."""
    return value if isinstance(value, str) and 0 < len(value) <= ID_CHARS_MAX else None


@dataclass(slots=True)
class WrittenFiles:
    """The text of each file by its path. The only file of a tool has an empty path."""

    files: dict[str, str]
    lost: list[ItemNote] = field(default_factory=list)
    items: int = 0  # how many are in them

    @property
    def is_single(self) -> bool:
        return [*self.files] == [""]


def leave_out_knowledge_tasks(items: Sequence[ExportedItem]) -> list[ExportedItem]:
    """Return the items without the tasks that imports made for knowledge, unless another item refers to them."""
    referred = {item.parent for item in items} | {target for item in items for target in item.depends_on}
    referred |= {link.id for item in items for link in item.links}
    return [item for item in items if KNOWLEDGE_TASK not in item.sources.values() or item.id in referred]


def restore_loops(items: Sequence[ExportedItem]) -> list[ExportedItem]:
    """Return the items without the holds that an import set to break loops, and with the dependencies it left out."""
    return [_restore_loop(item) if item.loops else item for item in items]


def _restore_loop(item: ExportedItem) -> ExportedItem:
    depends_on = list(dict.fromkeys((*item.depends_on, *item.loops)))
    restored = msgspec.structs.replace(item, depends_on=depends_on, loops=[])
    if item.fate == "held" and (item.hold_reason or "").startswith(LOOP):
        restored.fate, restored.hold_reason = parse_fate(item.imported_fate or "open")
    return restored


def get_source_parent(item: ExportedItem, by_source: Mapping[str, ExportedItem]) -> str | None:
    """Return the parent of an item in its tool if the import moved the item, else its parent in the plan."""
    moved_from = item.properties.get("source_parent")
    if isinstance(moved_from, str) and moved_from in by_source:
        return by_source[moved_from].id
    return item.parent


def get_imported_status(item: ExportedItem, tool: str, fates: Mapping[str, Fate], *, is_derived: bool) -> str | None:
    """Return the status word that an item was imported with, if another import would give it the fate that it has.

    `is_derived` says that the tool would derive the fate of the last import from the rest of the file again.
    """
    word = item.properties.get("source_status")
    if item.properties.get("source") != tool or not isinstance(word, str):
        return None
    is_unchanged = is_same(describe_fate(item.fate, item.hold_reason), item.imported_fate)
    return word if choose_fate(word, fates)[0] == item.fate or (is_derived and is_unchanged) else None


def leave_out_usual_status(item: SourceItem, statuses: Mapping[str, str]) -> None:
    """Leave out the status word of an item that an export made of a node, while it is the usual one of its fate."""
    if item.node is not None and item.source_status == statuses.get(item.fate):
        item.source_status = None


def list_evidence(item: ExportedItem) -> list[SourceEvidence]:
    """Return the evidence of an item without the reason that an import made of a status word."""
    made = f"{STATUS_EVIDENCE}{item.properties.get('source_status')}"
    return [entry for entry in item.evidence if entry.type != "dropped" or not entry.text.startswith(made)]


def index_by_source(items: Sequence[ExportedItem], tool: str) -> dict[str, ExportedItem]:
    """Return the items that were imported from a tool, by their source ids."""
    return {source: item for item in items if (source := item.sources.get(tool)) is not None}


def write_jsonl(items: Sequence[ExportedItem]) -> WrittenFiles:
    """Write each item as a line of JSON with all of its fields."""
    return WrittenFiles({"": "".join(f"{msgspec.json.encode(item).decode()}\n" for item in items)})
