"""How a project wants to be worked in: one table of names, allowed values and defaults.

Each policy belongs to the slice that acts on it; they stand together here because a project has one set of them, kept
with its row and read with it. What is not set has its default, so a default can be improved for everybody.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

CLAIM_TTL_MINUTES = 60.0  # after which another agent may take the node
CLAIM_TTL_MINUTES_MAX = 525_600.0  # a year; who wants to keep a node for longer holds it

ClaimTtl = Annotated[float, Meta(gt=0, le=CLAIM_TTL_MINUTES_MAX)]


class Policies(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The policies of one project."""

    evidence: Literal["off", "warn", "require"] = "warn"  # what happens when a node is resolved without any
    claims: Literal["soft", "enforced"] = "soft"  # whether others may resolve what somebody has claimed
    inherit_dependencies: bool = False  # whether what a node waits for holds back everything below it
    auto_resolve_parents: bool = False  # whether the last child resolves its parent
    claim_ttl_minutes: ClaimTtl | None = None  # None: what the server was configured with
    publish_role: Literal["owner", "editor"] = "owner"  # who may publish the purpose; owners always may
    publish_gates: Literal["A", "AB"] = "A"  # which gates a version passes to be published


class PolicyChanges(Struct, frozen=True, forbid_unknown_fields=True):
    """The policies to set; the others stay as they are."""

    evidence: Literal["off", "warn", "require"] | UnsetType = UNSET
    claims: Literal["soft", "enforced"] | UnsetType = UNSET
    inherit_dependencies: bool | UnsetType = UNSET
    auto_resolve_parents: bool | UnsetType = UNSET
    claim_ttl_minutes: ClaimTtl | UnsetType | None = UNSET
    publish_role: Literal["owner", "editor"] | UnsetType = UNSET
    publish_gates: Literal["A", "AB"] | UnsetType = UNSET

    def applied(self, policies: Policies) -> Policies:
        """The policies with these changes."""
        return msgspec.structs.replace(policies, **self.given())

    def given(self) -> dict[str, Any]:
        """What is to be set."""
        named = ((name, getattr(self, name)) for name in self.__struct_fields__)
        return {name: value for name, value in named if value is not UNSET}


@lru_cache(maxsize=256)
def decode_policies(text: str) -> Policies:
    """Policies as they are kept."""
    return msgspec.json.decode(text, type=Policies)
