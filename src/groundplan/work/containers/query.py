"""Read projects, features and tasks: get one, search, list the contents of one, and count tasks by status."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any, ClassVar, NamedTuple

from msgspec import UNSET, Struct, UnsetType, field

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import Budget, CutLists, DropField, LeftOut, Trimming
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import AnswerBudget, Effect, Group, Route, Tool, declare
from groundplan.kernel.projects import ListProjects, list_projects
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import describe_value, invalid_argument, join_alternatives
from groundplan.providers import find_knowledge_of_files
from groundplan.work.answers import TRIMMING, AnswerBriefing
from groundplan.work.containers.fields import (
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
from groundplan.work.containers.pipeline import STEP_PATTERN, load_pipelines
from groundplan.work.containers.refs import (
    SearchScope,
    resolve_container,
    resolve_container_project,
    resolve_project,
    resolve_scope,
)
from groundplan.work.containers.sections.context_files import extract_context_files
from groundplan.work.containers.sections.section import Section, load_sections
from groundplan.work.containers.views import (
    ContainerAnswer,
    Feature,
    ProjectContainer,
    Task,
    compute_next_offset,
    load_container_into,
    load_containers,
    load_containers_at,
)
from groundplan.work.graph.search import lower_ascii
from groundplan.work.kinds import ACTIVE, CLOSED, NEW, ROOT_N, WILL_NOT_IMPLEMENT
from groundplan.work.overlaps import extract_paths

KNOWLEDGE_TENTHS = 3  # tenths of the answer's budget
ENVELOPE_CHARS = len('{"success":true,"data":}')
WORDS_MAX = 32


sql = load_queries(__file__)


# --- Task counts. Most are stored counters, updated with each change ---


class TaskCounts(Struct, rename="camel"):
    """The number of tasks, in total and per status; statuses without tasks are left out."""

    total: int
    by_status: dict[str, int]


class _TaskCountsRow(Struct):
    tasks: int
    tasks_closed: int
    tasks_dropped: int


class _FeatureTaskCountsRow(_TaskCountsRow):
    n: int


def count_project_tasks(tx: Transaction, project_id: str) -> TaskCounts:
    """Return the task counts of a project."""
    started: Counter[str] = Counter(dict(tx.all(sql.started_counts, project_id=project_id)))
    started[ACTIVE] += sum(count for _, count in tx.all(sql.claimed_counts, project_id=project_id))
    return _build_counts(tx.one(sql.task_counts, _TaskCountsRow, project_id=project_id), started)


def count_feature_tasks(tx: Transaction, project_id: str, ns: Collection[int]) -> dict[int, TaskCounts]:
    """Return the task counts of some features, by feature number."""
    started: dict[int | None, Counter[str]] = {}
    steps = to_json_array(load_pipelines(tx, project_id).task)
    rows = tx.all(sql.started_counts_of_features, project_id=project_id, ns=to_json_array(ns), steps=steps)
    for feature_n, status, count in rows:
        started.setdefault(feature_n, Counter())[status] += count
    # Claims are counted on each read, because they expire by the clock alone. There are never many.
    for feature_n, count in tx.all(sql.claimed_counts, project_id=project_id):
        started.setdefault(feature_n, Counter())[ACTIVE] += count
    rows_of_features = tx.all(
        sql.task_counts_of_features, _FeatureTaskCountsRow, project_id=project_id, ns=to_json_array(ns)
    )
    return {tasks.n: _build_counts(tasks, started.get(tasks.n, Counter())) for tasks in rows_of_features}


def _build_counts(tasks: _TaskCountsRow, started: Counter[str]) -> TaskCounts:
    closed, dropped = tasks.tasks_closed, tasks.tasks_dropped
    new = tasks.tasks - closed - dropped - started.total()
    counted = {NEW: new, **dict(sorted(started.items())), CLOSED: closed, WILL_NOT_IMPLEMENT: dropped}
    return TaskCounts(tasks.tasks, {status: count for status, count in counted.items() if count})


# --- Get ---


class GetContainer(Struct, rename="camel", forbid_unknown_fields=True):
    """A container, and the details to include in the answer."""

    container_type: ContainerType
    id: ContainerId
    include_sections: bool = False
    include_graph_context: bool = False
    budget: AnswerBudget = None


class ContainerDetails(ContainerAnswer, kw_only=True):
    """A container with the requested details."""

    trimming: ClassVar[Trimming] = Trimming(
        *TRIMMING,
        DropField("sections[].content"),
        *ContainerAnswer.trimming,
        DropField("sections[].usage_description"),
        DropField("sections[].tags"),
        CutLists(("sections",)),
    )

    sections: list[Section] | UnsetType = UNSET
    graph_context: Any = UNSET  # knowledge about the paths in the task's context links and Context Files
    task_counts: TaskCounts | UnsetType = UNSET
    left_out: LeftOut = field(name="left_out", default=UNSET)
    briefing: Any = UNSET  # of the container, if the request has a budget
    warnings: list[str] | UnsetType = UNSET


def get(tx: Transaction, request: GetContainer) -> ContainerDetails:
    """Return a container.

    Raises:
        NotFound: the container does not exist.
    """
    node = resolve_container(tx, request.container_type, request.id)
    answer = ContainerDetails()
    includes_graph_context = request.include_graph_context and request.container_type is ContainerType.TASK
    if request.include_graph_context and not includes_graph_context:
        answer.warnings = [f"includeGraphContext is for tasks, so this {request.container_type} has no graphContext"]
    load_container_into(answer, tx, node.n, links_of=node.id)
    if request.container_type is ContainerType.PROJECT:
        answer.task_counts = count_project_tasks(tx, tx.project.id)
    elif request.container_type is ContainerType.FEATURE:
        answer.task_counts = count_feature_tasks(tx, tx.project.id, [node.n])[node.n]
    if request.include_sections or includes_graph_context:
        sections = load_sections(tx, node)
        answer.sections = sections
        if includes_graph_context:
            # A task of graph_plan names its files in its links.
            paths = list(dict.fromkeys([*extract_paths(node.links_value), *extract_context_files(sections)]))
            answer.graph_context = find_knowledge_of_files(tx, paths, tx.budget.share(KNOWLEDGE_TENTHS, of=10))
    if request.budget is not None:
        briefing = AnswerBriefing(
            tx,
            node.n,
            lean=tx.preferences.lean,
            envelope_chars=ENVELOPE_CHARS,
            list_shown=lambda: _list_shown(answer, node.id),
        )
        briefing.add_to(answer)
    return answer


def _list_shown(answer: ContainerDetails, node_id: str) -> dict[str, bool]:
    """Return the ids of the atoms and molecules whose texts an answer shows, and of the node if it is described."""
    container = answer.task or answer.feature or answer.project
    described = {node_id: True} if container and container.description else {}
    if answer.graph_context is UNSET:
        return described
    molecules, orphans = answer.graph_context.molecules, answer.graph_context.orphan_atoms
    atoms = [*orphans, *(atom for molecule in molecules for atom in molecule.atoms)]
    return described | {entity.id: True for entity in (*molecules, *atoms) if entity.knowledge is not UNSET}


# --- Search ---


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
    """A page of matches, and the number of all matches."""

    trimming: ClassVar[Trimming] = Trimming(DropField("items[].description"), DropField("items[].summary"))

    items: list[ProjectContainer | Feature | Task]
    count: int
    limit: int
    offset: int
    next_offset: int | UnsetType = UNSET  # of the next page; unset after the last


def search(tx: Transaction, request: SearchContainers) -> ContainerPage:
    """Search in a project, in a feature, or in all projects of the caller.

    Raises:
        NotFound: the feature does not exist.
        Invalid: a filter does not apply to this container type.
    """
    scope = resolve_scope(tx, request.feature_id)
    if request.container_type is ContainerType.PROJECT:
        return _build_page(tx, request, _find_projects(tx, request, scope))
    return _build_page(tx, request, find_matches(tx, request, scope))


class ContainerMatches(NamedTuple):
    """The containers of a page as (project id, number), and the number of all matches."""

    locations: list[tuple[str, int]]
    total: int


def find_matches(tx: Transaction, request: SearchContainers, scope: SearchScope) -> ContainerMatches:
    """Return the tasks or features that match, in some projects or in one feature."""
    if request.container_type is ContainerType.FEATURE and request.feature_id is not None:
        raise invalid_argument(("featureId",), "is for tasks only; leave it out")
    least, below = get_priority_range(request.priority)
    parameters: dict[str, Any] = {
        "status": _parse_status(tx, request, scope),
        "least": least,
        "below": below,
        "tags": _encode_tags(request),
        "words": _encode_words(request),
    }
    if request.container_type is ContainerType.FEATURE:
        page, total = sql.search_features, sql.count_features
        parameters["project_ids"] = to_json_array(scope.project_ids)
    elif scope.feature_n is None:
        page, total = sql.search_tasks, sql.count_tasks
        parameters["project_ids"] = to_json_array(scope.project_ids)
    else:
        page, total = sql.search_tasks_of_feature, sql.count_tasks_of_feature
        parameters |= {"project_id": scope.project_ids[0], "feature_n": scope.feature_n}
    counted = _count_by_status(tx, request, scope)
    if counted == 0:
        return ContainerMatches([], 0)
    rows = tx.all(page, **parameters, at_most=request.limit, skipped=request.offset)
    if counted is None:
        counted = int(tx.scalar(total, **parameters))
    return ContainerMatches([(project_id, n) for project_id, n in rows], counted)


def _count_by_status(tx: Transaction, request: SearchContainers, scope: SearchScope) -> int | None:
    """Return the number of matching tasks in one project, from the stored counts; None if other filters are set."""
    is_filtered = any((request.query, request.priority, request.tags, scope.feature_n))
    if request.container_type is not ContainerType.TASK or is_filtered or len(scope.project_ids) != 1:
        return None
    counts = count_project_tasks(tx, scope.project_ids[0])
    return counts.total if not request.status else counts.by_status.get(request.status.strip().upper(), 0)


def _find_projects(tx: Transaction, request: SearchContainers, scope: SearchScope) -> ContainerMatches:
    for name, wire in {"status": "status", "priority": "priority", "feature_id": "featureId"}.items():
        if getattr(request, name):
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
    if not request.status:
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


# --- Overview ---


class QueryOverview(Struct, rename="camel", forbid_unknown_fields=True):
    """A container and a page of its contents; without an id, a page of containers of one type."""

    container_type: ContainerType
    id: ContainerId | None = None
    status: str | None = None
    priority: str | None = None
    tags: StringList | None = None
    project_id: Name | None = None
    feature_id: ContainerId | None = None
    limit: Limit = LIMIT
    offset: Offset = 0


class FeatureLine(Struct, rename="camel"):
    """A feature in the overview of its project."""

    id: str
    name: str
    status: str
    priority: str | None
    is_blocked: bool
    version: int
    task_counts: TaskCounts


class TaskLine(Struct, rename="camel"):
    """A task in the overview of its feature."""

    id: str
    title: str
    status: str
    priority: str | None
    complexity: int | None
    is_blocked: bool
    version: int


class ContainerOverview(ContainerAnswer, kw_only=True):
    """A container with a page of its contents."""

    task_counts: TaskCounts | UnsetType = UNSET
    features: list[FeatureLine] | UnsetType = UNSET
    tasks: list[TaskLine] | UnsetType = UNSET
    next_offset: int | UnsetType = UNSET  # of the next page; unset after the last


def overview(tx: Transaction, request: QueryOverview) -> ContainerPage | ContainerOverview:
    """Return a container with its contents; without an id, a page of containers of one type.

    Raises:
        NotFound: the container or the feature does not exist.
    """
    if request.id is None:
        listing = _build_listing(request, request.container_type)
        listing.feature_id = request.feature_id
        return search(tx, listing)
    _refuse_list_filters(tx, request)
    node = resolve_container(tx, request.container_type, request.id)
    answer = ContainerOverview()
    load_container_into(answer, tx, node.n)
    if request.container_type is ContainerType.PROJECT:
        answer.task_counts = count_project_tasks(tx, tx.project.id)
        places = find_matches(tx, _build_listing(request, ContainerType.FEATURE), SearchScope([tx.project.id]))
        answer.features = _compute_lines_budget(tx).take_rows(_build_feature_lines(tx, places), at_least=1)
        answer.next_offset = compute_next_offset(request.offset, len(answer.features), places.total)
    elif request.container_type is ContainerType.FEATURE:
        answer.task_counts = count_feature_tasks(tx, tx.project.id, [node.n])[node.n]
        places = find_matches(tx, _build_listing(request, ContainerType.TASK), SearchScope([tx.project.id], node.n))
        answer.tasks = _compute_lines_budget(tx).take_rows(_build_task_lines(tx, places), at_least=1)
        answer.next_offset = compute_next_offset(request.offset, len(answer.tasks), places.total)
    return answer


def _refuse_list_filters(tx: Transaction, request: QueryOverview) -> None:
    """Refuse filters that do not apply to the contents of one container."""
    if request.project_id is not None and request.project_id not in (tx.project.id, tx.project.name):
        raise invalid_argument(("projectId",), "is not the project of the container; leave it out")
    refused = {"feature_id": "featureId"}
    if request.container_type is ContainerType.TASK:  # a task has no contents to filter
        refused |= {"status": "status", "priority": "priority", "tags": "tags"}
    for name, wire in refused.items():
        if getattr(request, name):
            raise invalid_argument((wire,), "filters a list, and id names one container; leave one of them out")


def _build_listing(request: QueryOverview, container_type: ContainerType) -> SearchContainers:
    return SearchContainers(
        container_type,
        status=request.status,
        priority=request.priority,
        tags=request.tags,
        limit=request.limit,
        offset=request.offset,
    )


def _build_feature_lines(tx: Transaction, locations: ContainerMatches) -> list[FeatureLine]:
    ns = [n for _, n in locations.locations]
    containers = load_containers(tx, tx.project.id, ns)
    counts = count_feature_tasks(tx, tx.project.id, ns)
    lines = []
    for n in ns:
        if isinstance(container := containers[n], Feature):
            lines.append(
                FeatureLine(
                    container.id,
                    container.name,
                    container.status,
                    container.priority,
                    _is_blocked(container),
                    container.version,
                    counts[n],
                )
            )
    return lines


def _build_task_lines(tx: Transaction, locations: ContainerMatches) -> list[TaskLine]:
    ns = [n for _, n in locations.locations]
    containers = load_containers(tx, tx.project.id, ns)
    lines = []
    for n in ns:
        if isinstance(task := containers[n], Task):
            complexity = task.complexity
            lines.append(
                TaskLine(task.id, task.title, task.status, task.priority, complexity, _is_blocked(task), task.version)
            )
    return lines


def _is_blocked(container: Feature | Task) -> bool:
    return bool(container.blocked_by) or container.blocked_above is True


def _compute_lines_budget(tx: Transaction) -> Budget:
    """Return the budget of the listed rows. Texts of the container may be left out for them."""
    return tx.budget.share(6, of=10)


def _locate_overview(tx: Transaction, request: QueryOverview) -> str | None:
    if request.id is not None:
        return resolve_container_project(tx, request.container_type, request.id)
    return resolve_project(tx, request.project_id, request.feature_id)


# --- Operations ---

GET = declare(
    get,
    name="container.get",
    summary="One project, feature or task; includeGraphContext: with what to know of its files.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    project=lambda tx, request: resolve_container_project(tx, request.container_type, request.id),
    tool=Tool("query_container", Group.CONTAINERS, "get"),
    http=Route("GET", "/projects/{project}/work/{containerType}s/{id}"),
)
SEARCH = declare(
    search,
    name="container.search",
    summary="By words, status, priority, tags; in a project, a feature or everywhere.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    project=lambda tx, request: resolve_project(tx, request.project_id, request.feature_id),
    without_project=Permission.PROJECT_LIST,
    tool=Tool("query_container", Group.CONTAINERS, "search"),
    http=Route("GET", "/projects/{project}/work/{containerType}s"),
    other_routes=(Route("GET", "/organization/work/{containerType}s"),),
)
OVERVIEW = declare(
    overview,
    name="container.overview",
    summary="With id: what is in it, and how much is done; else a list.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    project=_locate_overview,
    without_project=Permission.PROJECT_LIST,
    tool=Tool("query_container", Group.CONTAINERS, "overview"),
    http=Route("GET", "/projects/{project}/work/overview/{containerType}s", without=("id",)),
    other_routes=(
        Route("GET", "/projects/{project}/work/{containerType}s/{id}/overview", without=("projectId",)),
        Route("GET", "/organization/work/overview/{containerType}s", without=("id",)),
    ),
)
