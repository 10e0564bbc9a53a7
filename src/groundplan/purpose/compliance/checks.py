"""Check a proposed operation, and decide whether it may proceed: the checks of sections 2 to 6 and the whole checklist.

All of it is computed: tables and policies are read from the live database, versions and nodes from the plan, rights
from the permission table. It changes nothing, and gives the same verdict as the operation itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from enum import StrEnum
from typing import Any, Literal, TypeVar

from msgspec import UNSET
from msgspec.structs import replace

from groundplan.kernel.errors import Invalid, NextStep
from groundplan.kernel.input_gate.request import parse_request
from groundplan.kernel.input_gate.text_limits import NormalizedName, apply_marker
from groundplan.kernel.store.live_catalog import LiveTable, list_tables_with_prefix, read_live_tables
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import quote_text
from groundplan.policies import get_policies
from groundplan.purpose.compliance.checklist import (
    SECTION_TITLES,
    CheckedItem,
    ChecklistItem,
    ChecklistSection,
    Compliance,
    FailedItem,
    OperationKind,
    ProposalContext,
    ProposedOperation,
    SectionResult,
    decide_verdict,
    has_failures,
    read_proposal_context,
)
from groundplan.purpose.compliance.checklist_markdown import render_checklist
from groundplan.purpose.compliance.live_schema import check_graph_model, check_tenant_filters, check_tenant_isolation
from groundplan.purpose.dates import is_day
from groundplan.purpose.editing.items import PATH_KEYS_MAX, format_path
from groundplan.purpose.editing.operations import AddIndicator, UpdateIndicator
from groundplan.purpose.editing.rules import (
    TypedEdge,
    count_metadata_bytes,
    fits,
    is_new_cause,
    is_on_one_item,
    merge_metadata,
    names_edge,
    retype_node,
)
from groundplan.purpose.gates.gates import Check, GateResult, list_required_gates
from groundplan.purpose.gates.run import read_gate_inputs, run_gate
from groundplan.purpose.graph.cycles import find_closed_cycle
from groundplan.purpose.metadata_structure import MetadataStructure, find_structure
from groundplan.purpose.model import (
    SENTENCE_BYTES_MAX,
    TEXT_BYTES_MAX,
    TITLE_CHARS_MAX,
    Confidence,
    EdgeName,
    EdgeType,
    Indicator,
    NodeType,
    Profile,
    PurposeEdge,
    PurposeNode,
    RiskLevel,
    Sentence,
    Title,
    Word,
    compute_content_hash,
)
from groundplan.purpose.versions.drafts import get_least_profile, is_lighter
from groundplan.purpose.versions.publish import LABEL_CHARS_MAX, is_same_as, is_unambiguous_label
from groundplan.purpose.versions.versions import VersionRow, find_latest_published

sql = load_queries(__file__)

TABLE_PREFIX = "toc_"
ANY_REF = "IN1"  # where only the fields of an indicator are looked at
EVERYTHING_HOLDS = "all checks that apply to this operation pass"
SHOW_CONTENT = "", NextStep("purpose.open", "shows the content")

Choice = TypeVar("Choice", bound=StrEnum)


def build_checklist(tx: Transaction, proposal: ProposedOperation) -> Compliance:
    """Return the decision on an operation in the project, with reasons and required actions if it may not proceed."""
    ctx = read_proposal_context(tx, proposal)
    tables = read_live_tables(tx, list_tables_with_prefix(tx, TABLE_PREFIX))
    parts = [
        check_graph_model(tables, _find_proposed_structure(ctx.proposal)),
        check_version_state(ctx),
        check_version_constraints(tx, ctx, tables.get("toc_versions")),
        check_node_operation(ctx, is_fenced=not check_tenant_filters().unfiltered_on_nodes),
        check_edge_operation(ctx),
        check_assumption_operation(ctx),
        check_tenant_isolation(tx, ctx.kind, tables),
    ]
    failed = [check for part in parts for check in part.checks if check.ok is False]
    # One cause can fail in several sections, so drop duplicates.
    reasons = list(dict.fromkeys(check.reason for check in failed))
    actions = list(dict.fromkeys(_describe_action(tx, check) for check in failed))
    facts = {"reasons": reasons or [EVERYTHING_HOLDS], "required_actions": actions}
    status: Literal["APPROVED", "BLOCKED"] = "BLOCKED" if failed else "APPROVED"
    sections = [
        *(
            ChecklistSection(number, SECTION_TITLES[number], [*_to_items(checks)], section_facts, verdict)
            for number, checks, section_facts, verdict in parts
        ),
        ChecklistSection(8, SECTION_TITLES[8], [], facts, status),
    ]
    return Compliance(
        status=status,
        sections=sections,
        reasons=reasons,
        required_actions=actions,
        markdown=render_checklist(sections, proposal, tx.now),
    )


def shorten(checklist: Compliance) -> Compliance:
    """Return the decision with the items that fail, without the sections and their Markdown."""
    failed = [
        FailedItem(section.number, item.text)
        for section in checklist.sections or ()
        for item in section.items
        if item.ok is False
    ]
    return replace(checklist, sections=UNSET, markdown=UNSET, failed=failed)


def _find_proposed_structure(proposal: ProposedOperation) -> MetadataStructure:
    """Return the structure in the metadata that the operation writes, and in the operation itself."""
    writes_node = proposal.kind in (OperationKind.CREATE_NODE, OperationKind.UPDATE_NODE)
    stored = find_structure(proposal.metadata) if writes_node else MetadataStructure([], [])
    links, trees = (
        [name for name in names if getattr(proposal, name) is not None]
        for names in (("parent_id", "parent"), ("children", "path", "tree"))
    )
    return MetadataStructure([*links, *stored.links], [*trees, *stored.trees])


def _to_items(checks: list[CheckedItem]) -> Iterator[ChecklistItem]:
    yield from (ChecklistItem(check.text, check.ok) for check in checks)


def _describe_action(tx: Transaction, check: CheckedItem) -> str:
    """Return the required action of a failed check, in the words of the caller's surface."""
    described = f"{tx.describe(check.next_step)}." if check.next_step else ""
    return " ".join(filter(None, (check.action, described)))


