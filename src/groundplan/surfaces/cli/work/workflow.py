"""Answers about steps and dependencies as people read them: what was done, and what came of it for others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import UnsetType

from groundplan.surfaces.cli.drawing import INDENT, draw_pairs, one_line, say, say_list, shown, titled
from groundplan.surfaces.cli.work.containers import blocker, called, only, say_feature
from groundplan.work.containers.answers import Entity
from groundplan.work.containers.delete import Deleted
from groundplan.work.containers.dependencies import Dependencies, Dependency
from groundplan.work.containers.dependency import DependencyAnswer, DependencyType
from groundplan.work.containers.workflow.advance import Advanced
from groundplan.work.containers.workflow.block import BlockAnswer
from groundplan.work.containers.workflow.moving import Moved
from groundplan.work.containers.workflow.terminate import Terminated
from groundplan.work.containers.workflow.unblock import UnblockAnswer
from groundplan.work.containers.workflow_state import WorkflowState

Pairs = Iterator[tuple[str, str]]


def draw_moved(answer: Moved) -> None:
    """The step that was taken, and what came of it."""
    container = only(answer)
    step = f"{answer.transition.before} -> {answer.transition.after}"
    place = f" ({answer.pipeline_position})" if answer.pipeline_position else ""
    say(titled(container.id, called(container)), f"{INDENT}{step}{place}, version {container.version}")
    if isinstance(answer, Terminated):
        say_list("Waited for it:", map(_named, answer.affected_dependents))
    say_list("Can go on now:", map(_named, answer.unblocked_entities or ()))
    say_feature(answer.feature_transition)
    say_list("Can go on with the feature:", map(_named, answer.feature_unblocked_entities or ()))
    if isinstance(answer, Advanced) and answer.graph_hints:
        say_list(answer.graph_hints.message, answer.graph_hints.suggested_actions)


def draw_block(answer: BlockAnswer) -> None:
    """What waits for more now."""
    added = ", ".join(map(blocker, answer.added_blockers))
    container = only(answer)
    say(titled(container.id, called(container)))
    say(f"{INDENT}waits for {added} now, version {container.version}" if added else f"{INDENT}waited for that already")
    say(f"{INDENT}waits for {answer.total_blockers} in all")


def draw_unblock(answer: UnblockAnswer) -> None:
    """What waits for less now."""
    container = only(answer)
    say(titled(container.id, called(container)))
    removed = ", ".join(map(blocker, answer.removed_blockers))
    say(f"{INDENT}waits for {removed} no more, version {container.version}")
    if answer.remaining_blockers:
        say(f"{INDENT}still waits for {', '.join(map(blocker, answer.remaining_blockers))}")
    elif not answer.is_fully_unblocked:
        say(f"{INDENT}is held back by what waits above it")
    else:
        say(f"{INDENT}can go on")


def draw_deleted(answer: Deleted) -> None:
    """What is gone."""
    if answer.archived:
        say(f"Put away {answer.deleted}. groundplan project restore {answer.deleted} brings it back.")
    else:
        below = f", and {answer.count - 1} below it" if answer.count > 1 else ""
        say(f"Deleted {answer.deleted}{below}.")
    say_list("Can go on now:", map(_named, answer.unblocked_entities or ()))


def draw_state(answer: WorkflowState) -> None:
    """Where a task or a feature stands, and where it can go."""
    say(f"{answer.container_type} {answer.id}")
    draw_pairs(_about_state(answer))


def _about_state(state: WorkflowState) -> Pairs:
    place = f" ({state.pipeline_position})" if state.pipeline_position else ""
    yield "status", f"{state.current_status}{place}"
    yield "version", str(state.version)
    yield "pipeline", " > ".join(state.pipeline)
    yield "next", shown(state.next_status)
    yield "back to", shown(state.prev_status)
    if state.blocked_by:
        waits = ", ".join(map(blocker, state.blocked_by))
        yield "waits for", f"{waits}: {one_line(state.blocked_reason)}" if state.blocked_reason else waits
    if state.blocked_above:
        yield "held back", f"with {', '.join(state.blocked_above)}"
    if state.related_entities:
        yield "related to", ", ".join(state.related_entities)


def draw_dependencies(answer: Dependencies) -> None:
    """What it waits for, and what waits for it."""
    if not answer.dependencies and not answer.dependents:
        say(f"{answer.id} has no dependencies.")
    else:
        say(f"{answer.container_type} {answer.id}")
    say_list("Waits for:", map(_end, _blocking(answer.dependencies)))
    say_list("Waited for by:", map(_end, _blocking(answer.dependents)))
    related = {one.id: one for one in (*(answer.dependencies or ()), *(answer.dependents or ()))}
    say_list("Related:", (_end(one) for one in related.values() if one.type is DependencyType.RELATES_TO))
    if answer.left_out:
        say("", f"and {sum(answer.left_out.values())} more")


def draw_dependency(answer: DependencyAnswer) -> None:
    """What became of the dependency between two."""
    is_there = answer.operation == "create"
    if answer.type is DependencyType.RELATES_TO:
        say(f"{answer.from_id} is {'' if is_there else 'no longer '}related to {answer.to_id}.")
        return
    say(f"{answer.from_id} {'blocks' if is_there else 'no longer blocks'} {answer.to_id}.")
    if answer.blocked_by:
        say(f"{answer.to_id} waits for {', '.join(map(blocker, answer.blocked_by))}.")


def _blocking(ends: list[Dependency] | UnsetType) -> list[Dependency]:
    return [one for one in ends or () if one.type is DependencyType.BLOCKS]


def _end(one: Dependency) -> str:
    return f"{titled(one.id, one.title)} ({one.container_type}, {one.status})"


def _named(entity: Entity) -> str:
    return f"{titled(entity.id, entity.title)} ({entity.type})"


DRAWINGS: Mapping[str, Callable[[Any], None]] = {
    "container.delete": draw_deleted,
    "container.workflow_state": draw_state,
    "container.dependencies": draw_dependencies,
    "dependency.create": draw_dependency,
    "dependency.delete": draw_dependency,
    "container.advance": draw_moved,
    "container.revert": draw_moved,
    "container.terminate": draw_moved,
    "container.block": draw_block,
    "container.unblock": draw_unblock,
}
