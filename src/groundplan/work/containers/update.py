"""Update the fields of a project, a feature or a task at the version that the caller read; never the status."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from groundplan.kernel.access import Permission
from groundplan.kernel.audit import Change, changed
from groundplan.kernel.errors import NextStep, refuse_stale
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.links import LinkSource
from groundplan.kernel.operations.registry import Command, Effect, Group, OpId, Route, Tool, declare
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import invalid_argument
from groundplan.work.containers.answers import (
    FeatureTransition,
    OneContainer,
    get_feature_transition,
    load_container_into,
)
from groundplan.work.containers.create import resolve_name, validate_project_summary
from groundplan.work.containers.dependencies.relations import set_relations
from groundplan.work.containers.pipeline import (
    encode_pipelines,
    load_pipelines,
    parse_pipelines,
    refuse_statuses_in_use,
)
from groundplan.work.containers.refs import resolve_container, resolve_container_project
from groundplan.work.containers.requests import (
    PRIORITY_NUMBERS,
    Complexity,
    ContainerId,
    ContainerType,
    StringList,
    Text,
    Title,
    Version,
    parse_priority,
    parse_tags,
)
from groundplan.work.containers.tags.container_tags import set_tags
from groundplan.work.events import WorkOp
from groundplan.work.graph.update import is_same_json
from groundplan.work.kinds import ROOT_N, get_complexity, get_priority
from groundplan.work.links.own_links import load_targets, read_requested, set_links
from groundplan.work.links.targets import Pointers, PurposeKeys
from groundplan.work.nodes import WorkNodeRow, fetch_node
from groundplan.work.readiness import Readiness
from groundplan.work.requests import encode_properties
from groundplan.work.restructuring import move

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


class UpdateContainer(Struct, rename="camel", forbid_unknown_fields=True):
    """Changes to one container: omitted fields stay, null clears a field. Other operations change the status."""

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


class UpdatedContainer(OneContainer, kw_only=True):
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
        Invalid: nothing changes, or a field does not apply to this container type.
    """
    _refuse_foreign_fields(request)
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
        tx.run_with_record(sql.update_texts, node, project_id=tx.project.id)
        tx.record(WorkOp.UPDATED, node.id, *changes)
    readiness.settle()
    answer = UpdatedContainer(feature_transition=get_feature_transition(readiness))
    load_container_into(answer, tx, node.n, links_of=node.id)
    return answer


def _refuse_foreign_fields(request: UpdateContainer) -> None:
    is_project, is_task = (request.container_type is type_ for type_ in (ContainerType.PROJECT, ContainerType.TASK))
    foreign = {
        **(WORK_FIELDS if is_project else {}),
        **({} if is_task else TASK_FIELDS),
        **({} if is_project else PROJECT_FIELDS),
        **(NAME_FIELDS if is_project else {}),
    }
    for name, wire in foreign.items():
        if getattr(request, name) not in (UNSET, None):
            hint = "; a project keeps its name" if wire in ("name", "title") else ""
            raise invalid_argument((wire,), f"is not for containerType {request.container_type}; leave it out{hint}")
    own = {name: wire for name, wire in UPDATABLE_FIELDS.items() if name not in foreign}
    if all(getattr(request, name) is UNSET or (name in NEVER_NULL and getattr(request, name) is None) for name in own):
        raise invalid_argument((), f"change nothing; send at least one of {', '.join(own.values())}")


def _move_task(tx: Transaction, readiness: Readiness, node: WorkNodeRow, feature_id: str | None) -> None:
    """Move a task into a feature, or out of its feature."""
    feature = (
        resolve_container(tx, ContainerType.FEATURE, feature_id, field="featureId")
        if feature_id
        else fetch_node(tx, ROOT_N)
    )
    if node.feature_n != (feature.n if feature_id else None):
        move(tx, readiness, node, feature, decision=None)


def _apply_fields(node: WorkNodeRow, request: UpdateContainer) -> Iterator[Change]:
    """Apply the requested fields to the node and yield the changes."""
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
    """Return the new summary of the node: the name of a container, but the summary of a project."""
    if request.container_type is ContainerType.PROJECT:
        return None if request.summary is UNSET else validate_project_summary(request.summary)
    return resolve_name(request.name, request.title)


def _build_changed_properties(request: UpdateContainer) -> dict[str, Any]:
    """Return the properties to set; None removes one."""
    found: dict[str, Any] = {}
    for name in ("summary", "description", "complexity"):
        value = getattr(request, name)
        if value is not UNSET and not (name == "summary" and request.container_type is ContainerType.PROJECT):
            found[name] = value
    if request.priority is not UNSET:
        found["priority"] = None if request.priority is None else PRIORITY_NUMBERS[parse_priority(request.priority)]
    return found


def _apply_other_changes(tx: Transaction, node: WorkNodeRow, request: UpdateContainer) -> Iterator[Change]:
    """Apply the requested tags, relations, links and pipelines, and yield the changes."""
    if request.tags is not UNSET and (change := set_tags(tx, node, parse_tags(request.tags or []))):
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


UPDATE_PROJECT = declare(
    update,
    name="container.update_project",
    summary="Change what a project says, or the steps of its tasks and features.",
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
    choose_variant=lambda request: UPDATE_PROJECT if request.container_type is ContainerType.PROJECT else None,
    tool=Tool("manage_container", Group.CONTAINERS, "update"),
    command=Command(
        ("task", "update"),
        arguments=("id",),
        names={"project_id": "project", "feature_id": "feature", "tags": "tag"},
        texts=("description",),
        fixed={"container_type": "task"},
        without=("name", "pipeline"),
    ),
    aliases=(
        Command(
            ("feature", "update"),
            arguments=("id",),
            names={"project_id": "project", "tags": "tag"},
            texts=("description",),
            fixed={"container_type": "feature"},
            without=("title", "feature_id", "complexity", "pipeline"),
        ),
        Command(
            ("project", "update"),
            arguments=("id",),
            names={"tags": "tag"},
            texts=("description",),
            fixed={"container_type": "project"},
            without=("name", "title", "priority", "project_id", "feature_id", "complexity", "related_to"),
        ),
    ),
    http=Route("PATCH", "/projects/{project}/work/{containerType}s/{id}"),
)
