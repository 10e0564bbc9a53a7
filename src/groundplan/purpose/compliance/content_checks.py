"""Sections 4, 5 and 6: check the proposed node, edge or assumption by the rules for edits."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, TypeVar

from msgspec import UNSET

from groundplan.kernel.errors import NextStep
from groundplan.kernel.wording import quote_text
from groundplan.purpose.compliance.proposal import OperationKind
from groundplan.purpose.compliance.proposal_context import ProposalContext
from groundplan.purpose.compliance.section import CheckedItem, SectionResult, decide_verdict
from groundplan.purpose.dates import is_day
from groundplan.purpose.editing.items import PATH_KEYS_MAX, format_path
from groundplan.purpose.editing.rules import (
    TypedEdge,
    becomes_causal,
    count_metadata_bytes,
    fits,
    is_on_one_item,
    merge_metadata,
    names_edge,
    retype_node,
)
from groundplan.purpose.graph.cycles import find_closed_cycle
from groundplan.purpose.model import (
    SENTENCE_BYTES_MAX,
    TEXT_BYTES_MAX,
    TITLE_CHARS_MAX,
    Confidence,
    EdgeName,
    EdgeType,
    NodeType,
    PurposeEdge,
    PurposeNode,
    RiskLevel,
    Sentence,
    Title,
    Word,
)

Choice = TypeVar("Choice", bound=StrEnum)

SHOW_CONTENT = "", NextStep("purpose.open", "shows the content")


def check_node_operation(ctx: ProposalContext, *, is_fenced: bool) -> SectionResult:
    """Check a proposed node operation."""
    given, node = ctx.proposal, ctx.find_node(ctx.proposal.node)
    is_ours, is_new = ctx.kind.subject == "node", ctx.kind is OperationKind.CREATE_NODE
    is_named = (is_ours and not is_new) or (ctx.kind is OperationKind.READ and given.node is not None)
    writes = is_ours and ctx.kind is not OperationKind.DELETE_NODE
    node_type = _parse_word(NodeType, given.node_type)
    down = _find_downward_edges(ctx, node, node_type) if ctx.kind is OperationKind.UPDATE_NODE else []
    checks = [
        CheckedItem(
            "Version is DRAFT (if CREATE/UPDATE/DELETE)",
            ctx.is_draft if is_ours else None,
            ctx.why_not_editable,
            *ctx.how_to_edit,
        ),
        CheckedItem(
            "Node type is valid (one of 4 types)",
            node_type is not None if writes and (is_new or given.node_type is not None) else None,
            _describe_invalid_word("node_type", NodeType, given.node_type),
            f"Set node_type to {_join_words(NodeType)}.",
        ),
        CheckedItem(
            "Tenant isolation enforced (`tenant_id` filter)",
            is_fenced if is_ours or is_named else None,
            "a query about nodes does not filter by tenant_id",
            "Do not use this build of Groundplan; report the query.",
        ),
        CheckedItem(
            "Metadata JSONB structure is valid (if applicable)",
            _is_metadata(given.metadata, node, is_new=is_new) if writes and given.metadata is not UNSET else None,
            f"metadata must be an object of at most {TEXT_BYTES_MAX} bytes",
            "Give metadata as an object of names and values, or omit it.",
        ),
        CheckedItem(
            "Title is given and fits (if CREATE, or if it changes)",
            fits(given.title, Title) if is_new or (writes and given.title is not None) else None,
            f"a node has a title of 1 to {TITLE_CHARS_MAX} characters on one line",
            "Give a title.",
        ),
        CheckedItem(
            "Node exists in this version (if UPDATE/DELETE)",
            node is not None if is_named else None,
            _describe_missing(ctx, "node", given.node),
            *SHOW_CONTENT,
        ),
        CheckedItem(
            "Edges of the node still go up (if its type changes)",
            not down if is_ours and node is not None and node_type not in (None, node.node_type) else None,
            f"as {node_type} it has edges that point down: {', '.join(down)}",
            "Reverse these edges, remove them or make them FEEDBACK first.",
        ),
        CheckedItem(
            "Owner is a name (if given)",
            fits(given.owner, Word) if writes and given.owner is not None else None,
            "an owner is a name on one line",
            "Give in owner the name of the responsible person, or omit it.",
        ),
    ]
    facts = {
        "operation": ctx.kind.verb if is_ours or is_named else None,
        "node": node.key if node else given.node,
        "node_type": given.node_type or (node and node.node_type),
        "title": given.title or (node and node.title),
        "version_id": ctx.row and ctx.row.id,
        "status": ctx.row and ctx.row.status,
    }
    return SectionResult(4, checks, facts if is_ours or is_named else {}, decide_verdict(checks))


def check_edge_operation(ctx: ProposalContext) -> SectionResult:
    """Check a proposed edge operation."""
    given = ctx.proposal
    source, target = ctx.find_node(given.source), ctx.find_node(given.target)
    is_ours, is_new = ctx.kind.subject == "edge", ctx.kind is OperationKind.CREATE_EDGE
    is_whole = is_ours and source is not None and target is not None
    edges = ctx.find_edges()
    was = edges[0].edge_type if len(edges) == 1 and not is_new else None
    becomes = _resolve_new_type(ctx, edges)
    name: EdgeName | None = None  # of the edge after the operation, if it is new or gets another type
    cause: TypedEdge | None = None  # the same edge, if it must not point down or close a cycle
    if is_ours and source and target and becomes and was is not becomes:
        name = EdgeName(source.key, target.key, becomes)
        if ctx.is_ordered and becomes_causal(was, becomes):
            cause = TypedEdge(name, source.node_type, target.node_type)
    cycle = _find_cycle(ctx, cause.name) if cause and not cause.name.is_self_edge else None
    wrong = [one for one in (given.edge_type, given.new_edge_type) if one and _parse_word(EdgeType, one) is None]
    checks = [
        CheckedItem(
            "Source and target nodes exist in same ToC version",
            is_whole if is_ours else None,
            f"{ctx.version_name} lacks an end of the edge: {_describe_missing_ends(ctx)}",
            *SHOW_CONTENT,
        ),
        CheckedItem(
            "Edge direction is valid (e.g., Activity → Output, Output → Outcome)",
            not cause.points_down if cause else None,
            f"{name} points down the chain ACTIVITY, OUTPUT, OUTCOME, GOAL",
            "Swap source and target, or set edge_type to FEEDBACK.",
        ),
        CheckedItem(
            "No circular dependencies (optional check for DAG enforcement)",
            cycle is None if cause else None,
            f"it closes a cycle: {format_path(cycle or [])}",
            "Omit one of these edges, or set its edge_type to FEEDBACK.",
        ),
        CheckedItem(
            "Unique constraint satisfied (source, target, edge_type)",
            all(edge.name != name for edge in ctx.content.edges) if name else None,
            f"edge {name} already exists",
            "Update the existing edge, or choose another edge_type.",
        ),
        CheckedItem(
            "Source and target are different nodes (if CREATE)",
            source is not target if is_whole and is_new else None,
            "an edge cannot lead from a node to itself",
            "Name another target.",
        ),
        CheckedItem(
            "Edge type is valid (one of 4 types)",
            not wrong if is_ours and (given.edge_type or given.new_edge_type) else None,
            f"{', '.join(map(quote_text, wrong))} is not one of {_join_words(EdgeType)}",
            f"Use {_join_words(EdgeType)}, or omit it for CONTRIBUTES_TO.",
        ),
        CheckedItem(
            "Edge exists in this version (if UPDATE/DELETE)",
            len(edges) == 1 if is_whole and not is_new else None,
            _describe_ambiguous_edge(ctx, edges),
            *(("Select one with edge_type.",) if len(edges) > 1 else SHOW_CONTENT),
        ),
        CheckedItem(
            "Mechanism is valid (if given)",
            fits(given.mechanism, Sentence) if is_ours and given.mechanism is not None else None,
            f"a mechanism is a text of 1 to {SENTENCE_BYTES_MAX} bytes",
            "Describe in mechanism how the cause leads to the effect, or omit it.",
        ),
        CheckedItem(
            "Confidence is valid (low / medium / high)",
            _parse_word(Confidence, given.confidence) is not None if is_ours and given.confidence is not None else None,
            _describe_invalid_word("confidence", Confidence, given.confidence),
            f"Set confidence to {_join_words(Confidence)}, or omit it.",
        ),
    ]
    facts = {
        "operation": ctx.kind.verb,
        "source": source.key if source else given.source,
        "source_type": source and source.node_type,
        "target": target.key if target else given.target,
        "target_type": target and target.node_type,
        "edge_type": becomes or given.new_edge_type or given.edge_type,
        "profile": ctx.row and ctx.row.profile,
        "cycle": cycle and cycle[:PATH_KEYS_MAX],
    }
    return SectionResult(5, checks, facts if is_ours else {}, decide_verdict(checks))


def check_assumption_operation(ctx: ProposalContext) -> SectionResult:
    """Check a proposed assumption operation."""
    given, found = ctx.proposal, ctx.find_assumption(ctx.proposal.assumption)
    is_ours, is_new = ctx.kind.subject == "assumption", ctx.kind is OperationKind.ADD_ASSUMPTION
    is_of_edge = names_edge(given.source, given.target)
    edges = ctx.find_edges()
    on = None
    if found is not None and not is_new:
        on = found.node or str(found.edge)
    elif is_new and is_on_one_item(given.node, given.source, given.target):
        node = ctx.find_node(given.node)
        on = node.key if node else str(edges[0].name) if len(edges) == 1 else None
    writes = is_ours and ctx.kind is not OperationKind.DELETE_ASSUMPTION
    checks = [
        CheckedItem(
            "Parent node/edge exists",
            on is not None if is_ours and (is_new or found is not None) else None,
            _describe_missing_parent(ctx, edges, is_of_edge=is_of_edge),
            "Name a node, or source and target of an edge.",
            NextStep("purpose.open", "shows nodes and edges"),
        ),
        CheckedItem(
            "Version is DRAFT (if modifying)",
            ctx.is_draft if is_ours else None,
            ctx.why_not_editable,
            *ctx.how_to_edit,
        ),
        CheckedItem(
            "Risk level is valid (LOW / MEDIUM / HIGH)",
            _parse_word(RiskLevel, given.risk_level) is not None if writes and given.risk_level is not None else None,
            _describe_invalid_word("risk_level", RiskLevel, given.risk_level),
            f"Set risk_level to {_join_words(RiskLevel)}, or omit it.",
        ),
        CheckedItem(
            "Assumption text is given and fits (if ADD, or if it changes)",
            fits(given.assumption_text, Sentence) if is_new or (writes and given.assumption_text is not None) else None,
            f"an assumption has a text of 1 to {SENTENCE_BYTES_MAX} bytes",
            "Describe in assumption_text what must hold.",
        ),
        CheckedItem(
            "Assumption exists in this version (if UPDATE/DELETE)",
            found is not None if is_ours and not is_new else None,
            _describe_missing(ctx, "assumption", given.assumption),
            *SHOW_CONTENT,
        ),
        CheckedItem(
            "Review date is a date (if given)",
            is_day(given.review_by) if writes and given.review_by is not None else None,
            f"review_by {quote_text(given.review_by or '')} is not a date",
            "Set review_by to a date such as 2026-11-15, or omit it.",
        ),
        CheckedItem(
            "Owner is a name (if given)",
            fits(given.owner, Word) if writes and given.owner is not None else None,
            "an owner is a name on one line",
            "Give in owner the name of the responsible person, or omit it.",
        ),
        CheckedItem(
            "Edge type is given only for an edge",
            given.edge_type is None if is_new and is_ours and not is_of_edge else None,
            "edge_type is for an edge, but this assumption is on a node",
            "Omit edge_type, or give source and target.",
        ),
    ]
    is_on_edge = is_of_edge if is_new else found is not None and found.edge is not None
    facts = {
        "operation": ctx.kind.verb,
        "assumption": found.key if found else given.assumption,
        "type": "EDGE" if is_on_edge else "NODE",
        "on": on,
        "risk_level": given.risk_level or (found and found.risk_level),
    }
    return SectionResult(6, checks, facts if is_ours else {}, decide_verdict(checks))


def _parse_word(words: type[Choice], text: str | None) -> Choice | None:
    return next((word for word in words if word.value == text), None)


def _join_words(words: type[StrEnum]) -> str:
    return " / ".join(words)


def _describe_invalid_word(field: str, words: type[StrEnum], text: str | None) -> str:
    return f"{field} {quote_text(text)} is not one of {_join_words(words)}" if text else f"{field} is missing"


def _describe_missing(ctx: ProposalContext, thing: str, ref: str | None) -> str:
    return f"{ctx.version_name} has no {thing} {quote_text(ref)}" if ref else f"the {thing} is not given"


def _is_metadata(metadata: Any, node: PurposeNode | None, *, is_new: bool) -> bool:
    """Return whether metadata can be stored, merged with that of the node. A new node may have none."""
    if not isinstance(metadata, dict):
        return metadata is None and is_new
    merged = merge_metadata(node.metadata if node else {}, metadata)
    return count_metadata_bytes(merged) <= TEXT_BYTES_MAX


def _find_downward_edges(ctx: ProposalContext, node: PurposeNode | None, node_type: NodeType | None) -> list[str]:
    """Return the edges that point down if the node gets another type."""
    if node is None or node_type is None or not ctx.is_ordered:
        return []
    nodes = ctx.content.nodes
    edges = (
        TypedEdge(edge.name, nodes[edge.source].node_type, nodes[edge.target].node_type)
        for edge in ctx.content.edges
        if node.key in (edge.source, edge.target)
    )
    return [str(edge.name) for edge in retype_node(edges, node.key, node_type) if edge.points_down]


def _resolve_new_type(ctx: ProposalContext, edges: list[PurposeEdge]) -> EdgeType | None:
    """Return the type of the edge after the operation, or None if it is not known."""
    given = ctx.proposal
    if ctx.kind is OperationKind.CREATE_EDGE:
        return _parse_word(EdgeType, given.edge_type or EdgeType.CONTRIBUTES_TO)
    if len(edges) != 1:
        return None
    return _parse_word(EdgeType, given.new_edge_type or edges[0].edge_type)


def _find_cycle(ctx: ProposalContext, name: EdgeName) -> list[str] | None:
    """Return the cycle that a new causal edge closes."""
    added = (name.source, name.target)
    return find_closed_cycle([*((edge.source, edge.target) for edge in ctx.content.causal_edges), added], [added])


def _describe_missing_ends(ctx: ProposalContext) -> str:
    ends = {"source": ctx.proposal.source, "target": ctx.proposal.target}
    return ", ".join(
        f"{end} {quote_text(ref) if ref else 'is not given'}" for end, ref in ends.items() if not ctx.find_node(ref)
    )


def _describe_ambiguous_edge(ctx: ProposalContext, edges: list[PurposeEdge]) -> str:
    if len(edges) > 1:
        return f"there are {', '.join(str(edge.name) for edge in edges)}, and edge_type is not given"
    ends = (quote_text(ref or "") for ref in (ctx.proposal.source, ctx.proposal.target))
    return f"{ctx.version_name} has no such edge from {' to '.join(ends)}"


def _describe_missing_parent(ctx: ProposalContext, edges: list[PurposeEdge], *, is_of_edge: bool) -> str:
    given = ctx.proposal
    if is_of_edge:
        return (
            "an assumption is on a node or on an edge, not on both"
            if given.node
            else _describe_ambiguous_edge(ctx, edges)
        )
    return _describe_missing(ctx, "node", given.node) if given.node else "neither a node nor an edge is named"
