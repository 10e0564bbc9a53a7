"""Create a draft, empty or as a copy of a published version."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.audit import changed
from groundplan.kernel.errors import Conflict, NextStep
from groundplan.kernel.ids import new_uuid
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, Group, OpId, Route, Tool, declare
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import invalid_argument
from groundplan.purpose.content import read_verified_content
from groundplan.purpose.events import Op
from groundplan.purpose.keys import get_last_discarded_rev
from groundplan.purpose.model import Profile
from groundplan.purpose.version import (
    Version,
    VersionRef,
    VersionRow,
    load_draft,
    missing_version,
    read_versions,
    to_version,
)
from groundplan.purpose.versions.cloning import clone
from groundplan.purpose.versions.required_profile import choose_profile

sql = load_queries(__file__)


class DraftExists(Conflict):
    """The project already has a draft; there is at most one."""

    code = "draft_exists"

    def __init__(self, number: int, project: str) -> None:
        steps = [
            NextStep(operation, effect, {"project": project})
            for operation, effect in (
                ("purpose.edit", "changes it"),
                ("purpose.publish", "publishes it"),
                ("purpose.discard", "removes it"),
            )
        ]
        super().__init__(f"the project already has a draft, version {number}", next_steps=steps, number=number)


class BeginDraft(Struct, rename={"source": "from"}, forbid_unknown_fields=True):
    """The published version to copy (`from`; by default the latest), and the profile of the draft."""

    project: Name
    source: VersionRef | None = None
    profile: Profile | None = None
    lean: bool | None = None
    op_id: OpId = None


class OneVersion(Struct):
    """A version and its revision."""

    bookkeeping: ClassVar[frozenset[str]] = frozenset()

    version: Version
    rev: int


def begin_draft(tx: Transaction, request: BeginDraft) -> OneVersion:
    """Create a draft as a copy of a published version, or empty if none is published.

    Raises:
        DraftExists: the project already has a draft.
        Invalid: `from` is a draft.
        NotFound: there is no such version.
        ProfileTooLight: the profile is lighter than the project allows.
        ContentAltered: the content of the published version does not match its hash.
    """
    rows = load_versions_without_draft(tx)
    origin = _resolve_origin(tx, rows, request.source)
    row = add_draft(tx, rows, origin, choose_profile(tx, request.profile, origin))
    return OneVersion(to_version(row), row.rev)


def load_versions_without_draft(tx: Transaction) -> list[VersionRow]:
    """Return all versions of the project, and raise an error if one of them is a draft.

    Raises:
        DraftExists: the project already has a draft.
    """
    rows = read_versions(tx)
    if rows and rows[-1].is_draft:
        raise DraftExists(rows[-1].number, tx.project.name)
    return rows


def add_draft(tx: Transaction, rows: list[VersionRow], origin: VersionRow | None, profile: Profile) -> VersionRow:
    """Add a draft after the published versions, as a copy of `origin`, or empty."""
    version_id = new_uuid()
    # Above every revision that a draft of this project has had, so an expected revision never matches another draft.
    tx.run(
        sql.add_version,
        project_id=tx.project.id,
        id=version_id,
        number=len(rows) + 1,
        source=origin and origin.number,
        profile=profile.value,
        rev=1 + max([get_last_discarded_rev(tx), *(row.rev for row in rows)]),
    )
    changes = [changed("id", None, version_id), changed("profile", None, profile)]
    if origin is not None:
        clone(tx, read_verified_content(tx, origin), version_id)
        changes.append(changed("source", None, origin.number))
    tx.record(Op.DRAFT_CREATED, f"v{len(rows) + 1}", *changes)
    return load_draft(tx)


def _resolve_origin(tx: Transaction, rows: list[VersionRow], source: VersionRef | None) -> VersionRow | None:
    """Return the published version to copy, or None if there is none."""
    match source:
        case None:
            return rows[-1] if rows else None
        case "draft":
            raise invalid_argument(("from",), "must be a published version: a number, or 'published'")
        case "published" if rows:
            return rows[-1]
        case int() if 1 <= source <= len(rows):
            return rows[source - 1]
    raise missing_version(tx, source)


OPERATION = declare(
    begin_draft,
    name="purpose.draft",
    summary="Create a draft as a copy of the latest published version, or of `from`.",
    permission=Permission.PURPOSE_WRITE,
    effect=Effect.WRITE,
    tool=Tool("toc_version", Group.PURPOSE, "draft"),
    command=Command(("purpose", "draft"), names={"source": "from"}),
    http=Route(
        "POST", "/projects/{project}/purpose/draft", location="/projects/{project}/purpose/versions/{version.number}"
    ),
)
