"""Access to tags: who cannot see a project learns nothing of its tags, and a viewer renames none."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from groundplan.kernel.answers import encode
from groundplan.kernel.errors import Forbidden, NotFound, Unauthenticated
from groundplan.session import Session
from groundplan.work.containers import tags as listing
from tests.engines import Engine, PostgresEngine, person
from tests.errors import error_of
from tests.work.cases import try_each
from tests.work.containers.tags.client import TagsClient, all_rows


@pytest.fixture
def project_with_members(engine: Engine, client: TagsClient, other_project: TagsClient) -> TagsClient:
    """Atlas with a tag (Ben edits, Cleo views), borealis (Finn edits), and Mallory's organization."""
    for name, role in {"ben": "editor", "cleo": "viewer"}.items():
        client.session.call("member.add", scopeId="atlas", userId=name, role=role)
    client.session.call("member.add", scopeId="borealis", userId="finn", role="editor")
    client.task("walk", "canary", "shared")
    client.section("walk", "Notes", "canary")
    other_project.task("fly", "shared")
    engine.create_organization("rival", "mallory")
    return client


def test_a_viewer_sees_tags_and_what_renaming_would_do_but_renames_none(
    engine: Engine, project_with_members: TagsClient
) -> None:
    cleo = project_with_members.by(person("cleo"))
    before = all_rows(engine)

    assert cleo.counts() == cleo.counts(projectId="atlas") == {"canary": 2, "shared": 1}
    assert cleo.usage("canary") == [("TASK", "walk"), ("SECTION", "Notes")]
    assert cleo.rename("canary", "bird", dryRun=True).affected == 2
    for given in ({}, {"projectId": "atlas"}):
        assert isinstance(error_of(partial(cleo.rename, "canary", "bird", **given)), Forbidden)
    assert all_rows(engine) == before


def test_an_editor_renames_what_they_see_and_need_not_say_where(
    project_with_members: TagsClient, other_project: TagsClient
) -> None:
    assert (
        project_with_members.by(person("ben")).rename("shared", "mine").project_id == project_with_members.ids["atlas"]
    )

    assert project_with_members.tags_of("walk") == ["canary", "mine"]
    assert project_with_members.counts(projectId="borealis") == {"shared": 1}


def test_a_stranger_to_a_project_sees_none_of_its_tags(project_with_members: TagsClient) -> None:
    finn = project_with_members.by(person("finn"))

    assert finn.counts() == {"shared": 1}
    assert [one for one in finn.usage("shared") if one[1] == "walk"] == []


@try_each("who", [person("finn"), person("mallory", organization="rival")])
def test_the_canary_reads_like_a_tag_that_is_nowhere(project_with_members: TagsClient, who: Any) -> None:
    stranger = project_with_members.by(who)

    def answers(tag: str) -> list[bytes]:
        calls = (
            lambda: stranger.usage(tag),
            lambda: stranger.rename(tag, "bird"),
            lambda: stranger.rename(tag, "bird", dryRun=True),
        )
        found = [error_of(call) for call in calls]
        assert all(isinstance(one, NotFound) and "near" not in one.details for one in found)
        return [encode(one.to_dict()).replace(tag.encode(), b"...") for one in found]

    assert answers("canary") == answers("cuckoo")


@try_each("who", [person("finn"), person("mallory", organization="rival"), person("nobody")])
def test_a_hidden_project_reads_like_one_that_is_not_there(project_with_members: TagsClient, who: Any) -> None:
    stranger = project_with_members.by(who)

    def answers(project: str) -> list[bytes]:
        calls = (
            lambda: stranger.counts(projectId=project),
            lambda: stranger.usage("canary", projectId=project),
            lambda: stranger.rename("canary", "bird", projectId=project),
            lambda: stranger.rename("canary", "bird", projectId=project, dryRun=True),
        )
        return [encode(error_of(call).to_dict()).replace(project.encode(), b"...") for call in calls]

    assert answers("atlas") == answers("sumac")


def test_who_is_of_no_organization_is_told_so_and_nobody_is_asked_who_they_are(
    project_with_members: TagsClient,
) -> None:
    stranger = project_with_members.by(person("nobody of this name"))
    assert error_of(stranger.counts).details["thing"] == "organization"
    assert error_of(lambda: stranger.usage("canary")).details["thing"] == "organization"
    assert isinstance(error_of(lambda: stranger.rename("canary", "bird")), NotFound)

    anonymous = TagsClient(project_with_members.engine, Session(project_with_members.session.store, None))
    for call in (anonymous.counts, lambda: anonymous.usage("canary"), lambda: anonymous.rename("canary", "bird")):
        assert isinstance(error_of(call), Unauthenticated)


def test_the_database_itself_hides_tags_from_strangers(team: PostgresEngine) -> None:
    desk = TagsClient(team, team.session("ada")).open()
    desk.task("walk", "canary")
    desk.section("walk", "Notes", "canary")
    team.create_organization("rival", "mallory")

    for stranger in (person("mallory", organization="rival"), person("nobody of this name"), None):
        for table in ("work_node_tags", "work_section_tags"):
            assert team.as_app(stranger, f"SELECT count(*) FROM {table}") == [(0,)]
            assert team.as_app(stranger, f"DELETE FROM {table} RETURNING 1") == []
    assert desk.run(listing.LIST).tags[0].count == 2
