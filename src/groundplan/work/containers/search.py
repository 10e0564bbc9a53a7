"""Find projects, features or tasks by words, status, priority and tags; page by page."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.access import Permission
from groundplan.kernel.budget import Drop, Trimming
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Tool
from groundplan.kernel.projects.list import ListProjects, list_projects
from groundplan.kernel.store.queries import listed, load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import alternatives, refusal, shown
from groundplan.work.containers.answers import next_offset
from groundplan.work.containers.container import Feature, ProjectContainer, Task, containers_at
from groundplan.work.containers.pipeline import STEP, pipelines_of
from groundplan.work.containers.places import Place, place_asked, project_asked
from groundplan.work.containers.requests import (
    LIMIT,
    ContainerId,
    ContainerType,
    Limit,
    Offset,
    Several,
    WorkflowType,
    checked_tags,
    priority_range,
)
from groundplan.work.engine.root import ROOT_N
from groundplan.work.engine.statuses import WILL_NOT_IMPLEMENT
from groundplan.work.graph.search.text import lowered

WORDS_MAX = 32

sql = load_queries(__file__)


class Search(Struct, rename="camel", forbid_unknown_fields=True):
    """What to look for. All words of the query must be there; of several tags, one."""

    container_type: ContainerType
    query: str | None = None
    status: str | None = None
    priority: str | None = None
    tags: Several | None = None
    project_id: Name | None = None
    feature_id: ContainerId | None = None
    limit: Limit = LIMIT
    offset: Offset = 0


class Page(Struct, rename="camel"):
    """A page of what was found, and how many there are on all pages."""

    trimming: ClassVar[Trimming] = Trimming(Drop("items[].description"), Drop("items[].summary"))

    items: list[ProjectContainer | Feature | Task]
    count: int
    limit: int
    offset: int
    next_offset: int | UnsetType = UNSET  # where the next page begins; none behind the last


def search(tx: Transaction, request: Search) -> Page:
    """What there is of that in a project, in a feature, or in all projects that the caller sees.

    Raises:
        NotFound: there is no such feature here.
        Invalid: such a container has not what is asked for.
    """
    place = place_asked(tx, request.feature_id)
    if request.container_type is ContainerType.PROJECT:
        return _page(tx, request, _projects(tx, request, place))
    return _page(tx, request, places_found(tx, request, place))


class Places(NamedTuple):
    """Where the containers of a page are, by project and number, and how many there are on all pages."""

    here: list[tuple[str, int]]
    total: int


def places_found(tx: Transaction, request: Search, place: Place) -> Places:
    """Where the tasks or features that are meant are, in some projects or in one feature."""
    if request.container_type is ContainerType.FEATURE and request.feature_id is not None:
        raise refusal(("featureId",), "is for tasks only; leave it out")
    least, below = priority_range(request.priority)
    asked: dict[str, Any] = {
        "status": _status(tx, request, place),
        "least": least,
        "below": below,
        "tags": _tags(request),
        "words": _words(request),
    }
    if request.container_type is ContainerType.FEATURE:
        page, total = sql.search_features, sql.count_features_found
        asked["project_ids"] = listed(place.project_ids)
    elif place.feature_n is None:
        page, total = sql.search_tasks, sql.count_tasks
        asked["project_ids"] = listed(place.project_ids)
    else:
        page, total = sql.search_tasks_of_feature, sql.count_tasks_of_feature
        asked |= {"project_id": place.project_ids[0], "feature_n": place.feature_n}
    rows = tx.all(page, **asked, at_most=request.limit, skipped=request.offset)
    return Places([(project_id, n) for project_id, n in rows], tx.scalar(total, **asked))


def _projects(tx: Transaction, request: Search, place: Place) -> Places:
    for name, wire in {"status": "status", "priority": "priority", "feature_id": "featureId"}.items():
        if getattr(request, name) is not None:
            raise refusal((wire,), "is not for containerType project; leave it out")
    rows = tx.all(sql.search_projects, project_ids=listed(place.project_ids), tags=_tags(request))
    said = {project_id: lowered(f"{summary} {description or ''}") for project_id, summary, description in rows}
    words = [lowered(word) for word in (request.query or "").split()]
    meant = [
        one.id
        for one in list_projects(tx, ListProjects(archived=True)).projects
        if one.id in said and all(word in f"{lowered(one.name)} {said[one.id]}" for word in words)
    ]
    page = meant[request.offset : request.offset + request.limit]
    return Places([(project_id, ROOT_N) for project_id in page], len(meant))


def _page(tx: Transaction, request: Search, found_at: Places) -> Page:
    places, count = found_at
    page = Page([], count, request.limit, request.offset, next_offset=count)
    page.items = tx.budget.reserve(page).take_rows(containers_at(tx, places), at_least=1)
    page.next_offset = next_offset(request.offset, len(page.items), count)
    return page


def _status(tx: Transaction, request: Search, place: Place) -> str | None:
    if request.status is None:
        return None
    status = request.status.strip().upper()
    allowed: list[str] = []
    if len(place.project_ids) == 1 and request.container_type is not ContainerType.PROJECT:
        steps = pipelines_of(tx, place.project_ids[0]).of(WorkflowType(request.container_type))
        allowed = [*steps, WILL_NOT_IMPLEMENT]
    if not STEP.fullmatch(status) or (allowed and status not in allowed):
        wrong = f"is {alternatives(allowed) if allowed else 'a word in capitals'}, not {shown(request.status)}"
        raise refusal(("status",), wrong, allowed=allowed)
    return status


def _tags(request: Search) -> str | None:
    tags = checked_tags(request.tags) if request.tags is not None else []
    return listed(tags) if tags else None


def _words(request: Search) -> str | None:
    words = [lowered(word) for word in (request.query or "").split()]
    if len(words) > WORDS_MAX:
        wrong = f"has {len(words)} words, the limit is {WORDS_MAX}; leave some out"
        raise refusal(("query",), wrong, code="too_many", limit=WORDS_MAX)
    return listed(words) if words else None


OPERATION = Operation(
    name="container.search",
    summary="By words, status, priority, tags; in a project, a feature or everywhere.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    input=Search,
    output=Page,
    handler=search,
    project=lambda tx, request: project_asked(tx, request.project_id, request.feature_id),
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
)
