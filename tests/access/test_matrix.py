"""Who gets what answer: every operation, for everybody, on both engines, against the permission table."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import convert

from groundplan.kernel.access import GRANTS, ORGANIZATION_GRANTS, Permission, Role
from groundplan.kernel.actors import Actor
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.output_gate import encode
from tests.access.examples import EXAMPLES, ROWS, example
from tests.contracts.placeholders import filled
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


# What nodes and atoms of a project that is not there are called.
MISSING_NODES = ("qqqq00", "qqqq11")
MISSING_ATOM = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def populated(engine: Engine) -> Engine:
    """Atlas with its people, two nodes and an atom, a project of Finn's, and an organization next door with its own."""
    ada = engine.session("ada")
    ada.call("project.create", name="atlas")
    for name, role in {**ROLES, "dora": Role.VIEWER}.items():
        ada.call("member.add", scopeId="atlas", userId=name, role=role.value)
    nodes = [{"ref": ref, "summary": f"Walk {ref}"} for ref in ("north", "south")]
    task = ada.call("work.plan", project="atlas", nodes=nodes).created[0].id
    coast = {"entityType": "atom", "projectId": "atlas", "name": "Coast", "paths": ["coast/**"]}
    ada.call("knowledge.create", **coast, createdByTaskId=task)
    engine.session("finn").call("project.create", name="finn's own")
    engine.found_organization("rival", "mallory")
    engine.session(PEOPLE["mallory"]).call("project.create", name="mallory's own")
    return engine


def names(engine: Engine, project: str) -> dict[str, str]:
    """What the placeholders of the examples stand for in a project, be it there or not."""
    nodes = engine.as_owner(
        "SELECT n.id FROM work_nodes AS n JOIN projects AS p ON p.tenant_id = n.tenant_id AND p.id = n.project_id "
        f"WHERE p.name = '{project}' AND n.parent_n IS NOT NULL ORDER BY n.n"
    )
    node, other = [one for (one,) in nodes] or MISSING_NODES
    atoms = engine.as_owner(
        "SELECT a.id FROM graph_atoms AS a JOIN projects AS p ON p.tenant_id = a.tenant_id AND p.id = a.project_id "
        f"WHERE p.name = '{project}'"
    )
    return {"project": project, "node": node, "other": other, "atom": atoms[0][0] if atoms else MISSING_ATOM}


def expected_status(row: str, who: str) -> int:
    """What the permission table says, spelled out once more and independently of the code that enforces it."""
    meant = ROWS[row].meant
    if who == "anonymous":
        return 401
    if meant.project is None:
        # Mallory is at home in an organization of her own, where she may do what members may.
        return 404 if who == "nobody of this name" else 200
    if who not in ROLES:
        # What is served where there is no such project makes one. Names are unique in the organization, so there Finn
        # is told that this one is taken (decision 8), and Mallory gets a project of that name in her own.
        return {"finn": 409, "mallory": 200}.get(who, 404) if meant.otherwise else 404
    return 200 if ROLES[who] in GRANTS[meant.permission] else 403


def status(engine: Engine, row: str, who: str) -> int:
    try:
        engine.session(PEOPLE[who]).call(ROWS[row].called.name, **example(row, names(engine, "atlas")))
    except GroundplanError as refusal:
        return refusal.status
    return 200


@pytest.mark.parametrize("who", PEOPLE)
@pytest.mark.parametrize("row", ROWS)
def test_everybody_gets_the_answer_that_the_permission_table_gives_them(populated: Engine, row: str, who: str) -> None:
    assert status(populated, row, who) == expected_status(row, who)


# Not those that make the project that is missing: to them a stranger's name is either taken or new, see above.
@pytest.mark.parametrize("who", ["finn", "nobody of this name", "mallory"])
@pytest.mark.parametrize("row", [name for name, row in ROWS.items() if row.meant.project and not row.meant.otherwise])
def test_a_stranger_cannot_tell_a_hidden_project_from_one_that_does_not_exist(
    populated: Engine, row: str, who: str
) -> None:
    def answer(project: str) -> bytes:
        named = names(populated, project)
        with pytest.raises(GroundplanError) as refused:
            populated.session(PEOPLE[who]).call(ROWS[row].called.name, **example(row, named))
        return without(encode(refused.value.body()), named)

    assert answer("atlas") == answer("sumac")


def without(answer: bytes, named: dict[str, str]) -> bytes:
    """An answer in which everything that was named in the request is called the same."""
    for name in named.values():
        answer = answer.replace(name.encode(), b"...")
    return answer


@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        ("work.plan", {"project": "finn's own", "nodes": [{"ref": "a", "summary": "A", "parent_ref": "{node}"}]}),
        ("work.plan", {"project": "finn's own", "nodes": [{"ref": "a", "summary": "A", "depends_on": ["{node}"]}]}),
        ("work.next", {"project": "finn's own", "scope": "{node}"}),
        ("work.update", {"updates": [{"node_id": "{mine}"}, {"node_id": "{node}"}]}),
        ("work.connect", {"edges": [{"from": "{mine}", "to": "{node}", "type": "relates_to"}]}),
        ("work.query", {"project": "finn's own", "filter": {"ancestor": "{node}"}}),
        ("work.query", {"project": "finn's own", "filter": {"depends_on": "{node}"}}),
        ("work.restructure", {"operations": [{"op": "move", "node_id": "{mine}", "new_parent": "{node}"}]}),
        ("work.context", {"node_id": "{beginning}"}),
        ("work.history", {"node_id": "{beginning}"}),
    ],
)
def test_a_hidden_node_that_is_named_beside_ones_own_reads_like_one_that_is_missing(
    populated: Engine, operation: str, arguments: dict[str, Any]
) -> None:
    finn = populated.session(PEOPLE["finn"])
    mine = finn.call("work.plan", project="finn's own", nodes=[{"ref": "m", "summary": "Mine"}]).created[0].id

    def answer(project: str) -> bytes:
        node = names(populated, project)["node"]
        named = {"mine": mine, "node": node, "beginning": node[:4]}
        try:
            answered = finn.call(operation, **filled(arguments, named))
        except GroundplanError as refused:
            answered = refused.body()
        return without(encode(answered), named)

    assert answer("atlas") == answer("sumac")


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
    assert EXAMPLES.keys() == ROWS.keys()
    assert GRANTS.keys() | ORGANIZATION_GRANTS == set(Permission)
    for name, row in ROWS.items():
        assert (row.meant.permission in GRANTS) == (row.meant.project is not None), name


def test_a_request_is_for_the_operation_that_its_row_names() -> None:
    named = {"project": "atlas", "node": MISSING_NODES[0], "other": MISSING_NODES[1], "atom": MISSING_ATOM}
    for name, row in ROWS.items():
        route = row.called.route
        request = convert(example(name, named), row.called.input)
        begins = row.called.otherwise is row.meant  # which only the missing project decides
        assert begins or ((route and route(request)) or row.called) is row.meant, name


def test_a_larger_role_carries_everything_that_a_smaller_one_does() -> None:
    for permission, roles in GRANTS.items():
        assert Role.OWNER in roles, permission
        assert Role.VIEWER not in roles or Role.EDITOR in roles, permission
