"""Every operation for every person on both engines, compared with the permission table."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any, Protocol

import pytest
from msgspec import convert

from groundplan.kernel.access import (
    ADMINISTRATOR_PERMISSIONS,
    GRANTS,
    ORGANIZATION_GRANTS,
    PERSON_PERMISSIONS,
    Permission,
    Role,
)
from groundplan.kernel.actors import Access, Actor, ActorKind
from groundplan.kernel.answers import encode
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.identities.bind_login import VerifiedIdentity, bind_login
from groundplan.kernel.store.migrations import Dialect
from groundplan.kernel.store.store import Store
from groundplan.session import Session
from reference.placeholders import fill_placeholders
from tests.access.examples import EXAMPLES, ROWS, example
from tests.access.permissions import (
    FOR_ADMINISTRATORS,
    FOR_PERSONS,
    IN_ORGANIZATION,
    IN_PROJECT,
    RULES,
    is_allowed,
)
from tests.engines import Engine, PostgresEngine, SqliteEngine, fill_once, person

# What each may do. The bot is stored as an owner: the project holds agents to the role of an editor.
ROLES = {"ada": Role.OWNER, "ben": Role.EDITOR, "cleo": Role.VIEWER, "bot": Role.EDITOR}
STORED = {**ROLES, "bot": Role.OWNER}
ADMINISTRATORS = {"ada", "mallory"}  # each of their own organization
OWNERS = {"ada", "finn", "mallory"}  # each of a project that would have no owner without them
TELLS_NOTHING = {"context.create_draft"}  # of a project that exists and is hidden, though it creates a missing one
ACCEPTS_A_SUGGESTION = {"context.edit"}  # in the example a suggestion is accepted, which only a person does
PEOPLE: dict[str, Actor | None] = {
    "ada": person("ada"),
    "ben": person("ben"),
    "cleo": person("cleo"),
    "bot": Actor("local", "bot", ActorKind.AGENT),
    "finn": person("finn"),  # in the organization, but not in the project
    "nobody of this name": person("nobody of this name"),
    "mallory": person("mallory", organization="rival"),
    "anonymous": None,
}


class SessionMaker(Protocol):
    """Opens sessions: an engine, or one organization of it."""

    @property
    def store(self) -> Store: ...

    def session(self, actor: Actor | str | None) -> Session: ...


MOMENT = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")

# Names of things in a missing project or organization.
MISSING_NODES = {"node": "qqqq00", "other": "qqqq11", "feature": "qqqq22"}
MISSING_UUIDS = {
    name: f"00000000-0000-4000-8000-00000000000{place}"
    for place, name in enumerate(
        ("atom", "section", "template", "run", "draft", "source", "suggestion", "goal", "kept")
    )
}
MISSING = {
    "token": "qqqqqqqqqq",
    "invitation": "qqqqqqqqqq",
    "project": "sumac",
    "undrafted": "south of sumac",
    **MISSING_NODES,
    **MISSING_UUIDS,
}


@pytest.fixture
def populated_engine(engine: Engine) -> Engine:
    fill_once(engine, populate)
    return engine


@pytest.fixture
def engine_with_purpose(engine: Engine) -> Engine:
    fill_once(engine, populate_with_purpose)
    return engine


def populate_with_purpose(engine: Engine) -> None:
    populate(engine)
    add_purpose(engine)
    add_changes(engine)


def add_changes(engine: Engine) -> None:
    """Let everyone who may write make a last change that can be undone."""
    writers = [name for name, role in ROLES.items() if is_allowed(role, Permission.WORK_UPDATE)]
    nodes = [{"ref": name, "summary": f"Walk with {name}"} for name in writers]
    planned = engine.session("ada").call("work.plan", project="atlas", nodes=nodes)
    for one in planned.created:
        engine.session(PEOPLE[one.ref]).call("work.update", updates=[{"node_id": one.id, "state": "begun"}])


def populate(engine: Engine) -> None:
    """Create atlas with its people and one of each thing, a project of Finn's, and another organization."""
    populate_atlas(engine)
    finn = engine.session("finn")
    finn.call("container.create", containerType="project", name="finn's own", tags="coast")
    finn.call("template.create", name="Sheet to print", targetEntityType="TASK")
    engine.create_organization("rival", "mallory")
    trusted = engine.session(Actor("rival", "mallory", ActorKind.PERSON, Access.OPEN))
    trusted.call("organization.add_member", name="mallory", role="administrator")
    mallory = engine.session(PEOPLE["mallory"])
    mallory.call("organization.add_member", name="dora", email="dora@example.org")
    mallory.call("organization.add_member", name="gus@example.org")
    log_in(engine, "dora@example.org", "rival")
    mallory.call("token.create", kind="person")
    mallory.call("container.create", containerType="project", name="mallory's own", tags="coast")
    mallory.call("template.create", name="Sheet to print", targetEntityType="TASK")
    add_changes(engine)


