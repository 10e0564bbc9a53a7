"""The one write path: revision, events and answers are written together or not at all."""

from __future__ import annotations

import msgspec
import pytest

from groundplan.kernel.audit import changed
from groundplan.kernel.errors import NotFound, Unauthenticated
from groundplan.kernel.store.authorize import AmbiguousProject
from groundplan.kernel.store.idempotency import OpIdReused
from groundplan.kernel.store.store import ProjectArchived
from groundplan.kernel.store.transaction import ALIKE_EVENTS_MIN, Transaction
from tests.engines import Engine, person

# The event of a project's first write.
BEGINNING = ["project.created", "member.added", "work.created"]


@pytest.fixture
def atlas(engine: Engine) -> str:
    """The id of a project that Ada owns."""
    project_id: str = engine.session("ada").call("project.create", name="atlas").project.id
    return project_id


def events(engine: Engine, project_id: str) -> list[tuple[int, int, str, str, str]]:
    return [
        (rev, n, actor, op, subject)
        for rev, n, actor, op, subject in engine.as_owner(
            f"SELECT rev, n, actor_id, op, subject FROM events WHERE project_id = '{project_id}' ORDER BY rev, n"
        )
    ]


def revision(engine: Engine, project_id: str) -> int:
    rev: int = engine.as_owner(f"SELECT rev FROM projects WHERE id = '{project_id}'")[0][0]
    return rev


def test_every_write_moves_the_revision_by_one_and_leaves_its_events(engine: Engine, atlas: str) -> None:
    ada = engine.session("ada")
    ada.call("member.add", scopeId="atlas", userId="ben", role="editor")
    ada.call("member.add", scopeId="atlas", userId="ben", role="viewer")

    assert events(engine, atlas) == [
        (1, 0, "ada", "project.created", atlas),
        (1, 1, "ada", "member.added", "ada"),
        (1, 2, "ada", "work.created", atlas),
        (2, 0, "ada", "member.added", "ben"),
        (3, 0, "ada", "member.changed", "ben"),
    ]
    assert revision(engine, atlas) == 3


def test_events_tell_what_was_before_and_after(engine: Engine, atlas: str) -> None:
    ada = engine.session("ada")
    ada.call("member.add", scopeId="atlas", userId="ben", role="editor")
    ada.call("member.add", scopeId="atlas", userId="ben", role="viewer")

    (changes,) = engine.as_owner("SELECT changes FROM events WHERE op = 'member.changed'")[0]

    assert msgspec.json.decode(changes) == [{"field": "role", "before": "editor", "after": "viewer"}]


def test_a_write_that_changes_nothing_moves_no_revision_and_leaves_no_event(engine: Engine, atlas: str) -> None:
    ada = engine.session("ada")
    ada.call("member.add", scopeId="atlas", userId="ben", role="editor")
    before = (revision(engine, atlas), events(engine, atlas))

    ada.call("member.add", scopeId="atlas", userId="ben", role="editor")

    assert (revision(engine, atlas), events(engine, atlas)) == before


def test_a_refused_write_leaves_no_trace(engine: Engine, atlas: str) -> None:
    def change_then_fail(tx: Transaction) -> None:
        tx.record("test.happened", "x", changed("a", 1, 2))
        raise NotFound("thing", "x")

    with pytest.raises(NotFound):
        engine.store.write(person("ada"), "atlas", change_then_fail)

    assert revision(engine, atlas) == 1
    assert [op for *_, op, _ in events(engine, atlas)] == BEGINNING


@pytest.mark.parametrize("is_written", [False, True])
def test_a_write_that_is_discarded_returns_its_answer_and_leaves_no_trace(
    engine: Engine, atlas: str, is_written: bool
) -> None:
    def change_then_discard(tx: Transaction) -> str:
        tx.record("test.happened", "x", changed("a", 1, 2))
        if is_written:
            tx.write_events()
        tx.discard()
        return "as if"

    assert engine.store.write(person("ada"), "atlas", change_then_discard) == "as if"

    assert revision(engine, atlas) == 1
    assert [op for *_, op, _ in events(engine, atlas)] == BEGINNING


def test_a_failing_run_leaves_the_store_usable(engine: Engine, atlas: str) -> None:
    def fail(tx: Transaction) -> None:
        raise RuntimeError("a defect")

    with pytest.raises(RuntimeError, match="a defect"):
        engine.store.write(person("ada"), "atlas", fail)

    engine.session("ada").call("member.add", scopeId="atlas", userId="ben", role="editor")
    assert revision(engine, atlas) == 2


