"""Applying a template appends its sections to those of a container."""

from __future__ import annotations

import json
from typing import Any

import pytest

from groundplan.kernel.access import Permission
from groundplan.kernel.actors import local_actor
from groundplan.kernel.answers import count_tokens, encode
from groundplan.kernel.errors import Forbidden, GroundplanError, NotFound, RuleViolated
from groundplan.kernel.store.authorize import authorize_project
from groundplan.work.containers.built_in_templates import BUILT_IN, FEATURE, TASK
from groundplan.work.containers.fields import EntityType
from groundplan.work.containers.sections.section import Section, load_sections
from groundplan.work.containers.templates import Template
from groundplan.work.nodes import fetch_node
from tests.answers import to_json
from tests.engines import Engine, person
from tests.errors import error_of
from tests.manual_clock import ManualClock
from tests.work.cases import try_each
from tests.work.containers.templates.client import NOWHERE, TemplatesClient

CAP = 6_000


@pytest.fixture
def task(client: TemplatesClient) -> str:
    """A task of Ada's project atlas, where Ben edits and Cleo views. The graph dialect made it, so it has no kind."""
    client.session.call("project.create", name="atlas")
    for name, role in {"ben": "editor", "cleo": "viewer"}.items():
        client.session.call("member.add", scopeId="atlas", userId=name, role=role)
    nodes = [{"ref": "walk", "summary": "Walk the coast"}]
    made: str = client.session.call("work.plan", project="atlas", nodes=nodes).created[0].id
    return made


def sections_of(engine: Engine, n: int) -> list[Section]:
    """Return the sections of a container by its number; 1 is the project itself."""

    def read(tx: Any) -> list[Section]:
        tx.set_project(authorize_project(tx, "atlas", Permission.WORK_READ))
        return load_sections(tx, fetch_node(tx, n))

    return engine.store.read(local_actor("ada"), read)


def rows(engine: Engine) -> list[Any]:
    """Return all rows of the project that applying could change."""
    tables = ("work_sections", "work_section_tags", "work_nodes", "events", "projects")
    return [engine.as_owner(f"SELECT * FROM {table} ORDER BY 1, 2, 3, 4") for table in tables]


def test_a_task_gets_the_sections_of_the_template_in_their_order(
    engine: Engine, client: TemplatesClient, task: str
) -> None:
    client.create("Release")
    client.add("Release", "Checks", ordinal=7, contentFormat="JSON", contentSample='{"done": []}', tags="b,a")
    client.add("Release", "Notes", ordinal=3, usageDescription="For readers", contentSample="- ")

    applied = client.apply("Release", to=task)

    there = sections_of(engine, 2)
    assert to_json(applied) == {
        "templateId": client["Release"],
        "entityType": "TASK",
        "entityId": task,
        "sections": [{"id": one.id, "title": one.title, "ordinal": one.ordinal, "version": 1} for one in there],
    }
    assert [(one.title, one.ordinal, one.usage_description, one.content) for one in there] == [
        ("Notes", 0, "For readers", "- "),
        ("Checks", 1, "", '{"done": []}'),
    ]
    assert [(one.content_format, one.tags) for one in there] == [("MARKDOWN", []), ("JSON", ["a", "b"])]


def test_a_template_applied_twice_gives_its_sections_twice_behind_those_that_are_there(
    engine: Engine, client: TemplatesClient, task: str
) -> None:
    client.apply(TASK.name, to=task)
    client.apply(TASK.name, to=task)

    titles = [one.title for one in TASK.sections or ()]
    assert [one.title for one in sections_of(engine, 2)] == titles * 2
    assert [one.ordinal for one in sections_of(engine, 2)] == list(range(len(titles) * 2))


@pytest.mark.parametrize("template", BUILT_IN.values(), ids=lambda template: template.name)
def test_a_built_in_template_writes_no_placeholder(
    engine: Engine, client: TemplatesClient, task: str, template: Template
) -> None:
    if template.target_entity_type is not EntityType.TASK:
        task = client.session.call(
            "container.create", containerType="feature", name="Maps", projectId="atlas"
        ).feature.id
    client.apply(template.name, to=task, type=template.target_entity_type)

    contents = engine.as_owner("SELECT content, usage_description FROM work_sections")
    assert all(usage for _, usage in contents)
    for content, _ in contents:  # nothing, or a list to tick
        assert all(line.startswith("- [ ] ") and "…" not in line for line in content.splitlines())


def test_a_project_is_a_container_too(engine: Engine, client: TemplatesClient, task: str) -> None:
    client.create("Charter", target="PROJECT")
    client.add("Charter", "Why")

    applied = client.apply("Charter", to="atlas", type="PROJECT")

    (project_id,) = engine.as_owner("SELECT id FROM projects")[0]
    assert applied.entity_id == project_id
    assert [one.title for one in sections_of(engine, 1)] == ["Why"]