def populate_atlas(engine: SessionMaker) -> None:
    """Create atlas with its people and one of each thing, and tokens, invitations and an account beside it."""
    ada = engine.session("ada")
    ada.call("project.create", name="atlas")
    for name, role in {**STORED, "dora": Role.VIEWER}.items():
        kind = ActorKind.AGENT if name == "bot" else ActorKind.PERSON
        ada.call("member.add", scopeId="atlas", userId=name, role=role.value, kind=kind.value)
    nodes = [{"ref": "north", "summary": "Walk north"}, {"ref": "south", "summary": "South", "depends_on": ["north"]}]
    task = ada.call("work.plan", project="atlas", nodes=nodes).created[0].id
    coast = {"entityType": "atom", "projectId": "atlas", "name": "Coast", "paths": ["coast/**"]}
    ada.call("knowledge.create", **coast, createdByTaskId=task)
    made = ada.call("container.create", containerType="feature", name="The coast", projectId="atlas", tags="coast")
    ada.call("container.advance", containerType="feature", id=made.feature.id, version=1)
    ada.call("section.add", entityType="TASK", entityId=task, title="Context Files")
    ada.call("context.commit", runId=ada.call("context.create_draft", scopeId="atlas").run.id)
    draft = ada.call("context.create_draft", scopeId="atlas").run.id
    length = {"pointer": "/coast/length", "label": "Length", "value": 214}
    weaker = {"pointer": "/coast/length", "value": 210, "provenance": "model-inferred"}
    survey = {"kind": "file", "title": "Survey", "uri": "survey.pdf"}
    ada.call("context.edit", runId=draft, sources=[survey], inputs=[length])
    ada.call("context.edit", runId=draft, inputs=[weaker])
    for name in ("ada", "ben", "cleo", "finn"):
        ada.call("token.create", kind="person", name=name)
    ada.call("organization.add_member", name="ada", role="administrator")
    ada.call("organization.add_member", name="dora", email="dora@example.org")
    ada.call("organization.add_member", name="gus@example.org")
    assert ada.actor is not None
    log_in(engine, "dora@example.org", ada.actor.organization)


def log_in(engine: SessionMaker, email: str, organization: str) -> None:
    """Bind an account to whoever was invited under an address."""
    account = VerifiedIdentity("https://id.example", email, email, True, None, organization)
    bind_login(engine.store, account)


def add_purpose(engine: SessionMaker) -> None:
    """Add a published version and a draft to atlas, and a project for the same people without a purpose."""
    ada = engine.session("ada")
    ada.call("project.create", name="south of atlas")
    for name, role in STORED.items():
        ada.call("member.add", scopeId="south of atlas", userId=name, role=role.value)
    ada.call("purpose.draft", project="atlas")
    types = {"map": "OUTPUT", "use": "OUTCOME", "goal": "GOAL"}
    nodes = [{"op": "add_node", "ref": ref, "node_type": type_, "title": ref} for ref, type_ in types.items()]
    edges = [
        {"op": "add_edge", "source": "map", "target": "use"},
        {"op": "add_edge", "source": "use", "target": "goal"},
    ]
    beside = [
        {"op": "add_assumption", "node": "use", "assumption_text": "Walkers take a map along"},
        {"op": "add_indicator", "node": "use", "name": "Walkers off the paths"},
    ]
    ada.call("purpose.edit", project="atlas", operations=[*nodes, *edges, *beside])
    ada.call("purpose.publish", project="atlas")
    ada.call("purpose.draft", project="atlas")


