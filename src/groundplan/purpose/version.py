"""A version as it is kept and as callers see it, and the way from what they write to one."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.errors import Conflict, NotFound
from groundplan.kernel.next_steps import NextStep
from groundplan.kernel.optimistic_locking import StaleRevision
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.model import Profile, VersionStatus

sql = load_queries(__file__)

VersionRef = int | Literal["draft", "published"]

DRAFT_LABEL = "draft"


class VersionRow(NamedTuple):
    """A version as it is kept, but for the results of its gates."""

    id: str
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

    number: int
    status: VersionStatus
    label: str
    profile: Profile
    source: int | UnsetType = UNSET
    content_hash: str | UnsetType = UNSET
    published_at: str | UnsetType = UNSET
    published_by: str | UnsetType = UNSET
    context_run: str | UnsetType = UNSET


class NoDraft(Conflict):
    """Only a draft can be edited, and there is none."""

    code = "no_draft"

    def __init__(self, published: int | None, project: str) -> None:
        there = "there is no version yet" if published is None else f"version {published} is published and final"
        begin = NextStep("purpose.draft", "begins one that can be edited", {"project": project})
        super().__init__(there, next_steps=begin, published=published)


def stale_draft(row: VersionRow, expected: int) -> StaleRevision:
    """Return the refusal of a call that saw another state of the draft."""
    return StaleRevision(
        f"version {row.number}", "open it again", current=row.rev, expected=expected, version=row.number
    )


def to_version(row: VersionRow) -> Version:
    """A version as callers see it: what it has not is left out."""
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
    )


def _unset_if_none(value: Any) -> Any:
    return UNSET if value is None else value


def read_versions(tx: Transaction) -> list[VersionRow]:
    """All versions of the project entered, in the order of their numbers."""
    return tx.all(sql.versions, VersionRow, project_id=tx.project.id)


def resolve_version(tx: Transaction, ref: VersionRef | None) -> VersionRow | None:
    """The version that is named; where none is, the draft, else the one published last. None: there is none at all.

    Raises:
        NotFound: there is no such version.
    """
    found = {row.number: row for row in read_versions(tx)}
    draft = next((row for row in found.values() if row.is_draft), None)
    published = max((number for number, row in found.items() if not row.is_draft), default=None)
    match ref:
        case None:
            return draft or (None if published is None else found[published])
        case "draft" if draft is not None:
            return draft
        case "published" if published is not None:
            return found[published]
        case int() if ref in found:
            return found[ref]
    raise missing_version(tx, ref)


def require_version(tx: Transaction, ref: VersionRef | None) -> VersionRow:
    """The version that is named, or the default one, where there must be one.

    Raises:
        NotFound: there is no such version, or none at all.
    """
    row = resolve_version(tx, ref)
    if row is None:
        begin = NextStep("purpose.draft", "begins one", {"project": tx.project.name})
        raise NotFound("version of the purpose", tx.project.name, next_steps=begin)
    return row


def missing_version(tx: Transaction, ref: VersionRef) -> NotFound:
    """The refusal of what leads to no version."""
    project = {"project": tx.project.name}
    steps = (
        NextStep("purpose.versions", "shows those there are", project),
        NextStep("purpose.draft", "begins one", project),
    )
    return NotFound("version", str(ref), next_steps=steps)


def draft_row(tx: Transaction, *, expected_rev: int | None = None) -> VersionRow:
    """The draft of the project entered.

    Raises:
        NoDraft: there is none.
        StaleRevision: it is not as the caller saw it.
    """
    rows = read_versions(tx)
    if not rows or not rows[-1].is_draft:
        raise NoDraft(rows[-1].number if rows else None, tx.project.name)
    row = rows[-1]  # a draft always has the last number
    if expected_rev is not None and expected_rev != row.rev:
        raise stale_draft(row, expected_rev)
    return row


def latest_published(tx: Transaction) -> VersionRow | None:
    """The version published last."""
    return next((row for row in reversed(read_versions(tx)) if not row.is_draft), None)


def current_rev(tx: Transaction) -> int:
    """The rev of the draft, else of the version published last, else 0."""
    rows = read_versions(tx)
    return rows[-1].rev if rows else 0


def versions_on_run(tx: Transaction, run_id: str) -> list[int]:
    """The numbers of the versions that stand on a run of facts."""
    return tx.scalars(sql.versions_on_run, run_id=run_id)
