"""Begin a draft: empty, or as a published version is, with rows of its own."""

from __future__ import annotations

from msgspec import Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.audit import changed
from groundplan.kernel.errors import Conflict
from groundplan.kernel.ids import new_uuid
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.next_steps import NextStep
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Tool
from groundplan.kernel.operations.requests import OpId
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import invalid_argument
from groundplan.purpose.content import read_verified_content
from groundplan.purpose.events import Op
from groundplan.purpose.keys import last_discarded_rev
from groundplan.purpose.model import Profile
from groundplan.purpose.version import (
    Version,
    VersionRef,
    VersionRow,
    draft_row,
    missing_version,
    read_versions,
    to_version,
)
from groundplan.purpose.versions.cloning import clone

sql = load_queries(__file__)


class DraftExists(Conflict):
    """A project has one draft at a time."""

    code = "draft_exists"

    def __init__(self, number: int, project: str) -> None:
        steps = [
            NextStep(operation, effect, {"project": project})
            for operation, effect in (
                ("purpose.edit", "changes it"),
                ("purpose.publish", "makes it final"),
                ("purpose.discard", "removes it"),
            )
        ]
        super().__init__(f"version {number} is a draft already", next_steps=steps, number=number)


class BeginDraft(Struct, rename={"source": "from"}, forbid_unknown_fields=True):
    """Where the draft begins: `from` a published version, of which the one published last is the default."""

    project: Name
    source: VersionRef | None = None
    profile: Profile | None = None
    op_id: OpId = None


class OneVersion(Struct):
    """A version, and how often it was written to."""

    version: Version
    rev: int


def begin_draft(tx: Transaction, request: BeginDraft) -> OneVersion:
    """Begin a draft with everything that a published version has, or with nothing where none is.

    Raises:
        DraftExists: there is one already.
        Invalid: it is to begin from a draft.
        NotFound: there is no such version.
        ContentAltered: the version is not what was published.
    """
    rows = rows_without_draft(tx)
    origin = _origin(tx, rows, request.source)
    profile = request.profile or (origin.profile if origin else Profile.STANDARD)
    row = add_draft(tx, rows, origin, profile)
    return OneVersion(to_version(row), row.rev)


def rows_without_draft(tx: Transaction) -> list[VersionRow]:
    """All versions of the project entered, of which none is a draft.

    Raises:
        DraftExists: one is.
    """
    rows = read_versions(tx)
    if rows and rows[-1].is_draft:
        raise DraftExists(rows[-1].number, tx.project.name)
    return rows


def add_draft(tx: Transaction, rows: list[VersionRow], origin: VersionRow | None, profile: Profile) -> VersionRow:
    """A new draft behind published versions, with everything that one of them has, or empty."""
    version_id = new_uuid()
    # Behind every revision that a draft of this project has had, so that who expects one never means another draft.
    tx.run(
        sql.add_version,
        project_id=tx.project.id,
        id=version_id,
        number=len(rows) + 1,
        source=origin and origin.number,
        profile=profile.value,
        rev=1 + max([last_discarded_rev(tx), *(row.rev for row in rows)]),
    )
    changes = [changed("id", None, version_id), changed("profile", None, profile)]
    if origin is not None:
        clone(tx, read_verified_content(tx, origin), version_id)
        changes.append(changed("source", None, origin.number))
    tx.record(Op.DRAFT_CREATED, f"v{len(rows) + 1}", *changes)
    return draft_row(tx)


def _origin(tx: Transaction, rows: list[VersionRow], source: VersionRef | None) -> VersionRow | None:
    """The version to begin from, all of them being published."""
    match source:
        case None:
            return rows[-1] if rows else None
        case "draft":
            raise invalid_argument(("from",), "must be a published version: its number, or 'published'")
        case "published" if rows:
            return rows[-1]
        case int() if 1 <= source <= len(rows):
            return rows[source - 1]
    raise missing_version(tx, source)


OPERATION = Operation(
    name="purpose.draft",
    summary="Begin a draft, as the version published last is, or as `from` is.",
    permission=Permission.PURPOSE_WRITE,
    effect=Effect.WRITE,
    input=BeginDraft,
    output=OneVersion,
    handler=begin_draft,
    project=lambda _tx, request: request.project,
    tool=Tool("toc_version", Group.PURPOSE, "draft"),
    command=Command(("purpose", "draft"), names={"source": "from"}),
)