def in_version(status: str) -> str:
    return f"toc_version_id IN (SELECT id FROM toc_versions WHERE status = '{status}')"


def placeholder_values(
    engine: Engine, project: str, who: str = "finn", *, organization: str | None = None
) -> dict[str, str]:
    """Return the values of the placeholders in a project, existing or not, for a caller; or in one organization."""
    only = "" if organization is None else f" AND tenant_id = '{organization}'"
    organization = organization or ("rival" if who == "mallory" else "local")
    quoted = project.replace("'", "''")
    projects = f"SELECT tenant_id, id FROM projects WHERE name = '{quoted}'{only}"
    of_project = f"WHERE (tenant_id, project_id) IN ({projects})"
    rows = engine.as_owner(
        f"SELECT 'node', id, n FROM work_nodes {of_project} AND parent_n IS NOT NULL "
        f"UNION ALL SELECT 'atom', id, 0 FROM graph_atoms {of_project} "
        f"UNION ALL SELECT 'section', id, 0 FROM work_sections {of_project} "
        f"UNION ALL SELECT 'run', id, 0 FROM pciv_runs {of_project} AND status <> 'draft' "
        f"UNION ALL SELECT 'draft', id, 0 FROM pciv_runs {of_project} AND status = 'draft' "
        f"UNION ALL SELECT 'source', id, 0 FROM pciv_sources {of_project} "
        f"UNION ALL SELECT 'suggestion', id, 0 FROM pciv_suggestions {of_project} "
        f"UNION ALL SELECT 'goal', id, 0 FROM toc_nodes {of_project} AND key = 'G1' AND {in_version('DRAFT')} "
        f"UNION ALL SELECT 'kept', id, 0 FROM toc_nodes {of_project} AND key = 'G1' AND {in_version('PUBLISHED')} "
        f"UNION ALL SELECT 'token', id, 0 FROM access_tokens WHERE tenant_id = '{organization}' AND actor_id = '{who}' "
        f"UNION ALL SELECT 'invitation', id, 0 FROM invitations WHERE tenant_id = '{organization}' "
        "AND accepted_at IS NULL "
        f"UNION ALL SELECT 'template', id, 0 FROM work_templates WHERE tenant_id = '{organization}' ORDER BY 3"
    )
    nodes = [id_ for thing, id_, _ in rows if thing == "node"]
    others = {thing: id_ for thing, id_, _ in rows if thing != "node"}
    requested = {"project": project, "undrafted": f"south of {project}"}
    return {**MISSING, **requested, **dict(zip(MISSING_NODES, nodes, strict=False)), **others}


def expected_status(row: str, who: str) -> int:
    """Return the status by the hand-written table, whatever the operation says about itself."""
    rule = RULES[row]
    if who == "anonymous":
        return 401
    if not rule.in_project:
        if who == "bot" and rule.permission in {Permission.PROJECT_CREATE, *FOR_PERSONS}:
            return 403  # no person is responsible for it, and only a person manages tokens and people
        # Mallory has her own organization, which she administers.
        if who == "nobody of this name":
            return 404
        if who not in ADMINISTRATORS:
            if rule.permission in FOR_ADMINISTRATORS:
                return 403
            if row == "invitation.revoke":  # it is somebody else's
                return 404
        return 422 if row == "organization.leave" and who in OWNERS else 200
    if who not in ROLES:
        # An operation for a missing project creates it. Names are unique in the organization, so Finn is
        # told that the name is taken (decision 8), except about facts; Mallory gets a project of that name in her own.
        told = 404 if row in TELLS_NOTHING else 409
        return {"finn": told, "mallory": 200}.get(who, 404) if rule.if_missing else 404
    if who == "bot" and row in ACCEPTS_A_SUGGESTION:
        return 422
    return 200 if is_allowed(ROLES[who], rule.permission) else 403


