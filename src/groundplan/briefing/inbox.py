"""The items that wait for a person, in one ranked list with the operation that settles each item.

The order is that of `InboxKind`, then the longest wait first. Every list of a kind is read oldest first, from the
position of the cursor on, so a page reads the kinds that it shows and no others.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
from heapq import nlargest
from itertools import chain
from typing import Annotated, Any, NamedTuple, Protocol

from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan.briefing.watch import PREDICATES, MarkOutline, list_marks_since
from groundplan.context.schemas import Provenance, RunStatus
from groundplan.context.suggestions import PendingSuggestion, list_pending_suggestions
from groundplan.context.unset_facts import UnsetFact, list_unset_facts
from groundplan.kernel.access import Permission, Role, allows
from groundplan.kernel.actors import ActorKind
from groundplan.kernel.answers import LeftOut, encode, take_page
from groundplan.kernel.clock import subtract_time
from groundplan.kernel.cursors import Cursor, InvalidCursor, decode_cursor, encode_cursor
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Effect, Group, Route, Tool, declare
from groundplan.kernel.principals import describe_actor
from groundplan.kernel.projects import ListProjects, find_time_without_person, list_projects
from groundplan.kernel.store.authorize import authorize_project
from groundplan.kernel.store.transaction import Project, Transaction, set_time_of_read
from groundplan.kernel.wording import quote_text
from groundplan.purpose.dates import get_day
from groundplan.purpose.markup import shorten_line
from groundplan.purpose.observing.records import DecisionRequest, Waiver
from groundplan.purpose.waiting import (
    NOTICE,
    BlockingCheck,
    DueReview,
    list_blocking_checks,
    list_ending_waivers,
    list_open_requests,
    list_reviews_due,
)
from groundplan.work.claims import ClaimExpiry, list_ending_claims


class InboxKind(StrEnum):
    """The reason why an item waits for a person, in the order of the list. Reasons that block other work come first."""

    NO_OWNER = "no_owner"
    GATE_BLOCKS = "gate_blocks"
    AT_RISK = "at_risk"
    REQUEST = "request"
    FACT_MISSING = "fact_missing"
    SUGGESTION = "suggestion"
    REVIEW_DUE = "review_due"
    CLAIM_LAPSING = "claim_lapsing"
    WAIVER_ENDING = "waiver_ending"


class InboxAction(Struct, kw_only=True):
    """The operation that settles an item. A person supplies the arguments in `needs`, which may be empty."""

    operation: str
    arguments: dict[str, Any]
    needs: list[str] | UnsetType = UNSET
    call: str | UnsetType = UNSET  # the tool, command or route of the operation, where it has another name


class SuggestedChange(Struct):
    """The present value of a fact and the suggested one, with their provenances; null means no value.

    A value that is too long is shortened, as text.
    """

    current: Any
    current_provenance: Provenance
    suggested: Any
    provenance: Provenance


class InboxItem(Struct, kw_only=True):
    """An item that waits for a person. `ref` is the id, key or pointer of its subject."""

    kind: InboxKind
    project: str | UnsetType = UNSET  # its name, in a list of several projects
    ref: str
    text: str
    since: str  # the time, or the day, from which it has waited
    action: InboxAction
    alternative: InboxAction | UnsetType = UNSET  # the other way to settle it: to reject a suggestion
    change: SuggestedChange | UnsetType = UNSET


def make_action(
    tx: Transaction, operation: str, arguments: Mapping[str, Any], *, needs: list[str] | UnsetType = UNSET
) -> InboxAction:
    """Return an action, with the operation named for the surface of the caller."""
    spelled = tx.preferences.vocabulary.spell(operation, arguments)
    return InboxAction(
        operation=operation,
        arguments=dict(arguments),
        needs=needs,
        call=UNSET if spelled == operation else spelled,
    )


# --- A project without a person as its owner: nobody else manages it, or publishes in it ------------------------------


def _list_ownerless(tx: Transaction) -> list[str]:
    """Return when the current project was created if no person owns it and the caller is a person who may own it."""
    if tx.actor.kind is not ActorKind.PERSON or not allows(tx.project.role, Permission.MEMBER_MANAGE):
        return []
    created_at = find_time_without_person(tx)
    return [] if created_at is None else [created_at]


def _build_ownerless_item(tx: Transaction, created_at: str) -> InboxItem:
    arguments = {"scopeId": tx.project.name, "userId": tx.actor.id, "role": Role.OWNER.value}
    return InboxItem(
        kind=InboxKind.NO_OWNER,
        ref=tx.project.name,
        text=shorten_line(f"No person owns {tx.project.name}, so nobody may manage it where stored roles decide"),
        since=created_at,
        action=make_action(tx, "member.add", arguments),
    )


# --- Marks: assumptions in doubt and changed facts, until a decision about them is recorded ---------------------------


def _build_mark_item(tx: Transaction, mark: MarkOutline) -> InboxItem:
    path = f", on the way {' -> '.join(mark.path)}" if len(mark.path) > 1 else ""
    text = "" if mark.text is None else f": {mark.text}"
    return InboxItem(
        kind=InboxKind.AT_RISK,
        ref=mark.ref,
        text=shorten_line(f"The {mark.kind} {mark.ref} {PREDICATES[mark.status]}{path}{text}"),
        since=mark.since,
        action=make_action(
            tx,
            "purpose.record",
            {"project": tx.project.name, "decisions": [{"about": [mark.ref]}]},
            needs=["decisions[0].text", "decisions[0].rationale"],
        ),
    )


# --- Claims that lapse soon, have lapsed, or are held for long --------------------------------------------------------


def _build_claim_item(tx: Transaction, claim: ClaimExpiry) -> InboxItem:
    return InboxItem(
        kind=InboxKind.CLAIM_LAPSING,
        ref=claim.id,
        text=f"{_describe_claim(tx, claim)}: {shorten_line(claim.summary)}",
        since=claim.claimed_at,
        action=_choose_action(tx, claim),
    )


def _describe_claim(tx: Transaction, claim: ClaimExpiry) -> str:
    holder = describe_actor(tx, claim.claimed_by)
    if claim.claimed_until is None:
        return f"{holder} has held it since {claim.claimed_at}"
    if claim.has_lapsed(tx.now):
        return f"The claim of {holder} lapsed at {claim.claimed_until}, and the node is still open"
    return f"The claim of {holder} lapses at {claim.claimed_until}"


def _choose_action(tx: Transaction, claim: ClaimExpiry) -> InboxAction:
    """Return the action for a claim: renew or release an own claim, take over a lapsed one, or read the history."""
    if claim.claimed_by == tx.actor.id:
        change = "release" if claim.claimed_until is None else "renew"
        return make_action(tx, "work.update", {"updates": [{"node_id": claim.id, change: True}]})
    if claim.has_lapsed(tx.now):
        return make_action(tx, "work.next", {"project": tx.project.name, "node_id": claim.id, "claim": True})
    return make_action(tx, "work.history", {"node_id": claim.id})


# --- Waivers that end soon, after which their checks block again ------------------------------------------------------

REFS_MAX = 5  # named in the text; the action has all of them


def _build_waiver_item(tx: Transaction, waiver: Waiver) -> InboxItem:
    named = ", ".join(quote_text(ref)[1:-1] for ref in waiver.refs[:REFS_MAX])
    more = f" and {len(waiver.refs) - REFS_MAX} more" if len(waiver.refs) > REFS_MAX else ""
    covered = f" for {named}{more}" if waiver.refs else ""
    renewed = {"code": waiver.code, "refs": waiver.refs, "owner": waiver.owner}
    return InboxItem(
        kind=InboxKind.WAIVER_ENDING,
        ref=waiver.code,
        text=f"The waiver of {waiver.code}{covered} ends on {waiver.due}: {shorten_line(waiver.reason)}",
        since=_get_start_of_notice(waiver.due),
        action=make_action(
            tx,
            "purpose.record",
            {"project": tx.project.name, "waivers": [renewed]},
            needs=["waivers[0].reason", "waivers[0].due"],
        ),
    )


def _get_start_of_notice(due: str) -> str:
    return get_day(subtract_time(f"{get_day(due)}T00:00:00.000Z", NOTICE))


# --- The failing checks that keep a draft of the purpose from being published -----------------------------------------

TEXT_CHARS_MAX = 400


def _build_gate_item(tx: Transaction, blocking: BlockingCheck) -> InboxItem:
    remedy = f". To mend it: {blocking.check.fix}" if blocking.check.fix else ""
    return InboxItem(
        kind=InboxKind.GATE_BLOCKS,
        ref=blocking.check.code,
        text=shorten_line(f"Gate {blocking.gate} blocks the draft: {blocking.check.message}{remedy}", TEXT_CHARS_MAX),
        since=blocking.changed_at,
        # The check names every ref and what to do about it; how a draft becomes right is a person's decision.
        action=make_action(
            tx, "purpose.check", {"project": tx.project.name, "gate": blocking.gate, "version": "draft"}
        ),
    )


# --- Questions that somebody asked and nobody has decided -------------------------------------------------------------

QUESTION_CHARS_MAX = 300


def _build_request_item(tx: Transaction, request: DecisionRequest) -> InboxItem:
    asker, asked_of = describe_actor(tx, request.recorded_by), f" {request.asked_of}" if request.asked_of else ""
    return InboxItem(
        kind=InboxKind.REQUEST,
        ref=request.id,
        text=f"{asker} asks{asked_of}: {shorten_line(request.question, QUESTION_CHARS_MAX)}",
        since=request.recorded_at,
        action=make_action(
            tx,
            "purpose.record",
            {"project": tx.project.name, "decisions": [{"answers": request.id}]},
            needs=["decisions[0].text", "decisions[0].rationale"],
        ),
    )


# --- Required facts without a value -----------------------------------------------------------------------------------


# Values of other kinds are told apart by the kind of the fact.
VALUE_FIELDS = {"enum": "valueEnum", "json": "valueJson"}


def _build_fact_item(tx: Transaction, fact: UnsetFact) -> InboxItem:
    return InboxItem(
        kind=InboxKind.FACT_MISSING,
        ref=fact.pointer,
        text=f"The required fact {shorten_line(fact.pointer)} has no value: {shorten_line(fact.label)}",
        since=fact.since,
        action=make_action(
            tx,
            "context.edit",
            {"runId": fact.run_id, "inputs": [{"pointer": fact.pointer}]},
            needs=[f"inputs[0].{VALUE_FIELDS.get(fact.value_kind, 'value')}"],
        ),
    )


# --- Assumptions past the day by which they were to be reviewed -------------------------------------------------------


def _build_review_item(tx: Transaction, due: DueReview) -> InboxItem:
    owner = f" by {due.owner}" if due.owner else ""
    return InboxItem(
        kind=InboxKind.REVIEW_DUE,
        ref=due.key,
        text=f"Review was due{owner} on {due.review_by}: {shorten_line(due.text)}",
        since=due.review_by,
        action=make_action(
            tx,
            "purpose.record",
            {"project": tx.project.name, "reviews": [{"assumption": due.key}]},
            needs=["reviews[0].status", "reviews[0].reason"],
        ),
    )


# --- Values that agents suggest in place of stronger ones; only a person accepts one ----------------------------------

VALUE_CHARS_MAX = 80
CHANGE_CHARS_MAX = 1_000  # of a value in an item


def _build_suggestion_item(tx: Transaction, suggestion: PendingSuggestion) -> InboxItem:
    value, current = (_format_value(value) for value in (suggestion.value, suggestion.current))
    proposal = "to clear it" if suggestion.value is None else f"{value} ({suggestion.provenance})"
    about = f"{shorten_line(suggestion.about)}, now {current} ({suggestion.current_provenance})"
    item = InboxItem(
        kind=InboxKind.SUGGESTION,
        ref=suggestion.about,
        text=f"{describe_actor(tx, suggestion.created_by)} suggests {proposal} for {about}: accept or reject",
        since=suggestion.created_at,
        action=make_action(tx, "context.edit", {"runId": suggestion.run_id, "accept": [suggestion.id]}),
        alternative=make_action(tx, "context.edit", {"runId": suggestion.run_id, "reject": [suggestion.id]}),
        change=SuggestedChange(
            _shorten_value(suggestion.current),
            suggestion.current_provenance,
            _shorten_value(suggestion.value),
            suggestion.provenance,
        ),
    )
    if suggestion.run_status is RunStatus.COMMITTED:  # the run is final and complete; a draft of it can be decided on
        item.action = make_action(
            tx, "context.create_draft", {"scopeId": tx.project.name, "copyFrom": suggestion.run_id}
        )
        item.alternative = UNSET
    return item


def _format_value(value: Any) -> str:
    return shorten_line(encode(value).decode(), VALUE_CHARS_MAX)


def _shorten_value(value: Any) -> Any:
    text = encode(value).decode()
    return value if len(text) <= CHANGE_CHARS_MAX else shorten_line(text, CHANGE_CHARS_MAX)


# --- The kinds of items: what is read for each, and how an item is made of it -----------------------------------------


class RecordReader(Protocol):
    """Lists records of the current project, oldest first. The list may contain records from before `since`."""

    def __call__(self, tx: Transaction, *, since: str, at_most: int) -> Iterable[Any]: ...


class KindRules(NamedTuple):
    """The rules that make the items of one kind."""

    list_records: RecordReader
    build_item: Callable[[Transaction, Any], InboxItem]
    has_several_per_ref: bool = False  # several items may be about the same ref
    is_cacheable: bool = True  # the items are the same for every member until the project changes or the day ends


def _without_bounds(list_records: Callable[[Transaction], Iterable[Any]]) -> RecordReader:
    """Return a reader that ignores the bounds, because the list is short."""

    def read(tx: Transaction, *, since: str, at_most: int) -> Iterable[Any]:
        return list_records(tx)

    return read


KINDS: Mapping[InboxKind, KindRules] = {
    # What a person may own depends on who asks.
    InboxKind.NO_OWNER: KindRules(_without_bounds(_list_ownerless), _build_ownerless_item, is_cacheable=False),
    InboxKind.GATE_BLOCKS: KindRules(_without_bounds(list_blocking_checks), _build_gate_item),
    # Without the work that depends on a mark, so that the time does not depend on its amount.
    InboxKind.AT_RISK: KindRules(list_marks_since, _build_mark_item),
    InboxKind.REQUEST: KindRules(_without_bounds(list_open_requests), _build_request_item),
    InboxKind.FACT_MISSING: KindRules(list_unset_facts, _build_fact_item),
    InboxKind.SUGGESTION: KindRules(list_pending_suggestions, _build_suggestion_item, has_several_per_ref=True),
    InboxKind.REVIEW_DUE: KindRules(_without_bounds(list_reviews_due), _build_review_item),
    # A claim lapses at any moment, and what to do about it depends on who asks.
    InboxKind.CLAIM_LAPSING: KindRules(list_ending_claims, _build_claim_item, is_cacheable=False),
    InboxKind.WAIVER_ENDING: KindRules(
        _without_bounds(list_ending_waivers), _build_waiver_item, has_several_per_ref=True
    ),
}
RANKS = {kind: rank for rank, kind in enumerate(InboxKind)}


def list_items(tx: Transaction, kind: InboxKind, *, since: str, at_most: int) -> list[InboxItem]:
    """Return the items of a kind in the current project that have waited since the given moment or later, in order."""
    rules = KINDS[kind]
    items = [rules.build_item(tx, record) for record in rules.list_records(tx, since=since, at_most=at_most)]
    return sorted((item for item in items if item.since >= since), key=lambda item: item.since)[:at_most]


# --- Items of the inbox that are the same for every member until the project changes or the day ends ------------------
# A page shows their number, and to find them runs the gates of a draft; so they are kept for the projects read last.

CACHE_KEY = "briefing.inbox"  # the key of the cache in the store's memory
CACHED_PROJECTS_MAX = 32
ITEMS_MAX = 1_000  # of one kind; longer lists are read again
DATE_CHARS = 10


class ProjectState(NamedTuple):
    """The state of a project that determines its items."""

    rev: int
    updated_at: str
    day: str


class KeptItems:
    """A cache of items by project and surface for one state of the project; the least recently used are dropped."""

    def __init__(self, projects_max: int = CACHED_PROJECTS_MAX) -> None:
        self.projects_max = projects_max
        self._kept: OrderedDict[tuple[str, ...], tuple[ProjectState, dict[InboxKind, list[InboxItem]]]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: tuple[str, ...], state: ProjectState) -> dict[InboxKind, list[InboxItem]]:
        """Return the cached lists of a project in a state. The caller may add lists of other kinds to them."""
        with self._lock:
            kept = self._kept.get(key)
            if kept is None or kept[0] != state:
                kept = self._kept[key] = state, {}
            self._kept.move_to_end(key)
            while len(self._kept) > self.projects_max:
                self._kept.popitem(last=False)
            return kept[1]


def read_kept(tx: Transaction, kind: InboxKind, read: Callable[[], list[InboxItem]]) -> list[InboxItem]:
    """Return all items of a kind in the current project, cached until something changes; do not modify them."""
    if not KINDS[kind].is_cacheable:
        return read()
    cache: KeptItems = tx.cache.get(CACHE_KEY) or tx.cache.setdefault(CACHE_KEY, KeptItems())
    surface = type(tx.preferences.vocabulary).__qualname__  # the items name operations as the surface does
    state = ProjectState(tx.project.rev, tx.project.updated_at, tx.now[:DATE_CHARS])
    lists = cache.get((tx.actor.organization, tx.project.id, surface), state)
    if kind not in lists:
        items = read()
        if len(items) > ITEMS_MAX:
            return items
        lists[kind] = items
    return lists[kind]


# --- What waits for a person, in one ranked list with the operation that settles each item ----------------------------

NAME = "briefing.inbox"
LIMIT_MAX = 100
READ_MAX = 5_000  # items of one kind in one project; more than one write can make with the same time
PROJECTS_MAX = 50  # of a list without a project: those that changed last
REF_BYTES_MAX = 120  # of a ref in a cursor
DIGEST_BYTES = 8
BEFORE_ALL_TIMES = ""


class ReadInbox(Struct, forbid_unknown_fields=True):
    """The project (by default all projects of the caller), and the page."""

    project: Name | None = None
    limit: Annotated[int, Meta(ge=1, le=LIMIT_MAX)] = 20
    cursor: Cursor = None


class Inbox(Struct):
    """The waiting items, the most urgent first. `left_out` counts projects that were not read."""

    items: list[InboxItem]
    next_cursor: str | UnsetType = UNSET
    left_out: LeftOut = UNSET


class _Position(NamedTuple):
    """The position of an item in the list, which a cursor encodes."""

    rank: int
    since: str
    ref: bytes
    digest: bytes


_BEFORE_ALL = _Position(-1, BEFORE_ALL_TIMES, b"", b"")


def read_inbox(tx: Transaction, request: ReadInbox) -> Inbox:
    """Return the items that wait for a person in a project, or in all projects of the caller.

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
    """The projects to read, and whether the caller asked for several."""

    projects: list[Project]
    are_several: bool