def test_a_read_sees_one_snapshot_while_others_write(engine: Engine, atlas: str) -> None:
    other = engine.another_store()

    def read_twice(tx: Transaction) -> tuple[int, int]:
        from groundplan.kernel.store.authorize import ProjectAccessRow, sql

        first = tx.one(sql.projects_for_actor, ProjectAccessRow, ref="atlas").rev
        other.write(person("ada"), "atlas", lambda wx: wx.record("test.happened", "x"))
        return first, tx.one(sql.projects_for_actor, ProjectAccessRow, ref="atlas").rev

    assert engine.store.read(person("ada"), read_twice) == (1, 1)
    assert revision(engine, atlas) == 2


def test_nobody_in_particular_may_do_nothing(engine: Engine) -> None:
    with pytest.raises(Unauthenticated):
        engine.session(None).call("project.list")
    with pytest.raises(Unauthenticated):
        engine.session(None).call("project.create", name="atlas")


def test_an_archived_project_can_be_read_but_not_changed(engine: Engine, atlas: str) -> None:
    ada = engine.session("ada")
    ada.call("project.archive", project="atlas")

    assert [member.user_id for member in ada.call("member.list", scopeId="atlas").members] == ["ada"]
    with pytest.raises(ProjectArchived):
        ada.call("member.add", scopeId="atlas", userId="ben", role="editor")

    ada.call("project.restore", project="atlas")
    ada.call("member.add", scopeId="atlas", userId="ben", role="editor")


def test_the_transaction_alone_says_whose_rows_are_meant(engine: Engine, atlas: str) -> None:
    from groundplan.kernel.store.authorize import sql

    engine.create_organization("rival", "mallory")
    mallory = person("mallory", organization="rival")

    found = engine.store.read(
        mallory,
        lambda tx: tx.one_or_none(sql.projects_for_actor, ref="atlas", tenant_id="local", actor_id="ada"),
    )

    assert found is None


def test_the_same_op_id_has_one_effect_and_the_same_answer(engine: Engine) -> None:
    ada = engine.session("ada")

    first = ada.call("project.create", name="atlas", op_id="once")
    again = ada.call("project.create", name="atlas", op_id="once")

    assert again == first
    assert len(ada.call("project.list").projects) == 1


def test_the_same_op_id_with_another_body_is_a_conflict(engine: Engine) -> None:
    ada = engine.session("ada")
    ada.call("project.create", name="atlas", op_id="once")

    with pytest.raises(OpIdReused):
        ada.call("project.create", name="other", op_id="once")
    with pytest.raises(OpIdReused):
        ada.call("project.archive", project="atlas", op_id="once")


def test_two_actors_may_use_the_same_op_id(engine: Engine) -> None:
    engine.session("ada").call("project.create", name="atlas", op_id="once")

    assert engine.session("ben").call("project.create", name="other", op_id="once").project.name == "other"


def test_a_refusal_is_not_kept_as_an_answer(engine: Engine) -> None:
    ada = engine.session("ada")
    with pytest.raises(NotFound):
        ada.call("member.add", scopeId="atlas", userId="ben", role="editor", op_id="once")
    ada.call("project.create", name="atlas")

    assert ada.call("member.add", scopeId="atlas", userId="ben", role="editor", op_id="once").member.user_id == "ben"


def test_permission_is_asked_again_before_an_answer_is_repeated(engine: Engine, atlas: str) -> None:
    ada = engine.session(person("ada"))
    ben = engine.session(person("ben"))
    ada.call("member.add", scopeId="atlas", userId="ben", role="owner")
    ben.call("member.add", scopeId="atlas", userId="cleo", role="viewer", op_id="once")
    ada.call("member.remove", scopeId="atlas", userId="ben")

    with pytest.raises(NotFound):
        ben.call("member.add", scopeId="atlas", userId="cleo", role="viewer", op_id="once")


def test_a_repeated_request_that_changed_nothing_still_has_no_later_effect(engine: Engine, atlas: str) -> None:
    ada = engine.session("ada")
    ada.call("member.add", scopeId="atlas", userId="ben", role="editor")
    ada.call("member.add", scopeId="atlas", userId="ben", role="editor", op_id="once")  # already the case: no change
    ada.call("member.add", scopeId="atlas", userId="ben", role="viewer")
    before = revision(engine, atlas)

    repeated = ada.call("member.add", scopeId="atlas", userId="ben", role="editor", op_id="once")

    assert repeated.member.role == "editor"
    assert ada.call("member.list", scopeId="atlas").members[1].role == "viewer"
    assert revision(engine, atlas) == before


@pytest.mark.parametrize("role", [None, "viewer", "editor"])
def test_an_owner_may_step_down_and_the_history_tells_it(engine: Engine, atlas: str, role: str | None) -> None:
    ada = engine.session(person("ada"))
    ada.call("member.add", scopeId="atlas", userId="ben", role="owner")

    if role is None:
        ada.call("member.remove", scopeId="atlas", userId="ada")
    else:
        ada.call("member.add", scopeId="atlas", userId="ada", role=role)

    assert events(engine, atlas)[-1] == (3, 0, "ada", "member.changed" if role else "member.removed", "ada")


