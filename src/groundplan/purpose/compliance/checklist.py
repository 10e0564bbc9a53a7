"""A proposed operation, the part of the plan that it concerns, and the sections of its checklist.

The values of a proposed operation may be invalid: the checklist reports that instead of rejecting the request.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, TypeVar, get_args

from msgspec import UNSET, Meta, Struct, UnsetType, field
from msgspec.structs import replace

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import LeftOut
from groundplan.kernel.errors import Invalid, NextStep, NotFound
from groundplan.kernel.ids import parse_uuid
from groundplan.kernel.input_gate.types import Aliases, Record, get_record
from groundplan.kernel.operations.schema import HiddenInSchema
from groundplan.kernel.store.transaction import Project, Transaction
from groundplan.purpose.content import read_verified_content
from groundplan.purpose.editing.operations import PurposeOp
from groundplan.purpose.editing.rules import forbids_cycles_and_downward_edges, match_edge_types
from groundplan.purpose.model import (
    WORD_CHARS_MAX,
    Assumption,
    Content,
    Indicator,
    PurposeEdge,
    PurposeNode,
    Ref,
    Text,
    build_content,
)
from groundplan.purpose.versions.drafts import BeginDraft
from groundplan.purpose.versions.publish import PublishDraft
from groundplan.purpose.versions.versions import (
    VersionRef,
    VersionRow,
    find_latest_published,
    read_versions,
    resolve_version,
)

# A value that may not be in its enum.
UncheckedWord = Annotated[str, Meta(max_length=WORD_CHARS_MAX)]

Item = TypeVar("Item", PurposeNode, Assumption, Indicator)


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
    ADD_INDICATOR = "add_indicator"
    UPDATE_INDICATOR = "update_indicator"
    DELETE_INDICATOR = "delete_indicator"
    CREATE_DRAFT = "create_draft"
    PUBLISH = "publish"
    READ = "read"

    @property
    def verb(self) -> str:
        """The verb in the checklist: CREATE, ADD, UPDATE, DELETE, PUBLISH or READ."""
        return self.value.partition("_")[0].upper()

    @property
    def subject(self) -> str:
        """The kind of the changed item: node, edge, assumption, indicator or draft; empty if it is a whole version."""
        return self.value.partition("_")[2]

    @property
    def display_name(self) -> str:
        """The display name."""
        return "Publish Version" if self is OperationKind.PUBLISH else self.value.replace("_", " ").title()

    @property
    def edits(self) -> bool:
        """True if the operation changes the content of a version."""
        return self.subject in ("node", "edge", "assumption", "indicator")

    @property
    def permission(self) -> Permission:
        """The permission that the operation needs."""
        if self is OperationKind.READ:
            return Permission.PURPOSE_READ
        return Permission.PURPOSE_PUBLISH if self is OperationKind.PUBLISH else Permission.PURPOSE_WRITE


# The verbs of an edit, which is proposed as it will be sent.
EDIT_VERBS = Aliases(
    {
        "add_node": "create_node",
        "remove_node": "delete_node",
        "add_edge": "create_edge",
        "remove_edge": "delete_edge",
        "create_assumption": "add_assumption",
        "remove_assumption": "delete_assumption",
        "create_indicator": "add_indicator",
        "remove_indicator": "delete_indicator",
    }
)


class ProposedOperation(Struct, forbid_unknown_fields=True):
    """A proposed operation: its kind, its version, and the arguments of that operation."""

    ACCEPTS_ATTRIBUTES: ClassVar = True  # `op`, as in an edit

    op: Annotated[OperationKind, EDIT_VERBS] = field(name="kind")
    version: VersionRef | None = None
    node: Ref | None = None
    node_type: UncheckedWord | None = None
    title: Text | None = None
    metadata: Any | UnsetType = UNSET
    source: Ref | None = None
    target: Ref | float | None = None  # a number is that of an indicator
    edge_type: UncheckedWord | None = None
    new_edge_type: UncheckedWord | None = None
    assumption: Ref | None = None
    assumption_text: Text | None = None
    risk_level: UncheckedWord | None = None
    description: Text | None = None
    narrative: Text | None = None
    owner: UncheckedWord | None = None
    indicator: Ref | None = None
    name: Any = None
    unit: Any = None
    direction: Any = None
    baseline: Any = None
    baseline_verified: Any = None
    method: Any = None
    frequency: Any = None
    mechanism: Text | None = None
    confidence: UncheckedWord | None = None
    review_by: UncheckedWord | None = None
    profile: UncheckedWord | None = None
    label: UncheckedWord | None = None
    origin: VersionRef | None = field(name="from", default=None)
    # Arguments of an edit that mean nothing for one operation alone.
    ref: Annotated[Any, HiddenInSchema()] = None
    was: Annotated[Any, HiddenInSchema()] = None
    # What no operation has: a parent or children of a node. The checklist blocks them.
    parent_id: Any = None
    parent: Any = None
    children: Any = None
    path: Any = None
    tree: Any = None

    @property
    def kind(self) -> OperationKind:
        """The kind of the operation."""
        return self.op

    @property
    def target_node(self) -> str | None:
        """The node at the end of an edge."""
        return self.target if isinstance(self.target, str) else None

    @property
    def subjects(self) -> frozenset[str]:
        """The kinds of the items that the operation changes, or that it names to read them."""
        if self.kind is not OperationKind.READ:
            return frozenset((self.kind.subject,))
        named = {
            "node": self.node,
            "edge": self.source or self.target_node,
            "assumption": self.assumption,
            "indicator": self.indicator,
        }
        return frozenset(subject for subject, ref in named.items() if ref is not None)

    @property
    def version_ref(self) -> VersionRef | None:
        """The version that the operation names; for a new draft, the version to copy."""
        return self.origin if self.kind is OperationKind.CREATE_DRAFT and self.origin is not None else self.version


class ProposalContext(NamedTuple):
    """The part of the plan that a proposed operation concerns."""

    proposal: ProposedOperation
    project: Project
    versions: list[VersionRow]
    row: VersionRow | None  # the version of the operation; None if there is none
    content: Content  # of that version

    @property
    def kind(self) -> OperationKind:
        return self.proposal.kind

    @property
    def is_draft(self) -> bool:
        """True if the version can be edited."""
        return self.row is not None and self.row.is_draft

    @property
    def forbids_cycles_and_downward_edges(self) -> bool:
        """True if edges must not point down or close a cycle."""
        return self.row is not None and forbids_cycles_and_downward_edges(self.row.profile)

    @property
    def version_name(self) -> str:
        """The name of the version for a message."""
        if self.row is not None:
            return f"version {self.row.number}"
        return "the project" if self.proposal.version_ref is None else f"version {self.proposal.version_ref}"

    @property
    def why_not_editable(self) -> str:
        """The reason why the version cannot be edited."""
        if self.row is not None:
            return f"version {self.row.number} is {self.row.status}; only a draft can be edited"
        if self.proposal.version_ref is None:
            return "the project has no version yet"
        return f"there is no {'draft' if self.proposal.version_ref == 'draft' else self.version_name}"

    @property
    def how_to_edit(self) -> tuple[str, NextStep | None]:
        """The action and the next step that make the version editable."""
        draft = next((row.number for row in self.versions if row.is_draft), None)
        if draft is None:
            return "", NextStep("purpose.draft", "creates a draft", {"project": self.project.name})
        return f"Edit the draft, version {draft}.", None

    def find_node(self, ref: str | None) -> PurposeNode | None:
        """Return a node by key or row id."""
        return _find_item(self.content.nodes, ref)

    def find_assumption(self, ref: str | None) -> Assumption | None:
        """Return an assumption by key or row id."""
        return _find_item(self.content.assumptions, ref)

    def find_indicator(self, ref: str | None) -> Indicator | None:
        """Return an indicator by key or row id."""
        return _find_item(self.content.indicators, ref)

    def find_edges(self) -> list[PurposeEdge]:
        """Return the edges between the ends in the operation, of its type if it gives one."""
        source, target = self.find_node(self.proposal.source), self.find_node(self.proposal.target_node)
        if source is None or target is None:
            return []
        between = [edge for edge in self.content.edges if (edge.source, edge.target) == (source.key, target.key)]
        matching_types = match_edge_types((edge.edge_type for edge in between), self.proposal.edge_type)
        return [edge for edge in between if edge.edge_type in matching_types]


@cache
def _get_record_of(kind: OperationKind) -> Record | None:
    """Return the request that an operation would be: an edit, a new draft or a publication."""
    records = {
        OperationKind(EDIT_VERBS.words.get(str(record.tag), str(record.tag))): record
        for record in map(get_record, get_args(PurposeOp))
    }
    records[OperationKind.CREATE_DRAFT] = get_record(BeginDraft)
    records[OperationKind.PUBLISH] = get_record(PublishDraft)
    return records.get(kind)


def _read_as_sent(proposal: ProposedOperation) -> ProposedOperation:
    """Return the operation with its values as the request itself reads them: `HIGH` for `high`, JSON out of a string.

    A value that the request would not take stays, for the checks to report.
    """
    record = _get_record_of(proposal.kind)
    own = get_record(ProposedOperation).arguments
    read: dict[str, Any] = {}
    for wire, argument in record.arguments.items() if record is not None else ():
        if wire not in own:
            continue
        name, value = own[wire].attribute, getattr(proposal, own[wire].attribute)
        if value is None or value is UNSET or argument.is_absent(value):
            read[name] = own[wire].default
        else:
            with suppress(Invalid):
                read[name] = argument.field_type.coerce(value, (wire,))
    return replace(proposal, **read)


def read_proposal_context(tx: Transaction, proposal: ProposedOperation) -> ProposalContext:
    """Read the context of a proposed operation. The default version is the draft, else the latest published."""
    proposal = _read_as_sent(proposal)
    row = _resolve_proposed_version(tx, proposal)
    content = build_content([], [], [], []) if row is None else read_verified_content(tx, row)
    return ProposalContext(proposal, tx.project, read_versions(tx), row, content)


def _find_item(items: Mapping[str, Item], ref: str | None) -> Item | None:
    if ref is None:
        return None
    id_ = parse_uuid(ref)
    return items.get(ref) or next((item for item in items.values() if item.id == id_), None)


def _resolve_proposed_version(tx: Transaction, proposal: ProposedOperation) -> VersionRow | None:
    if proposal.kind is OperationKind.CREATE_DRAFT and proposal.version_ref is None:
        return find_latest_published(tx)
    try:
        return resolve_version(tx, proposal.version_ref)
    except NotFound:
        return None  # the checklist reports it together with the other checks


SECTION_TITLES = {
    1: "Graph Model Verification",
    2: "Version State Validation",
    3: "Version Constraint Verification",
    4: "Node Operations",
    5: "Edge Operations",
    6: "Assumptions Handling",
    7: "Tenant Isolation",
    8: "Decision",
}
YES, NO, NOT_APPLICABLE = "YES", "NO (BLOCKED)", "NOT APPLICABLE"


class ChecklistItem(Struct, frozen=True):
    """A line of a section. `ok` is null if the line does not apply to the operation."""

    text: str
    ok: bool | None


class ChecklistSection(Struct, frozen=True):
    """A section, with the facts that it is based on."""

    number: int
    title: str
    items: list[ChecklistItem]
    facts: dict[str, Any]
    verdict: str


class FailedItem(Struct, frozen=True):
    """A line of a section that fails."""

    section: int
    text: str


class Compliance(Struct, frozen=True, kw_only=True):
    """The decision whether an operation may proceed; if not, the reasons and the required actions.

    A short answer has the failed items in place of the sections and their Markdown.
    """

    bookkeeping: ClassVar[frozenset[str]] = frozenset()

    status: Literal["APPROVED", "BLOCKED"]
    sections: list[ChecklistSection] | UnsetType = UNSET
    reasons: list[str]
    required_actions: list[str]
    markdown: str | UnsetType = UNSET
    failed: list[FailedItem] | UnsetType = UNSET


class CheckedItem(NamedTuple):
    """A checklist item, with the reason and the action for a failure."""

    text: str
    ok: bool | None
    reason: str = ""
    action: str = ""
    next_step: NextStep | None = None


class SectionResult(NamedTuple):
    """A section before it is converted for the answer."""

    number: int
    checks: list[CheckedItem]
    facts: dict[str, Any]
    verdict: str


def has_failures(checks: list[CheckedItem]) -> bool:
    """Return True if a check that applies fails."""
    return any(check.ok is False for check in checks)


def decide_verdict(checks: list[CheckedItem]) -> str:
    """Return YES, NO, or NOT APPLICABLE if no check applies."""
    if all(check.ok is None for check in checks):
        return NOT_APPLICABLE
    return NO if has_failures(checks) else YES


class CodeFinding(Struct, frozen=True):
    """A place in code that is forbidden, or that a person has to look at."""

    path: str
    line: int
    verdict: Literal["BLOCKED", "LOOK"]
    rule: str
    text: str


class CodeVerdict(Struct, frozen=True):
    """The verdict on code, and what is blocked or has to be looked at, what is blocked first."""

    bookkeeping: ClassVar[frozenset[str]] = frozenset()

    status: Literal["APPROVED", "LOOK", "BLOCKED"]
    findings: list[CodeFinding]
    left_out: LeftOut = UNSET
