"""Templates are made, changed, switched off and on, and deleted; the organization's history tells all of it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from groundplan.kernel.errors import Conflict, Invalid, NotFound, RuleViolated
from groundplan.work.containers.templates import create
from groundplan.work.containers.templates.built_in import TASK
from tests.engines import Engine, person
from tests.work.cases import try_each
from tests.work.containers.templates.desk import NOWHERE, Templates, told
from tests.work.containers.templates.rows import events, everything
from tests.work.desk import ManualClock, refused

CHANGES: dict[str, Callable[..., Any]] = {
    "update": lambda desk, name, **given: desk.update(name, description="new", **given),
    "delete": lambda desk, name, **given: desk.delete(name, **given),
    "enable": lambda desk, name, **given: desk.enable(name, **given),
    "disable": lambda desk, name, **given: desk.disable(name, **given),
    "add a section": lambda desk, name, **given: desk.add(name, "More", **given),
}
every_change = pytest.mark.parametrize("change", CHANGES)


def test_a_new_template_is_enabled_its_makers_own_and_told_as_it_is_kept(desk: Templates) -> None:
    made = desk.create(" Release ", target="FEATURE", description="Before we ship", tags="ship, docs,ship")

    assert told(made) == {
        "id": made.id,
        "name": "Release",
        "description": "Before we ship",
        "targetEntityType": "FEATURE",
        "tags": ["docs", "ship"],
        "isBuiltIn": False,
        "isProtected": False,
        "isEnabled": True,
        "createdBy": "ada",
        "createdAt": "2026-03-01T09:00:00.000Z",
        "modifiedAt": "2026-03-01T09:00:00.000Z",
    }
    assert desk.get("Release") == made


def test_a_template_is_what_its_maker_says_it_is(desk: Templates) -> None:
    made = desk.create("House rules", isBuiltIn=True, isProtected=True, createdBy="the architects")

    assert (made.is_built_in, made.is_protected, made.created_by) == (True, True, "the architects")


def test_an_update_changes_what_it_names_and_nothing_else(desk: Templates, clock: ManualClock) -> None:
    before = told(desk.create("Release", target="FEATURE", description="Before we ship", tags=["ship"]))
    clock.move(hours=1)

    after = desk.update("Release", name="Shipping", tags=[], targetEntityType="PROJECT")

    expected = {"name": "Shipping", "tags": [], "targetEntityType": "PROJECT", "modifiedAt": "2026-03-01T10:00:00.000Z"}
    assert told(after) == before | expected
    assert desk.get(after.id) == after


def test_an_update_that_changes_nothing_is_no_event(engine: Engine, desk: Templates, clock: ManualClock) -> None:
    made = desk.create("Release", tags=["a", "b"])
    before = everything(engine)
    clock.move(hours=1)

    assert desk.update("Release", name="Release", tags="b,a") == made
    assert desk.enable("Release") == made
    assert desk.update("Release") == made
    assert everything(engine) == before


def test_a_template_is_switched_off_and_on(desk: Templates) -> None:
    desk.create("Release")

    assert not desk.disable("Release").is_enabled
    assert not desk.get("Release").is_enabled
    assert desk.enable("Release").is_enabled


def test_a_deleted_template_is_gone_with_its_sections_and_its_name_is_free(engine: Engine, desk: Templates) -> None:
    gone = desk.create("Release").id
    desk.add("Release", "Notes")
    desk.add("Release", "Checks")

    assert told(desk.delete("Release")) == {"deleted": gone, "deletedSections": 2}

    assert isinstance(refused(lambda: desk.get(gone)), NotFound)
    assert engine.as_owner("SELECT count(*) FROM work_template_sections") == [(0,)]
    assert desk.create("Release").id != gone


@pytest.mark.parametrize("name", ["Release", "  Release", TASK.name])
def test_a_name_is_taken_once_in_the_organization(engine: Engine, desk: Templates, name: str) -> None:
    desk.create("Release")
    desk.create("Other")
    before = everything(engine)

    for attempt in (lambda: desk.create(name), lambda: desk.update("Other", name=name)):
        error = refused(attempt)
        assert isinstance(error, Conflict)
        assert (error.code, error.details["id"]) == ("template_exists", desk[name.strip()])
    assert everything(engine) == before


def test_two_organizations_may_use_the_same_name(engine: Engine, desk: Templates) -> None:
    engine.found_organization("rival", "mallory")
    desk.create("Release")
    mallory = Templates(desk.by(person("mallory", organization="rival")).session)
    mallory.create("Release")

    assert mallory["Release"] != desk["Release"]
    assert mallory.own() == desk.own() == ["Release"]


@every_change
def test_a_protected_template_can_only_be_unprotected(engine: Engine, desk: Templates, change: str) -> None:
    desk.create("Release", isProtected=True)
    before = everything(engine)

    error = refused(lambda: CHANGES[change](desk, "Release"))
    assert isinstance(error, RuleViolated)
    assert (error.code, error.contract_code) == ("template_protected", "INVALID_OPERATION")
    assert refused(lambda: desk.update("Release", isProtected=False, name="x")).code == "template_protected"
    assert everything(engine) == before

    assert not desk.update("Release", isProtected=False).is_protected
    CHANGES[change](desk, "Release")


@try_each("change", CHANGES)
def test_what_comes_with_groundplan_never_changes(engine: Engine, desk: Templates, change: str) -> None:
    before = everything(engine), told(desk.get(TASK.name, includeSections=True))

    for attempt in (lambda: CHANGES[change](desk, TASK.name), lambda: desk.update(TASK.name, isProtected=False)):
        error = refused(attempt)
        assert isinstance(error, RuleViolated)
        assert (error.code, error.contract_code) == ("template_built_in", "INVALID_OPERATION")
    assert (everything(engine), told(desk.get(TASK.name, includeSections=True))) == before


@try_each(("change", "ref"), [*product(CHANGES, [NOWHERE, "Releese", "x" * 255, "'"])])
def test_an_unknown_template_is_not_found_and_a_near_name_leads_to_its_id(
    engine: Engine, release: Templates, change: str, ref: str
) -> None:
    before = everything(engine)

    error = refused(lambda: CHANGES[change](release, ref))

    assert isinstance(error, NotFound)
    assert error.details["field"] == "id"
    assert error.details.get("near", []) == ([release["Release"]] if ref == "Releese" else [])
    assert everything(engine) == before


def test_an_id_may_be_written_without_dashes(desk: Templates) -> None:
    made = desk.create("Release")

    assert desk.get(made.id.replace("-", "").upper()) == made
    assert desk.get(TASK.id.replace("-", "")).name == TASK.name


@try_each(
    ("given", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 256}, "name"),
        ({"name": "two\nlines"}, "name"),
        ({"description": "ä" * 2049}, "description"),
        ({"targetEntityType": "task"}, "targetEntityType"),
        ({"targetEntityType": "SECTION"}, "targetEntityType"),
        ({"tags": [str(n) for n in range(51)]}, "tags"),
        ({"tags": ["x" * 101]}, "tags"),
        ({"tags": '["a"'}, "tags"),
        ({"isProtected": "perhaps"}, "isProtected"),
        ({"version": 1}, "version"),
    ],
)
def test_bad_input_is_refused_with_its_field_and_nothing_is_written(
    engine: Engine, release: Templates, given: dict[str, Any], field: str
) -> None:
    before = everything(engine)

    arguments = {"name": "Other", "targetEntityType": "TASK"} | given
    for attempt in (lambda: release.run(create.OPERATION, **arguments), lambda: release.update("Release", **given)):
        error = refused(attempt)
        assert isinstance(error, Invalid)
        assert error.details["field"] == field
    assert everything(engine) == before


@pytest.mark.parametrize("lacking", ["name", "targetEntityType"])
def test_a_template_needs_a_name_and_a_target(desk: Templates, lacking: str) -> None:
    arguments = {"name": "Release", "targetEntityType": "TASK"}
    del arguments[lacking]

    error = refused(lambda: desk.run(create.OPERATION, **arguments))
    assert (error.code, error.details["field"]) == ("missing_argument", lacking)


def test_the_longest_that_is_allowed_is_kept_whole(desk: Templates) -> None:
    desk.create("ä" * 255, description="ä" * 2048, tags=[f"{n:ä>100}" for n in range(50)])

    kept = desk.get("ä" * 255)
    assert (len(kept.name), len(kept.description), len(kept.tags)) == (255, 2048, 50)


def test_the_history_of_the_organization_tells_enough_to_rebuild_a_template(engine: Engine, desk: Templates) -> None:
    made = desk.create("Release", target="FEATURE", description="Before we ship", tags=["ship"])
    added = desk.add("Release", "Notes", contentSample="- ", isRequired=True)
    desk.update("Release", description="")
    desk.disable("Release")
    desk.delete("Release")

    section = {
        "ordinal": 0,
        "title": "Notes",
        "usage_description": "",
        "content_sample": "- ",
        "content_format": "MARKDOWN",
        "is_required": True,
        "tags": [],
    }
    fields = {
        "name": "Release",
        "description": "Before we ship",
        "target_entity_type": "FEATURE",
        "tags": ["ship"],
        "is_built_in": False,
        "is_protected": False,
        "is_enabled": True,
        "created_by": "ada",
    }
    last = fields | {"description": "", "is_enabled": False}
    assert events(engine) == [
        ("template.created", made.id, {name: (None, value) for name, value in fields.items()}),
        ("template.updated", made.id, {f"sections.{added.id}": (None, section)}),
        ("template.updated", made.id, {"description": ("Before we ship", "")}),
        ("template.updated", made.id, {"is_enabled": (True, False)}),
        (
            "template.deleted",
            made.id,
            {**{name: (value, None) for name, value in last.items()}, f"sections.{added.id}": (section, None)},
        ),
    ]
