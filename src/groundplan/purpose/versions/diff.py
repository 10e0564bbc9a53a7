"""Compare two versions by their stable keys, as data and as text to read."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.access import Permission
from groundplan.kernel.cursors import InvalidCursor, cursor_at, position_of
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Tool
from groundplan.kernel.output_gate import encode, fits
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.comparing.compare import Changed, Comparison, compare
from groundplan.purpose.content import checked_content
from groundplan.purpose.pages import Entry, Place, page_of, room_beside
from groundplan.purpose.version import StaleDraft, VersionRef, VersionRow, version_there

NAME = "purpose.diff"
VALUE_CHARS_MAX = 400  # of a value in a change that is too large for a page

# The lists of a comparison in the order of pages: which sort, and what became of it.
_LISTS = [
    *(
        (sort, list_)
        for sort in ("nodes", "edges", "assumptions", "indicators")
        for list_ in ("added", "removed", "changed")
    ),
    ("rewired", ""),
]


class CompareVersions(Struct, rename={"source": "from"}, forbid_unknown_fields=True):
    """From which version to which."""

    project: Name
    source: VersionRef
    to: VersionRef
    cursor: str | None = None


class Compared(Comparison, frozen=True, rename={"source": "from"}, kw_only=True):
    """Everything in which two versions differ, each sort in the order of its keys."""

    source: int
    to: int
    markdown: str | UnsetType = UNSET  # where there is room for it beside the data
    left_out: dict[str, int] | UnsetType = UNSET  # how much of each list follows on further pages
    next_cursor: str | UnsetType = UNSET


def diff(tx: Transaction, request: CompareVersions) -> Compared:
    """Compare two versions.

    Raises:
        NotFound: one of them is not there.
        ContentAltered: a published version is not what was published.
        InvalidCursor: the cursor is of another comparison.
        StaleDraft: the draft was changed since the page before.
    """
    from groundplan.purpose.comparing.comparison_markdown import comparison_markdown  # only who compares reads it

    before, after = version_there(tx, request.source), version_there(tx, request.to)
    query = [tx.project.id, before.id, after.id]
    place = None if request.cursor is None else _position(tx, query, request.cursor, before, after)
    contents = checked_content(tx, before), checked_content(tx, after)
    found = compare(*contents)
    compared = Compared(**msgspec.structs.asdict(found), source=before.number, to=after.number)
    limit = tx.preferences.answer_tokens_max
    if place is None and fits(encode(compared), limit * 9 // 10):
        titles = {node.key: node.title for content in contents for node in content.nodes.values()}
        from_label, to_label = (_called(row.number, row.label) for row in (before, after))
        text = comparison_markdown(found, from_label=from_label, to_label=to_label, titles=titles)
        told = msgspec.structs.replace(compared, markdown=text)
        return told if fits(encode(told), limit * 9 // 10) else compared
    page = _page(compared, place, limit)
    if page[1] is None:
        return page[0]
    cursor = cursor_at(tx, NAME, query, before.rev, after.rev, *page[1])
    return msgspec.structs.replace(page[0], next_cursor=cursor)


def _page(compared: Compared, after: Place | None, tokens_max: int) -> tuple[Compared, Place | None]:
    """As much of a comparison as fits, from some place on, and where that ends if there is more."""
    parts = [_list(compared, *name) for name in _LISTS]
    frame = _with(compared, [[] for _ in _LISTS])
    room = room_beside(frame, tokens_max)
    entries = [
        Entry((number, index), ".".join(filter(None, _LISTS[number])), _fitted(item, room) if tokens_max else item)
        for number, items in enumerate(parts)
        for index, item in enumerate(items)
        if after is None or (number, index) > after
    ]
    page = page_of(entries, frame=frame, tokens_max=tokens_max)
    kept: list[list[Any]] = [[] for _ in _LISTS]
    for entry in page.entries:
        kept[entry.place[0]].append(entry.item)
    return msgspec.structs.replace(_with(compared, kept), left_out=page.left or UNSET), page.last


def _list(compared: Compared, sort: str, list_: str) -> list[Any]:
    whole = getattr(compared, sort)
    found: list[Any] = getattr(whole, list_) if list_ else whole
    return found


def _with(compared: Compared, lists: list[list[Any]]) -> Compared:
    """A comparison with other lists."""
    changed: dict[str, Any] = {}
    for (sort, list_), items in zip(_LISTS, lists, strict=True):
        before = changed.get(sort, getattr(compared, sort))
        changed[sort] = msgspec.structs.replace(before, **{list_: items}) if list_ else items
    return msgspec.structs.replace(compared, **changed)


def _fitted(item: Any, room: int) -> Any:
    """A change that fits onto a page: of its values those that are not too long, and of the others the name."""
    if not isinstance(item, Changed) or len(encode(item)) <= room:
        return item
    return Changed(
        item.key,
        [
            change
            if len(encode([change.before, change.after])) <= VALUE_CHARS_MAX
            else msgspec.structs.replace(change, before=UNSET, after=UNSET)
            for change in item.fields
        ],
    )


def _position(tx: Transaction, query: list[Any], cursor: str, before: VersionRow, after: VersionRow) -> Place:
    match position_of(tx, NAME, query, cursor):
        case [int() as before_rev, int() as after_rev, int() as part, int() as index]:
            for row, rev in ((before, before_rev), (after, after_rev)):
                if row.rev != rev:
                    raise StaleDraft(row, rev)  # pages of two states would be a third one, which never was
            return part, index
    raise InvalidCursor


def _called(number: int, label: str) -> str:
    """What a version is called in a sentence."""
    return label if label == f"v{number}" else f"v{number} ({label})"


OPERATION = Operation(
    name=NAME,
    summary="Compare two versions by stable key.",
    permission=Permission.PURPOSE_READ,
    effect=Effect.READ,
    input=CompareVersions,
    output=Compared,
    handler=diff,
    project=lambda _tx, request: request.project,
    tool=Tool("toc_version", Group.PURPOSE, "diff"),
    command=Command(("purpose", "diff"), arguments=("source", "to"), names={"source": "from"}),
)