def error_of(engine: Engine, row: str, who: str, named: dict[str, str]) -> GroundplanError | None:
    """Return the error that a person gets for a request with these names, or None."""
    try:
        engine.session(PEOPLE[who]).call(ROWS[row].requested.name, **example(row, named))
    except GroundplanError as refusal:
        return refusal
    return None


def changes_something(row: str, who: str) -> bool:
    rule = RULES[row]
    creates = rule.if_missing is not None and who not in ROLES
    return expected_status(row, who) == 200 and (creates or not rule.reads)


CELLS = [(row, who) for row in ROWS for who in PEOPLE]


def creates_project(row: str) -> bool:
    """Return whether the request is for this row only if the project does not exist yet."""
    return ROWS[row].requested.when_project_missing is ROWS[row].handled


def make_databases(engine: Engine, folder: Path, fill: Callable[[Engine], None]) -> Iterator[Engine]:
    """Yield the same unchanged database as often as needed."""
    for number in count():
        if isinstance(engine, PostgresEngine):
            engine.reset()
            fill_once(engine, fill)
            yield engine
        else:
            with closing(SqliteEngine(folder / f"{fill.__name__}-{number}.db")) as lite:
                fill_once(lite, fill)
                yield lite


def count_events(engine: Engine) -> int:
    both = "SELECT (SELECT count(*) FROM events) + (SELECT count(*) FROM organization_events)"
    ((found,),) = engine.as_owner(both)
    return int(found)


@pytest.mark.slow
@pytest.mark.parametrize("who", [who for who in PEOPLE if any(changes_something(row, who) for row in ROWS)])
def test_whoever_may_change_something_by_the_permission_table_can(engine: Engine, tmp_path: Path, who: str) -> None:
    changing = [row for row in ROWS if changes_something(row, who)]
    of_purpose = [row for row in changing if row.startswith("purpose.")]
    others = [row for row in changing if row not in of_purpose]

    assert not find_errors(make_databases(engine, tmp_path, populate), others, who)
    assert not find_errors(make_databases(engine, tmp_path, populate_with_purpose), of_purpose, who)


def find_errors(worlds: Iterator[Engine], rows: list[str], who: str) -> dict[str, GroundplanError]:
    """Return the errors that a person gets for these rows.

    Making a database takes longer than a request, so one serves many rows. A request that fails or changes nothing
    there may only have come too late: it is repeated in a fresh database, and that answer counts.
    """
    world = next(worlds)
    named = placeholder_values(world, "atlas", who)
    found: dict[str, GroundplanError] = {}
    for row in rows:
        if not creates_project(row) and (who in ROLES or not RULES[row].in_project):
            before = count_events(world)
            if error_of(world, row, who, named) is None and count_events(world) > before:
                continue
        world = next(worlds)
        if refusal := error_of(world, row, who, named):
            found[row] = refusal
    return found


AnswerCell = tuple[str, str, int, bytes]
_READ_ANSWERS: dict[Dialect, list[AnswerCell]] = {}


def read_answers(engine: Engine) -> list[AnswerCell]:
    """Return what everybody gets for requests that change nothing, so that all share one database."""
    if engine.dialect not in _READ_ANSWERS:
        fill_once(engine, populate_with_purpose)
        _READ_ANSWERS[engine.dialect] = list(list_answers(engine))
    return _READ_ANSWERS[engine.dialect]


def list_answers(engine: Engine, rows: Collection[str] = ROWS.keys()) -> Iterator[AnswerCell]:
    """Yield what everybody gets for the requests of some rows that change nothing."""
    named = {who: placeholder_values(engine, "atlas", who) for who in PEOPLE}
    for row, who in CELLS:
        if row in rows and not changes_something(row, who):
            refusal = error_of(engine, row, who, named[who])
            body = without_names(encode(refusal.to_dict()), named[who]) if refusal else b""
            yield row, who, refusal.status if refusal else 200, body


def find_wrong_statuses(answers: Iterable[AnswerCell]) -> dict[tuple[str, str], int]:
    """Return the statuses that are not those of the table, by row and person."""
    return {(row, who): status for row, who, status, _ in answers if status != expected_status(row, who)}


