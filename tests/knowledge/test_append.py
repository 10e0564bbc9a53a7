"""Appended text follows the existing text, under a line with the time and the task."""

from __future__ import annotations

from functools import partial

import pytest

from tests.engines import Engine
from tests.errors import error_of
from tests.knowledge.client import KnowledgeClient, outcome_of
from tests.knowledge.rows import all_rows
from tests.manual_clock import ManualClock

LINE = "---[{at} task:{task}]---\n"
NINE, TEN = "2026-03-01T09:00:00.000Z", "2026-03-01T10:00:00.000Z"
KNOWLEDGE_BYTES_MAX = 32_768


@pytest.mark.parametrize("name", ["Cart", "Shop"])
def test_what_is_appended_stands_behind_a_line_with_the_moment_and_the_task(
    crowded_project: KnowledgeClient, clock: ManualClock, name: str
) -> None:
    before = crowded_project.read(name)
    clock.move(hours=1)

    changed = crowded_project.append(name, "It is cached.")

    assert changed.knowledge == f"{before.knowledge}\n\n---[{TEN} task:{crowded_project['build']}]---\nIt is cached."
    assert (changed.version, changed.last_task_id, changed.updated_at) == (2, crowded_project["build"], TEN)
    assert crowded_project.read(name).knowledge == changed.knowledge


def test_the_first_text_begins_with_its_line(client: KnowledgeClient) -> None:
    client.atom("Cart")

    changed = client.append("Cart", "It is cached.")

    assert changed.knowledge == LINE.format(at=NINE, task=client["build"]) + "It is cached."


def test_every_text_keeps_a_line_of_its_own(client: KnowledgeClient, clock: ManualClock) -> None:
    client.atom("Cart", knowledge="one")
    client.append("Cart", "two\n\n---\nthree")
    clock.move(hours=1)
    client.append("Cart", " \n four\n\n", lastTaskId="review")

    assert client.read("Cart").knowledge.split("\n\n---[") == [
        "one",
        f"{NINE} task:{client['build']}]---\ntwo\n\n---\nthree",
        f"{TEN} task:{client['review']}]---\nfour",
    ]


def test_the_line_names_the_whole_task_where_its_beginning_was_sent(client: KnowledgeClient) -> None:
    client.atom("Cart")

    changed = client.append("Cart", "x", lastTaskId=client["review"][:4])

    assert f"task:{client['review']}]" in changed.knowledge


def test_what_cannot_be_appended_is_refused_and_nothing_is_written(engine: Engine, client: KnowledgeClient) -> None:
    client.atom("Cart", knowledge="one")
    before = all_rows(engine)
    refusals = {
        "nobody who appends": partial(client.update, "Cart", knowledge="x", knowledgeMode="append"),
        "nothing to append": partial(client.update, "Cart", knowledgeMode="append", lastTaskId="build"),
        "blanks": partial(client.append, "Cart", " \n\t"),
        "an unknown task": partial(client.append, "Cart", "x", lastTaskId="oooooo"),
    }

    assert {what: outcome_of(call) for what, call in refusals.items()} == {
        "nobody who appends": ("Invalid", "missing_argument", "lastTaskId"),
        "nothing to append": ("Invalid", "missing_argument", "knowledge"),
        "blanks": ("Invalid", "invalid_argument", "knowledge"),
        "an unknown task": ("NotFound", "not_found", "lastTaskId"),
    }
    assert all_rows(engine) == before


def test_the_limit_is_of_the_whole_text_in_bytes(client: KnowledgeClient) -> None:
    line = len("\n\n" + LINE.format(at=NINE, task=client["build"]))
    client.atom("Cart", knowledge="ü" * 10_000)
    room = KNOWLEDGE_BYTES_MAX - 20_000 - line

    error = error_of(lambda: client.append("Cart", "x" * (room + 1)))

    assert (error.code, error.details["field"]) == ("too_long", "knowledge")
    assert (error.details["limit_bytes"], error.details["actual_bytes"]) == (32_768, 32_769)
    assert len(client.append("Cart", "x" * room).knowledge.encode()) == KNOWLEDGE_BYTES_MAX


def test_of_two_who_append_from_one_version_the_second_reads_again_and_both_are_kept(
    crowded_project: KnowledgeClient,
) -> None:
    crowded_project.append("Cart", "first", version=1)
    error = error_of(lambda: crowded_project.append("Cart", "second", version=1))

    changed = crowded_project.append("Cart", "second", version=error.details["currentVersion"])

    assert [part.splitlines()[-1] for part in changed.knowledge.split("\n\n---[")[1:]] == ["first", "second"]
