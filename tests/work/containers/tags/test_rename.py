"""Renaming a tag changes every container and section of one project that has it, and says which."""

from __future__ import annotations

import json
from functools import partial
from itertools import product
from typing import Any

import pytest

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.errors import Invalid, NotFound
from groundplan.kernel.output_gate import count_tokens, encode
from groundplan.session import Session
from tests.engines import Engine, filled_once
from tests.races.barrier import at_once
from tests.work.containers.tags.desk import Tags, everything, told
from tests.work.desk import ManualClock, refused

CAP = 1_000
ADA = local_actor("ada", kind=ActorKind.PERSON)


def tag_atlas(engine: Engine) -> dict[str, str]:
    """Give atlas its tags; the ids by name."""
    desk = Tags(engine, Session(engine.store_with_clock(ManualClock()), ADA)).open()
    desk.task("root", "coast")
    desk.task("walk", "coast", "north")
    desk.task("draw", "coast", "shore")
    desk.task("print", "north")
    desk.section("walk", "Notes", "coast", "a")
    desk.section("walk", "Tides", "coast", "shore")
    desk.section("draw", "Other", "north")
    return desk.ids


@pytest.fixture
def desk(engine: Engine, clock: ManualClock, request: pytest.FixtureRequest) -> Tags:
    """Ada at atlas, which has its tags already where the test asks for `tagged`."""
    if "tagged" not in request.fixturenames:
        return Tags(engine, Session(engine.store_with_clock(clock), ADA)).open()
    ids = filled_once(engine, tag_atlas)
    desk = Tags(engine, Session(engine.store_with_clock(clock), ADA))
    desk.ids |= ids
    return desk


@pytest.fixture
def tagged(desk: Tags) -> Tags:
    """Atlas: the project and two tasks on the coast, one of which is on the shore too, and two sections."""
    return desk


def events(engine: Engine, op: str) -> dict[str, list[Any]]:
    """What changed at the last revision of the project, by what was changed."""
    rows = engine.as_owner(
        f"SELECT subject, changes FROM events WHERE op = '{op}' AND rev = (SELECT max(rev) FROM events) ORDER BY n"
    )
    return {
        subject: [(one["field"], one["before"], one["after"]) for one in json.loads(changes)]
        for subject, changes in rows
    }


def test_everything_that_has_the_tag_gets_the_other_name(tagged: Tags) -> None:
    answer = tagged.rename("coast", " seaside ")

    assert told(answer) == {
        "oldTag": "coast",
        "newTag": "seaside",
        "dryRun": False,
        "projectId": tagged.ids["atlas"],
        "affected": 5,
        "entities": [
            {"id": tagged.ids["atlas"], "type": "PROJECT", "title": "atlas"},
            {"id": tagged.ids["walk"], "type": "TASK", "title": "walk"},
            {"id": tagged.ids["draw"], "type": "TASK", "title": "draw"},
            {"id": tagged.ids["Notes"], "type": "SECTION", "title": "Notes"},
            {"id": tagged.ids["Tides"], "type": "SECTION", "title": "Tides"},
        ],
    }
    assert tagged.counts() == {"seaside": 5, "north": 3, "shore": 2, "a": 1}
    assert tagged.tags_of("walk") == ["north", "seaside"]
    assert tagged.tags_of("Notes") == ["a", "seaside"]


def test_where_something_has_the_new_tag_already_the_two_become_one(tagged: Tags) -> None:
    assert tagged.rename("coast", "shore").affected == 5

    assert tagged.tags_of("draw") == ["shore"]
    assert tagged.tags_of("Tides") == ["shore"]
    assert tagged.counts() == {"shore": 5, "north": 3, "a": 1}


def test_what_is_touched_moves_on_by_one_version_and_nothing_else_does(tagged: Tags) -> None:
    names = ("root", "walk", "draw", "print", "Notes", "Tides", "Other")
    before = {name: tagged.version(name) for name in names}

    tagged.by(local_actor("ben")).rename("coast", "shore")

    for name in names:
        version, by = before[name]
        is_touched = name not in ("print", "Other")
        assert tagged.version(name) == ((version + 1, "ben") if is_touched else (version, by)), name


def test_the_history_tells_the_tags_before_and_after(engine: Engine, tagged: Tags) -> None:
    tagged.rename("coast", "shore")

    ids = tagged.ids
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


def test_a_dry_run_tells_what_would_be_done_and_does_nothing(engine: Engine, tagged: Tags) -> None:
    before = everything(engine)

    shown = tagged.rename("coast", "shore", dryRun=True)

    assert everything(engine) == before
    assert told(tagged.rename("coast", "shore")) == told(shown) | {"dryRun": False}


def test_a_tag_in_one_project_only_needs_no_project_to_be_named(tagged: Tags, other: Tags) -> None:
    other.task("fly", "sky")

    assert tagged.rename("sky", "air").project_id == other.ids["borealis"]
    assert other.tags_of("fly") == ["air"]