def check_version_state(ctx: ProposalContext) -> SectionResult:
    """Check whether the version can be edited."""
    row, kind = ctx.row, ctx.kind

    def must_be_draft(text: str, applies: bool) -> CheckedItem:
        return CheckedItem(text, ctx.is_draft if applies else None, ctx.why_not_editable, *ctx.how_to_edit)

    changes = kind is not OperationKind.READ
    checks = [
        must_be_draft(
            "If operation is CREATE/UPDATE/DELETE node → Version MUST be DRAFT", kind.subject in ("node", "indicator")
        ),
        must_be_draft("If operation is CREATE/UPDATE/DELETE edge → Version MUST be DRAFT", kind.subject == "edge"),
        must_be_draft("If operation is PUBLISH → Version MUST be DRAFT", kind is OperationKind.PUBLISH),
        CheckedItem(
            "If operation is READ → Version can be DRAFT or PUBLISHED",
            None if changes else row is not None or ctx.proposal.version_ref is None,
            ctx.why_not_editable,
            "Name an existing version.",
            NextStep("purpose.versions", "lists the versions", {"project": ctx.project.name}),
        ),
        CheckedItem(
            "Project is not archived (if anything changes)",
            ctx.project.archived_at is None if changes else None,
            "the project is archived, so it cannot be changed",
            "",
            NextStep("project.restore", "restores the project", {"project": ctx.project.name}),
        ),
    ]
    facts = {
        "version_id": row and row.id,
        "version": row and row.number,
        "project_id": ctx.project.id,
        "status": row and row.status,
        "label": row and row.label,
        "profile": row and row.profile,
        "rev": row and row.rev,
        "can_modify": ctx.is_draft,
    }
    verdict = "BLOCKED" if has_failures(checks) or (kind.edits and not ctx.is_draft) else "VALID"
    if row is not None and not row.is_draft and (kind.edits or kind is OperationKind.PUBLISH):
        verdict = "BLOCKED (cannot edit PUBLISHED version)"
    return SectionResult(2, checks, facts, verdict)


