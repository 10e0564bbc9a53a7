"""Aliases: the id of the old tool finds its node wherever an id is taken, and never takes the place of one of ours."""

from __future__ import annotations

from typing import Any

import pytest

from groundplan.kernel.errors import GroundplanError, Invalid, NotFound
from groundplan.kernel.preferences import Preferences
from groundplan.session import Session
from tests.engines import Engine, person
from tests.errors import error_of
from tests.work.client import WorkClient
from tests.work.importing.file_import import FileImport, item, notes

ALIASES = "SELECT alias, node_n FROM work_aliases ORDER BY alias"


@pytest.fixture
def file(work: WorkClient) -> FileImport:
    return FileImport(work)


# Calls with an id, in both dialects and all slices.
CALLS: dict[str, dict[str, Any]] = {
    "work.context": {"node_id": "bd-a1b2"},
    "work.history": {"node_id": "bd-a1b2"},
    "work.update": {"updates": [{"node_id": "bd-a1b2", "state": "begun"}]},
    "work.connect": {"edges": [{"from": "bd-a1b2", "to": "bd-c3d4", "type": "relates_to"}]},
    "work.plan": {"nodes": [{"ref": "x", "summary": "x", "parent_ref": "bd-a1b2", "depends_on": ["bd-c3d4"]}]},
    "work.restructure": {"operations": [{"op": "move", "node_id": "bd-a1b2", "new_parent": "bd-c3d4"}]},
    "work.next": {"project": "atlas", "node_id": "bd-a1b2"},
    "work.claim": {"project": "atlas", "node_id": "bd-a1b2"},
    "work.query": {"project": "atlas", "filter": {"ancestor": "bd-a1b2"}},
    "work.outline": {"project": "atlas", "parent": "bd-a1b2"},
    "work.dependencies": {"project": "atlas", "node": "bd-a1b2"},
    "work.analyse": {"what": "if_resolved", "node_id": "bd-a1b2"},
    "container.get": {"containerType": "task", "id": "bd-a1b2"},
    "container.overview": {"containerType": "task", "id": "bd-a1b2"},
    "container.update": {"containerType": "task", "id": "bd-a1b2", "version": 1, "title": "Walk"},
    "container.delete": {"containerType": "task", "id": "bd-a1b2", "version": 1},
    "container.advance": {"containerType": "task", "id": "bd-a1b2", "version": 1},
    "container.block": {"containerType": "task", "id": "bd-a1b2", "version": 1, "blockedBy": "bd-c3d4"},
    "dependency.create": {"fromId": "bd-a1b2", "toId": "bd-c3d4"},
    "section.add": {"entityType": "TASK", "entityId": "bd-a1b2", "title": "Notes"},
    "briefing.brief": {"node_id": "bd-a1b2"},
    "briefing.throughline": {"project": "atlas", "from": "bd-a1b2"},
    "knowledge.create": {
        "entityType": "molecule",
        "projectId": "atlas",
        "name": "Hills",
        "knowledge": "high",
        "createdByTaskId": "bd-a1b2",
    },
}


@pytest.mark.parametrize("operation", CALLS)
def test_an_alias_is_taken_wherever_an_id_is(file: FileImport, operation: str) -> None:
    file.run(item("bd-a1b2"), item("bd-c3d4"))
    file.work.call(operation, **CALLS[operation])


@pytest.mark.parametrize("operation", CALLS)
def test_an_alias_that_two_projects_have_is_that_of_the_project_that_the_call_names(
    engine: Engine, file: FileImport, operation: str
) -> None:
    file.run(item("bd-a1b2"), item("bd-c3d4"), project="elsewhere")
    file.run(item("bd-a1b2"), item("bd-c3d4"))
    last = "SELECT count(*) FROM events AS e JOIN projects AS p ON p.id = e.project_id WHERE p.name = 'elsewhere'"
    before = engine.as_owner(last)
    named = {} if "projectId" in CALLS[operation] else {"project": "atlas"}

    file.work.call(operation, **{**CALLS[operation], **named})

    assert engine.as_owner(last) == before


