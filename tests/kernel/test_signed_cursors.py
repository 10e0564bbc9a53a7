"""Cursors on both stores: whose they are, what they cost, and that every row that stays is on exactly one page."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
from msgspec import UNSET

from groundplan.catalog import OPERATIONS
from groundplan.kernel.actors import local_actor
from groundplan.kernel.answers import encode
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.operations.envelopes import wrap_error
from groundplan.kernel.preferences import Preferences
from groundplan.kernel.store.migrations import Dialect
from groundplan.session import Session
from reference.placeholders import fill_placeholders
from tests.access.examples import EXAMPLES
from tests.access.test_matrix import placeholder_values, populate_with_purpose
from tests.engines import Engine, fill_once, person
from tests.proof import scaled

# Items that are read by their keys come whole: the operation shares its input with one that has pages.
WHOLE = "purpose.items"
WITH_CURSOR = sorted(one.name for one in OPERATIONS if "cursor" in one.input.__struct_fields__ and one.name != WHOLE)
REFUSED = b'{"error":{"code":"invalid_cursor"'


@pytest.fixture
def populated(engine: Engine) -> Engine:
    fill_once(engine, populate_with_purpose)
    return engine


def refusal(session: Session, operation: str, **arguments: Any) -> bytes:
    """Return the error of a request as a caller gets it."""
    with pytest.raises(GroundplanError) as refused:
        session.call(operation, **arguments)
    return encode(wrap_error(None, refused.value, session.preferences.vocabulary))


def test_every_list_refuses_every_other_text_with_the_same_error(populated: Engine) -> None:
    ada = populated.session("ada")
    values = placeholder_values(populated, "atlas")
    wrong = ["ada", "A" * 16, "A" * 512, "A" * 513, "ü" * 600, "0", "null"]
    refusals = {
        refusal(ada, operation, **fill_placeholders(EXAMPLES[operation], values), cursor=text)
        for operation in WITH_CURSOR
        for text in wrong
    }
    assert len(WITH_CURSOR) >= 9
    assert len(refusals) == 1
    assert refusals.pop().startswith(REFUSED)


def test_the_cost_of_a_refused_cursor_does_not_depend_on_its_length(engine: Engine) -> None:
    ada = engine.session("ada")
    ada.call("project.create", name="atlas")

    def cost_of(chars: int) -> float:
        # 0xff has the bit that continues a number, so each byte made the number longer.
        text = "_" * chars
        begun = time.process_time()
        for _ in range(5):
            assert refusal(ada, "work.query", project="atlas", cursor=text).startswith(REFUSED)
        return time.process_time() - begun

    cost_of(500)
    assert min(cost_of(930_000) for _ in range(3)) < 100 * min(cost_of(500) for _ in range(3))


def test_a_cursor_is_of_one_caller_one_query_one_project_and_one_organization(engine: Engine) -> None:
    ada, ben = engine.session("ada"), engine.session("ben")
    engine.create_organization("rival", "ada")
    rival = engine.session(person("ada", organization="rival"))
    for session, name in ((ada, "atlas"), (ada, "borealis"), (rival, "atlas")):
        session.call("project.create", name=name)
        session.call("work.plan", project=name, nodes=[{"ref": ref, "summary": "same"} for ref in "abc"])
    first = ada.call("work.query", project="atlas", limit=1, sort="created")
    cursor = first.next_cursor

    elsewhere = {
        refusal(ben, "work.query", project="atlas", sort="created", cursor=cursor),
        refusal(rival, "work.query", project="atlas", sort="created", cursor=cursor),
        refusal(ada, "work.query", project="borealis", sort="created", cursor=cursor),
        refusal(ada, "work.query", project="atlas", sort="depth", cursor=cursor),
        refusal(ada, "work.query", project="atlas", sort="created", filter={"is_leaf": True}, cursor=cursor),
        refusal(ada, "knowledge.list", projectId="atlas", cursor=cursor),
        refusal(ada, "member.list", scopeId="atlas", cursor=cursor),
        refusal(ada, "work.history", node_id=first.nodes[0].id, cursor=cursor),
    }

    assert len(elsewhere) == 1
    assert elsewhere.pop().startswith(REFUSED)
    assert len(ada.call("work.query", project="atlas", limit=100, sort="created", cursor=cursor).nodes) == 3


def test_every_server_of_a_store_accepts_the_cursors_of_the_others(engine: Engine) -> None:
    ada = engine.session("ada")
    ada.call("work.open", project="atlas")
    ada.call("work.plan", project="atlas", nodes=[{"ref": ref, "summary": "same"} for ref in "abc"])
    cursor = ada.call("work.query", project="atlas", limit=2, sort="created").next_cursor

    with closing(engine.another_store()) as other:
        second = Session(other, local_actor("ada"))
        assert second.call("work.query", project="atlas", limit=2, sort="created").next_cursor == cursor
        assert len(second.call("work.query", project="atlas", sort="created", cursor=cursor).nodes) == 2


def test_every_organization_has_its_own_key_and_sees_no_other(engine: Engine) -> None:
    engine.create_organization("rival", "mallory")
    keys = engine.as_owner("SELECT id, cursor_key FROM organizations ORDER BY id")

    assert [id_ for id_, _ in keys] == ["local", "rival"]
    assert len({key for _, key in keys}) == 2
    assert all(len(bytes.fromhex(key)) == 32 for _, key in keys)
    if engine.dialect is Dialect.POSTGRES:
        mallory = person("mallory", organization="rival")
        assert engine.as_app(mallory, "SELECT id, cursor_key FROM organizations") == [keys[1]]
        assert engine.as_app(person("stranger", organization="local"), "SELECT cursor_key FROM organizations") == []


def test_nobody_changes_the_key_of_an_organization(engine: Engine) -> None:
    key = "0" * 64
    with pytest.raises(engine.refusals):
        engine.as_app(local_actor("ada"), f"UPDATE organizations SET cursor_key = '{key}', rev = rev + 1")
    if engine.dialect is Dialect.SQLITE:  # on PostgreSQL the role has no right to the column, and there is no trigger
        engine.as_owner("DROP TRIGGER organizations_cursor_key_stays")
        engine.as_app(local_actor("ada"), f"UPDATE organizations SET cursor_key = '{key}', rev = rev + 1")
        assert engine.as_owner("SELECT cursor_key FROM organizations") == [(key,)]


def test_a_read_that_needs_the_key_writes_nothing(engine: Engine) -> None:
    ada = engine.session("ada")
    ada.call("work.open", project="atlas")
    ada.call("work.plan", project="atlas", nodes=[{"ref": ref, "summary": "same"} for ref in "abc"])
    before = engine.as_owner("SELECT * FROM organizations")

    assert ada.call("work.query", project="atlas", limit=1).next_cursor

    assert engine.as_owner("SELECT * FROM organizations") == before


# Long names that begin alike; the last differ only after the bytes that a cursor holds.
LONG = "\U0001f30d" * 200
NAMES = [
    *("a", "b" * 255, "é" * 200, "\U0001f30e"),
    *(f"{LONG[:length]}{n}" for length in (50, 63, 64, 200) for n in range(3)),
]
PAGES_MAX = 50

Change = Callable[[str], None]
ReadPage = Callable[[str | None], tuple[list[str], Any]]


def walk(read: ReadPage, change: Change) -> Iterator[str]:
    """Yield the names of all pages; after each page, the row that its cursor names is changed."""
    cursor = None
    for _ in range(PAGES_MAX):
        names, cursor = read(cursor)
        yield from names
        if cursor is UNSET:
            return
        assert len(cursor) <= 512
        change(names[-1])
    pytest.fail("the pages do not end")


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_members_who_stay_are_on_exactly_one_page_while_others_leave(engine: Engine, limit: int) -> None:
    ada = engine.session("ada")
    ada.call("project.create", name="atlas")
    for name in NAMES:
        ada.call("member.add", scopeId="atlas", userId=name, role="viewer")
    pick, left = random.Random(limit), set[str]()  # noqa: S311 - not a secret

    def read(cursor: str | None) -> tuple[list[str], Any]:
        page = ada.call("member.list", scopeId="atlas", limit=limit, cursor=cursor)
        return [one.user_id for one in page.members], page.next_cursor

    def remove(name: str) -> None:
        for leaving in {name, pick.choice(NAMES)} - {"ada"} - left:
            ada.call("member.remove", scopeId="atlas", userId=leaving)
            left.add(leaving)

    seen = list(walk(read, remove))

    assert len(seen) == len(set(seen))
    assert set(seen) >= {"ada", *NAMES} - left


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_atoms_that_stay_are_on_exactly_one_page_while_others_are_renamed_or_removed(
    engine: Engine, limit: int
) -> None:
    ada = engine.session("ada")
    ada.call("project.create", name="atlas")
    task = ada.call("work.plan", project="atlas", nodes=[{"ref": "a", "summary": "Build"}]).created[0].id
    ids = {}
    for name in NAMES:
        made = ada.call(
            "knowledge.create", entityType="atom", projectId="atlas", name=name, createdByTaskId=task, paths=["a/**"]
        )
        ids[made.atom.id] = name
    pick, touched = random.Random(limit), set[str]()  # noqa: S311 - not a secret

    def read(cursor: str | None) -> tuple[list[str], Any]:
        page = ada.call(
            "knowledge.list", projectId="atlas", limit=limit, **{} if cursor is None else {"cursor": cursor}
        )
        return [one.id for one in page.atoms], page.next_cursor

    def change(id_: str) -> None:
        for changed in {id_, pick.choice([*ids])} - touched:
            if pick.random() < 0.5:
                ada.call("knowledge.delete", entityType="atom", id=changed, version=1)
            else:
                other = f"{pick.choice(NAMES)[:250]}!"
                ada.call("knowledge.update", entityType="atom", id=changed, version=1, name=other, lastTaskId=task)
            touched.add(changed)

    seen = list(walk(read, change))

    stayed = [id_ for id_ in seen if id_ not in touched]
    assert len(stayed) == len(set(stayed))
    assert set(stayed) == ids.keys() - touched
    unique = [ids[id_] for id_ in stayed if len(ids[id_].encode()) <= 255]
    assert unique == sorted(unique)


@pytest.mark.teeth
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_in_the_order_of_the_database_members_with_long_names_are_lost_or_repeated(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("groundplan.kernel.cursors.read_after", lambda _after, read, _locate, *, at_most: read(at_most))
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        test_members_who_stay_are_on_exactly_one_page_while_others_leave(engine, 2)


@pytest.mark.proof
def test_the_pages_of_a_view_with_the_longest_pointers_join_to_the_whole(engine: Engine) -> None:
    ada = engine.session("ada")
    ada.call("project.create", name="atlas")
    run = ada.call("context.create_draft", scopeId="atlas").run.id
    pointers = sorted("/" + "\U0001f30d" * 1_000 + f"{n:03}" for n in range(scaled(12, 60)))
    inputs = [{"pointer": pointer, "label": "Length", "value": 1} for pointer in pointers]
    ada.call("context.edit", runId=run, inputs=inputs)
    capped = Session(engine.store, local_actor("ada"), preferences=Preferences(answer_tokens_max=2_000))

    def read(cursor: str | None) -> tuple[list[str], Any]:
        page = capped.call("context.view", scopeId="atlas", runId=run, cursor=cursor)
        return list(page.inputs_by_pointer), page.next_cursor

    assert list(walk(read, lambda _: None)) == pointers