def check_version_constraints(tx: Transaction, ctx: ProposalContext, versions: LiveTable | None) -> SectionResult:
    """Check that the versions of the project are valid before and after the operation."""
    kind, row = ctx.kind, ctx.row
    drafts = [version.number for version in ctx.versions if version.is_draft]
    numbers = [version.number for version in ctx.versions]
    published = [version.number for version in ctx.versions if not version.is_draft]
    is_publish = kind is OperationKind.PUBLISH
    draft_count = tx.scalar(sql.draft_count, project_id=tx.project.id)
    one_draft = CheckedItem(
        "Only ONE DRAFT exists per project",
        not drafts if kind is OperationKind.CREATE_DRAFT else len(drafts) <= 1,
        f"version {', '.join(map(str, drafts))} is already a draft",
        "Publish, discard or edit the existing draft.",
    )
    results = _run_gates(tx, row, ctx) if is_publish and row is not None and row.is_draft else []
    checks = [
        one_draft,
        CheckedItem("Query to verify", draft_count in (0, 1), one_draft.reason, one_draft.action),
        CheckedItem(
            "Current version is DRAFT",
            ctx.is_draft if is_publish else None,
            ctx.why_not_editable,
            *ctx.how_to_edit,
        ),
        CheckedItem(
            "All validation gates pass (Gate A/B if required)",
            all(result.passed for result in results) if results else None,
            "; ".join(f"gate {result.gate}: {_describe_failures(result)}" for result in results if not result.passed),
            " ".join(_describe_fixes(tx, result) for result in results if not result.passed),
        ),
        CheckedItem(
            "Version number is next in sequence",
            row.number == len(published) + 1 and numbers == list(range(1, len(numbers) + 1))
            if is_publish and row is not None and row.is_draft
            else None,
            f"the versions are {numbers}, so this is not the next one",
            "Restore the database from a backup: version numbers have no gaps.",
        ),
        CheckedItem(
            "`published_at` timestamp will be set to NOW()",
            versions is not None and "published_at" in versions.columns and row is not None and row.published_at is None
            if is_publish
            else None,
            ctx.why_not_editable,
            *ctx.how_to_edit,
        ),
        _check_origin(ctx),
        CheckedItem(
            "Profile is valid (if CREATE DRAFT)",
            ctx.proposal.profile in list(Profile)
            if kind is OperationKind.CREATE_DRAFT and ctx.proposal.profile
            else None,
            f"profile {quote_text(ctx.proposal.profile or '')} is not one of {' / '.join(Profile)}",
            f"Set profile to {' / '.join(Profile)}, or omit it.",
        ),
        CheckedItem(
            "Label is unambiguous (if PUBLISH)",
            _is_label(ctx.proposal.label, row) if is_publish and ctx.proposal.label is not None else None,
            f"label {quote_text(ctx.proposal.label or '')} is not one line, or can be mistaken for another version",
            "Give another label, or omit it.",
        ),
    ]
    checks += _check_profile_and_change(tx, ctx)
    facts: dict[str, Any] = {
        "draft_count": draft_count,
        "versions": numbers,
        "next_number": len(numbers) + 1,
        "publish_gates": get_policies(tx).publish_gates,
        "published_at": tx.now if is_publish and ctx.is_draft else None,
        "gates": [
            {
                "gate": result.gate,
                "profile": result.profile,
                "passed": result.passed,
                "score": result.score,
                "failed": [check.code for check in _find_blocking_checks(result)],
            }
            for result in results
        ],
    }
    return SectionResult(3, checks, facts, decide_verdict(checks))