@pytest.mark.parametrize("operation", ["work.context", "work.update", "container.get", "briefing.brief"])
def test_an_alias_that_two_projects_have_is_that_of_the_configured_project_where_none_is_named(
    file: FileImport, operation: str
) -> None:
    file.run(item("bd-a1b2", title="elsewhere"), project="elsewhere")
    file.run(item("bd-a1b2", title="here"))
    file.run(item("bd-a1b2", title="there"), project="there")
    session = file.work.session
    own = Session(session.store, session.actor, preferences=Preferences(project="atlas", answer_tokens_max=20_000))

    answer = own.call(operation, **CALLS[operation])
    if operation == "work.context":
        assert answer.node.summary == "here"

    refused = error_of(lambda: own.call("work.context", node_id="bd-a1b2", project="unknown"))
    assert isinstance(refused, GroundplanError)
    assert refused.code == "ambiguous_alias"


def test_an_alias_of_another_project_than_the_named_one_is_no_node_of_it(file: FileImport) -> None:
    file.run(item("bd-a1b2"), project="elsewhere")
    file.run(item("bd-c3d4"))

    assert isinstance(error_of(lambda: file.work.call("work.context", node_id="bd-a1b2", project="atlas")), NotFound)


def test_an_alias_that_looks_like_one_of_our_ids_is_refused_and_named(file: FileImport) -> None:
    file.work.plan("ours\nother")
    mine = file.work["ours"]

    answer = file.run(
        {**item("one"), "aliases": [mine]}, {**item("two"), "aliases": [mine[:5]]}, {**item("three"), "aliases": ["t"]}
    )

    assert {*notes(answer.lost, "alias")} == {"one", "two"}
    assert file.node(mine).summary == "ours"
    assert file.node(mine[:5]).summary == "ours"
    assert file.node("t").summary == "three"


def test_a_node_that_is_made_later_wins_over_an_alias(engine: Engine, file: FileImport) -> None:
    file.run(item("a"))
    file.work.plan("later")
    engine.as_owner(f"UPDATE work_aliases SET alias = '{file.work['later']}'")

    assert file.node(file.work["later"]).summary == "later"


def test_two_items_cannot_have_one_alias(file: FileImport) -> None:
    answer = file.run({**item("one"), "aliases": ["7"]}, {**item("two"), "aliases": ["7"]})

    assert notes(answer.lost, "alias") == {"two": "7 is the alias of another node"}
    assert file.node("7").summary == "one"


def test_an_alias_in_two_projects_is_ambiguous_unless_the_call_is_about_one(file: FileImport) -> None:
    file.run(item("7"))
    file.run(item("7", title="elsewhere"), project="new")

    refused = error_of(lambda: file.node("7"))
    assert (refused.code, isinstance(refused, Invalid)) == ("ambiguous_alias", True)
    assert file.work.call("work.next", project="new", node_id="7").nodes[0].node.summary == "elsewhere"


def test_an_alias_follows_a_merge_and_goes_with_a_deletion(engine: Engine, file: FileImport) -> None:
    file.run(item("a"), item("b"), item("c"))
    nodes = {ref: file.node(ref).id for ref in "abc"}
    file.work.call("work.restructure", operations=[{"op": "merge", "source": "a", "target": "b"}])
    assert file.node("a").id == nodes["b"]

    file.work.call("container.delete", containerType="task", id="b", version=file.node("b").rev)

    assert isinstance(error_of(lambda: file.node("a")), NotFound)
    assert [alias for alias, _ in engine.as_owner(ALIASES)] == ["c"]
    assert file.run(item("a"), item("b"), item("c")).counts.created == 0


def test_an_alias_of_a_hidden_node_confirms_nothing(engine: Engine, file: FileImport) -> None:
    file.run(item("bd-a1b2"))
    file.work.call("project.create", name="other")
    file.work.call("member.add", scopeId="other", userId="ben", role="editor")
    stranger_work = WorkClient(Session(engine.store, person("ben")), "other")

    known = error_of(lambda: stranger_work.call("work.context", node_id="bd-a1b2"))
    unknown = error_of(lambda: stranger_work.call("work.context", node_id="bd-zzzz"))
    answer = FileImport(stranger_work).run(item("bd-a1b2"))

    assert str(known).replace("bd-a1b2", "bd-zzzz") == str(unknown)
    assert answer.lost == []
    assert FileImport(stranger_work).node("bd-a1b2").summary == "bd-a1b2"
