"""Who gets what answer: every operation, for everybody, on both engines, against the permission table."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import convert

from groundplan.kernel.access import GRANTS, ORGANIZATION_GRANTS, Permission, Role
from groundplan.kernel.actors import Actor
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.operations.registry import Effect
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


# What things of a project that is not there are called, and of an organization that has none.
MISSING_NODES = {"node": "qqqq00", "other": "qqqq11", "feature": "qqqq22"}
MISSING_UUID = "00000000-0000-4000-8000-000000000000"
MISSING = {"project": "sumac", **MISSING_NODES, **dict.fromkeys(("atom", "section", "template"), MISSING_UUID)}


@pytest.fixture
def populated(engine: Engine) -> Engine:
    """Atlas with its people and one of each thing, a project of Finn's, and an organization next door with its own."""
    ada, finn = engine.session("ada"), engine.session("finn")
    ada.call("project.create", name="atlas")
    for name, role in {**ROLES, "dora": Role.VIEWER}.items():
        ada.call("member.add", scopeId="atlas", userId=name, role=role.value)
    nodes = [{"ref": "north", "summary": "Walk north"}, {"ref": "south", "summary": "South", "depends_on": ["north"]}]
    task = ada.call("work.plan", project="atlas", nodes=nodes).created[0].id
    coast = {"entityType": "atom", "projectId": "atlas", "name": "Coast", "paths": ["coast/**"]}
    ada.call("knowledge.create", **coast, createdByTaskId=task)
    made = ada.call("container.create", containerType="feature", name="The coast", projectId="atlas", tags="coast")
    ada.call("container.advance", containerType="feature", id=made.feature.id, version=1)
    ada.call("section.add", entityType="TASK", entityId=task, title="Context Files")
    finn.call("container.create", containerType="project", name="finn's own", tags="coast")
    finn.call("template.create", name="Sheet to print", targetEntityType="TASK")
    engine.found_organization("rival", "mallory")
    mallory = engine.session(PEOPLE["mallory"])
    mallory.call("container.create", containerType="project", name="mallory's own", tags="coast")
    mallory.call("template.create", name="Sheet to print", targetEntityType="TASK")
    return engine


def names(engine: Engine, project: str, who: str = "finn") -> dict[str, str]:
    """What the placeholders of the examples stand for in a project, be it there or not, where somebody asks."""
    organization = "rival" if who == "mallory" else "local"
    of_project = f"WHERE (tenant_id, project_id) IN (SELECT tenant_id, id FROM projects WHERE name = '{project}')"
    rows = engine.as_owner(
        f"SELECT 'node', id, n FROM work_nodes {of_project} AND parent_n IS NOT NULL "
        f"UNION ALL SELECT 'atom', id, 0 FROM graph_atoms {of_project} "
        f"UNION ALL SELECT 'section', id, 0 FROM work_sections {of_project} "
        f"UNION ALL SELECT 'template', id, 0 FROM work_templates WHERE tenant_id = '{organization}' ORDER BY 3"
    )
    nodes = [id_ for thing, id_, _ in rows if thing == "node"]
    others = {thing: id_ for thing, id_, _ in rows if thing != "node"}
    return {**MISSING, "project": project, **dict(zip(MISSING_NODES, nodes, strict=False)), **others}


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
        engine.session(PEOPLE[who]).call(ROWS[row].called.name, **example(row, names(engine, "atlas", who)))
    except GroundplanError as refusal:
        return refusal.status
    return 200


def groups(row: str) -> list[tuple[str, ...]]:
    """Everybody, those together who can ask in one world: whoever changes nothing leaves it as it was."""
    changing = [who for who in PEOPLE if expected_status(row, who) == 200 and ROWS[row].meant.effect is not Effect.READ]
    others = tuple(who for who in PEOPLE if who not in changing)
    return [others, *((who,) for who in changing)]