def _check_profile_and_change(tx: Transaction, ctx: ProposalContext) -> list[CheckedItem]:
    """Check the conditions of publishing besides the gates: the profile is not too light, and the draft has changes."""
    profile, least = _find_proposed_profile(ctx), get_least_profile(tx)
    row, latest = ctx.row, find_latest_published(tx)
    is_changed: bool | None = None
    if ctx.kind is OperationKind.PUBLISH and row is not None and row.is_draft and latest is not None:
        facts = read_gate_inputs(tx, row, ctx.content)[1].context
        is_changed = not is_same_as(
            latest, content_hash=compute_content_hash(ctx.content), context_run=facts.run if facts else None
        )
    return [
        CheckedItem(
            "Profile is allowed by the project (if CREATE DRAFT or PUBLISH)",
            None if profile is None else not is_lighter(profile, least),
            f"the profile {profile} is lighter than {least}, the lightest that policy profile_min allows",
            f"Begin a draft with profile {least}.",
        ),
        CheckedItem(
            "Content or facts differ from the latest version (if PUBLISH)",
            is_changed,
            f"the draft has the same content and the same facts as version {latest and latest.number}",
            "Change the draft, or discard it.",
        ),
    ]


def _find_proposed_profile(ctx: ProposalContext) -> Profile | None:
    """Return the profile of the version after the operation; None if the operation does not concern a profile."""
    if ctx.kind is OperationKind.CREATE_DRAFT and ctx.proposal.profile in list(Profile):
        return Profile(ctx.proposal.profile)
    is_publish = ctx.kind is OperationKind.PUBLISH and ctx.row is not None and ctx.row.is_draft
    return ctx.row.profile if is_publish and ctx.row is not None else None


def _is_label(label: str, row: VersionRow | None) -> bool:
    try:
        normalized = apply_marker(NormalizedName(LABEL_CHARS_MAX), label, ("label",))
    except Invalid:
        return False
    return row is None or is_unambiguous_label(normalized, row.number)


def _check_origin(ctx: ProposalContext) -> CheckedItem:
    """Check that a new draft copies a published version, if there is one."""
    applies = ctx.kind is OperationKind.CREATE_DRAFT and (ctx.proposal.version_ref is not None or ctx.row is not None)
    return CheckedItem(
        "Draft copies a published version (if CREATE DRAFT)",
        ctx.row is not None and not ctx.row.is_draft if applies else None,
        f"{ctx.version_name} is not a published version",
        "Name a published version, or omit it to copy the latest one.",
    )


def _run_gates(tx: Transaction, row: VersionRow, ctx: ProposalContext) -> list[GateResult]:
    """Run the gates that publishing requires."""
    observations, outside, today = read_gate_inputs(tx, row, ctx.content)
    return [
        run_gate(gate, ctx.content, observations, profile=row.profile, external_facts=outside, today=today).describe(
            tx.preferences.vocabulary
        )
        for gate in list_required_gates(get_policies(tx))
    ]


def _describe_failures(result: GateResult) -> str:
    return ", ".join(f"{check.code} ({check.message})" for check in _find_blocking_checks(result))


def _describe_fixes(tx: Transaction, result: GateResult) -> str:
    fixes = "; ".join(f"{check.code}: {check.fix or check.message}" for check in _find_blocking_checks(result))
    steps = (
        NextStep("purpose.edit", f"corrects what gate {result.gate} found"),
        NextStep("purpose.record", "with waivers lets an owner waive it", fill=("waivers",)),
    )
    return f"{tx.describe(*steps)}. {fixes}."


def _find_blocking_checks(result: GateResult) -> list[Check]:
    """Return the checks that make a gate fail."""
    return [check for check in result.checks if check.is_blocking]


