"""Create, list and revoke tokens.

A secret is in the answer that creates its token, and nowhere else. Whoever revokes a token revokes every token that was
created with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Annotated, ClassVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan.kernel.access import Permission, Role
from groundplan.kernel.actors import Access, ActorKind
from groundplan.kernel.answers import CutLists, LeftOut, Trimming
from groundplan.kernel.audit import KernelOp, changed
from groundplan.kernel.clock import subtract_time
from groundplan.kernel.errors import Forbidden, NextStep
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Effect, OpId, Route, declare
from groundplan.kernel.principals import add_to_organization, find_kind, find_principal
from groundplan.kernel.store.authorize import authorize_project, owns_organization
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.tokens.token import (
    ACTOR_KINDS,
    TokenKind,
    TokenOfOtherKind,
    TokenRow,
    TokenState,
    TokenView,
    load_acting_token,
    load_token,
    view_token,
)
from groundplan.kernel.tokens.token_text import make_secret
from groundplan.kernel.wording import ArgumentPath, invalid_argument

sql = load_queries(__file__)


class CreateToken(Struct, forbid_unknown_fields=True):
    """The actor that the token is for, and the limits of the token."""

    kind: ActorKind = ActorKind.AGENT
    name: Name | None = None
    role: Role | None = None
    projects: Annotated[list[Name], Meta(min_length=1, max_length=100)] | None = None
    expires: Name | None = None
    label: Name | None = None
    trusted: bool = False
    op_id: OpId = None


class CreatedToken(Struct):
    """The new token. `secret` is null in the answer to a repeated request, because it is not stored."""

    token: TokenView
    secret: str | None
    warnings: list[str] | UnsetType = UNSET


class OrganizationOwnerRequired(Forbidden):
    """The actor is not an owner of the organization: a person with open access and without a limited token."""

    code = "organization_owner_required"

    def __init__(self, problem: str) -> None:
        super().__init__(f"{problem}; ask a person who uses the store itself, with open access", permission="owner")


def create_token(tx: Transaction, request: CreateToken) -> CreatedToken:
    """Create a token.

    Raises:
        OrganizationOwnerRequired: the token is for a service or another person, or trusted, and the caller is no owner.
        TokenOfOtherKind: the name belongs to an actor of another kind.
        NotFound: the caller sees no such project.
        Invalid: the name is missing, or `expires` is not a duration.
    """
    user_id = _resolve_user(tx, request)
    projects = {
        project.id: project.name
        for project in (authorize_project(tx, ref, Permission.PROJECT_READ) for ref in request.projects or ())
    }
    parent = _find_parent(tx)
    expires_at = compute_expiry(request.expires, request.kind, tx.now)
    is_cut = bool(parent and parent.expires_at and (expires_at is None or expires_at > parent.expires_at))
    is_new = add_to_organization(tx, user_id, kind=request.kind)
    secret = make_secret()
    # An agent has no more rights than the person who created its token, also after that person has lost some.
    is_sponsored = request.kind is ActorKind.AGENT and tx.actor.access is Access.MEMBERS
    tx.run(
        sql.add_token,
        id=secret.id,
        digest=secret.digest,
        kind=TokenKind(request.kind),
        user_id=user_id,
        access=Access.OPEN if request.trusted else Access.MEMBERS,
        role_max=request.role or (None if request.kind is ActorKind.PERSON else Role.VIEWER),
        projects=to_json_array(sorted(projects)) if projects else None,
        sponsor_id=tx.actor.id if is_sponsored else None,
        label=request.label,
        parent_id=parent.id if parent else None,
        expires_at=parent.expires_at if parent and is_cut else expires_at,
        renewable_until=None,
    )
    view = view_token(tx.one(sql.token, TokenRow, id=secret.id), tx.now)
    record_token_event(tx, KernelOp.TOKEN_CREATED, view, is_new=is_new)
    return CreatedToken(view, secret.text, list(_list_warnings(tx, view, projects, is_cut=is_cut)) or UNSET)


def _resolve_user(tx: Transaction, request: CreateToken) -> str:
    """Return the id of the actor that the token is for."""
    if request.kind is ActorKind.PERSON:
        name = request.name or tx.actor.id
    elif request.name is None:
        raise invalid_argument(("name",), f"is missing; say which {request.kind} the token is for")
    else:
        name = request.name
    user_id = find_principal(tx, name) or name
    is_own = request.kind is ActorKind.PERSON and user_id == tx.actor.id
    if not owns_organization(tx.actor):
        if request.trusted:
            raise OrganizationOwnerRequired("a trusted token reaches every project")
        if not is_own and request.kind is not ActorKind.AGENT:
            raise OrganizationOwnerRequired(f"you may create tokens for yourself and for agents, not for {name!r}")
    kind = find_kind(tx, user_id)
    if kind not in (None, request.kind):
        raise TokenOfOtherKind(
            f"{name!r} is of kind {kind}, and this token would be of kind {request.kind}; choose another name",
            name=name,
            kind=kind,
        )
    return user_id


def _find_parent(tx: Transaction) -> TokenRow | None:
    """Return the parent token, with which a new token ends: the caller's token, or that of the caller's login."""
    row = load_acting_token(tx)
    while row is not None and row.kind is TokenKind.SESSION:
        row = None if row.parent_id is None else tx.one(sql.token, TokenRow, id=row.parent_id)
    return row


def record_token_event(tx: Transaction, op: KernelOp, view: TokenView, *, is_new: bool = False) -> None:
    """Record the creation of a token or a login."""
    fields = ("kind", "name", "role", "projects", "trusted", "label", "expires_at")
    changes = [changed(field, None, getattr(view, field)) for field in fields if getattr(view, field)]
    if is_new:
        changes.append(changed("in_organization", False, True))
    tx.record(op, view.id, *changes)


def _list_warnings(tx: Transaction, view: TokenView, projects: Mapping[str, str], *, is_cut: bool) -> Iterator[str]:
    if is_cut:
        yield f"the token expires with the one that it was created with, at {view.expires_at}"
    if view.expires_at is None:
        yield "the token never expires; revoke it when it is no longer needed"
    if view.trusted:
        return
    joined = set(tx.scalars(sql.projects_of_actor, user_id=view.name))
    missing = [name for project_id, name in projects.items() if project_id not in joined]
    if missing or not joined:
        example = {"scopeId": missing[0] if missing else "PROJECT", "userId": view.name, "role": view.role or "viewer"}
        step = NextStep("member.add", "adds it", {**example, "kind": view.kind.value})
        where = f"the project {missing[0]!r}" if missing else "any project that you see"
        yield f"{view.name} is not a member of {where}, so the token opens nothing there; {tx.describe(step)}"


def _forget_secret(created: CreatedToken) -> CreatedToken:
    lost = "the secret was shown once and is not stored; if it is lost, revoke the token and create another"
    return msgspec.structs.replace(created, secret=None, warnings=[lost])


CREATE = declare(
    create_token,
    name="token.create",
    summary="Create a token for yourself, an agent or a service; its secret is shown once.",
    permission=Permission.TOKEN_CREATE,
    effect=Effect.WRITE,
    redact=_forget_secret,
    http=Route("POST", "/tokens"),
)


# --- When it expires: a duration such as `30d`, or `never` ------------------------------------------------------------

NEVER = "never"
# A person's own token can do most, and a person can make another one; an agent runs unattended.
LIFETIMES = {
    ActorKind.PERSON: timedelta(days=30),
    ActorKind.AGENT: timedelta(days=90),
    ActorKind.SERVICE: timedelta(days=90),
}
DAYS_MAX = 3650

_DURATION = re.compile(r"([1-9]\d{0,4})([hdw])")
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def compute_expiry(text: str | None, kind: ActorKind, now: str) -> str | None:
    """Return the expiry time of a token; None if it never expires. Without a text, the default of its kind is used."""
    if text == NEVER:
        return None
    lifetime = LIFETIMES[kind] if text is None else _parse_duration(text)
    return subtract_time(now, -lifetime)


def _parse_duration(text: str) -> timedelta:
    path: ArgumentPath = ("expires",)
    match = _DURATION.fullmatch(text)
    if match is None:
        raise invalid_argument(path, f"must be a number of hours, days or weeks, such as 12h, 30d or 8w, or {NEVER}")
    lifetime = int(match[1]) * _UNITS[match[2]]
    if lifetime > timedelta(days=DAYS_MAX):
        raise invalid_argument(path, f"is more than {DAYS_MAX} days; write {NEVER} for a token that does not expire")
    return lifetime


# --- List -------------------------------------------------------------------------------------------------------------


class ListTokens(Struct, forbid_unknown_fields=True):
    """The filter of a token list."""

    ended: bool = False


class Tokens(Struct):
    """Tokens, newest first."""

    trimming: ClassVar[Trimming] = Trimming(CutLists(("tokens",)))

    tokens: list[TokenView]
    left_out: LeftOut = UNSET


def list_tokens(tx: Transaction, request: ListTokens) -> Tokens:
    """Return the tokens that are for the caller or that the caller created; an owner of the organization gets all.

    Expired and revoked tokens only on request.
    """
    rows = tx.all(sql.tokens if owns_organization(tx.actor) else sql.own_tokens, TokenRow)
    views = [view_token(row, tx.now) for row in rows]
    shown = [view for view in views if request.ended or view.state is TokenState.ACTIVE]
    return Tokens(sorted(shown, key=lambda view: (view.created_at, view.id), reverse=True))


LIST = declare(
    list_tokens,
    name="token.list",
    summary="List your tokens; expired and revoked ones too when asked.",
    permission=Permission.TOKEN_LIST,
    effect=Effect.READ,
    http=Route("GET", "/tokens"),
)


# --- Revoke -----------------------------------------------------------------------------------------------------------


class RevokeToken(Struct, forbid_unknown_fields=True):
    """The token to revoke."""

    id: Name
    op_id: OpId = None


class RevokedToken(Struct):
    """The revoked token, and the ids of all tokens that ended with it."""

    token: TokenView
    revoked: list[str]


def revoke_token(tx: Transaction, request: RevokeToken) -> RevokedToken:
    """Revoke a token, which ends its use immediately. Revoking it again changes nothing.

    Raises:
        NotFound: there is no such token, or it is somebody else's.
        OrganizationOwnerRequired: the caller once created it for another person, and is no owner any more.
    """
    row = load_token(tx, request.id)
    is_of_other_person = ACTOR_KINDS[row.kind] is ActorKind.PERSON and row.actor_id != tx.actor.id
    if is_of_other_person and not owns_organization(tx.actor):
        # The caller does not see the tokens that were created with it, so these would stay.
        raise OrganizationOwnerRequired(f"the token is for {row.actor_id!r}")
    revoked = [] if row.revoked_at else revoke_with_children(tx, row)
    return RevokedToken(view_token(tx.one(sql.token, TokenRow, id=row.id), tx.now), revoked)


def revoke_with_children(tx: Transaction, row: TokenRow) -> list[str]:
    """Revoke a token and all tokens that were created with it, and return their ids."""
    ids = [row.id]
    latest = ids
    while latest := tx.scalars(sql.children_of_tokens, ids=to_json_array(latest)):
        ids = [*ids, *latest]
    tx.run(sql.revoke_tokens, ids=to_json_array(ids))
    op = KernelOp.SESSION_CLOSED if row.kind is TokenKind.SESSION else KernelOp.TOKEN_REVOKED
    for token_id in ids:
        tx.record(op, token_id, changed("revoked_at", None, tx.now))
    return ids


def revoke_tokens_of(tx: Transaction, user_id: str) -> list[str]:
    """Revoke the tokens and logins of a person and of the person's agents, and return their ids."""
    revoked: dict[str, None] = {}
    for row in tx.all(sql.tokens_of_person, TokenRow, user_id=user_id):
        if row.id not in revoked:
            revoked.update(dict.fromkeys(revoke_with_children(tx, row)))
    return list(revoked)


REVOKE = declare(
    revoke_token,
    name="token.revoke",
    summary="Revoke a token, and every token that was created with it.",
    permission=Permission.TOKEN_REVOKE,
    effect=Effect.DESTROY,
    idempotent=True,
    http=Route("DELETE", "/tokens/{id}"),
)