def test_everybody_else_gets_the_answer_that_the_permission_table_gives_them(engine: Engine) -> None:
    assert not find_wrong_statuses(read_answers(engine))


def test_both_engines_refuse_in_the_same_words(tmp_path: Path, team: PostgresEngine) -> None:
    # Requests that change something succeed on both engines, as above; these are the others.
    with closing(SqliteEngine(tmp_path / "plan.db")) as lite:
        different = [
            (one, other) for one, other in zip(read_answers(lite), read_answers(team), strict=True) if one != other
        ]

    assert not different


# Without those that create a missing project: for them a stranger's name is taken or new, see above.
OF_A_PROJECT = [name for name, rule in RULES.items() if rule.in_project and not rule.if_missing]


STRANGERS = ("finn", "nobody of this name", "mallory")


def find_differing_answers(engine: Engine, who: str, rows: Iterable[str]) -> dict[str, tuple[bytes, bytes]]:
    """Return the requests that a stranger gets another answer for in atlas than in a project that does not exist."""
    hidden, missing = (placeholder_values(engine, project, who) for project in ("atlas", "sumac"))

    def answer(row: str, named: dict[str, str]) -> bytes:
        refusal = error_of(engine, row, who, named)
        return without_names(encode(refusal.to_dict()), named) if refusal else b"no refusal"

    answers = {row: (answer(row, hidden), answer(row, missing)) for row in rows}
    return {row: pair for row, pair in answers.items() if pair[0] != pair[1] or pair[0] == b"no refusal"}


@pytest.mark.parametrize("who", STRANGERS)
def test_a_stranger_cannot_tell_a_hidden_project_from_one_that_does_not_exist(
    engine_with_purpose: Engine, who: str
) -> None:
    assert find_differing_answers(engine_with_purpose, who, OF_A_PROJECT) == {}


def without_names(answer: bytes, named: dict[str, str]) -> bytes:
    """Return an answer with all names and times of the request replaced."""
    for name in named.values():
        answer = answer.replace(name.encode(), b"...")
    return MOMENT.sub(b"...", answer)


TIDE = {"pointer": "/coast/tide", "label": "Tide", "value": 3.2}
SCALE = {"key": "scale", "label": "Scale", "value": "1:25,000"}
LINK = {"pointer": "/coast/tide"}
MAP = {"key": "OP1", "node_type": "OUTPUT", "title": "A map"}
LATER = {"code": "GA_ORPHANS", "reason": "Later", "owner": "finn", "due": "2099-12-31"}

# {mine} is the caller's own task, {my draft} a draft, {my run} a committed run.
BESIDE_ONES_OWN: list[tuple[str, dict[str, Any]]] = [
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
    ("purpose.edit", {"project": "finn's own", "operations": [{"op": "remove_node", "node": "{goal}"}]}),
    ("purpose.edit", {"project": "finn's own", "operations": [{"op": "remove_node", "node": "{kept}"}]}),
    (
        "purpose.check",
        {"project": "finn's own", "gate": "compliance", "operation": {"kind": "delete_node", "node": "{kept}"}},
    ),
    ("purpose.render", {"project": "finn's own", "pathway": "{goal}"}),
    (
        "purpose.import",
        {"project": "finn's other", "document": {"nodes": [MAP], "edges": [{"source": "{goal}", "target": "OP1"}]}},
    ),
    (
        "purpose.import",
        {"project": "finn's other", "document": {"nodes": [MAP], "waivers": [{**LATER, "refs": ["{kept}"]}]}},
    ),
    ("context.view", {"scopeId": "finn's own", "runId": "{run}"}),
    ("context.view", {"scopeId": "finn's own", "runId": "{draft}", "prefer": "latest_commit"}),
    ("context.export", {"scopeId": "finn's own", "runId": "{run}"}),
    ("context.create_draft", {"scopeId": "finn's own", "copyFrom": "{run}"}),
    ("context.create_draft", {"scopeId": "a new one", "copyFrom": "{run}"}),
    ("context.diff", {"from": "{my run}", "to": "{run}"}),
    ("context.diff", {"from": "{run}", "to": "{my run}"}),
    ("context.edit", {"runId": "{my draft}", "inputs": [{**TIDE, "sourceIds": ["{source}"]}]}),
    ("context.edit", {"runId": "{my draft}", "constraints": [{**SCALE, "sourceId": "{source}"}]}),
    ("context.edit", {"runId": "{my draft}", "inputs": [TIDE], "links": [{**LINK, "sourceId": "{source}"}]}),
    ("context.edit", {"runId": "{my draft}", "accept": ["{suggestion}"]}),
    ("context.edit", {"runId": "{my draft}", "reject": ["{suggestion}"]}),
    ("context.edit", {"runId": "{my draft}", "remove": {"sources": ["{source}"]}}),
    ("context.edit", {"runId": "{my draft}", "sources": [{"id": "{source}", "title": "A"}]}),
]