def check_node_operation(ctx: ProposalContext, *, is_fenced: bool) -> SectionResult:
    """Check a proposed node operation."""
    given = ctx.proposal
    indicator = ctx.find_indicator(given.indicator)
    is_ours, is_measured = "node" in given.subjects, "indicator" in given.subjects
    is_new = ctx.kind is OperationKind.CREATE_NODE
    node = ctx.find_node(indicator.node if indicator and not is_ours else given.node)
    writes = ctx.kind in (OperationKind.CREATE_NODE, OperationKind.UPDATE_NODE)
    node_type = _parse_word(NodeType, given.node_type)
    retyped = _retype_edges(ctx, node, node_type) if ctx.kind is OperationKind.UPDATE_NODE else []
    down = [str(after.name) for _, after in retyped if after.points_down]
    turned = [after for before, after in retyped if is_new_cause(before, after)]
    cycle = _find_cycle(ctx, turned, instead_of=[after.name for after in turned]) if turned else None
    checks = [
        CheckedItem(
            "Version is DRAFT (if CREATE/UPDATE/DELETE)",
            ctx.is_draft if ctx.kind.edits and (is_ours or is_measured) else None,
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
            is_fenced if is_ours or is_measured else None,
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
            "Node exists in this version (unless CREATE)",
            node is not None if is_ours and not is_new else None,
            _describe_missing(ctx, "node", given.node),
            *SHOW_CONTENT,
        ),
        CheckedItem(
            "Edges of the node still go up (if its type changes)",
            not down if writes and node is not None and node_type not in (None, node.node_type) else None,
            f"as {node_type} it has edges that point down: {', '.join(down)}",
            "Reverse these edges, remove them or make them FEEDBACK first.",
        ),
        CheckedItem(
            "Its edges close no cycle (if its type changes)",
            cycle is None if turned else None,
            f"as {node_type} its DEPENDS_ON edges are turned round, which closes a cycle: {format_path(cycle or [])}",
            "Omit one of these edges, or set its edge_type to FEEDBACK first.",
        ),
        CheckedItem(
            "Owner is a name (if given)",
            fits(given.owner, Word) if writes and given.owner is not None else None,
            "an owner is a name on one line",
            "Give in owner the name of the responsible person, or omit it.",
        ),
        *(_check_indicator(ctx, node, indicator) if is_measured else ()),
    ]
    facts = {
        "subject": "indicator" if is_measured else "node",
        "operation": ctx.kind.verb,
        "node": node.key if node else given.node,
        "node_type": given.node_type or (node and node.node_type),
        "title": given.title or (node and node.title),
        "version_id": ctx.row and ctx.row.id,
        "status": ctx.row and ctx.row.status,
    }
    return SectionResult(4, checks, facts if is_ours or is_measured else {}, decide_verdict(checks))


_INDICATOR_FIELDS = (
    *("name", "unit", "direction", "baseline", "baseline_verified", "target", "method", "frequency", "owner"),
)


def _check_indicator(
    ctx: ProposalContext, node: PurposeNode | None, indicator: Indicator | None
) -> Iterator[CheckedItem]:
    """Yield the items about an indicator, which has no section of its own."""
    given, is_new = ctx.proposal, ctx.kind is OperationKind.ADD_INDICATOR
    yield CheckedItem(
        "Node of the indicator exists in this version (if ADD)",
        node is not None if is_new else None,
        _describe_missing(ctx, "node", given.node),
        *SHOW_CONTENT,
    )
    yield CheckedItem(
        "Indicator exists in this version (unless ADD)",
        indicator is not None if not is_new else None,
        _describe_missing(ctx, "indicator", given.indicator),
        *SHOW_CONTENT,
    )
    writes = ctx.kind in (OperationKind.ADD_INDICATOR, OperationKind.UPDATE_INDICATOR)
    problem = _find_indicator_problem(given, is_new=is_new) if writes else None
    yield CheckedItem(
        "Indicator is well formed (if ADD/UPDATE)",
        problem is None if writes else None,
        problem or "",
        "Correct this argument, or omit it.",
    )


def _find_indicator_problem(given: ProposedOperation, *, is_new: bool) -> str | None:
    """Return what the edit would say of the fields of an indicator."""
    fields = {name: value for name in _INDICATOR_FIELDS if (value := getattr(given, name)) is not None}
    try:
        if is_new:
            parse_request({"op": "add_indicator", "node": ANY_REF, **fields}, AddIndicator)
        else:
            parse_request({"op": "update_indicator", "indicator": ANY_REF, **fields}, UpdateIndicator)
    except Invalid as error:
        return error.message
    return None


