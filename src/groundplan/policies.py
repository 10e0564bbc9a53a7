"""The policies of a project: names, allowed values and defaults.

Each policy belongs to the slice that applies it. They are declared together because a project has one set of them,
stored in its row and set by one request. A policy that is not set has its default, so changing a default changes it
for every such project.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan.kernel.input_gate.types import get_decoder
from groundplan.kernel.store.transaction import Transaction

CLAIM_TTL_MINUTES = 60.0  # afterwards another agent may claim the node
CLAIM_TTL_MINUTES_MAX = 525_600.0  # a year; a hold has no time limit

ClaimTtl = Annotated[float, Meta(gt=0, le=CLAIM_TTL_MINUTES_MAX)]


class Policies(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The policies of one project."""

    # every slice
    secrets: Literal["off", "warn", "refuse"] = "warn"  # what happens when a write contains what looks like a secret
    # work
    evidence: Literal["off", "warn", "require"] = "warn"  # what happens when a node is resolved without evidence
    claims: Literal["soft", "enforced"] = "soft"  # whether others may change or resolve a claimed node
    overlap: Literal["off", "warn", "avoid"] = "warn"  # whether work on files that others work on is offered
    inherit_dependencies: bool = False  # whether the dependencies of a node also block its descendants
    auto_resolve_parents: bool = False  # whether resolving the last child resolves its parent
    claim_ttl_minutes: ClaimTtl | None = None  # of who is no person; None: the value of the configuration
    claim_minutes_people: ClaimTtl | None = None  # None: the claim of a person does not end by itself
    # roles
    agents: Literal["viewer", "editor", "owner"] = "editor"  # the largest role of an agent
    # purpose
    publish_role: Literal["owner", "editor"] = "owner"  # who may publish the purpose; owners always may
    publish_gates: Literal["A", "AB"] = "A"  # the gates that a version must pass to be published
    profile_min: Literal["light", "standard", "strict"] = "standard"  # the least strict profile of a draft


class PolicyChanges(Struct, frozen=True, forbid_unknown_fields=True):
    """The policies to set; the others do not change."""

    secrets: Literal["off", "warn", "refuse"] | UnsetType = UNSET
    evidence: Literal["off", "warn", "require"] | UnsetType = UNSET
    claims: Literal["soft", "enforced"] | UnsetType = UNSET
    overlap: Literal["off", "warn", "avoid"] | UnsetType = UNSET
    inherit_dependencies: bool | UnsetType = UNSET
    auto_resolve_parents: bool | UnsetType = UNSET
    claim_ttl_minutes: ClaimTtl | UnsetType | None = UNSET
    claim_minutes_people: ClaimTtl | UnsetType | None = UNSET
    agents: Literal["viewer", "editor", "owner"] | UnsetType = UNSET
    publish_role: Literal["owner", "editor"] | UnsetType = UNSET
    publish_gates: Literal["A", "AB"] | UnsetType = UNSET
    profile_min: Literal["light", "standard", "strict"] | UnsetType = UNSET

    def apply(self, policies: Policies) -> Policies:
        """Return the policies with these changes."""
        values: dict[str, Any] = {name: getattr(self, name) for name in self.__struct_fields__}
        return msgspec.structs.replace(policies, **{name: set_ for name, set_ in values.items() if set_ is not UNSET})


def get_policies(tx: Transaction) -> Policies:
    """Return the policies of the current project."""
    return decode_policies(tx.project.policies)


@lru_cache(maxsize=256)
def decode_policies(text: str) -> Policies:
    """Parse stored policies."""
    return get_decoder(Policies).decode(text)