def test_archiving_twice_answers_alike_and_makes_one_revision(engine: Engine, atlas: str) -> None:
    ada = engine.session("ada")

    assert ada.call("project.archive", project="atlas") == ada.call("project.archive", project="atlas")
    assert revision(engine, atlas) == 2


def test_a_reference_that_means_two_projects_is_refused(engine: Engine, atlas: str) -> None:
    ada = engine.session("ada")
    other = ada.call("project.create", name=atlas).project.id

    with pytest.raises(AmbiguousProject) as refused:
        ada.call("member.list", scopeId=atlas)
    assert refused.value.details["instead"] == ["atlas", other]
    ada.call("member.add", scopeId="atlas", userId="cleo", role="viewer")

    assert [one.user_id for one in ada.call("member.list", scopeId="atlas").members] == ["ada", "cleo"]
    assert [one.user_id for one in ada.call("member.list", scopeId=other).members] == ["ada"]
    assert [op for *_, op, _ in events(engine, other)] == BEGINNING


def test_members_come_in_pages_that_join_to_the_whole(engine: Engine, atlas: str) -> None:
    ada = engine.session("ada")
    for name in ("ben", "cleo", "dora", "emil"):
        ada.call("member.add", scopeId="atlas", userId=name, role="viewer")

    pages, cursor = [], None
    while True:
        page = ada.call("member.list", scopeId="atlas", limit=2, cursor=cursor)
        pages.append([one.user_id for one in page.members])
        if page.next_cursor is msgspec.UNSET:
            break
        cursor = page.next_cursor

    assert pages == [["ada", "ben"], ["cleo", "dora"], ["emil"]]


def test_a_scope_is_answered_under_the_name_it_was_begun_with(engine: Engine) -> None:
    ada = engine.session("ada")

    begun = ada.call("member.bootstrap", scopeId="atlas", createDraftRun=False)

    assert (begun.scope_id, begun.role) == ("atlas", "owner")
    assert ada.call("project.list").projects[0].id == begun.project_id
    assert begun.run_id is msgspec.UNSET


def test_a_scope_may_be_begun_with_its_first_draft(engine: Engine) -> None:
    begun = engine.session("ada").call("member.bootstrap", scopeId="atlas", createDraftRun=True)

    drafts = engine.as_owner("SELECT id, project_id, status, rev FROM pciv_runs")
    assert drafts == [(begun.run_id, begun.project_id, "draft", 1)]


def test_the_history_tells_who_came_into_the_organization(engine: Engine, atlas: str) -> None:
    ada = engine.session("ada")
    ada.call("project.create", name="other")
    for project in ("atlas", "other"):
        ada.call("member.add", scopeId=project, userId="ben", role="viewer")

    told = engine.as_owner("SELECT changes FROM events WHERE subject = 'ben' ORDER BY at, project_id, rev")

    assert sorted("in_organization" in changes for (changes,) in told) == [False, True]


@pytest.mark.parametrize("count", [120, ALIKE_EVENTS_MIN + 20])
def test_many_events_of_one_write_are_stored_like_few(engine: Engine, atlas: str, count: int) -> None:
    before, subjects = len(events(engine, atlas)), [f"node {n} “ü” 'x'" for n in range(count)]

    def record(tx: Transaction) -> None:
        tx.record("test.few", "first", changed("a", None, "“ü”\n"), decision="why not")
        tx.record_each("test.many", subjects, changed("a", 1, {"b": [None, 2.5]}), changed("c", "\\", '"'))
        tx.record("test.few", "last", changed("a", "x", None))

    engine.store.write(person("ada"), atlas, record)

    stored = engine.as_owner(
        "SELECT n, op, subject, changes, decision FROM events "
        f"WHERE project_id = '{atlas}' AND op LIKE 'test.%' ORDER BY n"
    )
    many = [{"field": "a", "before": 1, "after": {"b": [None, 2.5]}}, {"field": "c", "before": "\\", "after": '"'}]
    assert [(n, op, subject, msgspec.json.decode(changes), why) for n, op, subject, changes, why in stored] == [
        (0, "test.few", "first", [{"field": "a", "before": None, "after": "“ü”\n"}], "why not"),
        *[(n, "test.many", subject, many, None) for n, subject in enumerate(subjects, 1)],
        (count + 1, "test.few", "last", [{"field": "a", "before": "x", "after": None}], None),
    ]
    assert len(events(engine, atlas)) == before + count + 2
