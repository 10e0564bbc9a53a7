"""The members of the organization: list, add and remove them, and unlink their accounts.

Whoever is removed or leaves loses all projects, tokens, logins and invitations. What they did stays in the history.
Live streams notice it with the revision of the organization.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan.kernel.access import OrganizationRole, Permission
from groundplan.kernel.actors import ActorKind
from groundplan.kernel.audit import EVENT_FORMAT, KernelOp, changed
from groundplan.kernel.clock import JUMP_MIN, subtract_time
from groundplan.kernel.cursors import Cursor, read_name_page
from groundplan.kernel.errors import NotFound, RuleViolated
from groundplan.kernel.identities.invitation import (
    ExpectedPerson,
    InvitationView,
    find_expected_person,
    invite_person,
    revoke_invitations_of,
    unbind_accounts,
)
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Effect, OpId, Route, declare
from groundplan.kernel.organizations.organization import PersonView
from groundplan.kernel.principals import add_to_organization, find_principal
from groundplan.kernel.store.checkup import Finding, fail, ok, warn
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.tokens.operations import revoke_tokens_of

NAME = "organization.members"
LIMIT = 200
LIMIT_MAX = 1000

sql = load_queries(__file__)


class ListPeople(Struct, forbid_unknown_fields=True):
    """The page of the list."""

    limit: Annotated[int, Meta(ge=1, le=LIMIT_MAX)] = LIMIT
    cursor: Cursor = None


class People(Struct):
    """Members of the organization ordered by name, and the cursor of the next page if there are more."""

    members: list[PersonView]
    next_cursor: str | UnsetType = UNSET


def list_people(tx: Transaction, request: ListPeople) -> People:
    """Return one page of the members of the organization.

    Raises:
        InvalidCursor: the cursor belongs to another list.
    """
    return People(
        *read_name_page(
            tx,
            NAME,
            request.cursor,
            lambda after, at_most: tx.all(sql.people, PersonView, after=after, at_most=at_most),
            lambda person: person.name,
            limit=request.limit,
        )
    )


LIST = declare(
    list_people,
    name=NAME,
    summary="List the members of your organization.",
    permission=Permission.ORGANIZATION_READ,
    effect=Effect.READ,
    http=Route("GET", "/organization/members"),
)


# --- Add, or change a role, or expect under an e-mail address ---------------------------------------------------------


class AddPerson(Struct, forbid_unknown_fields=True):
    """The person, agent or service to add, with an address if the name is not one."""

    name: Name
    role: OrganizationRole | None = None
    kind: ActorKind = ActorKind.PERSON
    email: Name | None = None
    op_id: OpId = None


class OnePerson(Struct):
    """The member after the change, and the invitation if one was made."""

    member: PersonView
    invitation: InvitationView | UnsetType = UNSET


class NotAPerson(RuleViolated):
    """The actor is not a person, so it cannot administer an organization or have an account."""

    code = "not_a_person"


def add_person(tx: Transaction, request: AddPerson) -> OnePerson:
    """Add a member to the organization, or change the role of one.

    Raises:
        NotAPerson: an agent or a service cannot be an administrator or have an address.
        AddressInUse: the address stands for another person.
        Invalid: the address is malformed.
    """
    person = find_expected_person(tx, request.name, kind=request.kind, email=request.email)
    before = tx.one_or_none(sql.person, PersonView, user_id=person.id)
    kind = before.kind if before else request.kind
    if kind is not ActorKind.PERSON and (person.email or request.role is OrganizationRole.ADMINISTRATOR):
        raise NotAPerson(
            f"{person.id!r} is of kind {kind}; only a person administers an organization or has an address"
        )
    _join(tx, person, before, request)
    invitation = invite_person(tx, person)
    return OnePerson(tx.one(sql.person, PersonView, user_id=person.id), invitation)


def _join(tx: Transaction, person: ExpectedPerson, before: PersonView | None, request: AddPerson) -> None:
    role = request.role or (before.role if before else OrganizationRole.MEMBER)
    if before is None:
        add_to_organization(tx, person.id, kind=request.kind)
        tx.record(KernelOp.PERSON_JOINED, person.id, changed("role", None, role))
    elif before.role is not role:
        tx.record(KernelOp.PERSON_CHANGED, person.id, changed("role", before.role, role))
        tx.write_events()  # now: the actor may lose the right to write with this change
    if role is not (before.role if before else OrganizationRole.MEMBER):
        tx.run(sql.change_role, user_id=person.id, role=role)


ADD = declare(
    add_person,
    name="organization.add_member",
    summary="Add somebody to your organization, or change their role in it; an e-mail address is invited.",
    permission=Permission.ORGANIZATION_MANAGE,
    effect=Effect.WRITE,
    idempotent=True,
    http=Route("PUT", "/organization/members/{name}"),
)


# --- Remove, or leave -------------------------------------------------------------------------------------------------


class RemovePerson(Struct, forbid_unknown_fields=True):
    """The member to remove."""

    name: Name
    op_id: OpId = None


class LeaveOrganization(Struct, forbid_unknown_fields=True):
    """The request of leaving the organization, which has no arguments."""

    op_id: OpId = None


class RemovedPerson(Struct):
    """The removed member, and the number of tokens and logins that ended."""

    removed: str
    tokens_revoked: int


def remove(tx: Transaction, request: RemovePerson) -> RemovedPerson:
    """Remove a member from the organization and from all its projects.

    Raises:
        NotFound: there is no such member.
        LastOwner: a project would be left without an owner.
    """
    return _remove(tx, find_principal(tx, request.name) or request.name)


def leave(tx: Transaction, request: LeaveOrganization) -> RemovedPerson:
    """Leave the organization and all its projects.

    Raises:
        NotFound: the caller has no stored membership, as in open access.
        LastOwner: a project would be left without an owner.
    """
    return _remove(tx, tx.actor.id)


def _remove(tx: Transaction, user_id: str) -> RemovedPerson:
    person = tx.one_or_none(sql.person, PersonView, user_id=user_id)
    if person is None:
        raise NotFound("member of the organization", user_id)
    revoked = revoke_tokens_of(tx, user_id)
    revoke_invitations_of(tx, user_id)
    tx.record(KernelOp.PERSON_LEFT, user_id, changed("role", person.role, None))
    tx.write_events()  # now: the actor may lose the right to write by leaving
    latest = subtract_time(tx.now, -JUMP_MIN)
    tx.run(sql.increase_revisions, user_id=user_id, latest=latest)
    tx.run(sql.record_leaving, user_id=user_id, v=EVENT_FORMAT)
    tx.run(sql.leave_projects, user_id=user_id)
    tx.run(sql.remove_person, user_id=user_id, clock=tx.clock)
    return RemovedPerson(user_id, len(revoked))


REMOVE = declare(
    remove,
    name="organization.remove_member",
    summary="Remove somebody from your organization and its projects, and end their tokens and logins.",
    permission=Permission.ORGANIZATION_MANAGE,
    effect=Effect.DESTROY,
    http=Route("DELETE", "/organization/members/{name}"),
)
LEAVE = declare(
    leave,
    name="organization.leave",
    summary="Leave your organization and its projects; your tokens and logins end.",
    permission=Permission.ORGANIZATION_LEAVE,
    effect=Effect.DESTROY,
    http=Route("POST", "/organization/leave"),
)


# --- Unlink: the next verified login with an invitation binds another account -----------------------------------------


class UnlinkAccount(Struct, forbid_unknown_fields=True):
    """The person whose accounts to unlink."""

    name: Name
    op_id: OpId = None


class UnlinkedAccounts(Struct):
    """The person, and the number of accounts that were unlinked and of tokens and logins that ended."""

    unlinked: str
    accounts: int
    tokens_revoked: int


def unlink(tx: Transaction, request: UnlinkAccount) -> UnlinkedAccounts:
    """Unlink the accounts of a person, and end the logins and tokens from them. Nothing changes without an account.

    Raises:
        NotFound: there is no such person.
    """
    user_id = find_principal(tx, request.name)
    if user_id is None:
        raise NotFound("person", request.name)
    accounts = unbind_accounts(tx, user_id)
    return UnlinkedAccounts(user_id, accounts, len(revoke_tokens_of(tx, user_id)) if accounts else 0)


UNLINK = declare(
    unlink,
    name="organization.unlink_account",
    summary="Unlink the account that a person logs in with, so that another one can be bound; their logins end.",
    permission=Permission.ORGANIZATION_MANAGE,
    effect=Effect.DESTROY,
    idempotent=True,
    http=Route("DELETE", "/organization/members/{name}/account"),
)


# --- Check ------------------------------------------------------------------------------------------------------------

ENTRY = "access"
ADMINISTRATORS_SHOWN = 3


def check_entry(tx: Transaction) -> Finding:
    """Return whether a person can enter the organization where stored roles decide."""
    people = tx.all(sql.roles_of_people)
    administrators = [name for name, role in people if role == OrganizationRole.ADMINISTRATOR]
    organization = tx.actor.organization
    remedy = "run groundplan init with the URL of the owner: it makes you an administrator"
    if not people:
        return fail(ENTRY, f"nobody can enter organization {organization}: nobody has a stored role in it", remedy)
    if not administrators:
        return warn(ENTRY, f"nobody administers organization {organization}, so nobody can add people", remedy)
    return ok(ENTRY, f"stored roles decide; {', '.join(administrators[:ADMINISTRATORS_SHOWN])} can add people")
