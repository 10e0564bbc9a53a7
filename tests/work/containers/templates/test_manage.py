"""Templates are created, updated, disabled, enabled and deleted; the organization's history records all of it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from groundplan.kernel.errors import Conflict, Invalid, NotFound, RuleViolated
from groundplan.work.containers import templates
from groundplan.work.containers.built_in_templates import TASK
from tests.answers import to_json
from tests.engines import Engine, person
from tests.errors import error_of
from tests.manual_clock import ManualClock
from tests.work.cases import try_each
from tests.work.containers.templates.client import NOWHERE, TemplatesClient
from tests.work.containers.templates.rows import all_rows, events

CHANGES: dict[str, Callable[..., Any]] = {
    "update": lambda client, name, **given: client.update(name, description="new", **given),
    "delete": lambda client, name, **given: client.delete(name, **given),
    "enable": lambda client, name, **given: client.enable(name, **given),
    "disable": lambda client, name, **given: client.disable(name, **given),
    "add a section": lambda client, name, **given: client.add(name, "More", **given),
}
every_change = pytest.mark.parametrize("change", CHANGES)


def test_a_new_template_is_enabled_its_makers_own_and_told_as_it_is_kept(client: TemplatesClient) -> None:
    made = client.create(" Release ", target="FEATURE", description="Before we ship", tags="ship, docs,ship")

    assert to_json(made) == {
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
    assert client.get("Release") == made


def test_a_template_is_what_its_maker_says_it_is(client: TemplatesClient) -> None:
    made = client.create("House rules", isBuiltIn=True, isProtected=True, createdBy="the architects")

    assert (made.is_built_in, made.is_protected, made.created_by) == (True, True, "the architects")


def test_an_update_changes_what_it_names_and_nothing_else(client: TemplatesClient, clock: ManualClock) -> None:
    before = to_json(client.create("Release", target="FEATURE", description="Before we ship", tags=["ship"]))
    clock.move(hours=1)

    after = client.update("Release", name="Shipping", tags=[], targetEntityType="PROJECT")

    expected = {"name": "Shipping", "tags": [], "targetEntityType": "PROJECT", "modifiedAt": "2026-03-01T10:00:00.000Z"}
    assert to_json(after) == before | expected
    assert client.get(after.id) == after


def test_an_update_that_changes_nothing_is_no_event(
    engine: Engine, client: TemplatesClient, clock: ManualClock
) -> None:
    made = client.create("Release", tags=["a", "b"])
    before = all_rows(engine)
    clock.move(hours=1)

    assert client.update("Release", name="Release", tags="b,a") == made
    assert client.enable("Release") == made
    assert client.update("Release") == made
    assert all_rows(engine) == before


def test_a_template_is_switched_off_and_on(client: TemplatesClient) -> None:
    client.create("Release")

    assert not client.disable("Release").is_enabled
    assert not client.get("Release").is_enabled
    assert client.enable("Release").is_enabled


def test_a_deleted_template_is_gone_with_its_sections_and_its_name_is_free(
    engine: Engine, client: TemplatesClient
) -> None:
    gone = client.create("Release").id
    client.add("Release", "Notes")
    client.add("Release", "Checks")

    assert to_json(client.delete("Release")) == {"deleted": gone, "deletedSections": 2}

    assert isinstance(error_of(lambda: client.get(gone)), NotFound)
    assert engine.as_owner("SELECT count(*) FROM work_template_sections") == [(0,)]
    assert client.create("Release").id != gone


@pytest.mark.parametrize("name", ["Release", "  Release", TASK.name])
def test_a_name_is_taken_once_in_the_organization(engine: Engine, client: TemplatesClient, name: str) -> None:
    client.create("Release")
    client.create("Other")
    before = all_rows(engine)

    for attempt in (lambda: client.create(name), lambda: client.update("Other", name=name)):
        error = error_of(attempt)
        assert isinstance(error, Conflict)
        assert (error.code, error.details["id"]) == ("template_exists", client[name.strip()])
    assert all_rows(engine) == before


def test_two_organizations_may_use_the_same_name(engine: Engine, client: TemplatesClient) -> None:
    engine.create_organization("rival", "mallory")
    client.create("Release")
    mallory = TemplatesClient(client.by(person("mallory", organization="rival")).session)
    mallory.create("Release")

    assert mallory["Release"] != client["Release"]
    assert mallory.own_names() == client.own_names() == ["Release"]


@every_change
def test_a_protected_template_can_only_be_unprotected(engine: Engine, client: TemplatesClient, change: str) -> None:
    client.create("Release", isProtected=True)
    before = all_rows(engine)

    error = error_of(lambda: CHANGES[change](client, "Release"))
    assert isinstance(error, RuleViolated)
    assert (error.code, error.contract_code) == ("template_protected", "INVALID_OPERATION")
    assert error_of(lambda: client.update("Release", isProtected=False, name="x")).code == "template_protected"
    assert all_rows(engine) == before

    assert not client.update("Release", isProtected=False).is_protected
    CHANGES[change](client, "Release")


@try_each("change", CHANGES)
def test_what_comes_with_groundplan_never_changes(engine: Engine, client: TemplatesClient, change: str) -> None:
    before = all_rows(engine), to_json(client.get(TASK.name, includeSections=True))

    for attempt in (lambda: CHANGES[change](client, TASK.name), lambda: client.update(TASK.name, isProtected=False)):
        error = error_of(attempt)
        assert isinstance(error, RuleViolated)
        assert (error.code, error.contract_code) == ("template_built_in", "INVALID_OPERATION")
    assert (all_rows(engine), to_json(client.get(TASK.name, includeSections=True))) == before


@try_each(("change", "ref"), [*product(CHANGES, [NOWHERE, "Releese", "x" * 255, "'"])])
def test_an_unknown_template_is_not_found_and_a_near_name_leads_to_its_id(
    engine: Engine, release_template: TemplatesClient, change: str, ref: str
) -> None:
    before = all_rows(engine)

    error = error_of(lambda: CHANGES[change](release_template, ref))

    assert isinstance(error, NotFound)
    assert error.details["field"] == "id"
    assert error.details.get("near", []) == ([release_template["Release"]] if ref == "Releese" else [])
    assert all_rows(engine) == before


def test_an_id_may_be_written_without_dashes(client: TemplatesClient) -> None:
    made = client.create("Release")

    assert client.get(made.id.replace("-", "").upper()) == made
    assert client.get(TASK.id.replace("-", "")).name == TASK.name


@try_each(
    ("given", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 256}, "name"),
        ({"name": "two\nlines"}, "name"),
        ({"description": "ä" * 2049}, "description"),
        ({"targetEntityType": "TASKS"}, "targetEntityType"),
        ({"targetEntityType": "SECTION"}, "targetEntityType"),
        ({"tags": [str(n) for n in range(51)]}, "tags"),
        ({"tags": ["x" * 101]}, "tags"),
        ({"tags": '["a"'}, "tags"),
        ({"isProtected": "perhaps"}, "isProtected"),
        ({"version": 1}, "version"),
    ],
)
def test_bad_input_is_refused_with_its_field_and_nothing_is_written(
    engine: Engine, release_template: TemplatesClient, given: dict[str, Any], field: str
) -> None:
    before = all_rows(engine)

    arguments = {"name": "Other", "targetEntityType": "TASK"} | given
    for attempt in (
        lambda: release_template.run(templates.CREATE, **arguments),
        lambda: release_template.update("Release", **given),
    ):
        error = error_of(attempt)
        assert isinstance(error, Invalid)
        assert error.details["field"] == field
    assert all_rows(engine) == before


@pytest.mark.parametrize("lacking", ["name", "targetEntityType"])
def test_a_template_needs_a_name_and_a_target(client: TemplatesClient, lacking: str) -> None:
    arguments = {"name": "Release", "targetEntityType": "TASK"}
    del arguments[lacking]

    error = error_of(lambda: client.run(templates.CREATE, **arguments))
    assert (error.code, error.details["field"]) == ("missing_argument", lacking)


def test_the_longest_that_is_allowed_is_kept_whole(client: TemplatesClient) -> None:
    client.create("ä" * 255, description="ä" * 2048, tags=[f"{n:ä>100}" for n in range(50)])

    kept = client.get("ä" * 255)
    assert (len(kept.name), len(kept.description), len(kept.tags)) == (255, 2048, 50)


def test_the_history_of_the_organization_tells_enough_to_rebuild_a_template(
    engine: Engine, client: TemplatesClient
) -> None:
    made = client.create("Release", target="FEATURE", description="Before we ship", tags=["ship"])
    added = client.add("Release", "Notes", contentSample="- ", isRequired=True)
    client.update("Release", description="")
    client.disable("Release")
    client.delete("Release")

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
