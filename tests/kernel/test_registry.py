"""An operation is declared from its handler, and loaded when it is first asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.operations.registry import Effect, Operation, Registry, declare
from groundplan.kernel.store.transaction import Transaction

SOURCES = {"knowledge.match": "groundplan.knowledge.checked:MATCH", "work.next": "gone:OPERATION"}


def test_asking_for_the_names_loads_nothing() -> None:
    registry = Registry(sources=SOURCES)

    assert registry.names == ("knowledge.match", "work.next")
    assert "work.next" in registry
    assert "gone" not in sys.modules


def test_an_operation_is_loaded_once_by_its_name() -> None:
    registry = Registry(sources=SOURCES)

    assert registry["knowledge.match"].name == "knowledge.match"
    assert registry["knowledge.match"] is registry["knowledge.match"]
    with pytest.raises(ModuleNotFoundError):
        registry["work.next"]
    with pytest.raises(KeyError):
        registry["work.claim"]


def test_an_operation_under_the_name_of_another_is_refused() -> None:
    registry = Registry(sources={"work.next": SOURCES["knowledge.match"]})

    with pytest.raises(ValueError, match="is registered as work"):
        registry["work.next"]


def test_a_name_is_registered_once() -> None:
    loaded = Registry(sources=SOURCES)["knowledge.match"]

    with pytest.raises(ValueError, match="registered twice"):
        Registry([loaded, loaded])
    with pytest.raises(ValueError, match="registered twice"):
        Registry([loaded], sources=SOURCES)


class FindNote(Struct):
    scope_id: str


class FindSubject(FindNote):
    subject: str = ""


class Note(Struct):
    text: str


class NoteLines(Struct):
    lines: list[str]


def find_note(_tx: Transaction, request: FindNote) -> Note | NoteLines:
    return Note(request.scope_id)


def find_last_note(_tx: Transaction, request: FindNote) -> Note | None:
    return Note(request.scope_id)


def print_note(_note: Any) -> NoteLines:
    return NoteLines([])


def declare_note(handler: Callable[[Transaction, FindNote], Any], **options: Any) -> Operation[FindNote, Any]:
    return declare(
        handler,
        name="note.find",
        summary="Find a note.",
        permission=Permission.PROJECT_READ,
        effect=Effect.READ,
        **options,
    )


def test_an_operation_is_read_from_the_signature_of_its_handler() -> None:
    operation = declare_note(find_note)

    assert (operation.handler, operation.input) == (find_note, FindNote)
    assert (operation.output, operation.other_outputs) == (Note, (NoteLines,))


def test_an_answer_that_may_be_null_is_one_output() -> None:
    operation = declare_note(find_last_note)

    assert (operation.output, operation.other_outputs) == (Note | None, ())


def test_the_output_is_that_of_the_function_that_finishes_the_answer() -> None:
    operation = declare_note(find_note, finish=print_note)

    assert (operation.output, operation.other_outputs) == (NoteLines, ())


def test_the_project_is_the_field_of_the_request_unless_the_operation_says_otherwise() -> None:
    tx: Any = None
    usual = declare_note(find_note).project
    own = declare_note(find_note, project=lambda _tx, request: request.scope_id.upper()).project

    assert usual is not None
    assert own is not None
    assert usual(tx, FindNote("atlas")) == "atlas"
    assert own(tx, FindNote("atlas")) == "ATLAS"
    assert declare_note(find_note, project=None).project is None


def test_an_operation_may_take_more_than_its_handler_reads() -> None:
    assert declare_note(find_note, input=FindSubject).input is FindSubject
