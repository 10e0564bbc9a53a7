"""A request may name its project beside what it is about; then both must agree, in every operation."""

from __future__ import annotations

from typing import Any

import pytest

from groundplan.kernel.answers import encode
from groundplan.kernel.errors import GroundplanError, Invalid, NotFound
from groundplan.kernel.input_gate.request import PROJECT_NAMES
from tests.access.examples import ROWS, example
from tests.access.permissions import RULES
from tests.access.test_matrix import PEOPLE, count_events, placeholder_values, populate_with_purpose
from tests.engines import Engine, fill_once

# The operations that find their project from a node, a run or another thing.
UNNAMED = [
    row
    for row, one in ROWS.items()
    if RULES[row].in_project and not set(PROJECT_NAMES) & set(one.requested.input.__struct_encode_fields__)
]
READS = [row for row in UNNAMED if RULES[row].reads]


@pytest.fixture
def world(engine: Engine) -> Engine:
    fill_once(engine, populate_with_purpose)
    return engine


def ask(world: Engine, row: str, **named: Any) -> Any:
    arguments = {**example(row, placeholder_values(world, "atlas", "ada")), **named}
    return world.session(PEOPLE["ada"]).call(ROWS[row].requested.name, **arguments)


def test_there_are_such_operations() -> None:
    assert {"work.update", "context.edit", "context.commit", "container.advance"} <= set(UNNAMED)
    assert {"work.context", "context.diff"} <= set(READS)


def test_the_name_or_id_of_the_project_changes_nothing(world: Engine, subtests: pytest.Subtests) -> None:
    ((project_id,),) = world.as_owner("SELECT id FROM projects WHERE name = 'atlas'")
    for row in READS:
        expected = encode(ask(world, row))
        for names in ({"project": "atlas"}, {"scopeId": project_id}, {"projectId": "atlas", "project": None}):
            with subtests.test(row, **names):
                assert encode(ask(world, row, **names)) == expected


def test_another_project_than_that_of_the_request_is_refused_and_nothing_changes(
    world: Engine, subtests: pytest.Subtests
) -> None:
    before = count_events(world)
    for row in UNNAMED:
        for other in ("south of atlas", "sumac"):  # one of hers, and a missing one
            with subtests.test(row, project=other), pytest.raises(NotFound):
                ask(world, row, project=other)
    assert count_events(world) == before


@pytest.mark.parametrize("names", [{"project": 3}, {"project": "atlas", "scopeId": "sumac"}, {"project": "x" * 300}])
def test_a_name_that_is_none_is_refused(world: Engine, names: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        ask(world, "work.context", **names)


def test_a_stranger_gets_the_answer_of_a_missing_node_whatever_project_is_named(world: Engine) -> None:
    found = placeholder_values(world, "atlas", "finn")["node"]
    answers = set()
    for node, project in ((found, "atlas"), (found, "sumac"), ("qqqq00", "atlas"), ("qqqq00", "sumac")):
        with pytest.raises(GroundplanError) as refused:
            world.session(PEOPLE["finn"]).call("work.context", node_id=node, project=project)
        answers.add(encode(refused.value.to_dict()).replace(node.encode(), b"NODE").replace(project.encode(), b"NAME"))
    assert len(answers) == 1
