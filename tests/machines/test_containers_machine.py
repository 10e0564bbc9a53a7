"""After every step of any run, on either store, both dialects answer what the oracle says.

An ordinary run is short and always the same. GROUNDPLAN_PROOF_STEPS gives a longer one, new each time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, TypeVar

import pytest
from hypothesis.stateful import invariant

from tests.engines import Engine
from tests.machines.budget import BoundedRun, answer_invariant
from tests.machines.containers_calls import TAGS
from tests.machines.containers_driver import ContainersDriver, run_containers
from tests.machines.containers_oracle import CLOSED, FEATURE, NO_OP, NUMBERS, TASK, USUAL, ContainerAnswer
from tests.machines.containers_rows import ContainerRow
from tests.machines.test_work_machine import WorkMachine
from tests.machines.work_oracle import ROOT

pytestmark = [pytest.mark.proof, pytest.mark.slow]

STEPS = 120
STEPS_IN_A_RUN = 60  # closing a feature takes some steps
LOOKED_AT_MAX = 2  # of the nodes of a step

GRAPH_HINTS = {  # word for word from the specification
    "message": "Task completed. Consider updating the knowledge graph.",
    "suggestedActions": [
        "Update atom knowledge for areas affected by this task",
        "Update atom paths if files were moved or new directories created",
        "Append changelog entries for significant changes",
    ],
}

T = TypeVar("T")


class ContainersMachine(ContainersDriver, WorkMachine):
    """Compares all stored rows and the answers of both dialects with the oracle after each step."""

    asked = 0

    @invariant()
    def what_the_container_dialect_keeps_is_stored_as_it_should_be(self) -> None:
        work = self.work
        assert self.stored.containers == {
            n: ContainerRow(
                node.status,
                work.feature(n),
                node.held,
                node.reason,
                work.complexity(n),
                node.updated_by or node.created_by,
            )
            for n, node in work.nodes.items()
        }
        assert self.stored.tallies == {feature: tuple(work.tally(feature)) for feature in work.features()}
        assert self.stored.tally == (len(work.features()), *work.tally())
        assert self.stored.deleted == {self.ids[n] for n in work.deleted}
        assert self.stored.tags == {(n, tag) for n, tags in work.tags.items() for tag in tags}
        usual = dict(work.pipelines) == USUAL
        assert self.stored.pipelines == (
            None if usual else {kind: list(steps) for kind, steps in work.pipelines.items()}
        )

    @answer_invariant()
    def the_next_task_is_the_best_that_nobody_works_on(self) -> None:
        priority = self.one_of((None, *NUMBERS))
        told = {} if priority is None else {"priority": priority}
        best = self.work.next_tasks(self.now, priority=priority)
        self.check_next(self.call("cleo", "container.next_task", projectId=self.project, **told), best)
        feature = self.one_of(self.work.features())
        if feature is not None:
            best = self.work.next_tasks(self.now, feature=feature, priority=priority)
            self.check_next(self.call("ada", "container.next_task", featureId=self.ids[feature], **told), best)

    @answer_invariant()
    def the_next_feature_is_the_best_that_can_be_worked_on(self) -> None:
        priority = self.one_of((None, *NUMBERS))
        told = {} if priority is None else {"priority": priority}
        best = self.work.next_features(self.now, priority=priority)
        self.check_next(self.call("ben", "container.next_feature", projectId=self.project, **told), best)

    @answer_invariant()
    def everything_blocked_is_told_with_what_blocks_it(self) -> None:
        blocked = sorted(self.work.blocked() - {ROOT}, key=lambda n: (-self.work.nodes[n].priority, n))
        kind, feature = self.one_of((TASK, FEATURE)), self.one_of((None, *self.work.features()))
        told = {"projectId": self.project}
        told |= {"featureId": self.ids[feature]} if feature is not None and kind == TASK else {}
        answer = self.call("cleo", f"container.blocked_{kind}s", **told)
        expected = [n for n in blocked if self.work.kind(n) == kind]
        if "featureId" in told:
            expected = [n for n in expected if self.work.feature(n) == feature]
        assert not find_differences(answer, {"items": [self.container(n) for n in expected], "count": len(expected)})

    @answer_invariant()
    def what_was_touched_is_shown_as_it_is(self) -> None:
        for n in sorted(self.touched & set(self.work.nodes) - {ROOT})[:LOOKED_AT_MAX]:
            kind = self.work.kind(n)
            named = {"containerType": kind, "id": self.ids[n]}
            shown = self.call("ben", "container.get", **named)
            assert not find_differences(shown[kind], self.container(n))
            self.check_state(n, self.call("ben", "container.workflow_state", **named))
            self.check_dependencies(n, self.call("ben", "container.dependencies", **named))

    @answer_invariant()
    def the_project_is_counted_and_listed_as_it_is(self) -> None:
        work, now = self.work, self.now
        answer = self.call("cleo", "container.overview", containerType="project", id=self.project)
        features = sorted(work.features(), key=self.listed_key)
        assert not find_differences(
            answer,
            {
                "project": self.project_container(),
                "taskCounts": self.task_counts(),
                "features": [
                    {
                        "id": self.ids[n],
                        "name": work.nodes[n].summary,
                        "status": work.status(n, now),
                        "priority": work.named_priority(n),
                        "isBlocked": work.is_blocked(n),
                        "version": work.nodes[n].rev,
                        "taskCounts": self.task_counts(n),
                    }
                    for n in features
                ],
            },
        )

    @answer_invariant()
    def tasks_are_found_by_what_they_are(self) -> None:
        work, now = self.work, self.now
        status, priority = self.one_of((None, *sorted(work.statuses(now)))), self.one_of((None, None, *NUMBERS))
        tag, feature = self.one_of((None, None, *TAGS)), self.one_of((None, *work.features()))
        told: dict[str, Any] = {"containerType": TASK, "projectId": self.project}
        told |= {"status": status} if status is not None else {}
        told |= {"priority": priority} if priority is not None else {}
        told |= {"tags": tag} if tag is not None else {}
        told |= {"featureId": self.ids[feature]} if feature is not None else {}
        answer = self.call("ada", "container.search", **told)
        found = sorted(
            (
                n
                for n in work.tasks()
                if status in (None, work.status(n, now))
                and priority in (None, work.named_priority(n))
                and (tag is None or tag in work.tags.get(n, ()))
                and feature in (None, work.feature(n))
            ),
            key=self.listed_key,
        )
        assert not find_differences(
            answer, {"items": [self.container(n) for n in found], "count": len(found), "limit": 20, "offset": 0}
        )

    def one_of(self, choices: Sequence[T]) -> T | None:
        """Return another choice after each step; there are too many to try all."""
        self.asked += 1
        return choices[(self.stored.rev + self.asked) % len(choices)] if choices else None

    def listed_key(self, n: int) -> tuple[float, int, int]:
        node = self.work.nodes[n]
        return (-node.priority, node.created_at, n)

    def task_counts(self, feature: int | None = None) -> dict[str, Any]:
        counts = self.work.statuses(self.now, feature)
        return {"total": counts.total(), "byStatus": dict(counts)}

    # --- The oracle's facts in the container dialect ---

    def check_next(self, answer: dict[str, Any] | None, best: list[int]) -> None:
        """Check for the best one, or none."""
        assert not find_differences(answer, self.container(best[0]) if best else None)

    def check_state(self, n: int, answer: dict[str, Any]) -> None:
        work, status = self.work, self.work.status(n, self.now)
        steps = work.pipelines[work.kind(n)]
        place = steps.index(status) if status in steps else None
        container = self.container(n)
        inherits = work.policies.inherit_dependencies
        above = [one for one in work.ancestors(n) if work.waits(one) and (inherits or work.is_feature(one))]
        expected = {
            "containerType": work.kind(n),
            "id": self.ids[n],
            "version": work.nodes[n].rev,
            "currentStatus": status,
            "nextStatus": None if place is None or place + 1 == len(steps) else steps[place + 1],
            "prevStatus": steps[place - 1] if place else None,
            "isTerminal": work.nodes[n].resolved,
            "isBlocked": work.is_blocked(n),
            "blockedBy": container["blockedBy"],
            "blockedReason": container["blockedReason"],
            "pipelinePosition": None if place is None else f"{place + 1}/{len(steps)}",
            "pipeline": list(steps),
            "relatedEntities": container["relatedTo"],
        }
        expected |= {"blockedAbove": [self.ids[one] for one in above]} if above and work.is_blocked(n) else {}
        assert not find_differences(answer, expected)

    def check_dependencies(self, n: int, answer: dict[str, Any]) -> None:
        waits_for = sorted(self.work.waits_for(n))
        waited_for_by = sorted(other for other in self.work.nodes if n in self.work.waits_for(other))
        for found, waits in ((answer["dependencies"], waits_for), (answer["dependents"], waited_for_by)):
            expected = [(one, "BLOCKS") for one in waits] + [
                (one, "RELATES_TO") for one in sorted(self.work.related(n))
            ]
            assert found == [
                self.entity(one, "containerType") | {"status": self.work.status(one, self.now), "type": type_}
                for one, type_ in expected
            ]

    def check_answer(self, answer: dict[str, Any], expected: ContainerAnswer) -> None:
        """Check that an answer has exactly these fields, as they are now."""
        told: dict[str, Any] = {}
        match expected.verb:
            case "delete":
                told = {"deleted": self.ids[expected.n], "count": len(expected.deleted)}
            case "depend" | "undepend":
                told = self.dependency(expected)
            case _ if expected.n == ROOT:
                told = {"project": self.project_container()}
            case _:
                told = {self.work.kind(expected.n): self.container(expected.n)}
        if expected.turn is not None:
            steps, (_, before, after) = self.work.pipelines[self.work.kind(expected.n)], expected.turn
            told["transition"] = {"from": before, "to": after}
            told["pipelinePosition"] = f"{steps.index(after) + 1}/{len(steps)}" if after in steps else None
            told |= self.entities("featureUnblockedEntities", expected.unblocked_by_features)
            if (expected.verb, after, self.work.kind(expected.n)) == ("advance", CLOSED, TASK):
                told["graphHints"] = GRAPH_HINTS
        if expected.turn is not None or expected.verb == "delete":
            told |= self.entities("unblockedEntities", expected.unblocked)
        if expected.feature_turn is not None:
            n, before, after = expected.feature_turn
            told["featureTransition"] = {"id": self.ids[n], "from": before, "to": after}
        if expected.verb == "terminate":
            told |= {} if expected.reason is None else {"reason": expected.reason}
            told["affectedDependents"] = [self.entity(n) for n in expected.dependents]
            told |= self.entities("featureAffectedDependents", expected.dependents_of_features)
        if expected.verb in ("block", "unblock"):
            told |= self.blockers(expected)
        shown = {name: value for name, value in answer.items() if name != "warnings"}  # which are checked for each call
        assert not find_differences(shown, told)

    def entities(self, name: str, numbers: Iterable[int]) -> dict[str, Any]:
        """Return a list that is left out if empty."""
        found = [self.entity(n) for n in numbers]
        return {name: found} if found else {}

    def blockers(self, expected: ContainerAnswer) -> dict[str, Any]:
        n, work = expected.n, self.work
        moved = [one if isinstance(one, str) else self.ids[one] for one in expected.blockers]
        left = self.waits_for(n) + ([] if work.nodes[n].held is None else [NO_OP])
        if expected.verb == "block":
            return {"addedBlockers": moved, "totalBlockers": len(left)}
        return {
            "removedBlockers": moved,
            "remainingBlockers": left,
            "isFullyUnblocked": not left and not work.blocked_above(n),
        }

    def dependency(self, expected: ContainerAnswer) -> dict[str, Any]:
        source, target, type_ = expected.ends
        told: dict[str, Any] = {
            "id": f"{self.ids[source]}:{self.ids[target]}:{type_}",
            "type": type_,
            "operation": "create" if expected.verb == "depend" else "delete",
            "fromId": self.ids[source],
            "toId": self.ids[target],
        }
        if type_ == "RELATES_TO":
            kinds = {"fromEntityType": self.work.kind(source), "toEntityType": self.work.kind(target)}
            return told | kinds
        held = [] if self.work.nodes[target].held is None else [NO_OP]
        return told | {"blockedBy": self.waits_for(target) + held, "targetType": self.work.kind(target)}

    def waits_for(self, n: int) -> list[str]:
        """Return the open nodes that a node waits for."""
        return [self.ids[one] for one in sorted(self.work.waits_for(n)) if not self.work.nodes[one].resolved]

    def project_container(self) -> dict[str, Any]:
        root, pipelines = self.work.nodes[ROOT], dict(self.work.pipelines)
        told: dict[str, Any] = {
            "id": self.project_id,
            "name": self.project,
            "summary": root.summary,
            "description": root.properties.get("description"),
            "tags": [],
            "version": root.rev,
            "createdAt": self.clock.stamp(root.created_at),
            "modifiedAt": self.clock.stamp(root.updated_at),
            "lastModifiedBy": root.updated_by or root.created_by,
        }
        return told | ({} if pipelines == USUAL else {"pipelines": {kind: list(pipelines[kind]) for kind in pipelines}})

    def entity(self, n: int, type_name: str = "type") -> dict[str, str]:
        """Return a container in short."""
        kind = "project" if n == ROOT else self.work.kind(n)
        return {"id": self.ids[n], type_name: kind, "title": self.work.nodes[n].summary}

    def container(self, n: int) -> dict[str, Any]:
        """Return a feature or a task as callers see it."""
        work, node, now = self.work, self.work.nodes[n], self.now
        waits_for = self.waits_for(n)
        feature = work.feature(n)
        held = None if node.resolved else node.held
        reason = held or (node.reason if waits_for and not node.resolved else None)
        told: dict[str, Any] = {
            "id": self.ids[n],
            "projectId": self.project_id,
            "status": work.status(n, now),
            "priority": work.named_priority(n),
            "blockedBy": ([] if node.resolved else waits_for) + ([] if held is None else [NO_OP]),
            "blockedReason": reason,
            "relatedTo": [self.ids[other] for other in sorted(work.related(n))],
            "tags": sorted(work.tags.get(n, ())),
            "summary": None,
            "description": node.properties.get("description"),
            "version": node.rev,
            "createdAt": self.clock.stamp(node.created_at),
            "modifiedAt": self.clock.stamp(node.updated_at),
            "lastModifiedBy": node.updated_by or node.created_by,
        }
        told |= {"blockedAbove": True} if work.blocked_above(n) and not node.resolved else {}
        if work.is_feature(n):
            return told | {"name": node.summary}
        complexity = work.complexity(n)
        told |= {
            "featureId": None if feature is None else self.ids[feature],
            "title": node.summary,
            "complexity": None if complexity > 10 else complexity,
        }
        return told | ({"claimedBy": node.claim.agent} if node.claim and node.is_claimed(now) else {})


def find_differences(found: Any, expected: Any, at: str = "") -> list[str]:
    """Yield where two answers differ."""
    if isinstance(found, dict) and isinstance(expected, dict):
        pairs = {
            key: (found.get(key, "nothing"), expected.get(key, "nothing")) for key in found.keys() | expected.keys()
        }
    elif isinstance(found, list | tuple) and isinstance(expected, list) and len(found) == len(expected):
        pairs = dict(enumerate(zip(found, expected, strict=True)))
    else:
        return [] if found == expected else [f"{at}: {found}, not {expected}"]
    return [one for key in sorted(pairs) for one in find_differences(*pairs[key], f"{at}.{key}")]


def test_after_any_calls_in_two_dialects_the_work_graph_is_what_its_definitions_say(
    engine: Engine, run_to_bound: BoundedRun
) -> None:
    run_to_bound("containers", partial(run_containers, ContainersMachine, engine), STEPS, in_a_run=STEPS_IN_A_RUN)
