"""The organization of the caller: its view in answers, its settings, and its creation."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from groundplan.kernel.access import OrganizationRole, Permission, ProjectCreators
from groundplan.kernel.actors import Access, Actor, ActorKind
from groundplan.kernel.audit import KernelOp, changed
from groundplan.kernel.errors import NameTaken
from groundplan.kernel.identities.invitation import find_expected_person, invite_person
from groundplan.kernel.operations.registry import Effect, Route, declare
from groundplan.kernel.principals import add_to_organization
from groundplan.kernel.store.authorize import find_organization_role
from groundplan.kernel.store.organizations import add_organization
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.store import Store
from groundplan.kernel.store.transaction import Transaction

# Stands in tokens, configuration files and addresses, so it has no characters that need quotes.
OrganizationId = Annotated[str, Meta(min_length=1, max_length=63, pattern=r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$")]

sql = load_queries(__file__)


class OrganizationExists(NameTaken):
    """The store has an organization with this id already."""

    code = "organization_exists"

    def __init__(self, organization_id: str) -> None:
        super().__init__(f"organization {organization_id!r} already exists; choose another id", id=organization_id)


class OrganizationView(Struct):
    """An organization, and the role of the caller in it."""

    id: str
    name: str
    role: OrganizationRole
    rev: int
    created_at: str


class PersonView(Struct):
    """A member of the organization."""

    name: str
    kind: ActorKind
    role: OrganizationRole
    created_at: str
    created_by: str


class OrganizationSettings(Struct, frozen=True):
    """The settings of an organization."""

    project_creators: ProjectCreators = ProjectCreators.MEMBERS
    allowed_domains: list[str] = []
    default_policies: dict[str, Any] = {}


class OneOrganization(Struct):
    """The organization of the caller, with its settings."""

    organization: OrganizationView
    settings: OrganizationSettings


class _OrganizationRow(Struct):
    id: str
    name: str
    rev: int
    created_at: str


class _SettingsRow(Struct):
    project_creators: ProjectCreators
    allowed_domains: str
    default_policies: str


def read_settings(tx: Transaction) -> OrganizationSettings:
    """Return the settings of the organization, or the defaults for settings that were never changed."""
    row = tx.one_or_none(sql.settings, _SettingsRow)
    if row is None:
        return OrganizationSettings()
    return OrganizationSettings(
        row.project_creators, msgspec.json.decode(row.allowed_domains), msgspec.json.decode(row.default_policies)
    )


def write_settings(tx: Transaction, settings: OrganizationSettings) -> None:
    """Store the settings of the organization."""
    tx.run(
        sql.set_settings,
        project_creators=settings.project_creators,
        allowed_domains=msgspec.json.encode(settings.allowed_domains).decode(),
        default_policies=msgspec.json.encode(settings.default_policies).decode(),
    )


def view_organization(tx: Transaction, role: OrganizationRole) -> OneOrganization:
    """Return the organization as this transaction sees it."""
    row = tx.one(sql.organization, _OrganizationRow)
    view = OrganizationView(row.id, row.name, role, row.rev, row.created_at)
    return OneOrganization(view, read_settings(tx))


def rename_organization(tx: Transaction, name: str) -> None:
    """Change the name of the organization. Its id does not change."""
    before = tx.one(sql.organization, _OrganizationRow).name
    if name != before:
        tx.run(sql.rename, name=name)
        tx.record(KernelOp.ORGANIZATION_RENAMED, tx.actor.organization, changed("name", before, name))


# --- Create -----------------------------------------------------------------------------------------------------------


def create_organization(store: Store, organization_id: str, *, name: str, administrator: str) -> OneOrganization:
    """Create an organization with its first administrator. If an e-mail address names them, they are invited.

    It needs a store that the caller owns.
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


# --- View -------------------------------------------------------------------------------------------------------------


class ViewOrganization(Struct, forbid_unknown_fields=True):
    """The request of `organization.view`, which has no arguments."""


def view(tx: Transaction, request: ViewOrganization) -> OneOrganization:
    """Return the organization of the caller."""
    return view_organization(tx, find_organization_role(tx))


VIEW = declare(
    view,
    name="organization.view",
    summary="Show your organization: its name, your role in it, and its settings.",
    permission=Permission.ORGANIZATION_READ,
    effect=Effect.READ,
    http=Route("GET", "/organization"),
)
