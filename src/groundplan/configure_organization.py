"""Change the name and settings of the organization. It is above the kernel, because policies belong to all slices."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan.kernel.access import OrganizationRole, Permission, ProjectCreators
from groundplan.kernel.audit import Change, KernelOp, changed
from groundplan.kernel.identities.email_address import normalize_domain
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Effect, OpId, Route, declare
from groundplan.kernel.organizations.organization import (
    OneOrganization,
    OrganizationSettings,
    read_settings,
    rename_organization,
    view_organization,
    write_settings,
)
from groundplan.kernel.store.transaction import Transaction
from groundplan.policies import PolicyChanges, decode_policies

DOMAINS_MAX = 100
NO_DOMAIN = "none"  # an empty list, where an option cannot be given one

Domains = Annotated[list[Name], Meta(max_length=DOMAINS_MAX)]


class ConfigureOrganization(Struct, forbid_unknown_fields=True):
    """The settings to change; omitted settings stay. An empty list of domains allows no domain."""

    name: Name | UnsetType = UNSET
    project_creators: ProjectCreators | UnsetType = UNSET
    allowed_domains: Domains | UnsetType = UNSET
    default_policies: PolicyChanges | UnsetType = UNSET
    decision: str | None = None
    op_id: OpId = None


def configure_organization(tx: Transaction, request: ConfigureOrganization) -> OneOrganization:
    """Change the name and settings of the organization. No event is recorded if no value changes.

    Raises:
        Invalid: a domain is malformed.
    """
    if request.name is not UNSET:
        rename_organization(tx, request.name)
    before = read_settings(tx)
    after = _apply(before, request)
    changes = [*_list_changes(before, after)]
    if changes:
        write_settings(tx, after)
        tx.record(KernelOp.ORGANIZATION_CONFIGURED, tx.actor.organization, *changes, decision=request.decision)
    return view_organization(tx, OrganizationRole.ADMINISTRATOR)


def _apply(settings: OrganizationSettings, request: ConfigureOrganization) -> OrganizationSettings:
    given: dict[str, Any] = {}
    if request.project_creators is not UNSET:
        given["project_creators"] = request.project_creators
    if request.allowed_domains is not UNSET:
        domains = [] if request.allowed_domains == [NO_DOMAIN] else request.allowed_domains
        given["allowed_domains"] = sorted(
            {normalize_domain(domain, ("allowed_domains", place)) for place, domain in enumerate(domains)}
        )
    if request.default_policies is not UNSET:
        policies = decode_policies(msgspec.json.encode(settings.default_policies).decode())
        given["default_policies"] = msgspec.to_builtins(request.default_policies.apply(policies))
    return msgspec.structs.replace(settings, **given)


def _list_changes(before: OrganizationSettings, after: OrganizationSettings) -> list[Change]:
    return [
        changed(name, getattr(before, name), getattr(after, name))
        for name in after.__struct_fields__
        if getattr(before, name) != getattr(after, name)
    ]


OPERATION = declare(
    configure_organization,
    name="organization.configure",
    summary="Change the name of your organization, and who may join it and create projects.",
    permission=Permission.ORGANIZATION_MANAGE,
    effect=Effect.WRITE,
    idempotent=True,
    http=Route("PATCH", "/organization"),
)
