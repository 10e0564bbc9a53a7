"""View the organization of the caller, with its settings."""

from __future__ import annotations

from msgspec import Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.operations.registry import Command, Effect, Route, declare
from groundplan.kernel.organizations.organization import OneOrganization, view_organization
from groundplan.kernel.store.authorize import find_organization_role
from groundplan.kernel.store.transaction import Transaction


class ViewOrganization(Struct, forbid_unknown_fields=True):
    """There is nothing to say: the organization is that of the caller."""


def view(tx: Transaction, request: ViewOrganization) -> OneOrganization:
    """Return the organization of the caller."""
    return view_organization(tx, find_organization_role(tx))


VIEW = declare(
    view,
    name="organization.view",
    summary="Show your organization: its name, your role in it, and its settings.",
    permission=Permission.ORGANIZATION_READ,
    effect=Effect.READ,
    command=Command(("org", "show")),
    http=Route("GET", "/organization"),
)
