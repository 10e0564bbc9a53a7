"""Change nodes: their fields, evidence, resolution and claims."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan.kernel.access import Permission
from groundplan.kernel.audit import Change, changed
from groundplan.kernel.errors import NextStep, RuleViolated, StaleRevision
from groundplan.kernel.events import require_position
from groundplan.kernel.links import LinkSource
from groundplan.kernel.operations.registry import Effect, Group, OpId, Route, Tool, declare
from groundplan.kernel.preferences import Preferences
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.policies import get_policies
from groundplan.providers import has_knowledge
from groundplan.work import claims
from groundplan.work.answers import DONE_WORDS, SideEffects, Warnings, add_side_effects
from groundplan.work.events import WorkOp
from groundplan.work.evidence_check import Checks, EvidenceCheck, check_evidence, describe_missing, get_default_check
from groundplan.work.kinds import PRIORITY, PRIORITY_IGNORED, TASK, get_complexity, get_priority, ranks_as_absent
from groundplan.work.link_targets import KnownTargets, Pointers, PurposeKeys
from groundplan.work.links import Requested, find_unset_facts_of_nodes, load_targets, read_requested, set_links
from groundplan.work.nodes import (
    EvidenceRow,
    WorkNodeRow,
    add_evidence,
    describe_evidence,
    fetch_node,
    save_node,
    save_progress,
)
from groundplan.work.notes import retract_notes
from groundplan.work.overlaps import load_paths
from groundplan.work.readiness import Readiness
from groundplan.work.refs import fetch_node_in_project, resolve_node_project
from groundplan.work.requests import (
    CLAIMANT_PROPERTY,
    Decision,
    EvidenceRef,
    Links,
    NodeRef,
    Summary,
    TypeName,
    encode_links,
    encode_properties,
    encode_state,
    validate_properties,
)

UPDATES_MAX = 1_000
CHILDREN_SHOWN_MAX = 5
NOTES_HINT = "Update the notes of its files"
CLAIM_FIELDS = ("claimed_by", "claimed_at", "claimed_until", "status")  # releasing a claim also changes the status

sql = load_queries(__file__)


class UnresolvedChildren(RuleViolated):
    """The node has open children and cannot be resolved."""

    code = "unresolved_children"
    contract_code = "INVALID_OPERATION"

    def __init__(self, node: WorkNodeRow, children: list[str]) -> None:
        super().__init__(
            f"node {node.id} has {node.open_children} open children ({', '.join(children)}"
            f"{', …' if node.open_children > len(children) else ''}); resolve or drop them first",
            node_id=node.id,
            open_children=node.open_children,
            children=children,
        )


class EvidenceRequired(RuleViolated):
    """The node has no evidence, and the project requires evidence to resolve a node."""

    code = "evidence_required"
    contract_code = "INVALID_OPERATION"

    def __init__(self, node: WorkNodeRow) -> None:
        super().__init__(
            f"node {node.id} has no evidence, and this project requires evidence to resolve a node",
            next_steps=NextStep("work.update", "adds it with add_evidence"),
            node_id=node.id,
        )


class AddEvidence(Struct, forbid_unknown_fields=True):
    """Evidence to add. Its actor and time are set automatically."""

    type: TypeName
    ref: EvidenceRef


class Update(Struct, forbid_unknown_fields=True):
    """Changes of one node. Properties are merged, and null removes a property; of the claimant, it ends the claim."""

    ELSEWHERE: ClassVar[Mapping[str, NextStep]] = dict.fromkeys(
        ("status", "done", "completed", "closed"), NextStep("work.update", "finishes a node with resolved: true")
    )

    node_id: NodeRef
    resolved: bool | UnsetType = UNSET
    state: Any = UNSET
    summary: Summary | UnsetType = UNSET
    properties: dict[str, Any] | UnsetType = UNSET
    add_context_links: Links | UnsetType = UNSET
    remove_context_links: list[str] | UnsetType = UNSET
    add_evidence: Annotated[list[AddEvidence], Meta(max_length=50)] | UnsetType = UNSET
    retract_note: str | UnsetType = UNSET
    serves: PurposeKeys | UnsetType = UNSET
    rests_on: Pointers | UnsetType = UNSET
    expected_rev: int | UnsetType = UNSET
    claim: int | UnsetType = UNSET
    renew: bool = False
    release: bool = False
    hold: bool = False

    def __post_init__(self) -> None:
        properties = self.properties or {}
        if CLAIMANT_PROPERTY in properties and properties[CLAIMANT_PROPERTY] is None:
            self.properties = {name: value for name, value in properties.items() if name != CLAIMANT_PROPERTY}
            self.release = True
        if self.renew + self.release + self.hold > 1:
            raise ValueError("renew, release and hold exclude each other; send only one of them")


class UpdateNodes(Struct, forbid_unknown_fields=True):
    """Changes of nodes in one project, applied in order. Either all are applied, or none."""

    updates: Annotated[list[Update], Meta(min_length=1, max_length=UPDATES_MAX)]
    lean: bool | None = None
    decision: Decision | None = None
    op_id: OpId = None


class UpdatedNode(Struct):
    """The current revision of a node."""

    node_id: str
    rev: int


class Updated(SideEffects, kw_only=True, rename={"graph_hints": "graphHints"}):
    """The updated nodes and the side effects; with a reminder if the call completed a task that has files."""

    updated: list[UpdatedNode]
    graph_hints: str | UnsetType = UNSET


def update(tx: Transaction, request: UpdateNodes) -> Updated:
    """Change nodes.

    Raises:
        NotFound: the project has no such node.
        MixedProjects: the nodes are in several projects.
        StaleRevision: a node has another revision than `expected_rev`.
        StaleClaim: the number of a claim is not the current one, or the caller holds no claim.
        ClaimedByAnother: the project enforces claims and another actor has claimed a node that would change.
        UnresolvedChildren: a node to resolve has open children.
        EvidenceRequired: the project requires evidence and the node has none, or would have none.
        AlreadyRetracted: a note was taken back before.
        NotYourNote: another actor wrote a note to take back, and the caller is no owner.
        ReservedProperty: a property is reserved for the engine.
        UnknownKey, UnknownPointer: what a node serves or rests on does not exist.
        WrongLinkKind: a node would serve an assumption.
    """
    is_single = len(request.updates) == 1
    readiness = Readiness(tx, decision=request.decision, postpones_counts=True, changes_one_node=is_single)
    warnings = Warnings()
    finished: dict[int, str] = {}  # the ids of the nodes that were resolved
    blocked: set[int] = set()  # of these, those that may have been blocked
    updated = []
    completed: dict[int, str] = {}  # the context links of the tasks that were resolved
    postponed: dict[int, int] = {}  # nodes to resolve after their children, with their depth

    def apply(node: WorkNodeRow, item: Update, index: int, **options: Any) -> None:
        was_resolved = node.resolved
        _apply_update(tx, node, item, index, readiness, warnings, decision=request.decision, **options)
        if node.resolved and not was_resolved:
            finished[node.n] = node.id
            if not is_single or node.waits or node.blocked_above:
                blocked.add(node.n)
            if node.kind in (None, TASK):
                completed[node.n] = node.context_links

    requested = [read_requested(item) for item in request.updates]
    targets = load_targets(tx, requested) if any(requested) else None
    for index, item in enumerate(request.updates):
        node = fetch_node_in_project(tx, item.node_id, beside=request.updates[0].node_id)
        node = _count_anew(tx, node, readiness)
        _check_revision_and_claim(tx, node, item)
        if item.resolved is True and not node.resolved and node.open_children:  # a later update may resolve them
            postponed[node.n] = node.depth
        elif item.resolved is False:
            postponed.pop(node.n, None)
        links = _set_links(tx, node, requested[index], targets, index)
        apply(node, item, index, links=links, is_postponed=node.n in postponed)
        updated.append(UpdatedNode(node.id, node.rev))
    for n in sorted(postponed, key=postponed.__getitem__, reverse=True):  # children before their parents
        node = _count_anew(tx, fetch_node(tx, n), readiness)
        refuse_open_children(tx, node)
        if node.resolved:  # by the last of its children
            blocked.add(n)
        apply(node, Update(node.id, resolved=True), 0)
    if not is_single:
        _refresh_revisions(tx, updated)
    _warn_about_blocked(tx, readiness, warnings, blocked)
    _warn_about_missing(tx, request, updated, warnings)
    for n, pointers in find_unset_facts_of_nodes(tx, finished).items():
        warnings.add_unset_facts(finished[n], pointers)
    answer = Updated(updated=updated)
    lean = tx.preferences.lean if request.lean is None else request.lean
    if completed and not lean and has_knowledge(tx) and load_paths(tx, completed):
        answer.graph_hints = NOTES_HINT
    return add_side_effects(answer, tx, readiness, warnings)


def _warn_about_missing(
    tx: Transaction, request: UpdateNodes, updated: Sequence[UpdatedNode], warnings: Warnings
) -> None:
    """Warn of the nodes that got evidence which the repository does not have."""
    checks: Checks = tx.prepared or {}
    sentence = describe_missing(checks)
    for item, node in zip(request.updates, updated, strict=True) if sentence else ():
        given = [] if item.add_evidence is UNSET else item.add_evidence
        if sentence and any(checks.get((one.type, one.ref)) is EvidenceCheck.MISSING for one in given):
            warnings.add(node.node_id, sentence)


class _BlockedRow(Struct):
    id: str
    has_open_deps: bool
    is_held: bool
    is_held_back: bool


def _warn_about_blocked(tx: Transaction, readiness: Readiness, warnings: Warnings, resolved: Collection[int]) -> None:
    """Warn of nodes that were resolved although they are blocked after the whole request."""
    if not resolved:
        return
    readiness.settle_positions()
    for row in tx.all(sql.resolved_early, _BlockedRow, project_id=tx.project.id, ns=to_json_array(resolved)):
        if row.has_open_deps:
            warnings.add(row.id, "resolved while its dependencies are open")
        if row.is_held:
            warnings.add(row.id, "resolved while it is on hold")
        if row.is_held_back:
            warnings.add(row.id, "resolved while a node above it waits")


def _count_anew(tx: Transaction, node: WorkNodeRow, readiness: Readiness) -> WorkNodeRow:
    """Return a node with the counts that earlier updates of the request changed."""
    if not readiness.has_unwritten_counts(node.n):
        return node
    readiness.write_counts(node.n)
    return fetch_node(tx, node.n)


def _refresh_revisions(tx: Transaction, updated: list[UpdatedNode]) -> None:
    """Set the final revision of each node in the answer, because a later update may change an earlier node."""
    ids = {entry.node_id for entry in updated}
    revs: dict[str, int] = dict(tx.all(sql.revisions, ids=to_json_array(ids)))
    for entry in updated:
        entry.rev = revs[entry.node_id]


def _check_revision_and_claim(tx: Transaction, node: WorkNodeRow, item: Update) -> None:
    if item.expected_rev is not UNSET and item.expected_rev != node.rev:
        raise StaleRevision(
            f"node {node.id}", "read it again", current=node.rev, expected=item.expected_rev, node_id=node.id
        )
    if item.claim is not UNSET:
        claims.check_claim_number(node, item.claim)
    if item.resolved is True and not node.resolved:
        claims.enforce_claims(tx, node.id, node.claimed_by, node.claimed_until)


def refuse_open_children(tx: Transaction, node: WorkNodeRow) -> None:
    """Raise UnresolvedChildren when a node has open children."""
    if node.open_children:
        children = tx.scalars(sql.open_children_of, project_id=tx.project.id, n=node.n, at_most=CHILDREN_SHOWN_MAX)
        raise UnresolvedChildren(node, children)


def _apply_update(
    tx: Transaction,
    node: WorkNodeRow,
    item: Update,
    index: int,
    readiness: Readiness,
    warnings: Warnings,
    *,
    decision: str | None,
    links: Iterable[Change] = (),
    is_postponed: bool = False,
) -> None:
    """Apply one update, without resolving a node for which that is postponed. Its links are set already."""
    fields = _update_fields(tx, node, item, index, warnings)
    changes = [*fields, *links]
    if item.retract_note is not UNSET:
        position = require_position(item.retract_note, ("updates", index, "retract_note"))
        changes.append(retract_notes(tx, node, position))
    entries = [] if item.add_evidence is UNSET else list(item.add_evidence)
    if entries:
        changes.append(_append_evidence(tx, node, entries))
    flips = item.resolved is not UNSET and item.resolved != node.resolved and not is_postponed
    if item.resolved is not UNSET and flips:
        changes.insert(0, changed("resolved", node.resolved, item.resolved))
        if item.resolved:
            _check_evidence(tx, node, len(entries), warnings)
            if claims.is_claimed_by_another(tx, node.claimed_by, node.claimed_until):
                readiness.ended_claims[node.id] = str(node.claimed_by)
            changes += node.resolve()
        else:
            changes += node.reopen()
    elif node.resolved and item.retract_note is not UNSET:
        _check_evidence(tx, node, len(entries), warnings)
    is_edited = any(change.field != "evidence" for change in changes)  # a hint may be left for who holds it
    if is_edited and not (flips and node.resolved):
        claims.enforce_claims(tx, node.id, node.claimed_by, node.claimed_until)
        if claims.is_claimed_by_another(tx, node.claimed_by, node.claimed_until):
            warnings.add_claims({node.id: str(node.claimed_by)}, verb="changed")
    stays_open = not (node.resolved or is_postponed)
    if stays_open and isinstance(item.state, str) and item.state.strip().casefold() in DONE_WORDS:
        warnings.add(node.id, "a state does not finish a node; resolved: true does")
    op = WorkOp.UPDATED if not flips else WorkOp.RESOLVED if node.resolved else WorkOp.REOPENED
    claim_op = claims.update_claim(tx, node, item, changes)
    if not changes:
        return
    if op is WorkOp.UPDATED and claim_op is not None and all(change.field in CLAIM_FIELDS for change in changes):
        op = claim_op
    if flips:  # otherwise no readiness changes
        readiness.snapshot_around(node.n, node.parent_n)
    if fields:
        save_node(tx, node)
    else:
        save_progress(tx, node)
    tx.record(op, node.id, *changes, decision=decision)
    if flips:
        neighbours = {node.n: node.parent_n}
        if node.resolved:
            readiness.propagate_resolved(neighbours)
        else:
            readiness.propagate_opened(neighbours)


def _update_fields(tx: Transaction, node: WorkNodeRow, item: Update, index: int, warnings: Warnings) -> list[Change]:
    """Change the fields of the node, and return the changes."""
    changes: list[Change] = []
    if item.summary is not UNSET and item.summary != node.summary:
        changes.append(changed("summary", node.summary, item.summary))
        node.summary = item.summary
    if item.state is not UNSET and not is_same_json(item.state, node.state_value):
        changes.append(changed("state", node.state_value, item.state))
        node.state = encode_state(item.state, ("updates", index, "state"))
    if item.properties is not UNSET:
        changes += _merge_properties(node, item.properties, index, warnings)
    if item.add_context_links is not UNSET or item.remove_context_links is not UNSET:
        changes += _change_links(node, item, index)
    return changes


def _merge_properties(
    node: WorkNodeRow, properties: dict[str, Any], index: int, warnings: Warnings
) -> Iterable[Change]:
    path = ("updates", index, "properties")
    before = node.properties_value
    present = validate_properties(properties, path)
    after = {key: value for key, value in before.items() if key not in properties} | present
    # An existing key keeps its position.
    after = {key: after[key] for key in [*before, *present] if key in after}
    changed_keys = [key for key in properties if not is_same_json(before.get(key), after.get(key))]
    if not changed_keys:
        return []
    node.properties = encode_properties(after, path)
    node.priority, node.complexity = get_priority(after), get_complexity(after)
    if PRIORITY in properties and ranks_as_absent(after):
        warnings.add(node.id, PRIORITY_IGNORED)
    return [changed(f"properties.{key}", before.get(key), after.get(key)) for key in changed_keys]


def is_same_json(before: Any, after: Any) -> bool:
    """Return True if two values are equal as JSON; in Python, true equals 1 and 1.0."""
    return msgspec.json.encode(before) == msgspec.json.encode(after)


def _change_links(node: WorkNodeRow, item: Update, index: int) -> Iterable[Change]:
    before = node.links_value
    removed = set() if item.remove_context_links is UNSET else set(item.remove_context_links)
    kept = [link for link in before if link not in removed]
    added = [] if item.add_context_links is UNSET else item.add_context_links
    after = kept + [link for link in dict.fromkeys(added) if link not in kept]
    if after == before:
        return []
    node.context_links = encode_links(after, ("updates", index, "add_context_links"))
    return [changed("context_links", before, after)]


def _set_links(
    tx: Transaction, node: WorkNodeRow, requested: Requested, targets: KnownTargets | None, index: int
) -> Sequence[Change]:
    if targets is None:
        return ()
    return list(set_links(tx, LinkSource(node.id, node.n), requested, targets, ("updates", index)))


def _append_evidence(tx: Transaction, node: WorkNodeRow, entries: Sequence[AddEvidence]) -> Change:
    """Add evidence to a node."""
    checks: Checks = tx.prepared or {}
    rows = [
        EvidenceRow(
            node.n,
            k,
            entry.type,
            entry.ref,
            tx.actor.id,
            tx.now,
            checks.get((entry.type, entry.ref), get_default_check(entry.type)),
            tx.rev,
        )
        for k, entry in enumerate(entries, node.evidence_total + 1)
    ]
    add_evidence(tx, rows)
    return changed("evidence", None, describe_evidence(rows))


def _check_evidence(tx: Transaction, node: WorkNodeRow, added: int, warnings: Warnings) -> None:
    if node.evidence_total or added:
        return
    match get_policies(tx).evidence:
        case "require":
            raise EvidenceRequired(node)
        case "warn":
            warnings.add(node.id, "resolved without evidence")


def look_up_evidence(request: UpdateNodes, preferences: Preferences) -> Checks:
    """Look up the commits and files of the evidence in the repository beside the session."""
    return check_evidence(
        [(entry.type, entry.ref) for item in request.updates for entry in item.add_evidence or ()], preferences
    )


def locate(tx: Transaction, request: UpdateNodes) -> str:
    """Return the project of the first node. The other nodes must be in the same project."""
    return resolve_node_project(tx, request.updates[0].node_id)


OPERATION = declare(
    update,
    name="work.update",
    summary="Change, resolve or reopen nodes; says what became actionable.",
    permission=Permission.WORK_UPDATE,
    effect=Effect.WRITE,
    project=locate,
    prepare=look_up_evidence,
    tool=Tool("graph_update", Group.WORK),
    http=Route("PATCH", "/projects/{project}/work/nodes"),
    other_routes=(
        Route("PATCH", "/projects/{project}/work/nodes/{node_id}", item_of="updates", summary="Change one node."),
    ),
)
