"""Tags belong to projects: who may not see a project learns nothing of its tags, and who only views it renames none."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from groundplan.kernel.errors import Forbidden, NotFound, Unauthenticated
from groundplan.kernel.output_gate import encode
from groundplan.session import Session
from groundplan.work.containers.tags import list as listing
from tests.engines import Engine, PostgresEngine, person
from tests.work.cases import try_each
from tests.work.containers.tags.desk import Tags, everything
from tests.work.desk import refused


@pytest.fixture
def peopled(engine: Engine, desk: Tags, other: Tags) -> Tags:
    """Atlas, with a canary, in which Ben edits and Cleo views; borealis, in which Finn edits; Mallory is next door."""
    for name, role in {"ben": "editor", "cleo": "viewer"}.items():
        desk.session.call("member.add", scopeId="atlas", userId=name, role=role)
    desk.session.call("member.add", scopeId="borealis", userId="finn", role="editor")
    desk.task("walk", "canary", "shared")
    desk.section("walk", "Notes", "canary")
    other.task("fly", "shared")
    engine.found_organization("rival", "mallory")
    return desk


def test_a_viewer_sees_tags_and_what_renaming_would_do_but_renames_none(engine: Engine, peopled: Tags) -> None:
    cleo = peopled.by(person("cleo"))
    before = everything(engine)

    assert cleo.counts() == cleo.counts(projectId="atlas") == {"canary": 2, "shared": 1}
    assert cleo.usage("canary") == [("TASK", "walk"), ("SECTION", "Notes")]
    assert cleo.rename("canary", "bird", dryRun=True).affected == 2
    for given in ({}, {"projectId": "atlas"}):
        assert isinstance(refused(partial(cleo.rename, "canary", "bird", **given)), Forbidden)
    assert everything(engine) == before


def test_an_editor_renames_what_they_see_and_need_not_say_where(peopled: Tags, other: Tags) -> None:
    assert peopled.by(person("ben")).rename("shared", "mine").project_id == peopled.ids["atlas"]

    assert peopled.tags_of("walk") == ["canary", "mine"]
    assert peopled.counts(projectId="borealis") == {"shared": 1}


def test_a_stranger_to_a_project_sees_none_of_its_tags(peopled: Tags) -> None:
    finn = peopled.by(person("finn"))

    assert finn.counts() == {"shared": 1}
    assert [one for one in finn.usage("shared") if one[1] == "walk"] == []


@try_each("who", [person("finn"), person("mallory", organization="rival")])
def test_the_canary_reads_like_a_tag_that_is_nowhere(peopled: Tags, who: Any) -> None:
    stranger = peopled.by(who)

    def answers(tag: str) -> list[bytes]:
        calls = (
            lambda: stranger.usage(tag),
            lambda: stranger.rename(tag, "bird"),
            lambda: stranger.rename(tag, "bird", dryRun=True),
        )
        found = [refused(call) for call in calls]
        assert all(isinstance(one, NotFound) and "near" not in one.details for one in found)
        return [encode(one.body()).replace(tag.encode(), b"...") for one in found]

    assert answers("canary") == answers("cuckoo")


@try_each("who", [person("finn"), person("mallory", organization="rival"), person("nobody")])
def test_a_hidden_project_reads_like_one_that_is_not_there(peopled: Tags, who: Any) -> None:
    stranger = peopled.by(who)

    def answers(project: str) -> list[bytes]:
        calls = (
            lambda: stranger.counts(projectId=project),
            lambda: stranger.usage("canary", projectId=project),
            lambda: stranger.rename("canary", "bird", projectId=project),
            lambda: stranger.rename("canary", "bird", projectId=project, dryRun=True),
        )
        return [encode(refused(call).body()).replace(project.encode(), b"...") for call in calls]

    assert answers("atlas") == answers("sumac")


def test_who_is_of_no_organization_is_told_so_and_nobody_is_asked_who_they_are(peopled: Tags) -> None:
    stranger = peopled.by(person("nobody of this name"))
    assert refused(stranger.counts).details["thing"] == "organization"
    assert refused(lambda: stranger.usage("canary")).details["thing"] == "organization"
    assert isinstance(refused(lambda: stranger.rename("canary", "bird")), NotFound)

    anonymous = Tags(peopled.engine, Session(peopled.session.store, None))
    for call in (anonymous.counts, lambda: anonymous.usage("canary"), lambda: anonymous.rename("canary", "bird")):
        assert isinstance(refused(call), Unauthenticated)


def test_the_database_itself_hides_tags_from_strangers(team: PostgresEngine) -> None:
    desk = Tags(team, team.session("ada")).open()
    desk.task("walk", "canary")
    desk.section("walk", "Notes", "canary")
    team.found_organization("rival", "mallory")

    for stranger in (person("mallory", organization="rival"), person("nobody of this name"), None):
        for table in ("work_node_tags", "work_section_tags"):
            assert team.as_app(stranger, f"SELECT count(*) FROM {table}") == [(0,)]
            assert team.as_app(stranger, f"DELETE FROM {table} RETURNING 1") == []
    assert desk.run(listing.OPERATION).tags[0].count == 2