CELLS = [pytest.param(row, people, id=f"{row}-{'+'.join(people)}") for row in ROWS for people in groups(row)]


@pytest.mark.parametrize(("row", "people"), CELLS)
def test_everybody_gets_the_answer_that_the_permission_table_gives_them(
    populated: Engine, row: str, people: tuple[str, ...]
) -> None:
    expected = {who: expected_status(row, who) for who in people}
    assert {who: status(populated, row, who) for who in people} == expected


# Not those that make the project that is missing: to them a stranger's name is either taken or new, see above.
@pytest.mark.parametrize("row", [name for name, row in ROWS.items() if row.meant.project and not row.meant.otherwise])
def test_a_stranger_cannot_tell_a_hidden_project_from_one_that_does_not_exist(populated: Engine, row: str) -> None:
    def answer(project: str, who: str) -> bytes:
        named = names(populated, project, who)
        with pytest.raises(GroundplanError) as refused:
            populated.session(PEOPLE[who]).call(ROWS[row].called.name, **example(row, named))
        return without(encode(refused.value.body()), named)

    for who in ("finn", "nobody of this name", "mallory"):
        assert answer("atlas", who) == answer("sumac", who)


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
        ("container.get", {"containerType": "task", "id": "{beginning}"}),
        ("container.search", {"containerType": "task", "projectId": "finn's own", "featureId": "{feature}"}),
        ("container.create", {"containerType": "task", "title": "A", "projectId": "finn's own", "relatedTo": "{node}"}),
        (
            "container.create",
            {"containerType": "task", "title": "A", "projectId": "finn's own", "featureId": "{feature}"},
        ),
        ("container.update", {"containerType": "task", "id": "{mine}", "version": 1, "featureId": "{feature}"}),
        ("container.update", {"containerType": "task", "id": "{mine}", "version": 1, "relatedTo": "{node}"}),
        ("container.next_task", {"projectId": "finn's own", "featureId": "{feature}"}),
        ("container.blocked_tasks", {"projectId": "finn's own", "featureId": "{feature}"}),
        ("container.block", {"containerType": "task", "id": "{mine}", "version": 1, "blockedBy": "{node}"}),
        ("container.unblock", {"containerType": "task", "id": "{mine}", "version": 1, "blockedBy": "{node}"}),
        ("dependency.create", {"fromId": "{mine}", "toId": "{node}"}),
        ("dependency.create", {"fromId": "{node}", "toId": "{mine}"}),
        ("dependency.delete", {"id": "{mine}:{node}:BLOCKS"}),
        ("section.list", {"entityType": "TASK", "entityId": "{mine}", "sectionIds": "{section}"}),
        ("section.reorder", {"entityType": "TASK", "entityId": "{mine}", "orderedIds": "{section}"}),
        ("section.delete", {"sectionId": "{section}", "version": 1, "entityType": "TASK", "entityId": "{mine}"}),
    ],
)
def test_a_hidden_node_that_is_named_beside_ones_own_reads_like_one_that_is_missing(
    populated: Engine, operation: str, arguments: dict[str, Any]
) -> None:
    finn = populated.session(PEOPLE["finn"])
    mine = finn.call("work.plan", project="finn's own", nodes=[{"ref": "m", "summary": "Mine"}]).created[0].id

    def answer(project: str) -> bytes:
        named = names(populated, project)
        named |= {"mine": mine, "beginning": named["node"][:4]}
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
    for name, row in ROWS.items():
        route = row.called.route
        request = convert(example(name, MISSING), row.called.input)
        begins = row.called.otherwise is row.meant  # which only the missing project decides
        assert begins or ((route and route(request)) or row.called) is row.meant, name


def test_a_larger_role_carries_everything_that_a_smaller_one_does() -> None:
    for permission, roles in GRANTS.items():
        assert Role.OWNER in roles, permission
        assert Role.VIEWER not in roles or Role.EDITOR in roles, permission
