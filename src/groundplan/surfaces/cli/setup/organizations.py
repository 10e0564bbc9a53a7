"""`groundplan org create` and `org list`: what only the owner of a store does, across organizations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import msgspec

from groundplan.catalog import build_schema
from groundplan.kernel.actors import Access, ActorKind, trusted_reader
from groundplan.kernel.errors import Forbidden
from groundplan.kernel.input_gate.request import parse_request
from groundplan.kernel.input_gate.strict_json import validate_value
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.organizations.organization import OrganizationId
from groundplan.kernel.organizations.organization import create_organization as add_to_store
from groundplan.kernel.store import organizations
from groundplan.kernel.store.authorize import AgentNotAllowed
from groundplan.kernel.store.open_store import open_store
from groundplan.kernel.store.store import Store
from groundplan.surfaces.cli.command_line import argument, option
from groundplan.surfaces.cli.drawing import Rows, View
from groundplan.surfaces.cli.invocation import CommandResult, Invocation
from groundplan.surfaces.cli.missing_plan import refuse_missing
from groundplan.surfaces.cli.steps import Step, join_steps


class _NewOrganization(msgspec.Struct, forbid_unknown_fields=True):
    id: OrganizationId
    name: Name
    administrator: Name


class OpenAccessRequired(Forbidden):
    """Stored roles decide, so whoever can open the file does not own it."""

    code = "open_access_required"

    def __init__(self) -> None:
        super().__init__("only the owner of the store may do this, with --access open")


def create_organization(
    invocation: Invocation,
    organization: Annotated[
        str,
        argument("ID", "Small letters, digits and dashes. It never changes."),
    ],
    name: Annotated[str | None, option("--name", value="TEXT", text="The name for people. Default: the id.")] = None,
    administrator: Annotated[
        str | None,
        option(
            "--administrator", value="NAME", text="The first administrator, by name or e-mail address. Default: you."
        ),
    ] = None,
) -> CommandResult:
    """Create an organization. On PostgreSQL this needs the URL of the role that owns the database."""
    if invocation.settings.identity.kind is not ActorKind.PERSON:
        raise AgentNotAllowed("only a person makes an organization; ask a person")
    given = {
        "id": organization,
        "name": name or organization,
        "administrator": administrator or invocation.settings.identity.name,
    }
    validate_value(given)
    request = parse_request(given, _NewOrganization)
    with _open_as_owner(invocation) as store:
        made = add_to_store(store, request.id, name=request.name, administrator=request.administrator)

    lines = [
        f"Created organization {made.organization.id}; {request.administrator} administers it.",
        f"Use it with --org {made.organization.id}, or GROUNDPLAN_ORG={made.organization.id}.",
    ]
    return join_steps(Step({}, lines), data=made)


def list_organizations(invocation: Invocation) -> CommandResult:
    """List the organizations of the store. On PostgreSQL this needs the URL of the role that owns the database."""
    with _open_as_owner(invocation, reads_only=True) as store:
        found = store.read(trusted_reader(), organizations.list_organizations)
    data = {"organizations": found}

    view = View(Rows("organizations", "id, name, members, projects, created: created_at"))
    return join_steps(Step(data, view.list_parts(data)))


@contextmanager
def _open_as_owner(invocation: Invocation, *, reads_only: bool = False) -> Iterator[Store]:
    """Open the store with the rights of its owner, and close it."""
    settings = invocation.settings
    if settings.access != Access.OPEN:
        raise OpenAccessRequired
    refuse_missing(settings, reads_only=reads_only)
    store = open_store(settings.db, build_schema, as_owner=True)
    try:
        yield store
    finally:
        store.close()
