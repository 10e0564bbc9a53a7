"""Views of status changes and dependencies, with their effects on other items."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import UnsetType

from groundplan.surfaces.cli.drawing import WARNINGS, Fields, ForEach, Lines, View, When
from groundplan.surfaces.cli.terminal import INDENT, format_title
from groundplan.surfaces.cli.work.containers import (
    FEATURE_TRANSITION,
    format_blockers,
    get_container,
    get_title,
    join_blockers,
)
from groundplan.work.containers.dependencies import ContainerDependency, Dependencies, DependencyAnswer, DependencyType
from groundplan.work.containers.manage import DeletedContainer
from groundplan.work.containers.workflow import BlockAnswer, TransitionAnswer, UnblockAnswer, WorkflowState


def _format_heading(answer: TransitionAnswer | BlockAnswer | UnblockAnswer) -> str:
    container = get_container(answer)
    return format_title(container.id, get_title(container))


def _format_transition(answer: TransitionAnswer) -> str:
    change = f"{answer.transition.before} -> {answer.transition.after}"
    return f"{INDENT}{change}{_format_position(answer)}, version {get_container(answer).version}"


def _format_position(answer: TransitionAnswer | WorkflowState) -> str:
    return f" ({answer.pipeline_position})" if answer.pipeline_position else ""


def _format_block(answer: BlockAnswer) -> Iterator[str]:
    if added := join_blockers(answer.added_blockers):
        yield f"{INDENT}now blocked by {added}, version {get_container(answer).version}"
    else:
        yield f"{INDENT}already blocked by that"
    yield f"{INDENT}blockers in total: {answer.total_blockers}"


def _format_unblock(answer: UnblockAnswer) -> Iterator[str]:
    removed = join_blockers(answer.removed_blockers)
    yield f"{INDENT}no longer blocked by {removed}, version {get_container(answer).version}"
    if answer.remaining_blockers:
        yield f"{INDENT}still blocked by {join_blockers(answer.remaining_blockers)}"
    else:
        yield f"{INDENT}unblocked" if answer.is_fully_unblocked else f"{INDENT}still blocked by a blocked parent"


def _format_delete(answer: DeletedContainer) -> str:
    if answer.archived:
        return f"Archived {answer.deleted}. To restore it: groundplan project restore {answer.deleted}"
    below = f", and {answer.count - 1} below it" if answer.count > 1 else ""
    return f"Deleted {answer.deleted}{below}."


def _format_dependency(answer: DependencyAnswer) -> Iterator[str]:
    is_created = answer.operation == "create"
    if answer.type is DependencyType.RELATES_TO:
        yield f"{answer.from_id} is {'' if is_created else 'no longer '}related to {answer.to_id}."
        return
    yield f"{answer.from_id} {'blocks' if is_created else 'no longer blocks'} {answer.to_id}."
    if answer.blocked_by:
        yield f"{answer.to_id} is blocked by {join_blockers(answer.blocked_by)}."


def _list_blocking(ends: list[ContainerDependency] | UnsetType) -> list[ContainerDependency]:
    return [one for one in ends or () if one.type is DependencyType.BLOCKS]


def _list_related(answer: Dependencies) -> list[ContainerDependency]:
    """Return the related items, each once: a relation has no direction."""
    related = {one.id: one for one in (*(answer.dependencies or ()), *(answer.dependents or ()))}
    return [one for one in related.values() if one.type is DependencyType.RELATES_TO]


ENTITY = "{id}  {title} ({type})"
DEPENDENCY = "{id}  {title} ({container_type}, {status})"
UNBLOCKED = Lines("unblocked_entities", ENTITY, title="Unblocked:")
TRANSITION = View(
    _format_heading,
    _format_transition,
    Lines("affected_dependents", ENTITY, title="Affected dependents:"),
    UNBLOCKED,
    FEATURE_TRANSITION,
    Lines("feature_unblocked_entities", ENTITY, title="Unblocked by the feature:"),
    WARNINGS,
    ForEach("graph_hints", Lines("suggested_actions", title="{message}")),
)

RENDERERS = {
    "container.delete": View(_format_delete, UNBLOCKED),
    "container.workflow_state": View(
        "{container_type} {id}",
        Fields(
            ("status", lambda state: f"{state.current_status}{_format_position(state)}"),
            "version",
            ("pipeline", lambda state: " > ".join(state.pipeline)),
            ("next", "{next_status}"),
            ("previous", "{prev_status}"),
            ("blocked by", format_blockers),
            "blocked with: blocked_above, related to: related_entities",
        ),
    ),
    "container.dependencies": View(
        When(
            lambda answer: answer.dependencies or answer.dependents,
            "{container_type} {id}",
            otherwise=("{id} has no dependencies.",),
        ),
        Lines(lambda answer: _list_blocking(answer.dependencies), DEPENDENCY, title="Depends on:"),
        Lines(lambda answer: _list_blocking(answer.dependents), DEPENDENCY, title="Required by:"),
        Lines(_list_related, DEPENDENCY, title="Related:"),
    ),
    "dependency.create": View(_format_dependency),
    "dependency.delete": View(_format_dependency),
    "container.advance": TRANSITION,
    "container.revert": TRANSITION,
    "container.terminate": TRANSITION,
    "container.block": View(_format_heading, _format_block),
    "container.unblock": View(_format_heading, _format_unblock),
}
