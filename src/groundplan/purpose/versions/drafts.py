"""Create the draft of a project, empty or as a copy of a published version, and discard it.

A copy has all fields and stable keys of its original, and new row ids, each derived from its version and the id of its
original: so the history needs to record only the two versions to identify every row. The profile of a draft is never
lighter than the policy `profile_min` of the project allows. The keys and revisions of a discarded draft are never
reused; the next draft takes its number.
"""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID, uuid5

import msgspec
from msgspec import Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.audit import changed
from groundplan.kernel.errors import Conflict, NextStep, RuleViolated
from groundplan.kernel.ids import new_uuid
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Effect, Group, OpId, Route, Tool, declare
from groundplan.kernel.store.authorize import refuse_foreign_draft
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import invalid_argument
from groundplan.policies import get_policies
from groundplan.purpose.content import get_last_discarded_rev, read_verified_content, store_discarded_rev
from groundplan.purpose.editing.draft import sql as draft_sql
from groundplan.purpose.model import Content, Profile
from groundplan.purpose.tables import Op
from groundplan.purpose.versions.versions import (
    DRAFT_LABEL,
    Version,
    VersionRef,
    VersionRow,
    find_version,
    get_current_rev,
    load_draft,
    missing_version,
    read_versions,
    to_version,
)

sql = load_queries(__file__)

_LIGHTEST_FIRST = (Profile.LIGHT, Profile.STANDARD, Profile.STRICT)


class ProfileTooLight(RuleViolated):
    """The profile of a draft is lighter than the project allows."""

    code = "profile_too_light"

    def __init__(self, profile: Profile, least: Profile, project: str, *, has_draft: bool) -> None:
        begin = NextStep("purpose.draft", f"with profile {least} begins one", {"project": project, "profile": least})
        discard = NextStep("purpose.discard", "removes this one first", {"project": project})
        super().__init__(
            f"the profile {profile} is lighter than {least}, the lightest that policy profile_min of the project "
            "allows; a draft keeps the profile it begins with",
            next_steps=(
                *((discard,) if has_draft else ()),
                begin,
                NextStep(
                    "work.open", "with policies lets an owner change profile_min", {"project": project}, ("policies",)
                ),
            ),
            profile=profile,
            profile_min=least,
        )


def choose_profile(tx: Transaction, requested: Profile | None, origin: VersionRow | None) -> Profile:
    """Return the profile of a new draft: the requested one, else that of its origin, but at least the allowed one."""
    inherited = origin.profile if origin else Profile.STANDARD
    profile = requested or max(inherited, get_least_profile(tx), key=_LIGHTEST_FIRST.index)
    refuse_light_profile(tx, profile, has_draft=False)
    return profile


def refuse_light_profile(tx: Transaction, profile: Profile, *, has_draft: bool) -> None:
    """Raise ProfileTooLight if the profile of a draft is lighter than the project allows."""
    least = get_least_profile(tx)
    if is_lighter(profile, least):
        raise ProfileTooLight(profile, least, tx.project.name, has_draft=has_draft)


def get_least_profile(tx: Transaction) -> Profile:
    """Return the lightest profile that the project allows."""
    return Profile(get_policies(tx).profile_min)


def is_lighter(profile: Profile, least: Profile) -> bool:
    """Return True if a profile is lighter than another."""
    return _LIGHTEST_FIRST.index(profile) < _LIGHTEST_FIRST.index(least)


