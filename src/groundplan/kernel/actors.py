"""Actors: the identity that acts, and its organization. Every transaction belongs to one actor."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from groundplan.kernel.access import Role

LOCAL_ORGANIZATION = "local"  # the one that every store has


class ActorKind(StrEnum):
    """The kind of an actor. Some actions need a person, such as overruling a model's inference."""

    PERSON = "person"
    AGENT = "agent"
    SERVICE = "service"


class Access(StrEnum):
    """The access mode of a store: it trusts every actor with all projects, or it checks stored roles."""

    OPEN = "open"  # every person who can open the store acts as owner of every project, agents as its policy allows
    MEMBERS = "members"  # the stored roles decide; an unknown name has no access


class Actor(Struct, frozen=True):
    """An identity that the configuration or a verified token proves. A request cannot set it."""

    organization: str
    id: str
    kind: ActorKind = ActorKind.PERSON
    access: Access = Access.MEMBERS
    responsible: str | None = None  # for an agent: the person who owns the projects that it creates
    # The limits of the token that the identity comes from; None: no limit.
    role_max: Role | None = None  # the largest role in any project
    projects: frozenset[str] | None = None  # the ids of the only projects that exist for this actor
    sponsor: str | None = None  # for an agent: the person whose stored roles limit it, too
    token_id: str | None = None

    @property
    def is_limited(self) -> bool:
        """True if a token limits the actor to less than its memberships allow."""
        return self.role_max is not None or self.projects is not None or self.sponsor is not None


NOBODY = Actor("", "", ActorKind.SERVICE, Access.MEMBERS)  # of no organization, and sees nothing


def local_actor(
    name: str,
    *,
    kind: ActorKind = ActorKind.PERSON,
    access: Access = Access.OPEN,
    responsible: str | None = None,
    organization: str = LOCAL_ORGANIZATION,
) -> Actor:
    """Return an actor named by the user of a store. Its id is its name."""
    return Actor(organization, name, kind, access, responsible)
