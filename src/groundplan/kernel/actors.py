"""Actors: the identity that acts, and its organization. Every transaction belongs to one actor.

The kind of a name is stored when it first acts, and decides from then on: a caller proposes it, and does not choose it.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from groundplan.kernel.access import Role
from groundplan.kernel.errors import Forbidden

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
    kind: ActorKind = ActorKind.PERSON  # within a transaction: the stored one, if the name has acted before
    access: Access = Access.MEMBERS
    responsible: str | None = None  # for an agent: the person who owns the projects that it creates
    takes_stored_kind: bool = False  # whether the kind only counts until the name first acts
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


class NameOfOtherKind(Forbidden):
    """The name belongs to an actor of another kind than the caller says."""

    code = "actor_kind"

    def __init__(self, name: str, stored: ActorKind, claimed: ActorKind) -> None:
        ways = {
            ActorKind.PERSON: "this person says so with --person, and an agent takes another name",
            ActorKind.AGENT: "this agent says so with --agent, and a person takes another name, with --person NAME",
            ActorKind.SERVICE: "a service acts with its token, and everybody else takes another name",
        }
        super().__init__(
            f"the name {name!r} is that of {ARTICLES[stored]} here, and not of {ARTICLES[claimed]}; {ways[stored]}",
            name=name,
            kind=stored,
        )


ARTICLES = {ActorKind.PERSON: "a person", ActorKind.AGENT: "an agent", ActorKind.SERVICE: "a service"}


def identify(actor: Actor, stored: ActorKind | None) -> Actor:
    """Return the actor with the kind that is stored for its name; None if the name has not acted yet.

    Raises:
        NameOfOtherKind: the name is a person's, and an agent uses it, or the other way around.
    """
    if stored is None or stored is actor.kind:
        return actor
    if actor.takes_stored_kind or ActorKind.PERSON not in (stored, actor.kind):
        return replace(actor, kind=stored)
    raise NameOfOtherKind(actor.id, stored, actor.kind)


def trusted_reader(organization: str = LOCAL_ORGANIZATION) -> Actor:
    """Return the actor with whom the program itself reads a whole organization. It has no name, so it never acts."""
    return Actor(organization, "", ActorKind.PERSON, Access.OPEN)


def local_actor(
    name: str,
    *,
    kind: ActorKind = ActorKind.PERSON,
    access: Access = Access.OPEN,
    responsible: str | None = None,
    organization: str = LOCAL_ORGANIZATION,
    takes_stored_kind: bool = False,
) -> Actor:
    """Return an actor named by the user of a store. Its id is its name."""
    return Actor(organization, name, kind, access, responsible, takes_stored_kind=takes_stored_kind)