def plan_task_unlike(session: Session, ids: list[str]) -> str:
    """Plan a task whose id has another prefix than all `ids`, because an error suggests similar ids."""
    while True:
        plan = session.call("work.plan", project="finn's own", nodes=[{"ref": "m", "summary": "Mine"}])
        task = str(plan.created[0].id)
        if not any(task[0] == other[0] for other in ids):
            return task
        session.call("container.delete", containerType="task", id=task, version=1)


def test_what_is_hidden_and_named_beside_ones_own_reads_like_what_is_missing(engine_with_purpose: Engine) -> None:
    finn = engine_with_purpose.session(PEOPLE["finn"])
    finn.call("purpose.draft", project="finn's own")
    finn.call("project.create", name="finn's other")
    hidden, missing = (placeholder_values(engine_with_purpose, project) for project in ("atlas", "sumac"))
    task = plan_task_unlike(finn, [hidden["node"], missing["node"]])
    run, draft = (finn.call("context.create_draft", scopeId="finn's own").run.id for _ in range(2))
    finn.call("context.commit", runId=run)
    mine = {"mine": task, "my run": run, "my draft": draft}

    def answer(operation: str, arguments: dict[str, Any], named: dict[str, str]) -> bytes:
        named = {**named, **mine, "beginning": named["node"][:4]}
        try:
            answered = finn.call(operation, **fill_placeholders(arguments, named))
        except GroundplanError as refusal:
            answered = refusal.to_dict()
        return without_names(encode(answered), named)

    for operation, arguments in BESIDE_ONES_OWN:
        assert answer(operation, arguments, hidden) == answer(operation, arguments, missing), (operation, arguments)


def test_a_stranger_is_offered_no_near_name_of_a_hidden_project(populated_engine: Engine) -> None:
    with pytest.raises(GroundplanError) as refused:
        populated_engine.session(PEOPLE["finn"]).call("member.list", scopeId="atlass")
    assert "near" not in refused.value.details

    with pytest.raises(GroundplanError) as helped:
        populated_engine.session(PEOPLE["cleo"]).call("member.list", scopeId="atlass")
    assert helped.value.details["near"] == ["atlas"]


def test_a_hidden_projects_id_does_not_shadow_a_visible_name(populated_engine: Engine) -> None:
    (hidden,) = populated_engine.as_owner("SELECT id FROM projects WHERE name = 'atlas'")[0]
    finn = populated_engine.session(PEOPLE["finn"])
    finn.call("project.create", name=hidden)

    assert [member.user_id for member in finn.call("member.list", scopeId=hidden).members] == ["finn"]


def test_the_same_name_in_two_organizations_means_two_projects(populated_engine: Engine) -> None:
    mallory = populated_engine.session(PEOPLE["mallory"])
    mallory.call("project.create", name="atlas")

    assert [member.user_id for member in mallory.call("member.list", scopeId="atlas").members] == ["mallory"]


def test_open_access_makes_whoever_opens_the_store_an_owner(populated_engine: Engine) -> None:
    passer_by = populated_engine.session("a passer-by")

    assert {one.name: one.role for one in passer_by.call("project.list").projects} == {
        "atlas": Role.OWNER,
        "finn's own": Role.OWNER,
    }
    passer_by.call("project.archive", project="atlas")


