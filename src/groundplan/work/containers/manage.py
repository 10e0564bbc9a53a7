"""Create, update and delete projects, features and tasks. The operations of workflow.py change their status.

Deleting a task or a feature deletes its sections, tags and, on request, its descendants. A project is archived instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import CutLists, LeftOut, Trimming
from groundplan.kernel.audit import Change, changed
from groundplan.kernel.errors import NextStep, RuleViolated, refuse_stale
from groundplan.kernel.input_gate.text_limits import MaxBytes, Name, apply_marker
from groundplan.kernel.input_gate.types import missing_argument
from groundplan.kernel.links import LinkSource
from groundplan.kernel.operations.registry import Effect, Group, OpId, Route, Tool, declare
from groundplan.kernel.projects import ArchiveProject, ProjectExists, archive_project, create_owned_project
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import invalid_argument
from groundplan.work.answers import Warnings
from groundplan.work.claims import enforce_claims, is_claimed_by_another
from groundplan.work.containers.dependencies import set_relations
from groundplan.work.containers.fields import (
    PRIORITY_NUMBERS,
    Complexity,
    ContainerId,
    ContainerType,
    Priority,
    StringList,
    Text,
    Title,
    Version,
    parse_priority,
    parse_tags,
)
from groundplan.work.containers.pipeline import (
    encode_pipelines,
    load_pipelines,
    parse_pipelines,
    refuse_statuses_in_use,
)
from groundplan.work.containers.refs import get_container_type, resolve_container, resolve_container_project
from groundplan.work.containers.views import (
    ContainerAnswer,
    Entity,
    FeatureTransition,
    get_feature_transition,
    list_entities,
    load_container_into,
    load_containers,
    set_container,
)
from groundplan.work.events import WorkOp
from groundplan.work.graph.update import is_same_json
from groundplan.work.kinds import ROOT_N, get_complexity, get_feature_of_children, get_priority
from groundplan.work.link_targets import Pointers, PurposeKeys
from groundplan.work.links import describe_new_links, insert_links, load_targets, read_requested, set_links
from groundplan.work.nodes import (
    WorkNodeRow,
    add_tags,
    fetch_node,
    generate_ids,
    insert_nodes,
    set_tags,
)
from groundplan.work.positions import blocks_descendants
from groundplan.work.readiness import Readiness
from groundplan.work.removals import SubtreeRow, delete_nodes
from groundplan.work.requests import encode_properties
from groundplan.work.restructuring import move
from groundplan.work.waiting.order import make_child_key

SUMMARY_BYTES_MAX = 4_096  # of a project; it is stored as the summary of the root node
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
# Fields that only some container types have, from request name to wire name.
WORK_FIELDS = {"priority": "priority", "related_to": "relatedTo"}
TASK_FIELDS = {"feature_id": "featureId", "complexity": "complexity"}
PROJECT_FIELDS = {"pipeline": "pipeline"}
NAME_FIELDS = {"name": "name", "title": "title"}
LINK_FIELDS = {"serves": "serves", "rests_on": "rests_on"}
COMMON_FIELDS = {"summary": "summary", "description": "description", "tags": "tags", **LINK_FIELDS}
UPDATABLE_FIELDS = {**NAME_FIELDS, **COMMON_FIELDS, **WORK_FIELDS, **TASK_FIELDS, **PROJECT_FIELDS}
NEVER_NULL = ("name", "title", "pipeline")  # null means the same as leaving them out
FeatureId = Annotated[str, Meta(max_length=255)]  # an empty string means null


sql = load_queries(__file__)


# --- Create ---


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


class CreatedContainer(ContainerAnswer, kw_only=True):
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
    node = _insert_node(tx, request.container_type, name, properties, parent)
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
    """Return the name of a container. A task has a title and other types have a name; either argument is accepted."""
    if name is not None and title is not None and name != title:
        wrong = "and title differ; send title for a task, name for a feature or a project"
        raise invalid_argument(("name",), wrong)
    return title if title is not None else name


def _build_properties(request: CreateContainer) -> dict[str, Any]:
    is_task = request.container_type is ContainerType.TASK
    if request.complexity is not None and not is_task:
        raise invalid_argument(("complexity",), "is for tasks only; leave it out")
    priority = parse_priority(request.priority) if request.priority else Priority.MEDIUM
    properties = {
        "priority": PRIORITY_NUMBERS[priority],
        "complexity": request.complexity,
        "summary": request.summary,
        "description": request.description,
    }
    return {name: value for name, value in properties.items() if value is not None}


def _resolve_parent(tx: Transaction, request: CreateContainer) -> WorkNodeRow:
    if request.container_type is ContainerType.FEATURE and request.feature_id is not None:
        raise invalid_argument(("featureId",), "is for tasks only; a feature belongs to its project")
    if request.feature_id is None:
        return fetch_node(tx, ROOT_N)
    return resolve_container(tx, ContainerType.FEATURE, request.feature_id, field="featureId")


def _insert_node(
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
    change = set_tags(tx, node.n, tags)
    return [] if change is None else [change]


def _insert_links(tx: Transaction, node: WorkNodeRow, request: CreateContainer) -> Iterator[Change]:
    requested = read_requested(request)
    if any(requested.values()):
        insert_links(tx, [(LinkSource(node.id, node.n), requested, ())], load_targets(tx, [requested]))
    return describe_new_links(requested)


def _locate_new(tx: Transaction, request: CreateContainer) -> str:
    """Return the project of the new container."""
    if request.feature_id is not None and request.project_id is None:
        return resolve_container_project(tx, ContainerType.FEATURE, request.feature_id, field="featureId")
    if request.project_id is None:
        raise missing_argument("projectId", (), expected="the project of the new container, or send featureId")
    return request.project_id


def create_project(tx: Transaction, request: CreateContainer) -> CreatedContainer:
    """Create a project; the caller becomes its owner.

    Raises:
        ProjectExists: the name is taken.
        Invalid: the name is missing.
    """
    for attribute, wire in NOT_OF_PROJECTS.items():
        if getattr(request, attribute):
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
        add_tags(tx, project_id, {ROOT_N: tags})
        changes.append(changed("tags", [], sorted(tags)))
    if changes:
        root_id = tx.scalar(sql.describe_root, project_id=project_id, properties=properties)
        tx.record(WorkOp.UPDATED, root_id, *changes, project_id=project_id)


# --- Update ---


class UpdateContainer(Struct, rename="camel", forbid_unknown_fields=True):
    """Changes of one container. Omitted fields are kept, and null clears a field. The status is changed elsewhere."""

    ELSEWHERE: ClassVar[Mapping[str, Sequence[NextStep]]] = {
        "status": (
            NextStep("container.advance", "moves the status forward"),
            NextStep("container.revert", "moves it back"),
            NextStep("container.terminate", "ends it as WILL_NOT_IMPLEMENT"),
        )
    }

    container_type: ContainerType
    id: ContainerId
    version: Version
    name: Title | None = None
    title: Title | None = None
    summary: Text | UnsetType | None = UNSET
    description: Text | UnsetType | None = UNSET
    priority: str | UnsetType | None = UNSET
    project_id: Name | None = None
    feature_id: FeatureId | UnsetType | None = UNSET
    complexity: Complexity | UnsetType | None = UNSET
    tags: StringList | UnsetType | None = UNSET
    related_to: StringList | UnsetType | None = UNSET
    serves: PurposeKeys | UnsetType = UNSET
    rests_on: Pointers | UnsetType = field(name="rests_on", default=UNSET)
    pipeline: Annotated[Any, Meta(extra_json_schema={"type": ["object", "array"]})] = None
    op_id: OpId = field(name="op_id", default=None)


class UpdatedContainer(ContainerAnswer, kw_only=True):
    """The updated container. A task that moves into a closed feature reopens it."""

    feature_transition: FeatureTransition | UnsetType = UNSET


def update(tx: Transaction, request: UpdateContainer) -> UpdatedContainer:
    """Update a container.

    Raises:
        NotFound: it, its new feature or a related container does not exist.
        StaleVersion: its version changed; `currentVersion` is the new one.
        StatusesInUse: the new pipeline leaves out a status that is in use.
        UnknownKey, UnknownPointer: what it serves or rests on does not exist.
        WrongLinkKind: it would serve an assumption.
        ClaimedByAnother: the project enforces claims and another actor has claimed it.
        Invalid: nothing changes, or a field does not apply to this container type.
    """
    _refuse_foreign_fields(tx, request)
    node = resolve_container(tx, request.container_type, request.id)
    refuse_stale(request.container_type, node.id, current=node.rev, given=request.version)
    if request.project_id is not None and request.project_id not in (tx.project.id, tx.project.name):
        raise invalid_argument(
            ("projectId",), "is another project, and a container cannot change its project; leave it out"
        )
    readiness = Readiness(tx, decision=None)
    if request.feature_id is not UNSET:
        _move_task(tx, readiness, node, request.feature_id)
        node = fetch_node(tx, node.n)
    changes = [*_apply_fields(node, request), *_apply_other_changes(tx, node, request)]
    if changes:
        enforce_claims(tx, node.id, node.claimed_by, node.claimed_until)
        if is_claimed_by_another(tx, node.claimed_by, node.claimed_until):
            warnings = Warnings()
            warnings.add_claims({node.id: str(node.claimed_by)}, verb="changed")
            tx.warnings += warnings.lines() or ()
        tx.run_with_record(sql.update_texts, node, project_id=tx.project.id)
        tx.record(WorkOp.UPDATED, node.id, *changes)
    readiness.settle()
    answer = UpdatedContainer(feature_transition=get_feature_transition(readiness))
    load_container_into(answer, tx, node.n, links_of=node.id)
    return answer


def _refuse_foreign_fields(tx: Transaction, request: UpdateContainer) -> None:
    """Refuse fields that the container type does not have, unless they are empty or the name that a project has."""
    is_project, is_task = (request.container_type is type_ for type_ in (ContainerType.PROJECT, ContainerType.TASK))
    foreign = {
        **(WORK_FIELDS if is_project else {}),
        **({} if is_task else TASK_FIELDS),
        **({} if is_project else PROJECT_FIELDS),
        **(NAME_FIELDS if is_project else {}),
    }
    for name, wire in foreign.items():
        value = getattr(request, name)
        if value and not (name in NAME_FIELDS and value == tx.project.name):
            hint = "; a project keeps its name" if wire in ("name", "title") else ""
            raise invalid_argument((wire,), f"is not for containerType {request.container_type}; leave it out{hint}")
    own = {name: wire for name, wire in UPDATABLE_FIELDS.items() if name not in foreign}
    if all(getattr(request, name) is UNSET or (name in NEVER_NULL and getattr(request, name) is None) for name in own):
        raise invalid_argument((), f"change nothing; send at least one of {', '.join(own.values())}")


def _move_task(tx: Transaction, readiness: Readiness, node: WorkNodeRow, feature_id: str | None) -> None:
    """Move a task to a feature, or out of its feature."""
    feature = (
        resolve_container(tx, ContainerType.FEATURE, feature_id, field="featureId")
        if feature_id
        else fetch_node(tx, ROOT_N)
    )
    if node.feature_n != (feature.n if feature_id else None):
        move(tx, readiness, node, feature, decision=None)


def _apply_fields(node: WorkNodeRow, request: UpdateContainer) -> Iterator[Change]:
    """Change the requested fields of the node, and yield the changes."""
    summary = _resolve_summary(request)
    if summary is not None and summary != node.summary:
        yield changed("summary", node.summary, summary)
        node.summary = summary
    before = node.properties_value
    after = {**before, **_build_changed_properties(request)}
    after = {name: value for name, value in after.items() if value is not None}
    changed_names = [
        name for name in sorted(before.keys() | after.keys()) if not is_same_json(before.get(name), after.get(name))
    ]
    if changed_names:
        node.properties = encode_properties(after, ("description",))
        node.priority, node.complexity = get_priority(after), get_complexity(after)
    for name in changed_names:
        yield changed(f"properties.{name}", before.get(name), after.get(name))


def _resolve_summary(request: UpdateContainer) -> str | None:
    """Return the new summary of the node: the name of a container or the summary of a project."""
    if request.container_type is ContainerType.PROJECT:
        return None if request.summary is UNSET else validate_project_summary(request.summary)
    return resolve_name(request.name, request.title)


def _build_changed_properties(request: UpdateContainer) -> dict[str, Any]:
    """Return the properties to set. None removes one."""
    properties: dict[str, Any] = {}
    for name in ("summary", "description", "complexity"):
        value = getattr(request, name)
        if value is not UNSET and not (name == "summary" and request.container_type is ContainerType.PROJECT):
            properties[name] = value
    if request.priority is not UNSET:
        properties["priority"] = (
            None if request.priority is None else PRIORITY_NUMBERS[parse_priority(request.priority)]
        )
    return properties


def _apply_other_changes(tx: Transaction, node: WorkNodeRow, request: UpdateContainer) -> Iterator[Change]:
    """Change the requested tags, relations, links and pipelines, and yield the changes."""
    if request.tags is not UNSET and (change := set_tags(tx, node.n, parse_tags(request.tags or []))):
        yield change
    if request.related_to is not UNSET:
        yield from set_relations(tx, node, request.related_to or [])
    requested = read_requested(request)
    if requested:
        yield from set_links(tx, LinkSource(node.id, node.n), requested, load_targets(tx, [requested]))
    if request.pipeline is not None:
        before = load_pipelines(tx)
        after = parse_pipelines(request.pipeline, before, ("pipeline",))
        if after != before:
            refuse_statuses_in_use(tx, after)
            tx.run(sql.set_pipelines, project_id=tx.project.id, pipelines=encode_pipelines(after))
            yield changed("pipelines", msgspec.to_builtins(before), msgspec.to_builtins(after))


# --- Delete ---


class HasChildren(RuleViolated):
    """The container has descendants, and the request does not set `cascade`."""

    code = "has_children"
    contract_code = "INVALID_OPERATION"

    def __init__(self, node: WorkNodeRow, count: int) -> None:
        super().__init__(
            f"{get_container_type(node)} {node.id} has {count} descendant{'' if count == 1 else 's'}; "
            "send cascade: true to delete all of them, or move them first",
            field="cascade",
            id=node.id,
            count=count,
        )


class DeleteContainer(Struct, rename="camel", forbid_unknown_fields=True):
    """A container, the version that the caller read, and the choice to delete its descendants, too."""

    container_type: ContainerType
    id: ContainerId
    version: Version
    cascade: bool | None = None
    op_id: OpId = field(name="op_id", default=None)


class DeletedContainer(Struct, rename="camel", kw_only=True):
    """The deleted container, and the containers that this unblocked. A project is archived instead of deleted."""

    trimming: ClassVar[Trimming] = Trimming(CutLists(("unblocked_entities",)))

    deleted: str
    count: int  # including descendants
    archived: bool | UnsetType = UNSET
    unblocked_entities: list[Entity] | UnsetType = UNSET
    unblocked_entities_total: int | UnsetType = UNSET  # if more than the listed ones exist
    left_out: LeftOut = field(name="left_out", default=UNSET)


def delete(tx: Transaction, request: DeleteContainer) -> DeletedContainer:
    """Delete a task or a feature, and unblock its dependents.

    Raises:
        NotFound: the task or feature does not exist.
        StaleVersion: its version changed; `currentVersion` is the new one.
        HasChildren: it has descendants, and `cascade` is not set.
        ClaimedByAnother: the project enforces claims and another actor has claimed a part of it.
    """
    node = resolve_container(tx, request.container_type, request.id)
    refuse_stale(request.container_type, node.id, current=node.rev, given=request.version)
    rows = tx.all(sql.subtree, SubtreeRow, project_id=tx.project.id, n=node.n)
    if len(rows) > 1 and not request.cascade:
        raise HasChildren(node, len(rows) - 1)
    for row in rows:
        enforce_claims(tx, row.id, row.claimed_by, row.claimed_until)
    readiness = Readiness(tx, decision=None)
    assert node.parent_n is not None  # noqa: S101 - it is not the root
    dependents = delete_nodes(tx, readiness, rows, {node.parent_n: int(not node.resolved)})
    released = list_entities(tx, readiness.settle().unblocked & dependents)
    return DeletedContainer(
        deleted=node.id,
        count=len(rows),
        unblocked_entities=released.listed or UNSET,
        unblocked_entities_total=released.total,
    )


def delete_project(tx: Transaction, request: DeleteContainer) -> DeletedContainer:
    """Archive a project. It keeps its contents and can be restored.

    Raises:
        StaleVersion: its version changed; `currentVersion` is the new one.
        HasChildren: it is not empty, and `cascade` is not set.
    """
    root = resolve_container(tx, ContainerType.PROJECT, request.id)
    refuse_stale(ContainerType.PROJECT, tx.project.id, current=root.rev, given=request.version)
    _, total = tx.one(sql.counts, project_id=tx.project.id)
    if total > 1 and not request.cascade:
        raise HasChildren(root, total - 1)
    archive_project(tx, ArchiveProject(tx.project.id))
    return DeletedContainer(deleted=tx.project.id, count=total, archived=True)


# --- Operations ---

CREATE_PROJECT = declare(
    create_project,
    name="container.create_project",
    summary="Create a project; you become its owner.",
    permission=Permission.PROJECT_CREATE,
    effect=Effect.WRITE,
    project=None,
)
CREATE = declare(
    create,
    name="container.create",
    summary="Create one: a task has a title, the others a name.",
    permission=Permission.WORK_PLAN,
    effect=Effect.WRITE,
    project=_locate_new,
    variants=(CREATE_PROJECT,),
    choose_variant=lambda request: CREATE_PROJECT if request.container_type is ContainerType.PROJECT else None,
    tool=Tool("manage_container", Group.CONTAINERS, "create"),
    http=Route(
        "POST", "/projects/{project}/work/{containerType}s", location="/projects/{project}/work/{containerType}s/{*.id}"
    ),
    other_routes=(Route("POST", "/organization/work/{containerType}s", location="/projects/{*.id}/work"),),
)
UPDATE_PROJECT = declare(
    update,
    name="container.update_project",
    summary="Change the steps of the tasks and features of a project.",
    permission=Permission.PROJECT_CONFIGURE,
    effect=Effect.WRITE,
    project=lambda tx, request: resolve_container_project(tx, request.container_type, request.id),
)
UPDATE = declare(
    update,
    name="container.update",
    summary="Update one at the version you read; never its status.",
    permission=Permission.WORK_UPDATE,
    effect=Effect.WRITE,
    project=lambda tx, request: resolve_container_project(tx, request.container_type, request.id),
    variants=(UPDATE_PROJECT,),
    # What a project says is a matter of its root node, as in the graph; its steps are a matter of its owners.
    choose_variant=lambda request: (
        UPDATE_PROJECT if request.container_type is ContainerType.PROJECT and request.pipeline is not None else None
    ),
    tool=Tool("manage_container", Group.CONTAINERS, "update"),
    http=Route("PATCH", "/projects/{project}/work/{containerType}s/{id}"),
)
DELETE_PROJECT = declare(
    delete_project,
    name="container.delete_project",
    summary="Archive a project; it can be restored.",
    permission=Permission.PROJECT_ARCHIVE,
    effect=Effect.DESTROY,
    project=lambda tx, request: resolve_container_project(tx, request.container_type, request.id),
    on_archived=True,
    person_words=lambda request: ("project", "archive", request.id),
)
DELETE = declare(
    delete,
    name="container.delete",
    summary="Delete one; cascade: with all below it; a project is archived.",
    permission=Permission.WORK_RESTRUCTURE,
    effect=Effect.DESTROY,
    project=lambda tx, request: resolve_container_project(tx, request.container_type, request.id),
    variants=(DELETE_PROJECT,),
    choose_variant=lambda request: DELETE_PROJECT if request.container_type is ContainerType.PROJECT else None,
    tool=Tool("manage_container", Group.CONTAINERS, "delete"),
    http=Route("DELETE", "/projects/{project}/work/{containerType}s/{id}"),
)