def _list_visits(tx: Transaction) -> tuple[_Visits, LeftOut]:
    """Return the projects to read, and the number of projects that are left out. An archived project has no items."""
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
    """Return the items after a position, in order: at least `more_than` + 1 of them if there are so many."""
    located_items: list[tuple[_Position, InboxItem]] = []
    for kind, rank in RANKS.items():
        if rank < after.rank:
            continue
        since = after.since if rank == after.rank else BEFORE_ALL_TIMES
        items = chain.from_iterable(_read_kind(tx, visits, kind, since))
        located = [(position, item) for position, item in items if position > after]
        located_items += sorted(located, key=lambda row: row[0])
        if len(located_items) > more_than:
            break
    return located_items


def _read_kind(
    tx: Transaction, visits: _Visits, kind: InboxKind, since: str
) -> Iterator[list[tuple[_Position, InboxItem]]]:
    read = partial(list_items, tx, kind, since=since, at_most=READ_MAX)
    for project in visits.projects:
        if not visits.are_several:
            items = read() if since else read_kept(tx, kind, read)
            yield [(_locate(tx, item), item) for item in items]
            continue
        with _visit(tx, project):
            items = read()
            rows = [(_locate(tx, item), item) for item in items]
        for item in items:
            item.project = project.name
        yield rows


@contextmanager
def _visit(tx: Transaction, project: Project) -> Iterator[None]:
    """Set the current project and its time of reading within a block."""
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

    arguments = item.action.arguments if KINDS[item.kind].has_several_per_ref else {}
    digest = sha256(encode([tx.project.id, item.ref, arguments])).digest()[:DIGEST_BYTES]
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
    http=Route("GET", "/projects/{project}/inbox"),
    other_routes=(Route("GET", "/organization/inbox"),),
)