def test_what_was_applied_stays_when_the_template_changes_or_goes(
    engine: Engine, client: TemplatesClient, task: str
) -> None:
    client.create("Release")
    client.add("Release", "Notes")
    client.apply("Release", to=task)

    client.add("Release", "More")
    client.delete("Release")

    assert [one.title for one in sections_of(engine, 2)] == ["Notes"]


def test_the_history_of_the_task_tells_what_it_got(engine: Engine, client: TemplatesClient, task: str) -> None:
    client.apply(TASK.name, to=task)

    [(subject, changes)] = engine.as_owner("SELECT subject, changes FROM events WHERE op = 'work.section_added'")
    assert subject == task
    assert [one["after"]["title"] for one in json.loads(changes)] == [one.title for one in TASK.sections or ()]


@pytest.fixture
def disabled_template(client: TemplatesClient) -> TemplatesClient:
    """The client; the template Off is disabled."""
    client.create("Off")
    client.add("Off", "Notes")
    client.disable("Off")
    return client


@try_each(
    ("template", "given", "family", "code", "field"),
    [
        ("Off", {}, RuleViolated, "template_disabled", "templateId"),
        (FEATURE.name, {}, RuleViolated, "template_for_other_type", "templateId"),
        (TASK.name, {"type": "PROJECT", "to": "atlas"}, RuleViolated, "template_for_other_type", "templateId"),
        (NOWHERE, {}, NotFound, "not_found", "templateId"),
        (FEATURE.name, {"type": "FEATURE"}, NotFound, "not_found", "entityId"),
        (TASK.name, {"type": "EPIC"}, GroundplanError, "invalid_argument", "entityType"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_written(
    engine: Engine,
    disabled_template: TemplatesClient,
    task: str,
    template: str,
    given: dict[str, str],
    family: type[GroundplanError],
    code: str,
    field: str,
) -> None:
    before = rows(engine)

    error = error_of(lambda: disabled_template.apply(template, **{"to": task} | given))

    assert isinstance(error, family)
    assert (error.code, error.details["field"]) == (code, field)
    if family is RuleViolated:
        assert error.contract_code == "INVALID_OPERATION"
    assert rows(engine) == before


def test_a_template_without_sections_changes_nothing(engine: Engine, client: TemplatesClient, task: str) -> None:
    client.create("Empty")
    before = rows(engine)

    assert client.apply("Empty", to=task).sections == []
    assert rows(engine) == before


def test_an_editor_may_apply_and_a_viewer_may_not(engine: Engine, client: TemplatesClient, task: str) -> None:
    client.by(person("ben")).apply(TASK.name, to=task)
    before = rows(engine)

    assert isinstance(error_of(lambda: client.by(person("cleo")).apply(TASK.name, to=task)), Forbidden)
    assert rows(engine) == before


def test_a_stranger_cannot_tell_a_hidden_task_from_one_that_is_missing(client: TemplatesClient, task: str) -> None:
    client.by(person("ada")).session.call("project.create", name="finn's own")
    client.by(person("ada")).session.call("member.add", scopeId="finn's own", userId="finn", role="owner")
    finn = client.by(person("finn"))

    def answer(id_: str) -> bytes:
        return encode(error_of(lambda: finn.apply(TASK.name, to=id_)).to_dict()).replace(id_.encode(), b"...")

    assert answer(task) == answer("qqqq00")


def test_the_same_op_id_gives_the_sections_once(
    engine: Engine, client: TemplatesClient, clock: ManualClock, task: str
) -> None:
    client.create("Release")
    client.add("Release", "Notes")
    first = client.apply("Release", to=task, op_id="once")
    client.delete("Release")
    before = rows(engine)
    clock.move(hours=1)

    assert client.apply("Release", to=task, op_id="once") == first
    assert rows(engine) == before


def test_an_archived_project_gets_no_sections(engine: Engine, client: TemplatesClient, task: str) -> None:
    client.session.call("project.archive", project="atlas")
    before = rows(engine)

    assert error_of(lambda: client.apply(TASK.name, to=task)).code == "project_archived"
    assert rows(engine) == before


def test_the_longest_template_is_applied_and_told_within_the_cap(
    engine: Engine, client: TemplatesClient, task: str
) -> None:
    client.create("Long")
    for n in range(50):
        client.add("Long", f"{n:x>255}", contentSample="s" * 1_000)

    applied = client.with_cap(CAP).apply("Long", to=task)

    assert count_tokens(encode({"success": True, "data": applied})) <= CAP
    assert len(applied.sections) == len(sections_of(engine, 2)) == 50

    shortened = client.with_cap(CAP // 2).apply("Long", to=task)
    assert count_tokens(encode({"success": True, "data": shortened})) <= CAP // 2
    assert len(shortened.sections) + shortened.left_out["sections"] == 50
    assert len(sections_of(engine, 2)) == 100
