"""Renaming a tag changes all containers and sections of one project that have it, and the answer lists them."""

from __future__ import annotations

import json
from functools import partial
from itertools import product
from typing import Any

import pytest

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.answers import count_tokens, encode
from groundplan.kernel.errors import Invalid, NotFound
from groundplan.session import Session
from tests.answers import to_json
from tests.engines import Engine, fill_once
from tests.errors import error_of
from tests.manual_clock import ManualClock
from tests.races.concurrent_calls import run_at_once
from tests.work.containers.tags.client import TagsClient, all_rows

CAP = 1_000
ADA = local_actor("ada", kind=ActorKind.PERSON)


def tag_atlas(engine: Engine) -> dict[str, str]:
    """Add the tags to atlas and return the ids by name."""
    desk = TagsClient(engine, Session(engine.store_with_clock(ManualClock()), ADA)).open()
    desk.task("root", "coast")
    desk.task("walk", "coast", "north")
    desk.task("draw", "coast", "shore")
    desk.task("print", "north")
    desk.section("walk", "Notes", "coast", "a")
    desk.section("walk", "Tides", "coast", "shore")
    desk.section("draw", "Other", "north")
    return desk.ids


@pytest.fixture
def client(engine: Engine, clock: ManualClock, request: pytest.FixtureRequest) -> TagsClient:
    """Ada at atlas, with its tags if the test uses `tagged_project`."""
    if "tagged_project" not in request.fixturenames:
        return TagsClient(engine, Session(engine.store_with_clock(clock), ADA)).open()
    ids = fill_once(engine, tag_atlas)
    desk = TagsClient(engine, Session(engine.store_with_clock(clock), ADA))
    desk.ids |= ids
    return desk


@pytest.fixture
def tagged_project(client: TagsClient) -> TagsClient:
    """Atlas with tags on the project, on two tasks and on two sections."""
    return client


def events(engine: Engine, op: str) -> dict[str, list[Any]]:
    """Return the changes of the project's last revision by subject."""
    rows = engine.as_owner(
        f"SELECT subject, changes FROM events WHERE op = '{op}' AND rev = (SELECT max(rev) FROM events) ORDER BY n"
    )
    return {
        subject: [(one["field"], one["before"], one["after"]) for one in json.loads(changes)]
        for subject, changes in rows
    }


def test_everything_that_has_the_tag_gets_the_other_name(tagged_project: TagsClient) -> None:
    answer = tagged_project.rename("coast", " seaside ")

    assert to_json(answer) == {
        "oldTag": "coast",
        "newTag": "seaside",
        "dryRun": False,
        "projectId": tagged_project.ids["atlas"],
        "affected": 5,
        "entities": [
            {"id": tagged_project.ids["atlas"], "type": "PROJECT", "title": "atlas"},
            {"id": tagged_project.ids["walk"], "type": "TASK", "title": "walk"},
            {"id": tagged_project.ids["draw"], "type": "TASK", "title": "draw"},
            {"id": tagged_project.ids["Notes"], "type": "SECTION", "title": "Notes"},
            {"id": tagged_project.ids["Tides"], "type": "SECTION", "title": "Tides"},
        ],
    }
    assert tagged_project.counts() == {"seaside": 5, "north": 3, "shore": 2, "a": 1}
    assert tagged_project.tags_of("walk") == ["north", "seaside"]
    assert tagged_project.tags_of("Notes") == ["a", "seaside"]


def test_where_something_has_the_new_tag_already_the_two_become_one(tagged_project: TagsClient) -> None:
    assert tagged_project.rename("coast", "shore").affected == 5

    assert tagged_project.tags_of("draw") == ["shore"]
    assert tagged_project.tags_of("Tides") == ["shore"]
    assert tagged_project.counts() == {"shore": 5, "north": 3, "a": 1}


def test_what_is_touched_moves_on_by_one_version_and_nothing_else_does(tagged_project: TagsClient) -> None:
    names = ("root", "walk", "draw", "print", "Notes", "Tides", "Other")
    before = {name: tagged_project.version(name) for name in names}

    tagged_project.by(local_actor("ben")).rename("coast", "shore")

    for name in names:
        version, by = before[name]
        is_touched = name not in ("print", "Other")
        assert tagged_project.version(name) == ((version + 1, "ben") if is_touched else (version, by)), name


def test_the_history_tells_the_tags_before_and_after(engine: Engine, tagged_project: TagsClient) -> None:
    tagged_project.rename("coast", "shore")

    ids = tagged_project.ids
    assert events(engine, "work.tagged") == {
        ids["root"]: [("tags", ["coast"], ["shore"])],
        ids["walk"]: [("tags", ["coast", "north"], ["north", "shore"])],
        ids["draw"]: [("tags", ["coast", "shore"], ["shore"])],
    }
    assert events(engine, "work.section_changed") == {
        ids["walk"]: [
            (f"sections.{ids['Notes']}", {"tags": ["a", "coast"]}, {"tags": ["a", "shore"]}),
            (f"sections.{ids['Tides']}", {"tags": ["coast", "shore"]}, {"tags": ["shore"]}),
        ]
    }


def test_a_dry_run_tells_what_would_be_done_and_does_nothing(engine: Engine, tagged_project: TagsClient) -> None:
    before = all_rows(engine)

    shown = tagged_project.rename("coast", "shore", dryRun=True)

    assert all_rows(engine) == before
    assert to_json(tagged_project.rename("coast", "shore")) == to_json(shown) | {"dryRun": False}


def test_a_tag_in_one_project_only_needs_no_project_to_be_named(
    tagged_project: TagsClient, other_project: TagsClient
) -> None:
    other_project.task("fly", "sky")

    assert tagged_project.rename("sky", "air").project_id == other_project.ids["borealis"]
    assert other_project.tags_of("fly") == ["air"]


