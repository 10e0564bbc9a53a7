"""The context of a proposed operation: the versions of the project, and the items of the version that it names."""

from __future__ import annotations

from typing import NamedTuple

from groundplan.kernel.errors import NextStep, NotFound
from groundplan.kernel.ids import parse_uuid
from groundplan.kernel.store.transaction import Project, Transaction
from groundplan.purpose.compliance.proposal import OperationKind, ProposedOperation
from groundplan.purpose.content import read_verified_content
from groundplan.purpose.editing.rules import is_ordered, match_edge_types
from groundplan.purpose.model import Assumption, Content, PurposeEdge, PurposeNode, build_content
from groundplan.purpose.versions.versions import VersionRow, find_latest_published, read_versions, resolve_version


class ProposalContext(NamedTuple):
    """The part of the plan that a proposed operation is about."""

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
        """Whether the version can be edited."""
        return self.row is not None and self.row.is_draft

    @property
    def is_ordered(self) -> bool:
        """Whether edges must not point down or close a cycle."""
        return self.row is not None and is_ordered(self.row.profile)

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
        """The action and next step if the version cannot be edited."""
        draft = next((row.number for row in self.versions if row.is_draft), None)
        if draft is None:
            return "", NextStep("purpose.draft", "creates a draft", {"project": self.project.name})
        return f"Edit the draft, version {draft}.", None

    def find_node(self, ref: str | None) -> PurposeNode | None:
        """Return a node by key or row id."""
        if ref is None:
            return None
        id_ = parse_uuid(ref)
        return self.content.nodes.get(ref) or next((one for one in self.content.nodes.values() if one.id == id_), None)

    def find_assumption(self, ref: str | None) -> Assumption | None:
        """Return an assumption by key or row id."""
        if ref is None:
            return None
        id_, found = parse_uuid(ref), self.content.assumptions
        return found.get(ref) or next((one for one in found.values() if one.id == id_), None)

    def find_edges(self) -> list[PurposeEdge]:
        """Return the edges that match the operation: between its ends, and of its type if given."""
        source, target = self.find_node(self.proposal.source), self.find_node(self.proposal.target)
        if source is None or target is None:
            return []
        between = [edge for edge in self.content.edges if (edge.source, edge.target) == (source.key, target.key)]
        meant = match_edge_types((edge.edge_type for edge in between), self.proposal.edge_type)
        return [edge for edge in between if edge.edge_type in meant]


def read_proposal_context(tx: Transaction, proposal: ProposedOperation) -> ProposalContext:
    """Read the context of a proposed operation. The default version is the draft, else the latest published."""
    row = _resolve_proposed_version(tx, proposal)
    content = build_content([], [], [], []) if row is None else read_verified_content(tx, row)
    return ProposalContext(proposal, tx.project, read_versions(tx), row, content)


def _resolve_proposed_version(tx: Transaction, proposal: ProposedOperation) -> VersionRow | None:
    if proposal.kind is OperationKind.CREATE_DRAFT and proposal.version_ref is None:
        return find_latest_published(tx)
    try:
        return resolve_version(tx, proposal.version_ref)
    except NotFound:
        return None  # the checklist reports it together with the other checks
