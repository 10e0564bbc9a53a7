"""Sections 4, 5 and 6: the node, the edge or the assumption that the operation is about, by the rules of the editor."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET

from groundplan.kernel.errors import Invalid
from groundplan.kernel.input_gate.text_limits import NormalizedName, apply_marker
from groundplan.kernel.next_steps import NextStep
from groundplan.kernel.wording import quote_text
from groundplan.purpose.compliance.proposal import OperationKind
from groundplan.purpose.compliance.proposal_context import ProposalContext
from groundplan.purpose.compliance.section import CheckedItem, SectionResult, verdict
from groundplan.purpose.dates import parse_day
from groundplan.purpose.editing.directions import points_down
from groundplan.purpose.editing.edges import PATH_KEYS_MAX, format_path
from groundplan.purpose.graph.cycles import closed_cycle
from groundplan.purpose.limits import SENTENCE_BYTES_MAX, TEXT_BYTES_MAX, TITLE_CHARS_MAX, WORD_CHARS_MAX
from groundplan.purpose.model import Confidence, EdgeName, EdgeType, NodeType, PurposeEdge, PurposeNode, RiskLevel

Word = TypeVar("Word", bound=StrEnum)

SHOW_CONTENT = "", NextStep("purpose.open", "shows what is there")


def check_node_operation(it: ProposalContext, *, is_fenced: bool) -> SectionResult:
    """Whether a node may be made, changed or removed so."""
    given, node = it.proposal, it.node(it.proposal.node)
    is_ours, is_new = it.kind.subject == "node", it.kind is OperationKind.CREATE_NODE
    is_named = (is_ours and not is_new) or (it.kind is OperationKind.READ and given.node is not None)
    writes = is_ours and it.kind is not OperationKind.DELETE_NODE
    node_type = _one_of(NodeType, given.node_type)
    down = _find_downward_edges(it, node, node_type) if it.kind is OperationKind.UPDATE_NODE else []
    checks = [
        CheckedItem(
            "Version is DRAFT (if CREATE/UPDATE/DELETE)",
            it.is_draft if is_ours else None,
            it.why_not_editable,
            *it.how_to_edit,
        ),
        CheckedItem(
            "Node type is valid (one of 4 types)",
            node_type is not None if writes and (is_new or given.node_type is not None) else None,
            _not_one_of("node_type", NodeType, given.node_type),
            f"Say node_type {_alternatives(NodeType)}.",
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
            "Give metadata as an object of names and values, or leave it out.",
        ),
        CheckedItem(
            "Title is given and fits (if CREATE, or if it changes)",
            _is_line(given.title, TITLE_CHARS_MAX) if is_new or (writes and given.title is not None) else None,
            f"a node has a title of 1 to {TITLE_CHARS_MAX} characters on one line",
            "Give a title.",
        ),
        CheckedItem(
            "Node exists in this version (if UPDATE/DELETE)",
            node is not None if is_named else None,
            _describe_missing(it, "node", given.node),
            *SHOW_CONTENT,
        ),
        CheckedItem(
            "Edges of the node still go up (if its type changes)",
            not down if is_ours and node is not None and node_type not in (None, node.node_type) else None,
            f"as {node_type} it would stand below a cause or above an effect: {', '.join(down)}",
            "Turn these edges round, remove them or make them FEEDBACK first.",
        ),
        CheckedItem(
            "Owner is a name (if given)",
            _is_line(given.owner, WORD_CHARS_MAX) if writes and given.owner is not None else None,
            "an owner is a name on one line",
            "Say in owner who looks after it, or leave it out.",
        ),
    ]
    facts = {
        "operation": it.kind.verb if is_ours or is_named else None,
        "node": node.key if node else given.node,
        "node_type": given.node_type or (node and node.node_type),
        "title": given.title or (node and node.title),
        "version_id": it.row and it.row.id,
        "status": it.row and it.row.status,
    }
    return SectionResult(4, "Node Operations", checks, facts if is_ours or is_named else {}, verdict(checks))


def check_edge_operation(it: ProposalContext) -> SectionResult:
    """Whether an edge may be made, changed or removed so."""
    given = it.proposal
    source, target = it.node(given.source), it.node(given.target)
    is_ours, is_new = it.kind.subject == "edge", it.kind is OperationKind.CREATE_EDGE
    is_whole = is_ours and source is not None and target is not None
    edges = it.edges()
    becomes = _resolve_new_type(it, edges)
    name = EdgeName(source.key, target.key, becomes) if becomes and source and target else None
    was = edges[0] if len(edges) == 1 and not is_new else None
    is_moved = is_whole and name is not None and (is_new or (was is not None and was.edge_type is not becomes))
    # One that is a cause already is not judged anew when it becomes another sort of cause.
    is_new_cause = is_new or (was is not None and was.edge_type is EdgeType.FEEDBACK)
    is_judged = is_moved and is_new_cause and it.is_ordered and becomes is not EdgeType.FEEDBACK
    cycle = _cycle(it, name, was) if is_judged and name is not None and name.source != name.target else None
    wrong = [one for one in (given.edge_type, given.new_edge_type) if one and _one_of(EdgeType, one) is None]
    checks = [
        CheckedItem(
            "Source and target nodes exist in same ToC version",
            is_whole if is_ours else None,
            f"{it.version_name} lacks an end of the edge: {_describe_missing_ends(it)}",
            *SHOW_CONTENT,
        ),
        CheckedItem(
            "Edge direction is valid (e.g., Activity → Output, Output → Outcome)",
            not points_down(name.edge_type, source.node_type, target.node_type)
            if is_judged and name and source and target
            else None,
            f"{name} would point down the chain ACTIVITY, OUTPUT, OUTCOME, GOAL",
            "Turn the edge round, or say edge_type FEEDBACK.",
        ),
        CheckedItem(
            "No circular dependencies (optional check for DAG enforcement)",
            cycle is None if is_judged else None,
            f"it would close a cycle: {format_path(cycle or [])}",
            "Leave one of these edges out, or say edge_type FEEDBACK.",
        ),
        CheckedItem(
            "Unique constraint satisfied (source, target, edge_type)",
            all(edge.name != name for edge in it.content.edges) if is_moved else None,
            f"there is an edge {name} already",
            "Update the edge that is there, or say another edge_type.",
        ),
        CheckedItem(
            "Source and target are different nodes (if CREATE)",
            source is not target if is_whole and is_new else None,
            "an edge from a node to itself says nothing",
            "Name another target.",
        ),
        CheckedItem(
            "Edge type is valid (one of 4 types)",
            not wrong if is_ours and (given.edge_type or given.new_edge_type) else None,
            f"{', '.join(map(quote_text, wrong))} is none of {_alternatives(EdgeType)}",
            f"Say {_alternatives(EdgeType)}, or leave it out for CONTRIBUTES_TO.",
        ),
        CheckedItem(
            "Edge exists in this version (if UPDATE/DELETE)",
            len(edges) == 1 if is_whole and not is_new else None,
            _describe_ambiguous_edge(it, edges),
            *(("Say which with edge_type.",) if len(edges) > 1 else SHOW_CONTENT),
        ),
        CheckedItem(
            "Mechanism is said (if given)",
            _is_sentence(given.mechanism) if is_ours and given.mechanism is not None else None,
            f"a mechanism is a text of 1 to {SENTENCE_BYTES_MAX} bytes",
            "Say in mechanism how the cause brings the effect about, or leave it out.",
        ),
        CheckedItem(
            "Confidence is valid (low / medium / high)",
            _one_of(Confidence, given.confidence) is not None if is_ours and given.confidence is not None else None,
            _not_one_of("confidence", Confidence, given.confidence),
            f"Say confidence {_alternatives(Confidence)}, or leave it out.",
        ),
    ]
    facts = {
        "operation": it.kind.verb,
        "source": source.key if source else given.source,
        "source_type": source and source.node_type,
        "target": target.key if target else given.target,
        "target_type": target and target.node_type,
        "edge_type": becomes or given.new_edge_type or given.edge_type,
        "profile": it.row and it.row.profile,
        "cycle": cycle and cycle[:PATH_KEYS_MAX],
    }
    return SectionResult(5, "Edge Operations", checks, facts if is_ours else {}, verdict(checks))


def check_assumption_operation(it: ProposalContext) -> SectionResult:
    """Whether an assumption may be made, changed or removed so."""
    given, found = it.proposal, it.assumption(it.proposal.assumption)
    is_ours, is_new = it.kind.subject == "assumption", it.kind is OperationKind.ADD_ASSUMPTION
    is_of_edge = given.source is not None or given.target is not None
    edges = it.edges()
    if not is_new:
        on = None if found is None else found.node or str(found.edge)
    elif is_of_edge:
        on = str(edges[0].name) if len(edges) == 1 and given.node is None else None
    else:
        node = it.node(given.node)
        on = None if node is None else node.key
    writes = is_ours and it.kind is not OperationKind.DELETE_ASSUMPTION
    checks = [
        CheckedItem(
            "Parent node/edge exists",
            on is not None if is_ours and (is_new or found is not None) else None,
            _no_parent(it, edges, is_of_edge=is_of_edge),
            "Name a node, or source and target of an edge.",
            NextStep("purpose.open", "shows them"),
        ),
        CheckedItem(
            "Version is DRAFT (if modifying)",
            it.is_draft if is_ours else None,
            it.why_not_editable,
            *it.how_to_edit,
        ),
        CheckedItem(
            "Risk level is valid (LOW / MEDIUM / HIGH)",
            _one_of(RiskLevel, given.risk_level) is not None if writes and given.risk_level is not None else None,
            _not_one_of("risk_level", RiskLevel, given.risk_level),
            f"Say risk_level {_alternatives(RiskLevel)}, or leave it out.",
        ),
        CheckedItem(
            "Assumption text is given and fits (if ADD, or if it changes)",
            _is_sentence(given.assumption_text) if is_new or (writes and given.assumption_text is not None) else None,
            f"an assumption has a text of 1 to {SENTENCE_BYTES_MAX} bytes",
            "Say in assumption_text what must hold.",
        ),
        CheckedItem(
            "Assumption exists in this version (if UPDATE/DELETE)",
            found is not None if is_ours and not is_new else None,
            _describe_missing(it, "assumption", given.assumption),
            *SHOW_CONTENT,
        ),
        CheckedItem(
            "Review date is a date (if given)",
            _is_day(given.review_by) if writes and given.review_by is not None else None,
            f"review_by {quote_text(given.review_by or '')} is no date",
            "Say review_by such as 2026-11-15, or leave it out.",
        ),
        CheckedItem(
            "Owner is a name (if given)",
            _is_line(given.owner, WORD_CHARS_MAX) if writes and given.owner is not None else None,
            "an owner is a name on one line",
            "Say in owner who looks after it, or leave it out.",
        ),
        CheckedItem(
            "Edge type is said of an edge only",
            given.edge_type is None if is_new and is_ours and not is_of_edge else None,
            "edge_type is of an edge, and this is on a node",
            "Leave edge_type out, or say source and target.",
        ),
    ]
    is_on_edge = is_of_edge if is_new else found is not None and found.edge is not None
    facts = {
        "operation": it.kind.verb,
        "assumption": found.key if found else given.assumption,
        "type": "EDGE" if is_on_edge else "NODE",
        "on": on,
        "risk_level": given.risk_level or (found and found.risk_level),
    }
    return SectionResult(6, "Assumptions Handling", checks, facts if is_ours else {}, verdict(checks))


def _one_of(words: type[Word], said: str | None) -> Word | None:
    return next((word for word in words if word.value == said), None)


def _alternatives(words: type[StrEnum]) -> str:
    return " / ".join(words)


def _not_one_of(field: str, words: type[StrEnum], said: str | None) -> str:
    return f"{field} {quote_text(said)} is none of {_alternatives(words)}" if said else f"{field} is not said"


def _describe_missing(it: ProposalContext, thing: str, ref: str | None) -> str:
    return f"{it.version_name} has no {thing} {quote_text(ref)}" if ref else f"it is not said which {thing}"


def _is_line(text: str | None, chars_max: int) -> bool:
    try:
        return bool(apply_marker(NormalizedName(chars_max), text or "", ()))
    except Invalid:
        return False


def _is_sentence(text: str | None) -> bool:
    return bool((text or "").strip()) and len((text or "").encode()) <= SENTENCE_BYTES_MAX


def _is_day(text: str) -> bool:
    try:
        return bool(parse_day(text, ("review_by",)))
    except Invalid:
        return False


def _is_metadata(metadata: Any, node: PurposeNode | None, *, is_new: bool) -> bool:
    """Whether it can be kept, together with what is there already. A new node may go without."""
    if not isinstance(metadata, dict):
        return metadata is None and is_new
    merged = {**(node.metadata if node else {}), **metadata}
    kept = {name: value for name, value in merged.items() if value is not None}
    return len(msgspec.json.encode(kept)) <= TEXT_BYTES_MAX


def _find_downward_edges(it: ProposalContext, node: PurposeNode | None, node_type: NodeType | None) -> list[str]:
    """The edges that would point down if a node were of another type."""
    if node is None or node_type is None or not it.is_ordered:
        return []
    types = {key: one.node_type for key, one in it.content.nodes.items()} | {node.key: node_type}
    return [
        str(edge.name)
        for edge in it.content.edges
        if node.key in (edge.source, edge.target)
        and points_down(edge.edge_type, types[edge.source], types[edge.target])
    ]


def _resolve_new_type(it: ProposalContext, edges: list[PurposeEdge]) -> EdgeType | None:
    """The type that the edge has afterwards; None where that cannot be said."""
    given = it.proposal
    if it.kind is OperationKind.CREATE_EDGE:
        return _one_of(EdgeType, given.edge_type or EdgeType.CONTRIBUTES_TO)
    if len(edges) != 1:
        return None
    return _one_of(EdgeType, given.new_edge_type or edges[0].edge_type)


def _cycle(it: ProposalContext, name: EdgeName, was: PurposeEdge | None) -> list[str] | None:
    """The cycle that the edge would close. One that was a cause before closes none that was not there."""
    if was is not None and was.is_causal:
        return None
    added = (name.source, name.target)
    return closed_cycle([*((edge.source, edge.target) for edge in it.content.causal_edges), added], [added])


def _describe_missing_ends(it: ProposalContext) -> str:
    ends = {"source": it.proposal.source, "target": it.proposal.target}
    return ", ".join(
        f"{end} {quote_text(ref) if ref else 'is not said'}" for end, ref in ends.items() if not it.node(ref)
    )


def _describe_ambiguous_edge(it: ProposalContext, edges: list[PurposeEdge]) -> str:
    if len(edges) > 1:
        return f"there are {', '.join(str(edge.name) for edge in edges)}, and edge_type is not said"
    ends = (quote_text(ref or "") for ref in (it.proposal.source, it.proposal.target))
    return f"{it.version_name} has no such edge from {' to '.join(ends)}"


def _no_parent(it: ProposalContext, edges: list[PurposeEdge], *, is_of_edge: bool) -> str:
    given = it.proposal
    if is_of_edge:
        return (
            "an assumption is of a node or of an edge, not of both"
            if given.node
            else _describe_ambiguous_edge(it, edges)
        )
    return _describe_missing(it, "node", given.node) if given.node else "neither a node nor an edge is named"