@pytest.mark.parametrize("dry", [False, True])
def test_a_tag_in_several_projects_is_refused_until_one_is_named(
    engine: Engine, tagged: Tags, other: Tags, dry: bool
) -> None:
    other.task("fly", "coast")
    before = everything(engine)

    error = refused(lambda: tagged.rename("coast", "shore", dryRun=dry))
    assert isinstance(error, Invalid)
    assert (error.code, error.details["field"]) == ("mixed_projects", "projectId")
    assert sorted(error.details["projects"]) == sorted([tagged.ids["atlas"], other.ids["borealis"]])
    assert everything(engine) == before

    for project in ("borealis", tagged.ids["atlas"]):
        tagged.rename("coast", "shore", projectId=project, dryRun=dry)
    assert (other.tags_of("fly"), tagged.tags_of("draw")) == (
        (["coast"], ["coast", "shore"]) if dry else (["shore"], ["shore"])
    )


def test_a_tag_that_nothing_has_is_not_found(engine: Engine, tagged: Tags, subtests: pytest.Subtests) -> None:
    before = everything(engine)
    wheres: tuple[dict[str, str], ...] = ({}, {"projectId": "atlas"})

    for (tag, near), dry, where in product((("Coast", ["coast"]), ("zzz", [])), (False, True), wheres):
        with subtests.test(tag, dry=dry, where=where):
            error = refused(partial(tagged.rename, tag, "shore", dryRun=dry, **where))
            assert isinstance(error, NotFound)
            assert (error.details["field"], error.details.get("near", [])) == ("oldTag", near)
            assert everything(engine) == before


def test_a_name_that_cannot_be_a_tag_is_refused(engine: Engine, tagged: Tags, subtests: pytest.Subtests) -> None:
    before = everything(engine)

    for new, dry in product(("", "  ", "x" * 101, "a,b", "coast", " coast "), (False, True)):
        with subtests.test(new, dry=dry):
            error = refused(partial(tagged.rename, "coast", new, dryRun=dry))

            assert isinstance(error, Invalid)
            assert error.details["field"] == "newTag"
            assert everything(engine) == before


def test_a_tag_may_change_its_case_and_be_as_long_as_any(tagged: Tags) -> None:
    tagged.rename("coast", "Coast")
    tagged.rename("Coast", "ä" * 100)

    assert tagged.counts()["ä" * 100] == 5


def test_an_archived_project_is_not_renamed_in(engine: Engine, tagged: Tags, other: Tags) -> None:
    other.task("fly", "coast", "sky")
    tagged.session.call("project.archive", project="borealis")

    for given in ({"old": "sky"}, {"old": "coast", "projectId": "borealis"}):
        before = everything(engine)
        error = refused(partial(tagged.rename, new="air", **given))
        assert (error.code, error.details["project"]) == ("project_archived", other.ids["borealis"])
        assert everything(engine) == before

    assert tagged.rename("coast", "shore").project_id == tagged.ids["atlas"]
    assert other.tags_of("fly") == ["coast", "sky"]


def test_the_same_op_id_gives_the_same_answer_whatever_happened_to_the_tag_since(
    engine: Engine, tagged: Tags, other: Tags, clock: ManualClock
) -> None:
    first = tagged.rename("coast", "shore", op_id="once")
    before = everything(engine)
    clock.move(hours=1)
    assert tagged.rename("coast", "shore", op_id="once") == first
    assert everything(engine) == before

    tagged.task("print", "coast")
    other.task("fly", "coast")
    before = everything(engine)
    assert tagged.rename("coast", "shore", op_id="once") == first
    assert everything(engine) == before

    assert refused(lambda: tagged.rename("coast", "beach", op_id="once")).code == "op_id_reused"
    assert refused(lambda: tagged.rename("coast", "shore", projectId="atlas", op_id="once")).code == "op_id_reused"
    assert everything(engine) == before


def test_a_dry_run_leaves_its_op_id_unused(tagged: Tags) -> None:
    tagged.rename("coast", "shore", dryRun=True, op_id="once")

    assert tagged.rename("coast", "shore", op_id="once").affected == 5


def test_an_answer_names_a_hundred_and_fits_while_all_are_renamed(desk: Tags) -> None:
    desk.crowd(103, "coast")

    assert len(desk.rename("coast", "shore", dryRun=True).entities) == 100
    answer = desk.capped(CAP).rename("coast", "shore")

    assert count_tokens(encode({"success": True, "data": answer})) <= CAP
    assert (answer.affected, len(answer.entities) + answer.left_out["entities"]) == (103, 103)
    assert desk.counts() == {"shore": 103}


def test_two_who_rename_the_same_tag_at_once_rename_it_once(engine: Engine, tagged: Tags) -> None:
    agents = [Tags(engine, Session(engine.another_store(), local_actor(f"agent {n}"))) for n in range(4)]

    answers = at_once([partial(one.rename, "coast", f"new {n}") for n, one in enumerate(agents)])

    assert sorted(getattr(one, "code", "renamed") for one in answers) == [*["not_found"] * 3, "renamed"]
    (renamed,) = (one for one in answers if not isinstance(one, Exception))
    assert tagged.counts()[renamed.new_tag] == 5