def check_edge_operation(ctx: ProposalContext) -> SectionResult:
    """Check a proposed edge operation."""
    given = ctx.proposal
    source, target = ctx.find_node(given.source), ctx.find_node(given.target_node)
    is_ours, is_new = "edge" in given.subjects, ctx.kind is OperationKind.CREATE_EDGE
    writes = ctx.kind in (OperationKind.CREATE_EDGE, OperationKind.UPDATE_EDGE)
    is_whole = is_ours and source is not None and target is not None
    edges = ctx.find_edges()
    was = edges[0].edge_type if len(edges) == 1 and not is_new else None
    becomes = _resolve_new_type(ctx, edges)
    name: EdgeName | None = None  # of the edge after the operation, if it is new or gets another type
    cause: TypedEdge | None = None  # the same edge, if it must not point down or close a cycle
    before: TypedEdge | None = None
    if writes and source and target and becomes and was is not becomes:
        name = EdgeName(source.key, target.key, becomes)
        after = TypedEdge(name, source.node_type, target.node_type)
        before = after._replace(name=name._replace(edge_type=was)) if was else None
        if ctx.forbids_cycles_and_downward_edges and is_new_cause(before, after):
            cause = after
    cycle: list[str] | None = None
    if cause and not cause.name.is_self_edge:
        cycle = _find_cycle(ctx, [cause], instead_of=[before.name] if before else [])
    wrong = [word for word in (given.edge_type, given.new_edge_type) if word and _parse_word(EdgeType, word) is None]
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
            "Edge exists in this version (unless CREATE)",
            (len(edges) == 1 or (bool(edges) and not ctx.kind.edits)) if is_whole and not is_new else None,
            _describe_ambiguous_edge(ctx, edges),
            *(("Select one with edge_type.",) if len(edges) > 1 else SHOW_CONTENT),
        ),
        CheckedItem(
            "Mechanism is valid (if given)",
            fits(given.mechanism, Sentence) if writes and given.mechanism is not None else None,
            f"a mechanism is a text of 1 to {SENTENCE_BYTES_MAX} bytes",
            "Describe in mechanism how the cause leads to the effect, or omit it.",
        ),
        CheckedItem(
            "Confidence is valid (low / medium / high)",
            _parse_word(Confidence, given.confidence) is not None if writes and given.confidence is not None else None,
            _describe_invalid_word("confidence", Confidence, given.confidence),
            f"Set confidence to {_join_words(Confidence)}, or omit it.",
        ),
    ]
    facts = {
        "operation": ctx.kind.verb,
        "source": source.key if source else given.source,
        "source_type": source and source.node_type,
        "target": target.key if target else given.target_node,
        "target_type": target and target.node_type,
        "edge_type": becomes or given.new_edge_type or given.edge_type,
        "profile": ctx.row and ctx.row.profile,
        "cycle": cycle and cycle[:PATH_KEYS_MAX],
    }
    return SectionResult(5, checks, facts if is_ours else {}, decide_verdict(checks))


