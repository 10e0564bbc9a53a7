"""Versions as the store has them and as callers see them, their list, and the resolution of version refs."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, NamedTuple

from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import LeftOut
from groundplan.kernel.errors import Conflict, NextStep, NotFound, StaleRevision
from groundplan.kernel.ids import parse_uuid
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Effect, Group, Route, Tool, declare
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.model import Profile, VersionStatus

sql = load_queries(__file__)

VersionRef = int | Annotated[str, Meta(min_length=1, max_length=36)]  # a number, `draft`, `published`, or an id

DRAFT_LABEL, PUBLISHED_WORD = "draft", "published"


class VersionRow(NamedTuple):
    """A version as stored, without the results of its gates."""

    id: str
    project_id: str
    number: int
    status: VersionStatus
    label: str
    source: int | None
    profile: Profile
    rev: int
    content_hash: str | None
    published_at: str | None
    published_by: str | None
    published_rev: int | None
    context_run: str | None

    @property
    def is_draft(self) -> bool:
        return self.status is VersionStatus.DRAFT


class Version(Struct):
    """A version as callers see it."""

    bookkeeping: ClassVar[frozenset[str]] = frozenset({"id", "project_id", "content_hash"})

    number: int
    status: VersionStatus
    label: str
    profile: Profile
    source: int | UnsetType = UNSET
    content_hash: str | UnsetType = UNSET
    published_at: str | UnsetType = UNSET
    published_by: str | UnsetType = UNSET
    context_run: str | UnsetType = UNSET
    id: str | UnsetType = UNSET
    project_id: str | UnsetType = UNSET


class NoDraft(Conflict):
    """The project has no draft, and only a draft can be edited."""

    code = "no_draft"

    def __init__(self, published: int | None, project: str) -> None:
        problem = "there is no version yet" if published is None else f"version {published} is published and final"
        begin = NextStep("purpose.draft", "creates a draft to edit", {"project": project})
        super().__init__(problem, next_steps=begin, published=published)


def stale_draft(row: VersionRow, expected: int) -> StaleRevision:
    """Return the error for a call that expected another revision of the draft."""
    return StaleRevision(
        f"version {row.number}", "open it again", current=row.rev, expected=expected, version=row.number
    )


def to_version(row: VersionRow) -> Version:
    """Convert a stored version to the view for callers, without the fields that are null."""
    return Version(
        row.number,
        row.status,
        row.label,
        row.profile,
        _unset_if_none(row.source),
        _unset_if_none(row.content_hash),
        _unset_if_none(row.published_at),
        _unset_if_none(row.published_by),
        _unset_if_none(row.context_run),
        row.id,
        row.project_id,
    )


def _unset_if_none(value: Any) -> Any:
    return UNSET if value is None else value


def read_versions(tx: Transaction) -> list[VersionRow]:
    """Return all versions of the project, by number."""
    return tx.all(sql.versions, VersionRow, project_id=tx.project.id)


def resolve_version(tx: Transaction, ref: VersionRef | None) -> VersionRow | None:
    """Return the version for a ref, by default the draft, else the latest published; None if there is none."""
    rows = read_versions(tx)
    if ref is None:
        return rows[-1] if rows else None  # a draft always has the last number
    row = find_version(rows, ref)
    if row is None:
        raise missing_version(tx, ref)
    return row


def find_version(rows: list[VersionRow], ref: VersionRef) -> VersionRow | None:
    """Return the version for a ref; None if there is none."""
    word = str(ref).casefold()
    if word in (DRAFT_LABEL, PUBLISHED_WORD):
        return next((row for row in reversed(rows) if row.is_draft == (word == DRAFT_LABEL)), None)
    id_ = parse_uuid(word)
    return next((row for row in rows if word == str(row.number) or row.id == id_), None)


def require_version(tx: Transaction, ref: VersionRef | None) -> VersionRow:
    """Return the version for a ref, or the default version. Raise an error if there is none."""
    row = resolve_version(tx, ref)
    if row is None:
        begin = NextStep("purpose.draft", "creates one", {"project": tx.project.name})
        raise NotFound("version of the purpose", tx.project.name, next_steps=begin)
    return row


def missing_version(tx: Transaction, ref: VersionRef) -> NotFound:
    """Return the error for a ref that matches no version."""
    project = {"project": tx.project.name}
    steps = (
        NextStep("purpose.versions", "lists the versions", project),
        NextStep("purpose.draft", "creates one", project),
    )
    return NotFound("version", str(ref), next_steps=steps)


def load_draft(tx: Transaction, *, expected_rev: int | None = None) -> VersionRow:
    """Return the draft of the project."""
    rows = read_versions(tx)
    if not rows or not rows[-1].is_draft:
        raise NoDraft(rows[-1].number if rows else None, tx.project.name)
    row = rows[-1]  # a draft always has the last number
    if expected_rev is not None and expected_rev != row.rev:
        raise stale_draft(row, expected_rev)
    return row


def find_latest_published(tx: Transaction) -> VersionRow | None:
    """Return the latest published version."""
    return next((row for row in reversed(read_versions(tx)) if not row.is_draft), None)


def get_current_rev(tx: Transaction) -> int:
    """Return the revision of the draft, else of the latest published version, else 0."""
    rows = read_versions(tx)
    return rows[-1].rev if rows else 0


def list_versions_on_run(tx: Transaction, run_id: str) -> list[int]:
    """Return the numbers of the versions that rest on a run of facts."""
    return tx.scalars(sql.versions_on_run, run_id=run_id)


class ListVersions(Struct, forbid_unknown_fields=True):
    """The project whose versions to list."""

    project: Name
    lean: bool | None = None


class Versions(Struct):
    """The versions of a project, by number."""

    bookkeeping: ClassVar[frozenset[str]] = frozenset()

    versions: list[Version]
    left_out: LeftOut = UNSET


def list_versions(tx: Transaction, _request: ListVersions) -> Versions:
    """Return all versions, or the latest ones that fit into the answer."""
    latest_first = [to_version(row) for row in reversed(read_versions(tx))]
    kept = tx.budget.reserve(Versions([])).take_rows(latest_first)
    missing = len(latest_first) - len(kept)
    return Versions(kept[::-1], {"versions": missing} if missing else UNSET)


LIST = declare(
    list_versions,
    name="purpose.versions",
    summary="List the versions.",
    permission=Permission.PURPOSE_READ,
    effect=Effect.READ,
    tool=Tool("toc_version", Group.PURPOSE, "list"),
    http=Route("GET", "/projects/{project}/purpose/versions"),
)
