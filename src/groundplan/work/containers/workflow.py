"""Move tasks and features through their pipelines, and block or unblock them, at the version that the caller read.

The step to ACTIVE claims a task for the caller; any other step releases the claim. CLOSED resolves it. The engine of
both dialects unblocks its dependents, starts its feature with the first task and closes it with the last.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Annotated, ClassVar, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType, field

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import CutLists, LeftOut, Trimming
from groundplan.kernel.audit import Change, changed
from groundplan.kernel.errors import NextStep, RuleViolated, refuse_stale
from groundplan.kernel.input_gate.types import missing_argument
from groundplan.kernel.operations.registry import Effect, Group, OpId, Route, Tool, declare
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import invalid_argument
from groundplan.policies import get_policies
from groundplan.work.answers import Warnings
from groundplan.work.claims import (
    compute_claim_end,
    enforce_claims,
    get_claim,
    is_claimed_by_another,
    list_claim_changes,
)
from groundplan.work.containers.dependencies import refuse_container_cycle
from groundplan.work.containers.fields import (
    IDS_MAX,
    ContainerId,
    ContainerType,
    Reason,
    Version,
    WorkflowType,
    parse_list,
)
from groundplan.work.containers.operations import declare_verb
from groundplan.work.containers.pipeline import find_step_after, find_step_before, format_position, load_pipelines
from groundplan.work.containers.refs import (
    find_any_container,
    get_container_type,
    resolve_container,
    resolve_container_project,
)
from groundplan.work.containers.views import (
    HOLD,
    Blockers,
    ContainerAnswer,
    Entity,
    FeatureTransition,
    Transition,
    get_feature_transition,
    list_entities,
    load_blockers,
    load_container_into,
    load_dependent_entities,
    load_related,
)
from groundplan.work.events import WorkOp
from groundplan.work.graph.update import EvidenceRequired, refuse_open_children
from groundplan.work.kinds import (
    ACTIVE,
    CLOSED,
    NEW,
    TERMINAL,
    WILL_NOT_IMPLEMENT,
    get_status,
    is_claim_live,
)
from groundplan.work.links import find_unset_facts_of_nodes
from groundplan.work.nodes import (
    DEPENDS_ON,
    WorkNodeRow,
    add_edge,
    fetch_node,
    load_dependents,
    remove_edge,
)
from groundplan.work.readiness import Readiness
from groundplan.work.restructuring import AlreadyResolved, drop
from groundplan.work.waiting.cycles import WaitingMoments

BLOCKERS_NAMED_MAX = 5  # in the message; the details list more
DEFAULT_REASON = "terminated"  # recorded as evidence if the caller gives no reason
UNBLOCKED_LISTS = ("unblocked_entities", "feature_unblocked_entities")  # lists of a TransitionAnswer
BlockedBy = Annotated[str | list[str], Meta(extra_json_schema={"type": ["array", "string"]})]


COMPLETION_HINT = "Task completed. Consider updating the knowledge graph."
SUGGESTED_ACTIONS = (
    "Update atom knowledge for areas affected by this task",
    "Update atom paths if files were moved or new directories created",
    "Append changelog entries for significant changes",
)

sql = load_queries(__file__)


# --- The state ---


class QueryState(Struct, rename="camel", forbid_unknown_fields=True):
    """A task or a feature."""

    container_type: WorkflowType
    id: ContainerId


class WorkflowState(Struct, rename="camel", kw_only=True):
    """The workflow state of a task or a feature. Operations that change its status need its `version`."""

    container_type: WorkflowType
    id: str
    version: int
    current_status: str
    next_status: str | None
    prev_status: str | None
    is_terminal: bool
    is_blocked: bool
    blocked_by: list[str]
    blocked_by_total: int | UnsetType = UNSET  # if more than the listed ones exist
    blocked_reason: str | None
    blocked_above: list[str] | UnsetType = UNSET  # blocked ancestors
    pipeline_position: str | None
    pipeline: list[str]
    related_entities: list[str]


def get_workflow_state(tx: Transaction, request: QueryState) -> WorkflowState:
    """Return the workflow state of a task or a feature.

    Raises:
        NotFound: the task or feature does not exist.
    """
    node = resolve_container(tx, ContainerType(request.container_type), request.id)
    steps = load_pipelines(tx).of(request.container_type)
    status = get_status(node, now=tx.now)
    is_terminal = status in TERMINAL
    related, _ = load_related(tx, tx.project.id, [node.n]).get(node.n, ([], 0))
    state = WorkflowState(
        container_type=request.container_type,
        id=node.id,
        version=node.rev,
        current_status=status,
        next_status=find_step_after(steps, status),
        prev_status=find_step_before(steps, status),
        is_terminal=is_terminal,
        is_blocked=not is_terminal and (node.waits or node.blocked_above > 0),
        blocked_by=[],
        blocked_reason=None,
        pipeline_position=format_position(steps, status),
        pipeline=list(steps),
        related_entities=related,
    )
    if state.is_blocked:
        blockers = load_blockers(tx, node)
        state.blocked_by = blockers.all
        state.blocked_by_total = blockers.total if blockers.total > len(blockers.all) else UNSET
        state.blocked_reason = blockers.reason
        state.blocked_above = blockers.blocked_ancestors or UNSET
    return state


# --- What every change begins with ---


class AtVersion(Struct, rename="camel", forbid_unknown_fields=True):
    """A task or a feature, and the version that the caller read."""

    container_type: WorkflowType
    id: ContainerId
    version: Version


def _find_at_version(tx: Transaction, request: AtVersion) -> WorkNodeRow:
    """Return the task or feature. Raise if it is not at the version that the caller read."""
    node = resolve_container(tx, ContainerType(request.container_type), request.id)
    refuse_stale(request.container_type, node.id, current=node.rev, given=request.version)
    return node


class NoSuchStep(RuleViolated):
    """The pipeline has no such step from the current status."""

    code = "no_such_step"
    contract_code = "INVALID_OPERATION"

    def __init__(self, node: WorkNodeRow, status: str, why: str) -> None:
        super().__init__(
            f"{get_container_type(node)} {node.id} is {status}, {why}",
            next_steps=_suggest_step(node, status),
            id=node.id,
            status=status,
        )


def _suggest_step(node: WorkNodeRow, status: str) -> NextStep:
    """Return the possible step as a suggestion: start a new container, or move an ended one back."""
    if status == WILL_NOT_IMPLEMENT:
        reopening = {"node_id": node.id, "resolved": False}
        return NextStep("work.update", "with resolved false reopens it", {"updates": [reopening]})
    this = {"containerType": get_container_type(node).value, "id": node.id, "version": node.rev}
    if status == NEW:
        return NextStep("container.advance", "starts it", this)
    return NextStep("container.revert", "moves it back", this)


# --- Change of status ---


class TransitionAnswer(ContainerAnswer, kw_only=True):
    """A change of status and its effects."""

    trimming: ClassVar[Trimming] = Trimming(*ContainerAnswer.trimming, CutLists(UNBLOCKED_LISTS))

    transition: Transition
    pipeline_position: str | None  # as 2/4; null for WILL_NOT_IMPLEMENT
    unblocked_entities: list[Entity] | UnsetType = UNSET
    unblocked_entities_total: int | UnsetType = UNSET  # if more than the listed ones exist
    feature_transition: FeatureTransition | UnsetType = UNSET
    feature_unblocked_entities: list[Entity] | UnsetType = UNSET
    feature_unblocked_entities_total: int | UnsetType = UNSET
    warnings: list[str] | UnsetType = UNSET
    left_out: LeftOut = field(name="left_out", default=UNSET)


M = TypeVar("M", bound=TransitionAnswer)


def change_status(tx: Transaction, readiness: Readiness, node: WorkNodeRow, *, to: str, op: WorkOp) -> Transition:
    """Change the status of a node."""
    before = get_status(node, now=tx.now)
    enforce_claims(tx, node.id, node.claimed_by, node.claimed_until)
    was_resolved = node.resolved
    if is_claimed_by_another(tx, node.claimed_by, node.claimed_until):  # every step ends the claim of another
        readiness.ended_claims[node.id] = str(node.claimed_by)
    if to == CLOSED:
        _check_closable(tx, node)
        node.resolve()
        op = WorkOp.RESOLVED
    else:
        if node.resolved:
            node.reopen()
            op = WorkOp.REOPENED
        node.status = None if to == NEW else to
    changes = [changed("status", before, to)]
    if was_resolved != node.resolved:
        changes.append(changed("resolved", was_resolved, node.resolved))
    changes += _update_claim(tx, node, to)
    readiness.snapshot([node.n] if node.parent_n is None else [node.n, node.parent_n])
    is_claimed = any(change.field == "claimed_by" and change.after is not None for change in changes)
    node.claim_number += is_claimed
    tx.run_with_record(sql.update_node_status, node, project_id=tx.project.id)
    tx.record(op, node.id, *changes)
    if was_resolved != node.resolved:
        (readiness.propagate_resolved if node.resolved else readiness.propagate_opened)({node.n: node.parent_n})
    if to == ACTIVE and get_container_type(node) is ContainerType.TASK:
        readiness.start_feature(node.feature_n)
    return Transition(before, to)


def _check_closable(tx: Transaction, node: WorkNodeRow) -> None:
    refuse_open_children(tx, node)
    if (
        get_policies(tx).evidence == "require"
        and not node.evidence_total
        and get_container_type(node) is ContainerType.TASK
    ):
        raise EvidenceRequired(node)


def _update_claim(tx: Transaction, node: WorkNodeRow, to: str) -> list[Change]:
    """Claim a task that becomes ACTIVE for the caller, else release its claim; return the changes."""
    if to != ACTIVE or get_container_type(node) is not ContainerType.TASK:
        return node.unclaim()
    before = get_claim(node)
    node.claimed_by, node.claimed_at, node.claimed_until = tx.actor.id, tx.now, compute_claim_end(tx)
    return list_claim_changes(before, node)


def build_transition_answer(
    tx: Transaction, readiness: Readiness, node: WorkNodeRow, transition: Transition, shape: type[M]
) -> M:
    """Return the answer about a transition of a node."""
    return complete_answer(
        tx,
        readiness,
        node,
        shape(transition=transition, pipeline_position=None),
        ended=[node.n, *readiness.auto_resolved_parents],
    )


def complete_answer(
    tx: Transaction, readiness: Readiness, node: WorkNodeRow, answer: M, *, ended: Collection[int]
) -> M:
    """Add the container, its position, warnings, and the containers that the `ended` nodes unblocked to an answer."""
    settled = readiness.settle()
    load_container_into(answer, tx, node.n)
    steps = load_pipelines(tx).of(WorkflowType(get_container_type(node)))
    answer.pipeline_position = format_position(steps, answer.transition.after)
    answer.feature_transition = get_feature_transition(readiness)
    if settled.unblocked:
        own = set(load_dependents(tx, ended))
        of_features = set(load_dependents(tx, list_closed_features(tx, readiness))) - own
        released = list_entities(tx, settled.unblocked & own)
        answer.unblocked_entities, answer.unblocked_entities_total = released.listed or UNSET, released.total
        released = list_entities(tx, settled.unblocked & of_features)
        answer.feature_unblocked_entities = released.listed or UNSET
        answer.feature_unblocked_entities_total = released.total
    warnings = Warnings()
    verb = "resolved" if answer.transition.after in TERMINAL else "moved on"
    warnings.add_claims(readiness.ended_claims, verb=verb)
    if answer.transition.after == CLOSED:
        for pointers in find_unset_facts_of_nodes(tx, [node.n]).values():
            warnings.add_unset_facts(node.id, pointers)
    answer.warnings = warnings.lines()
    return answer


def list_closed_features(tx: Transaction, readiness: Readiness) -> list[int]:
    """Return the numbers of the features that ended because of their tasks."""
    ids = [move.id for move in readiness.feature_status_changes if move.after in TERMINAL]
    return tx.scalars(sql.node_numbers, ids=to_json_array(ids)) if ids else []


# --- Advance ---


class Blocked(RuleViolated):
    """The task or feature is blocked."""

    code = "blocked"
    contract_code = "BLOCKED"

    def __init__(self, node: WorkNodeRow, blockers: Blockers) -> None:
        problems = []
        why = f" ({blockers.reason})" if blockers.reason else ""
        if blockers.ids:
            more = f" and {blockers.total - BLOCKERS_NAMED_MAX} more" if blockers.total > BLOCKERS_NAMED_MAX else ""
            problems.append(
                f"waits for {', '.join(blockers.ids[:BLOCKERS_NAMED_MAX])}{more}{'' if blockers.is_held else why}"
            )
        if blockers.is_held:
            problems.append(f"is on hold{why}")
        if blockers.blocked_ancestors:
            problems.append(f"is held back by {', '.join(blockers.blocked_ancestors)} above it")
        super().__init__(
            f"{get_container_type(node)} {node.id} {' and '.join(problems)}; finish the blockers or unblock it first",
            id=node.id,
            blockedBy=blockers.all,
            blockedByTotal=blockers.total,
            blockedReason=blockers.reason,
            blockedAbove=blockers.blocked_ancestors,
        )


class Advance(AtVersion, forbid_unknown_fields=True):
    """A task or a feature, and the version that the caller read."""

    op_id: OpId = field(name="op_id", default=None)


class GraphHints(Struct, rename="camel"):
    """Reminders after a completed task."""

    message: str
    suggested_actions: list[str]


class Advanced(TransitionAnswer, kw_only=True):
    """The transition, with reminders if it completed a task."""

    graph_hints: GraphHints | UnsetType = UNSET


def advance(tx: Transaction, request: Advance) -> Advanced:
    """Move to the next step of the pipeline. A task that another actor left ACTIVE is claimed and stays ACTIVE.

    Raises:
        NotFound: the task or feature does not exist.
        StaleVersion: its version changed; `currentVersion` is the new one.
        NoSuchStep: it is at the end of its pipeline.
        Blocked: it or one of its ancestors is blocked.
        UnresolvedChildren: the step closes it, but it has open children.
    """
    node = _find_at_version(tx, request)
    status = get_status(node, now=tx.now)
    to = (
        status
        if _is_left_by_another(tx, node)
        else find_step_after(load_pipelines(tx).of(request.container_type), status)
    )
    if to is None:
        raise NoSuchStep(node, status, "after which there is no step")
    if node.waits or node.blocked_above:
        raise Blocked(node, load_blockers(tx, node))
    readiness = Readiness(tx, decision=None)
    transition = change_status(tx, readiness, node, to=to, op=WorkOp.ADVANCED)
    answer = build_transition_answer(tx, readiness, node, transition, Advanced)
    if to in TERMINAL and request.container_type is WorkflowType.TASK:
        answer.graph_hints = GraphHints(COMPLETION_HINT, list(SUGGESTED_ACTIONS))
    return answer


def _is_left_by_another(tx: Transaction, node: WorkNodeRow) -> bool:
    """Return True if another actor started the task and the claim lapsed; advancing then only takes over the claim."""
    is_lapsed = not is_claim_live(node.claimed_by, node.claimed_until, now=tx.now)
    return node.status == ACTIVE and node.claimed_by not in (None, tx.actor.id) and is_lapsed


# --- Revert ---


class Revert(AtVersion, forbid_unknown_fields=True):
    """A task or a feature, and the version that the caller read."""

    op_id: OpId = field(name="op_id", default=None)


def revert(tx: Transaction, request: Revert) -> TransitionAnswer:
    """Move a task or a feature one step back.

    Raises:
        NotFound: the task or feature does not exist.
        StaleVersion: its version changed; `currentVersion` is the new one.
        NoSuchStep: it is new or terminated.
    """
    node = _find_at_version(tx, request)
    status = get_status(node, now=tx.now)
    to = find_step_before(load_pipelines(tx).of(request.container_type), status)
    if to is None:
        raise NoSuchStep(node, status, "which is the first step" if status == NEW else "which is outside the pipeline")
    readiness = Readiness(tx, decision=None)
    transition = change_status(tx, readiness, node, to=to, op=WorkOp.REVERTED)
    return build_transition_answer(tx, readiness, node, transition, TransitionAnswer)


# --- Terminate ---


class Terminate(AtVersion, forbid_unknown_fields=True):
    """A task or a feature, the version that the caller read, and the reason for not implementing it."""

    reason: Reason | None = None
    op_id: OpId = field(name="op_id", default=None)


class Terminated(TransitionAnswer, kw_only=True):
    """The terminated container and its dependents, which are unblocked although they lack its result."""

    trimming: ClassVar[Trimming] = Trimming(
        *ContainerAnswer.trimming, CutLists((*UNBLOCKED_LISTS, "affected_dependents", "feature_affected_dependents"))
    )

    reason: str | UnsetType = UNSET
    affected_dependents: list[Entity]
    affected_dependents_total: int | UnsetType = UNSET  # if more than the listed ones exist
    feature_affected_dependents: list[Entity] | UnsetType = UNSET  # dependents of a feature that ended with it


def terminate(tx: Transaction, request: Terminate) -> Terminated:
    """Terminate a task or a feature and its open descendants.

    Raises:
        NotFound: the task or feature does not exist.
        StaleVersion: its version changed; `currentVersion` is the new one.
        AlreadyResolved: it is closed or terminated.
        ClaimedByAnother: the project enforces claims and another actor has claimed a part of it.
    """
    node = _find_at_version(tx, request)
    before = get_status(node, now=tx.now)
    if node.resolved:
        raise AlreadyResolved(node)
    reason = (request.reason or "").strip()
    readiness = Readiness(tx, decision=None)
    ended = drop(tx, readiness, node, reason or DEFAULT_REASON, decision=None)
    ended += readiness.auto_resolved_parents
    affected = load_dependent_entities(tx, ended)
    answer = Terminated(
        transition=Transition(before, WILL_NOT_IMPLEMENT),
        pipeline_position=None,
        reason=reason or UNSET,
        affected_dependents=affected.listed,
        affected_dependents_total=affected.total,
        feature_affected_dependents=load_dependent_entities(tx, list_closed_features(tx, readiness)).listed or UNSET,
    )
    return complete_answer(tx, readiness, node, answer, ended=ended)


# --- Block and unblock ---


class Block(AtVersion, forbid_unknown_fields=True):
    """A task or a feature, and its new blockers: ids, or NO_OP with a reason for a hold."""

    blocked_by: BlockedBy
    blocked_reason: Reason | None = None
    op_id: OpId = field(name="op_id", default=None)


class BlockAnswer(ContainerAnswer, rename="camel", kw_only=True):
    """The added blockers, and the total number of blockers."""

    added_blockers: list[str]
    total_blockers: int


def block(tx: Transaction, request: Block) -> BlockAnswer:
    """Block a task or a feature.

    Raises:
        NotFound: it or one of the blockers does not exist.
        StaleVersion: its version changed; `currentVersion` is the new one.
        NoSuchStep: it is resolved.
        CycleDetected: it would wait for itself.
        MixedProjects: a blocker belongs to another project.
    """
    node = _find_at_version(tx, request)
    status = get_status(node, now=tx.now)
    if node.resolved:
        raise NoSuchStep(node, status, "so it cannot be blocked")
    ids, holds = parse_blockers(request.blocked_by)
    reason = (request.blocked_reason or "").strip() or None
    if holds and reason is None:
        raise missing_argument("blockedReason", (), expected=f"the reason for the hold, which {HOLD} requires")
    readiness = Readiness(tx, decision=None)
    readiness.snapshot([node.n])
    was_waiting = node.waits
    changes, added = _add_dependencies(tx, readiness, node, ids)
    if holds and node.held_reason != reason:
        changes.append(changed("held_reason", node.held_reason, reason))
        added += [HOLD] if node.held_reason is None else []
    # A reason lasts as long as the dependencies it was given for: a first new dependency clears an old reason.
    sets_reason = bool(ids) and not holds and (reason is not None or not node.open_deps)
    if sets_reason and reason != node.blocked_reason:
        changes.append(changed("blocked_reason", node.blocked_reason, reason))
    node = _save_node(tx, node, changes)
    if not was_waiting and node.held_reason is not None and not node.open_deps:
        readiness.propagate_waiting(node.n, node.kind)
    readiness.settle()
    answer = BlockAnswer(added_blockers=added, total_blockers=node.open_deps + (node.held_reason is not None))
    load_container_into(answer, tx, node.n)
    return answer


def parse_blockers(value: str | list[str]) -> tuple[list[str], bool]:
    """Return the ids of the blockers, and True if one of them is a hold."""
    texts = parse_list(value, ("blockedBy",), items_max=IDS_MAX, chars_max=255)
    if not texts:
        raise invalid_argument(("blockedBy",), f"is empty; send ids, or {HOLD} for a hold")
    return [text for text in texts if text != HOLD], HOLD in texts


def _add_dependencies(
    tx: Transaction, readiness: Readiness, node: WorkNodeRow, refs: list[str]
) -> tuple[list[Change], list[str]]:
    """Add dependencies to a node. Return the changes, and the ids of new dependencies."""
    moments = WaitingMoments(tx)
    changes: list[Change] = []
    added: list[str] = []
    for ref in refs:
        blocker = find_any_container(tx, ref, field="blockedBy")
        refuse_container_cycle(moments, node, blocker, field="blockedBy")
        if add_edge(tx, node.n, DEPENDS_ON, blocker.n):
            moments.add(node.n, blocker.n)
            changes.append(changed(DEPENDS_ON, None, blocker.id))
            added.append(blocker.id)
            if not blocker.resolved:
                readiness.adjust_open_dependencies([node.n], by=1)
    return changes, added


def _save_node(tx: Transaction, node: WorkNodeRow, changes: list[Change]) -> WorkNodeRow:
    """Save the changed hold and reason of a node under a new revision, and return the node."""
    node = fetch_node(tx, node.n)
    if not changes:
        return node
    for change in changes:
        if change.field in ("held_reason", "blocked_reason"):
            setattr(node, change.field, change.after)
    tx.run_with_record(sql.update_node_status, node, project_id=tx.project.id)
    fields = {change.field for change in changes}
    op = WorkOp.CONNECTED if DEPENDS_ON in fields else WorkOp.HELD if "held_reason" in fields else WorkOp.UPDATED
    tx.record(op, node.id, *changes)
    return node


class NotBlockedBy(RuleViolated):
    """The given blocker does not block the task or feature."""

    code = "not_blocked_by"
    contract_code = "INVALID_OPERATION"

    def __init__(self, node: WorkNodeRow, blocker: str) -> None:
        problem = "is not on hold" if blocker == HOLD else f"does not wait for {blocker}"
        this = {"containerType": get_container_type(node).value, "id": node.id}
        super().__init__(
            f"{get_container_type(node)} {node.id} {problem}",
            next_steps=NextStep("container.workflow_state", "lists its blockers", this),
            field="blockedBy",
            id=node.id,
            blocker=blocker,
        )


class Unblock(AtVersion, forbid_unknown_fields=True):
    """A task or a feature, and the blockers to remove: ids, or NO_OP for its hold."""

    blocked_by: BlockedBy
    op_id: OpId = field(name="op_id", default=None)


class UnblockAnswer(ContainerAnswer, rename="camel", kw_only=True):
    """The removed blockers, and the remaining ones."""

    removed_blockers: list[str]
    remaining_blockers: list[str]
    is_fully_unblocked: bool  # no ancestor is blocked either


def unblock(tx: Transaction, request: Unblock) -> UnblockAnswer:
    """Remove blockers of a task or a feature.

    Raises:
        NotFound: it or one of the blockers does not exist.
        StaleVersion: its version changed; `currentVersion` is the new one.
        NotBlockedBy: one of the blockers does not block it.
    """
    node = _find_at_version(tx, request)
    ids, holds = parse_blockers(request.blocked_by)
    if holds and node.held_reason is None:
        raise NotBlockedBy(node, HOLD)
    readiness = Readiness(tx, decision=None)
    readiness.snapshot([node.n])
    changes, removed = _remove_blockers(tx, readiness, node, ids)
    node = fetch_node(tx, node.n)
    if holds:
        removed.append(HOLD)
        changes.append(changed("held_reason", node.held_reason, None))
        node.held_reason = None
    if not node.open_deps and node.blocked_reason is not None:
        changes.append(changed("blocked_reason", node.blocked_reason, None))
        node.blocked_reason = None
    tx.run_with_record(sql.update_node_status, node, project_id=tx.project.id)
    tx.record(WorkOp.DISCONNECTED if ids else WorkOp.UNHELD, node.id, *changes)
    if holds and not node.open_deps:
        readiness.propagate_waiting(node.n, node.kind)
    readiness.settle()
    remaining = load_blockers(tx, node)
    answer = UnblockAnswer(
        removed_blockers=removed,
        remaining_blockers=remaining.all,
        is_fully_unblocked=not remaining.all and not node.blocked_above,
    )
    load_container_into(answer, tx, node.n)
    return answer


def _remove_blockers(
    tx: Transaction, readiness: Readiness, node: WorkNodeRow, refs: list[str]
) -> tuple[list[Change], list[str]]:
    changes: list[Change] = []
    removed: list[str] = []
    for ref in refs:
        blocker = find_any_container(tx, ref, field="blockedBy")
        if not remove_edge(tx, node.n, DEPENDS_ON, blocker.n):
            raise NotBlockedBy(node, blocker.id)
        changes.append(changed(DEPENDS_ON, blocker.id, None))
        removed.append(blocker.id)
        if not blocker.resolved:
            readiness.adjust_open_dependencies([node.n], by=-1)
    return changes, removed


# --- Operations ---

STATE = declare(
    get_workflow_state,
    name="container.workflow_state",
    summary="Status, next and previous step, blockers.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    project=lambda tx, request: resolve_container_project(tx, ContainerType(request.container_type), request.id),
    tool=Tool("query_workflow_state", Group.CONTAINERS),
    http=Route("GET", "/projects/{project}/work/{containerType}s/{id}/workflow"),
)
_update = partial(declare_verb, permission=Permission.WORK_UPDATE, effect=Effect.WRITE)
_connect = partial(declare_verb, permission=Permission.WORK_CONNECT, effect=Effect.WRITE)
ADVANCE = _update(advance, "Next step of its pipeline; ACTIVE claims, CLOSED resolves.")
REVERT = _update(revert, "One step back; reopens what was closed.")
TERMINATE = declare_verb(
    terminate,
    "End as WILL_NOT_IMPLEMENT, with everything open below it.",
    permission=Permission.WORK_RESTRUCTURE,
    effect=Effect.DESTROY,
)
BLOCK = _connect(
    block,
    "Add blockers by id, or NO_OP: a hold with a reason.",
)
UNBLOCK = _connect(unblock, "Remove blockers by id; NO_OP ends its hold.")
