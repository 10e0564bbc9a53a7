"""Every answer of the examples is drawn, and every value of it is in the drawing, so that no field vanishes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import pytest

from groundplan.commands import COMMANDS
from groundplan.surfaces.cli.renderers import draw_answer
from groundplan.surfaces.cli.screen.output import collect_lines
from tests.access.examples import ROWS, example
from tests.access.test_surface_matrix import discard_writes
from tests.access.two_organizations import Caller, find_names, populate
from tests.engines import Engine, fill_once
from tests.kernel.tokens.holders import authenticate_token

ADA = Caller("ada", "local")

# Not what an answer is about: who wrote it when, its revision, and ids beside the name of the same thing.
BOOKKEEPING = re.compile(
    r"(^|_)(at|by|id|rev|count|offset|limit)$|^(parent|entity_type|value_kind|container_type|lean)$"
)
# What else views leave out, by operation: it is said by another field, or repeats what the caller sent.
LEFT_OUT: Mapping[str, set[str]] = {
    "briefing.throughline": {"direction"},
    "briefing.coverage": {"serving_nothing"},  # the first ones and their number
    "briefing.inbox": {"items.action", "items.alternative"},
    "briefing.undo": {"did"},
    "container.block": {"task.status"},
    "container.unblock": {"task.status"},
    "container.blocked_tasks": {"items.version"},
    "container.dependencies": {"direction", "dependents.type"},
    "container.revert": {"feature.priority"},
    "context.create_draft": {"base"},
    "context.edit": {"run.status"},
    "context.view": {"inputsByPointer./coast/length.domain"},
    "dependency.create": {"operation", "targetType"},
    "dependency.delete": {"operation", "targetType"},
    "knowledge.append_changelog": {"entry.summary"},
    "knowledge.context": {"orphanAtoms.version"},
    "purpose.analysis": {"goals.weakest_link.edge_type"},
    # The checklist is printed as the text that people read; its data are for programs.
    "purpose.check": {"counts", "content_hash", "places", "goals.weakest_link.edge_type", "sections"},
    "purpose.compliance": {"sections"},
    "purpose.health": {"places"},
    "purpose.items": {"version.content_hash", "version.context_run", "edges.edge_type"},
    "purpose.open": {"versions.content_hash", "versions.context_run", "health.bands", "edges.edge_type"},
    "purpose.publish": {"gates.checks.result", "gates.checks.fix", "gates.counts"},
    "token.create": {"token", "warnings"},  # in a pipe a new token stands alone
    "token.revoke": {"token"},
    "work.analyse": {"what"},
    "work.dependencies": {"nodes.parent_summary"},
    "work.restructure": {"applied"},
}


@pytest.fixture
def _discarded_writes() -> Iterator[None]:
    with discard_writes():
        yield


def list_values(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text and number of an answer with its place, without those that only keep books."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from list_values(inner, f"{path}.{name}".removeprefix("."))
    elif isinstance(value, list):
        for inner in value:
            yield from list_values(inner, path)
    elif isinstance(value, str | int | float) and not isinstance(value, bool) and value not in ("", 0):
        name = re.sub("[A-Z]", lambda capital: f"_{capital[0].lower()}", path.rpartition(".")[2])
        if not BOOKKEEPING.search(name):
            yield path, f"{value:g}" if isinstance(value, float) else str(value)


def is_drawn(value: str, drawing: str) -> bool:
    words = " ".join(value.split())
    to_the_minute = words[:16].replace("T", " ") if words.endswith("Z") else words
    return any(one in drawing for one in (words, words.replace("_", " "), words.lower(), words[:40], to_the_minute))


@pytest.mark.slow
def test_every_value_of_an_answer_is_in_its_drawing(
    engine: Engine, subtests: pytest.Subtests, request: pytest.FixtureRequest
) -> None:
    tokens = fill_once(engine, populate)
    request.getfixturevalue("_discarded_writes")
    names = find_names(engine, ADA, "local")
    session = engine.session(authenticate_token(engine.store, tokens[ADA]))
    entries = {entry.operation: entry for entry in reversed(COMMANDS) if entry.operation and not entry.item_of}
    drawn = 0
    for name, row in ROWS.items():
        operation = row.requested
        if operation.name not in entries or operation.name == "organization.leave":  # the last owner cannot
            continue
        answer = session.call(operation.name, **example(name, names))
        with subtests.test(name), collect_lines() as lines:
            draw_answer(operation, entries[operation.name], answer)
        drawing = " ".join(" ".join(lines).split())
        left_out = LEFT_OUT.get(operation.name, set())
        missing = {
            path: value
            for path, value in list_values(msgspec.to_builtins(answer, str_keys=True))
            if not any(path == one or path.startswith(f"{one}.") for one in left_out) and not is_drawn(value, drawing)
        }
        with subtests.test(name):
            assert not missing
        drawn += 1
    assert drawn > 90
