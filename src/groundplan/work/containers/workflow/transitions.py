"""Change the status of a task or a feature, and report the effects on others.

The step to ACTIVE claims a task for the caller; any other step releases the claim. CLOSED resolves it. The engine of
both dialects unblocks its dependents, starts its feature with the first task and closes it with the last.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar, TypeVar

from msgspec import UNSET, UnsetType, field

from groundplan.kernel.audit import Change, changed
from groundplan.kernel.budget import CutLists, LeftOut, Trimming
from groundplan.kernel.errors import RuleViolated
from groundplan.kernel.next_steps import NextStep
from groundplan.kernel.optimistic_locking import refuse_stale
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.policies import get_policies
from groundplan.work.containers.answers import (
    Entity,
    FeatureTransition,
    OneContainer,
    Transition,
    list_entities,
    load_container_into,
)
from groundplan.work.containers.answers import get_feature_transition as moved_feature
from groundplan.work.containers.pipeline import format_position, load_pipelines
from groundplan.work.containers.refs import get_container_type, resolve_container
from groundplan.work.containers.requests import ContainerType, WorkflowType
from groundplan.work.engine.claims import compute_lease_end, enforce_claims
from groundplan.work.engine.edges import load_dependents
from groundplan.work.engine.readiness import Readiness
from groundplan.work.engine.row import WorkNodeRow, is_claimed_by_another
from groundplan.work.engine.statuses import ACTIVE, CLOSED, NEW, TERMINAL, WILL_NOT_IMPLEMENT, get_status
from groundplan.work.events import WorkOp
from groundplan.work.graph.update import EvidenceRequired, refuse_open_children
from groundplan.work.warnings import Warnings

UNBLOCKED_LISTS = ("unblocked_entities", "feature_unblocked_entities")  # lists of a TransitionAnswer

sql = load_queries(__file__)


class NoSuchStep(RuleViolated):
    """The status allows no such step."""

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
    """Return the step that is possible instead: start a new container, or move an ended one back."""
    if status == WILL_NOT_IMPLEMENT:
        reopening = {"node_id": node.id, "resolved": False}
        return NextStep("work.update", "with resolved false reopens it", {"updates": [reopening]})
    this = {"containerType": get_container_type(node).value, "id": node.id, "version": node.rev}
    if status == NEW:
        return NextStep("container.advance", "starts it", this)
    return NextStep("container.revert", "moves it back", this)


class TransitionAnswer(OneContainer, kw_only=True):
    """A change of status and its effects."""

    trimming: ClassVar[Trimming] = Trimming(*OneContainer.trimming, CutLists(UNBLOCKED_LISTS))

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


def find_at_version(tx: Transaction, container_type: WorkflowType, ref: str, *, version: int) -> WorkNodeRow:
    """Return the task or feature if it is at the version that the caller read.

    Raises:
        NotFound: it does not exist.
        StaleVersion: it is at another version.
    """
    node = resolve_container(tx, ContainerType(container_type), ref)
    refuse_stale(container_type, node.id, current=node.rev, given=version)
    return node


def change_status(tx: Transaction, readiness: Readiness, node: WorkNodeRow, *, to: str, op: WorkOp) -> Transition:
    """Change the status of a node.

    Raises:
        ClaimedByAnother: the project enforces claims and another actor holds the claim.
        UnresolvedChildren: the step closes it, but it has open children.
        EvidenceRequired: the step closes it, but it lacks the evidence that the project requires.
    """
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
    """Claim a task that goes ACTIVE for the caller, release any other claim, and return the changes."""
    before = node.claimed_by, node.claimed_until
    if to == ACTIVE and get_container_type(node) is ContainerType.TASK:
        node.claimed_by, node.claimed_at, node.claimed_until = tx.actor.id, tx.now, compute_lease_end(tx)
        return [
            changed("claimed_by", before[0], node.claimed_by),
            changed("claimed_until", before[1], node.claimed_until),
        ]
    node.unclaim()
    if before[0] is None or node.resolved:  # the event of a resolved node implies the release
        return []
    return [changed("claimed_by", before[0], None)]


def build_transition_answer(
    tx: Transaction, readiness: Readiness, node: WorkNodeRow, transition: Transition, shape: type[M]
) -> M:
    """Build the answer about a transition of a node."""
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
    """Fill in the container, its position, warnings, and the containers that were unblocked by the `ended` nodes."""
    settled = readiness.settle()
    load_container_into(answer, tx, node.n)
    steps = load_pipelines(tx).of(WorkflowType(get_container_type(node)))
    answer.pipeline_position = format_position(steps, answer.transition.after)
    answer.feature_transition = moved_feature(readiness)
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
    warnings.add_ended_claims(readiness.ended_claims, verb=verb)
    answer.warnings = warnings.lines()
    return answer


def list_closed_features(tx: Transaction, readiness: Readiness) -> list[int]:
    """Return the numbers of the features that ended because of their tasks."""
    ids = [move.id for move in readiness.feature_status_changes if move.after in TERMINAL]
    return tx.scalars(sql.node_numbers, ids=to_json_array(ids)) if ids else []
