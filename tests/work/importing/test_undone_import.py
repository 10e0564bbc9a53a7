"""Undo across imports: a first import is taken back and done again whole; what an import changed is not passed over."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engines import Engine
from tests.errors import error_of
from tests.work.client import WorkClient
from tests.work.importing.file_import import FileImport, item
from tests.work.stored_work import dump

ITEMS = (
    item(
        "a",
        fate="done",
        aliases=["OLD-1"],
        tags=["x"],
        sections=[{"title": "Usage", "text": "as before"}, {"title": "Notes", "text": "none"}],
        evidence=[{"type": "note", "text": "it works"}, {"type": "comment", "text": "well done"}],
    ),
    item("b", depends_on=["c"], is_group=True),
    item("c", parent="b", hold_reason="later", links=[]),
)


@pytest.fixture
def file(work: WorkClient) -> FileImport:
    return FileImport(work)


def undo(work: WorkClient, **given: Any) -> Any:
    return work.call("briefing.undo", project=work.project, **given)


def rows(engine: Engine) -> dict[str, Any]:
    return {name: found for name, found in dump(engine).items() if name not in ("imports", "counts")}


def test_an_import_is_taken_back_and_done_again_with_all_it_made(
    engine: Engine, work: WorkClient, file: FileImport
) -> None:
    before = rows(engine)
    file.run(*ITEMS)
    after = dump(engine)

    for _ in range(2):
        undo(work)
        assert rows(engine) == before
        undo(work, redo=True)
        assert dump(engine) == after
    assert file.run(*ITEMS).counts.unchanged == len(ITEMS)


def test_an_import_that_was_taken_back_is_imported_anew(engine: Engine, work: WorkClient, file: FileImport) -> None:
    file.run(*ITEMS)
    event = work.call("event.list", project=work.project, limit=1).events[0].id
    undo(work)
    taken_back = work.call("event.list", project=work.project, limit=1).events[0].id

    assert file.run(*ITEMS).counts.created == len(ITEMS)

    after = dump(engine)
    assert error_of(lambda: undo(work, redo=True)).code == "nothing_to_redo"
    assert error_of(lambda: undo(work, event=event)).code == "already_undone"
    assert error_of(lambda: undo(work, event=taken_back)).code == "taken_meanwhile"
    assert dump(engine) == after


def test_a_change_before_an_import_that_changed_the_node_too_is_refused_and_names_the_import(
    engine: Engine, work: WorkClient, file: FileImport
) -> None:
    file.run(*ITEMS)
    work.update("c", state="begun")
    mine = work.call("event.list", project=work.project, limit=1).events[0].id
    file.run(*ITEMS[:2], item("c", title="Another", parent="b", hold_reason="later"))
    imported = work.call("event.list", project=work.project, limit=1).events[0].id
    after = dump(engine)

    error = error_of(lambda: undo(work, event=mine))

    assert (error.code, error.details["event"]) == ("changed_since", imported)
    assert dump(engine) == after
    undo(work)
    undo(work)
    assert file.node("c").summary == "c"