def test_open_access_ends_at_the_organization(populated_engine: Engine) -> None:
    assert "mallory's own" not in {one.name for one in populated_engine.session("ada").call("project.list").projects}
    with pytest.raises(GroundplanError) as refused:
        populated_engine.session("ada").call("member.list", scopeId="mallory's own")
    assert refused.value.status == 404


def test_every_operation_has_an_example_and_stands_in_the_table_of_permissions() -> None:
    assert EXAMPLES.keys() == ROWS.keys()
    assert RULES.keys() == ROWS.keys(), "write it into tests/access/permissions.toml, and let somebody read it"


def test_every_operation_declares_what_the_table_says() -> None:
    different = {}
    for name, row in ROWS.items():
        rule, handled = RULES[name], row.handled
        permission = handled.permission if row.in_project else handled.without_project or handled.permission
        missing = handled.when_project_missing if row.in_project else None
        declared = (handled.effect.value, permission, missing and missing.permission)
        if declared != (rule.effect, rule.declared, rule.if_missing) or row.in_project != rule.in_project:
            different[name] = declared

    assert not different


def test_every_role_has_the_permissions_of_the_table() -> None:
    assert IN_PROJECT.keys() | IN_ORGANIZATION.keys() == set(Permission)
    assert not IN_PROJECT.keys() & IN_ORGANIZATION.keys()
    for table, grants in ((IN_PROJECT, GRANTS), (IN_ORGANIZATION, ORGANIZATION_GRANTS)):
        assert grants == {one: {role for role in Role if is_allowed(role, one)} for one in table}
    assert PERSON_PERMISSIONS == FOR_PERSONS
    assert ADMINISTRATOR_PERMISSIONS == FOR_ADMINISTRATORS


def test_a_request_is_for_the_operation_that_its_row_names() -> None:
    for name, row in ROWS.items():
        route = row.requested.choose_variant
        request = convert(example(name, MISSING), row.requested.input)
        assert creates_project(name) or ((route and route(request)) or row.requested) is row.handled, name


# The contract's own table, for everything in a project.
READ, WRITE, DELETE_RUNS, MANAGE_MEMBERS = "read", "write", "delete runs", "manage members"
FINISH = "publish, discard and waive"  # which the contract of the purpose reserves for owners
CONTRACT = {
    Role.VIEWER: {READ},
    Role.EDITOR: {READ, WRITE},
    Role.OWNER: {READ, WRITE, DELETE_RUNS, MANAGE_MEMBERS, FINISH},
}
IN_THE_CONTRACT = {
    Permission.MEMBER_READ: READ,
    Permission.WORK_READ: READ,
    Permission.KNOWLEDGE_READ: READ,
    Permission.CONTEXT_READ: READ,
    Permission.PURPOSE_READ: READ,
    Permission.WORK_PLAN: WRITE,
    Permission.WORK_CLAIM: WRITE,
    Permission.WORK_UPDATE: WRITE,
    Permission.WORK_CONNECT: WRITE,
    Permission.WORK_RESTRUCTURE: WRITE,
    Permission.KNOWLEDGE_WRITE: WRITE,
    Permission.CONTEXT_WRITE: WRITE,
    Permission.PURPOSE_WRITE: WRITE,
    Permission.PURPOSE_RECORD: WRITE,
    Permission.PURPOSE_PUBLISH: FINISH,
    Permission.PURPOSE_DISCARD: FINISH,
    Permission.PURPOSE_WAIVE: FINISH,
    Permission.CONTEXT_DELETE: DELETE_RUNS,
    Permission.MEMBER_MANAGE: MANAGE_MEMBERS,
}


def test_the_roles_of_the_contract_hold_in_every_slice() -> None:
    assert IN_THE_CONTRACT.keys() == {one for one in GRANTS if not one.startswith("project:")}
    for permission, access in IN_THE_CONTRACT.items():
        assert GRANTS[permission] == {role for role in Role if access in CONTRACT[role]}, permission
