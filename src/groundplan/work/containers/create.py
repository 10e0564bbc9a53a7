"""Create a project, a feature or a task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from msgspec import UNSET, Struct, UnsetType, field

from groundplan.kernel.access import Permission
from groundplan.kernel.audit import Change, changed
from groundplan.kernel.errors import NextStep
from groundplan.kernel.input_gate.text_limits import MaxBytes, Name, apply_marker
from groundplan.kernel.input_gate.types import missing_argument
from groundplan.kernel.links import LinkSource
from groundplan.kernel.operations.registry import Command, Effect, Group, OpId, Route, Tool, declare
from groundplan.kernel.projects import ProjectExists, create_owned_project
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import invalid_argument
from groundplan.work.containers.answers import (
    FeatureTransition,
    OneContainer,
    get_feature_transition,
    load_container_into,
    set_container,
)
from groundplan.work.containers.container import load_containers
from groundplan.work.containers.dependencies.relations import set_relations
from groundplan.work.containers.refs import resolve_container, resolve_container_project
from groundplan.work.containers.requests import (
    PRIORITY_NUMBERS,
    Complexity,
    ContainerId,
    ContainerType,
    Priority,
    StringList,
    Text,
    Title,
    parse_priority,
    parse_tags,
)
from groundplan.work.containers.tags.container_tags import set_tags
from groundplan.work.events import WorkOp
from groundplan.work.kinds import ROOT_N, get_complexity, get_feature_of_children, get_priority
from groundplan.work.links.own_links import describe_new_links, insert_links, load_targets, read_requested
from groundplan.work.links.targets import Pointers, PurposeKeys
from groundplan.work.nodes import WorkNodeRow, fetch_node, generate_ids, insert_nodes
from groundplan.work.positions import blocks_descendants
from groundplan.work.readiness import Readiness
from groundplan.work.requests import encode_properties
from groundplan.work.waiting.order import make_child_key

# Fields that a project does not have, from request name to wire name.
NOT_OF_PROJECTS = {
    "priority": "priority",
    "project_id": "projectId",
    "feature_id": "featureId",
    "complexity": "complexity",
    "related_to": "relatedTo",
    "serves": "serves",
    "rests_on": "rests_on",
}

SUMMARY_BYTES_MAX = 4_096  # of a project; it is stored as the summary of the root node

sql = load_queries(__file__)


class CreateContainer(Struct, rename="camel", forbid_unknown_fields=True):
    """A new container. A task has a title, the others a name; a task belongs to a feature or directly to a project."""

    ELSEWHERE: ClassVar[Mapping[str, NextStep]] = {"status": NextStep("container.advance", "moves it out of NEW")}

    container_type: ContainerType
    name: Title | None = None
    title: Title | None = None
    summary: Text | None = None
    description: Text | None = None
    priority: str | None = None
    project_id: Name | None = None
    feature_id: ContainerId | None = None
    complexity: Complexity | None = None
    tags: StringList | None = None
    related_to: StringList | None = None
    serves: PurposeKeys | None = None
    rests_on: Pointers | None = field(name="rests_on", default=None)
    op_id: OpId = field(name="op_id", default=None)


class CreatedContainer(OneContainer, kw_only=True):
    """The created container. A new task reopens a closed feature."""

    feature_transition: FeatureTransition | UnsetType = UNSET


def create(tx: Transaction, request: CreateContainer) -> CreatedContainer:
    """Create a feature or a task.

    Raises:
        NotFound: its feature or a related container does not exist.
        MixedProjects: one of them belongs to another project.
        Invalid: the name is missing.
        UnknownKey, UnknownPointer: what it serves or rests on does not exist.
        WrongLinkKind: it would serve an assumption.
    """
    name = resolve_name(request.name, request.title)
    if name is None:
        field_name = "title" if request.container_type is ContainerType.TASK else "name"
        raise missing_argument(field_name, (), expected=f"the {field_name} of the {request.container_type}")
    properties = _build_properties(request)
    tags = parse_tags(request.tags or [])
    parent = _resolve_parent(tx, request)
    readiness = Readiness(tx, decision=None)
    readiness.add_open_children({parent.n: 1})
    readiness.settle_positions()  # the new node follows the position of its parent
    parent = fetch_node(tx, parent.n)  # adding an open child reopens a resolved parent
    node = _insert(tx, request.container_type, name, properties, parent)
    changes = [
        changed("kind", None, node.kind),
        changed("summary", None, name),
        changed("parent", None, parent.id),
        *([changed("properties", None, properties)] if properties else []),
        *_set_tags(tx, node, tags),
        *set_relations(tx, node, request.related_to or []),
        *_insert_links(tx, node, request),
    ]
    tx.record(WorkOp.CREATED, node.id, *changes)
    is_task = request.container_type is ContainerType.TASK
    is_held = node.blocked_above > 0
    readiness.count_new_nodes(
        tasks_of={node.feature_n: 1} if is_task else {},
        features=int(not is_task),
        blocked=int(is_held),
        actionable=int(is_task and not is_held),
    )
    readiness.settle()
    answer = CreatedContainer(feature_transition=get_feature_transition(readiness))
    load_container_into(answer, tx, node.n, links_of=node.id)
    return answer


def resolve_name(name: str | None, title: str | None) -> str | None:
    """Return the name of a container. Tasks have a title and the others a name, but either argument is accepted."""
    if name is not None and title is not None and name != title:
        wrong = "and title differ; send title for a task, name for a feature or a project"
        raise invalid_argument(("name",), wrong)
    return title if title is not None else name


def _build_properties(request: CreateContainer) -> dict[str, Any]:
    is_task = request.container_type is ContainerType.TASK
    if request.complexity is not None and not is_task:
        raise invalid_argument(("complexity",), "is for tasks only; leave it out")
    priority = Priority.MEDIUM if request.priority is None else parse_priority(request.priority)
    given = {
        "priority": PRIORITY_NUMBERS[priority],
        "complexity": request.complexity,
        "summary": request.summary,
        "description": request.description,
    }
    return {name: value for name, value in given.items() if value is not None}


def _resolve_parent(tx: Transaction, request: CreateContainer) -> WorkNodeRow:
    if request.container_type is ContainerType.FEATURE and request.feature_id is not None:
        raise invalid_argument(("featureId",), "is for tasks only; a feature belongs to its project")
    if request.feature_id is None:
        return fetch_node(tx, ROOT_N)
    return resolve_container(tx, ContainerType.FEATURE, request.feature_id, field="featureId")


def _insert(
    tx: Transaction, container_type: ContainerType, name: str, properties: dict[str, Any], parent: WorkNodeRow
) -> WorkNodeRow:
    last_n, _ = tx.one(sql.counts, project_id=tx.project.id)
    n = last_n + 1
    row = WorkNodeRow(
        n=n,
        id=generate_ids(tx, 1, population=last_n)[0],
        parent_n=parent.n,
        kind=container_type.value,
        feature_n=get_feature_of_children(parent),
        depth=parent.depth + 1,
        open_children=0,
        open_deps=0,
        blocked_above=parent.blocked_above + (parent.waits and blocks_descendants(tx, parent.kind)),
        summary=name,
        properties=encode_properties(properties, ("description",)),
        priority=get_priority(properties),
        complexity=get_complexity(properties),
        order_key=make_child_key(tx, parent.n, n),
    )
    insert_nodes(tx, tx.project.id, [row])
    if container_type is ContainerType.FEATURE:
        tx.run(sql.add_feature, project_id=tx.project.id, n=n)
    return fetch_node(tx, n)


def _set_tags(tx: Transaction, node: WorkNodeRow, tags: list[str]) -> list[Change]:
    change = set_tags(tx, node, tags)
    return [] if change is None else [change]


def _insert_links(tx: Transaction, node: WorkNodeRow, request: CreateContainer) -> Iterator[Change]:
    requested = read_requested(request)
    if any(requested.values()):
        insert_links(tx, [(LinkSource(node.id, node.n), requested, ())], load_targets(tx, [requested]))
    return describe_new_links(requested)


def create_project(tx: Transaction, request: CreateContainer) -> CreatedContainer:
    """Create a project; the caller becomes its owner.

    Raises:
        ProjectExists: the name is taken.
        Invalid: the name is missing.
    """
    for attribute, wire in NOT_OF_PROJECTS.items():
        if getattr(request, attribute) is not None:
            raise invalid_argument((wire,), "is not for a project; leave it out")
    name = resolve_name(request.name, request.title)
    if name is None:
        raise missing_argument("name", (), expected="the name of the project")
    tags = parse_tags(request.tags or [])
    summary = validate_project_summary(request.summary) if request.summary and request.summary.strip() else None
    project_id = create_owned_project(tx, name, goal=summary)
    if project_id is None:
        raise ProjectExists(name)
    _store_description(tx, project_id, request.description, tags)
    answer = CreatedContainer()
    set_container(answer, load_containers(tx, project_id, [ROOT_N])[ROOT_N])
    return answer


def validate_project_summary(given_summary: str | None) -> str:
    """Return the stripped summary of a project."""
    summary = (given_summary or "").strip()
    if not summary:
        raise invalid_argument(("summary",), "is blank; say what the project is for")
    return apply_marker(MaxBytes(SUMMARY_BYTES_MAX), summary, ("summary",))


def _store_description(tx: Transaction, project_id: str, description: str | None, tags: list[str]) -> None:
    """Store the description and the tags of a new project in its root node."""
    changes = []
    properties = "{}"
    if description is not None:
        properties = encode_properties({"description": description}, ("description",))
        changes.append(changed("properties.description", None, description))
    if tags:
        tx.run_many(sql.add_tags, [{"project_id": project_id, "n": ROOT_N, "tag": tag} for tag in tags])
        changes.append(changed("tags", [], sorted(tags)))
    if changes:
        root_id = tx.scalar(sql.describe_root, project_id=project_id, properties=properties)
        tx.record(WorkOp.UPDATED, root_id, *changes, project_id=project_id)


def locate(tx: Transaction, request: CreateContainer) -> str:
    """Return the project of the new container."""
    if request.feature_id is not None and request.project_id is None:
        return resolve_container_project(tx, ContainerType.FEATURE, request.feature_id, field="featureId")
    if request.project_id is None:
        raise missing_argument("projectId", (), expected="the project of the new container, or send featureId")
    return request.project_id


CREATE_PROJECT = declare(
    create_project,
    name="container.create_project",
    summary="Create a project; you become its owner.",
    permission=Permission.PROJECT_CREATE,
    effect=Effect.WRITE,
    project=None,
)

OPERATION = declare(
    create,
    name="container.create",
    summary="Create one: a task has a title, the others a name.",
    permission=Permission.WORK_PLAN,
    effect=Effect.WRITE,
    project=locate,
    variants=(CREATE_PROJECT,),
    choose_variant=lambda request: CREATE_PROJECT if request.container_type is ContainerType.PROJECT else None,
    tool=Tool("manage_container", Group.CONTAINERS, "create"),
    command=Command(
        ("task", "create"),
        arguments=("title",),
        names={"project_id": "project", "feature_id": "feature", "tags": "tag"},
        texts=("description",),
        fixed={"container_type": "task"},
        without=("name",),
    ),
    aliases=(
        Command(
            ("feature", "create"),
            arguments=("name",),
            names={"project_id": "project", "tags": "tag"},
            texts=("description",),
            fixed={"container_type": "feature"},
            without=("title", "feature_id", "complexity"),
        ),
    ),
    http=Route(
        "POST", "/projects/{project}/work/{containerType}s", location="/projects/{project}/work/{containerType}s/{*.id}"
    ),
    other_routes=(Route("POST", "/organization/work/{containerType}s", location="/projects/{*.id}/work"),),
)
