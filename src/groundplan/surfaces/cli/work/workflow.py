"""Terminal output of status changes and dependencies, with their effects on other items."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import UnsetType

from groundplan.surfaces.cli.terminal import (
    INDENT,
    draw_pairs,
    echo,
    echo_list,
    format_title,
    format_value,
    to_one_line,
)
from groundplan.surfaces.cli.work.containers import blocker, echo_feature_transition, get_container, get_title
from groundplan.work.containers.answers import Entity
from groundplan.work.containers.delete import DeletedContainer
from groundplan.work.containers.dependencies.list import ContainerDependency, Dependencies
from groundplan.work.containers.dependencies.manage import DependencyAnswer, DependencyType
from groundplan.work.containers.workflow.advance import Advanced
from groundplan.work.containers.workflow.block import BlockAnswer
from groundplan.work.containers.workflow.terminate import Terminated
from groundplan.work.containers.workflow.transitions import TransitionAnswer
from groundplan.work.containers.workflow.unblock import UnblockAnswer
from groundplan.work.containers.workflow_state import WorkflowState

Pairs = Iterator[tuple[str, str]]


def draw_transition(answer: TransitionAnswer) -> None:
    """Print a status change and its effects."""
    container = get_container(answer)
    change = f"{answer.transition.before} -> {answer.transition.after}"
    position = f" ({answer.pipeline_position})" if answer.pipeline_position else ""
    echo(format_title(container.id, get_title(container)), f"{INDENT}{change}{position}, version {container.version}")
    if isinstance(answer, Terminated):
        echo_list("Affected dependents:", map(_format_entity, answer.affected_dependents))
    echo_list("Unblocked:", map(_format_entity, answer.unblocked_entities or ()))
    echo_feature_transition(answer.feature_transition)
    echo_list("Unblocked by the feature:", map(_format_entity, answer.feature_unblocked_entities or ()))
    if isinstance(answer, Advanced) and answer.graph_hints:
        echo_list(answer.graph_hints.message, answer.graph_hints.suggested_actions)


def draw_block(answer: BlockAnswer) -> None:
    """Print the blockers that were added."""
    added = ", ".join(map(blocker, answer.added_blockers))
    container = get_container(answer)
    echo(format_title(container.id, get_title(container)))
    echo(
        f"{INDENT}now blocked by {added}, version {container.version}" if added else f"{INDENT}already blocked by that"
    )
    echo(f"{INDENT}blockers in total: {answer.total_blockers}")


def draw_unblock(answer: UnblockAnswer) -> None:
    """Print the blockers that were removed and those that remain."""
    container = get_container(answer)
    echo(format_title(container.id, get_title(container)))
    removed = ", ".join(map(blocker, answer.removed_blockers))
    echo(f"{INDENT}no longer blocked by {removed}, version {container.version}")
    if answer.remaining_blockers:
        echo(f"{INDENT}still blocked by {', '.join(map(blocker, answer.remaining_blockers))}")
    elif not answer.is_fully_unblocked:
        echo(f"{INDENT}still blocked by a blocked parent")
    else:
        echo(f"{INDENT}unblocked")


def draw_delete(answer: DeletedContainer) -> None:
    """Print what was deleted or archived, and what that unblocked."""
    if answer.archived:
        echo(f"Archived {answer.deleted}. To restore it: groundplan project restore {answer.deleted}")
    else:
        below = f", and {answer.count - 1} below it" if answer.count > 1 else ""
        echo(f"Deleted {answer.deleted}{below}.")
    echo_list("Unblocked:", map(_format_entity, answer.unblocked_entities or ()))


def draw_state(answer: WorkflowState) -> None:
    """Print the status of a task or feature and the statuses around it."""
    echo(f"{answer.container_type} {answer.id}")
    draw_pairs(_about_state(answer))


def _about_state(state: WorkflowState) -> Pairs:
    position = f" ({state.pipeline_position})" if state.pipeline_position else ""
    yield "status", f"{state.current_status}{position}"
    yield "version", str(state.version)
    yield "pipeline", " > ".join(state.pipeline)
    yield "next", format_value(state.next_status)
    yield "previous", format_value(state.prev_status)
    if state.blocked_by:
        blockers = ", ".join(map(blocker, state.blocked_by))
        yield "blocked by", f"{blockers}: {to_one_line(state.blocked_reason)}" if state.blocked_reason else blockers
    if state.blocked_above:
        yield "blocked with", ", ".join(state.blocked_above)
    if state.related_entities:
        yield "related to", ", ".join(state.related_entities)


def draw_dependencies(answer: Dependencies) -> None:
    """Print the dependencies and dependents of an item."""
    if not answer.dependencies and not answer.dependents:
        echo(f"{answer.id} has no dependencies.")
    else:
        echo(f"{answer.container_type} {answer.id}")
    echo_list("Depends on:", map(_format_dependency, _select_blocking(answer.dependencies)))
    echo_list("Required by:", map(_format_dependency, _select_blocking(answer.dependents)))
    related = {one.id: one for one in (*(answer.dependencies or ()), *(answer.dependents or ()))}
    echo_list(
        "Related:", (_format_dependency(one) for one in related.values() if one.type is DependencyType.RELATES_TO)
    )
    if answer.left_out:
        echo("", f"and {sum(answer.left_out.values())} more")


def draw_dependency(answer: DependencyAnswer) -> None:
    """Print the dependency that was created or deleted."""
    is_created = answer.operation == "create"
    if answer.type is DependencyType.RELATES_TO:
        echo(f"{answer.from_id} is {'' if is_created else 'no longer '}related to {answer.to_id}.")
        return
    echo(f"{answer.from_id} {'blocks' if is_created else 'no longer blocks'} {answer.to_id}.")
    if answer.blocked_by:
        echo(f"{answer.to_id} is blocked by {', '.join(map(blocker, answer.blocked_by))}.")


def _select_blocking(ends: list[ContainerDependency] | UnsetType) -> list[ContainerDependency]:
    return [one for one in ends or () if one.type is DependencyType.BLOCKS]


def _format_dependency(one: ContainerDependency) -> str:
    return f"{format_title(one.id, one.title)} ({one.container_type}, {one.status})"


def _format_entity(entity: Entity) -> str:
    return f"{format_title(entity.id, entity.title)} ({entity.type})"


RENDERERS: Mapping[str, Callable[[Any], None]] = {
    "container.delete": draw_delete,
    "container.workflow_state": draw_state,
    "container.dependencies": draw_dependencies,
    "dependency.create": draw_dependency,
    "dependency.delete": draw_dependency,
    "container.advance": draw_transition,
    "container.revert": draw_transition,
    "container.terminate": draw_transition,
    "container.block": draw_block,
    "container.unblock": draw_unblock,
}
