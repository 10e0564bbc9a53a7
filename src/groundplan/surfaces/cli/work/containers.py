"""Terminal output of the operations on projects, features and tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import UNSET, UnsetType

from groundplan.knowledge.reading.context import FileKnowledge
from groundplan.surfaces.cli.knowledge.answers import draw_context
from groundplan.surfaces.cli.terminal import draw_pairs, draw_table, echo, format_time, to_one_line
from groundplan.surfaces.cli.work.sections import draw_section
from groundplan.work.containers.answers import FeatureTransition, OneContainer
from groundplan.work.containers.container import HOLD, Container, Feature, ProjectContainer, Task
from groundplan.work.containers.counts import TaskCounts
from groundplan.work.containers.create import CreatedContainer
from groundplan.work.containers.get import ContainerDetails
from groundplan.work.containers.overview import ContainerOverview
from groundplan.work.containers.search import ContainerPage
from groundplan.work.containers.update import UpdatedContainer
from groundplan.work.containers.workflow.blocked import BlockedFeatures, BlockedTasks

Pairs = Iterator[tuple[str, str]]


# --- One container --------------------------------------------------------------------------------------------------


def draw_get(answer: ContainerDetails) -> None:
    """Print a container with its counts, sections and file knowledge."""
    _draw_container(get_container(answer))
    if answer.task_counts:
        echo("", format_task_counts(answer.task_counts))
    for section in answer.sections or ():
        echo("")
        draw_section(section)
    if answer.left_out:
        echo("", f"(not shown: {sum(answer.left_out.values())} sections; see groundplan section list)")
    if isinstance(answer.graph_context, FileKnowledge):
        _draw_context(answer.graph_context)


def _draw_context(context: FileKnowledge) -> None:
    if context.molecules or context.orphan_atoms or context.unmatched_paths:
        echo("", "Knowledge about its files:")
        draw_context(context)
    else:
        echo("", "It names no files. List them in a section called Context Files.")


def draw_change(answer: CreatedContainer | UpdatedContainer) -> None:
    """Print a container that was created or changed."""
    _draw_container(get_container(answer))
    echo_feature_transition(answer.feature_transition)


def draw_next_task(answer: Task | None) -> None:
    """Print the next task, or that there is none."""
    if answer is None:
        echo("No task is ready to start. To see what is blocked, and by what: groundplan task blocked")
        return
    _draw_container(answer)
    echo("", f"Next: groundplan task advance {answer.id} --version {answer.version}")


def draw_next_feature(answer: Feature | None) -> None:
    """Print the next feature, or that there is none."""
    if answer is None:
        echo("No feature is ready to start. To see what is blocked, and by what: groundplan feature blocked")
        return
    _draw_container(answer)
    echo("", f"Next: groundplan task next --feature {answer.id}")


def get_container(answer: OneContainer) -> Container:
    """Return the task, feature or project of an answer."""
    found = answer.task or answer.feature or answer.project
    if isinstance(found, UnsetType):
        raise LookupError("the answer has no container")
    return found


def _draw_container(container: Container) -> None:
    echo(to_one_line(get_title(container)))
    draw_pairs(_about(container))
    if container.description:
        echo("", *container.description.splitlines())
    if container.left_out:
        echo("", f"(not shown: {', '.join(container.left_out)})")


def _about(container: Container) -> Pairs:
    yield "id", container.id
    yield "version", str(container.version)
    if isinstance(container, ProjectContainer):
        yield from _about_project(container)
    else:
        yield from _about_work(container)
    if container.tags:
        yield "tags", ", ".join(container.tags)
    if container.summary:
        yield "summary", to_one_line(container.summary)
    yield "changed", f"{format_time(container.modified_at)} by {container.last_modified_by}"


def _about_project(project: ProjectContainer) -> Pairs:
    if project.pipelines:
        yield "task pipeline", " > ".join(project.pipelines.task)
        yield "feature pipeline", " > ".join(project.pipelines.feature)
    if project.archived_at:
        yield "archived", format_time(project.archived_at)


def _about_work(one: Feature | Task) -> Pairs:
    yield "status", one.status
    if one.priority:
        yield "priority", one.priority
    if isinstance(one, Task):
        if one.complexity is not None:
            yield "complexity", str(one.complexity)
        if one.feature_id:
            yield "feature", one.feature_id
        if one.claimed_by:
            yield "claimed by", one.claimed_by
    if blockers := _format_blockers(one):
        yield "blocked by", blockers
    if one.related_to:
        yield "related to", ", ".join(one.related_to)


def get_title(container: Container) -> str:
    """Return the title of a task, or the name of a feature or project."""
    return container.title if isinstance(container, Task) else container.name


def _format_blockers(one: Feature | Task) -> str:
    """Return the blockers and the reason on one line, or an empty text."""
    inherited = ["a blocked parent"] if one.blocked_above else []
    blockers = ", ".join([*map(blocker, one.blocked_by), *inherited])
    return f"{blockers}: {to_one_line(one.blocked_reason)}" if one.blocked_reason else blockers


def blocker(given: str) -> str:
    """Return the id of a blocker, with a note if it is a hold."""
    return f"{HOLD} (a hold)" if given == HOLD else given


def echo_feature_transition(transition: FeatureTransition | UnsetType) -> None:
    """Print the status change of a feature that followed its tasks, if any."""
    if transition:
        echo("", f"Feature {transition.id}: {transition.before} -> {transition.after}")


# --- Lists ----------------------------------------------------------------------------------------------------------


def draw_page(answer: ContainerPage | ContainerOverview) -> None:
    """Print a list of containers, or one container with its contents."""
    if isinstance(answer, ContainerOverview):
        draw_overview(answer)
        return
    if not answer.items:
        echo(
            "Nothing found." if not answer.count else f"No more results after {answer.offset}; {answer.count} in total."
        )
        return
    _draw_list(answer.items)
    if answer.next_offset is not UNSET:
        echo("", f"{len(answer.items)} of {answer.count}. Next page: add --offset {answer.next_offset}")


def draw_overview(answer: ContainerOverview) -> None:
    """Print a container with its features, tasks and counts."""
    _draw_container(get_container(answer))
    if answer.task_counts:
        echo("", format_task_counts(answer.task_counts))
    if answer.features:
        echo("", "Features:")
        draw_table(
            ("id", "name", "status", "priority", "blocked", "version", "tasks"),
            [
                (one.id, one.name, one.status, one.priority, one.is_blocked, one.version, _counts(one.task_counts))
                for one in answer.features
            ],
        )
    if answer.tasks:
        echo("")
        draw_table(
            ("id", "title", "status", "priority", "complexity", "blocked", "version"),
            [
                (one.id, one.title, one.status, one.priority, one.complexity, one.is_blocked, one.version)
                for one in answer.tasks
            ],
        )
    if answer.next_offset is not UNSET:
        echo("", f"Next page: add --offset {answer.next_offset}")


def draw_blocked(answer: BlockedTasks | BlockedFeatures) -> None:
    """Print the blocked items and their blockers."""
    if not answer.items:
        echo("Nothing is blocked.")
        return
    draw_table(
        ("id", "title", "status", "priority", "blocked by"),
        [
            (one.id, to_one_line(get_title(one)), one.status, one.priority, _format_blockers(one))
            for one in answer.items
        ],
    )
    if answer.next_offset:
        echo("", f"{answer.count} in total. Next page: add --offset {answer.next_offset}")


def _draw_list(items: Sequence[Container]) -> None:
    if any(isinstance(one, ProjectContainer) for one in items):
        rows = [(one.name, one.id, one.version, one.summary) for one in items if isinstance(one, ProjectContainer)]
        draw_table(("name", "id", "version", "summary"), rows)
        return
    work = [one for one in items if not isinstance(one, ProjectContainer)]
    draw_table(
        ("id", "title", "status", "priority", "blocked", "tags", "version"),
        [
            (
                one.id,
                to_one_line(get_title(one)),
                one.status,
                one.priority,
                bool(_format_blockers(one)),
                one.tags,
                one.version,
            )
            for one in work
        ],
    )


def format_task_counts(counts: TaskCounts) -> str:
    """Return the number of tasks by status as a sentence."""
    return f"Tasks: {_counts(counts)}."


def _counts(counts: TaskCounts) -> str:
    by_status = ", ".join(f"{count} {status}" for status, count in counts.by_status.items())
    return f"{counts.total} ({by_status})" if by_status else str(counts.total)


RENDERERS: Mapping[str, Callable[[Any], None]] = {
    "container.get": draw_get,
    "container.search": draw_page,
    "container.overview": draw_page,
    "container.create": draw_change,
    "container.update": draw_change,
    "container.next_task": draw_next_task,
    "container.next_feature": draw_next_feature,
    "container.blocked_tasks": draw_blocked,
    "container.blocked_features": draw_blocked,
}
