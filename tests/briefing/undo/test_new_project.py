"""undo of the creation of a project: one in which nothing was done is set aside, and its name is free."""

from __future__ import annotations

import pytest

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.session import Session
from tests.engines import Engine
from tests.errors import error_of


@pytest.fixture
def ada(engine: Engine) -> Session:
    """Ada, who mistyped the name of a project."""
    ada = engine.session("ada")
    ada.call("work.open", project="boreales", goal="the sky", policies={"overlap": "off"})
    return ada


def list_names(session: Session) -> list[str]:
    return [line.name for line in session.call("work.open").projects]


def test_an_empty_project_is_gone_from_the_lists_and_its_name_is_free(ada: Session) -> None:
    ada.call("briefing.undo", project="boreales")

    assert list_names(ada) == []
    assert error_of(lambda: ada.call("work.next", project="boreales")).code == "not_found"
    assert ada.call("work.open", project="boreales").created


def test_a_project_in_which_all_was_taken_back_is_empty_again(ada: Session) -> None:
    ada.call("work.plan", project="boreales", nodes=[{"ref": "a", "summary": "a"}])
    ada.call("briefing.undo", project="boreales")

    ada.call("briefing.undo", project="boreales")

    assert list_names(ada) == []


@pytest.mark.parametrize("change", ["a task", "a fact", "a policy", "a member"])
def test_a_project_in_which_something_was_done_stays_and_the_error_names_it(ada: Session, change: str) -> None:
    {
        "a task": lambda: ada.call("work.plan", project="boreales", nodes=[{"ref": "a", "summary": "a"}]),
        "a fact": lambda: ada.call("context.create_draft", scopeId="boreales"),
        "a policy": lambda: ada.call("work.open", project="boreales", policies={"evidence": "off"}),
        "a member": lambda: ada.call("member.add", scopeId="boreales", userId="ben", role="editor"),
    }[change]()

    refusal = error_of(lambda: ada.call("briefing.undo", project="boreales", event="1.0"))

    assert refusal.code == "changed_since"
    assert list_names(ada) == ["boreales"]


def test_only_an_owner_removes_a_project_and_its_history_stays(engine: Engine, ada: Session) -> None:
    robin = engine.session(local_actor("robin", kind=ActorKind.AGENT))
    robin.call("work.open", project="of robin")
    assert error_of(lambda: robin.call("briefing.undo", project="of robin")).code == "agent_not_allowed"

    project_id = ada.call("work.open", project="boreales").root.id
    ada.call("briefing.undo", project="boreales")
    events = ada.call("event.list", project=project_id).events
    assert [event.op for event in events][:1] == ["project.archived"]
    assert "project.created" in [event.op for event in events]
