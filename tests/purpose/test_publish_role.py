"""Who may publish: owners, and editors if the policy allows it. The policy gives editors nothing else."""

from __future__ import annotations

import pytest

from groundplan.kernel.errors import Forbidden
from groundplan.session import Session
from tests.engines import Engine, fill_once, person

NODES = [
    {"op": "add_node", "ref": ref, "node_type": ref.upper(), "title": f"The {ref}"}
    for ref in ("goal", "outcome", "output")
]
EDGES = [
    {"op": "add_edge", "source": "output", "target": "outcome"},
    {"op": "add_edge", "source": "outcome", "target": "goal"},
]
WAIVER = {"code": "GA_ORPHANS", "refs": [], "reason": "Later", "owner": "ben", "due": "2099-12-31"}


def fill(engine: Engine) -> None:
    """Create a project with a publishable draft and its members."""
    ada = engine.session("ada")
    ada.call("project.create", name="atlas")
    for name, role in {"ada": "owner", "ben": "editor", "cleo": "viewer"}.items():
        ada.call("member.add", scopeId="atlas", userId=name, role=role)
    ada.call("purpose.draft", project="atlas")
    ada.call("purpose.edit", project="atlas", operations=[*NODES, *EDGES])


@pytest.fixture
def people(engine: Engine) -> dict[str, Session]:
    """Sessions of the members."""
    fill_once(engine, fill)
    return {name: engine.session(person(name)) for name in ("ada", "ben", "cleo")}


def set_publish_role(people: dict[str, Session], publish_role: str) -> None:
    people["ada"].call("work.open", project="atlas", policies={"publish_role": publish_role})


def test_an_editor_may_not_publish_where_nothing_is_said(people: dict[str, Session]) -> None:
    with pytest.raises(Forbidden) as refused:
        people["ben"].call("purpose.publish", project="atlas")

    assert refused.value.details == {"role": "editor", "permission": "purpose:version:publish"}
    assert people["ada"].call("purpose.publish", project="atlas").version.published_by == "ada"


def test_an_editor_may_publish_where_the_project_says_so(people: dict[str, Session]) -> None:
    set_publish_role(people, "editor")

    assert people["ben"].call("purpose.publish", project="atlas").version.published_by == "ben"


def test_an_owner_may_publish_whatever_the_project_says(people: dict[str, Session]) -> None:
    set_publish_role(people, "editor")

    assert people["ada"].call("purpose.publish", project="atlas").version.number == 1


def test_a_viewer_never_publishes(people: dict[str, Session]) -> None:
    for publish_role in ("owner", "editor"):
        set_publish_role(people, publish_role)
        with pytest.raises(Forbidden):
            people["cleo"].call("purpose.publish", project="atlas")


def test_an_editor_who_may_publish_neither_discards_nor_waives(people: dict[str, Session]) -> None:
    set_publish_role(people, "editor")

    with pytest.raises(Forbidden):
        people["ben"].call("purpose.discard", project="atlas")
    with pytest.raises(Forbidden):
        people["ben"].call("purpose.record", project="atlas", waivers=[WAIVER])


def test_what_a_project_gave_it_can_take_back(people: dict[str, Session]) -> None:
    set_publish_role(people, "editor")
    set_publish_role(people, "owner")

    with pytest.raises(Forbidden):
        people["ben"].call("purpose.publish", project="atlas")


def test_only_an_owner_says_who_may_publish(people: dict[str, Session]) -> None:
    for name in ("ben", "cleo"):
        with pytest.raises(Forbidden):
            people[name].call("work.open", project="atlas", policies={"publish_role": "editor"})
