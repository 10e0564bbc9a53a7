"""Compare two versions by their stable keys, as data and as text to read."""

from __future__ import annotations

from operator import attrgetter
from typing import Any, ClassVar

from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.access import Permission
from groundplan.kernel.budget import Cut, Drop, LeftOut, Trimming
from groundplan.kernel.cursors import InvalidCursor, cursor_at, position_of
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Tool
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.comparing.compare import (
    AssumptionsCompared,
    Comparison,
    EdgesCompared,
    IndicatorsCompared,
    NodesCompared,
    compare,
)
from groundplan.purpose.content import checked_content
from groundplan.purpose.pages import Place, entries_of, fill_page
from groundplan.purpose.version import VersionRef, VersionRow, stale_draft, version_there

NAME = "purpose.diff"

_SORTS = ("nodes", "edges", "assumptions", "indicators")
# The lists of a comparison in the order of pages.
_LISTS = (*(f"{sort}.{list_}" for sort in _SORTS for list_ in ("added", "removed", "changed")), "rewired")


class CompareVersions(Struct, rename={"source": "from"}, forbid_unknown_fields=True):
    """From which version to which."""

    project: Name
    source: VersionRef
    to: VersionRef
    cursor: str | None = None


class Compared(Comparison, rename={"source": "from"}, kw_only=True):
    """Everything in which two versions differ, each sort in the order of its keys."""

    # A change or a node that is too large for a page by itself keeps its name.
    trimming: ClassVar[Trimming] = Trimming(
        Drop("markdown"),
        *(Drop(f"{sort}.changed[].fields[].{value}") for value in ("before", "after") for sort in _SORTS),
        Cut(tuple(f"rewired[].{side}.{list_}" for side in ("causes", "effects") for list_ in ("added", "removed"))),
    )

    source: int
    to: int
    markdown: str | UnsetType = UNSET  # where there is room for it beside the data
    left_out: LeftOut = UNSET
    next_cursor: str | UnsetType = UNSET


def diff(tx: Transaction, request: CompareVersions) -> Compared:
    """Compare two versions.

    Raises:
        NotFound: one of them is not there.
        ContentAltered: a published version is not what was published.
        InvalidCursor: the cursor is of another comparison.
        StaleRevision: the draft was changed since the page before.
    """
    from groundplan.purpose.comparing.comparison_markdown import comparison_markdown  # only who compares reads it

    before, after = version_there(tx, request.source), version_there(tx, request.to)
    query = [tx.project.id, before.id, after.id]
    place = None if request.cursor is None else _position(tx, query, request.cursor, before, after)
    contents = checked_content(tx, before), checked_content(tx, after)
    found = compare(*contents)
    entries = entries_of(((part, attrgetter(part)(found)) for part in _LISTS), place)
    compared = Compared(
        NodesCompared([], [], []),
        EdgesCompared([], [], []),
        AssumptionsCompared([], [], []),
        IndicatorsCompared([], [], []),
        [],
        source=before.number,
        to=after.number,
    )
    compared.left_out = fill_page(
        compared, entries, tx.budget, lambda last: cursor_at(tx, NAME, query, before.rev, after.rev, *last)
    )
    if place is None and compared.next_cursor is UNSET:
        titles = {node.key: node.title for content in contents for node in content.nodes.values()}
        from_label, to_label = (_called(row.number, row.label) for row in (before, after))
        compared.markdown = comparison_markdown(found, from_label=from_label, to_label=to_label, titles=titles)
    return compared


def _position(tx: Transaction, query: list[Any], cursor: str, before: VersionRow, after: VersionRow) -> Place:
    match position_of(tx, NAME, query, cursor):
        case [int() as before_rev, int() as after_rev, int() as part, int() as index]:
            for row, rev in ((before, before_rev), (after, after_rev)):
                if row.rev != rev:
                    raise stale_draft(row, rev)  # pages of two states would be a third one, which never was
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
