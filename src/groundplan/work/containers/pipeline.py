"""The steps that tasks and features take, of each project: the usual ones, or its own.

Every pipeline begins with NEW and ACTIVE and ends with CLOSED, because these mean something to the engine: a task that
goes ACTIVE is claimed, one that is CLOSED is resolved. Between them a project may have what it likes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from groundplan.kernel.errors import RuleViolated
from groundplan.kernel.input_gate.strict_json import validate_value
from groundplan.kernel.next_steps import NextStep
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, describe_value, invalid_argument
from groundplan.work.containers.requests import WorkflowType
from groundplan.work.engine.statuses import ACTIVE, CLOSED, NEW, WILL_NOT_IMPLEMENT

STEPS_MAX = 12
STEP_PATTERN = re.compile(r"[A-Z][A-Z0-9_]{0,39}")

sql = load_queries(__file__)


class Pipelines(Struct, frozen=True, forbid_unknown_fields=True):
    """The steps of both, each from the first to the last."""

    task: tuple[str, ...] = (NEW, ACTIVE, "TO_BE_TESTED", CLOSED)
    feature: tuple[str, ...] = (NEW, ACTIVE, "READY_TO_PROD", CLOSED)

    def of(self, container_type: WorkflowType) -> tuple[str, ...]:
        """The steps of one."""
        return self.task if container_type is WorkflowType.TASK else self.feature


DEFAULT_PIPELINES = Pipelines()


class StatusesInUse(RuleViolated):
    """Somebody is at a step that there shall be no more."""

    code = "statuses_in_use"
    contract_code = "INVALID_OPERATION"

    def __init__(self, steps: list[str], ids: list[str]) -> None:
        super().__init__(
            f"pipeline has no {', '.join(steps)} any more, where {', '.join(ids)} stand; keep the step, or move them",
            next_steps=(
                NextStep("container.advance", "moves one on"),
                NextStep("container.revert", "takes one back"),
            ),
            field="pipeline",
            statuses=steps,
            ids=ids,
        )


def pipelines_of(tx: Transaction, project_id: str | None = None) -> Pipelines:
    """The pipelines of the project entered, or of another."""
    text = tx.scalar(sql.pipelines, project_id=project_id or tx.project.id)
    return DEFAULT_PIPELINES if text is None else decode_pipelines(text)


@lru_cache(maxsize=256)
def decode_pipelines(text: str) -> Pipelines:
    """Pipelines as they are kept."""
    return msgspec.json.decode(text, type=Pipelines)


def format_position(steps: Sequence[str], status: str) -> str | None:
    """Where a status stands among the steps, as `2/4`; nowhere for the exit."""
    return f"{steps.index(status) + 1}/{len(steps)}" if status in steps else None


def step_after(steps: Sequence[str], status: str) -> str | None:
    """The step behind this one."""
    place = steps.index(status) + 1 if status in steps else len(steps)
    return steps[place] if place < len(steps) else None


def step_before(steps: Sequence[str], status: str) -> str | None:
    """The step before this one."""
    place = steps.index(status) if status in steps else 0
    return steps[place - 1] if place else None


def parse_pipelines(given: Any, before: Pipelines, path: ArgumentPath) -> Pipelines:
    """Pipelines from an array for both, or an object with one for tasks, for features or for each.

    Raises:
        Invalid: they are none.
    """
    if isinstance(given, str):
        given = _decode_json(given, path)
    if isinstance(given, list):
        return Pipelines(_parse_steps(given, path), _parse_steps(given, path))
    if not isinstance(given, dict) or not given or given.keys() - {"task", "feature"}:
        wrong = 'is an array of statuses, or {"task": […], "feature": […]}'
        raise invalid_argument(path, wrong)
    steps = {name: _parse_steps(value, (*path, name)) for name, value in given.items()}
    return msgspec.structs.replace(before, **steps)


def _decode_json(text: str, path: ArgumentPath) -> Any:
    try:
        decoded = msgspec.json.decode(text)
    except msgspec.DecodeError:
        raise invalid_argument(
            path, f"is an array of statuses or an object with some, not {describe_value(text)}"
        ) from None
    validate_value({str(path[-1]): decoded})  # what came inside a string has not been through the gate
    return decoded


def _parse_steps(given: Any, path: ArgumentPath) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(step, str) for step in given):
        raise invalid_argument(path, "must be an array of statuses")
    for place, step in enumerate(given):
        if not STEP_PATTERN.fullmatch(step):
            raise invalid_argument(
                (*path, place), f"must be capitals, digits and _, at most 40, not {describe_value(step)}"
            )
    if given[:2] != [NEW, ACTIVE] or given[-1:] != [CLOSED] or len(given) < 3:
        raise invalid_argument(path, f"must begin with {NEW}, {ACTIVE} and end with {CLOSED}")
    if len(set(given)) < len(given) or WILL_NOT_IMPLEMENT in given:
        raise invalid_argument(
            path, f"must name each status once, and {WILL_NOT_IMPLEMENT} not at all: it is always the exit"
        )
    if len(given) > STEPS_MAX:
        raise invalid_argument(
            path, f"has {len(given)} steps, the limit is {STEPS_MAX}", code="too_many", limit=STEPS_MAX
        )
    return tuple(given)


def refuse_statuses_in_use(tx: Transaction, after: Pipelines) -> None:
    """Raises StatusesInUse when something stands at a step that there is no more."""
    rows = tx.all(
        sql.nodes_outside_pipelines,
        project_id=tx.project.id,
        task_steps=to_json_array(after.task),
        feature_steps=to_json_array(after.feature),
    )
    if rows:
        raise StatusesInUse(sorted({status for _, status in rows}), [node_id for node_id, _ in rows])


def encode_pipelines(pipelines: Pipelines) -> str | None:
    """Pipelines as they are kept; the usual ones are not."""
    return None if pipelines == DEFAULT_PIPELINES else msgspec.json.encode(pipelines).decode()
