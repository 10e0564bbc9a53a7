"""A visit of a page: its actor, its address, its refused form; and the areas that can be visited."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import quote, quote_plus, urlencode

from groundplan.briefing.inbox import Inbox, InboxKind
from groundplan.kernel.access import Permission, allows
from groundplan.kernel.actors import ActorKind
from groundplan.kernel.errors import (
    Conflict,
    Forbidden,
    GroundplanError,
    Invalid,
    NotFound,
    RuleViolated,
    StaleRevision,
    StaleVersion,
    Unauthenticated,
)
from groundplan.kernel.events import parse_position
from groundplan.kernel.principals import read_other_kinds
from groundplan.kernel.projects import ProjectView
from groundplan.purpose.editing.items import StaleItem
from groundplan.session import Session
from groundplan.surfaces.web.forms import BEFORE, Reader, find_line

INBOX_READ = 100  # items of the inbox that a page reads for its number in the rail
# The message after a change offers to undo it, on the page where the change was made.
EVERYWHERE = frozenset({"briefing.undo"})


def get_base(project: str) -> str:
    """Return the path of a project's pages."""
    return f"/p/{quote(project, safe='')}"


def find_place(base: str, slice_: str, ref: str, kind: str = "") -> str:
    """Return the address of an item of a slice. Facts need the kind of the item, because refs differ by kind."""
    match slice_:
        case "work":
            return f"{base}/work?{urlencode({'node': ref})}"
        case "purpose":
            # Decisions and measurements are named by the event that recorded them.
            if parse_position(ref) is not None:
                return f"{base}/history?{urlencode({'until': ref})}"
            if ref[:1] == "v" and ref[1:].isdigit():
                return f"{base}/plan?{urlencode({'version': ref[1:]})}"
            return f"{base}/plan?{urlencode({'key': ref})}#{quote(ref)}"
        case "context":
            if ref.startswith("/") or kind in ("constraint", "source"):
                return f"{base}/facts?{urlencode({'fact' if ref.startswith('/') else kind: ref})}"
            return f"{base}/facts"
        case "knowledge":
            return f"{base}/knowledge?{urlencode({'note': ref})}"
        case "member" | "invitation":
            return f"{base}/members"
    return f"{base}/home"


@dataclass
class Refusal:
    """A refused form: its name, its fields, and the error."""

    form: str
    fields: Mapping[str, str]
    error: GroundplanError
    is_shown: bool = False  # whether the page has the form; else the error is shown below

    def show(self) -> str:
        """Mark the refusal as shown, and return its message."""
        self.is_shown = True
        if self.is_conflict:
            return f"This changed while you were typing; both versions are below ({self.error.message})."
        return self.error.message

    @property
    def at_field(self) -> str:
        """The path of the argument in the error, if there is one: `updates.0.summary`."""
        return str(self.error.details.get("field", "")).replace("[", ".").replace("]", "")

    @property
    def is_conflict(self) -> bool:
        """True if another actor changed the same item meanwhile. The page then shows both versions."""
        return self.error.code in (StaleRevision.code, StaleVersion.code, StaleItem.code)

    def choose(self, name: str, present: Any) -> Any:
        """Return the text of a field after the refusal: the typed text, or the current value if nothing was typed."""
        typed = self.fields.get(name, present)
        is_untouched = self.is_conflict and typed == self.fields.get(f"{BEFORE}{name}")
        return present if is_untouched else typed

    def find_line(self, name: str) -> int | None:
        """Return the line of an outline field that caused the error."""
        return find_line(self.fields.get(name, ""), self.at_field, str(self.error.details.get("ref", "")))


# What a page shows in place of an answer. Any other error is the server's, and no page hides it.
REFUSALS = (Unauthenticated, Forbidden, NotFound, Invalid, Conflict, RuleViolated)


@dataclass
class Visit:
    """One request for a page of a project, by one actor."""

    session: Session
    project: ProjectView
    path: str  # of the page
    query: Mapping[str, str]
    refusal: Refusal | None = None
    answer: Any = None  # of the form that was sent, if it is shown once and never again, such as the secret of a token
    shown_canvas: str = ""  # the digest of the canvas that the page shows already
    _waiting: Inbox | None = None
    _other_kinds: Mapping[str, ActorKind] | None = None

    def call(self, operation: str, /, **arguments: Any) -> Any:
        """Run an operation on the project of the page."""
        return self.session.call(operation, project=self.project.name, **arguments)

    def try_call(self, operation: str, /, **arguments: Any) -> Any:
        """Run an operation; return None if the data does not exist yet."""
        try:
            return self.call(operation, **arguments)
        except GroundplanError as error:
            if error.status != 404:
                raise
            return None

    @property
    def actor(self) -> str:
        """The actor of the visit."""
        return self.session.actor.id if self.session.actor is not None else ""

    # Not `cached_property`: before Python 3.12 it has one lock for all visits, so all pages would wait for one read.
    @property
    def waiting(self) -> Inbox:
        """The first items that wait for a person."""
        if self._waiting is None:
            self._waiting = self.call("briefing.inbox", limit=INBOX_READ)
        return self._waiting

    @property
    def waiting_count(self) -> int:
        """The number of items that wait for a person. All checks that block publishing count as one."""
        checks = sum(item.kind is InboxKind.GATE_BLOCKS for item in self.waiting.items)
        return len(self.waiting.items) - max(checks - 1, 0)

    def who(self, name: str) -> str:
        """Return the name of an actor, with its kind unless it is a person."""
        if self._other_kinds is None:
            self._other_kinds = self.session.store.read(self.session.actor, read_other_kinds)
        kind = self._other_kinds.get(name)
        return name if kind is None else f"{name} ({kind})"

    def link(self, **changes: object) -> str:
        """Return the address of this page with changed or removed parts of the query."""
        query = {name: value for name, value in {**self.query, **changes}.items() if value}
        pairs = [f"{_quote(name)}={_quote(str(value))}" for name, value in query.items()]
        return f"{self.path}?{'&'.join(pairs)}" if pairs else self.path

    def may(self, permission: str) -> bool:
        """Return True if the role of the actor has a permission, so that the page offers only allowed operations."""
        return self.project.archived_at is None and allows(self.project.role, Permission(permission))

    @property
    def is_writer(self) -> bool:
        """True if the actor may change the project at all."""
        return self.may(Permission.PROJECT_WRITE)


def _quote(text: str) -> str:
    """Return an escaped part of a query. Ids need no escaping."""
    return text if text.isalnum() and text.isascii() else quote_plus(text)


class Area(NamedTuple):
    """A part of the project with its own address."""

    path: str
    title: str
    letter: str  # `g` and this letter lead to it; an area without one is not in the rail
    template: str
    read: Callable[[Visit], Mapping[str, Any]]
    operations: frozenset[str] = frozenset()  # that its forms run, beside those of EVERYWHERE
    # Returns the fields of a form with the present revision, if what the form is about is still as its page showed it.
    rebase: Callable[[Session, str, Mapping[str, str]], Mapping[str, str] | None] | None = None
    # Returns the readers of its own fields, by the word after the bar.
    make_readers: Callable[[Session, str], Mapping[str, Reader]] | None = None

    def has_form(self, operation: str) -> bool:
        """Return True if a page of the area may run an operation."""
        return operation in self.operations or operation in EVERYWHERE
