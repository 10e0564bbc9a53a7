"""A proposed operation. Its values may be invalid: the checklist reports that instead of rejecting the request."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType, field

from groundplan.kernel.access import Permission
from groundplan.purpose.model import WORD_CHARS_MAX, Ref, Text
from groundplan.purpose.versions.versions import VersionRef

# A value that may not be in its enum.
UncheckedWord = Annotated[str, Meta(max_length=WORD_CHARS_MAX)]


class OperationKind(StrEnum):
    """The kind of a proposed operation."""

    CREATE_NODE = "create_node"
    UPDATE_NODE = "update_node"
    DELETE_NODE = "delete_node"
    CREATE_EDGE = "create_edge"
    UPDATE_EDGE = "update_edge"
    DELETE_EDGE = "delete_edge"
    ADD_ASSUMPTION = "add_assumption"
    UPDATE_ASSUMPTION = "update_assumption"
    DELETE_ASSUMPTION = "delete_assumption"
    CREATE_DRAFT = "create_draft"
    PUBLISH = "publish"
    READ = "read"

    @property
    def verb(self) -> str:
        """The verb in the checklist: CREATE, ADD, UPDATE, DELETE, PUBLISH or READ."""
        return self.value.partition("_")[0].upper()

    @property
    def subject(self) -> str:
        """The subject: node, edge, assumption or draft; empty if the operation is about a whole version."""
        return self.value.partition("_")[2]

    @property
    def display_name(self) -> str:
        """The display name."""
        return "Publish Version" if self is OperationKind.PUBLISH else self.value.replace("_", " ").title()

    @property
    def edits(self) -> bool:
        """Whether the operation changes the content of a version."""
        return self.subject in ("node", "edge", "assumption")

    @property
    def permission(self) -> Permission:
        """The permission that the operation needs."""
        if self is OperationKind.READ:
            return Permission.PURPOSE_READ
        return Permission.PURPOSE_PUBLISH if self is OperationKind.PUBLISH else Permission.PURPOSE_WRITE


class ProposedOperation(Struct, forbid_unknown_fields=True):
    """A proposed operation: its kind, its version, and the arguments of that operation."""

    kind: OperationKind
    version: VersionRef | None = None
    node: Ref | None = None
    node_type: UncheckedWord | None = None
    title: Text | None = None
    metadata: Any | UnsetType = UNSET
    source: Ref | None = None
    target: Ref | None = None
    edge_type: UncheckedWord | None = None
    new_edge_type: UncheckedWord | None = None
    assumption: Ref | None = None
    assumption_text: Text | None = None
    risk_level: UncheckedWord | None = None
    description: Text | None = None
    narrative: Text | None = None
    owner: UncheckedWord | None = None
    mechanism: Text | None = None
    confidence: UncheckedWord | None = None
    review_by: UncheckedWord | None = None
    profile: UncheckedWord | None = None
    label: UncheckedWord | None = None
    origin: VersionRef | None = field(name="from", default=None)

    @property
    def version_ref(self) -> VersionRef | None:
        """The version that the operation names; for a new draft, the version it copies."""
        return self.origin if self.kind is OperationKind.CREATE_DRAFT and self.origin is not None else self.version
