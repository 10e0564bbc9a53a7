"""Who gets what answer: every operation, for everybody, on both engines, against the permission table."""

from __future__ import annotations

import pytest

from groundplan.catalog import OPERATIONS
from groundplan.kernel.access import GRANTS, ORGANIZATION_GRANTS, Permission, Role
from groundplan.kernel.actors import Actor
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.output_gate import encode
from tests.access.examples import EXAMPLES, example
from tests.engines import Engine, person

ROLES = {"ada": Role.OWNER, "ben": Role.EDITOR, "cleo": Role.VIEWER}
PEOPLE: dict[str, Actor | None] = {
    "ada": person("ada"),
    "ben": person("ben"),
    "cleo": person("cleo"),
    "finn": person("finn"),  # of the organization, but not of the project
    "nobody of this name": person("nobody of this name"),
    "mallory": person("mallory", organization="rival"),
    "anonymous": None,
}


@pytest.fixture
def populated(engine: Engine) -> Engine:
    """Atlas with its people, a project of Finn's, and a neighbouring organization with a project of the same name."""
    ada = engine.session("ada")
    ada.call("project.create", name="atlas")
    for name, role in {**ROLES, "dora": Role.VIEWER}.items():
        ada.call("member.add", scopeId="atlas", userId=name, role=role.value)
    engine.session("finn").call("project.create", name="finn's own")
    engine.found_organization("rival", "mallory")
    engine.session(PEOPLE["mallory"]).call("project.create", name="mallory's own")
    return engine


def expected_status(operation: str, who: str) -> int:
    """What the permission table says, spelled out once more and independently of the code that enforces it."""
    registered = OPERATIONS[operation]
    if who == "anonymous":
        return 401
    if registered.project is None:
        # Mallory is at home in an organization of her own, where she may do what members may.
        return 404 if who == "nobody of this name" else 200
    if who not in ROLES:
        return 404
    return 200 if ROLES[who] in GRANTS[registered.permission] else 403


def status(engine: Engine, operation: str, who: str, project: str = "atlas") -> int:
    try:
        engine.session(PEOPLE[who]).call(operation, **example(operation, project))
    except GroundplanError as refusal:
        return refusal.status
    return 200


@pytest.mark.parametrize("who", PEOPLE)
@pytest.mark.parametrize("operation", [operation.name for operation in OPERATIONS])
def test_everybody_gets_the_answer_that_the_permission_table_gives_them(
    populated: Engine, operation: str, who: str
) -> None:
    assert status(populated, operation, who) == expected_status(operation, who)


@pytest.mark.parametrize("who", ["finn", "nobody of this name", "mallory"])
@pytest.mark.parametrize("operation", [operation.name for operation in OPERATIONS if operation.project])
def test_a_stranger_cannot_tell_a_hidden_project_from_one_that_does_not_exist(
    populated: Engine, operation: str, who: str
) -> None:
    answers = []
    for project in ("atlas", "sumac"):
        with pytest.raises(GroundplanError) as refused:
            populated.session(PEOPLE[who]).call(operation, **example(operation, project))
        answers.append(encode(refused.value.body()).replace(project.encode(), b"..."))

    assert answers[0] == answers[1]


def test_a_stranger_is_offered_no_near_name_of_a_hidden_project(populated: Engine) -> None:
    with pytest.raises(GroundplanError) as refused:
        populated.session(PEOPLE["finn"]).call("member.list", scopeId="atlass")
    assert "near" not in refused.value.details

    with pytest.raises(GroundplanError) as helped:
        populated.session(PEOPLE["cleo"]).call("member.list", scopeId="atlass")
    assert helped.value.details["near"] == ["atlas"]


def test_a_hidden_projects_id_does_not_shadow_a_visible_name(populated: Engine) -> None:
    (hidden,) = populated.as_owner("SELECT id FROM projects WHERE name = 'atlas'")[0]
    finn = populated.session(PEOPLE["finn"])
    finn.call("project.create", name=hidden)

    assert [member.user_id for member in finn.call("member.list", scopeId=hidden).members] == ["finn"]


def test_the_same_name_in_two_organizations_means_two_projects(populated: Engine) -> None:
    mallory = populated.session(PEOPLE["mallory"])
    mallory.call("project.create", name="atlas")

    assert [member.user_id for member in mallory.call("member.list", scopeId="atlas").members] == ["mallory"]


def test_open_access_makes_whoever_opens_the_store_an_owner(populated: Engine) -> None:
    passer_by = populated.session("a passer-by")

    assert {one.name: one.role for one in passer_by.call("project.list").projects} == {
        "atlas": Role.OWNER,
        "finn's own": Role.OWNER,
    }
    passer_by.call("project.archive", project="atlas")


def test_open_access_ends_at_the_organization(populated: Engine) -> None:
    assert "mallory's own" not in {one.name for one in populated.session("ada").call("project.list").projects}
    with pytest.raises(GroundplanError) as refused:
        populated.session("ada").call("member.list", scopeId="mallory's own")
    assert refused.value.status == 404


def test_every_operation_has_an_example_and_every_permission_a_row() -> None:
    assert EXAMPLES.keys() == {operation.name for operation in OPERATIONS}
    assert GRANTS.keys() | ORGANIZATION_GRANTS == set(Permission)
    for operation in OPERATIONS:
        assert (operation.permission in GRANTS) == (operation.project is not None), operation.name


def test_a_larger_role_carries_everything_that_a_smaller_one_does() -> None:
    for permission, roles in GRANTS.items():
        assert Role.OWNER in roles, permission
        assert Role.VIEWER not in roles or Role.EDITOR in roles, permission
