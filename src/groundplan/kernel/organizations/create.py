"""Create an organization, with its first administrator. It needs a store that the caller owns."""

from __future__ import annotations

from groundplan.kernel.access import OrganizationRole
from groundplan.kernel.actors import Access, Actor, ActorKind
from groundplan.kernel.audit import KernelOp, changed
from groundplan.kernel.identities.invitation import find_expected_person, invite_person
from groundplan.kernel.organizations.organization import OneOrganization, OrganizationExists, view_organization
from groundplan.kernel.principals import add_to_organization
from groundplan.kernel.store.organizations import add_organization
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.store import Store
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


def create_organization(store: Store, organization_id: str, *, name: str, administrator: str) -> OneOrganization:
    """Create an organization. An administrator who is named by an e-mail address is invited.

    Raises:
        OrganizationExists: the id is in use.
        Invalid: the address is malformed.
    """

    def run(tx: Transaction) -> OneOrganization:
        if not add_organization(tx, name):
            raise OrganizationExists(organization_id)
        tx.record(KernelOp.ORGANIZATION_CREATED, organization_id, changed("name", None, name))
        person = find_expected_person(tx, administrator, kind=ActorKind.PERSON)
        add_to_organization(tx, person.id, kind=ActorKind.PERSON)
        tx.run(sql.change_role, user_id=person.id, role=OrganizationRole.ADMINISTRATOR)
        tx.record(KernelOp.PERSON_JOINED, person.id, changed("role", None, OrganizationRole.ADMINISTRATOR))
        invite_person(tx, person)
        tx.write_events()
        return view_organization(tx, OrganizationRole.ADMINISTRATOR)

    # `touch`, because there is no organization yet whose lock to take; the history begins in the same transaction.
    return store.touch(Actor(organization_id, administrator, ActorKind.PERSON, Access.OPEN), run)
