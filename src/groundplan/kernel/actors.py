"""Who acts, and for which organization. A transaction is opened for an actor and never for anybody else."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

LOCAL_ORGANIZATION = "local"


class ActorKind(StrEnum):
    """What sort of actor it is. Some things only a person may do, such as overruling a model's inference."""

    PERSON = "person"
    AGENT = "agent"
    SERVICE = "service"


class Access(StrEnum):
    """How much the store believes of an actor."""

    OPEN = "open"  # whoever can open the store is trusted: they act as owner everywhere
    MEMBERS = "members"  # the stored roles decide, and an unknown name is a stranger


@dataclass(frozen=True, slots=True)
class Actor:
    """An identity that something outside the operation vouched for: the configuration, or a verified token."""

    organization: str
    id: str
    kind: ActorKind = ActorKind.PERSON
    access: Access = Access.MEMBERS


def local_actor(name: str, *, kind: ActorKind = ActorKind.PERSON, access: Access = Access.OPEN) -> Actor:
    """An actor of the one organization that a local store has. There, id and name are the same."""
    return Actor(LOCAL_ORGANIZATION, name, kind, access)