def check_assumption_operation(ctx: ProposalContext) -> SectionResult:
    """Check a proposed assumption operation."""
    given, assumption = ctx.proposal, ctx.find_assumption(ctx.proposal.assumption)
    is_ours, is_new = "assumption" in given.subjects, ctx.kind is OperationKind.ADD_ASSUMPTION
    is_of_edge = names_edge(given.source, given.target_node)
    edges = ctx.find_edges()
    on = None
    if assumption is not None and not is_new:
        on = assumption.node or str(assumption.edge)
    elif is_new and is_on_one_item(given.node, given.source, given.target_node):
        node = ctx.find_node(given.node)
        on = node.key if node else str(edges[0].name) if len(edges) == 1 else None
    writes = ctx.kind in (OperationKind.ADD_ASSUMPTION, OperationKind.UPDATE_ASSUMPTION)
    checks = [
        CheckedItem(
            "Parent node/edge exists",
            on is not None if is_ours and (is_new or assumption is not None) else None,
            _describe_missing_parent(ctx, edges, is_of_edge=is_of_edge),
            "Name a node, or source and target of an edge.",
            NextStep("purpose.open", "shows nodes and edges"),
        ),
        CheckedItem(
            "Version is DRAFT (if modifying)",
            ctx.is_draft if is_ours and ctx.kind.edits else None,
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
            "Assumption exists in this version (unless ADD)",
            assumption is not None if is_ours and not is_new else None,
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
    is_on_edge = is_of_edge if is_new else assumption is not None and assumption.edge is not None
    facts = {
        "operation": ctx.kind.verb,
        "assumption": assumption.key if assumption else given.assumption,
        "type": "EDGE" if is_on_edge else "NODE",
        "on": on,
        "risk_level": given.risk_level or (assumption and assumption.risk_level),
    }
    return SectionResult(6, checks, facts if is_ours else {}, decide_verdict(checks))


def _parse_word(words: type[Choice], text: str | None) -> Choice | None:
    return next((word for word in words if word.value == text), None)


def _join_words(words: type[StrEnum]) -> str:
    return " / ".join(words)


def _describe_invalid_word(field: str, words: type[StrEnum], text: str | None) -> str:
    return f"{field} {quote_text(text)} is not one of {_join_words(words)}" if text else f"{field} is missing"


def _describe_missing(ctx: ProposalContext, kind: str, ref: str | None) -> str:
    return f"{ctx.version_name} has no {kind} {quote_text(ref)}" if ref else f"the {kind} is not given"


def _is_metadata(metadata: Any, node: PurposeNode | None, *, is_new: bool) -> bool:
    """Return True if metadata can be stored after merging it with that of the node, if there is one."""
    if not isinstance(metadata, dict):
        return metadata is None and is_new
    merged = merge_metadata(node.metadata if node else {}, metadata)
    return count_metadata_bytes(merged) <= TEXT_BYTES_MAX


def _retype_edges(
    ctx: ProposalContext, node: PurposeNode | None, node_type: NodeType | None
) -> list[tuple[TypedEdge, TypedEdge]]:
    """Return the edges of a node before and after it gets another type, if the profile has rules for them."""
    if node is None or node_type in (None, node.node_type) or not ctx.forbids_cycles_and_downward_edges:
        return []
    nodes = ctx.content.nodes
    edges = [
        TypedEdge(edge.name, nodes[edge.source].node_type, nodes[edge.target].node_type)
        for edge in ctx.content.edges
        if node.key in (edge.source, edge.target)
    ]
    return [*zip(edges, retype_node(edges, node.key, node_type), strict=True)]


def _resolve_new_type(ctx: ProposalContext, edges: list[PurposeEdge]) -> EdgeType | None:
    """Return the type of the edge after the operation; None if it is unknown."""
    given = ctx.proposal
    if ctx.kind is OperationKind.CREATE_EDGE:
        return _parse_word(EdgeType, given.edge_type or EdgeType.CONTRIBUTES_TO)
    if len(edges) != 1:
        return None
    return _parse_word(EdgeType, given.new_edge_type or edges[0].edge_type)


def _find_cycle(ctx: ProposalContext, added: list[TypedEdge], *, instead_of: Collection[EdgeName]) -> list[str] | None:
    """Return the cycle that some edges would close that are new, or that replace others."""
    content = ctx.content
    kept = [content.orient(edge.name)[:2] for edge in content.causal_edges if edge.name not in instead_of]
    closing = [edge.ends for edge in added]
    return find_closed_cycle([*kept, *closing], closing)


def _describe_missing_ends(ctx: ProposalContext) -> str:
    ends = {"source": ctx.proposal.source, "target": ctx.proposal.target_node}
    return ", ".join(
        f"{end} {quote_text(ref) if ref else 'is not given'}" for end, ref in ends.items() if not ctx.find_node(ref)
    )


def _describe_ambiguous_edge(ctx: ProposalContext, edges: list[PurposeEdge]) -> str:
    if len(edges) > 1:
        return f"there are {', '.join(str(edge.name) for edge in edges)}, and edge_type is not given"
    ends = (quote_text(ref or "") for ref in (ctx.proposal.source, ctx.proposal.target_node))
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
