"""Get a project, a feature or a task, with its sections and, for a task, the knowledge about its files."""

from __future__ import annotations

from typing import Any, ClassVar

from msgspec import UNSET, Struct, UnsetType, field

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import CutLists, DropField, LeftOut, Trimming
from groundplan.kernel.operations.registry import AnswerBudget, Command, Effect, Group, Route, Tool, declare
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import invalid_argument
from groundplan.providers import find_knowledge_of_files
from groundplan.work import answers as briefing
from groundplan.work.containers.answers import OneContainer, load_container_into
from groundplan.work.containers.counts import TaskCounts, count_feature_tasks, count_project_tasks
from groundplan.work.containers.refs import resolve_container, resolve_container_project
from groundplan.work.containers.requests import ContainerId, ContainerType
from groundplan.work.containers.sections.context_files import extract_context_files
from groundplan.work.containers.sections.section import Section, load_sections
from groundplan.work.overlap.node_paths import extract_paths

KNOWLEDGE_TENTHS = 3  # tenths of the answer's budget
ENVELOPE_CHARS = len('{"success":true,"data":}')


class GetContainer(Struct, rename="camel", forbid_unknown_fields=True):
    """A container, and what to include in the answer."""

    container_type: ContainerType
    id: ContainerId
    include_sections: bool = False
    include_graph_context: bool = False
    budget: AnswerBudget = None


class ContainerDetails(OneContainer, kw_only=True):
    """A container with the requested details."""

    trimming: ClassVar[Trimming] = Trimming(
        *briefing.TRIMMING,
        DropField("sections[].content"),
        *OneContainer.trimming,
        DropField("sections[].usage_description"),
        DropField("sections[].tags"),
        CutLists(("sections",)),
    )

    sections: list[Section] | UnsetType = UNSET
    graph_context: Any = UNSET  # knowledge about the paths in the task's context links and Context Files
    task_counts: TaskCounts | UnsetType = UNSET
    left_out: LeftOut = field(name="left_out", default=UNSET)
    briefing: Any = UNSET  # of the container, if the request has a budget


def get(tx: Transaction, request: GetContainer) -> ContainerDetails:
    """Return a container.

    Raises:
        NotFound: the container does not exist.
    """
    if request.include_graph_context and request.container_type is not ContainerType.TASK:
        raise invalid_argument(("includeGraphContext",), "is for tasks only; leave it out")
    node = resolve_container(tx, request.container_type, request.id)
    answer = ContainerDetails()
    load_container_into(answer, tx, node.n, links_of=node.id)
    if request.container_type is ContainerType.PROJECT:
        answer.task_counts = count_project_tasks(tx, tx.project.id)
    elif request.container_type is ContainerType.FEATURE:
        answer.task_counts = count_feature_tasks(tx, tx.project.id, [node.n])[node.n]
    if request.include_sections or request.include_graph_context:
        sections = load_sections(tx, node)
        answer.sections = sections
        if request.include_graph_context:
            # A task of graph_plan names its files in its links.
            paths = list(dict.fromkeys([*extract_paths(node.links_value), *extract_context_files(sections)]))
            answer.graph_context = find_knowledge_of_files(tx, paths, tx.budget.share(KNOWLEDGE_TENTHS, of=10))
    if request.budget is not None:
        briefing.add_briefing(tx, answer, node.n, lean=tx.preferences.lean, envelope_chars=ENVELOPE_CHARS)
    return answer


GET = declare(
    get,
    name="container.get",
    summary="One project, feature or task; includeGraphContext: with what to know of its files.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    project=lambda tx, request: resolve_container_project(tx, request.container_type, request.id),
    tool=Tool("query_container", Group.CONTAINERS, "get"),
    command=Command(
        ("task", "show"),
        arguments=("id",),
        names={"include_sections": "sections", "include_graph_context": "graph-context"},
        fixed={"container_type": "task"},
    ),
    aliases=tuple(
        Command(
            (kind, "show"),
            arguments=("id",),
            names={"include_sections": "sections"},
            fixed={"container_type": kind},
            without=("include_graph_context",),
        )
        for kind in ("feature", "project")
    ),
    http=Route("GET", "/projects/{project}/work/{containerType}s/{id}"),
)
