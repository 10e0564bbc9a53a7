"""Search projects, features or tasks by words, status, priority and tags."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import DropField, Trimming
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, Group, Route, Tool, declare
from groundplan.kernel.projects import ListProjects, list_projects
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import describe_value, invalid_argument, join_alternatives
from groundplan.work.containers.answers import compute_next_offset
from groundplan.work.containers.container import Feature, ProjectContainer, Task, load_containers_at
from groundplan.work.containers.counts import count_project_tasks
from groundplan.work.containers.pipeline import STEP_PATTERN, load_pipelines
from groundplan.work.containers.refs import SearchScope, resolve_project, resolve_scope
from groundplan.work.containers.requests import (
    LIMIT,
    ContainerId,
    ContainerType,
    Limit,
    Offset,
    StringList,
    WorkflowType,
    get_priority_range,
    parse_tags,
)
from groundplan.work.graph.search import lower_ascii
from groundplan.work.kinds import ROOT_N, WILL_NOT_IMPLEMENT

WORDS_MAX = 32

sql = load_queries(__file__)


class SearchContainers(Struct, rename="camel", forbid_unknown_fields=True):
    """Filters of a search. All words of the query must match; of several tags, at least one."""

    container_type: ContainerType
    query: str | None = None
    status: str | None = None
    priority: str | None = None
    tags: StringList | None = None
    project_id: Name | None = None
    feature_id: ContainerId | None = None
    limit: Limit = LIMIT
    offset: Offset = 0


class ContainerPage(Struct, rename="camel"):
    """A page of matches, and their number on all pages."""

    trimming: ClassVar[Trimming] = Trimming(DropField("items[].description"), DropField("items[].summary"))

    items: list[ProjectContainer | Feature | Task]
    count: int
    limit: int
    offset: int
    next_offset: int | UnsetType = UNSET  # of the next page; unset after the last


def search(tx: Transaction, request: SearchContainers) -> ContainerPage:
    """Search in a project, in a feature, or in all projects that the caller sees.

    Raises:
        NotFound: the feature does not exist.
        Invalid: a filter does not apply to this container type.
    """
    place = resolve_scope(tx, request.feature_id)
    if request.container_type is ContainerType.PROJECT:
        return _build_page(tx, request, _find_projects(tx, request, place))
    return _build_page(tx, request, find_matches(tx, request, place))


class ContainerMatches(NamedTuple):
    """The containers of a page as (project id, number), and the number of matches on all pages."""

    locations: list[tuple[str, int]]
    total: int


def find_matches(tx: Transaction, request: SearchContainers, scope: SearchScope) -> ContainerMatches:
    """Find the tasks or features that match, in some projects or in one feature."""
    if request.container_type is ContainerType.FEATURE and request.feature_id is not None:
        raise invalid_argument(("featureId",), "is for tasks only; leave it out")
    least, below = get_priority_range(request.priority)
    asked: dict[str, Any] = {
        "status": _parse_status(tx, request, scope),
        "least": least,
        "below": below,
        "tags": _encode_tags(request),
        "words": _encode_words(request),
    }
    if request.container_type is ContainerType.FEATURE:
        page, total = sql.search_features, sql.count_features
        asked["project_ids"] = to_json_array(scope.project_ids)
    elif scope.feature_n is None:
        page, total = sql.search_tasks, sql.count_tasks
        asked["project_ids"] = to_json_array(scope.project_ids)
    else:
        page, total = sql.search_tasks_of_feature, sql.count_tasks_of_feature
        asked |= {"project_id": scope.project_ids[0], "feature_n": scope.feature_n}
    counted = _count_by_status(tx, request, scope)
    if counted == 0:
        return ContainerMatches([], 0)
    rows = tx.all(page, **asked, at_most=request.limit, skipped=request.offset)
    if counted is None:
        counted = int(tx.scalar(total, **asked))
    return ContainerMatches([(project_id, n) for project_id, n in rows], counted)


def _count_by_status(tx: Transaction, request: SearchContainers, scope: SearchScope) -> int | None:
    """Return how many tasks of one project match, from the stored counts; None if more than the status is asked for."""
    is_filtered = any((request.query, request.priority, request.tags, scope.feature_n))
    if request.container_type is not ContainerType.TASK or is_filtered or len(scope.project_ids) != 1:
        return None
    counts = count_project_tasks(tx, scope.project_ids[0])
    return counts.total if request.status is None else counts.by_status.get(request.status.strip().upper(), 0)


def _find_projects(tx: Transaction, request: SearchContainers, scope: SearchScope) -> ContainerMatches:
    for name, wire in {"status": "status", "priority": "priority", "feature_id": "featureId"}.items():
        if getattr(request, name) is not None:
            raise invalid_argument((wire,), "is not for containerType project; leave it out")
    rows = tx.all(sql.search_projects, project_ids=to_json_array(scope.project_ids), tags=_encode_tags(request))
    texts = {project_id: lower_ascii(f"{summary} {description or ''}") for project_id, summary, description in rows}
    words = [lower_ascii(word) for word in (request.query or "").split()]
    matches = [
        project.id
        for project in list_projects(tx, ListProjects(archived=True)).projects
        if project.id in texts and all(word in f"{lower_ascii(project.name)} {texts[project.id]}" for word in words)
    ]
    page = matches[request.offset : request.offset + request.limit]
    return ContainerMatches([(project_id, ROOT_N) for project_id in page], len(matches))


def _build_page(tx: Transaction, request: SearchContainers, matches: ContainerMatches) -> ContainerPage:
    locations, count = matches
    page = ContainerPage([], count, request.limit, request.offset, next_offset=count)
    page.items = tx.budget.reserve(page).take_rows(load_containers_at(tx, locations), at_least=1)
    page.next_offset = compute_next_offset(request.offset, len(page.items), count)
    return page


def _parse_status(tx: Transaction, request: SearchContainers, scope: SearchScope) -> str | None:
    if request.status is None:
        return None
    status = request.status.strip().upper()
    allowed: list[str] = []
    if len(scope.project_ids) == 1 and request.container_type is not ContainerType.PROJECT:
        steps = load_pipelines(tx, scope.project_ids[0]).of(WorkflowType(request.container_type))
        allowed = [*steps, WILL_NOT_IMPLEMENT]
    if not STEP_PATTERN.fullmatch(status) or (allowed and status not in allowed):
        expected = join_alternatives(allowed) if allowed else "a word in capitals"
        wrong = f"must be {expected}, not {describe_value(request.status)}"
        raise invalid_argument(("status",), wrong, allowed=allowed)
    return status


def _encode_tags(request: SearchContainers) -> str | None:
    tags = parse_tags(request.tags) if request.tags is not None else []
    return to_json_array(tags) if tags else None


def _encode_words(request: SearchContainers) -> str | None:
    words = [lower_ascii(word) for word in (request.query or "").split()]
    if len(words) > WORDS_MAX:
        wrong = f"has {len(words)} words, the limit is {WORDS_MAX}; leave some out"
        raise invalid_argument(("query",), wrong, code="too_many", limit=WORDS_MAX)
    return to_json_array(words) if words else None


OPERATION = declare(
    search,
    name="container.search",
    summary="By words, status, priority, tags; in a project, a feature or everywhere.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    project=lambda tx, request: resolve_project(tx, request.project_id, request.feature_id),
    without_project=Permission.PROJECT_LIST,
    tool=Tool("query_container", Group.CONTAINERS, "search"),
    command=Command(
        ("task", "search"),
        arguments=("query",),
        names={"project_id": "project", "feature_id": "feature", "tags": "tag"},
        fixed={"container_type": "task"},
    ),
    aliases=(
        Command(
            ("feature", "search"),
            arguments=("query",),
            names={"project_id": "project", "tags": "tag"},
            fixed={"container_type": "feature"},
            without=("feature_id",),
        ),
    ),
    http=Route("GET", "/projects/{project}/work/{containerType}s"),
    other_routes=(Route("GET", "/organization/work/{containerType}s"),),
)
