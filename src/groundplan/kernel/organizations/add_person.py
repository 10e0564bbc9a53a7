"""Add somebody to the organization, change their role in it, or expect them under an e-mail address."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.access import OrganizationRole, Permission
from groundplan.kernel.actors import ActorKind
from groundplan.kernel.audit import KernelOp, changed
from groundplan.kernel.errors import RuleViolated
from groundplan.kernel.identities.invitation import ExpectedPerson, InvitationView, find_expected_person, invite_person
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, OpId, Route, declare
from groundplan.kernel.organizations.organization import PersonView
from groundplan.kernel.principals import add_to_organization
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


class AddPerson(Struct, forbid_unknown_fields=True):
    """The person, agent or service; an address if the name is none."""

    name: Name
    role: OrganizationRole | None = None
    kind: ActorKind = ActorKind.PERSON
    email: Name | None = None
    op_id: OpId = None


class OnePerson(Struct):
    """The member after the change, and the invitation if there is a new one."""

    member: PersonView
    invitation: InvitationView | UnsetType = UNSET


class NotAPerson(RuleViolated):
    """Only a person administers an organization or logs in."""

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
    command=Command(("org", "member", "add"), arguments=("name",)),
    http=Route("PUT", "/organization/members/{name}"),
)
