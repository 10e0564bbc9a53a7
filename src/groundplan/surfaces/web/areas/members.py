"""Members: people and agents with their roles, policies of the project, and tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

from msgspec import UNSET, structs

from groundplan.argument_descriptions import describe_argument
from groundplan.kernel.access import (
    ORGANIZATION_GRANTS,
    PERSON_PERMISSIONS,
    OrganizationRole,
    Permission,
    Role,
    allows,
)
from groundplan.kernel.actors import ActorKind
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.store.authorize import get_organization_role
from groundplan.policies import Policies
from groundplan.surfaces.web.visit import Area, Visit

VIEWS = {
    "members": "People and agents",
    "policies": "Policies",
    "tokens": "Tokens",
    "project": "Project",
    "organization": "Organization",
}
ACTIVITY_READ = 30  # members whose last change is looked for
EVENTS_READ = 100  # of which actors who are not members are named
TITLES = {  # of policies whose name is no sentence
    "inherit_dependencies": "Inherited dependencies",
    "auto_resolve_parents": "Parents resolve themselves",
    "claim_ttl_minutes": "Minutes of an agent's claim",
    "claim_minutes_people": "Minutes of a person's claim",
    "agents": "Role of agents",
    "publish_role": "Who publishes",
    "publish_gates": "Gates of publishing",
    "profile_min": "Least strict profile",
}
ROLES = tuple(role.value for role in Role)
KINDS = tuple(kind.value for kind in ActorKind)


class PolicyRow(NamedTuple):
    """A policy: its value in words, its allowed values, and its meaning."""

    name: str
    title: str
    value: str
    choices: list[tuple[str, str]]  # empty: a number
    meaning: list[str]  # every second part is a word to type
    is_default: bool


def read_members(visit: Visit) -> Mapping[str, Any]:
    """Return the data of the view in the address."""
    view = visit.query.get("view") if visit.query.get("view") in VIEWS else "members"
    shown: dict[str, Any] = {"views": VIEWS, "view": view, "roles": ROLES, "kinds": KINDS}
    if view == "policies":
        shown["policies"] = _list_policies(visit)
    elif view == "project":
        shown["container"] = visit.session.call("container.get", containerType="project", id=visit.project.name).project
        # `Visit.may` allows nothing in an archived project, but restoring it is what its owner can do.
        shown["may_archive"] = allows(visit.project.role, Permission.PROJECT_ARCHIVE)
    elif view == "organization":
        shown |= _read_organization(visit)
    elif view == "tokens":
        shown["tokens"] = _list_tokens(visit)
        shown["may_create"] = _may_in_organization(visit, Permission.TOKEN_CREATE)
        shown["may_revoke"] = _may_in_organization(visit, Permission.TOKEN_REVOKE)
        shown["created"] = visit.answer
    else:
        members = visit.session.call("member.list", scopeId=visit.project.name).members
        shown["members"] = members
        shown["owners"] = [member.user_id for member in members if member.role is Role.OWNER]
        shown["seen"] = _find_last_seen(_list_tokens(visit))
        shown["active"] = _find_last_changes(
            visit, [member.user_id for member in members if member.user_id not in shown["seen"]]
        )
        shown["others"] = _find_other_actors(visit, {member.user_id for member in members})
        shown["agent_role"] = (visit.call("work.open").policies or Policies()).agents
    return shown


def _read_organization(visit: Visit) -> dict[str, Any]:
    """Return the organization with its people and open invitations."""
    organization_view = visit.session.call("organization.view")
    people = visit.session.call("organization.members")
    administers = organization_view.organization.role is OrganizationRole.ADMINISTRATOR
    return {
        "of_organization": organization_view.organization,
        "settings": organization_view.settings,
        "people": people.members,
        "more_people": people.next_cursor is not UNSET,
        "invitations": visit.session.call("invitation.list").invitations,
        "may_administer": administers and _may_in_organization(visit, Permission.ORGANIZATION_MANAGE),
        "may_revoke": _may_in_organization(visit, Permission.INVITATION_REVOKE),
    }


def _list_policies(visit: Visit) -> list[PolicyRow]:
    stored = visit.call("work.open").policies or Policies()
    defaults = Policies()
    hints = get_type_hints(Policies)
    rows = []
    for field in structs.fields(Policies):
        value, hint = getattr(stored, field.name), hints[field.name]
        if get_origin(hint) is Literal:
            choices = [(choice, choice) for choice in get_args(hint)]
        else:
            choices = [("true", "yes"), ("false", "no")] if hint is bool else []
        meaning = describe_argument("work.open", f"policies.{field.name}").split("`")
        title = TITLES.get(field.name, field.name.capitalize())
        is_default = value == getattr(defaults, field.name)
        rows.append(PolicyRow(field.name, title, _format(value), choices, meaning, is_default))
    return rows


def _format(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case float() | int():
            return f"{value:g}"
    return value or ""


def _list_tokens(visit: Visit) -> list[Any]:
    """Return the tokens that the actor may see; empty for an actor outside of the organization."""
    try:
        return list(visit.session.call("token.list").tokens)
    except GroundplanError as error:
        if error.status not in (403, 404):
            raise
        return []


def _find_last_seen(tokens: list[Any]) -> dict[str, str]:
    seen: dict[str, str] = {}
    for token in tokens:
        if token.last_used_at:
            seen[token.name] = max(token.last_used_at, seen.get(token.name, ""))
    return seen


def _find_last_changes(visit: Visit, actors: list[str]) -> dict[str, str]:
    """Return the time of each actor's last change in the newest events, for actors without a token."""
    changed_at = {}
    for actor in actors[:ACTIVITY_READ]:
        if events := visit.call("event.list", actor=actor, limit=1).events:
            changed_at[actor] = events[0].at
    return changed_at


def _find_other_actors(visit: Visit, members: set[str]) -> dict[str, str]:
    """Return the times of the last changes by actors who are not members, in the newest events."""
    changed_at: dict[str, str] = {}
    for event in visit.call("event.list", limit=EVENTS_READ).events:
        if event.actor not in members:
            changed_at[event.actor] = max(event.at, changed_at.get(event.actor, ""))
    return changed_at


def _may_in_organization(visit: Visit, permission: Permission) -> bool:
    actor = visit.session.actor
    if actor is None or (permission in PERSON_PERMISSIONS and actor.kind is not ActorKind.PERSON):
        return False
    return get_organization_role(actor) in ORGANIZATION_GRANTS[permission]


OPERATIONS = frozenset(
    {
        *("member.add", "member.remove", "token.create", "token.revoke", "work.open"),
        *("container.update", "project.archive", "project.restore"),
        *("organization.configure", "organization.remove_member", "invitation.revoke"),
    }
)
AREA = Area("members", "Members", "m", "members.html", read_members, OPERATIONS)
