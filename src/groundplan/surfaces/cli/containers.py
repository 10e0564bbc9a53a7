"""Views of the operations on containers: tasks and features with statuses, projects, sections, templates and tags."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from msgspec import UnsetType

from groundplan.surfaces.cli.briefing import BRIEFING
from groundplan.surfaces.cli.drawing import (
    GAP,
    WARNINGS,
    Fields,
    ForEach,
    Lines,
    Rows,
    TypeSwitch,
    View,
    When,
    expand,
    note_no_results,
)
from groundplan.surfaces.cli.knowledge.answers import CONTEXT
from groundplan.surfaces.cli.terminal import INDENT, format_title, to_one_line
from groundplan.surfaces.cli.work import list_links
from groundplan.work.containers.dependencies import ContainerDependency, Dependencies, DependencyAnswer, DependencyType
from groundplan.work.containers.sections.change import DeletedSection, DeletedSections
from groundplan.work.containers.views import HOLD, Container, ContainerAnswer, Feature, ProjectContainer, Task
from groundplan.work.containers.workflow import BlockAnswer, TransitionAnswer, UnblockAnswer, WorkflowState

if TYPE_CHECKING:
    from groundplan.work.containers.manage import DeletedContainer
    from groundplan.work.containers.query import ContainerPage, TaskCounts
    from groundplan.work.containers.sections.section import Section
    from groundplan.work.containers.templates import Template, TemplateSection


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
PAGE_OR_OVERVIEW = View(TypeSwitch({"ContainerOverview": OVERVIEW, "ContainerPage": PAGE}))
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


def _format_owner(section: Section) -> str:
    return f"{section.entity_type.value.lower()} {section.entity_id}"


def _format_target(template: Template) -> str:
    return template.target_entity_type.value.lower()


def _format_state(template: Template) -> str:
    marks = ("built in" * template.is_built_in, "protected" * template.is_protected)
    return ", ".join(mark for mark in ("enabled" if template.is_enabled else "disabled", *marks) if mark)


def _format_sample(section: TemplateSection) -> Iterator[str]:
    required = ", required" if section.is_required else ""
    yield f"{section.ordinal}. {to_one_line(section.title)} ({section.content_format.value}{required})"
    if section.usage_description:
        yield f"{INDENT}for: {to_one_line(section.usage_description)}"
    if section.tags:
        yield f"{INDENT}tags: {', '.join(section.tags)}"


def _format_deleted(answer: DeletedSection | DeletedSections) -> str:
    deleted = [answer.deleted] if isinstance(answer, DeletedSection) else answer.deleted
    return f"Deleted {', '.join(deleted)}."


SECTION = (
    "{title}",
    Fields(
        "id, version",
        ("of", _format_owner),
        ("position", "{ordinal}, {content_format}"),
        "for: usage_description, tags, changed: modified_at",
    ),
    Lines("content", indent=INDENT),
)
SAMPLE = (_format_sample, Lines("content_sample", indent=INDENT))
SECTIONS = View(
    When(lambda answer: answer.sections or answer.left_out, otherwise=("No sections here.",)),
    ForEach("sections", *SECTION),
)
TEMPLATE = View(
    ForEach(
        "template",
        "{name}",
        Fields(
            "id",
            ("for", _format_target),
            ("state", _format_state),
            "tags, by: created_by, changed: modified_at",
        ),
        Lines("description", indent=INDENT),
        ForEach("sections", *SAMPLE),
        When(
            lambda template: template.sections == [],
            GAP,
            "No sections yet. Next: groundplan template add-section {id} TITLE",
        ),
    )
)
RENAMED = "the tag {old_tag} to {new_tag}. Items: {affected}"
ENTITIES = Rows("entities", ("type", lambda one: one.type.value.lower()), "id, title")


RENDERERS: dict[str, Callable[..., None]] = {
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
    "section.list": SECTIONS,
    "section.add": View(*SECTION),
    "section.update": View(*SECTION),
    "section.update_text": View(*SECTION),
    "section.reorder": SECTIONS,
    "section.delete": View(_format_deleted),
    "template.get": TEMPLATE,
    "template.list": View(
        Rows(
            "templates",
            "id, name",
            ("for", _format_target),
            ("state", _format_state),
            "tags, description",
            empty="No templates found.",
        ),
    ),
    "template.create": TEMPLATE,
    "template.update": TEMPLATE,
    "template.enable": TEMPLATE,
    "template.disable": TEMPLATE,
    "template.add_section": View("Added to {template_id}:", lambda answer: expand(SAMPLE, answer.section)),
    "template.delete": View("Deleted {deleted}. Sections deleted with it: {deleted_sections}"),
    "template.apply": View(
        lambda answer: f"Added to {_format_owner(answer)}:",
        Rows("sections", "position: ordinal, id, title"),
    ),
    "tag.list": View(
        Rows(
            "tags",
            "tag, used: count",
            empty="No tags here. To add one, use --tag with groundplan task create, feature create or section add.",
        ),
    ),
    "tag.usage": View("Items with the tag {tag}: {count}", ENTITIES),
    "tag.rename": View(When("dry_run", f"Would rename {RENAMED}", otherwise=(f"Renamed {RENAMED}",)), ENTITIES),
}