@pytest.mark.parametrize("dry", [False, True])
def test_a_tag_in_several_projects_is_refused_until_one_is_named(
    engine: Engine, tagged_project: TagsClient, other_project: TagsClient, dry: bool
) -> None:
    other_project.task("fly", "coast")
    before = all_rows(engine)

    error = error_of(lambda: tagged_project.rename("coast", "shore", dryRun=dry))
    assert isinstance(error, Invalid)
    assert (error.code, error.details["field"]) == ("mixed_projects", "projectId")
    assert sorted(error.details["projects"]) == sorted([tagged_project.ids["atlas"], other_project.ids["borealis"]])
    assert all_rows(engine) == before

    for project in ("borealis", tagged_project.ids["atlas"]):
        tagged_project.rename("coast", "shore", projectId=project, dryRun=dry)
    assert (other_project.tags_of("fly"), tagged_project.tags_of("draw")) == (
        (["coast"], ["coast", "shore"]) if dry else (["shore"], ["shore"])
    )


def test_a_tag_that_nothing_has_is_not_found(
    engine: Engine, tagged_project: TagsClient, subtests: pytest.Subtests
) -> None:
    before = all_rows(engine)
    wheres: tuple[dict[str, str], ...] = ({}, {"projectId": "atlas"})

    for (tag, near), dry, where in product((("Coast", ["coast"]), ("zzz", [])), (False, True), wheres):
        with subtests.test(tag, dry=dry, where=where):
            error = error_of(partial(tagged_project.rename, tag, "shore", dryRun=dry, **where))
            assert isinstance(error, NotFound)
            assert (error.details["field"], error.details.get("near", [])) == ("oldTag", near)
            assert all_rows(engine) == before


def test_a_name_that_cannot_be_a_tag_is_refused(
    engine: Engine, tagged_project: TagsClient, subtests: pytest.Subtests
) -> None:
    before = all_rows(engine)

    for new, dry in product(("", "  ", "x" * 101, "a,b", "coast", " coast "), (False, True)):
        with subtests.test(new, dry=dry):
            error = error_of(partial(tagged_project.rename, "coast", new, dryRun=dry))

            assert isinstance(error, Invalid)
            assert error.details["field"] == "newTag"
            assert all_rows(engine) == before


def test_a_tag_may_change_its_case_and_be_as_long_as_any(tagged_project: TagsClient) -> None:
    tagged_project.rename("coast", "Coast")
    tagged_project.rename("Coast", "ä" * 100)

    assert tagged_project.counts()["ä" * 100] == 5


def test_an_archived_project_is_not_renamed_in(
    engine: Engine, tagged_project: TagsClient, other_project: TagsClient
) -> None:
    other_project.task("fly", "coast", "sky")
    tagged_project.session.call("project.archive", project="borealis")

    for given in ({"old": "sky"}, {"old": "coast", "projectId": "borealis"}):
        before = all_rows(engine)
        error = error_of(partial(tagged_project.rename, new="air", **given))
        assert (error.code, error.details["project"]) == ("project_archived", other_project.ids["borealis"])
        assert all_rows(engine) == before

    assert tagged_project.rename("coast", "shore").project_id == tagged_project.ids["atlas"]
    assert other_project.tags_of("fly") == ["coast", "sky"]


def test_the_same_op_id_gives_the_same_answer_whatever_happened_to_the_tag_since(
    engine: Engine, tagged_project: TagsClient, other_project: TagsClient, clock: ManualClock
) -> None:
    first = tagged_project.rename("coast", "shore", op_id="once")
    before = all_rows(engine)
    clock.move(hours=1)
    assert tagged_project.rename("coast", "shore", op_id="once") == first
    assert all_rows(engine) == before

    tagged_project.task("print", "coast")
    other_project.task("fly", "coast")
    before = all_rows(engine)
    assert tagged_project.rename("coast", "shore", op_id="once") == first
    assert all_rows(engine) == before

    assert error_of(lambda: tagged_project.rename("coast", "beach", op_id="once")).code == "op_id_reused"
    assert (
        error_of(lambda: tagged_project.rename("coast", "shore", projectId="atlas", op_id="once")).code
        == "op_id_reused"
    )
    assert all_rows(engine) == before


def test_a_dry_run_leaves_its_op_id_unused(tagged_project: TagsClient) -> None:
    tagged_project.rename("coast", "shore", dryRun=True, op_id="once")

    assert tagged_project.rename("coast", "shore", op_id="once").affected == 5


def test_an_answer_names_a_hundred_and_fits_while_all_are_renamed(client: TagsClient) -> None:
    client.plan_many(103, "coast")

    assert len(client.rename("coast", "shore", dryRun=True).entities) == 100
    answer = client.with_cap(CAP).rename("coast", "shore")

    assert count_tokens(encode({"success": True, "data": answer})) <= CAP
    assert (answer.affected, len(answer.entities) + answer.left_out["entities"]) == (103, 103)
    assert client.counts() == {"shore": 103}


def test_two_who_rename_the_same_tag_at_once_rename_it_once(engine: Engine, tagged_project: TagsClient) -> None:
    agents = [TagsClient(engine, Session(engine.another_store(), local_actor(f"agent {n}"))) for n in range(4)]

    answers = run_at_once([partial(one.rename, "coast", f"new {n}") for n, one in enumerate(agents)])

    assert sorted(getattr(one, "code", "renamed") for one in answers) == [*["not_found"] * 3, "renamed"]
    (renamed,) = (one for one in answers if not isinstance(one, Exception))
    assert tagged_project.counts()[renamed.new_tag] == 5
