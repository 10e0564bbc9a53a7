"""Stored rows of the container dialect, beside those that it shares with the graph dialect."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, NamedTuple

from tests.machines.work_rows import IN_ORGANIZATION, Stored, WorkRows


class ContainerRow(NamedTuple):
    """The columns of a node in the container dialect."""

    status: str | None
    feature_n: int | None
    held_reason: str | None
    blocked_reason: str | None
    complexity: int
    updated_by: str


@dataclass(frozen=True)
class ContainersStored(Stored):
    """All stored rows about the work of one project, in both dialects."""

    containers: dict[int, ContainerRow]
    tallies: dict[int, tuple[int, int, int]]  # of each feature: tasks, closed, dropped
    tally: tuple[int, int, int, int]  # of the project: features, tasks, closed, dropped
    pipelines: Any
    deleted: frozenset[str]
    tags: frozenset[tuple[int, str]]


class ContainersRows(WorkRows):
    """A reader of these rows."""

    def of(self, project_id: str) -> ContainersStored:
        where = f"WHERE {IN_ORGANIZATION} AND project_id = '{project_id}'"
        containers = self._all(
            f"SELECT n, status, feature_n, held_reason, blocked_reason, complexity, updated_by FROM work_nodes {where}"
        )
        (*tally, pipelines), *_ = self._all(
            f"SELECT features, tasks, tasks_closed, tasks_dropped, pipelines FROM work_projects {where}"
        )
        tallies = self._all(f"SELECT n, tasks, tasks_closed, tasks_dropped FROM work_features {where}")
        return ContainersStored(
            **vars(super().of(project_id)),
            containers={n: ContainerRow(*row) for n, *row in containers},
            tallies={n: (tasks, closed, dropped) for n, tasks, closed, dropped in tallies},
            tally=(tally[0], tally[1], tally[2], tally[3]),
            pipelines=None if pipelines is None else json.loads(pipelines),
            deleted=frozenset(node_id for (node_id,) in self._all(f"SELECT id FROM work_deleted {where}")),
            tags=frozenset(self._all(f"SELECT node_n, tag FROM work_node_tags {where}")),
        )
