"""Compare two versions of a project, as data and as Markdown, in pages."""

from __future__ import annotations

from operator import attrgetter
from typing import Any, ClassVar

from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import CutLists, DropField, LeftOut, Trimming
from groundplan.kernel.cursors import Cursor, InvalidCursor, decode_cursor, encode_cursor
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Effect, Group, Route, Tool, declare
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.content import read_verified_content
from groundplan.purpose.pages import PagePosition, fill_page, list_entries
from groundplan.purpose.versions.compare import (
    AssumptionChanges,
    Comparison,
    EdgeChanges,
    IndicatorChanges,
    NodeChanges,
    compare,
)
from groundplan.purpose.versions.comparison_markdown import render_comparison
from groundplan.purpose.versions.versions import VersionRef, VersionRow, require_version, stale_draft

NAME = "purpose.diff"

_KINDS = ("nodes", "edges", "assumptions", "indicators")
# The lists of a comparison, in page order.
_LISTS = (*(f"{kind}.{list_}" for kind in _KINDS for list_ in ("added", "removed", "changed")), "rewired")


class CompareVersions(Struct, rename={"source": "from"}, forbid_unknown_fields=True):
    """The two versions to compare; the changes lead from `from` to `to`."""

    project: Name
    source: VersionRef
    to: VersionRef
    cursor: Cursor = None
    lean: bool | None = None


class VersionComparison(Comparison, rename={"source": "from"}, kw_only=True):
    """The differences between two versions, each list in key order."""

    bookkeeping: ClassVar[frozenset[str]] = frozenset()
    # A single entry that is too large for a page loses its values but keeps its name.
    trimming: ClassVar[Trimming] = Trimming(
        DropField("markdown"),
        *(DropField(f"{kind}.changed[].fields[].{value}") for value in ("before", "after") for kind in _KINDS),
        CutLists(
            tuple(f"rewired[].{side}.{list_}" for side in ("causes", "effects") for list_ in ("added", "removed"))
        ),
    )

    source: int
    to: int
    markdown: str | UnsetType = UNSET  # only if it fits beside the data
    left_out: LeftOut = UNSET
    next_cursor: str | UnsetType = UNSET


def diff(tx: Transaction, request: CompareVersions) -> VersionComparison:
    """Compare two versions.

    Raises:
        NotFound: a version does not exist.
        ContentAltered: the content of a published version does not match its hash.
        InvalidCursor: the cursor belongs to another comparison.
        StaleRevision: the draft has changed since the previous page.
    """
    before, after = require_version(tx, request.source), require_version(tx, request.to)
    query = [tx.project.id, before.id, after.id]
    place = None if request.cursor is None else _decode_position(tx, query, request.cursor, before, after)
    contents = read_verified_content(tx, before), read_verified_content(tx, after)
    comparison = compare(*contents)
    entries = list_entries(((part, attrgetter(part)(comparison)) for part in _LISTS), place)
    compared = VersionComparison(
        NodeChanges([], [], []),
        EdgeChanges([], [], []),
        AssumptionChanges([], [], []),
        IndicatorChanges([], [], []),
        [],
        source=before.number,
        to=after.number,
    )
    compared.left_out = fill_page(
        compared, entries, tx.budget, lambda last: encode_cursor(tx, NAME, query, before.rev, after.rev, *last)
    )
    if place is None and compared.next_cursor is UNSET:
        titles = {node.key: node.title for content in contents for node in content.nodes.values()}
        from_label, to_label = (_format_version_name(row.number, row.label) for row in (before, after))
        compared.markdown = render_comparison(comparison, from_label=from_label, to_label=to_label, titles=titles)
    return compared


def _decode_position(
    tx: Transaction, query: list[Any], cursor: str, before: VersionRow, after: VersionRow
) -> PagePosition:
    match decode_cursor(tx, NAME, query, cursor):
        case [int() as before_rev, int() as after_rev, int() as part, int() as index]:
            for row, rev in ((before, before_rev), (after, after_rev)):
                if row.rev != rev:
                    raise stale_draft(row, rev)  # pages of two states would mix into one that never existed
            return part, index
    raise InvalidCursor


def _format_version_name(number: int, label: str) -> str:
    """Return the label of a version, with its number if the label does not contain it."""
    return label if label == f"v{number}" else f"v{number} ({label})"


OPERATION = declare(
    diff,
    name=NAME,
    summary="Compare two versions by stable key.",
    permission=Permission.PURPOSE_READ,
    effect=Effect.READ,
    tool=Tool("toc_version", Group.PURPOSE, "diff"),
    http=Route("GET", "/projects/{project}/purpose/diff"),
)