def clone(tx: Transaction, content: Content, version_id: str) -> None:
    """Copy content into an empty version."""
    namespace = UUID(version_id)
    ids = {"project_id": tx.project.id, "version_id": version_id}

    def copy_row(row: Any) -> dict[str, Any]:
        return {**msgspec.structs.asdict(row), **ids, "id": str(uuid5(namespace, row.id))}

    nodes = {key: copy_row(node) for key, node in content.nodes.items()}
    for row in nodes.values():
        row["metadata"] = msgspec.json.encode(row["metadata"]).decode()
    edges = {edge.name: copy_row(edge) for edge in content.edges}
    for name, row in edges.items():
        row["source_node_id"] = nodes[name.source]["id"]
        row["target_node_id"] = nodes[name.target]["id"]
    on_nodes, on_edges = [], []
    for assumption in content.assumptions.values():
        row = copy_row(assumption)
        if assumption.node is not None:
            on_nodes.append({**row, "on_id": nodes[assumption.node]["id"]})
        elif assumption.edge is not None:
            on_edges.append({**row, "on_id": edges[assumption.edge]["id"]})
    indicators = [
        {**copy_row(indicator), "node_id": nodes[indicator.node]["id"]} for indicator in content.indicators.values()
    ]
    tx.run_many(draft_sql.add_node, nodes.values())
    tx.run_many(draft_sql.add_edge, edges.values())
    tx.run_many(draft_sql.add_assumption, on_nodes)
    tx.run_many(draft_sql.add_edge_assumption, on_edges)
    tx.run_many(draft_sql.add_indicator, indicators)


class DraftExists(Conflict):
    """The project already has a draft, and only one is allowed."""

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
    """The published version to copy (`from`, by default the latest), and the profile of the draft."""

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
    """Return all versions of the project. Raise DraftExists if one of them is a draft."""
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
    """Return the published version to copy, or None if there is none. `rows` has no draft."""
    if source is None:
        return rows[-1] if rows else None
    if str(source).casefold() == DRAFT_LABEL:
        raise invalid_argument(("from",), "must be a published version: a number, an id, or 'published'")
    origin = find_version(rows, source)
    if origin is None:
        raise missing_version(tx, source)
    return origin


BEGIN = declare(
    begin_draft,
    name="purpose.draft",
    summary="Create a draft as a copy of the latest published version, or of `from`.",
    permission=Permission.PURPOSE_WRITE,
    effect=Effect.WRITE,
    tool=Tool("toc_version", Group.PURPOSE, "draft"),
    http=Route(
        "POST", "/projects/{project}/purpose/draft", location="/projects/{project}/purpose/versions/{version.number}"
    ),
)


class DiscardDraft(Struct, forbid_unknown_fields=True):
    """The request to discard the draft of a project."""

    project: Name
    expected_rev: int | None = None
    lean: bool | None = None
    op_id: OpId = None


class DiscardedDraft(Struct):
    """The number of the discarded draft, and the revision of the latest remaining version."""

    bookkeeping: ClassVar[frozenset[str]] = frozenset()

    discarded: int
    rev: int


def discard(tx: Transaction, request: DiscardDraft) -> DiscardedDraft:
    """Remove the draft and all its content.

    Raises:
        NoDraft: the project has no draft.
        StaleRevision: the draft is not at `expected_rev`.
        AgentNotAllowed: the actor is an agent without the role for it, and others have written to the draft.
    """
    row = load_draft(tx, expected_rev=request.expected_rev)
    refuse_foreign_draft(tx, Permission.PURPOSE_DISCARD, tx.scalar(sql.sole_writer, version_id=row.id))
    for query in (
        sql.remove_indicators,
        sql.remove_edge_assumptions,
        sql.remove_assumptions,
        sql.remove_edges,
        sql.remove_nodes,
        sql.remove_version,
    ):
        tx.run(query, version_id=row.id)
    store_discarded_rev(tx, row.rev)
    tx.record(Op.DISCARDED, f"v{row.number}", changed("status", row.status, None), changed("id", row.id, None))
    return DiscardedDraft(row.number, get_current_rev(tx))


DISCARD = declare(
    discard,
    name="purpose.discard",
    summary="Remove the draft.",
    permission=Permission.PURPOSE_DISCARD,
    effect=Effect.DESTROY,
    tool=Tool("toc_version", Group.PURPOSE, "discard"),
    http=Route("DELETE", "/projects/{project}/purpose/draft"),
)
