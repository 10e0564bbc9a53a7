"""What waits for a person, in one ranked list with the operation that settles each item.

The order is that of `InboxKind`, then the longest wait first. Every list of a kind is read oldest first, from the
position of the cursor on, so a page reads the kinds that it shows and no others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from heapq import nlargest
from itertools import chain
from typing import Annotated, NamedTuple, Protocol

from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan.briefing.inbox.at_risk import list_at_risk
from groundplan.briefing.inbox.claims import list_claims
from groundplan.briefing.inbox.ending_waivers import list_waivers
from groundplan.briefing.inbox.gate_blocks import list_gate_blocks
from groundplan.briefing.inbox.item import RANKS, InboxItem, InboxKind
from groundplan.briefing.inbox.kept_items import read_kept
from groundplan.briefing.inbox.requests import list_requests
from groundplan.briefing.inbox.reviews_due import list_due_reviews
from groundplan.briefing.inbox.suggestions import list_suggestions
from groundplan.kernel.access import Permission
from groundplan.kernel.answers import LeftOut, encode, take_page
from groundplan.kernel.cursors import InvalidCursor, decode_cursor, encode_cursor
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, Group, Route, Tool, declare
from groundplan.kernel.projects import ListProjects, list_projects
from groundplan.kernel.store.authorize import authorize_project
from groundplan.kernel.store.transaction import Project, Transaction, set_time_of_read

NAME = "briefing.inbox"
LIMIT_MAX = 100
READ_MAX = 5_000  # items of one kind in one project; more than one write can make with the same time
PROJECTS_MAX = 50  # of a list without a project: those that changed last
REF_BYTES_MAX = 120  # of a ref in a cursor
DIGEST_BYTES = 8
SEVERAL_PER_REF = {InboxKind.SUGGESTION, InboxKind.WAIVER_ENDING}  # kinds with several items about the same ref
BEFORE_ALL_TIMES = ""


class KindReader(Protocol):
    """Lists the items of one kind in the current project that wait since a moment or a later one, oldest first."""

    def __call__(self, tx: Transaction, *, since: str, at_most: int) -> list[InboxItem]: ...


READERS: Mapping[InboxKind, KindReader] = {
    InboxKind.GATE_BLOCKS: list_gate_blocks,
    InboxKind.AT_RISK: list_at_risk,
    InboxKind.REQUEST: list_requests,
    InboxKind.SUGGESTION: list_suggestions,
    InboxKind.REVIEW_DUE: list_due_reviews,
    InboxKind.CLAIM_LAPSING: list_claims,
    InboxKind.WAIVER_ENDING: list_waivers,
}


class ReadInbox(Struct, forbid_unknown_fields=True):
    """The project, by default all projects of the caller, and the page."""

    project: Name | None = None
    limit: Annotated[int, Meta(ge=1, le=LIMIT_MAX)] = 20
    cursor: str | None = None


class Inbox(Struct):
    """What waits, the most urgent first. `left_out` counts projects that were not looked at."""

    items: list[InboxItem]
    next_cursor: str | UnsetType = UNSET
    left_out: LeftOut = UNSET


class _Position(NamedTuple):
    """The position of an item in the list, without any other item."""

    rank: int
    since: str
    ref: bytes
    digest: bytes


_BEFORE_ALL = _Position(-1, BEFORE_ALL_TIMES, b"", b"")


def read_inbox(tx: Transaction, request: ReadInbox) -> Inbox:
    """Return what waits for a person in a project, or in all projects of the caller.

    Raises:
        InvalidCursor: the cursor belongs to another list.
    """
    after = _BEFORE_ALL if request.cursor is None else _decode_position(tx, request.cursor)
    visits, left_out = _list_visits(tx)
    rows = _read_items(tx, visits, after, more_than=request.limit)
    page = take_page(
        tx.budget.reserve(Inbox([], left_out=left_out)),
        rows[: request.limit],
        cursor_after=lambda row: encode_cursor(tx, NAME, None, *row[0]),
        item=lambda row: row[1],
        has_more=len(rows) > request.limit,
    )
    return Inbox([item for _, item in page.rows], page.next_cursor, left_out)


class _Visits(NamedTuple):
    """The projects to look at, each with a context in which it is the current one."""

    projects: list[Project]
    are_several: bool


def _list_visits(tx: Transaction) -> tuple[_Visits, LeftOut]:
    """Return the projects to look at, and how many others there are. In an archived project nothing waits."""
    if tx.has_project:
        return _Visits([] if tx.project.archived_at else [tx.project], are_several=False), UNSET
    views = list_projects(tx, ListProjects()).projects
    latest = nlargest(PROJECTS_MAX, views, key=lambda view: (view.updated_at, view.id))
    projects = [authorize_project(tx, view.id, Permission.PROJECT_READ, by_id=True) for view in latest]
    others = len(views) - len(latest)
    return _Visits(projects, are_several=True), {"projects": others} if others else UNSET


def _read_items(
    tx: Transaction, visits: _Visits, after: _Position, *, more_than: int
) -> list[tuple[_Position, InboxItem]]:
    """Return the items after a position, in order: at least one more than the number given, if there are so many."""
    found: list[tuple[_Position, InboxItem]] = []
    for kind, rank in RANKS.items():
        if rank < after.rank:
            continue
        since = after.since if rank == after.rank else BEFORE_ALL_TIMES
        items = chain.from_iterable(_read_kind(tx, visits, kind, since))
        located = [(position, item) for position, item in items if position > after]
        found += sorted(located, key=lambda row: row[0])
        if len(found) > more_than:
            break
    return found


def _read_kind(
    tx: Transaction, visits: _Visits, kind: InboxKind, since: str
) -> Iterator[list[tuple[_Position, InboxItem]]]:
    read = READERS[kind]
    for project in visits.projects:
        if not visits.are_several:
            read_all = partial(read, tx, since=since, at_most=READ_MAX)
            items = read_all() if since else read_kept(tx, kind, read_all)
            yield [(_locate(tx, item), item) for item in items]
            continue
        with _visit(tx, project):
            items = read(tx, since=since, at_most=READ_MAX)
            rows = [(_locate(tx, item), item) for item in items]
        for item in items:
            item.project = project.name
        yield rows


@contextmanager
def _visit(tx: Transaction, project: Project) -> Iterator[None]:
    """Make a project the current one, with the time of a read in it; afterwards there is none, as before."""
    now = tx.now
    tx.set_project(project)
    set_time_of_read(tx)
    try:
        yield
    finally:
        tx.set_project(None)
        tx.now = now


def _locate(tx: Transaction, item: InboxItem) -> _Position:
    from hashlib import sha256  # here, because OpenSSL takes megabytes that most requests do not need

    which = item.action.arguments if item.kind in SEVERAL_PER_REF else {}
    digest = sha256(encode([tx.project.id, item.ref, which])).digest()[:DIGEST_BYTES]
    return _Position(RANKS[item.kind], item.since, item.ref.encode()[:REF_BYTES_MAX], digest)


def _decode_position(tx: Transaction, cursor: str) -> _Position:
    match decode_cursor(tx, NAME, None, cursor):
        case [int(rank), str(since), bytes(ref), bytes(digest)]:
            return _Position(rank, since, ref, digest)
    raise InvalidCursor


OPERATION = declare(
    read_inbox,
    name=NAME,
    summary="What waits for a person, most urgent first, and what settles it.",
    permission=Permission.PROJECT_READ,
    effect=Effect.READ,
    without_project=Permission.PROJECT_LIST,
    tool=Tool("inbox", Group.BRIEFING),
    command=Command(("inbox",)),
    http=Route("GET", "/projects/{project}/inbox"),
    other_routes=(Route("GET", "/organization/inbox"),),
)
