"""Pipelines: the statuses of tasks and features in a project, by default or as configured.

Every pipeline begins with NEW and ACTIVE and ends with CLOSED, because the engine depends on them: a task that goes
ACTIVE is claimed, a task that goes CLOSED is resolved. A project may define any statuses in between.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from groundplan.kernel.errors import NextStep, RuleViolated
from groundplan.kernel.input_gate.strict_json import validate_value
from groundplan.kernel.input_gate.types import get_decoder
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, describe_value, invalid_argument
from groundplan.work.containers.fields import WorkflowType
from groundplan.work.kinds import ACTIVE, CLOSED, NEW, WILL_NOT_IMPLEMENT

STEPS_MAX = 12
STEP_PATTERN = re.compile(r"[A-Z][A-Z0-9_]{0,39}")

sql = load_queries(__file__)


class Pipelines(Struct, frozen=True, forbid_unknown_fields=True):
    """The steps of tasks and of features, in order."""

    task: tuple[str, ...] = (NEW, ACTIVE, "TO_BE_TESTED", CLOSED)
    feature: tuple[str, ...] = (NEW, ACTIVE, "READY_TO_PROD", CLOSED)

    def of(self, container_type: WorkflowType) -> tuple[str, ...]:
        """Return the steps of a container type."""
        return self.task if container_type is WorkflowType.TASK else self.feature


DEFAULT_PIPELINES = Pipelines()


class StatusesInUse(RuleViolated):
    """The new pipeline lacks a status that tasks or features have."""

    code = "statuses_in_use"
    contract_code = "INVALID_OPERATION"

    def __init__(self, steps: list[str], ids: list[str]) -> None:
        super().__init__(
            f"pipeline leaves out {', '.join(steps)}, the status of {', '.join(ids)}; keep it, or move them first",
            next_steps=(
                NextStep("container.advance", "moves one forward"),
                NextStep("container.revert", "moves one back"),
            ),
            field="pipeline",
            statuses=steps,
            ids=ids,
        )


def load_pipelines(tx: Transaction, project_id: str | None = None) -> Pipelines:
    """Return the pipelines of the current project, or of another one."""
    text = tx.scalar(sql.pipelines, project_id=project_id or tx.project.id)
    return DEFAULT_PIPELINES if text is None else _decode_pipelines(text)


@lru_cache(maxsize=256)
def _decode_pipelines(text: str) -> Pipelines:
    return get_decoder(Pipelines).decode(text)


def format_position(steps: Sequence[str], status: str) -> str | None:
    """Return the position of a status among the steps, such as `2/4`; None if it is not a step."""
    return f"{steps.index(status) + 1}/{len(steps)}" if status in steps else None


def find_step_after(steps: Sequence[str], status: str) -> str | None:
    """Return the step after this one, or None."""
    index = steps.index(status) + 1 if status in steps else len(steps)
    return steps[index] if index < len(steps) else None


def find_step_before(steps: Sequence[str], status: str) -> str | None:
    """Return the step before this one, or None."""
    index = steps.index(status) if status in steps else 0
    return steps[index - 1] if index else None


def parse_pipelines(raw: Any, before: Pipelines, path: ArgumentPath) -> Pipelines:
    """Parse pipelines: an array for both, or an object with an array for tasks, for features or for both."""
    if isinstance(raw, str):
        raw = _decode_json(raw, path)
    if isinstance(raw, list):
        return Pipelines(_parse_steps(raw, path), _parse_steps(raw, path))
    if not isinstance(raw, dict) or not raw or raw.keys() - {"task", "feature"}:
        wrong = 'must be an array of statuses, or {"task": […], "feature": […]}'
        raise invalid_argument(path, wrong)
    steps = {name: _parse_steps(value, (*path, name)) for name, value in raw.items()}
    return msgspec.structs.replace(before, **steps)


def _decode_json(text: str, path: ArgumentPath) -> Any:
    try:
        decoded = msgspec.json.decode(text)
    except msgspec.DecodeError:
        raise invalid_argument(
            path, f"must be an array of statuses or an object with such arrays, not {describe_value(text)}"
        ) from None
    validate_value({str(path[-1]): decoded})  # the input gate has not checked JSON inside a string
    return decoded


def _parse_steps(raw: Any, path: ArgumentPath) -> tuple[str, ...]:
    if not isinstance(raw, list) or not all(isinstance(step, str) for step in raw):
        raise invalid_argument(path, "must be an array of statuses")
    for index, step in enumerate(raw):
        if not STEP_PATTERN.fullmatch(step):
            raise invalid_argument(
                (*path, index), f"must be capitals, digits and _, at most 40 characters, not {describe_value(step)}"
            )
    if raw[:2] != [NEW, ACTIVE] or raw[-1:] != [CLOSED] or len(raw) < 3:
        raise invalid_argument(path, f"must begin with {NEW}, {ACTIVE} and end with {CLOSED}")
    if len(set(raw)) < len(raw) or WILL_NOT_IMPLEMENT in raw:
        raise invalid_argument(
            path, f"must name each status once and leave out {WILL_NOT_IMPLEMENT}, which is always the exit"
        )
    if len(raw) > STEPS_MAX:
        raise invalid_argument(
            path, f"has {len(raw)} steps, the limit is {STEPS_MAX}", code="too_many", limit=STEPS_MAX
        )
    return tuple(raw)


def refuse_statuses_in_use(tx: Transaction, after: Pipelines) -> None:
    """Raise StatusesInUse if a task or a feature has a status that is missing in the new pipelines."""
    rows = tx.all(
        sql.nodes_outside_pipelines,
        project_id=tx.project.id,
        task_steps=to_json_array(after.task),
        feature_steps=to_json_array(after.feature),
    )
    if rows:
        raise StatusesInUse(sorted({status for _, status in rows}), [node_id for node_id, _ in rows])


def encode_pipelines(pipelines: Pipelines) -> str | None:
    """Return pipelines as JSON. The default pipelines give None, because they are not stored."""
    return None if pipelines == DEFAULT_PIPELINES else msgspec.json.encode(pipelines).decode()
