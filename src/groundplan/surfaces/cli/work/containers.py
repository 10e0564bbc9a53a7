"""Views of the operations on projects, features and tasks."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import UnsetType

from groundplan.surfaces.cli.briefing.task import BRIEFING
from groundplan.surfaces.cli.drawing import (
    GAP,
    Fields,
    ForEach,
    Lines,
    Rows,
    TypeSwitch,
    View,
    When,
    note_no_results,
)
from groundplan.surfaces.cli.knowledge.answers import CONTEXT
from groundplan.surfaces.cli.terminal import to_one_line
from groundplan.surfaces.cli.work.links import list_links
from groundplan.surfaces.cli.work.sections import SECTION
from groundplan.work.containers.query import ContainerOverview, ContainerPage, TaskCounts
from groundplan.work.containers.views import HOLD, Container, ContainerAnswer, Feature, ProjectContainer, Task
from groundplan.work.containers.workflow import WorkflowState


def get_container(answer: ContainerAnswer) -> Container:
    """Return the task, feature or project of an answer."""
    found = answer.task or answer.feature or answer.project
    if isinstance(found, UnsetType):
        raise LookupError("the answer has no container")
    return found


def get_title(container: Container) -> str:
    """Return the title of a task, or the name of a feature or project, on one line."""
    return to_one_line(container.title if isinstance(container, Task) else container.name)


def format_blockers(one: Container | WorkflowState) -> str:
    """Return the blockers and the reason on one line, or an empty text."""
    if isinstance(one, ProjectContainer):
        return ""
    inherited = ["a blocked parent"] if one.blocked_above and not isinstance(one, WorkflowState) else []
    blockers = ", ".join([join_blockers(one.blocked_by), *inherited] if one.blocked_by else inherited)
    return f"{blockers}: {to_one_line(one.blocked_reason)}" if blockers and one.blocked_reason else blockers


def join_blockers(ids: list[str]) -> str:
    """Return the ids of blockers, with a note for a hold."""
    return ", ".join(f"{HOLD} (a hold)" if id_ == HOLD else id_ for id_ in ids)


def _list_pipelines(container: Container) -> Iterator[tuple[str, str]]:
    if isinstance(container, ProjectContainer) and container.pipelines:
        yield "task pipeline", " > ".join(container.pipelines.task)
        yield "feature pipeline", " > ".join(container.pipelines.feature)


def _format_counts(counts: TaskCounts) -> str:
    by_status = ", ".join(f"{count} {status}" for status, count in counts.by_status.items())
    return f"{counts.total} ({by_status})" if by_status else str(counts.total)


def _list_projects(page: ContainerPage) -> list[ProjectContainer]:
    return [one for one in page.items if isinstance(one, ProjectContainer)]


def _list_work(page: ContainerPage) -> list[Feature | Task]:
    return [one for one in page.items if not isinstance(one, ProjectContainer)]


CONTAINER = (
    get_title,
    Fields(
        "id, version",
        _list_pipelines,
        "archived: archived_at, status, priority, complexity, feature: feature_id, claimed_by",
        ("blocked by", format_blockers),
        "related_to, tags, summary",
        list_links,
        ("changed", "{modified_at} by {last_modified_by}"),
    ),
    GAP,
    Lines("description"),
)
TASK_COUNTS = ForEach("task_counts", lambda counts: f"Tasks: {_format_counts(counts)}.")
FEATURE_TRANSITION = ForEach("feature_transition", "Feature {id}: {before} -> {after}")
KNOWLEDGE = When(
    lambda context: context.molecules or context.orphan_atoms or context.unmatched_paths,
    "Knowledge about its files:",
    *CONTEXT,
    otherwise=("It names no files. List them in its context links, or in a section called Context Files.",),
)
CHANGED = View(ForEach(get_container, *CONTAINER), FEATURE_TRANSITION)
PAGE = (
    Rows(_list_projects, "name, id, version, summary"),
    Rows(
        _list_work,
        "id",
        ("title", get_title),
        "status, priority",
        ("blocked", lambda one: bool(format_blockers(one))),
        "tags, version",
    ),
    note_no_results,
)
OVERVIEW = (
    ForEach(get_container, *CONTAINER),
    TASK_COUNTS,
    Rows(
        "features",
        "id, name, status, priority, blocked: is_blocked, version",
        ("tasks", lambda one: _format_counts(one.task_counts)),
        title="Features:",
    ),
    GAP,
    Rows("tasks", "id, title, status, priority, complexity, blocked: is_blocked, version"),
)
PAGE_OR_OVERVIEW = View(TypeSwitch({ContainerOverview: OVERVIEW, ContainerPage: PAGE}))
BLOCKED = View(
    Rows(
        "items",
        "id",
        ("title", get_title),
        "status, priority",
        ("blocked by", format_blockers),
        empty="Nothing is blocked.",
    ),
)


def _view_next(kind: str, command: str) -> View:
    nothing = f"No {kind} is ready to start. To see what is blocked, and by what: groundplan {kind} blocked"
    return View(When(lambda answer: answer, *CONTAINER, GAP, f"Next: groundplan {command}", otherwise=(nothing,)))


RENDERERS = {
    "container.get": View(
        ForEach(get_container, *CONTAINER),
        TASK_COUNTS,
        ForEach("sections", *SECTION),
        ForEach("graph_context", KNOWLEDGE),
        BRIEFING,
    ),
    "container.search": PAGE_OR_OVERVIEW,
    "container.overview": PAGE_OR_OVERVIEW,
    "container.create": CHANGED,
    "container.update": CHANGED,
    "container.next_task": _view_next("task", "task advance {id} --version {version}"),
    "container.next_feature": _view_next("feature", "task next --feature {id}"),
    "container.blocked_tasks": BLOCKED,
    "container.blocked_features": BLOCKED,
}
